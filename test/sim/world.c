/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <stdlib.h>

#include "../rig/end.h"
#include "../rig/parcel.h"
#include "../rig/sas.h"
#include "base/clock.h"
#include "fec/fec.h"

#define ROOM_BYTES 9300 /* of any packet, head and payload */
#define OUT_BURST  32
#define TAKE_BURST 32
#define DEEP_EVERY 4096 /* events between deep checks */

/* A packet under way. */
struct parcel {
	struct parcel *next;
	uint32_t bytes;
	uint8_t data[ROOM_BYTES];
};

/* One direction: its link, and the clean one that takes over when it heals. */
struct direction {
	struct wh_netem *netem[2];
	uint32_t current;
};

struct wh_world {
	struct wh_world_config config;
	uint64_t now_tsc;
	struct wh_rig_end sender_end;
	struct wh_rig_sadb sadb; /* with a cipher */
	struct wh_rig_end receiver_end;
	struct wh_session *sender;
	struct wh_session *receiver;
	bool sender_closed; /* by its users */
	bool receiver_closed;
	bool sender_gone;
	bool receiver_gone;
	struct wh_stream_source source;
	struct wh_stream_sink sink;
	struct wh_fec *fec; /* of the working core of both */
	struct direction forward;
	struct direction reverse;
	struct parcel *spare;
	struct wh_out out[OUT_BURST];
	uint8_t room[OUT_BURST][WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	uint64_t writer_due_tsc;
	uint64_t reader_due_tsc;
	struct books {
		struct wh_rig_end *end;
		uint64_t pause_ns; /* 0: not apart */
		uint64_t due_tsc;
		struct wh_prng prng;
	} books[2];
	bool sink_told;
	uint64_t receiver_gone_ns;
	bool event_done;
	bool cut;
	uint64_t events;
	uint64_t packet_hops;
};

static uint64_t tsc(const struct wh_world *w, uint64_t span_ns)
{
	return wh_ns_to_tsc(w->config.hz, span_ns);
}

static struct parcel *parcel_get(struct wh_world *w)
{
	struct parcel *parcel = w->spare;

	if (parcel != NULL) {
		w->spare = parcel->next;
		return parcel;
	}
	parcel = malloc(sizeof(*parcel));
	WH_ASSERT(parcel != NULL);
	return parcel;
}

static void parcel_put(struct wh_world *w, struct parcel *parcel)
{
	parcel->next = w->spare;
	w->spare = parcel;
}

static void configure(const struct wh_world *w, struct wh_rig_end *end, uint32_t chunks)
{
	struct wh_session_config *config = &end->session;

	wh_rig_session_config(
		config, w->config.hz, w->config.chunk_bytes, chunks, w->config.window_pkts);
	wh_rig_session_mtu(config, WH_IPV4, w->config.mtu_bytes);
	config->profile = w->config.profile;
	config->rate_bps = w->config.send_rate_bps;
	config->burst_pkts = w->config.burst_pkts;
	config->known = w->config.known;
	config->repair = w->config.repair;
	config->options = w->config.options;
	config->seed = w->config.seed;
	config->chunk_memory =
		aligned_alloc(WH_CHUNK_ALIGN, chunks * wh_session_chunk_stride(config));
	WH_ASSERT(config->chunk_memory != NULL);
}

static void bind(struct wh_world *w)
{
	wh_rig_sadb_open(&w->sadb, w->config.seed, w->config.cipher);
	w->sender_end.session.sa = w->sadb.sa[0];
	w->sender_end.sadb = &w->sadb.sadb[0];
	w->receiver_end.sadb = &w->sadb.sadb[1];
}

static uint64_t opened_bytes(const struct wh_world_config *config)
{
	return config->size_unknown ? WH_OBJECT_BYTES_UNKNOWN : config->object_bytes;
}

static void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct wh_world *w = context;

