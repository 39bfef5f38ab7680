/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

void wh_rig_line_open(struct wh_rig_line *line, uint32_t places)
{
	*line = (struct wh_rig_line){
		.packet = malloc(places * sizeof(*line->packet)), .places = places};
	WH_ASSERT(line->packet != NULL);
}

void wh_rig_line_close(struct wh_rig_line *line)
{
	free(line->packet);
}

struct wh_rig_packet *wh_rig_line_put(
	struct wh_rig_line *line, const struct wh_out *out, uint64_t due_tsc)
{
	struct wh_rig_packet *packet = &line->packet[line->tail++ % line->places];

	WH_ASSERT(line->tail - line->head <= line->places);
	packet->due_tsc = due_tsc;
	packet->bytes = out->head_bytes + out->payload_bytes;
	WH_ASSERT(packet->bytes <= sizeof(packet->data));
	memcpy(packet->data, out->head, out->head_bytes);
	if (out->payload_bytes > 0)
		memcpy(packet->data + out->head_bytes, out->payload, out->payload_bytes);
	return packet;
}

struct wh_rig_packet *wh_rig_line_take(struct wh_rig_line *line, uint64_t now_tsc)
{
	return wh_rig_line_next_tsc(line) <= now_tsc ? &line->packet[line->head++ % line->places]
						     : NULL;
}

uint64_t wh_rig_line_next_tsc(const struct wh_rig_line *line)
{
	return line->head < line->tail ? line->packet[line->head % line->places].due_tsc
				       : WH_TSC_NEVER;
}
