/* SPDX-License-Identifier: BSD-3-Clause */

/* [flow ...] of a scenario: common keys, then those of each kind of agent. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/cli_repair.h"
#include "cli/complain.h"
#include "fec/fec.h"
#include "lab/sim/sim_memory.h"
#include "probe/prober.h"
#include "profile/profile.h"
#include "profile/sttp.h"
#include "scenario/point.h"

#define PACKET_BYTES_DEFAULT 1500
#define PACKET_BYTES_MAX     65535
#define HEAD_BYTES_DEFAULT   40 /* of IP and TCP */
#define RATE_BPS_MAX         UINT64_C(1000000000000000)
#define LAST_START_PS_MAX    (1000000 * WH_PS_PER_S)
#define STEPS_MAX            200
#define TASKS_WINDOW_MAX     16384
#define PKTS_MAX             (UINT32_C(1) << 30)
#define FEC_CEILING_MAX      0.9
#define PROBE_TRAIN_DEFAULT  8192
#define CHUNK_BYTES_DEFAULT  1000000 /* ttp.txt II A */
#define CHUNK_BYTES_MAX      100000000

static const char *const source_names[WH_SIM_TRAFFIC_KINDS] = {
	[WH_SIM_CBR] = "cbr",
	[WH_SIM_EXPONENTIAL] = "exponential",
	[WH_SIM_PARETO] = "pareto",
	[WH_SIM_BURST] = "burst",
};

static double take_time(struct wh_taker *taker, const struct wh_option *option, double fallback)
{
	uint64_t span_ps = wh_take_ps(taker, option->name, (uint64_t)fallback * WH_PS_PER_NS);
	double span_ns = (double)(span_ps / WH_PS_PER_NS);

	if (span_ns == fallback || (span_ns >= option->least && span_ns <= option->most))
		return span_ns;
	wh_take_refuse(taker, option->name, "is beyond the option's limits; see wavehaul profiles");
	return fallback;
}

static double take_option(struct wh_taker *taker, const struct wh_option *option, double fallback)
{
	switch (option->type) {
	case WH_OPTION_SWITCH:
		return wh_take_switch(taker, option->name, fallback != 0.0);
	case WH_OPTION_REAL:
	case WH_OPTION_SHARE:
		return wh_take_number(taker, option->name, fallback, option->least, option->most);
	case WH_OPTION_SHARING:
		return wh_take_choice(
			taker, option->name, wh_option_words(option->type), (uint32_t)fallback);
	case WH_OPTION_TIME:
		return take_time(taker, option, fallback);
	default:
		return (double)wh_take_count(taker, option->name, (uint64_t)fallback,
			(uint64_t)option->least, (uint64_t)option->most);
	}
}

/* Each option of the profile is a key of its flows. */
static void take_options(struct wh_taker *taker, const struct wh_profile *profile,
	struct wh_profile_options *options)
{
	const struct wh_option *wrong;
	const char *why;

	for (uint32_t i = 0; i < profile->n_options; i++) {
		const struct wh_option *option = &profile->options[i];

		options->value[i] = take_option(taker, option, options->value[i]);
	}
	wrong = profile->contradiction == NULL ? NULL : profile->contradiction(options, &why);
	if (wrong != NULL && !taker->failed)
		wh_take_refuse(taker, wrong->name, why);
}

static void take_code(struct wh_taker *taker, struct wh_repair_config *repair)
{
	char name[WH_WORD_BYTES];

	wh_take_word(taker, "code", wh_fec_code_name(repair->code), name);

	enum wh_fec_code code = wh_repair_code(name);

	if (code == WH_FEC_NONE)
		wh_take_refuse(taker, "code", "is not one of rs, tornado");
	repair->code = code;
	repair->planner.code = code;
}

/* Call after the window is set, because a chunk's size depends on it. */
static void take_repair(
	struct wh_taker *taker, struct wh_sim_engine_config *config, uint32_t enough_pkts)
{
	struct wh_repair_config *repair = &config->repair;
	struct wh_fec_planner_config *planner = &repair->planner;
	uint32_t payload_bytes = wh_sim_engine_payload_bytes(config->mtu_bytes);
	struct wh_repair_options options;
	uint32_t data_pkts;
	char text[WH_WORD_BYTES];

