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
	const char *port; /* see drivers/port/spec.h */
	uint32_t queues;  /* pairs of queues, one shard each */
	uint32_t mtu_bytes;
	uint32_t vlan; /* 0: untagged */
	uint32_t dscp;
	uint32_t rx_descriptors; /* 0: the driver's preference */
	uint32_t tx_descriptors;
	struct wh_subnet ipv4; /* family 0: none */
	struct wh_subnet ipv6;
	struct wh_address gateway4; /* family 0: none */
	struct wh_address gateway6;
	uint32_t udp_port;          /* of queue 0; queue i has udp_port + i */
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
