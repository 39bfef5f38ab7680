/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/options.h"

#include <string.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "session/session.h"
#include "wire/encap.h"

/* A word of --udt, and what it sets. */
static const struct {
	const char *word;
	const char *option;
	const char *value;
} udt_words[] = {
	{"no-formula-3", "formula3", "off"},
	{"spare-single-loss", "spare_single_loss", "on"},
	{"bytes", "bandwidth_in_bytes", "on"},
	{"no-delay-warning", "delay_warning", "off"},
	{"one-way-delay", "one_way", "on"},
};

static bool take_udt_word(const char *word, struct wh_profile_options *options)
{
	for (size_t i = 0; i < sizeof(udt_words) / sizeof(udt_words[0]); i++)
		if (strcmp(word, udt_words[i].word) == 0)
			return wh_profile_options_set(options, wh_profile_find("udt"),
				       udt_words[i].option, udt_words[i].value) == 0;
	return false;
}

static bool parse_udt(char *rest, struct wh_profile_options *options)
{
	char *word;

	while ((word = strtok_r(rest, ",", &rest)) != NULL)
		if (!take_udt_word(word, options))
			return false;
	return true;
}

/* What is derived from several options, and what contradicts. */
static int complete(struct wh_demo_options *options)
{
	struct wh_settings *settings = &options->settings;
	struct wh_path_config *path = &settings->lambda;
	uint64_t bdp_bytes = wh_muldiv_u64(path->rate_bps, settings->rtt_ns, 8 * WH_NS_PER_S);
	uint32_t wire_bytes =
		wh_encap_wire_bytes(WH_IPV4, wh_encap_payload_bytes(WH_IPV4, settings->mtu_bytes));

	if (!wh_settings_given(settings, WH_VERB_DEMO, "loss") &&
		(path->loss_model != WH_LOSS_BERNOULLI || path->bit_error > 0))
		path->loss = 0;
	if (path->loss > 0 && path->loss_model == WH_LOSS_GILBERT_ELLIOTT) {
		wh_complain("--loss and --loss-model ge contradict; "
			    "ge:P,R,H,K says it all, for example --loss-model ge:0.001,0.2");
		return WH_EXIT_USAGE;
	}
	options->loss = path->loss;
	if (path->loss_model == WH_LOSS_GILBERT_ELLIOTT) {
		const struct wh_gilbert_elliott *ge = &path->gilbert_elliott;
		double bad_share = ge->good_to_bad + ge->bad_to_good > 0
					   ? ge->good_to_bad / (ge->good_to_bad + ge->bad_to_good)
					   : 0;

		options->loss = bad_share * ge->loss_bad + (1 - bad_share) * ge->loss_good;
	}
	path->delay_ns = settings->rtt_ns / 2;
	if (path->queue_bytes == 0 && path->queue_pkts == 0)
		path->queue_bytes =
			wh_max_u64(bdp_bytes, 2 * (uint64_t)settings->burst_pkts * wire_bytes);
	return -1;
}

static int check(struct wh_demo_options *options)
{
	struct wh_settings *settings = &options->settings;
	struct wh_profile_options udt;

	if (settings->operand_count > 0) {
		wh_complain("'%s' is one word too many; a file is named by --file %s",
			settings->operands[0], settings->operands[0]);
		return WH_EXIT_USAGE;
	}
	if (settings->file[0] != '\0' && wh_settings_given(settings, WH_VERB_DEMO, "size")) {
		wh_complain("--size makes a file, and --file sends one that is there, whole: leave "
			    "one of them away");
		return WH_EXIT_USAGE;
	}
	wh_profile_options_init(&udt, wh_profile_find("udt"));
	if (!parse_udt(settings->udt, &udt)) {
		wh_complain("--udt is not understood; write for example --udt "
			    "no-formula-3,spare-single-loss");
		return WH_EXIT_USAGE;
	}
	wh_profile_options_init(&options->profile, settings->profile);
	if (settings->profile == wh_profile_find("udt"))
		options->profile = udt;
	return complete(options);
}

int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options)
{
	int status = wh_settings_read(&options->settings, WH_VERB_DEMO, argc, argv);

	return status == -1 ? check(options) : status;
}
