/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What fixed stories of jobs share: two servers, one client, a line to each, a disk. */

#include <stdbool.h>
#include <stdint.h>

#include "disk.h"
#include "house.h"
#include "visit.h"

#define STORY_SERVERS 2
#define STORY_CLIENT  2
#define MS            UINT64_C(1000000)

struct story {
	struct house house;
	char folder[32];
	int root_fd[STORY_SERVERS];
	const struct wh_handshake_settings *handshake; /* of servers that begin from now on */
	/* What the servers' job that ended last said of it. */
	bool stalled;
	char why[256];
};

extern struct story story;

struct wh_request story_request(uint64_t rate_bps);
struct wh_host_settings story_settings(void);

/* Two servers, and a line of that rate from the client to each; not far: a millisecond. */
void story_open(uint64_t rate_bps);
void story_open_far(uint64_t rate_bps, uint64_t rtt_ns);

/* One look at everything; false: it is that late. */
bool story_can_wait(uint64_t until_ns);

/* A server that is still there has heard of the end, and was given back all. */
void story_close(void);

/* Files of which all lanes have some. */
void story_plant(struct tree *tree, uint64_t seed);

/* It went well, and all of its tree is in `result`. */
void story_check_whole(const struct visit *visit, const char *result);
