/* SPDX-License-Identifier: BSD-3-Clause */
#include "storm.h"

#include <stdlib.h>
#include <string.h>

#include "../rig/end.h"
#include "base/assert.h"
#include "endpoint/lifecycle.h"
#include "endpoint/strays.h"
#include "fec/fec.h"
#include "options.h"
#include "profile/profile.h"
#include "wire/versions.h"

struct wh_tally wh_storm_tally;

#define OUT_BURST  32
#define CHUNKS_MAX 8

/* What a listener takes, so that a peer cannot make it allocate what it likes. */
#define LISTENER_CHUNK_BYTES_MAX 65536
#define LISTENER_WINDOW_PKTS_MAX 1024
#define LISTENER_REPAIR_PKTS_MAX 64

/* Of the working core that both ends share; it has no memory of what it did. */
static struct wh_fec *coder(void)
{
	static const struct wh_fec_limits limits = {
		.k = LISTENER_CHUNK_BYTES_MAX / WH_PAYLOAD_BYTES_MIN,
		.r = LISTENER_REPAIR_PKTS_MAX,
		.symbol_bytes = WH_PAYLOAD_BYTES_MAX,
	};
	static struct wh_fec *fec;

	if (fec == NULL)
		fec = wh_fec_create(&limits);
	WH_ASSERT(fec != NULL);
	return fec;
}

static struct wh_session_config session_config(
	const struct wh_storm *storm, enum wh_role role, const struct wh_open_params *params)
{
	const struct wh_storm_end *end = &storm->end[role];
	struct wh_session_config config;

	wh_rig_session_config(
		&config, storm->hz, params->chunk_bytes, end->chunks, params->window_pkts);
	wh_rig_session_mtu(&config, WH_IPV4,
		params->payload_bytes + WH_HEAD_BYTES + wh_encap_ip_udp_bytes(WH_IPV4));
	config.profile = &end->profile;
	config.chunk_memory = end->memory;
	config.rate_bps = storm->rate_bps;
	config.burst_pkts = storm->burst_pkts;
	config.options = end->options;
	config.repair = storm->repair;
	config.repair.recovery = (enum wh_recovery)params->recovery;
	config.repair.repair_pkts = params->repair_pkts;
	config.seed = storm->seed;
	return config;
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct wh_storm *storm = context;

	(void)now_tsc;
	(void)peer;
	(void)sa;
	*buffer_chunks = storm->end[WH_RECEIVER].chunks;
	const struct wh_profile *profile = wh_profile_by_number(params->profile);
	struct wh_profile_options options;

	if (profile == NULL ||
		!wh_profile_options_hear(&options, profile, params->options, params->n_options) ||
		params->chunk_bytes > LISTENER_CHUNK_BYTES_MAX ||
		params->chunk_bytes % WH_CHUNK_ALIGN != 0 ||
		params->repair_pkts > LISTENER_REPAIR_PKTS_MAX ||
		params->window_pkts > LISTENER_WINDOW_PKTS_MAX)
		return WH_STATUS_REFUSED;
	return storm->end[WH_RECEIVER].session == NULL && storm->n_accepted < WH_STORM_ACCEPTED
		       ? WH_STATUS_PENDING
		       : WH_STATUS_BUSY;
}

static uint8_t *chunk_memory(const struct wh_session_config *config)
{
	uint8_t *memory =
		aligned_alloc(WH_CHUNK_ALIGN, config->chunks * wh_session_chunk_stride(config));

	WH_ASSERT(memory != NULL);
	return memory;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct wh_storm *storm = context;
	struct wh_storm_end *end = &storm->end[WH_RECEIVER];
	uint32_t buffer_chunks;

	(void)sa;
	if (end->session != NULL || storm->n_accepted == WH_STORM_ACCEPTED)
		return NULL;
	/* Whatever gets here was welcome, and once. */
	WH_ASSERT(welcome(context, now_tsc, params, peer, sa, &buffer_chunks) == WH_STATUS_PENDING);
	for (uint32_t i = 0; i < storm->n_accepted; i++)
		WH_ASSERT(storm->accepted_cid[i] != cid);
	uint32_t period_us = end->profile.feedback.period_us;

	end->profile = *wh_profile_by_number(params->profile);
	end->profile.feedback.period_us = period_us;
	struct wh_session_config config = session_config(storm, WH_RECEIVER, params);

	end->memory = chunk_memory(&config);
	config.chunk_memory = end->memory;
	end->session = wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);
	WH_ASSERT(end->session != NULL);

	wh_stream_sink_open(&storm->sink, params->object_bytes, 0,
		wh_session_deliver_chunks(end->session), wh_session_recycled_chunks(end->session));
	storm->accepted_cid[storm->n_accepted++] = cid;
	return end->session;
}

