/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "neighbour/neighbour.h"

/* Most errors in one turn: a flood of forged ones costs no more. */
#define WH_UDP_ERRORS_PER_TURN 8

/*
 * Reads a socket's error queue (IP_RECVERR, ip(7)): ICMP errors about packets to a peer of the list
 * are noted there, others are dropped.
 */
void wh_udp_errors_read(int fd, struct wh_neighbour_watch *list);
