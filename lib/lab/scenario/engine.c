/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"
#include "fec/fec.h"
#include "lab/scenario/engine_config.h"
#include "lab/sim/sim_memory.h"
#include "session/pacer.h"
#include "wire/encap.h"

#define HZ WH_HOST_CLOCK_HZ

#define OUT_BURST 32 /* as in a netif */

#define RING_PKTS 512 /* packets a port's loop receives before it does other work */

/* Offsets in the head, see wire/packet.h; the last three in data packets only. */
#define FLAGS_OFFSET 2
#define CHUNK_OFFSET 24
#define INDEX_OFFSET 34
#define K_OFFSET     36

static_assert(K_OFFSET + sizeof(uint16_t) <= WH_HEAD_BYTES, "they are of the head");

/*
 * Packets are addressed by agent: each end is an endpoint of its own, whatever else is at its node.
 */
static const struct wh_address sender_address = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = 1};
static const struct wh_address receiver_address = {
	.family = WH_IPV4, .ip = {10, 0, 0, 2}, .port = 2};

struct end {
	struct wh_sim_engine *engine;
	struct wh_endpoint endpoint;
	const struct wh_address *peer_address;
	struct wh_session *session;
	struct wh_sim_event turn;
	struct wh_tasks tasks;       /* with config.tasks */
	struct wh_chunk *host_chunk; /* the chunk the host task works on */
	uint32_t node;
	uint32_t agent;
	uint32_t peer; /* agent */
	bool sends;
	struct wh_host_clock clock;
	struct wh_absence absence;
};

struct wh_sim_engine {
	struct wh_sim *sim;
	struct wh_sim_events *events;
	struct wh_sim_pool *pool;
	struct wh_sim_flow_stats *stats;
	struct wh_sim_engine_config config;
	struct wh_session_config session;
	struct wh_fec *fec; /* codec of both ends, without payload bytes */
	bool plans_late;    /* one chunk ahead at most: the latest feedback decides its repair */
	uint32_t flow;
	struct end sender;
	struct end receiver;
	uint64_t counted_bytes; /* counted in the flow's goodput */

	/* source */
	uint64_t given_bytes;
	uint64_t given_chunks;
	uint64_t begun_chunks;     /* begun to be sent, or finished */
	struct wh_chunk *encoding; /* for encode_ps, until `encoded` */
	struct wh_sim_event encoded;
	bool stopped;
	bool end_given;
	struct wh_chunk end_marker;

	struct wh_out out[OUT_BURST];
	uint8_t room[OUT_BURST][WH_CONTROL_BYTES_MAX];
};

static uint64_t tsc_at(const struct end *end, uint64_t now_ps)
{
	return wh_host_clock_tsc(&end->clock, now_ps);
}

static void set_alarm(struct end *end, uint64_t deadline_tsc)
{
	struct wh_sim_events *events = end->engine->events;
	uint64_t due_ps = wh_host_clock_when_ps(&end->clock, deadline_tsc);

	if (due_ps == WH_SIM_NEVER_PS)
		wh_sim_event_cancel(events, &end->turn);
	else if (!wh_sim_event_is_pending(&end->turn) ||
		 wh_sim_event_due_ps(events, &end->turn) != due_ps)
		wh_sim_event_at(events, &end->turn, due_ps);
}

static uint64_t rest_bytes(const struct wh_sim_engine *engine)
{
	WH_ASSERT(engine->given_bytes <= engine->config.size_bytes);
	return engine->stopped ? 0 : engine->config.size_bytes - engine->given_bytes;
}

static bool has_tasks(const struct wh_sim_engine *engine)
{
	return engine->config.tasks.arrival_ps > 0;
}

/* Bytes of a full chunk. */
static uint32_t full_bytes(const struct wh_sim_engine *engine)
{
	return has_tasks(engine) ? engine->session.payload_bytes : engine->session.chunk_bytes;
}

