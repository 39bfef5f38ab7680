/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Every number in a packet with its limits, in one place, private to lib/wire and its tests. These
 * lists check packets. test/unit/wire/limits.c proves by them that each limit is enforced and that
 * each byte belongs to a field.
 *
 * A list calls F(part, member, least, most) for each member of a part of struct wh_packet, in wire
 * order. Conditions between fields are checked afterwards (packet.c). Byte strings have no limits
 * and are not listed.
 */

#include "wire/packet.h"

#define WH_FIELD_ANY(F, part, member) F(part, member, 0, UINT64_MAX)
#define WH_FIELD_PN(F, part, member)  F(part, member, 0, WH_PN_MAX - 1)

#define WH_FIELDS_HEAD(F, part)                                                                    \
	WH_FIELD_ANY(F, part, flags)                                                               \
	WH_FIELD_ANY(F, part, cid)                                                                 \
	WH_FIELD_PN(F, part, pn)

#define WH_FIELDS_DATA(F, part)                                                                    \
	WH_FIELD_PN(F, part, transmission)                                                         \
	F(part, chunk, 0, WH_CHUNK_NUMBER_MAX)                                                     \
	WH_FIELD_ANY(F, part, stamp)                                                               \
	WH_FIELD_ANY(F, part, blocks)                                                              \
	F(part, index, 0, WH_BLOCK_PACKETS_MAX - 1)                                                \
	F(part, k, 1, WH_BLOCK_PACKETS_MAX)                                                        \
	F(part, r, 0, WH_BLOCK_PACKETS_MAX - 1)                                                    \
	F(part, payload_bytes, 1, WH_PAYLOAD_BYTES_MAX)                                            \
	F(part, last_bytes, 0, WH_PAYLOAD_BYTES_MAX)                                               \
	WH_FIELD_ANY(F, part, order)                                                               \
	F(part, code, 0, WH_FEC_CODES - 1)

/* Repair has the members of data, decoded alike, but always with a code. */
#define WH_FIELDS_REPAIR(F, part)                                                                  \
	WH_FIELD_PN(F, part, transmission)                                                         \
	F(part, chunk, 0, WH_CHUNK_NUMBER_MAX)                                                     \
	WH_FIELD_ANY(F, part, stamp)                                                               \
	F(part, blocks, 1, UINT16_MAX)                                                             \
	F(part, index, 1, WH_BLOCK_PACKETS_MAX - 1)                                                \
	F(part, k, 1, WH_BLOCK_PACKETS_MAX - 1)                                                    \
	F(part, r, 1, WH_BLOCK_PACKETS_MAX - 1)                                                    \
	F(part, payload_bytes, 1, WH_PAYLOAD_BYTES_MAX)                                            \
	F(part, last_bytes, 1, WH_PAYLOAD_BYTES_MAX)                                               \
	WH_FIELD_ANY(F, part, order)                                                               \
	F(part, code, WH_FEC_NONE + 1, WH_FEC_CODES - 1)

#define WH_FIELDS_RCV_REPORT(F, part)                                                              \
	WH_FIELD_PN(F, part, lower)                                                                \
	WH_FIELD_PN(F, part, upper)                                                                \
	WH_FIELD_PN(F, part, highest_end)                                                          \
	WH_FIELD_PN(F, part, cover_first)

#define WH_FIELDS_RCV_REPORT_BODY(F, part)                                                         \
	WH_FIELD_PN(F, part, cover_end)                                                            \
	WH_FIELD_ANY(F, part, received_pkts)                                                       \
	WH_FIELD_ANY(F, part, duplicate_pkts)                                                      \
	WH_FIELD_ANY(F, part, bad_pkts)                                                            \
	WH_FIELD_ANY(F, part, chunk_upper)                                                         \
	WH_FIELD_ANY(F, part, queued_chunks)                                                       \
	WH_FIELD_ANY(F, part, buffer_chunks)                                                       \
	WH_FIELD_ANY(F, part, arrival_pps)                                                         \
	WH_FIELD_ANY(F, part, capacity_pps)                                                        \
	WH_FIELD_ANY(F, part, rtt_us)                                                              \
	WH_FIELD_ANY(F, part, rtt_var_us)                                                          \
	F(part, n_holes, 0, WH_RANGES_MAX)

#define WH_FIELDS_LOSSES(F, part)                                                                  \
	WH_FIELD_ANY(F, part, lost_pkts)                                                           \
	WH_FIELD_ANY(F, part, loss_events)                                                         \
	WH_FIELD_ANY(F, part, repaired_pkts)                                                       \
	WH_FIELD_ANY(F, part, undecodable_blocks)

#define WH_FIELDS_DELIVERY(F, part)                                                                \
	WH_FIELD_ANY(F, part, delivered_pkts)                                                      \
	F(part, seen_end, 0, WH_PN_MAX)                                                            \
	WH_FIELD_ANY(F, part, stamp)                                                               \
	WH_FIELD_ANY(F, part, held)                                                                \
	WH_FIELD_ANY(F, part, arrived)                                                             \
	WH_FIELD_ANY(F, part, span)                                                                \
	WH_FIELD_ANY(F, part, span_pkts)                                                           \
	WH_FIELD_ANY(F, part, least_delay)                                                         \
	WH_FIELD_ANY(F, part, late)                                                                \
	WH_FIELD_ANY(F, part, retransmitted_pkts)

#define WH_FIELDS_TRANS_REPORT(F, part)                                                            \
	WH_FIELD_PN(F, part, lower)                                                                \
	WH_FIELD_PN(F, part, upper)                                                                \
	WH_FIELD_ANY(F, part, heard_end)                                                           \
	WH_FIELD_ANY(F, part, queued_pkts)                                                         \
	WH_FIELD_ANY(F, part, held_us)