	(void)config;
	WH_ASSERT(w->receiver == NULL);
	WH_ASSERT(wh_session_params(session)->object_bytes == opened_bytes(&w->config));
	WH_ASSERT(wh_address_equal(wh_session_peer(session), &w->sender_end.address));
	w->receiver = session;
	wh_stream_sink_open(&w->sink, w->config.object_bytes, w->config.seed,
		wh_session_deliver_chunks(session), wh_session_recycled_chunks(session));
}

/* It stays for the results until the world ends. */
static void session_gone(void *context, struct wh_session *session)
{
	struct wh_world *w = context;
	bool *gone = session == w->sender ? &w->sender_gone : &w->receiver_gone;

	WH_ASSERT(session == w->sender ? w->sender_closed : w->receiver_closed);
	WH_ASSERT(!*gone && wh_session_phase(session) == WH_PHASE_CLOSED);
	*gone = true;
	if (session == w->receiver)
		w->receiver_gone_ns = wh_world_now_ns(w);
}

static void make_netem(struct wh_world *w, struct direction *direction, uint32_t i,
	const struct wh_link_model *config)
{
	/* Control packets are the smallest: about 130 bytes on the wire. */
	uint32_t items = wh_netem_items_needed(config, 120);

	if (items > 1 << 20)
		items = 1 << 20;
	direction->netem[i] = wh_netem_create(config, w->config.hz, w->now_tsc, items);
	WH_ASSERT(direction->netem[i] != NULL);
	direction->current = i;
}

/* What is left of an emulated link when everything that goes wrong is taken away. */
static struct wh_link_model healed(const struct wh_link_model *config)
{
	return (struct wh_link_model){
		.rate_bps = config->rate_bps,
		.delay_ns = config->delay_ns,
		.queue_bytes = config->queue_bytes,
		.queue_pkts = config->queue_pkts,
		.seed = config->seed + 1,
	};
}

static void keep_books(
	const struct wh_world *w, struct books *books, struct wh_rig_end *end, uint64_t pause_ns)
{
	books->end = end;
	books->pause_ns = pause_ns;
	end->more.books_apart = pause_ns > 0;
	end->session.books_apart = pause_ns > 0;
	wh_prng_init(&books->prng, w->config.seed);
}

struct wh_world *wh_world_create(const struct wh_world_config *config)
{
	struct wh_world *w = calloc(1, sizeof(*w));

	WH_ASSERT(w != NULL);
	w->config = *config;
	w->now_tsc = tsc(w, WH_NS_PER_S); /* no code may take 0 for the start of time */
	configure(w, &w->sender_end, config->chunks_sender);
	configure(w, &w->receiver_end, config->chunks_receiver);
	keep_books(w, &w->books[0], &w->receiver_end, config->books_ns);
	keep_books(w, &w->books[1], &w->sender_end, config->sender_books_ns);

	struct wh_fec_limits limits = wh_session_fec_limits(&w->sender_end.session);

	if (config->repair.recovery != WH_RECOVERY_NAK) {
		w->fec = wh_fec_create(&limits);
		WH_ASSERT(w->fec != NULL);
	}
	for (uint32_t i = 0; i < OUT_BURST; i++)
		w->out[i].head = w->room[i];
	make_netem(w, &w->forward, 0, &config->forward);
	make_netem(w, &w->reverse, 0, &config->reverse);

	w->sender_end.gone = w->receiver_end.gone = session_gone;
	w->sender_end.context = w->receiver_end.context = w;
	w->receiver_end.accepted = session_accepted;
	if (config->cipher != 0)
		bind(w);
	wh_rig_end_open(&w->sender_end, 1, WH_ENDPOINT_PLACES_MIN);
	wh_rig_end_open(&w->receiver_end, 2, WH_ENDPOINT_PLACES_MIN);
	w->sender = wh_rig_end_connect(
		&w->sender_end, &w->receiver_end.address, "world", opened_bytes(config), NULL);
	wh_stream_source_open(&w->source, config->object_bytes, config->seed, config->chunk_bytes,
		config->short_chunks, wh_session_free_chunks(w->sender),
		wh_session_ready_chunks(w->sender));
	return w;
}

