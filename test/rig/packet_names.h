/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/assert.h"
#include "wire/packet.h"

static inline const char *wh_rig_packet_name(enum wh_packet_type type)
{
	static const char *const names[WH_PACKET_TYPES] = {
		[WH_PACKET_DATA] = "data",
		[WH_PACKET_REPAIR] = "repair",
		[WH_PACKET_RCV_REPORT] = "rcv-report",
		[WH_PACKET_TRANS_REPORT] = "trans-report",
		[WH_PACKET_ACK2] = "ack2",
		[WH_PACKET_NAK] = "nak",
		[WH_PACKET_DELAY_WARNING] = "delay-warning",
		[WH_PACKET_OPEN] = "open",
		[WH_PACKET_ACCEPT] = "accept",
		[WH_PACKET_CONFIRM] = "confirm",
		[WH_PACKET_RELEASE] = "release",
		[WH_PACKET_BITMAP] = "bitmap",
		[WH_PACKET_PROBE] = "probe",
		[WH_PACKET_PROBE_ANSWER] = "probe-answer",
		[WH_PACKET_ASK] = "ask",
		[WH_PACKET_COOKIE] = "cookie",
		[WH_PACKET_CRYPTO] = "crypto",
		[WH_PACKET_PATH] = "path",
	};

	WH_ASSERT(type > 0 && type < WH_PACKET_TYPES);
	return names[type];
}
