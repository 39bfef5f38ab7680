/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A port whose other end is the test's, and a netif on each queue, in virtual time. */

#include "netif_rig.h"

#define MAILBOX_CALLS (WH_NETIF_WAITING + 5)

struct stub {
	struct rte_mempool *pool;
	struct cable cable;
	struct wh_netif netif[RIG_NETIF_QUEUES];
	struct wh_session *session[MAILBOX_CALLS];
	uint8_t *memory[MAILBOX_CALLS];
	uint32_t calls;
	uint64_t now;
};

void stub_open(struct stub *stub, uint16_t queues, enum wh_port_steering steering);
void stub_close(struct stub *stub);

/* A session to that peer begins: it says OPEN now, and again after 50, 100, 200, 400 ms. */
void stub_call(struct stub *stub, uint16_t queue, struct wh_address peer);

/* A frame comes in on that queue. */
void stub_put(struct stub *stub, uint16_t queue, const uint8_t *frame, size_t bytes);

/* 10.0.0.`last` says that it is at that MAC. */
void stub_answer(struct stub *stub, uint8_t last, const uint8_t mac[6]);

void stub_run(struct stub *stub, uint32_t turns_of_1ms);

/* Frames that came out of a queue. */
struct tally {
	uint32_t host;  /* ARP, ICMP, ICMPv6 */
	uint32_t udp;   /* from the queue's port */
	uint32_t right; /* of these, to that MAC */
};

struct tally stub_take(struct stub *stub, uint16_t queue, const uint8_t mac[6]);

/* So many came out of the queue, those of UDP all to that MAC. */
void stub_expect(
	struct stub *stub, uint16_t queue, const uint8_t mac[6], uint32_t host, uint32_t udp);