/* NULL: no data left, too early, or no free chunk. */
static struct wh_chunk *next_chunk(struct wh_sim_engine *engine)
{
	struct wh_chunk *chunk;

	if (rest_bytes(engine) == 0 ||
		(engine->plans_late && engine->given_chunks > engine->begun_chunks))
		return NULL;
	chunk = wh_fifo_pop(wh_session_free_chunks(engine->sender.session));
	if (chunk == NULL)
		return NULL;
	chunk->number = engine->given_chunks++;
	chunk->bytes = (uint32_t)wh_min_u64(full_bytes(engine), rest_bytes(engine));
	chunk->end = false;
	engine->given_bytes += chunk->bytes;
	WH_ASSERT(chunk->bytes > 0);
	return chunk;
}

/* Keeps a few chunks ready, and pushes the end marker once. */
static uint32_t feed(struct wh_sim_engine *engine)
{
	struct wh_fifo *ready = wh_session_ready_chunks(engine->sender.session);
	bool few = engine->fec == NULL || engine->plans_late;
	uint32_t given = 0;
	struct wh_chunk *chunk;

	while (!has_tasks(engine) && engine->encoding == NULL &&
		wh_fifo_count(ready) < (few ? WH_SIM_READY_CHUNKS : engine->session.chunks) &&
		(chunk = next_chunk(engine)) != NULL) {
		if (engine->config.encode_ps > 0) {
			engine->encoding = chunk;
			wh_sim_event_at(engine->events, &engine->encoded,
				wh_sim_now_ps(engine->sim) + engine->config.encode_ps);
			return given;
		}

		bool pushed = wh_fifo_push(ready, chunk);

		WH_ASSERT(pushed); /* has room for all chunks and the marker */
		given++;
	}
	if (rest_bytes(engine) > 0 || engine->encoding != NULL || engine->end_given ||
		engine->sender.host_chunk != NULL)
		return given;
	engine->end_marker = (struct wh_chunk){.number = engine->given_chunks, .end = true};
	engine->end_given = true;

	bool pushed = wh_fifo_push(ready, &engine->end_marker);

	WH_ASSERT(pushed);
	return given + 1;
}

/* The writer consumes chunks at once, and reports the expected digest at the end. */
static uint32_t drain(struct wh_sim_engine *engine, uint64_t now_tsc)
{
	struct wh_session *session = engine->receiver.session;
	struct wh_chunk *chunk;
	uint32_t taken = 0;

	if (has_tasks(engine))
		return 0;
	while ((chunk = wh_fifo_pop(wh_session_deliver_chunks(session))) != NULL) {
		if (chunk->end)
			wh_session_sink_done(session, now_tsc, WH_STATUS_VERIFIED);
		else
			wh_fifo_push(wh_session_recycled_chunks(session), chunk);
		taken++;
	}
	return taken;
}

/* A worker core of infinite speed. */
static uint32_t code(struct end *end)
{
	struct wh_fec *fec = end->engine->fec;

	if (fec == NULL)
		return 0;
	return (uint32_t)(end->sends ? wh_session_encode(end->session, fec)
				     : wh_session_decode(end->session, fec));
}

static struct wh_sim_packet *make_packet(const struct end *end, const struct wh_out *out)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(end->engine->pool);
	uint32_t bytes = out->head_bytes;

	WH_ASSERT(bytes >= WH_HEAD_BYTES && bytes <= WH_CONTROL_BYTES_MAX);
	packet->flow = end->engine->flow;
	packet->to = end->peer;
	packet->bytes = WH_SIM_IP_UDP_BYTES + bytes + out->payload_bytes;
	packet->datagram.payload_bytes = out->payload_bytes;
	packet->datagram.head_bytes = bytes;
	if (bytes == WH_HEAD_BYTES)
		memcpy(packet->datagram.head, out->head, WH_HEAD_BYTES);
	else
		memcpy(wh_sim_packet_add_control(end->engine->pool, packet), out->head, bytes);
	return packet;
}

