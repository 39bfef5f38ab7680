/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "session/handshake.h"
#include "session/session.h"
#include "wire/encap.h"

#define MTU_MIN 1280 /* control packets must fit: WH_CONTROL_BYTES_MAX */
#define MTU_MAX 9000

/* What chunk numbers reach with ease. */
#define SIZE_MAX_BYTES (UINT64_C(1) << 50)

/* Below this the states of every 10 ms are no small part of the line any more. */
#define RATE_MIN_BPS 1000000

#define LOSS_NOT_GIVEN -1.0
#define LOSS_DEFAULT   1e-4 /* where no other model of loss is asked for */

enum option_id {
	OPT_SIZE = 256,
	OPT_FILE,
	OPT_OUT,
	OPT_RATE,
	OPT_RTT,
	OPT_QUEUE,
	OPT_LOSS,
	OPT_LOSS_MODEL,
	OPT_REORDER,
	OPT_DUPLICATE,
	OPT_CORRUPT,
	OPT_JITTER,
	OPT_PROFILE,
	OPT_UDT,
	OPT_FEC,
	OPT_CODE,
	OPT_STRICT_PAPER,
	OPT_FEC_TARGET,
	OPT_FEC_CEILING,
	OPT_MTU,
	OPT_SEED,
	OPT_MEMORY,
	OPT_BURST,
	OPT_STALL_TIMEOUT,
	OPT_PEER_TIMEOUT,
	OPT_JSON,
	OPT_VERBOSE,
	OPT_NO_HUGE,
	OPT_EAL,
	OPT_HELP,
};

static const struct option option_names[] = {
	{"size", required_argument, NULL, OPT_SIZE},
	{"file", required_argument, NULL, OPT_FILE},
	{"out", required_argument, NULL, OPT_OUT},
	{"rate", required_argument, NULL, OPT_RATE},
	{"rtt", required_argument, NULL, OPT_RTT},
	{"queue", required_argument, NULL, OPT_QUEUE},
	{"loss", required_argument, NULL, OPT_LOSS},
	{"loss-model", required_argument, NULL, OPT_LOSS_MODEL},
	{"reorder", required_argument, NULL, OPT_REORDER},
	{"duplicate", required_argument, NULL, OPT_DUPLICATE},
	{"corrupt", required_argument, NULL, OPT_CORRUPT},
	{"jitter", required_argument, NULL, OPT_JITTER},
	{"profile", required_argument, NULL, OPT_PROFILE},
	{"udt", required_argument, NULL, OPT_UDT},
	{"fec", required_argument, NULL, OPT_FEC},
	{"code", required_argument, NULL, OPT_CODE},
	{"strict-paper", no_argument, NULL, OPT_STRICT_PAPER},
	{"fec-target", required_argument, NULL, OPT_FEC_TARGET},
	{"fec-ceiling", required_argument, NULL, OPT_FEC_CEILING},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"seed", required_argument, NULL, OPT_SEED},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"burst", required_argument, NULL, OPT_BURST},
	{"stall-timeout", required_argument, NULL, OPT_STALL_TIMEOUT},
	{"peer-timeout", required_argument, NULL, OPT_PEER_TIMEOUT},
	{"json", no_argument, NULL, OPT_JSON},
	{"verbose", no_argument, NULL, OPT_VERBOSE},
	{"no-huge", no_argument, NULL, OPT_NO_HUGE},
	{"eal", required_argument, NULL, OPT_EAL},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static void print_help(void)
{
	printf("usage: wavehaul demo [OPTIONS]\n"
	       "\n"
	       "Sends a file from one DPDK port to another across an emulated lambda inside this\n"
	       "machine, checks that every byte arrived, and reports.\n"
	       "\n"
	       "The file\n"
	       "  --size SIZE        make a file of this size and send it (1G)\n"
	       "  --file FILE        send this file instead\n"
	       "  --out FOLDER       keep what arrives there (else it is removed at the end)\n"
	       "\n"
	       "The lambda\n"
	       "  --rate RATE        of the line: 10G, 9.5Gbit, 1.2GB/s (10G)\n"
	       "  --rtt TIME         both ways: 100ms, 20us, 1s (100ms)\n"
	       "  --queue SIZE|Np    what may wait before the line: bytes, or packets as 500p\n"
	       "                     (one bandwidth-delay product, at least two bursts)\n"
	       "  --loss SHARE       of packets: 0.01%%, 1e-4, 0 (0.01%%)\n"
	       "  --loss-model M     bernoulli; ge:P,R[,H[,K]] for Gilbert-Elliott bursts;\n"
	       "                     ber:E for bit errors (bernoulli)\n"
	       "  --reorder SHARE    of packets that are overtaken (0)\n"
	       "  --duplicate SHARE  of packets that come twice (0)\n"
	       "  --corrupt SHARE    of packets that come with a wrong bit (0)\n"
	       "  --jitter TIME      delay that varies between 0 and this (0)\n"
	       "  --mtu BYTES        of IP: 1500, 9000, any from 1280 to 9000 (9000)\n"
	       "  --seed N           of everything random (1): the same seed, the same luck\n"
	       "\n"
	       "The transfer\n"
	       "  --profile NAME     how the rate is found (fixed):\n");
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		printf("                       %-6s %s\n", wh_profile_at(i)->name,
			wh_profile_at(i)->summary);
	printf("  --udt LIST         variants of the udt profile, by commas: no-formula-3,\n"
	       "                     spare-single-loss, bytes, no-delay-warning, one-way-delay\n"
	       "  --fec off|auto|K,R repair packets beside the data: as many as the loss asks\n"
	       "                     for, or R for every K of data (off; with ttp auto)\n"
	       "  --code NAME        of repair packets: rs, tornado (rs; with ttp tornado)\n"
	       "  --fec-target S     of blocks that auto may leave without enough of them (1e-4)\n"
	       "  --fec-ceiling S    of all packets sent, repair packets of auto at most (0.25;\n"
	       "                     with ttp 0.5)\n"
	       "  --strict-paper     what they do not bring back is not asked for: it fails then\n"
	       "  --burst N          packets back to back when the sender is late (32)\n"
	       "  --memory SIZE      for all buffers (what the path needs)\n"
	       "  --stall-timeout T  give up after so long without progress (30s)\n"
	       "  --peer-timeout T   give up after so long without a word from the peer (30s)\n"
	       "\n"
	       "Output\n"
	       "  --json             one JSON object on stdout, and nothing else there\n"
	       "  --verbose          say what memory is for and how DPDK was started\n"
	       "  --no-huge          ordinary memory, though there may be hugepages\n"
	       "  --eal 'ARGS'       more arguments for DPDK's EAL\n"
	       "\n" WH_EXIT_HELP);
}

