/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Whether UDP passes to a server and back: asks its addresses for a cookie, as handshakes do, from
 * sockets of its own, before this end has a port. An answer proves nothing but that.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"

#define WH_PASSAGE_ADDRESSES_MAX 8

struct wh_passage {
	uint32_t count;
	struct wh_address address[WH_PASSAGE_ADDRESSES_MAX];
	int fd[WH_PASSAGE_ADDRESSES_MAX]; /* -1: no route there */
	uint64_t number;                  /* in each question and answer */
	uint64_t began_ns;
	uint64_t asked_ns; /* last time */
	bool refused;      /* an ICMP error came back */
};

/* Asks for the first time. */
void wh_passage_begin(struct wh_passage *passage, const struct wh_address *address, uint32_t count);

/*
 * Asks again a few times a second, and never waits: -EAGAIN, until one has answered: its index; or
 * until that long after the beginning: -ETIMEDOUT. Then it closes the sockets.
 */
int wh_passage_poll(struct wh_passage *passage, uint64_t patience_ns);

/* The same, waiting; or until a signal: -EINTR. */
int wh_passage_await(struct wh_passage *passage, uint64_t patience_ns);
