/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A world's state: world_draw.c draws what is in it, world.c lets it happen. */

#include "disk.h"
#include "house.h"
#include "visit.h"
#include "world.h"

#define MS          UINT64_C(1000000)
#define SERVERS_MAX 2
#define CLIENTS_MAX (HOUSE_PROCESSES_MAX - SERVERS_MAX)

/* A client may want something of each server. */
#define VISITORS_MAX (SERVERS_MAX * CLIENTS_MAX)

enum fault {
	FAULT_NONE = 0,
	FAULT_CUT,    /* the link of a client, or one port of it, for good */
	FAULT_OUTAGE, /* and for a while */
	FAULT_CLIENT, /* a client is killed */
	FAULT_SERVER, /* the server is, and starts anew */
	FAULT_DRAIN,  /* the server is told to end what runs */
	FAULT_STAND,  /* its jobs stand still for a while, and its sessions do not */
	FAULT_IDLE,   /* so do a client's */
	FAULTS,
};

struct visitor {
	struct visit_config config;
	struct tree tree;
	struct tree before;
	bool has_before;
	uint64_t start_ns;
	bool begun;
	uint64_t change_ns; /* of its rate, which is then ... */
	uint64_t change_bps;
	bool changed;
	struct visit visit;
};

struct world {
	uint64_t seed;
	struct wh_prng prng;
	const char *folder;
	bool verbose;
	struct world_result *result;
	struct house house;
	struct disk_config disk;
	struct wh_host_settings settings; /* of the server */
	struct wh_request own;            /* likewise */
	struct wh_peer_limits limits;
	bool is_tight; /* the server has little room */
	uint64_t rate_bps;
	uint64_t rtt_ns;
	uint32_t mtu_bytes;
	bool with_handshake; /* all have an identity, and jobs wait for their SAs */
	bool is_rough;
	struct wh_link_model netem[2];
	uint32_t servers;
	uint32_t clients;
	uint32_t visitors;
	struct visitor visitor[VISITORS_MAX];
	enum fault fault;
	uint32_t victim;        /* a client */
	uint32_t victim_server; /* and a server, by its process's number */
	uint64_t fault_ns;
	uint64_t heal_ns;   /* of an outage, or when the server is back */
	uint32_t dark_port; /* the only one that is cut; HOUSE_PORTS_MAX or more: all */
	bool struck;
	bool healed;
	int root_fd[SERVERS_MAX];
};

/* Clients are between them. */
static inline uint32_t server_of(uint32_t i)
{
	return i == 0 ? 0 : HOUSE_PROCESSES_MAX - 1;
}

/* All of it, by its seed. */
void world_draw(struct world *w);
void world_describe(const struct world *w);
