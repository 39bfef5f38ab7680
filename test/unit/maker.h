/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packets at the edges of the format: of every type and with every combination of flags, a field or
 * a few at a limit or next to it and the rest made to agree, a byte or more too long or too short,
 * and mostly a tag that is right.
 */

#include "base/prng.h"
#include "closed.h"
#include "packet_fields.h"
#include "packet_samples.h"

static inline bool maker_one_in(struct wh_prng *prng, uint64_t n)
{
	return wh_prng_below(prng, n) == 0;
}

static inline uint64_t maker_value(struct wh_prng *prng, const struct packet_field *field)
{
	uint64_t most = field_most(field);

	switch (wh_prng_below(prng, 8)) {
	case 0:
		return field->least - 1;
	case 1:
		return field->least;
	case 2:
		return field->least + 1;
	case 3:
		return most - 1;
	case 4:
		return most;
	case 5:
		return most + 1;
	case 6:
		return wh_prng_u64(prng) >> wh_prng_below(prng, 64);
	default:
		/* Beyond, but near. */
		return most + wh_prng_below(prng, 64);
	}
}

/* Any field of the type, those of the head and those behind what repeats included. */
static inline const struct packet_field *maker_field(struct wh_prng *prng, enum wh_packet_type type)
{
	size_t heads = packet_fields[0].rows;
	size_t rows = packet_fields[type].rows;
	size_t chosen = wh_prng_below(prng, heads + 4 * rows + packet_fields[type].behinds);

	if (chosen < heads)
		return &packet_fields[0].row[chosen];
	chosen -= heads;
	if (chosen < 4 * rows)
		return &packet_fields[type].row[chosen % rows];
	return &packet_fields[type].behind[chosen - 4 * rows];
}

static inline uint8_t maker_flags(struct wh_prng *prng, enum wh_packet_type type)
{
	uint8_t flags = (uint8_t)wh_prng_below(prng, 256);

	if (!maker_one_in(prng, 8))
		while (!wh_packet_flags_allowed(&wh_packet_rules[type], flags))
			flags = (uint8_t)wh_prng_below(prng, 16);
	return flags;
}

/* Into `room` bytes, some thousands at least; returns the length. */
static inline size_t maker_packet(
	struct wh_prng *prng, uint32_t cid, uint64_t token, uint8_t *bytes, size_t room)
{
	enum wh_packet_type type =
		(enum wh_packet_type)(1 + wh_prng_below(prng, WH_PACKET_TYPES - 1));
	struct wh_packet packet;

	sample_make(type, (enum sample_size)wh_prng_below(prng, SAMPLE_SIZES), &packet);
	packet.cid = cid;
	for (uint64_t left = wh_prng_below(prng, 4); left > 0; left--) {
		const struct packet_field *field = maker_field(prng, type);

		field_store(field, &packet, maker_value(prng, field));
		if (!maker_one_in(prng, 4))
			packet_settle(&packet, field);
	}
	if (maker_one_in(prng, 2))
		packet.flags = maker_flags(prng, type);

	size_t length = raw_encode(&packet, bytes, room - 64);

	if (maker_one_in(prng, 8)) {
		size_t longer = wh_prng_below(prng, 64);

		memset(bytes + length, 0, longer);
		length = length + longer > 32 ? length + longer - 32 : 0;
	}
	if (length >= WH_HEAD_BYTES)
		closed_tag(bytes, length,
			type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM ? 0 : token);
	if (length > 0 && maker_one_in(prng, 16))
		bytes[wh_prng_below(prng, length)] ^= (uint8_t)(1 + wh_prng_below(prng, 255));
	return length;
}
