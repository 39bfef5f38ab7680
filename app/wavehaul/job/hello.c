/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/hello.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "neighbour/frame.h"
#include "profile/profile.h"
#include "wire/packet.h"

/* Overhead of each path in HELLO, and of HELLO beside its paths. */
#define PATH_BYTES_BESIDE  16
#define HELLO_BYTES_BESIDE 256

/* Allowed difference between the reporting peer's clock and ours. */
#define CLOCK_SLACK_NS WH_NS_PER_S

static bool paths_are_possible(const struct wh_hello *hello)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < hello->paths + hello->terms; i++)
		bytes += PATH_BYTES_BESIDE + hello->path_bytes[i];
	return bytes <= WH_ANSWER_CHUNK_BYTES;
}

bool wh_hello_fits(const struct wh_request *request)
{
	uint64_t bytes = HELLO_BYTES_BESIDE;

	for (uint32_t i = 0; i < request->there.count; i++)
		bytes += PATH_BYTES_BESIDE + strlen(request->there.path[i]);
	for (uint32_t i = 0; i < request->choice.terms; i++)
		bytes += PATH_BYTES_BESIDE + strlen(request->choice.term[i]);
	return request->there.count <= WH_HELLO_PATHS_MAX && bytes <= WH_ANSWER_CHUNK_BYTES;
}

/* Every lane needs at least one byte: a lane of 0 bytes would be limited by time instead. */
static bool bench_is_possible(const struct wh_hello *hello)
{
	return hello->verb != WH_JOB_BENCH ||
	       (hello->bench_ns <= WH_BENCH_NS_MAX && hello->bench_bytes <= WH_BENCH_BYTES_MAX &&
		       (hello->bench_bytes == 0 || hello->bench_bytes >= hello->lanes));
}

/* Chunks of our stream with all their repair packets must fit our cores' tables. */
static bool repair_is_possible(const struct wh_hello *hello, const struct wh_peer_bounds *bounds,
	const struct wh_request *own)
{
	struct wh_session_config config = {0};

	if (!wh_repair_possible(hello->fec_code, hello->fec_k, hello->fec_r))
		return false;

	const struct wh_request request = wh_hello_request(hello, own);

	wh_request_configure(&request, true, bounds, &config);

	const struct wh_fec_limits chunk = wh_session_fec_limits(&config);

	return config.repair.recovery == WH_RECOVERY_NAK ||
	       (chunk.k <= bounds->fec.k && chunk.r <= bounds->fec.r &&
		       chunk.symbol_bytes <= bounds->fec.symbol_bytes);
}

static_assert(WH_OPTIONS_MAX <= WH_HELLO_OPTIONS_MAX, "HELLO has room for all");
static_assert(sizeof(double) == sizeof(uint64_t), "a value is told by its bits");

/* Adds the options that differ from the defaults. */
static void tell_options(const struct wh_request *request, struct wh_hello *hello)
{
	const struct wh_profile *profile = request->profile;

	for (uint32_t i = 0; i < profile->n_options; i++) {
		if (request->options.value[i] == profile->options[i].preset)
			continue;
		hello->options |= (uint16_t)(1U << i);
		memcpy(&hello->option[i], &request->options.value[i], sizeof(double));
	}
}

/* False: the profile does not have these options, values, or combinations. */
static bool take_options(const struct wh_hello *hello, const struct wh_profile *profile,
	struct wh_profile_options *options)
{
	const char *why;

	wh_profile_options_init(options, profile);
	for (uint32_t i = 0; i < WH_HELLO_OPTIONS_MAX; i++) {
		if ((hello->options & 1U << i) == 0)
			continue;
		if (i >= profile->n_options)
			return false;
		memcpy(&options->value[i], &hello->option[i], sizeof(double));
	}
	return wh_profile_options_valid(options, profile) &&
	       (profile->contradiction == NULL || profile->contradiction(options, &why) == NULL);
}

bool wh_hello_is_possible(const struct wh_hello *hello, uint32_t chunk_bytes,
	const struct wh_peer_bounds *bounds, const struct wh_request *own)
{
	uint32_t wanted_bytes = wh_verb_client_sends(hello->verb, hello->reverse)
					? WH_CHUNK_BYTES_DEFAULT
					: WH_ANSWER_CHUNK_BYTES;

	if (chunk_bytes != wanted_bytes)
		return false;
	/* Nothing is sent to an idle client. */
	if (hello->verb == WH_JOB_IDLE)
		return true;

	const struct wh_profile *profile = wh_profile_by_number(hello->profile);
	struct wh_profile_options options;

	if ((wh_job_is_rpc(hello->verb) ||
		    (hello->wishes & (WH_CHOICE_DELETE | WH_CHOICE_DRY)) != 0) &&
		hello->lanes != 1)
		return false;
	return profile != NULL && take_options(hello, profile, &options) &&
	       hello->lanes <= WH_LANES_MAX && hello->lane < hello->lanes &&
	       (hello->lanes == 1 || hello->transfer != 0) && hello->rate_bps >= WH_RATE_MIN &&
	       wh_payload_is_possible(hello->payload_bytes, WH_PAYLOAD_BYTES_MAX) &&
	       paths_are_possible(hello) && bench_is_possible(hello) &&
	       repair_is_possible(hello, bounds, own);
}

static void add_text(struct wh_hello *hello, uint32_t place, const char *text)
{
	WH_ASSERT(place < WH_HELLO_TEXTS_MAX);
	hello->path[place] = text;
	hello->path_bytes[place] = (uint16_t)strlen(text);
}

