/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A profile that wants to know what is delivered, and two ends of a session with clocks of their
 * own, joined by a line and a delay each way. The controller is the test's: it decides what
 * `decision` says, and every event is kept.
 */

#include "../rig/end.h"
#include "../rig/joined.h"
#include "endpoint/lifecycle.h"
#include "profile/interval.h"
#include "session/session_internal.h"
#include "unit.h"

#define HZ            UINT64_C(1000000000)
#define US            (HZ / 1000000)
#define MS            (HZ / 1000)
#define NOW           (10 * HZ)
#define CHUNK         65536 /* 47 packets */
#define CHUNKS_OF_END 8192
#define SLOTS         (1 << 17) /* packets under way, each way */
#ifndef WINDOW
#define WINDOW (1 << 18)
#endif

struct delivery_watch {
	struct wh_decision decision;
	uint32_t events;
	struct wh_delivery_event event;
	uint64_t span_tsc; /* sums of all */
	uint64_t span_pkts;
};

static struct delivery_watch watch;

static void watch_delivery(struct wh_control *control, const struct wh_delivery_event *event)
{
	(void)control;
	CU_ASSERT_TRUE(event->seen_pkts <= event->sent_pkts);
	CU_ASSERT_TRUE(event->delivered_pkts <= event->seen_pkts);
	CU_ASSERT_TRUE(event->seen_pkts >= watch.event.seen_pkts);
	CU_ASSERT_TRUE(event->delivered_pkts >= watch.event.delivered_pkts);
	watch.events++;
	watch.event = *event;
	watch.span_tsc += event->span_tsc;
	watch.span_pkts += event->span_pkts;
}

static struct wh_decision watch_decide(const struct wh_control *control)
{
	(void)control;
	return watch.decision;
}

static struct wh_profile delivery_profile = {
	.number = 201,
	.name = "delivery",
	.summary = "a test's",
	.on_delivery = watch_delivery,
	.decide = watch_decide,
	.feedback = {.period_us = 10000,
		.delivery = true,
		.no_ack2 = true,
		.resend = WH_RESEND_LATE},
};

struct under_way {
	struct wh_packet packet[SLOTS];
	uint64_t arrives_tsc[SLOTS];
};

struct way {
	struct under_way *ring;
	uint32_t first;
	uint32_t end;
	uint64_t free_tsc; /* when its line is */
	uint64_t packet_tsc;
	uint64_t delay_tsc;
	uint64_t sent;
	uint64_t bytes;
	/* Of data the test loses this one, by transmission; of control, by count. */
	bool (*lose)(uint64_t number);
};

struct pair {
	uint64_t now_tsc; /* the receiver's clock */
	uint64_t step_tsc;
	double sender_ppm;
	struct wh_rig_joined ends;
	struct way there;
	struct way background; /* where packets are that others overtake */
	bool (*overtaken)(uint64_t transmission);
	struct way back;
	bool in_bursts;  /* packets arrive when they are taken */
	uint32_t piece;  /* what an end takes out of its port in a turn; 0: all */
	uint64_t chunks; /* the stream's */
	uint64_t reports;
};

static inline uint64_t sender_now(const struct pair *pair)
{
	return pair->now_tsc +
	       (uint64_t)(int64_t)((double)(pair->now_tsc - NOW) * pair->sender_ppm * 1e-6);
}

/* Packets of 1,538 bytes on the wire leave so far apart. */
static inline void pace(uint64_t interval_tsc)
{
	watch.decision = (struct wh_decision){
		.interval_fp = interval_tsc << WH_INTERVAL_FRACTION_BITS,
		.window_pkts = WINDOW,
	};
}