static uint32_t two_bytes(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8;
}

static void count_sent(struct wh_sim_engine *engine, uint64_t now_ps, const uint8_t *head)
{
	struct wh_sim_flow_stats *stats = engine->stats;
	uint64_t chunk =
		two_bytes(head + CHUNK_OFFSET) | (uint64_t)two_bytes(head + CHUNK_OFFSET + 2) << 16;

	engine->begun_chunks = wh_max_u64(engine->begun_chunks, chunk + 1);
	stats->sent_pkts++;
	stats->retransmitted_pkts += (head[FLAGS_OFFSET] & WH_FLAG_RETRANSMISSION) != 0;
	stats->repair_pkts += two_bytes(head + INDEX_OFFSET) >= two_bytes(head + K_OFFSET);
	if (stats->first_sent_ps == WH_SIM_NEVER_PS)
		stats->first_sent_ps = now_ps;
}

static uint32_t send_all(struct end *end, uint64_t now_ps)
{
	struct wh_sim_engine *engine = end->engine;
	struct wh_out *out = engine->out;
	uint32_t count = wh_session_output(end->session, tsc_at(end, now_ps), out, OUT_BURST);

	for (uint32_t i = 0; i < count; i++) {
		if (out[i].payload_bytes > 0)
			count_sent(engine, now_ps, out[i].head);
		wh_sim_send(engine->sim, end->node, make_packet(end, &out[i]));
	}
	return count;
}

/* The receiver's last report may be lost. Then only its close says that all has arrived. */
static bool all_acknowledged(const struct wh_sim_engine *engine)
{
	const struct wh_session *session = engine->sender.session;

	return wh_session_moved_bytes(session) == engine->config.size_bytes ||
	       (engine->given_bytes == engine->config.size_bytes &&
		       wh_session_outcome(session) == WH_STATUS_VERIFIED);
}

static void notice_end(struct wh_sim_engine *engine, uint64_t now_ps)
{
	const struct wh_session *session = engine->sender.session;

	if (engine->stats->opened_ps == WH_SIM_NEVER_PS &&
		wh_session_phase(session) != WH_PHASE_OPENING)
		engine->stats->opened_ps = now_ps;
	if (engine->stats->finished_ps == WH_SIM_NEVER_PS && all_acknowledged(engine))
		engine->stats->finished_ps = now_ps;
	WH_ASSERT(engine->end_given || wh_session_phase(session) != WH_PHASE_CLOSED ||
		  wh_session_outcome(session) != WH_STATUS_VERIFIED);
}

/* Other connections may belong to the flow, too. */
static void count_goodput(struct wh_sim_engine *engine)
{
	uint64_t bytes = wh_session_moved_bytes(engine->receiver.session);

	if (bytes <= engine->counted_bytes)
		return;
	engine->stats->goodput_bytes += bytes - engine->counted_bytes;
	engine->counted_bytes = bytes;
}

/* Opens again when the acceptor has not answered for the lifetime of its cookie. */
static void ask_anew(struct end *end, uint64_t now_tsc)
{
	WH_ASSERT(end->sends);
	while (wh_session_begins_anew(end->session)) {
		wh_endpoint_send_poll(&end->endpoint, now_tsc);
		wh_endpoint_receive_poll(&end->endpoint, now_tsc);
	}
}

/* A busy task is not due again before it ends: the next turn is that end at the latest. */
static void turn_tasks(struct end *end, uint64_t now_ps)
{
	const struct wh_tasks_config *config = &end->engine->config.tasks;
	uint64_t now_tsc = tsc_at(end, now_ps);
	uint64_t least_tsc =
		now_tsc + wh_max_u64(wh_min_u64(config->task_ps[WH_TASK_NETWORK],
					     config->receiver_task_ps[WH_TASK_NETWORK]) /
					     WH_PS_PER_NS,
				  1);

	if (!end->sends)
		wh_session_note_waiting(end->session, wh_tasks_waiting_pkts(&end->tasks));
	while (wh_session_poll(end->session, now_tsc) > 0 || (end->sends && feed(end->engine) > 0))
		;
	if (wh_session_begins_anew(end->session))
		ask_anew(end, now_tsc);
	wh_tasks_ask(&end->tasks, now_ps);
	set_alarm(end, wh_max_u64(wh_session_deadline(end->session), least_tsc));
}