static int refuse(const char *option, const char *value, const char *example)
{
	wh_complain("--%s '%s' is not understood; write for example --%s %s", option, value, option,
		example);
	return WH_EXIT_USAGE;
}

static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *result)
{
	char *end;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;

	unsigned long long value = strtoull(text, &end, 10);

	if (errno != 0 || *end != '\0' || value < low || value > high)
		return false;
	*result = value;
	return true;
}

/* "500p" are packets, all else is a size. */
static bool parse_queue(const char *text, struct wh_path_config *path)
{
	size_t length = strlen(text);
	char digits[16];
	uint64_t pkts;

	if (length < 2 || length > sizeof(digits) || text[length - 1] != 'p')
		return wh_parse_size(text, &path->queue_bytes) == 0 && path->queue_bytes > 0;
	memcpy(digits, text, length - 1);
	digits[length - 1] = '\0';
	if (!parse_number(digits, 1, 10000000, &pkts))
		return false;
	path->queue_pkts = (uint32_t)pkts;
	return true;
}

static bool parse_udt(const char *text, struct wh_demo_options *options)
{
	char list[128];
	char *rest = list;
	char *word;

	if (strlen(text) >= sizeof(list))
		return false;
	strcpy(list, text);
	while ((word = strtok_r(rest, ",", &rest)) != NULL) {
		if (strcmp(word, "no-formula-3") == 0)
			options->udt.use_formula_3 = false;
		else if (strcmp(word, "spare-single-loss") == 0)
			options->udt.spare_single_loss = true;
		else if (strcmp(word, "bytes") == 0)
			options->udt.bandwidth_in_bytes = true;
		else if (strcmp(word, "no-delay-warning") == 0)
			options->udt.use_delay_warning = false;
		else if (strcmp(word, "one-way-delay") == 0)
			options->trend_one_way = true;
		else
			return false;
	}
	return true;
}