	wh_repair_config_init(repair, config->profile);
	wh_take_word(taker, "fec", repair->recovery == WH_RECOVERY_NAK ? "off" : "auto", text);
	wh_repair_options_init(&options);
	if (!wh_repair_parse(text, &options))
		wh_take_refuse(taker, "fec", "is neither off, auto nor K,R, as 100,5");
	repair->recovery = WH_RECOVERY_NAK;
	if (taker->failed || !options.on)
		return;
	repair->fixed_k = options.k;
	repair->fixed_r = options.r;
	repair->recovery =
		wh_take_switch(taker, "strict_paper", false) ? WH_RECOVERY_FEC : WH_RECOVERY_HYBRID;
	take_code(taker, repair);
	planner->target = wh_take_number(
		taker, "fec_target", planner->target, WH_REPAIR_TARGET_MIN, WH_REPAIR_TARGET_MAX);
	planner->ceiling =
		wh_take_number(taker, "fec_ceiling", planner->ceiling, 0.01, FEC_CEILING_MAX);
	planner->initial_loss =
		wh_profile_option(config->profile, "initial_loss") != NULL
			? wh_profile_options_get(&config->options, config->profile, "initial_loss")
			: wh_take_number(taker, "initial_loss", planner->initial_loss, 0.0, 1.0);
	config->chunk_pkts =
		(uint32_t)(wh_take_count(taker, "chunk", CHUNK_BYTES_DEFAULT, 1, CHUNK_BYTES_MAX) /
			   payload_bytes);
	config->encode_ps = wh_take_ps(taker, "encode_delay", 0);
	data_pkts = wh_sim_engine_chunk_pkts(config);
	repair->repair_pkts =
		wh_repair_most_pkts(repair->fixed_k, repair->fixed_r, planner->ceiling, data_pkts);
	planner->r_max = repair->repair_pkts;
	if (data_pkts + repair->repair_pkts > WH_BLOCK_PACKETS_MAX)
		wh_take_refuse(taker, "chunk", "makes more than 65535 packets with its repair");
	/*
	 * Missing packets of a chunk are requested after its end, while other chunks are in
	 * transit.
	 */
	while (!taker->failed && !wh_take_has(taker, "window") &&
		config->window_pkts < enough_pkts + 2 * (data_pkts + repair->repair_pkts))
		config->window_pkts *= 2;
}

/* Reads one time, for each of the paper's tasks, or a time for each task; true: the latter. */
static bool take_task_times(struct wh_taker *taker, const char *key, uint64_t task_ps[WH_TASKS])
{
	double seconds[WH_TASKS];
	uint32_t count = wh_take_list(taker, key, WH_VALUE_TIME, seconds, WH_TASKS);

	if (count != 1 && count != WH_TASKS)
		wh_take_refuse(taker, key, "has neither one time nor six");
	for (uint32_t i = 0; i < (count == 1 ? WH_TASKS_PAPER : count) && !taker->failed; i++) {
		double task_s = seconds[count == 1 ? 0 : i];

		if (task_s < 1e-10 || task_s > 1)
			wh_take_refuse(taker, key, "is not within 0.1ns and 1s");
		task_ps[i] = (uint64_t)(task_s * (double)WH_PS_PER_S + 0.5);
	}
	return count == WH_TASKS;
}

/* The model of periodic-exchange.txt: scenario/tasks.h. */
static void take_tasks(struct wh_taker *taker, struct wh_sim_engine_config *config)
{
	struct wh_tasks_config *tasks = &config->tasks;

	if (!wh_take_has(taker, "arrival"))
		return;
	wh_take_require(taker, "process", "80us");
	tasks->arrival_ps = wh_take_ps(taker, "arrival", 0);
	tasks->real = take_task_times(taker, "process", tasks->task_ps);
	if (take_task_times(taker,
		    wh_take_has(taker, "receiver_process") ? "receiver_process" : "process",
		    tasks->receiver_task_ps) != tasks->real)
		wh_take_refuse(taker, "receiver_process", "is not of the same tasks as process");
	tasks->handing_ps = wh_take_ps(taker, "handing", 0);
	tasks->cores = (uint32_t)wh_take_count(taker, "cores", WH_TASKS, 1, WH_TASK_CORES_MAX);
	tasks->sealing =
		(uint32_t)wh_take_count(taker, "sealing", tasks->cores, 1, WH_TASK_CORES_MAX);
	if (tasks->arrival_ps < WH_PS_PER_NS || tasks->arrival_ps > WH_PS_PER_S)
		wh_take_refuse(taker, "arrival", "is not within 1ns and 1s");
	if (config->window_pkts > TASKS_WINDOW_MAX)
		wh_take_refuse(taker, "window", "is more than 16384, and each packet has a buffer");
	if (config->repair.recovery != WH_RECOVERY_NAK)
		wh_take_refuse(taker, "fec", "goes by chunks, and here each packet is one");
}