static void note_turn(struct end *end, uint64_t now_ps)
{
	if (end->sends)
		notice_end(end->engine, now_ps);
	else
		count_goodput(end->engine);
}

/*
 * Everything that this end does at a moment. A deadline covers all that waits for time, pacing
 * included. It does not cover chunks that were moved or begun, nor what exceeded a burst: these
 * need another round now.
 */
static void turn(struct end *end, uint64_t now_ps)
{
	uint64_t now_tsc = tsc_at(end, now_ps);
	uint64_t deadline_tsc;
	uint64_t begun_chunks;
	uint32_t moved;
	uint32_t sent;

	if (wh_absence_is_away(&end->absence))
		return;
	if (has_tasks(end->engine)) {
		turn_tasks(end, now_ps);
		note_turn(end, now_ps);
		return;
	}
	do {
		int32_t work = wh_session_poll(end->session, now_tsc);

		if (wh_session_begins_anew(end->session))
			ask_anew(end, now_tsc);
		moved = end->sends ? feed(end->engine) : drain(end->engine, now_tsc);
		moved += code(end);
		begun_chunks = end->engine->begun_chunks;
		sent = send_all(end, now_ps);
		deadline_tsc = wh_session_deadline(end->session);
		/* A deadline reached without work would be a busy loop. */
		WH_ASSERT(work > 0 || moved > 0 || sent > 0 || deadline_tsc > now_tsc);
	} while (moved > 0 || sent == OUT_BURST || begun_chunks < end->engine->begun_chunks ||
		 deadline_tsc <= now_tsc);
	set_alarm(end, deadline_tsc);
	note_turn(end, now_ps);
}

static void fire_turn(void *context, uint64_t now_ps)
{
	turn(context, now_ps);
}

/* The chunk's repair is planned now, at the end of its encoding. */
static void fire_encoded(void *context, uint64_t now_ps)
{
	struct wh_sim_engine *engine = context;
	struct wh_chunk *chunk = engine->encoding;

	WH_ASSERT(chunk != NULL);
	engine->encoding = NULL;
	wh_fifo_push(wh_session_ready_chunks(engine->sender.session), chunk);
	turn(&engine->sender, now_ps);
}

/* The simulated network does not change a packet's bytes. */
static void decode(const struct wh_sim_packet *arrived, struct wh_packet *packet)
{
	const struct wh_sim_datagram *datagram = &arrived->datagram;
	const uint8_t *bytes = arrived->control != NULL ? arrived->control : datagram->head;
	enum wh_wire_reason reason =
		datagram->payload_bytes > 0
			? wh_packet_decode_virtual(bytes, datagram->payload_bytes, packet)
			: wh_packet_decode(bytes, datagram->head_bytes, packet);

	WH_ASSERT(reason == WH_WIRE_OK);
}

/* Sends the replies of the endpoint itself, outside the session. */
static void send_replies(struct end *end, uint64_t now_tsc)
{
	struct wh_out *reply = end->engine->out;

	while (wh_endpoint_output(&end->endpoint, now_tsc, reply, 1) > 0) {
		WH_ASSERT(reply->payload_bytes == 0);
		wh_sim_send(end->engine->sim, end->node, make_packet(end, reply));
	}
}

