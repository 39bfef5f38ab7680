/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/options.h"

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "session/session.h"
#include "wire/encap.h"

/* What is derived from several options, and what contradicts. */
static int complete(struct wh_demo_options *options)
{
	struct wh_settings *settings = &options->settings;
	struct wh_fibre_config *fibre = &settings->lambda;
	uint64_t bdp_bytes = wh_muldiv_u64(fibre->rate_bps, settings->rtt_ns, 8 * WH_NS_PER_S);
	uint32_t wire_bytes =
		wh_encap_wire_bytes(WH_IPV4, wh_encap_payload_bytes(WH_IPV4, settings->mtu_bytes));

	if (!wh_settings_given(settings, WH_VERB_DEMO, "loss") &&
		(fibre->loss_model != WH_LOSS_BERNOULLI || fibre->bit_error > 0))
		fibre->loss = 0;
	if (fibre->loss > 0 && fibre->loss_model == WH_LOSS_GILBERT_ELLIOTT) {
		wh_complain("--loss and --loss-model ge contradict; "
			    "ge:P,R,H,K says it all, for example --loss-model ge:0.001,0.2");
		return WH_EXIT_USAGE;
	}
	options->loss = fibre->loss;
	if (fibre->loss_model == WH_LOSS_GILBERT_ELLIOTT) {
		const struct wh_gilbert_elliott *ge = &fibre->gilbert_elliott;
		double bad_share = ge->good_to_bad + ge->bad_to_good > 0
					   ? ge->good_to_bad / (ge->good_to_bad + ge->bad_to_good)
					   : 0;

		options->loss = bad_share * ge->loss_bad + (1 - bad_share) * ge->loss_good;
	}
	fibre->delay_ns = settings->rtt_ns / 2;
	if (fibre->queue_bytes == 0 && fibre->queue_pkts == 0)
		fibre->queue_bytes =
			wh_max_u64(bdp_bytes, 2 * (uint64_t)settings->burst_pkts * wire_bytes);
	return -1;
}

static int check(struct wh_demo_options *options)
{
	struct wh_settings *settings = &options->settings;

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
	return complete(options);
}

int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options)
{
	int status = wh_settings_read(&options->settings, WH_VERB_DEMO, argc, argv);

	return status == -1 ? check(options) : status;
}