/* Nobody touches it any more: there is room for another. */
static void session_gone(void *context, struct wh_session *session)
{
	struct wh_storm *storm = context;
	struct wh_storm_end *end = &storm->end[WH_RECEIVER];

	WH_ASSERT(session == end->session && end->leaving);
	wh_session_destroy(session);
	free(end->memory);
	end->session = NULL;
	end->memory = NULL;
	end->phase = WH_PHASE_OPENING;
	end->outcome = WH_STATUS_PENDING;
	end->leaving = false;
}

static void set(struct wh_storm_end *end, const char *option, double value)
{
	int rc = wh_profile_options_put(&end->options, &end->profile, option, value);

	WH_ASSERT(rc == 0);
}

/* Timeouts that are too short and too long, and a period of its own. */
static void draw_exchange(struct wh_storm *storm, struct wh_storm_end *end)
{
	struct wh_script *script = &storm->script;

	set(end, "timeout", 1e6 * (double)(1 + wh_script_below(script, 400)));
	if (wh_script_one_in(script, 2))
		set(end, "window", 2 + (double)wh_script_below(script, 100));
	if (strcmp(end->profile.name, "pxp") != 0)
		return;
	set(end, "period", 1e6 * (double)(1 + wh_script_below(script, 100)));
	set(end, "load", (double)wh_script_below(script, 101));
	set(end, "skip", (double)wh_script_below(script, 3));
}

/* Anything that a peer may wish; or switches either way, and many small bitmaps. */
static void draw_options(struct wh_storm *storm, struct wh_storm_end *end)
{
	struct wh_script *script = &storm->script;

	if (wh_script_one_in(script, 2) && wh_script_options(script, &end->profile, &end->options))
		return;
	wh_profile_options_init(&end->options, &end->profile);
	for (uint32_t i = 0; i < end->profile.n_options; i++)
		if (end->profile.options[i].type == WH_OPTION_SWITCH && wh_script_one_in(script, 4))
			end->options.value[i] = 1.0 - end->options.value[i];
	if (strcmp(end->profile.name, "pxp") == 0 || strcmp(end->profile.name, "pack") == 0)
		draw_exchange(storm, end);
	if (strcmp(end->profile.name, "ttp") != 0)
		return;
	set(end, "n", 1 + (double)wh_script_below(script, 80));
	set(end, "q", 1 + (double)wh_script_below(script, 5));
	set(end, "stretch", 1 + (double)wh_script_below(script, 4));
	set(end, "stretch_max", 1 + (double)wh_script_below(script, 8));
	if (!wh_script_one_in(script, 4))
		set(end, "bottleneck", (double)(UINT64_C(1000000) << wh_script_below(script, 14)));
}

static uint32_t n_profiles(void)
{
	uint32_t count = 0;

	while (wh_profile_at(count) != NULL)
		count++;
	return count;
}

