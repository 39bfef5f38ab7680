/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_FIELDS_H
#define WH_WIRE_FIELDS_H

/*
 * Every number in a packet and its limits, once, private to lib/wire and its tests. Reading,
 * writing and judging are made of these lists, and so is the proof that each limit holds
 * (test/unit/limits.c): a field that is not here is not read.
 *
 * A list calls F(wire, part, member, least, most) for each member that a layout (layout.h) and a
 * part of struct wh_packet have in common, both by the same name. What fields mean for each other
 * is judged behind that (packet.c). Strings of bytes have no limits and are not here.
 */

#include "wire/packet.h"

#define WH_FIELD_ANY(F, wire, part, member)    F(wire, part, member, 0, UINT64_MAX)
#define WH_FIELD_SERIAL(F, wire, part, member) F(wire, part, member, 0, WH_SERIAL_MAX - 1)

#define WH_FIELDS_HEAD(F, wire, part)                                                              \
	WH_FIELD_ANY(F, wire, part, flags)                                                         \
	WH_FIELD_ANY(F, wire, part, lci)                                                           \
	WH_FIELD_SERIAL(F, wire, part, serial)

#define WH_FIELDS_DATA(F, wire, part)                                                              \
	WH_FIELD_SERIAL(F, wire, part, transmission)                                               \
	F(wire, part, chunk, 0, WH_CHUNK_NUMBER_MAX)                                               \
	WH_FIELD_ANY(F, wire, part, stamp_us)                                                      \
	WH_FIELD_ANY(F, wire, part, blocks)                                                        \
	F(wire, part, index, 0, WH_BLOCK_PACKETS_MAX - 1)                                          \
	F(wire, part, k, 1, WH_BLOCK_PACKETS_MAX)                                                  \
	F(wire, part, r, 0, WH_BLOCK_PACKETS_MAX - 1)                                              \
	F(wire, part, payload_bytes, 1, WH_PAYLOAD_BYTES_MAX)                                      \
	F(wire, part, last_bytes, 0, WH_PAYLOAD_BYTES_MAX)                                         \
	F(wire, part, code, 0, WH_FEC_CODES - 1)

/* The same members: read as data, and never without a code. */
#define WH_FIELDS_REPAIR(F, wire, part)                                                            \
	WH_FIELD_SERIAL(F, wire, part, transmission)                                               \
	F(wire, part, chunk, 0, WH_CHUNK_NUMBER_MAX)                                               \
	WH_FIELD_ANY(F, wire, part, stamp_us)                                                      \
	F(wire, part, blocks, 1, UINT16_MAX)                                                       \
	F(wire, part, index, 1, WH_BLOCK_PACKETS_MAX - 1)                                          \
	F(wire, part, k, 1, WH_BLOCK_PACKETS_MAX - 1)                                              \
	F(wire, part, r, 1, WH_BLOCK_PACKETS_MAX - 1)                                              \
	F(wire, part, payload_bytes, 1, WH_PAYLOAD_BYTES_MAX)                                      \
	F(wire, part, last_bytes, 1, WH_PAYLOAD_BYTES_MAX)                                         \
	F(wire, part, code, WH_FEC_NONE + 1, WH_FEC_CODES - 1)

#define WH_FIELDS_RCV_STATE(F, wire, part)                                                         \
	WH_FIELD_SERIAL(F, wire, part, lower)                                                      \
	WH_FIELD_SERIAL(F, wire, part, upper)                                                      \
	WH_FIELD_SERIAL(F, wire, part, highest_end)                                                \
	WH_FIELD_SERIAL(F, wire, part, cover_first)

#define WH_FIELDS_RCV_STATE_BODY(F, wire, part)                                                    \
	WH_FIELD_SERIAL(F, wire, part, cover_end)                                                  \
	WH_FIELD_ANY(F, wire, part, received_pkts)                                                 \
	WH_FIELD_ANY(F, wire, part, duplicate_pkts)                                                \
	WH_FIELD_ANY(F, wire, part, bad_pkts)                                                      \
	WH_FIELD_ANY(F, wire, part, chunk_upper)                                                   \
	WH_FIELD_ANY(F, wire, part, queued_chunks)                                                 \
	WH_FIELD_ANY(F, wire, part, buffer_chunks)                                                 \
	WH_FIELD_ANY(F, wire, part, arrival_pps)                                                   \
	WH_FIELD_ANY(F, wire, part, capacity_pps)                                                  \
	WH_FIELD_ANY(F, wire, part, rtt_us)                                                        \
	WH_FIELD_ANY(F, wire, part, rtt_var_us)                                                    \
	F(wire, part, n_holes, 0, WH_RANGES_MAX)

#define WH_FIELDS_LOSSES(F, wire, part)                                                            \
	WH_FIELD_ANY(F, wire, part, lost_pkts)                                                     \
	WH_FIELD_ANY(F, wire, part, loss_events)                                                   \
	WH_FIELD_ANY(F, wire, part, repaired_pkts)                                                 \
	WH_FIELD_ANY(F, wire, part, undecodable_blocks)

