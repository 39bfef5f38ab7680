/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bundle/record_pack.h"
#include "rpc/inflow.h"

#define RECORDS_PER_POLL 64

struct wh_rpc_reader {
	struct wh_rpc_reader_config config;
	struct wh_rpc_reading progress;
	struct wh_pack pack;
	struct wh_inflow inflow;
	struct wh_record heard;
	struct wh_tally counted;
	bool tallied;
	bool ended;   /* our stream has ended */
	bool blocked; /* the listener has no room now */
	bool asking;  /* a question is outstanding */
	bool asked_all;
	uint64_t pings;
	uint64_t asked_tsc;
	uint64_t next_ping_tsc;
};

int wh_rpc_reader_open(struct wh_rpc_reader **reader, const struct wh_rpc_reader_config *config)
{
	struct wh_rpc_reader *made = aligned_alloc(WH_HASHER_ALIGN, sizeof(*made));

	WH_ASSERT(wh_job_is_rpc(config->verb) && config->listener != NULL);
	if (made == NULL)
		return -ENOMEM;
	memset(made, 0, sizeof(*made));
	made->config = *config;
	wh_pack_init(
		&made->pack, config->first_chunk, config->chunk_bytes, config->free, config->ready);
	wh_inflow_init(&made->inflow, config->deliver, config->recycled);
	*reader = made;
	return 0;
}

void wh_rpc_reader_close(struct wh_rpc_reader *reader)
{
	free(reader);
}

const struct wh_rpc_reading *wh_rpc_reader_progress(const struct wh_rpc_reader *reader)
{
	return &reader->progress;
}

static int take_item(struct wh_rpc_reader *reader, const struct wh_item *item)
{
	enum wh_job_verb verb = reader->config.verb;

	if ((verb != WH_JOB_LIST && verb != WH_JOB_USAGE) ||
		item->given >= reader->config.path_count)
		return -EPROTO;
	reader->counted.items++;
	reader->config.listener->on_item(reader->config.listener->context, item);
	return 0;
}

static int take_tally(struct wh_rpc_reader *reader, const struct wh_tally *tally)
{
	if (tally->items != reader->counted.items || tally->faults != reader->counted.faults)
		return -EPROTO;
	reader->tallied = true;
	reader->progress.tally = *tally;
	return 0;
}

static int take_ping(struct wh_rpc_reader *reader, uint64_t now_tsc)
{
	if (reader->config.verb != WH_JOB_PING || !reader->asking ||
		reader->heard.ping.sequence != reader->pings)
		return -EPROTO;
	reader->asking = false;
	reader->pings++;
	reader->config.listener->on_ping(reader->config.listener->context,
		reader->heard.ping.sequence, now_tsc - reader->asked_tsc);
	return 0;
}

static int take_status(struct wh_rpc_reader *reader)
{
	const struct wh_rpc_listener *listener = reader->config.listener;

	if (reader->config.verb != WH_JOB_ORDER || !reader->asking)
		return -EPROTO;
	reader->asking = false;
	listener->on_order_status(listener->context, &reader->heard.order_status);
	return 0;
}

static int take(struct wh_rpc_reader *reader, uint64_t now_tsc)
{
	const struct wh_record *record = &reader->heard;

	if (reader->tallied)
		return -EPROTO;
	switch (record->type) {
	case WH_RECORD_ITEM:
		return take_item(reader, &record->item);
	case WH_RECORD_FAULT:
		reader->counted.faults++;
		reader->config.listener->on_fault(reader->config.listener->context,
			record->fault.error, (enum wh_doing)record->fault.doing, record->fault.path,
			record->fault.path_bytes);
		return 0;
	case WH_RECORD_PING:
		return take_ping(reader, now_tsc);
	case WH_RECORD_STATUS:
		return take_status(reader);
	case WH_RECORD_TALLY:
		return take_tally(reader, &record->tally);
	case WH_RECORD_WAITS:
		reader->progress.waits_told++;
		reader->progress.peer = record->waits;
		return 0;
	default:
		return -EPROTO;
	}
}