static bool take_repair_option(
	int id, const char *value, struct wh_repair_options *repair, const char **example)
{
	switch (id) {
	case OPT_FEC:
		*example = "auto, or 128,4 (K and R together at most 255, R at most K)";
		return wh_repair_parse(value, repair);
	case OPT_CODE:
		*example = "rs, or tornado";
		repair->code = wh_repair_code(value);
		return repair->code != WH_FEC_NONE;
	case OPT_STRICT_PAPER:
		repair->strict = true;
		return true;
	case OPT_FEC_TARGET:
		*example = "1e-4 (from 1e-9 to 0.5)";
		return wh_parse_share(value, &repair->target) == 0 &&
		       repair->target >= WH_REPAIR_TARGET_MIN &&
		       repair->target <= WH_REPAIR_TARGET_MAX;
	default:
		WH_ASSERT(id == OPT_FEC_CEILING);
		*example = "10% (from 1% to 50%)";
		return wh_parse_share(value, &repair->ceiling) == 0 &&
		       repair->ceiling >= WH_REPAIR_CEILING_MIN &&
		       repair->ceiling <= WH_REPAIR_CEILING_MAX;
	}
}

/* The options that shape the lambda; true when it was one of them and is right. */
static bool take_path_option(
	int id, const char *value, struct wh_demo_options *options, const char **example)
{
	struct wh_path_config *path = &options->forward;

	switch (id) {
	case OPT_RATE:
		*example = "9.5Gbit (from 1M to 1000G)";
		return wh_parse_rate(value, &path->rate_bps) == 0 &&
		       path->rate_bps >= RATE_MIN_BPS && path->rate_bps <= UINT64_C(1000000000000);
	case OPT_RTT:
		*example = "100ms";
		return wh_parse_time(value, &options->rtt_ns) == 0 &&
		       options->rtt_ns <= 10 * WH_NS_PER_S;
	case OPT_QUEUE:
		*example = "64M, or 500p for packets";
		return parse_queue(value, path);
	case OPT_LOSS:
		*example = "0.01%";
		return wh_parse_share(value, &path->loss) == 0;
	case OPT_LOSS_MODEL:
		*example = "ge:0.001,0.2";
		return wh_path_parse_loss_model(value, path) == 0;
	case OPT_REORDER:
		*example = "1%";
		return wh_parse_share(value, &path->reorder) == 0;
	case OPT_DUPLICATE:
		*example = "0.1%";
		return wh_parse_share(value, &path->duplicate) == 0;
	case OPT_CORRUPT:
		*example = "1e-5";
		return wh_parse_share(value, &path->corrupt) == 0;
	default:
		*example = "200us";
		return wh_parse_time(value, &path->jitter_ns) == 0 &&
		       path->jitter_ns <= 10 * WH_NS_PER_S;
	}
}

static bool take_option(
	int id, const char *value, struct wh_demo_options *options, const char **example)
{
	uint64_t number;
	bool good = true;

	switch (id) {
	case OPT_SIZE:
		*example = "4G";
		options->size_given = true;
		return wh_parse_size(value, &options->size_bytes) == 0 &&
		       options->size_bytes <= SIZE_MAX_BYTES;
	case OPT_FILE:
		options->file = value;
		return true;
	case OPT_OUT:
		options->out = value;
		return true;
	case OPT_PROFILE:
		*example = "fixed, udt or ttp";
		options->profile = wh_profile_find(value);
		return options->profile != NULL;
	case OPT_UDT:
		*example = "no-formula-3,spare-single-loss";
		return parse_udt(value, options);
	case OPT_FEC ... OPT_FEC_CEILING:
		return take_repair_option(id, value, &options->repair, example);
	case OPT_MTU:
		*example = "9000 (from 1280 to 9000)";
		good = parse_number(value, MTU_MIN, MTU_MAX, &number);
		options->mtu_bytes = good ? (uint16_t)number : 0;
		return good;
	case OPT_SEED:
		*example = "42";
		return parse_number(value, 0, INT64_MAX, &options->seed);
	case OPT_MEMORY:
		*example = "1G (at least 64M)";
		return wh_parse_size(value, &options->memory_bytes) == 0 &&
		       options->memory_bytes >= UINT64_C(64) << 20;
	case OPT_BURST:
		*example = "32 (from 1 to 1024)";
		good = parse_number(value, 1, 1024, &number);
		options->burst_pkts = good ? (uint32_t)number : 0;
		return good;
	case OPT_STALL_TIMEOUT:
		*example = "30s (at least 1s)";
		return wh_parse_time(value, &options->stall_timeout_ns) == 0 &&
		       options->stall_timeout_ns >= WH_NS_PER_S;
	case OPT_PEER_TIMEOUT:
		*example = "30s (from 1s to an hour)";
		return wh_parse_time(value, &options->peer_timeout_ns) == 0 &&
		       options->peer_timeout_ns >= WH_NS_PER_S &&
		       options->peer_timeout_ns <= WH_PEER_TIMEOUT_MAX_S * WH_NS_PER_S;
	case OPT_JSON:
		options->json = true;
		return true;
	case OPT_VERBOSE:
		options->verbose = true;
		return true;
	case OPT_NO_HUGE:
		options->no_huge = true;
		return true;
	case OPT_EAL:
		options->eal = value;
		return true;
	default:
		return take_path_option(id, value, options, example);
	}
}