/* Values that an earlier session would have found; each controller uses them in its own way. */
static void take_known(struct wh_taker *taker, struct wh_known_path *known)
{
	if (!wh_take_has(taker, "known_rate"))
		return;
	wh_take_require(taker, "known_rtt", "100ms");
	known->capacity_bps = wh_take_count(taker, "known_rate", 1, 1, WH_KNOWN_BPS_MAX);
	known->rtt_ns = wh_take_ps(taker, "known_rtt", WH_PS_PER_NS) / WH_PS_PER_NS;
	known->burst_pkts = (uint32_t)wh_take_count(taker, "known_burst", 0, 0, WH_KNOWN_PKTS_MAX);
	known->age_s = (uint32_t)(wh_take_ps(taker, "known_age", 0) / WH_PS_PER_S);
	if (!taker->failed && !wh_known_path_valid(known))
		wh_take_refuse(taker, "known_rtt", "is not within 1ns and 100s");
}

/* The clock of one of the hosts. */
static void take_clock(struct wh_taker *taker, const char *skew, const char *offset,
	struct wh_host_clock_config *clock)
{
	clock->skew =
		wh_take_number(taker, skew, 0.0, -WH_HOST_CLOCK_SKEW_MAX, WH_HOST_CLOCK_SKEW_MAX);
	clock->offset_ps = wh_take_ps(taker, offset, 0);
}

static void take_host_absence(struct wh_point *point, struct wh_taker *taker,
	const struct wh_absence_keys *keys, struct wh_absence_config *absence)
{
	const char *key = wh_take_has(taker, keys->noise) ? keys->noise : keys->away;

	wh_point_take_absence(point, taker, keys, absence);
	if (wh_take_has(taker, key) && wh_take_has(taker, "arrival"))
		wh_take_refuse(taker, key, "is not of hosts with arrival = TIME");
}

static void take_engine(struct wh_point *point, struct wh_taker *taker,
	struct wh_scenario_group *group, const struct wh_profile *profile)
{
	struct wh_sim_engine_config *config = &group->engine;
	uint32_t enough;
	uint32_t wanted;

	wh_sim_engine_config_init(config, profile);
	config->mtu_bytes = group->packet_bytes;
	group->agent = WH_SCENARIO_ENGINE;
	group->payload_bytes = wh_sim_engine_payload_bytes(group->packet_bytes);
	if (group->payload_bytes == 0) {
		wh_take_refuse(taker, "packet",
			"leaves no room for payload, or is too large for "
			"a profile");
		return;
	}
	if (profile->rate_is_told)
		wh_take_require(taker, "rate", "95M");
	/* Other options of TTP are relative to the bottleneck's rate. */
	if (wh_profile_option(profile, "bottleneck") != NULL)
		wh_take_require(taker, "bottleneck", "100M");
	take_options(taker, profile, &config->options);
	config->rate_bps = wh_take_count(taker, "rate", 0, 1, RATE_BPS_MAX);
	config->burst_pkts = (uint32_t)wh_take_count(taker, "burst", config->burst_pkts, 1, 1024);
	take_known(taker, &config->known);
	enough = wh_scenario_window_pkts(&point->scenario, group->from, group->to,
		group->packet_bytes, wh_profile_feedback(profile, &config->options).period_us);
	wanted = (uint32_t)wh_take_count(
		taker, "window", enough, WH_WINDOW_PKTS_MIN, WH_WINDOW_PACKETS_MAX);
	config->window_pkts = WH_WINDOW_PKTS_MIN;
	while (config->window_pkts < wanted)
		config->window_pkts *= 2;
	WH_ASSERT((config->window_pkts & (config->window_pkts - 1)) == 0);
	take_repair(taker, config, enough);
	take_tasks(taker, config);
	take_clock(taker, "sender_skew", "sender_offset", &config->sender_clock);
	take_clock(taker, "receiver_skew", "receiver_offset", &config->receiver_clock);
	take_host_absence(point, taker,
		&(struct wh_absence_keys){"sender_away", "sender_here", "sender_noise"},
		&config->sender_absence);
	take_host_absence(point, taker,
		&(struct wh_absence_keys){"receiver_away", "receiver_here", "receiver_noise"},
		&config->receiver_absence);
}