/* Data without new payload count as needless. */
static void take_in(struct end *end, uint64_t now_tsc, const struct wh_packet *packet)
{
	uint64_t before_bytes = wh_session_moved_bytes(end->session);

	wh_session_input(end->session, now_tsc, now_tsc, packet);
	if (packet->type == WH_PACKET_DATA && packet->data.index < packet->data.k &&
		wh_session_moved_bytes(end->session) == before_bytes)
		end->engine->stats->needless_pkts++;
}

/*
 * The endpoint only opens the session: there is just one. False: a task takes the packet, after its
 * processing time.
 */
static bool take_arrived(
	struct end *end, uint64_t now_ps, uint64_t looked_tsc, struct wh_sim_packet *arrived)
{
	uint64_t now_tsc = tsc_at(end, now_ps);
	struct wh_packet packet;

	decode(arrived, &packet);
	if (has_tasks(end->engine) && end->session != NULL && packet.type != WH_PACKET_CONFIRM) {
		wh_tasks_arrive(&end->tasks, now_ps, arrived);
		return false;
	}
	if (packet.type == WH_PACKET_OPEN || packet.type == WH_PACKET_CONFIRM) {
		wh_endpoint_input(&end->endpoint, now_tsc, now_tsc, arrived->control,
			arrived->datagram.head_bytes, end->peer_address);
		send_replies(end, now_tsc);
	} else if (end->session !=
		   NULL) { /* otherwise CONFIRM was lost, and the connection ID is unknown */
		wh_session_looked(end->session, looked_tsc);
		take_in(end, now_tsc, &packet);
	}
	wh_sim_packet_put(end->engine->pool, arrived);
	return true;
}

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *arrived)
{
	struct end *end = context;

	if (wh_absence_is_away(&end->absence)) {
		wh_absence_keep(&end->absence, arrived);
		return;
	}
	if (take_arrived(end, now_ps, 0, arrived) && end->session != NULL)
		turn(end, now_ps);
}

/*
 * Back from an absence: receives everything that waited and sends what was due, ring by ring like a
 * port's loop.
 */
static void come_back(void *context, uint64_t now_ps)
{
	struct end *end = context;
	uint64_t left_tsc = tsc_at(end, end->absence.left_ps);
	struct wh_sim_packet *packet;

	for (uint32_t taken = 1; (packet = wh_absence_next(&end->absence)) != NULL; taken++) {
		take_arrived(end, now_ps, left_tsc, packet);
		if (taken % RING_PKTS == 0 && end->session != NULL)
			turn(end, now_ps);
	}
	if (end->session != NULL)
		turn(end, now_ps);
}

/*
 * True: there is a chunk for the host task: at the sending end the next packet's, which has a
 * buffer, and the previous one is within the window; at the other one that is complete.
 */
static bool begin_host(void *context)
{
	struct end *end = context;

	if (!end->sends)
		end->host_chunk = wh_fifo_pop(wh_session_deliver_chunks(end->session));
	else if (wh_fifo_count(wh_session_ready_chunks(end->session)) == 0)
		end->host_chunk = next_chunk(end->engine);
	return end->host_chunk != NULL;
}

static void end_host(void *context)
{
	struct end *end = context;
	struct wh_chunk *chunk = end->host_chunk;
	bool pushed = true;

	if (end->sends)
		pushed = wh_fifo_push(wh_session_ready_chunks(end->session), chunk);
	else if (!chunk->end)
		wh_fifo_push(wh_session_recycled_chunks(end->session), chunk);
	else
		wh_session_sink_done(end->session, tsc_at(end, wh_sim_now_ps(end->engine->sim)),
			WH_STATUS_VERIFIED);
	WH_ASSERT(pushed);
	end->host_chunk = NULL;
}

static struct wh_sim_packet *next_packet(void *context, uint64_t now_ps)
{
	struct end *end = context;
	struct wh_out *out = end->engine->out;

	if (wh_session_output(end->session, tsc_at(end, now_ps), out, 1) == 0)
		return NULL;
	if (out->payload_bytes > 0)
		count_sent(end->engine, now_ps, out->head);
	return make_packet(end, out);
}