static void draw_end(struct wh_storm *storm, enum wh_role role)
{
	static const uint32_t periods_us[] = {1000, 10000, 10000, 10000, 100000, 1000000};
	static const uint32_t chances[] = {0, 2, 8, 8, 32, 32, 128};
	struct wh_script *script = &storm->script;
	struct wh_storm_end *end = &storm->end[role];
	const struct wh_profile *profile =
		wh_profile_at((uint32_t)wh_script_below(script, n_profiles()));

	WH_ASSERT(profile != NULL);
	end->profile = *profile;
	draw_options(storm, end);
	end->profile.feedback.period_us = periods_us[wh_script_below(script, 6)];
	end->chunks = 1 + (uint32_t)wh_script_below(script, CHUNKS_MAX);
	end->address = (struct wh_address){
		.family = WH_IPV4,
		.ip = {10, 0, 0, (uint8_t)(1 + role)},
		.port = 1,
	};
	end->lie_one_in = chances[wh_script_below(script, 7)];
	end->lose_one_in = chances[wh_script_below(script, 7)];
	end->take_one_in = wh_script_one_in(script, 8) ? 64 : 1;
	for (uint32_t i = 0; i < WH_STORM_WAITING; i++)
		end->order[i] = i;
}

static void draw_object(struct wh_storm *storm)
{
	static const uint32_t payloads_bytes[] = {32, 64, 256, 1024, 1408, 1408, 8928, 9216};
	struct wh_script *script = &storm->script;

	storm->payload_bytes = payloads_bytes[wh_script_below(script, 8)];
	storm->chunk_bytes = WH_CHUNK_ALIGN * (1 + (uint32_t)wh_script_below(script, 16));
	storm->window_pkts = UINT32_C(64) << wh_script_below(script, 5);
	storm->object_bytes = wh_script_below(script, 4 + 500 * storm->payload_bytes);
	if (wh_script_one_in(script, 4))
		storm->object_bytes = storm->chunk_bytes * wh_script_below(script, 12);
	if (wh_script_one_in(script, 8))
		storm->object_bytes = UINT64_C(3000) * storm->payload_bytes;
	if (wh_script_one_in(script, 16))
		storm->object_bytes = wh_script_below(script, 3);
}

static void draw_repair(struct wh_storm *storm)
{
	struct wh_script *script = &storm->script;
	struct wh_repair_config *repair = &storm->repair;

	if (wh_script_one_in(script, 2))
		return;
	repair->recovery = wh_script_one_in(script, 8) ? WH_RECOVERY_FEC : WH_RECOVERY_HYBRID;
	repair->code = wh_script_one_in(script, 2) ? WH_FEC_RS : WH_FEC_TORNADO;
	repair->repair_pkts = 1 + (uint32_t)wh_script_below(script, LISTENER_REPAIR_PKTS_MAX);
	wh_fec_planner_config_init(&repair->planner, repair->code);
	repair->planner.r_max = repair->repair_pkts;
	if (wh_script_one_in(script, 2))
		repair->planner.initial_loss = 0.1;
	if (wh_script_one_in(script, 2)) {
		repair->fixed_k = 1 + (uint32_t)wh_script_below(script, 64);
		repair->fixed_r = 1 + (uint32_t)wh_script_below(script, 16);
	}
}

static void draw(struct wh_storm *storm)
{
	static const uint64_t clocks_hz[] = {1000000000, 2600000000, 3333333333};
	static const uint64_t rates_bps[] = {0, 0, 1000000, 100000000, 10000000000};
	static const uint64_t pns[] = {
		0, 1, 63, 64, WH_PN_MAX / 2 - 1, WH_PN_MAX - 1, WH_PN_MAX - 2000};
	static const uint32_t periods_us[] = {1, 7, 1000, 10000000};
	struct wh_script *script = &storm->script;

	storm->hz = clocks_hz[wh_script_below(script, 3)];
	storm->now_tsc = storm->hz; /* no code may take 0 for the start of time */
	storm->seed = wh_script_u64(script);
	draw_object(storm);
	draw_end(storm, WH_TRANSMITTER);
	draw_end(storm, WH_RECEIVER);
	draw_repair(storm);
	storm->rate_bps = rates_bps[wh_script_below(script, 5)];
	storm->burst_pkts = 1 + (uint32_t)wh_script_below(script, 32);
	storm->first_pn = UINT64_MAX;
	if (wh_script_one_in(script, 4))
		storm->first_pn = pns[wh_script_below(script, 7)];
	if (wh_script_one_in(script, 8))
		storm->period_us = periods_us[wh_script_below(script, 4)];
}

