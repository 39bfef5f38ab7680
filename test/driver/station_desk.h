/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_STATION_DESK_H
#define WH_TEST_STATION_DESK_H

/* A port whose other end is the test's, and a station on each queue, in virtual time. */

#include "station_rig.h"

#define DESK_CALLS (WH_STATION_WAITING + 3)

struct desk {
	struct rte_mempool *pool;
	struct cable cable;
	struct wh_station station[RIG_STATION_QUEUES];
	struct wh_session *session[DESK_CALLS];
	uint8_t *memory[DESK_CALLS];
	uint32_t calls;
	uint64_t now;
};

void desk_open(struct desk *desk, uint16_t queues, enum wh_port_steering steering);
void desk_close(struct desk *desk);

/* A session to that peer begins: it says OPEN now, and again after 50, 100, 200, 400 ms. */
void desk_call(struct desk *desk, uint16_t queue, struct wh_address peer);

/* A frame comes in on that queue. */
void desk_put(struct desk *desk, uint16_t queue, const uint8_t *frame, size_t bytes);

void desk_run(struct desk *desk, uint32_t turns_of_1ms);

/* Frames that came out of a queue. */
struct tally {
	uint32_t host;  /* ARP, ICMP, ICMPv6 */
	uint32_t udp;   /* from the queue's port */
	uint32_t right; /* of these, to that MAC */
};

struct tally desk_take(struct desk *desk, uint16_t queue, const uint8_t mac[6]);

/* So many came out of the queue, those of UDP all to that MAC. */
void desk_expect(
	struct desk *desk, uint16_t queue, const uint8_t mac[6], uint32_t host, uint32_t udp);

#endif
