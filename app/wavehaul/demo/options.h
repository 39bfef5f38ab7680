/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_OPTIONS_H
#define WH_APP_DEMO_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/repair.h"
#include "path/path.h"
#include "profile/profile.h"

struct wh_demo_options {
	uint64_t size_bytes;
	const char *file; /* NULL: one of size_bytes is made */
	const char *out;  /* NULL: a folder that goes away again */
	const struct wh_profile *profile;
	struct wh_profile_options udt_options; /* of that profile, when it is chosen */
	struct wh_repair_options repair;
	uint16_t mtu_bytes;
	uint64_t rtt_ns;
	double loss;                   /* of the whole model, for the report */
	struct wh_path_config forward; /* the data's direction, complete */
	uint64_t seed;
	uint64_t memory_bytes; /* for all pools; 0: as much as the path needs */
	uint32_t burst_pkts;
	uint64_t stall_timeout_ns;
	uint64_t peer_timeout_ns;
	bool json;
	bool verbose;
	bool no_huge;
	const char *eal;
};

/* -1: go on; else the exit status to end with, --help or a complaint having been printed. */
int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options);

#endif
