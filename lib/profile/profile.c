/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "profile/fixed.h"
#include "profile/hstcp.h"
#include "profile/lambda/lambda.h"
#include "profile/pack.h"
#include "profile/pxp.h"
#include "profile/sttp.h"
#include "profile/ttp.h"
#include "profile/udt.h"

static const struct wh_profile *const profiles[] = {
	&wh_profile_fixed,
	&wh_profile_udt,
	&wh_profile_ttp,
	&wh_profile_hstcp,
	&wh_profile_sttp,
	&wh_profile_pxp,
	&wh_profile_pack,
	&wh_profile_lambda,
};

#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

static_assert(PROFILES <= UINT8_MAX, "each has a number on the wire");

const struct wh_profile *wh_profile_at(uint32_t i)
{
	return i < PROFILES ? profiles[i] : NULL;
}

const struct wh_profile *wh_profile_find(const char *name)
{
	for (size_t i = 0; i < PROFILES; i++)
		if (strcmp(profiles[i]->name, name) == 0)
			return profiles[i];
	return NULL;
}

const struct wh_profile *wh_profile_by_number(uint8_t number)
{
	for (size_t i = 0; i < PROFILES; i++)
		if (profiles[i]->number == number)
			return profiles[i];
	return NULL;
}

struct wh_feedback wh_profile_feedback(
	const struct wh_profile *profile, const struct wh_profile_options *options)
{
	struct wh_feedback feedback = profile->feedback;

	WH_ASSERT(wh_profile_options_valid(options, profile));
	if (profile->adapt != NULL)
		profile->adapt(options, &feedback);
	WH_ASSERT(feedback.period_us > 0);
	WH_ASSERT(feedback.bitmaps.n_pkts <= WH_BITMAP_PKTS_MAX);
	WH_ASSERT(feedback.bitmaps.n_pkts == 0 || feedback.bitmaps.q_pkts > 0);
	return feedback;
}

bool wh_known_path_valid(const struct wh_known_path *known)
{
	if (known->capacity_bps == 0)
		return known->rtt_ns == 0 && known->burst_pkts == 0 && known->age_s == 0;
	return known->capacity_bps <= WH_KNOWN_BPS_MAX && known->rtt_ns > 0 &&
	       known->rtt_ns <= WH_KNOWN_RTT_MAX_NS && known->burst_pkts <= WH_KNOWN_PKTS_MAX;
}

void wh_control_init(struct wh_control *control, const struct wh_profile *profile,
	const struct wh_control_config *config)
{
	WH_ASSERT(config->hz > 0 && config->syn_tsc > 0);
	WH_ASSERT(config->packet_bytes > 0 && config->wire_bytes >= config->packet_bytes);
	WH_ASSERT(config->window_pkts_max >= WH_WINDOW_PKTS_MIN);
	WH_ASSERT(profile->control_bytes <= WH_CONTROL_STATE_BYTES);
	WH_ASSERT(wh_profile_options_valid(&config->options, profile));
	WH_ASSERT(profile->decide != NULL && wh_known_path_valid(&config->known));
	*control = (struct wh_control){.profile = profile, .config = *config};
	if (profile->init != NULL)
		profile->init(control);
}

void wh_control_set_rate(struct wh_control *control, uint64_t rate_bps)
{
	WH_ASSERT(rate_bps > 0 && control->config.rate_bps > 0);
	control->config.rate_bps = rate_bps;
	if (control->profile->on_rate != NULL)
		control->profile->on_rate(control);
}

void wh_control_set_options(struct wh_control *control, const struct wh_profile_options *options)
{
	const struct wh_profile *profile = control->profile;

	WH_ASSERT(wh_profile_options_valid(options, profile));
	for (uint32_t i = 0; i < profile->n_options; i++)
		WH_ASSERT(profile->options[i].live ||
			  options->value[i] == control->config.options.value[i]);
	control->config.options = *options;
	if (profile->on_options != NULL)
		profile->on_options(control);
}

struct wh_known_path wh_control_found(const struct wh_control *control)
{
	struct wh_known_path found = {0};

	if (control->profile->found != NULL)
		control->profile->found(control, &found);
	WH_ASSERT(wh_known_path_valid(&found) && found.age_s == 0);
	return found;
}