static void open_transmitter(struct wh_storm *storm)
{
	struct wh_storm_end *end = &storm->end[WH_TRANSMITTER];
	const struct wh_open_params params = {
		.payload_bytes = (uint16_t)storm->payload_bytes,
		.chunk_bytes = storm->chunk_bytes,
		.window_pkts = storm->window_pkts,
		.recovery = (uint8_t)storm->repair.recovery,
		.repair_pkts = (uint16_t)storm->repair.repair_pkts,
	};

	struct wh_session_config config = session_config(storm, WH_TRANSMITTER, &params);

	end->memory = chunk_memory(&config);
	config.chunk_memory = end->memory;

	end->session = wh_session_open(
		&config, &storm->end[WH_RECEIVER].address, "storm", storm->object_bytes);
	WH_ASSERT(end->session != NULL);

	int rc = wh_endpoint_open(&end->endpoint, end->session);

	WH_ASSERT(rc == 0);

	uint64_t first_pn = wh_session_params(end->session)->first_pn;

	if (storm->first_pn != UINT64_MAX) {
		storm->end[WH_RECEIVER].shift = storm->first_pn - first_pn;
		end->shift = first_pn - storm->first_pn;
	}

	wh_stream_source_open(&storm->source, storm->object_bytes, 0, storm->chunk_bytes, false,
		wh_session_free_chunks(end->session), wh_session_ready_chunks(end->session));
}

void wh_storm_begin(struct wh_storm *storm, const uint8_t *script, size_t length)
{
	for (int role = 0; role < 2; role++) {
		struct wh_storm_end *end = &storm->end[role];

		/* Posts are large, and written before they are read. */
		memset(end, 0, offsetof(struct wh_storm_end, post));
	}
	memset(storm, 0, offsetof(struct wh_storm, end));
	wh_script_init(&storm->script, script, length);
	wh_liar_init(&storm->liar, &storm->script);
	draw(storm);

	const struct wh_endpoint_config transmitting = {
		.hz = storm->hz,
		.key = {1},
		.places = WH_ENDPOINT_PLACES_MIN,
	};
	const struct wh_endpoint_config receiving = {
		.hz = storm->hz,
		.key = {2},
		.places = WH_ENDPOINT_PLACES_MIN,
		.welcome = welcome,
		.accept = accept_session,
		.gone = session_gone,
		.context = storm,
	};
	int rc = wh_endpoint_init(&storm->end[WH_TRANSMITTER].endpoint, &transmitting);

	WH_ASSERT(rc == 0);
	rc = wh_endpoint_init(&storm->end[WH_RECEIVER].endpoint, &receiving);
	WH_ASSERT(rc == 0);
	open_transmitter(storm);
}

void wh_storm_end(struct wh_storm *storm)
{
	wh_stream_source_close(&storm->source);
	wh_stream_sink_close(&storm->sink);
	for (int role = 0; role < 2; role++) {
		wh_session_destroy(storm->end[role].session);
		wh_endpoint_free(&storm->end[role].endpoint);
		free(storm->end[role].memory);
	}
}

void wh_storm_clear_receiver(struct wh_storm *storm)
{
	struct wh_storm_end *end = &storm->end[WH_RECEIVER];

	if (end->session == NULL || end->leaving || end->outcome == WH_STATUS_PENDING)
		return;
	wh_stream_sink_close(&storm->sink);
	end->leaving = true;
	wh_session_ask(end->session, WH_WISH_CLOSE, WH_STATUS_PENDING);
}

/* Packets that no session has heard. */
static uint64_t unheard_pkts(const struct wh_storm_end *end)
{
	return wh_endpoint_bad_pkts(&end->endpoint) + end->endpoint.stats.repeated_closings;
}

