/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Abbreviations for settings_table.c only. */

#include "cli/settings_table.h"

#define SERVE       WH_VERB_SERVE
#define TRANSFERS   (WH_VERB_SEND | WH_VERB_GET)
#define CLIENTS     (TRANSFERS | WH_VERB_BENCH)
#define ALL         WH_VERBS_CONFIGURED
#define ALL_CLIENTS (ALL & ~(enum wh_verb)SERVE)
#define MOVERS      (SERVE | CLIENTS)
#define PROBE       WH_VERB_PROBE
#define DEMO        WH_VERB_DEMO
#define SIM         WH_VERB_SIM
#define PLAN        WH_VERB_PLAN
#define DOCTOR      WH_VERB_DOCTOR
#define WAN         WH_VERB_WAN
#define KEYGEN      WH_VERB_KEYGEN
#define TRUST       WH_VERB_TRUST
#define JOB         WH_VERB_JOB
#define PARTS       WH_VERB_PARTS
#define CONSOLE     WH_VERB_CONSOLE
#define REPORT      WH_VERB_REPORT
#define FLEET       WH_VERB_FLEET
#define ORDERED     (TRANSFERS | JOB) /* on the command line, and in an order to a queue */
#define RPCS        WH_VERBS_RPCS

#define KEY(in, of)  .section = in, .key = of, .name = in "." of
#define IN(in)       .section = in
#define FIELD(field) .offset = offsetof(struct wh_settings, field)

#define PATH                .type = WH_SETTING_PATH
#define TEXT                .type = WH_SETTING_TEXT
#define SWITCH              .type = WH_SETTING_SWITCH, .standard = "no", .example = "yes"
#define WITHIN(least, most) .low = (least), .high = (most)
#define COUNT(least, most)  .type = WH_SETTING_COUNT, WITHIN(least, most)
#define SIZE(least, most)   .type = WH_SETTING_SIZE, WITHIN(least, most)
#define TIME(least, most)   .type = WH_SETTING_TIME, WITHIN(least, most)
#define RATE(least, most)   .type = WH_SETTING_RATE, WITHIN(least, most)
#define SHARE(least, most)  .type = WH_SETTING_SHARE, WITHIN(OF_ONE(least), OF_ONE(most))
#define OF_ONE(share)       (uint64_t)((share)*WH_SETTING_SHARE_PARTS + 0.5)

/* An option of wan for both directions, and one for the direction back only. */
#define BOTH_WAYS(name, field, standard_both, help_both, ...)                                      \
	{IN("link"), FIELD(link.field), .flag = name, .verbs = WAN, .standard = standard_both,     \
		.help = help_both, __VA_ARGS__},                                                   \
	{                                                                                          \
		IN("back"), FIELD(back.field), .flag = "back-" name, .verbs = WAN,                 \
					       .help = "as --" name, __VA_ARGS__                   \
	}

/* The options of fleet. */
/* clang-format off */
#define FLEET_SETTINGS \
	{IN("fleet"), FIELD(plan), .flag = "plan", PATH, .verbs = FLEET, .argument = "FOLDER", \
		.example = "/scratch/run42.plan", \
		.help = "folder of the plan, on a file system that the nodes share; scan,\n" \
			"send and get make it"}, \
	{IN("fleet"), FIELD(sites), .flag = "sites", PATH, .verbs = FLEET, \
		.standard = "/etc/wavehaul/sites.d", .argument = "FOLDER", .example = "sites.d", \
		.help = "scan, send, get: folder that has the receivers of SITE in SITE.conf;\n" \
			"each task reads it"}, \
	{IN("fleet"), FIELD(shards), .flag = "shards", .verbs = FLEET, COUNT(1, 100000), \
		.standard = "1000", .argument = "N", .example = "500", \
		.help = "scan, send, get: shards, at most; below MaxArraySize of Slurm (1001)"}, \
	{IN("fleet"), FIELD(shard_bytes), .flag = "shard-size", .verbs = FLEET, \
		SIZE(1, INT64_MAX), .standard = "10G", .argument = "SIZE", .example = "100G", \
		.help = "scan, send, get: a smaller tree has fewer shards, each of this size"}, \
	{IN("fleet"), FIELD(shard_files), .flag = "shard-files", .verbs = FLEET, \
		COUNT(1, 100000), .standard = "10000", .argument = "N", .example = "50000", \
		.help = "scan, send, get: or each of so many files, if that makes more shards"}, \
	{IN("fleet"), FIELD(partition), .flag = "partition", TEXT, .verbs = FLEET, \
		.argument = "NAME", .example = "dtn", \
		.help = "partition of Slurm that has the nodes"}, \
	{IN("fleet"), FIELD(account), .flag = "account", TEXT, .verbs = FLEET, \
		.argument = "NAME", .example = "climate", \
		.help = "account of Slurm, by which projects share nodes"}, \
	{IN("fleet"), FIELD(licenses), .flag = "licenses", TEXT, .verbs = FLEET, \
		.argument = "NAME:N", .example = "lambda:1", \
		.help = "licences of Slurm that each task takes, as of a lambda: their number\n" \
			"limits the tasks that run at once"}, \
	{IN("fleet"), FIELD(exclude_nodes), .flag = "exclude-nodes", TEXT, .verbs = FLEET, \
		.argument = "NODES", .example = "n3,n[7-9]", \
		.help = "nodes that get no shard"}, \
	{IN("fleet"), FIELD(deadline), .flag = "by", TEXT, .verbs = FLEET, \
		.argument = "TIME", .example = "Thu 08:00", \
		.help = "scan, send, get: say whether all can be there by then, or warn"}, \
	{IN("fleet"), FIELD(every_ns), .flag = "every", .verbs = FLEET, \
		TIME(WH_NS_PER_S, 3600 * WH_NS_PER_S), .argument = "TIME", .example = "5s", \
		.help = "status: say it again and again, until nothing runs or waits"}, \
	{IN("fleet"), FIELD(page), .flag = "page", PATH, .verbs = FLEET, .argument = "FILE", \
		.example = "/srv/www/run42.html", \
		.help = "status: also write it as a page for browsers, which renews itself"}
/* clang-format on */