static void empty_netem(struct wh_world *w, struct wh_netem *netem)
{
	struct parcel *parcel;

	while ((parcel = wh_netem_take_any(netem)) != NULL)
		parcel_put(w, parcel);
	wh_netem_destroy(netem);
}

void wh_world_destroy(struct wh_world *w)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (w->forward.netem[i] != NULL)
			empty_netem(w, w->forward.netem[i]);
		if (w->reverse.netem[i] != NULL)
			empty_netem(w, w->reverse.netem[i]);
	}
	wh_stream_source_close(&w->source);
	wh_stream_sink_close(&w->sink);
	wh_session_destroy(w->sender);
	wh_session_destroy(w->receiver);
	wh_rig_end_close(&w->sender_end);
	wh_rig_end_close(&w->receiver_end);
	if (w->config.cipher != 0)
		wh_rig_sadb_close(&w->sadb);
	wh_fec_destroy(w->fec);
	while (w->spare != NULL) {
		struct parcel *parcel = w->spare;

		w->spare = parcel->next;
		free(parcel);
	}
	free(w->sender_end.session.chunk_memory);
	free(w->receiver_end.session.chunk_memory);
	free(w);
}

static void put_on_netem(struct wh_world *w, struct wh_netem *netem, const struct wh_out *out)
{
	struct wh_netem_fate fate;
	uint32_t bytes = out->head_bytes + out->payload_bytes;
	uint32_t wire_bytes =
		bytes + WH_UDP_BYTES + WH_IPV4_BYTES + WH_ETHER_BYTES + WH_ETHER_WIRE_BYTES;

	WH_ASSERT(bytes <= ROOM_BYTES);
	w->packet_hops++;
	wh_netem_admit(netem, w->now_tsc, wire_bytes, &fate);
	for (uint32_t i = 0; i < fate.copies; i++) {
		struct parcel *parcel = parcel_get(w);

		parcel->bytes = bytes;
		wh_rig_parcel_fill(parcel->data, out, &fate);
		if (!wh_netem_hold(netem, fate.due_tsc[i], parcel)) {
			wh_netem_count_queue_drop(netem);
			parcel_put(w, parcel);
		}
	}
}

static uint32_t send_all(struct wh_world *w, struct wh_endpoint *end, struct direction *direction)
{
	uint32_t count = wh_endpoint_output(end, w->now_tsc, w->out, OUT_BURST);

	for (uint32_t i = 0; i < count; i++)
		if (!w->cut)
			put_on_netem(w, direction->netem[direction->current], &w->out[i]);
	return count;
}

static uint32_t arrive_from(struct wh_world *w, struct wh_netem *netem, struct wh_endpoint *end,
	const struct wh_address *from)
{
	struct wh_netem_item items[TAKE_BURST];
	uint32_t count = netem == NULL ? 0 : wh_netem_take(netem, w->now_tsc, items, TAKE_BURST);

	for (uint32_t i = 0; i < count; i++) {
		struct parcel *parcel = items[i].item;

		if (!w->cut)
			wh_endpoint_input(end, w->now_tsc, items[i].due_tsc, parcel->data,
				parcel->bytes, from);
		parcel_put(w, parcel);
	}
	return count;
}

static bool core_is_stolen(const struct wh_world *w, uint64_t steal_ns)
{
	uint64_t steal_tsc = tsc(w, steal_ns);

	return steal_tsc != 0 && w->now_tsc / steal_tsc % 2 == 1;
}

static uint32_t arrive_all(struct wh_world *w)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < 2; i++) {
		if (!core_is_stolen(w, w->config.steal_receiver_ns))
			count += arrive_from(w, w->forward.netem[i], &w->receiver_end.endpoint,
				&w->sender_end.address);
		count += arrive_from(
			w, w->reverse.netem[i], &w->sender_end.endpoint, &w->receiver_end.address);
	}
	return count;
}

