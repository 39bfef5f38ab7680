/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Processes with jobs, and lines between them, in virtual time: some serve, the others ask them.
 * Each has its host context, endpoints and a working loop, as a host makes them of a port.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "host/host.h"
#include "job/jobs.h"
#include "lab/netem/netem.h"

#define HOUSE_PROCESSES_MAX 6
#define HOUSE_LINES_MAX     8
#define HOUSE_QUEUES_MAX    2
#define HOUSE_PORTS_MAX     2
#define HOUSE_VERBS_MAX     2
#define HOUSE_HZ            UINT64_C(1000000000)

struct house;

/* A process: between opening and closing it is alive. */
struct process {
	struct house *house;
	uint32_t number;
	uint32_t life; /* another one each time: of what the disk has under way */
	bool alive;
	struct wh_prng books_prng; /* with books_cpus: when their core looks next */
	uint64_t books_due_ns;
	bool stopped; /* its jobs stand still, while its sessions go on */
	struct wh_host_settings settings;
	struct wh_host host; /* its host context; no port */
	struct wh_loop loop[2];
	struct wh_endpoint endpoint[HOUSE_PORTS_MAX * HOUSE_QUEUES_MAX];
	struct wh_service service;
	struct wh_jobs jobs;
	const char *database; /* of its journal; NULL: it has none */
	uint64_t batch_bytes; /* of large files, with a journal */
	void *memory;
	uint64_t memory_bytes;
	uint32_t verbs;
	struct {
		int32_t (*poll)(void *state, uint64_t now_ns);
		void *state;
	} verb[HOUSE_VERBS_MAX]; /* what is done in it at once */
};

/* Both ways between two processes: `there` goes to the second of them. */
struct house_line {
	uint32_t end[2];
	struct wh_netem *there;
	struct wh_netem *back;
	uint64_t there_bytes; /* that have gone in, as the wire counts them */
	uint64_t back_bytes;
	bool cut;
	uint32_t dark; /* a bit for each port whose packets, both ways, are lost */
};

struct house {
	uint64_t now_ns;
	uint64_t quantum_ns; /* nothing is looked at more often */
	uint64_t events;
	uint32_t lives;
	struct wh_prng prng;
	struct process process[HOUSE_PROCESSES_MAX];
	uint32_t lines;
	struct house_line line[HOUSE_LINES_MAX];
	struct parcel *spare;
};

void house_open(struct house *house, uint64_t seed, uint64_t quantum_ns);
void house_close(struct house *house);

/* A whole line between two processes, in place of the one before. */
void house_lay(struct house *house, uint32_t a, uint32_t b, const struct wh_link_model *there,
	const struct wh_link_model *back);

/* The line between them, whichever is first; NULL: there is none. */
struct house_line *house_line(struct house *house, uint32_t a, uint32_t b);

/* Its first port, as others see it. */
struct wh_address house_address(uint32_t i);

/* Opens one whose settings are filled in; a server has a service. */
void house_start(struct house *house, uint32_t i, const struct wh_service *service, bool repair);

/* How a process ends; its files stay as they are, unless its host loses power. */
enum house_death {
	HOUSE_ENDED = 0, /* by itself */
	HOUSE_KILLED,
	HOUSE_UNPOWERED,
};

void house_end(struct house *house, uint32_t i, enum house_death death);

/* What calendars of all processes say; sentences that their journals have said so far. */
void house_set_calendar(int64_t wall_s);
uint32_t house_sentences(void);

/* One look at everything; then time goes to when something is due, but not beyond until_ns. */
void house_step(struct house *house, uint64_t until_ns);

/* NULL, or what a process without live jobs has not been given back. */
const char *house_owes(const struct house *house, uint32_t i);
