/* SPDX-License-Identifier: BSD-3-Clause */
#include "hello.h"

#include "base/assert.h"
#include "session/profile.h"
#include "wire/packet.h"

bool wh_hello_is_possible(const struct wh_hello *hello)
{
	/* Nothing is sent to such a one. */
	if (hello->verb == WH_JOB_IDLE)
		return true;
	return wh_profile_by_number(hello->profile) != NULL && hello->rate_bps > 0 &&
	       wh_repair_possible(hello->fec_code, hello->fec_k, hello->fec_r) &&
	       hello->payload_bytes >= WH_PAYLOAD_BYTES_MIN &&
	       hello->payload_bytes <= WH_PAYLOAD_BYTES_MAX &&
	       hello->payload_bytes % WH_PAYLOAD_ALIGN == 0;
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