static uint64_t since_start_tsc(const struct wh_world *w)
{
	return w->now_tsc - tsc(w, WH_NS_PER_S);
}

static bool source_rests(const struct wh_world *w)
{
	if (!w->event_done)
		return false;
	return w->config.event == WH_WORLD_SOURCE_STOPS ||
	       (w->config.event == WH_WORLD_SOURCE_PAUSES &&
		       since_start_tsc(w) < tsc(w, w->config.event_ns + WH_WORLD_PAUSE_NS));
}

static int32_t poll_source(struct wh_world *w)
{
	if (w->sender_closed || source_rests(w))
		return 0;

	if (w->now_tsc < w->reader_due_tsc)
		return 0;

	uint64_t rest_ns = w->config.reader_rest_ns;
	int32_t work = wh_stream_source_poll(
		&w->source, rest_ns == 0 ? UINT64_MAX : w->config.chunk_bytes);

	if (work > 0)
		w->reader_due_tsc = w->now_tsc + tsc(w, rest_ns);

	if (w->fec != NULL)
		work += wh_session_encode(w->sender, w->fec);
	if (work > 0)
		wh_session_kick(w->sender);
	return work;
}

static int32_t poll_sink(struct wh_world *w)
{
	if (w->receiver == NULL || w->receiver_closed || w->now_tsc < w->writer_due_tsc)
		return 0;

	int32_t work = wh_stream_sink_poll(&w->sink);

	if (w->fec != NULL)
		work += wh_session_decode(w->receiver, w->fec);

	if (work > 0)
		wh_session_kick(w->receiver);
	w->writer_due_tsc = w->now_tsc + tsc(w, w->config.writer_rest_ns);
	if (w->sink.done != WH_STREAM_RUNNING && !w->sink_told) {
		w->sink_told = true;
		wh_session_ask(w->receiver, WH_WISH_SINK_DONE,
			w->sink.done == WH_STREAM_OK ? WH_STATUS_VERIFIED : WH_STATUS_MISMATCH);
		work++;
	}
	return work;
}

static int32_t poll_users(struct wh_world *w)
{
	if (w->config.poll_users != NULL)
		return w->config.poll_users(w->config.context, w->now_tsc, w->sender, w->receiver);
	return poll_source(w) + poll_sink(w);
}

static void close_session(struct wh_session *session, bool *closed)
{
	if (session != NULL && !*closed)
		wh_session_ask(session, WH_WISH_CLOSE, WH_STATUS_PENDING);
	*closed = session != NULL;
}

/* Users let go once there is nothing more to wait for. */
static int32_t close_when_over(const struct wh_world *w, struct wh_session *session, bool *closed)
{
	if (session == NULL || *closed)
		return 0;

	struct wh_session_news news = wh_session_news(session);

	if (w->config.close_early ? news.outcome == WH_STATUS_PENDING
				  : news.phase != WH_PHASE_CLOSED)
		return 0;
	close_session(session, closed);
	return 1;
}

static int32_t close_those_over(struct wh_world *w)
{
	return close_when_over(w, w->sender, &w->sender_closed) +
	       close_when_over(w, w->receiver, &w->receiver_closed);
}

static void ask(struct wh_session *session, bool closed, enum wh_session_wish wish,
	enum wh_release_status status)
{
	if (session != NULL && !closed)
		wh_session_ask(session, wish, status);
}

