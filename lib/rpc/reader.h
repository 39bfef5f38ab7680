/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The client's end of a remote operation: checks what the server sends and passes it to a listener.
 * For a ping or an order it also sends questions, one at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "bundle/record.h"
#include "bundle/waits.h"

/* Called on its own core. Texts are valid during the call. */
struct wh_rpc_listener {
	/* Whether there is room for everything in a chunk; otherwise the chunk waits. */
	bool (*may_take)(void *context);
	void (*on_item)(void *context, const struct wh_item *item);
	void (*on_fault)(void *context, int error, enum wh_doing doing, const char *path,
		uint32_t path_bytes);
	void (*on_ping)(void *context, uint64_t sequence, uint64_t rtt_tsc);
	/* ORDER: the next question; false: none. Texts are valid until it is answered. */
	bool (*next_order)(void *context, struct wh_ordering *order);
	void (*on_order_status)(void *context, const struct wh_order_status *order_status);
	void *context;
	uint64_t pings; /* PING: number of pings */
	uint64_t interval_tsc;
};

struct wh_rpc_reader_config {
	enum wh_job_verb verb;
	uint32_t path_count;
	uint32_t chunk_bytes;
	uint64_t first_chunk; /* of our stream, after HELLO */
	struct wh_fifo *free;
	struct wh_fifo *ready;
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	const struct wh_rpc_listener *listener; /* borrowed */
};

struct wh_rpc_reading {
	bool done;
	int error; /* negative: the server sent invalid data */
	struct wh_tally tally;
	uint64_t waits_told;
	struct wh_waits_told peer;
};

struct wh_rpc_reader;

/* 0 or -ENOMEM. */
int wh_rpc_reader_open(struct wh_rpc_reader **reader, const struct wh_rpc_reader_config *config);
void wh_rpc_reader_close(struct wh_rpc_reader *reader); /* NULL is allowed */

int32_t wh_rpc_reader_poll(struct wh_rpc_reader *reader, uint64_t now_tsc);

const struct wh_rpc_reading *wh_rpc_reader_progress(const struct wh_rpc_reader *reader);

enum wh_waits wh_rpc_reader_waits(const struct wh_rpc_reader *reader);
bool wh_rpc_reader_tell_waits(struct wh_rpc_reader *reader, const struct wh_waits_told *told);