/* One at a time: of so much memory, that one had before is cheaper than new. */
static inline struct pair *pair_open(uint64_t delay_tsc)
{
	static struct under_way rings[3];
	static struct pair one;
	struct pair *pair = &one;

	one = (struct pair){
		.there.ring = &rings[0], .background.ring = &rings[1], .back.ring = &rings[2]};
	watch = (struct delivery_watch){.decision = watch.decision};
	wh_rig_session_config(&pair->ends.config, HZ, CHUNK, CHUNKS_OF_END, WINDOW);
	wh_session_config_profile(&pair->ends.config, &delivery_profile);
	if (delivery_profile.recovery != WH_RECOVERY_NAK) {
		wh_repair_config_init(&pair->ends.config.repair, &delivery_profile);
		pair->ends.config.repair.repair_pkts = pair->ends.config.repair.planner.r_max = 16;
	}
	pair->now_tsc = NOW + 2 * delay_tsc;
	pair->step_tsc = 10 * US;
	pair->chunks = UINT64_MAX;
	pair->there.delay_tsc = pair->back.delay_tsc = delay_tsc;
	wh_rig_joined_open(&pair->ends, NOW, pair->now_tsc, 2 * delay_tsc);
	return pair;
}

static inline void pair_close(struct pair *pair)
{
	CU_ASSERT_EQUAL(wh_session_stats(pair->ends.sender).bad_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_stats(pair->ends.receiver).naks, 0);
	wh_rig_joined_close(&pair->ends);
}

static inline void put(
	struct pair *pair, struct way *way, const struct wh_packet *packet, uint32_t bytes)
{
	bool data = packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR;
	uint64_t free_tsc = way->free_tsc;
	uint64_t number = data ? packet->data.transmission : way->sent++;

	way->bytes += bytes;
	if (way->lose != NULL && (data || way == &pair->back) && way->lose(number))
		return;
	CU_ASSERT_FATAL(way->end - way->first < SLOTS);
	way->free_tsc = (free_tsc > pair->now_tsc ? free_tsc : pair->now_tsc) +
			(data ? way->packet_tsc : 0);
	free_tsc = way->free_tsc;
	if (data && pair->overtaken != NULL && pair->overtaken(number))
		way = &pair->background;
	way->ring->packet[way->end % SLOTS] = *packet;
	way->ring->arrives_tsc[way->end++ % SLOTS] = free_tsc + way->delay_tsc;
}

static inline void take_output(struct pair *pair, struct wh_session *from, uint64_t now_tsc)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	while (wh_session_output(from, now_tsc, &out, 1) > 0) {
		struct wh_packet packet = wh_rig_packet_read(&out);

		if (wh_rig_packet_opens(&packet))
			continue;
		pair->reports += packet.type == WH_PACKET_RCV_REPORT;
		put(pair, from == pair->ends.sender ? &pair->there : &pair->back, &packet,
			out.head_bytes + out.payload_bytes + 66);
	}
}

/* `skewed` is the clock of who takes it. */
static inline void give_arrived(
	struct pair *pair, struct way *way, struct wh_session *to, uint64_t to_now_tsc)
{
	for (uint32_t taken = 0; way->first != way->end &&
				 way->ring->arrives_tsc[way->first % SLOTS] <= pair->now_tsc &&
				 (pair->piece == 0 || taken < pair->piece);
		taken++) {
		uint64_t ago_tsc =
			pair->in_bursts
				? 0
				: pair->now_tsc - way->ring->arrives_tsc[way->first % SLOTS];

		wh_session_input(to, to_now_tsc, to_now_tsc - ago_tsc,
			&way->ring->packet[way->first % SLOTS]);
		way->first++;
	}
}

static inline void run_for(struct pair *pair, uint64_t span_tsc)
{
	uint64_t end_tsc = pair->now_tsc + span_tsc;

	while (pair->now_tsc < end_tsc) {
		pair->now_tsc += pair->step_tsc;
		wh_rig_joined_serve(&pair->ends, pair->chunks);
		give_arrived(pair, &pair->back, pair->ends.sender, sender_now(pair));
		wh_session_poll(pair->ends.sender, sender_now(pair));
		take_output(pair, pair->ends.sender, sender_now(pair));
		give_arrived(pair, &pair->there, pair->ends.receiver, pair->now_tsc);
		give_arrived(pair, &pair->background, pair->ends.receiver, pair->now_tsc);
		wh_session_poll(pair->ends.receiver, pair->now_tsc);
		take_output(pair, pair->ends.receiver, pair->now_tsc);
	}
}
