/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A transmitter and a receiver that have been through their handshake, without endpoints. Payload
 * is virtual; the caller carries packets from one to the other.
 */

#include "session/session.h"
#include "wire/packet.h"

#define WH_RIG_SENDER_CID   5
#define WH_RIG_RECEIVER_CID 0x41

struct wh_rig_joined {
	struct wh_session_config config; /* of both */
	struct wh_session *sender;
	struct wh_session *receiver;
	bool closes;        /* after the last chunk comes the end of the stream */
	struct wh_fec *fec; /* NULL: without repair packets */
	uint64_t first_pn;
	uint64_t filled;    /* chunks */
	uint64_t delivered; /* likewise, each in its order */
	struct wh_chunk end;
	bool ended;
};

/* The config is filled in; the receiver's time is `now_tsc`, the sender's `accepted_tsc`. */
void wh_rig_joined_open(
	struct wh_rig_joined *joined, uint64_t now_tsc, uint64_t accepted_tsc, uint64_t rtt_tsc);

/* Checks both sessions; the receiver has seen no bad packet. */
void wh_rig_joined_close(struct wh_rig_joined *joined);

/* Gives the sender full chunks up to a total of `chunks`, and takes what has been delivered. */
void wh_rig_joined_serve(struct wh_rig_joined *joined, uint64_t chunks);

/* What a session has sent. */
struct wh_packet wh_rig_packet_read(const struct wh_out *out);

/* Whether it belongs to the handshake, which is over. */
static inline bool wh_rig_packet_opens(const struct wh_packet *packet)
{
	return packet->type == WH_PACKET_OPEN || packet->type == WH_PACKET_CONFIRM;
}