/* rack.c and BBR have no options for their own mechanisms. */
static void take_slow_start(struct wh_taker *taker, struct wh_sim_tcp_config *config)
{
	config->initial_ssthresh_pkts = (double)wh_take_count_or_none(taker, "ssthresh", PKTS_MAX);
	config->max_ssthresh_pkts = (double)wh_take_count_or_none(taker, "max_ssthresh", PKTS_MAX);
	config->limited_transmit =
		wh_take_switch(taker, "limited_transmit", config->limited_transmit);
	config->tick_ps = wh_take_ps(taker, "tick", config->tick_ps);
	if (config->tick_ps == 0)
		wh_take_refuse(taker, "tick", "is no tick of a clock");
}

static void take_tcp(
	struct wh_taker *taker, struct wh_scenario_group *group, enum wh_sim_tcp_variety variety)
{
	struct wh_sim_tcp_config *config = &group->tcp;
	uint32_t head_bytes = (uint32_t)wh_take_count(
		taker, "head", HEAD_BYTES_DEFAULT, 1, group->packet_bytes - 1);

	if (head_bytes >= group->packet_bytes) {
		wh_take_refuse(taker, "packet", "leaves no room for payload beside its head");
		return;
	}
	wh_scenario_group_tcp(group, WH_SCENARIO_TCP, variety, head_bytes);
	if (variety == WH_SIM_TCP_CUBIC && wh_take_switch(taker, "linux", false))
		wh_sim_tcp_config_as_linux(config);
	config->window_pkts = (uint32_t)wh_take_count_or_none(taker, "window", PKTS_MAX);
	config->initial_cwnd_pkts =
		wh_take_number(taker, "initial_window", config->initial_cwnd_pkts, 1.0, PKTS_MAX);
	if (!config->as_linux)
		take_slow_start(taker, config);
	config->device_queue_pkts =
		(uint32_t)wh_take_count_or_none(taker, "device_queue", PKTS_MAX);
	config->handshake = wh_take_switch(taker, "handshake", config->handshake);
	config->delayed_ack = wh_take_switch(taker, "delayed_ack", config->delayed_ack);
	config->initial_rto_ps = wh_take_ps(taker, "initial_rto", config->initial_rto_ps);
	config->min_rto_ps = wh_take_ps(taker, "min_rto", config->min_rto_ps);
	if (config->max_rto_ps < config->min_rto_ps)
		wh_take_refuse(taker, "min_rto", "is more than a minute");
}

static void take_psock(struct wh_taker *taker, struct wh_scenario_group *group)
{
	take_tcp(taker, group, WH_SIM_TCP_NEWRENO);
	group->agent = WH_SCENARIO_PSOCK;
	wh_take_require(taker, "connections", "8");
	group->connections = (uint32_t)wh_take_count(taker, "connections", 1, 1, 10000);
}

static void take_drs(struct wh_taker *taker, struct wh_scenario_group *group)
{
	take_tcp(taker, group, WH_SIM_TCP_SACK);
	wh_take_require(taker, "window", "bdp(rate, rtt)");
	if (group->tcp.window_pkts == 0)
		wh_take_refuse(taker, "window", "is none, and drs is about its window");
}

static void take_steps(struct wh_taker *taker, struct wh_scenario_group *group)
{
	struct wh_taken_at ats[STEPS_MAX];
	uint32_t count = wh_take_ats(taker, "steps", false, ats, STEPS_MAX);
	struct wh_scenario_step *steps = wh_sim_allocate((count + 1) * sizeof(*steps));

	/* Steps apply to all flows of the group, so they must be after all starts. */
	uint64_t before_ps = group->start_ps + group->spread_ps +
			     (group->count > 0 ? group->count - 1 : 0) * group->stagger_ps;

	for (uint32_t i = 0; i < count; i++) {
		if (ats[i].at_ps < before_ps || ats[i].x > (double)RATE_BPS_MAX)
			wh_take_refuse(taker, "steps",
				ats[i].x > (double)RATE_BPS_MAX
					? "has a rate that no link bears"
					: "is out of order: times ascend, and none is before the "
					  "flow starts");
		before_ps = ats[i].at_ps + 1;
		steps[i] = (struct wh_scenario_step){
			.at_ps = ats[i].at_ps, .rate_bps = (uint64_t)llround(ats[i].x)};
	}
	group->steps = steps;
	group->n_steps = count;
}