/* Packets that are in some counter of theirs. */
static uint64_t counted_pkts(const struct wh_storm_end *end)
{
	uint64_t pkts = unheard_pkts(end);

	if (end->session == NULL)
		return pkts;

	const struct wh_session_stats stats = wh_session_stats(end->session);

	return pkts + stats.received_pkts + stats.repair_pkts + stats.duplicate_pkts +
	       stats.bad_pkts + stats.control_received_pkts + stats.control_full_pkts;
}

/* Whether the transmitter must believe this: all is read, and the digest is the right one. */
static bool tells_verified(const struct wh_storm *storm, const struct wh_packet *packet)
{
	return packet->type == WH_PACKET_RELEASE && packet->release.stage == WH_RELEASE_REPLY &&
	       packet->release.status == WH_STATUS_VERIFIED &&
	       packet->release.total_bytes == storm->object_bytes && storm->source.ended &&
	       memcmp(&packet->release.digest, &storm->source.end.digest, WH_DIGEST_BYTES) == 0;
}

void wh_storm_deliver(struct wh_storm *storm, enum wh_role to, const uint8_t *bytes,
	uint32_t length, const struct wh_address *from)
{
	struct wh_storm_end *end = &storm->end[to];
	struct wh_packet packet;
	/* In a block of exactly its size, so that a sanitizer sees any byte read beyond. */
	uint8_t *copy = malloc(length);

	WH_ASSERT(copy != NULL || length == 0);
	if (length > 0)
		memcpy(copy, bytes, length);

	enum wh_wire_reason reason = wh_packet_decode(copy, length, &packet);
	bool decodes = reason == WH_WIRE_OK;
	bool handshake =
		decodes && (packet.type == WH_PACKET_OPEN || packet.type == WH_PACKET_CONFIRM ||
				   wh_is_handshake(&packet));
	bool payload =
		decodes && (packet.type == WH_PACKET_DATA || packet.type == WH_PACKET_REPAIR);
	bool strange =
		end->session == NULL || !wh_address_equal(from, wh_session_peer(end->session));
	uint64_t counted_before_pkts = counted_pkts(end);
	uint64_t unheard_before_pkts = unheard_pkts(end);

	wh_tally_add(&wh_storm_tally, reason, &packet);
	if (decodes && to == WH_TRANSMITTER && tells_verified(storm, &packet))
		storm->told_verified = true;
	if (decodes && packet.type == WH_PACKET_OPEN)
		storm->liar.proposed = packet.open.params;
	wh_endpoint_input(&end->endpoint, storm->now_tsc, storm->now_tsc, copy, length, from);

	uint64_t newly_counted_pkts = counted_pkts(end) - counted_before_pkts;

	/* A bitmap that a data packet made due may find the outbox full. */
	WH_ASSERT(handshake || newly_counted_pkts == 1 || (payload && newly_counted_pkts == 2));
	/* No session hears a stranger. */
	WH_ASSERT(handshake || !strange || unheard_pkts(end) == unheard_before_pkts + 1);
	free(copy);
}

static void order_drop(struct wh_storm_end *end, uint32_t i)
{
	uint32_t dropped = end->order[i];

	end->n_waiting--;
	memmove(&end->order[i], &end->order[i + 1], (end->n_waiting - i) * sizeof(end->order[0]));
	end->order[end->n_waiting] = dropped;
}

void wh_storm_deliver_waiting(struct wh_storm *storm, enum wh_role to, uint32_t i, bool keep)
{
	struct wh_storm_end *end = &storm->end[to];

	WH_ASSERT(i < end->n_waiting);

	const struct wh_post *post = &end->post[end->order[i]];

	wh_storm_deliver(storm, to, post->data, post->bytes, &storm->end[!to].address);
	if (!keep)
		order_drop(end, i);
}