/* 1: a record was read; a chunk is begun only if the listener has room for everything in it. */
static int read_one(struct wh_rpc_reader *reader, uint64_t now_tsc)
{
	const struct wh_rpc_listener *listener = reader->config.listener;

	reader->blocked =
		!wh_inflow_is_amid(&reader->inflow) && !listener->may_take(listener->context);
	if (reader->blocked || reader->inflow.ended)
		return 0;

	int rc = wh_inflow_next(&reader->inflow, &reader->heard);

	if (rc > 0 && take(reader, now_tsc) != 0)
		rc = -EPROTO;
	if (rc == 0 && reader->inflow.ended && !reader->tallied)
		rc = -EPROTO;
	if (rc < 0)
		reader->progress.error = rc;
	return rc > 0;
}

static bool is_to_ask(const struct wh_rpc_reader *reader)
{
	return reader->config.verb == WH_JOB_PING || reader->config.verb == WH_JOB_ORDER;
}

/* False: no more questions. */
static bool next_question(struct wh_rpc_reader *reader, struct wh_record *record)
{
	const struct wh_rpc_listener *listener = reader->config.listener;

	if (reader->config.verb == WH_JOB_ORDER) {
		record->type = WH_RECORD_ORDER;
		return listener->next_order(listener->context, &record->order);
	}
	*record = (struct wh_record){.type = WH_RECORD_PING, .ping = {.sequence = reader->pings}};
	return reader->pings < listener->pings;
}

/* For pings and orders: sends the next question. */
static int32_t ask(struct wh_rpc_reader *reader, uint64_t now_tsc)
{
	struct wh_record record;

	if (!is_to_ask(reader) || reader->asked_all || reader->asking)
		return 0;
	/* After the last question no pause is needed. */
	if (!next_question(reader, &record)) {
		reader->asked_all = true;
		return 1;
	}
	if (now_tsc < reader->next_ping_tsc ||
		!wh_pack_has_room(&reader->pack, wh_record_bytes(&record)))
		return 0;
	wh_pack_put(&reader->pack, &record);
	reader->asking = true;
	reader->asked_tsc = now_tsc;
	reader->next_ping_tsc = now_tsc + reader->config.listener->interval_tsc;
	return 1;
}

/* Ends our stream: after the last question, or else when the server's stream has ended. */
static int32_t end(struct wh_rpc_reader *reader)
{
	bool over = is_to_ask(reader) ? reader->asked_all : reader->inflow.ended;

	if (reader->ended || !over || !wh_pack_end(&reader->pack))
		return 0;
	reader->ended = true;
	return 1;
}

int32_t wh_rpc_reader_poll(struct wh_rpc_reader *reader, uint64_t now_tsc)
{
	int32_t work = 0;

	if (reader->progress.error != 0 || reader->progress.done)
		return 0;
	while (work < RECORDS_PER_POLL && reader->progress.error == 0 && read_one(reader, now_tsc))
		work++;
	if (reader->progress.error != 0)
		return work;
	work += ask(reader, now_tsc) + end(reader);
	if (!reader->ended)
		wh_pack_flush(&reader->pack);
	reader->progress.done = reader->ended && reader->inflow.ended;
	return work;
}

enum wh_waits wh_rpc_reader_waits(const struct wh_rpc_reader *reader)
{
	if (reader->blocked)
		return WH_WAITS_PIPE;
	return reader->inflow.ended ? WH_WAITS_SESSION : WH_WAITS_ENTRIES;
}

bool wh_rpc_reader_tell_waits(struct wh_rpc_reader *reader, const struct wh_waits_told *told)
{
	const struct wh_record record = {.type = WH_RECORD_WAITS, .waits = *told};

	if (reader->ended || !wh_pack_has_room(&reader->pack, wh_record_bytes(&record)))
		return false;
	wh_pack_put(&reader->pack, &record);
	return wh_pack_flush(&reader->pack);
}
