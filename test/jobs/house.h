/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_JOBS_HOUSE_H
#define WH_TEST_JOBS_HOUSE_H

/*
 * Processes with jobs, and paths between them, in virtual time: process 0 serves, the others ask
 * it. Each has its ground, endpoints and a working loop, as a host makes them of a port.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "host/host.h"
#include "job/jobs.h"
#include "path/path.h"

#define HOUSE_CLIENTS_MAX 4
#define HOUSE_QUEUES_MAX  2
#define HOUSE_HZ          UINT64_C(1000000000)

struct house;

/* A process: between opening and closing it is alive. */
struct process {
	struct house *house;
	uint32_t number;
	uint32_t life; /* another one each time: of what the disk has under way */
	bool alive;
	struct wh_host_settings settings;
	struct wh_host host; /* its ground; no port */
	struct wh_loop loop[2];
	struct wh_endpoint endpoint[HOUSE_QUEUES_MAX];
	struct wh_service service;
	struct wh_jobs jobs;
	void *memory;
	uint64_t memory_bytes;
	int32_t (*poll)(void *state, uint64_t now_ns); /* its verb; NULL: none */
	void *state;
};

struct house {
	uint64_t now_ns;
	uint64_t quantum_ns; /* nothing is looked at more often */
	uint64_t events;
	uint32_t lives;
	struct wh_prng prng;
	struct process process[1 + HOUSE_CLIENTS_MAX];
	/* Between process 0 and i: of what comes from i, and what goes there. */
	struct wh_path *from[1 + HOUSE_CLIENTS_MAX];
	struct wh_path *to[1 + HOUSE_CLIENTS_MAX];
	bool cut[1 + HOUSE_CLIENTS_MAX];
	struct parcel *spare;
};

void house_open(struct house *house, uint64_t seed, uint64_t quantum_ns);
void house_close(struct house *house);

/* Both directions between process i and process 0, in place of those before. */
void house_lay(struct house *house, uint32_t i, const struct wh_path_config *from,
	const struct wh_path_config *to);

/* Opens one whose settings are filled in; a server has a service. */
void house_start(struct house *house, uint32_t i, const struct wh_service *service, bool repair);

/* It has ended by itself, or is killed: then its files stay as they are. */
void house_end(struct house *house, uint32_t i, bool killed);

/* One look at everything; then time goes to when something is due, but not beyond until_ns. */
void house_step(struct house *house, uint64_t until_ns);

/* NULL, or what a process without live jobs has not been given back. */
const char *house_owes(const struct house *house, uint32_t i);

#endif
