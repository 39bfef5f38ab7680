/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/hello.h"

#include "base/assert.h"
#include "base/clock.h"
#include "profile/profile.h"
#include "wire/packet.h"

/* Of a path in HELLO beside its bytes: as wh_job_hello_fits counts. */
#define PATH_BYTES_BESIDE 16

/* A report's clock is another one than ours. */
#define CLOCK_SLACK_NS WH_NS_PER_S

static bool paths_are_possible(const struct wh_hello *hello)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < hello->paths; i++)
		bytes += PATH_BYTES_BESIDE + hello->path_bytes[i];
	return bytes <= WH_ANSWER_CHUNK_BYTES;
}

static bool bench_is_possible(const struct wh_hello *hello)
{
	return hello->verb != WH_JOB_BENCH ||
	       (hello->bench_ns <= WH_BENCH_NS_MAX && hello->bench_bytes <= WH_BENCH_BYTES_MAX);
}

/* Our stream's chunks with all their repair packets are within what our cores have tables for. */
static bool repair_is_possible(const struct wh_hello *hello, const struct wh_peer_bounds *bounds,
	const struct wh_repair_options *own)
{
	struct wh_session_config config = {0};

	if (!wh_repair_possible(hello->fec_code, hello->fec_k, hello->fec_r))
		return false;
	wh_hello_configure(hello, true, bounds, own, &config);

	const struct wh_fec_limits chunk = wh_session_fec_limits(&config);

	return config.repair.recovery == WH_RECOVERY_NAK ||
	       (chunk.k <= bounds->fec.k && chunk.r <= bounds->fec.r &&
		       chunk.symbol_bytes <= bounds->fec.symbol_bytes);
}

bool wh_hello_is_possible(const struct wh_hello *hello, uint32_t chunk_bytes,
	const struct wh_peer_bounds *bounds, const struct wh_repair_options *own)
{
	uint32_t wanted_bytes =
		wh_hello_client_sends(hello) ? WH_CHUNK_BYTES_DEFAULT : WH_ANSWER_CHUNK_BYTES;

	if (chunk_bytes != wanted_bytes)
		return false;
	/* Nothing is sent to such a one. */
	if (hello->verb == WH_JOB_IDLE)
		return true;
	return wh_profile_by_number(hello->profile) != NULL && hello->lanes <= WH_LANES_MAX &&
	       hello->lane < hello->lanes && (hello->lanes == 1 || hello->transfer != 0) &&
	       hello->rate_bps >= WH_RATE_MIN &&
	       wh_payload_is_possible(hello->payload_bytes, WH_PAYLOAD_BYTES_MAX) &&
	       paths_are_possible(hello) && bench_is_possible(hello) &&
	       repair_is_possible(hello, bounds, own);
}

struct wh_repair_options wh_hello_repair(
	const struct wh_hello *hello, const struct wh_repair_options *own)
{
	const struct wh_profile *profile = wh_profile_by_number(hello->profile);
	struct wh_repair_options options = *own;

	WH_ASSERT(profile != NULL);
	options.told = true;
	options.on = hello->fec_code != WH_FEC_NONE;
	options.code = (enum wh_fec_code)hello->fec_code;
	options.k = hello->fec_k;
	options.r = hello->fec_r;
	wh_repair_settle(&options, profile);
	return options;
}

void wh_hello_configure(const struct wh_hello *hello, bool bundle,
	const struct wh_peer_bounds *bounds, const struct wh_repair_options *own,
	struct wh_session_config *config)
{
	wh_session_config_profile(config, wh_profile_by_number(hello->profile));
	config->payload_bytes = (uint32_t)wh_min_u64(bounds->payload_bytes, hello->payload_bytes);
	config->chunk_bytes = bundle ? WH_CHUNK_BYTES_DEFAULT : WH_ANSWER_CHUNK_BYTES;
	if (!bundle)
		return;

	const struct wh_repair_options repair = wh_hello_repair(hello, own);

	wh_repair_configure(&repair, config);
}

bool wh_ready_is_possible(uint32_t queues)
{
	return queues >= 1 && queues <= WH_QUEUES_MAX;
}

bool wh_report_is_possible(const struct wh_bench_report *report,
	const struct wh_bench_report *before, uint64_t elapsed_ns, uint64_t sent_bytes)
{
	return report->elapsed_ns > 0 && report->elapsed_ns >= before->elapsed_ns &&
	       report->elapsed_ns <= wh_add_u64(elapsed_ns, CLOCK_SLACK_NS) &&
	       report->bytes >= before->bytes && report->bytes <= sent_bytes;
}
