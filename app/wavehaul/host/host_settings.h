/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The settings of a host: its port, addresses, cores and memory; not those of its jobs
 * (job/request.h).
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"

struct wh_handshake_settings;

/* What a client has asked its server from other sockets, and must know before a session. */
struct wh_host_question {
	/* 0; -EAGAIN: not answered yet; or another negative errno: the server is out of reach. */
	int (*poll)(void *context);
	int (*conclude)(void *context); /* then the exit status, after a complaint */
	void *context;
};

struct wh_host_settings {
	struct wh_own_port port[WH_PORTS_MAX];
	uint32_t ports;
	uint32_t queues; /* pairs of queues of each port, one shard each */
	uint32_t mtu_bytes;
	uint32_t vlan; /* 0: untagged */
	uint32_t dscp;
	uint32_t rx_descriptors; /* 0: the driver's preference */
	uint32_t tx_descriptors;
	uint32_t udp_port;          /* of queue 0 of each port; queue i has udp_port + i */
	uint32_t udp_port_last;     /* udp: any free one from udp_port on; 0: only that */
	bool listens;               /* udp: our own port is udp_port, and not any that is free */
	struct wh_cpu_list rx_cpus; /* count 0: not given */
	struct wh_cpu_list tx_cpus;
	struct wh_cpu_list worker_cpus;
	struct wh_cpu_list books_cpus; /* count 0: receiving cores do the bookkeeping */
	uint64_t buffer_bytes;         /* of all sessions together */
	bool no_huge;
	bool verbose;
	const struct wh_handshake_settings *handshake; /* NULL: nothing is sealed */
	struct wh_host_question question;              /* `poll` NULL: none */
	const char *eal;                               /* more arguments for EAL; "": none */
};

/* Taken from a verb's settings; the strings remain owned by `settings`. */
struct wh_host_settings wh_host_settings_of(const struct wh_settings *settings);

/* Those of all ports: first the queues of the first port, then those of the next. */
static inline uint32_t wh_host_settings_shards(const struct wh_host_settings *settings)
{
	return settings->ports * settings->queues;
}

/* The first of those by which contact with that peer is made. */
uint32_t wh_host_settings_toward(
	const struct wh_host_settings *settings, const struct wh_address *peer);

/* The port of a shard. */
static inline const struct wh_own_port *wh_host_settings_port(
	const struct wh_host_settings *settings, uint32_t shard)
{
	return &settings->port[shard / settings->queues];
}