/* What is derived from several options, and what contradicts. */
static int complete(struct wh_demo_options *options)
{
	struct wh_path_config *path = &options->forward;
	uint64_t bdp_bytes = wh_muldiv_u64(path->rate_bps, options->rtt_ns, 8 * WH_NS_PER_S);
	uint32_t wire_bytes =
		wh_encap_wire_bytes(WH_IPV4, wh_encap_payload_bytes(WH_IPV4, options->mtu_bytes));
	const char *wrong;

	if (options->file != NULL && options->size_given) {
		wh_complain("--size makes a file, and --file sends one that is there, whole: leave "
			    "one of them away");
		return WH_EXIT_USAGE;
	}
	wh_repair_settle(&options->repair, options->profile);
	wrong = wh_repair_wrong(&options->repair);
	if (wrong != NULL) {
		wh_complain("%s", wrong);
		return WH_EXIT_USAGE;
	}
	if (path->loss == LOSS_NOT_GIVEN)
		path->loss = path->loss_model == WH_LOSS_BERNOULLI && path->bit_error == 0
				     ? LOSS_DEFAULT
				     : 0;
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
	path->delay_ns = options->rtt_ns / 2;
	path->seed = options->seed;
	if (path->queue_bytes == 0 && path->queue_pkts == 0)
		path->queue_bytes =
			wh_max_u64(bdp_bytes, 2 * (uint64_t)options->burst_pkts * wire_bytes);
	return -1;
}

int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options)
{
	struct wh_session_config defaults;
	int index = 0;
	int id;

	wh_session_config_init(&defaults);
	*options = (struct wh_demo_options){
		.size_bytes = UINT64_C(1) << 30,
		.profile = wh_profile_find("fixed"),
		.udt = defaults.udt,
		.mtu_bytes = MTU_MAX,
		.rtt_ns = 100000000,
		.forward = {.rate_bps = UINT64_C(10000000000), .loss = LOSS_NOT_GIVEN},
		.seed = 1,
		.burst_pkts = 32,
		.stall_timeout_ns = defaults.stall_timeout_ns,
		.peer_timeout_ns = defaults.peer_timeout_ns,
	};

	wh_repair_options_init(&options->repair);
	opterr = 0;
	while ((id = getopt_long(argc, argv, "", option_names, &index)) != -1) {
		const char *example = "";

		if (id == OPT_HELP) {
			print_help();
			return WH_EXIT_OK;
		}
		if (id == '?') {
			wh_complain("'%s' is not an option, or lacks its value; "
				    "`wavehaul demo --help` lists them, for example --rate 10G",
				argv[optind - 1]);
			return WH_EXIT_USAGE;
		}
		if (!take_option(id, optarg, options, &example))
			return refuse(option_names[id - OPT_SIZE].name, optarg, example);
	}
	if (optind < argc) {
		wh_complain("'%s' is one word too many; a file is named by "
			    "--file %s",
			argv[optind], argv[optind]);
		return WH_EXIT_USAGE;
	}
	return complete(options);
}