/* What the liar makes of a packet; false: nothing. */
static bool tamper(struct wh_storm *storm, enum wh_role to, struct wh_packet *packet)
{
	struct wh_storm_end *end = &storm->end[to];

	wh_liar_shift(packet, end->shift);
	if (storm->period_us != 0) {
		end->lied_to = true;
		if (packet->type == WH_PACKET_OPEN)
			packet->open.params.period_us = storm->period_us;
		if (packet->type == WH_PACKET_CONFIRM)
			packet->confirm.params.period_us = storm->period_us;
	}
	if (end->lie_one_in != 0 && wh_script_one_in(&storm->script, end->lie_one_in)) {
		end->lied_to = true;
		return wh_liar_change(&storm->liar, packet);
	}
	return wh_packet_check(packet) == WH_WIRE_OK;
}

static void relay(struct wh_storm *storm, enum wh_role to, struct wh_packet *packet)
{
	struct wh_storm_end *end = &storm->end[to];

	if (end->lose_one_in != 0 && wh_script_one_in(&storm->script, end->lose_one_in))
		return;
	wh_liar_hear(&storm->liar, packet);
	if (!tamper(storm, to, packet))
		return;
	if (end->n_waiting == WH_STORM_WAITING)
		order_drop(end, 0);

	struct wh_post *post = &end->post[end->order[end->n_waiting++]];

	post->bytes =
		wh_fuzz_encode(packet, wh_liar_token(&storm->liar, to, packet->type), post->data);
}

/* Whatever the peer made it believe, a transmitter sends the object's bytes and no others. */
static void check_payload(const struct wh_storm *storm, const struct wh_packet *packet)
{
	static uint8_t truth[WH_PAYLOAD_BYTES_MAX];
	uint64_t at = (uint64_t)packet->data.chunk * storm->chunk_bytes +
		      (uint64_t)packet->data.index * storm->payload_bytes;

	WH_ASSERT(at + packet->data.payload_bytes <= storm->object_bytes);
	wh_stream_pattern(truth, at, packet->data.payload_bytes, 0);
	WH_ASSERT(memcmp(truth, packet->payload, packet->data.payload_bytes) == 0);
}

uint32_t wh_storm_take(struct wh_storm *storm, enum wh_role from, uint32_t count)
{
	static uint8_t heads[OUT_BURST][WH_CONTROL_BYTES_MAX];
	static uint8_t whole[WH_FUZZ_PACKET_BYTES_MAX];
	struct wh_out out[OUT_BURST];

	WH_ASSERT(count <= OUT_BURST);
	for (uint32_t i = 0; i < count; i++)
		out[i].head = heads[i];

	uint32_t sent = wh_endpoint_output(&storm->end[from].endpoint, storm->now_tsc, out, count);

	WH_ASSERT(sent <= count);
	for (uint32_t i = 0; i < sent; i++) {
		struct wh_packet packet;

		memcpy(whole, out[i].head, out[i].head_bytes);
		if (out[i].payload_bytes > 0)
			memcpy(whole + out[i].head_bytes, out[i].payload, out[i].payload_bytes);

		/* To a lie about the version of an OPEN: it is of no version. */
		if (whole[0] == 0) {
			WH_ASSERT(out[i].head_bytes == WH_VERSIONS_BYTES);
			continue;
		}

		enum wh_wire_reason reason =
			wh_packet_decode(whole, out[i].head_bytes + out[i].payload_bytes, &packet);

		WH_ASSERT(reason == WH_WIRE_OK);
		/* To nobody only before there is a peer. */
		WH_ASSERT((packet.cid == 0) ==
			  (packet.type == WH_PACKET_OPEN || packet.type == WH_PACKET_CONFIRM ||
				  wh_is_handshake(&packet)));
		if (packet.type == WH_PACKET_DATA)
			check_payload(storm, &packet);
		relay(storm, from == WH_TRANSMITTER ? WH_RECEIVER : WH_TRANSMITTER, &packet);
	}
	return sent;
}

/* A sink is closed when its receiver is to leave. */
static bool has_sink(const struct wh_storm *storm)
{
	return storm->sink.hasher != NULL;
}