static void take_source(
	struct wh_taker *taker, struct wh_scenario_group *group, enum wh_sim_traffic_kind kind)
{
	struct wh_sim_traffic_config *config = &group->source;

	group->agent = WH_SCENARIO_SOURCE;
	group->payload_bytes = group->packet_bytes;
	config->kind = kind;
	config->packet_bytes = group->packet_bytes;
	if (kind != WH_SIM_BURST)
		wh_take_require(taker, "rate", "10M");
	config->rate_bps = wh_take_count(taker, "rate", 0, 0, RATE_BPS_MAX);
	if (kind == WH_SIM_CBR)
		take_steps(taker, group);
	if (kind == WH_SIM_EXPONENTIAL || kind == WH_SIM_PARETO) {
		wh_take_require(taker, "on", "500ms");
		wh_take_require(taker, "off", "500ms");
		config->on_ps = wh_take_ps(taker, "on", 0);
		config->off_ps = wh_take_ps(taker, "off", 0);
	}
	if (kind == WH_SIM_PARETO)
		config->shape = wh_take_number(taker, "shape", 1.5, 1.001, 100.0);
	if (kind == WH_SIM_BURST) {
		wh_take_require(taker, "packets", "100");
		config->burst_pkts = (uint32_t)wh_take_count(taker, "packets", 1, 1, PKTS_MAX);
	}
}

static void take_probe(struct wh_taker *taker, struct wh_scenario_group *group)
{
	struct wh_sim_probe_config *config = &group->probe;

	group->agent = WH_SCENARIO_PROBE;
	group->payload_bytes = group->packet_bytes;
	config->mtu_bytes = group->packet_bytes;
	if (!wh_sim_probe_takes_mtu(group->packet_bytes))
		wh_take_refuse(taker, "packet", "is too small or too large for a probe");
	wh_take_require(taker, "rate", "1G");
	config->line_bps = wh_take_count(taker, "rate", 1, 1, RATE_BPS_MAX);
	config->train_pkts = (uint32_t)wh_take_count(
		taker, "train", PROBE_TRAIN_DEFAULT, WH_PROBER_TRAIN_MIN, WH_PROBER_TRAIN_MAX);
}

static bool take_known_tcp(
	struct wh_taker *taker, struct wh_scenario_group *group, const char *agent)
{
	for (uint32_t i = 0; i < WH_SIM_TCP_VARIETIES; i++) {
		enum wh_sim_tcp_variety variety = (enum wh_sim_tcp_variety)i;

		if (strcmp(agent, wh_sim_tcp_variety_name(variety)) != 0)
			continue;
		take_tcp(taker, group, variety);
		if (variety == WH_SIM_TCP_STTP)
			take_options(taker, &wh_profile_sttp, &group->tcp.sttp);
		return true;
	}
	return false;
}

static void refuse_agent(struct wh_taker *taker)
{
	char why[WH_EXPR_WRONG_BYTES] = "is not one of";
	const struct wh_profile *profile;
	size_t used = strlen(why);

	for (uint32_t i = 0; (profile = wh_profile_at(i)) != NULL; i++)
		used += (size_t)snprintf(why + used, sizeof(why) - used, " %s,", profile->name);
	for (uint32_t i = 0; i < WH_SIM_TCP_VARIETIES; i++)
		used += (size_t)snprintf(why + used, sizeof(why) - used, " %s,",
			wh_sim_tcp_variety_name((enum wh_sim_tcp_variety)i));
	snprintf(why + used, sizeof(why) - used,
		" psock, drs, probe, cbr, exponential, pareto, burst");
	wh_take_refuse(taker, "agent", why);
}

static void take_agent(struct wh_point *point, struct wh_taker *taker,
	struct wh_scenario_group *group, const char *agent)
{
	static const struct {
		const char *name;
		void (*take)(struct wh_taker *taker, struct wh_scenario_group *group);
	} others[] = {{"psock", take_psock}, {"probe", take_probe}, {"drs", take_drs}};
	const struct wh_profile *profile = wh_profile_find(agent);

	if (profile != NULL) {
		take_engine(point, taker, group, profile);
		return;
	}
	if (take_known_tcp(taker, group, agent))
		return;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(agent, others[i].name) != 0)
			continue;
		others[i].take(taker, group);
		return;
	}
	for (uint32_t i = 0; i < WH_SIM_TRAFFIC_KINDS; i++) {
		if (strcmp(agent, source_names[i]) != 0)
			continue;
		take_source(taker, group, (enum wh_sim_traffic_kind)i);
		return;
	}
	refuse_agent(taker);
}

