/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * State shared by the lanes of one transfer in this process, at either end: their common rate, and
 * the large files that they split. Lanes are matched by the random number in HELLO, the peer's
 * address and key, so that no other peer's lane can join, and the number of lanes.
 */

#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/spin.h"
#include "bundle/split.h"
#include "job/job_share.h"
#include "job/peers.h"
#include "sink/assembly.h"
#include "sink/rules.h"
#include "wire/encap.h"

struct wh_lane_group {
	LIST_ENTRY(wh_lane_group) next;
	uint64_t number;
	struct wh_address peer;              /* port 0: lanes may use several */
	uint8_t identity[WH_IDENTITY_BYTES]; /* zeros: at the client, or unknown */
	uint32_t lanes;
	uint64_t joined; /* bit i: lane i has joined; each may only once */
	uint64_t left;
	_Atomic uint64_t moved_tsc; /* time of any lane's last progress */
	struct wh_share share;
	struct wh_splits splits;         /* for sources */
	struct wh_assemblies assemblies; /* for sinks */
	struct wh_rules_used used;       /* for sinks */
};

struct wh_lane_groups {
	struct wh_spin lock;
	LIST_HEAD(, wh_lane_group) list;
};

void wh_lane_groups_init(struct wh_lane_groups *lane_groups);

/* 0, -ENOMEM, or -EEXIST: that lane has joined before. Any core. */
int wh_lane_group_join(struct wh_lane_groups *lane_groups, uint64_t number,
	const struct wh_who *who, uint32_t lane, uint32_t lanes, struct wh_lane_group **lane_group);

/* Frees it when its last lane leaves. */
void wh_lane_group_leave(
	struct wh_lane_groups *lane_groups, struct wh_lane_group *lane_group, uint32_t lane);