int32_t wh_storm_poll_users(struct wh_storm *storm)
{
	struct wh_session *receiver = storm->end[WH_RECEIVER].session;
	int32_t work = wh_stream_source_poll(&storm->source, UINT64_MAX);

	if (storm->repair.recovery != WH_RECOVERY_NAK)
		work += wh_session_encode(storm->end[WH_TRANSMITTER].session, coder());
	if (work > 0)
		wh_session_kick(storm->end[WH_TRANSMITTER].session);
	if (!has_sink(storm))
		return work;

	int32_t taken = wh_stream_sink_poll(&storm->sink);

	if (wh_session_params(receiver)->recovery != WH_RECOVERY_NAK)
		taken += wh_session_decode(receiver, coder());
	if (taken > 0)
		wh_session_kick(receiver);
	if (storm->sink.done != WH_STREAM_RUNNING)
		wh_session_sink_done(receiver, storm->now_tsc,
			storm->sink.done == WH_STREAM_OK ? WH_STATUS_VERIFIED : WH_STATUS_MISMATCH);
	return work + taken;
}

static void check_transmitter(const struct wh_storm *storm)
{
	const struct wh_session *session = storm->end[WH_TRANSMITTER].session;
	const struct wh_session_stats stats = wh_session_stats(session);
	uint64_t new_pkts = stats.sent_pkts - stats.retransmitted_pkts;
	uint64_t last_bytes = storm->object_bytes % storm->chunk_bytes;
	uint64_t all_pkts =
		storm->object_bytes / storm->chunk_bytes *
			((storm->chunk_bytes + storm->payload_bytes - 1) / storm->payload_bytes) +
		(last_bytes + storm->payload_bytes - 1) / storm->payload_bytes;

	/* Repair packets that go again are among those, too. */
	WH_ASSERT(new_pkts <= all_pkts + stats.repair_pkts);
	if (wh_session_outcome(session) == WH_STATUS_VERIFIED)
		WH_ASSERT(storm->told_verified && new_pkts >= all_pkts);
}

static void check_receiver(struct wh_storm *storm)
{
	const struct wh_storm_end *end = &storm->end[WH_RECEIVER];
	enum wh_stream_verdict done = has_sink(storm) ? storm->sink.done : WH_STREAM_RUNNING;

	/* The end marker is no buffer. */
	WH_ASSERT(wh_fifo_count(wh_session_deliver_chunks(end->session)) +
			  wh_fifo_count(wh_session_recycled_chunks(end->session)) <=
		  end->chunks + 1);
	if (wh_session_outcome(end->session) == WH_STATUS_VERIFIED && has_sink(storm))
		WH_ASSERT(done == WH_STREAM_OK);
	/* Lies told to the transmitter alone cannot make a wrong file. */
	WH_ASSERT(end->lied_to || done != WH_STREAM_MISMATCH);
}

static void check_end(struct wh_storm *storm, enum wh_role role)
{
	struct wh_storm_end *end = &storm->end[role];
	const struct wh_session_stats stats = wh_session_stats(end->session);
	struct wh_session_news news = wh_session_news(end->session);
	enum wh_phase phase = wh_session_phase(end->session);
	enum wh_release_status outcome = wh_session_outcome(end->session);

	wh_session_check(end->session, true);
	WH_ASSERT(stats.bad_pkts ==
		  stats.bad_window_pkts + stats.bad_place_pkts + stats.bad_unexpected_pkts);
	/* Users hear of it when it is so, and not before. */
	WH_ASSERT(news.phase == phase && news.outcome == outcome);
	/* Nothing goes back, but that a transmitter may open anew what nobody has confirmed. */
	WH_ASSERT(phase >= end->phase || (role == WH_TRANSMITTER && phase == WH_PHASE_OPENING &&
						 end->phase == WH_PHASE_RUNNING));
	WH_ASSERT(outcome == end->outcome || end->outcome == WH_STATUS_PENDING);
	end->phase = phase;
	end->outcome = outcome;
	if (role == WH_TRANSMITTER)
		check_transmitter(storm);
	else
		check_receiver(storm);
}

void wh_storm_check(struct wh_storm *storm)
{
	for (int role = 0; role < 2; role++)
		if (storm->end[role].session != NULL)
			check_end(storm, (enum wh_role)role);
}