static void take_packet(void *context, uint64_t now_ps, struct wh_sim_packet *arrived)
{
	struct end *end = context;
	uint64_t now_tsc = tsc_at(end, now_ps);
	struct wh_packet packet;

	decode(arrived, &packet);
	take_in(end, now_tsc, &packet);
	wh_sim_packet_put(end->engine->pool, arrived);
	turn(end, now_ps);
}

static void send_made(void *context, struct wh_sim_packet *packet)
{
	const struct end *end = context;

	wh_sim_send(end->engine->sim, end->node, packet);
}

static const struct wh_tasks_ops tasks_ops = {
	.begin_host = begin_host,
	.end_host = end_host,
	.next = next_packet,
	.take = take_packet,
	.send = send_made,
	.turn = fire_turn,
};

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct wh_sim_engine *engine = context;

	(void)now_tsc;
	(void)params;
	(void)peer;
	(void)sa;
	*buffer_chunks = engine->session.chunks;
	return WH_STATUS_PENDING;
}

static struct wh_session *accept(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct wh_sim_engine *engine = context;
	struct wh_session *before = engine->receiver.session;

	(void)sa;
	engine->receiver.session = wh_sim_insist(
		wh_session_accept(&engine->session, now_tsc, cid, peer, params, rtt_tsc),
		wh_session_table_bytes(WH_RECEIVER, &engine->session));
	/* Earlier sessions of a sender that reopened, whose data arrive again; freed at the end. */
	wh_session_set_context(engine->receiver.session, before);
	return engine->receiver.session;
}

static void create_end(struct wh_sim_engine *engine, struct end *end, uint32_t node)
{
	const struct wh_endpoint_config config = {
		.hz = HZ,
		.key = {1},
		.places = WH_ENDPOINT_PLACES_MIN,
		.payload_virtual = true,
		.welcome = end->sends ? NULL : welcome,
		.accept = end->sends ? NULL : accept,
		.context = engine,
	};

	end->engine = engine;
	wh_host_clock_init(&end->clock,
		end->sends ? &engine->config.sender_clock : &engine->config.receiver_clock);
	wh_sim_insist(wh_endpoint_init(&end->endpoint, &config) == 0 ? end : NULL, sizeof(*end));
	end->node = node;
	end->agent = wh_sim_add_agent(engine->sim, node, receive, end);
	wh_sim_event_init(&end->turn, fire_turn, end);
	wh_absence_init(&end->absence,
		end->sends ? &engine->config.sender_absence : &engine->config.receiver_absence,
		engine->events, engine->session.seed + end->sends, come_back, end);
	if (has_tasks(engine))
		wh_tasks_init(&end->tasks, &engine->config.tasks, &tasks_ops, engine->events,
			end->sends, engine->session.seed, engine->stats, end);
}

struct wh_sim_engine *wh_sim_engine_create(struct wh_sim *sim,
	const struct wh_sim_engine_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow, uint64_t seed)
{
	struct wh_sim_engine *engine = wh_sim_allocate(sizeof(*engine));

	engine->sim = sim;
	engine->events = wh_sim_events(sim);
	engine->pool = wh_sim_pool(sim);
	engine->stats = wh_sim_flow_stats(sim, flow);
	engine->config = *config;
	engine->session = wh_sim_engine_session_config(config, seed);
	engine->flow = flow;
	if (config->repair.recovery != WH_RECOVERY_NAK) {
		struct wh_fec_limits limits = wh_session_fec_limits(&engine->session);

		engine->fec = wh_sim_insist(wh_fec_create(&limits), limits.k);
		engine->plans_late = !config->profile->feedback.repair_tail;
	}
	wh_sim_event_init(&engine->encoded, fire_encoded, engine);
	engine->sender.sends = true;
	create_end(engine, &engine->sender, from_node);
	create_end(engine, &engine->receiver, to_node);
	engine->sender.peer = engine->receiver.agent;
	engine->sender.peer_address = &receiver_address;
	engine->receiver.peer = engine->sender.agent;
	engine->receiver.peer_address = &sender_address;
	for (uint32_t i = 0; i < OUT_BURST; i++)
		engine->out[i].head = engine->room[i];
	return engine;
}