#define WH_FIELDS_TRANS_STATE(F, wire, part)                                                       \
	WH_FIELD_SERIAL(F, wire, part, lower)                                                      \
	WH_FIELD_SERIAL(F, wire, part, upper)                                                      \
	WH_FIELD_ANY(F, wire, part, sent_pkts)                                                     \
	WH_FIELD_ANY(F, wire, part, queued_pkts)                                                   \
	WH_FIELD_ANY(F, wire, part, stamp_us)

#define WH_FIELDS_ACK2(F, wire, part)                                                              \
	WH_FIELD_SERIAL(F, wire, part, ack_serial)                                                 \
	WH_FIELD_SERIAL(F, wire, part, lower)                                                      \
	WH_FIELD_ANY(F, wire, part, stamp_us)

#define WH_FIELDS_NAK(F, wire, part)                                                               \
	F(wire, part, base, 0, WH_SERIAL_MAX - 2)                                                  \
	F(wire, part, n_losses, 1, WH_RANGES_MAX)

#define WH_FIELDS_DELAY_WARNING(F, wire, part)                                                     \
	WH_FIELD_SERIAL(F, wire, part, highest_end)                                                \
	F(wire, part, pct_milli, 0, 1000)                                                          \
	F(wire, part, pdt_milli, 0, 1000)

#define WH_FIELDS_BITMAP(F, wire, part)                                                            \
	F(wire, part, first, 0, WH_SERIAL_MAX - 2)                                                 \
	F(wire, part, pkts, 1, WH_BITMAP_PKTS_MAX)

#define WH_FIELDS_PARAMS(F, wire, part)                                                            \
	F(wire, part, initiator_lci, 1, UINT32_MAX)                                                \
	F(wire, part, chunk_bytes, WH_CHUNK_BYTES_MIN, WH_CHUNK_BYTES_MAX)                         \
	F(wire, part, window_pkts, WH_WINDOW_PACKETS_MIN, WH_WINDOW_PACKETS_MAX)                   \
	F(wire, part, period_us, 1, WH_PERIOD_US_MAX)                                              \
	F(wire, part, first_serial, 0, WH_FIRST_SERIAL_MAX)                                        \
	WH_FIELD_ANY(F, wire, part, object_bytes)                                                  \
	F(wire, part, payload_bytes, WH_PAYLOAD_BYTES_MIN, WH_PAYLOAD_BYTES_MAX)                   \
	F(wire, part, name_bytes, 0, WH_NAME_BYTES_MAX)                                            \
	F(wire, part, n_options, 0, WH_OPEN_OPTIONS_MAX)                                           \
	WH_FIELD_ANY(F, wire, part, profile)                                                       \
	F(wire, part, recovery, 0, WH_RECOVERIES - 1)                                              \
	F(wire, part, repair_pkts, 0, WH_BLOCK_PACKETS_MAX - 1)                                    \
	WH_FIELD_ANY(F, wire, part, initiator_token)

#define WH_FIELDS_OPEN(F, wire, part) WH_FIELD_ANY(F, wire, part, stamp_us)

#define WH_FIELDS_ACCEPT(F, wire, part)                                                            \
	WH_FIELD_ANY(F, wire, part, acceptor_lci)                                                  \
	WH_FIELD_ANY(F, wire, part, stamp_us)                                                      \
	WH_FIELD_ANY(F, wire, part, buffer_chunks)                                                 \
	F(wire, part, refused, 0, WH_STATUSES - 1)

#define WH_FIELDS_CONFIRM(F, wire, part) F(wire, part, acceptor_lci, 1, UINT32_MAX)

#define WH_FIELDS_RELEASE(F, wire, part)                                                           \
	F(wire, part, chunks, 0, (uint64_t)WH_CHUNK_NUMBER_MAX + 1)                                \
	WH_FIELD_ANY(F, wire, part, total_bytes)                                                   \
	WH_FIELD_SERIAL(F, wire, part, serial_end)                                                 \
	F(wire, part, stage, WH_RELEASE_REQUEST, WH_RELEASE_STAGES - 1)                            \
	F(wire, part, status, 0, WH_STATUSES - 1)

#define WH_FIELDS_PROBE(F, wire, part)                                                             \
	WH_FIELD_ANY(F, wire, part, stamp_ns)                                                      \
	WH_FIELD_ANY(F, wire, part, made_us)                                                       \
	F(wire, part, index, 0, WH_PROBE_PKTS_MAX - 1)                                             \
	F(wire, part, count, 1, WH_PROBE_PKTS_MAX)                                                 \
	F(wire, part, padding_bytes, 0, WH_PAYLOAD_BYTES_MAX)                                      \
	WH_FIELD_ANY(F, wire, part, train)

#define WH_FIELDS_PROBE_ANSWER(F, wire, part)                                                      \
	WH_FIELD_ANY(F, wire, part, stamp_ns)                                                      \
	F(wire, part, index, 0, WH_PROBE_PKTS_MAX - 1)                                             \
	F(wire, part, total, 0, WH_PROBE_PKTS_MAX)                                                 \
	WH_FIELD_ANY(F, wire, part, heard)                                                         \
	WH_FIELD_ANY(F, wire, part, train)                                                         \
	F(wire, part, n_words, 0, WH_PROBE_WORDS_MAX)                                              \
	F(wire, part, status, 0, WH_STATUSES - 1)

#endif