#define WH_FIELDS_ACK2(F, part)                                                                    \
	WH_FIELD_PN(F, part, ack_pn)                                                               \
	WH_FIELD_PN(F, part, lower)                                                                \
	WH_FIELD_ANY(F, part, stamp_us)

#define WH_FIELDS_NAK(F, part)                                                                     \
	F(part, base, 0, WH_PN_MAX - 2)                                                            \
	F(part, n_losses, 1, WH_RANGES_MAX)

#define WH_FIELDS_DELAY_WARNING(F, part)                                                           \
	WH_FIELD_PN(F, part, highest_end)                                                          \
	F(part, pct_milli, 0, 1000)                                                                \
	F(part, pdt_milli, 0, 1000)

#define WH_FIELDS_BITMAP(F, part)                                                                  \
	F(part, first, 0, WH_PN_MAX - 2)                                                           \
	F(part, pkts, 1, WH_BITMAP_PKTS_MAX)

#define WH_FIELDS_PARAMS(F, part)                                                                  \
	F(part, initiator_cid, 1, UINT32_MAX)                                                      \
	F(part, chunk_bytes, WH_CHUNK_BYTES_MIN, WH_CHUNK_BYTES_MAX)                               \
	F(part, window_pkts, WH_WINDOW_PACKETS_MIN, WH_WINDOW_PACKETS_MAX)                         \
	F(part, period_us, 1, WH_PERIOD_US_MAX)                                                    \
	F(part, first_pn, 0, WH_FIRST_PN_MAX)                                                      \
	WH_FIELD_ANY(F, part, object_bytes)                                                        \
	F(part, payload_bytes, WH_PAYLOAD_BYTES_MIN, WH_PAYLOAD_BYTES_MAX)                         \
	F(part, name_bytes, 0, WH_NAME_BYTES_MAX)                                                  \
	F(part, n_options, 0, WH_OPEN_OPTIONS_MAX)                                                 \
	WH_FIELD_ANY(F, part, profile)                                                             \
	F(part, recovery, 0, WH_RECOVERIES - 1)                                                    \
	F(part, repair_pkts, 0, WH_BLOCK_PACKETS_MAX - 1)                                          \
	WH_FIELD_ANY(F, part, initiator_token)                                                     \
	WH_FIELD_ANY(F, part, reply_cid)

#define WH_FIELDS_OPEN(F, part)                                                                    \
	WH_FIELD_ANY(F, part, stamp_us)                                                            \
	WH_FIELD_ANY(F, part, answer_cid)

#define WH_FIELDS_ACCEPT(F, part)                                                                  \
	WH_FIELD_ANY(F, part, acceptor_cid)                                                        \
	WH_FIELD_ANY(F, part, stamp_us)                                                            \
	WH_FIELD_ANY(F, part, buffer_chunks)                                                       \
	F(part, refused, 0, WH_STATUSES - 1)

#define WH_FIELDS_CONFIRM(F, part) F(part, acceptor_cid, 1, UINT32_MAX)

#define WH_FIELDS_RELEASE(F, part)                                                                 \
	F(part, chunks, 0, (uint64_t)WH_CHUNK_NUMBER_MAX + 1)                                      \
	WH_FIELD_ANY(F, part, total_bytes)                                                         \
	WH_FIELD_PN(F, part, pn_end)                                                               \
	F(part, stage, WH_RELEASE_REQUEST, WH_RELEASE_STAGES - 1)                                  \
	F(part, status, 0, WH_STATUSES - 1)

#define WH_FIELDS_PROBE(F, part)                                                                   \
	WH_FIELD_ANY(F, part, stamp_ns)                                                            \
	WH_FIELD_ANY(F, part, made_us)                                                             \
	F(part, index, 0, WH_PROBE_PKTS_MAX - 1)                                                   \
	F(part, count, 1, WH_PROBE_PKTS_MAX)                                                       \
	F(part, padding_bytes, 0, WH_PAYLOAD_BYTES_MAX)                                            \
	WH_FIELD_ANY(F, part, train)                                                               \
	WH_FIELD_ANY(F, part, sa)

#define WH_FIELDS_PROBE_ANSWER(F, part)                                                            \
	WH_FIELD_ANY(F, part, stamp_ns)                                                            \
	F(part, index, 0, WH_PROBE_PKTS_MAX - 1)                                                   \
	F(part, total, 0, WH_PROBE_PKTS_MAX)                                                       \
	WH_FIELD_ANY(F, part, heard)                                                               \
	WH_FIELD_ANY(F, part, train)                                                               \
	F(part, n_words, 0, WH_PROBE_WORDS_MAX)                                                    \
	F(part, status, 0, WH_STATUSES - 1)

#define WH_FIELDS_PATH(F, part) WH_FIELD_ANY(F, part, token)

#define WH_FIELDS_ASK(F, part)    WH_FIELD_ANY(F, part, handshake)
#define WH_FIELDS_COOKIE(F, part) WH_FIELD_ANY(F, part, handshake)

#define WH_FIELDS_CRYPTO(F, part)                                                                  \
	WH_FIELD_ANY(F, part, handshake)                                                           \
	F(part, offset, 0, WH_CRYPTO_STREAM_MAX)                                                   \
	F(part, acked, 0, WH_CRYPTO_STREAM_MAX)

#define WH_FIELDS_CRYPTO_BODY(F, part)                                                             \
	F(part, bytes, 0, WH_CRYPTO_BYTES_MAX)                                                     \
	F(part, padding_bytes, 0, WH_CRYPTO_BYTES_MAX)