void wh_sim_engine_destroy(struct wh_sim_engine *engine)
{
	if (engine == NULL)
		return;
	wh_sim_event_cancel(engine->events, &engine->sender.turn);
	wh_sim_event_cancel(engine->events, &engine->receiver.turn);
	wh_sim_event_cancel(engine->events, &engine->encoded);
	wh_absence_stop(&engine->sender.absence, engine->pool);
	wh_absence_stop(&engine->receiver.absence, engine->pool);
	if (has_tasks(engine)) {
		wh_tasks_stop(&engine->sender.tasks);
		wh_tasks_stop(&engine->receiver.tasks);
	}
	wh_session_destroy(engine->sender.session);
	for (struct wh_session *session = engine->receiver.session, *before; session != NULL;
		session = before) {
		before = wh_session_context(session);
		wh_session_destroy(session);
	}
	wh_endpoint_free(&engine->sender.endpoint);
	wh_endpoint_free(&engine->receiver.endpoint);
	wh_fec_destroy(engine->fec);
	free(engine);
}

void wh_sim_engine_start(struct wh_sim_engine *engine, uint64_t now_ps)
{
	WH_ASSERT(engine->sender.session == NULL);
	WH_ASSERT(now_ps == wh_sim_now_ps(engine->sim));

	engine->session.line_bps = wh_sim_link_config(engine->sim,
		wh_sim_next_link(engine->sim, engine->sender.node, engine->receiver.node))
					   ->rate_bps;
	engine->sender.session = wh_sim_insist(wh_session_open(&engine->session, &receiver_address,
						       "sim", engine->config.size_bytes),
		wh_session_table_bytes(WH_TRANSMITTER, &engine->session));

	int rc = wh_endpoint_open(&engine->sender.endpoint, engine->sender.session);

	WH_ASSERT(rc == 0);
	wh_endpoint_send_poll(&engine->sender.endpoint, tsc_at(&engine->sender, now_ps));
	if (has_tasks(engine))
		wh_tasks_start(&engine->sender.tasks, now_ps);
	wh_absence_start(&engine->sender.absence, now_ps);
	wh_absence_start(&engine->receiver.absence, now_ps);
	turn(&engine->sender, now_ps);
}

void wh_sim_engine_stop(struct wh_sim_engine *engine)
{
	engine->stopped = true;
	if (engine->sender.session != NULL)
		turn(&engine->sender, wh_sim_now_ps(engine->sim));
}

static bool runs(const struct wh_sim_engine *engine)
{
	return engine->sender.session != NULL &&
	       wh_session_phase(engine->sender.session) == WH_PHASE_RUNNING;
}

double wh_sim_engine_rate_bps(const struct wh_sim_engine *engine)
{
	uint64_t interval_fp =
		runs(engine) ? wh_session_pacer(engine->sender.session)->interval_fp : 0;

	if (interval_fp == 0)
		return 0;
	return 8.0 * engine->session.packet_bytes * HZ *
	       (double)(UINT64_C(1) << WH_INTERVAL_FRACTION_BITS) / (double)interval_fp;
}

double wh_sim_engine_window_pkts(const struct wh_sim_engine *engine)
{
	if (!runs(engine))
		return 0;

	const struct wh_control *control = wh_session_control(engine->sender.session);

	return control->profile->decide(control).window_pkts;
}

const struct wh_session *wh_sim_engine_sender(const struct wh_sim_engine *engine)
{
	return engine->sender.session;
}

const struct wh_session *wh_sim_engine_receiver(const struct wh_sim_engine *engine)
{
	return engine->receiver.session;
}