static uint32_t take_node(
	const struct wh_point *point, struct wh_taker *taker, const char *key, const char *example)
{
	char name[WH_WORD_BYTES];
	uint32_t node;

	wh_take_require(taker, key, example);
	wh_take_word(taker, key, example, name);
	node = wh_point_find_node(point, name, strlen(name));
	if (node == UINT32_MAX)
		wh_take_refuse(taker, key, "is no node of any link");
	return node;
}

static void take_times(struct wh_taker *taker, struct wh_scenario_group *group)
{
	group->start_ps = wh_take_ps(taker, "start", 0);
	group->stop_ps = wh_take_ps(taker, "stop", WH_SIM_NEVER_PS);
	group->stagger_ps = wh_take_ps(taker, "stagger", 0);
	group->spread_ps = wh_take_ps(taker, "spread", 0);
	if (group->stop_ps < group->start_ps)
		wh_take_refuse(taker, "stop", "is before the start");
}

/* By then all flows of the group have started. In floating point, which does not overflow. */
static double last_start_ps(const struct wh_scenario_group *group)
{
	return (double)group->start_ps + (double)group->spread_ps +
	       (double)group->count * (double)group->stagger_ps;
}

static bool is_new(const struct wh_point *point, const char *name)
{
	for (uint32_t i = 0; i < point->scenario.n_groups; i++)
		if (strcmp(point->groups[i].name, name) == 0)
			return false;
	return true;
}

/* From `more` on a flow has data without end. */
static void take_more(struct wh_taker *taker, struct wh_scenario_group *group)
{
	if (group->agent != WH_SCENARIO_TCP || !wh_take_has(taker, "more"))
		return;
	wh_take_require(taker, "size", "8000");
	group->more_ps = wh_take_ps(taker, "more", 0);
	if (group->members != NULL)
		wh_take_refuse(taker, "more", "is of flows that are all alike");
	if ((double)group->more_ps <= last_start_ps(group) || group->more_ps >= group->stop_ps)
		wh_take_refuse(taker, "more", "is not after the start and before the stop");
}

static void take_sizes(struct wh_taker *taker, struct wh_scenario_group *group)
{
	bool has_size = group->agent != WH_SCENARIO_SOURCE && group->agent != WH_SCENARIO_PROBE;

	group->size_bytes = WH_OBJECT_BYTES_UNKNOWN;
	if (has_size)
		group->size_bytes =
			wh_take_count(taker, "size", WH_OBJECT_BYTES_UNKNOWN, 1, WH_POINT_SIZE_MAX);
	wh_point_take_members(taker, group, has_size);
}

bool wh_point_take_flow(struct wh_point *point, struct wh_taker *taker)
{
	const char *name = taker->section->name;
	struct wh_scenario_group *group = &point->groups[point->scenario.n_groups];
	char agent[WH_WORD_BYTES];

	if (!wh_is_name(name) || !is_new(point, name) ||
		point->scenario.n_groups == WH_POINT_GROUPS_MAX) {
		wh_complain("%s: '%s' is no new name of a flow; names are letters, digits and _",
			taker->section->where, name);
		taker->failed = true;
		return false;
	}
	group->name = name;
	wh_take_require(taker, "agent", "udt");
	wh_take_word(taker, "agent", "udt", agent);
	group->from = take_node(point, taker, "from", "A");
	group->to = take_node(point, taker, "to", "B");
	if (!taker->failed && group->from == group->to)
		wh_take_refuse(taker, "to", "is where it comes from");
	take_times(taker, group);
	group->count = (uint32_t)wh_take_count(taker, "count", 1, 0, WH_POINT_FLOWS_MAX);
	group->packet_bytes =
		(uint32_t)wh_take_count(taker, "packet", PACKET_BYTES_DEFAULT, 2, PACKET_BYTES_MAX);
	if (last_start_ps(group) > (double)LAST_START_PS_MAX)
		wh_take_refuse(taker, "stagger", "makes the last one start after 1000000s");
	if (taker->failed)
		return false;
	take_agent(point, taker, group, agent);
	take_sizes(taker, group);
	take_more(taker, group);
	point->agents[point->scenario.n_groups++] = strdup(agent);
	return !taker->failed;
}