static void happen(struct wh_world *w)
{
	uint64_t since_tsc = since_start_tsc(w);

	if (w->config.heal_ns != UINT64_MAX && w->forward.current == 0 &&
		since_tsc >= tsc(w, w->config.heal_ns)) {
		struct wh_link_model forward = healed(&w->config.forward);
		struct wh_link_model reverse = healed(&w->config.reverse);

		make_netem(w, &w->forward, 1, &forward);
		make_netem(w, &w->reverse, 1, &reverse);
	}
	if (w->event_done || w->config.event == WH_WORLD_NOTHING ||
		since_tsc < tsc(w, w->config.event_ns))
		return;
	w->event_done = true;
	switch (w->config.event) {
	case WH_WORLD_CUT:
		w->cut = true;
		break;
	case WH_WORLD_ABORT_SENDER:
		ask(w->sender, w->sender_closed, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
		break;
	case WH_WORLD_ABORT_RECEIVER:
		ask(w->receiver, w->receiver_closed, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
		break;
	case WH_WORLD_SINK_FULL:
		ask(w->receiver, w->receiver_closed, WH_WISH_SINK_DONE, WH_STATUS_NO_SPACE);
		break;
	case WH_WORLD_CLOSE_SENDER:
		close_session(w->sender, &w->sender_closed);
		break;
	case WH_WORLD_CLOSE_RECEIVER:
		close_session(w->receiver, &w->receiver_closed);
		break;
	default:
		break;
	}
}

/* Both halves, as one core does it. */
static int32_t poll_end(const struct wh_world *w, struct wh_endpoint *end)
{
	return wh_endpoint_receive_poll(end, w->now_tsc) + wh_endpoint_send_poll(end, w->now_tsc);
}

/* The core of an end's bookkeeping, which is never there when packets arrive. */
static int32_t poll_books(const struct wh_world *w, struct books *books)
{
	struct wh_endpoint *endpoint = &books->end->endpoint;
	bool leaves = endpoint->rx_leaving.first != NULL || endpoint->tx_leaving.first != NULL;
	bool stops = wh_prng_below(&books->prng, 1000) == 0;

	/* A session that leaves waits for turns of this core, and no time passes meanwhile. */
	if (books->pause_ns == 0 || (w->now_tsc < books->due_tsc && !leaves))
		return 0;
	books->due_tsc = w->now_tsc + tsc(w, stops ? WH_WORLD_BOOKS_STOP_NS
						   : wh_prng_below(&books->prng, books->pause_ns));
	return wh_endpoint_books_poll(endpoint, w->now_tsc);
}

static uint64_t books_deadline(const struct books *books)
{
	if (books->pause_ns == 0)
		return WH_TSC_NEVER;
	return wh_max_u64(books->due_tsc, wh_endpoint_books_deadline(&books->end->endpoint));
}

static uint64_t end_deadline(const struct wh_endpoint *end)
{
	return wh_min_u64(wh_endpoint_receive_deadline(end), wh_endpoint_send_deadline(end));
}

static uint64_t core_deadline(
	const struct wh_world *w, uint64_t steal_ns, const struct wh_endpoint *end)
{
	uint64_t steal_tsc = tsc(w, steal_ns);

	return core_is_stolen(w, steal_ns) ? (w->now_tsc / steal_tsc + 1) * steal_tsc
					   : end_deadline(end);
}

static uint64_t next_moment(const struct wh_world *w)
{
	uint64_t start_tsc = tsc(w, WH_NS_PER_S);
	uint64_t next_tsc =
		wh_min_u64(core_deadline(w, w->config.steal_ns, &w->sender_end.endpoint),
			core_deadline(w, w->config.steal_receiver_ns, &w->receiver_end.endpoint));
	bool receives = !core_is_stolen(w, w->config.steal_receiver_ns);

	for (uint32_t i = 0; i < RTE_DIM(w->books); i++)
		next_tsc = wh_min_u64(next_tsc, books_deadline(&w->books[i]));
	for (uint32_t i = 0; i < 2; i++) {
		if (w->forward.netem[i] != NULL && receives)
			next_tsc = wh_min_u64(next_tsc, wh_netem_deadline(w->forward.netem[i]));
		if (w->reverse.netem[i] != NULL)
			next_tsc = wh_min_u64(next_tsc, wh_netem_deadline(w->reverse.netem[i]));
	}
	if (w->receiver != NULL && !w->receiver_closed && w->writer_due_tsc > w->now_tsc)
		next_tsc = wh_min_u64(next_tsc, w->writer_due_tsc);
	if (!w->sender_closed && w->reader_due_tsc > w->now_tsc)
		next_tsc = wh_min_u64(next_tsc, w->reader_due_tsc);
	if (w->config.heal_ns != UINT64_MAX && w->forward.current == 0)
		next_tsc = wh_min_u64(next_tsc, start_tsc + tsc(w, w->config.heal_ns));
	if (!w->event_done && w->config.event != WH_WORLD_NOTHING)
		next_tsc = wh_min_u64(next_tsc, start_tsc + tsc(w, w->config.event_ns));
	if (source_rests(w) && w->config.event == WH_WORLD_SOURCE_PAUSES)
		next_tsc = wh_min_u64(
			next_tsc, start_tsc + tsc(w, w->config.event_ns + WH_WORLD_PAUSE_NS));
	return next_tsc;
}

static void check(struct wh_world *w)
{
	bool deep = w->config.check_deep && w->events % DEEP_EVERY == 0;

	wh_session_check(w->sender, deep);
	if (w->receiver != NULL)
		wh_session_check(w->receiver, deep);
}

/* No core knows the sessions any more. */
static bool both_gone(const struct wh_world *w)
{
	return w->sender_gone && (w->receiver == NULL || w->receiver_gone);
}

bool wh_world_run(struct wh_world *w, uint64_t until_ns)
{
	uint64_t until_tsc = tsc(w, WH_NS_PER_S) + tsc(w, until_ns);

	while (!both_gone(w)) {
		int64_t work = arrive_all(w);

		happen(w);
		work += poll_users(w);
		if (!core_is_stolen(w, w->config.steal_ns))
			work += poll_end(w, &w->sender_end.endpoint) +
				send_all(w, &w->sender_end.endpoint, &w->forward);
		if (!core_is_stolen(w, w->config.steal_receiver_ns))
			work += poll_end(w, &w->receiver_end.endpoint) +
				send_all(w, &w->receiver_end.endpoint, &w->reverse);
		for (uint32_t i = 0; i < RTE_DIM(w->books); i++)
			work += poll_books(w, &w->books[i]);
		work += close_those_over(w);
		w->events++;
		check(w);
		if (work > 0)
			continue;

		uint64_t next_tsc = next_moment(w);

		/* A deadline that is reached without work would be a busy loop on a real core. */
		WH_ASSERT(next_tsc > w->now_tsc);
		if (next_tsc > until_tsc)
			return both_gone(w);
		w->now_tsc = next_tsc;
	}
	return true;
}

uint64_t wh_world_now_ns(const struct wh_world *w)
{
	return wh_tsc_to_ns(w->config.hz, w->now_tsc) - WH_NS_PER_S;
}

struct wh_session *wh_world_sender(struct wh_world *w)
{
	return w->sender;
}

struct wh_session *wh_world_receiver(struct wh_world *w)
{
	return w->receiver;
}

void wh_world_result(struct wh_world *w, struct wh_world_result *result)
{
	*result = (struct wh_world_result){
		.in_time = both_gone(w),
		.sender = wh_session_outcome(w->sender),
		.end_ns = wh_world_now_ns(w),
		.events = w->events,
		.packet_hops = w->packet_hops,
		.sender_stats = wh_session_stats(w->sender),
		.stalled_by = wh_session_limit_now(w->sender),
	};
	if (w->receiver == NULL)
		return;
	result->receiver = wh_session_outcome(w->receiver);
	result->receiver_stats = wh_session_stats(w->receiver);
	if (result->receiver_stats.outcome_tsc != 0)
		result->outcome_ns =
			wh_tsc_to_ns(w->config.hz, result->receiver_stats.outcome_tsc) -
			WH_NS_PER_S;
	result->gone_ns = w->receiver_gone_ns;
	result->pattern_ok = w->sink.done == WH_STREAM_OK;
	result->object_bytes = w->sink.bytes;
}