struct wh_hello wh_hello_of_request(const struct wh_request *request, uint32_t payload_bytes)
{
	struct wh_hello hello = {
		.version = WH_BUNDLE_VERSION,
		.verb = (uint8_t)request->verb,
		.recursive = request->recursive,
		.into_folder = request->there.into_folder,
		.as_name = request->there.as_name,
		.reverse = request->reverse,
		.profile = request->profile->number,
		.lanes = (uint16_t)request->lanes,
		.payload_bytes = payload_bytes,
		.fec_code = request->repair.on ? (uint8_t)request->repair.code : WH_FEC_NONE,
		.fec_k = request->repair.k,
		.fec_r = request->repair.r,
		.resume = (uint8_t)request->resume,
		.ports = (uint8_t)request->ports,
		.rate_bps = request->rate_bps,
		.bench_ns = request->time_ns,
		.bench_bytes = request->size_bytes,
		.paths = (uint16_t)request->there.count,
		.wishes = request->choice.wishes,
		.terms = request->choice.terms,
	};

	tell_options(request, &hello);
	WH_ASSERT(request->verb >= WH_JOB_SEND && request->verb <= WH_JOB_ORDER);
	WH_ASSERT(request->lanes > 0 && request->lanes <= WH_LANES_MAX);
	WH_ASSERT(request->there.count <= WH_HELLO_PATHS_MAX);
	for (uint32_t i = 0; i < request->there.count; i++)
		add_text(&hello, i, request->there.path[i]);
	for (uint32_t i = 0; i < request->choice.terms; i++)
		add_text(&hello, request->there.count + i, request->choice.term[i]);
	return hello;
}

struct wh_request wh_hello_request(const struct wh_hello *hello, const struct wh_request *own)
{
	struct wh_request request = *own;

	request.verb = (enum wh_job_verb)hello->verb;
	if (hello->verb == WH_JOB_IDLE)
		return request;
	request.lanes = hello->lanes;
	request.ports = wh_job_moves_files(hello->verb) ? hello->ports : 1;
	request.recursive = hello->recursive;
	request.here.into_folder = hello->into_folder && !hello->as_name;
	request.here.as_name = hello->as_name;
	request.resume = wh_resume_stricter(own->resume, (enum wh_resume)hello->resume);
	request.reverse = hello->reverse;
	request.time_ns = hello->bench_ns;
	request.size_bytes = hello->bench_bytes;
	request.profile = wh_profile_by_number(hello->profile);
	WH_ASSERT(request.profile != NULL);

	bool taken = take_options(hello, request.profile, &request.options);

	WH_ASSERT(taken);
	request.rate_bps = wh_min_u64(own->rate_bps, hello->rate_bps);
	request.payload_bytes = hello->payload_bytes;
	request.repair.told = true;
	request.repair.on = hello->fec_code != WH_FEC_NONE;
	request.repair.code = (enum wh_fec_code)hello->fec_code;
	request.repair.k = hello->fec_k;
	request.repair.r = hello->fec_r;
	wh_repair_settle(&request.repair, request.profile);
	return request;
}

static_assert(WH_PORTS_MAX <= WH_READY_PORTS_MAX, "READY names all of them");

uint8_t wh_ready_addresses(const struct wh_host_ctx *ctx, uint32_t shard, uint8_t family,
	uint8_t addresses[WH_READY_PORTS_MAX * WH_READY_ADDRESS_BYTES])
{
	uint32_t ports = ctx->settings->ports, queues = ctx->settings->queues;
	uint8_t count = 0;

	for (uint32_t i = 0; i < ports; i++) {
		uint32_t port = (shard / queues + i) % ports;
		struct wh_address own = wh_host_ctx_address(ctx, family, port * queues);
		uint8_t *to = &addresses[count * WH_READY_ADDRESS_BYTES];

		/* That of this job is known to the peer, by whatever address it came. */
		if (own.family == 0 && i > 0)
			continue;
		to[0] = family;
		memcpy(to + 1, own.ip, sizeof(own.ip));
		count++;
	}
	return count;
}

bool wh_ready_is_possible(const struct wh_record *record, uint8_t family)
{
	if (record->ready.queues < 1 || record->ready.queues > WH_QUEUES_MAX)
		return false;
	for (uint32_t i = 0; i < record->ready.ports; i++)
		if (record->ready.addresses[i * WH_READY_ADDRESS_BYTES] != family)
			return false;
	return true;
}

uint32_t wh_ready_peers(const struct wh_record *record, struct wh_address peers[WH_READY_PORTS_MAX])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < record->ready.ports; i++) {
		const uint8_t *from = &record->ready.addresses[i * WH_READY_ADDRESS_BYTES];
		struct wh_address *peer = &peers[count];

		if (i > 0 && !wh_ip_is_host(from[0], from + 1))
			continue;
		*peer = (struct wh_address){.family = from[0]};
		memcpy(peer->ip, from + 1, sizeof(peer->ip));
		count++;
	}
	return count;
}

bool wh_report_is_possible(const struct wh_bench_report *report,
	const struct wh_bench_report *before, uint64_t elapsed_ns, uint64_t sent_bytes)
{
	return report->elapsed_ns > 0 && report->elapsed_ns >= before->elapsed_ns &&
	       report->elapsed_ns <= wh_add_u64(elapsed_ns, CLOCK_SLACK_NS) &&
	       report->bytes >= before->bytes && report->bytes <= sent_bytes;
}
