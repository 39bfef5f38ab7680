/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A host's duties on its link: ARP (RFC 826, RFC 5227), neighbour discovery (RFC 4861) and echo
 * (RFC 792, RFC 4443). It asks and answers, and looks up the MAC for a peer on the subnet or behind
 * the gateway.
 *
 * Sans-I/O: frames and the time go in, frames and the next deadline come out. Nothing is allocated
 * after init. Frames have an 802.1Q tag if a VLAN is configured. Input is refused with a named
 * reason unless every field is right. Output is never fragmented.
 *
 * States of a neighbour:
 *
 *   incomplete  asked by broadcast or multicast once a second, three times
 *   reachable   it has answered; for 5 s lookups ask no question, then the next lookup asks
 *   probe       in use while it is asked: three times by unicast in 1.5 s, then as incomplete
 *   failed      no answer; lookups fail for 250 ms, then the next one asks again
 *
 * A question counts as one of these three only if its answer would have been received. If frames
 * were missed while we waited, it is repeated, up to twelve times.
 *
 * Input never creates an entry. Only our own lookups do, and they displace the entry that was not
 * looked up for the longest time. Answering another host's question changes no state.
 *
 * Only the answer to a question of ours changes an entry. It must come from the known MAC, or from
 * another one after the known MAC did not answer unicast questions. If another MAC claims the
 * address, the known one is asked; if it answers, the conflict is reported. So a real move
 * (failover of a NIC or a router) is found within seconds, announced or not, while a false claim
 * changes nothing. ARP and NDP have no defence against an attacker who answers first while no MAC
 * is known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fifo.h"
#include "wire/encap.h"

#define WH_NEIGHBOUR_ENTRIES_MAX 8192

/*
 * Room for waiting answers. Echo may use half of it, so that it displaces nothing else. Strangers'
 * questions may use three quarters, so that peers are always answered.
 */
#define WH_NEIGHBOUR_ANSWERS 16

/* Our addresses: IPv4, link-local, IPv6. Our multicast groups: all nodes, one per IPv6 address. */
#define WH_NEIGHBOUR_OWN_MAX    3
#define WH_NEIGHBOUR_GROUPS_MAX 3

/* RFC 4861 10: questions by multicast or broadcast, and the pause between them. */
#define WH_NEIGHBOUR_ASKS      3
#define WH_NEIGHBOUR_REPEAT_MS 1000

/* Pause between unicast questions. */
#define WH_NEIGHBOUR_PROBE_MS 500

/* After this time a peer's MAC is checked again, since it may have moved. */
#define WH_NEIGHBOUR_FRESH_MS 5000

/* Most repeats of questions because frames were missed. */
#define WH_NEIGHBOUR_REPLACED 12

/* RFC 5227 1.1: announcements, and how often an address is defended. */
#define WH_NEIGHBOUR_ANNOUNCES   2
#define WH_NEIGHBOUR_ANNOUNCE_MS 2000
#define WH_NEIGHBOUR_DEFEND_MS   10000

/*
 * Lookups of a neighbour that did not answer fail for this long; then the next one asks again. It
 * is short, since after an outage a transfer waits for this, too.
 */
#define WH_NEIGHBOUR_FAILED_MS 250

/*
 * Answers per second: so many to ARP and neighbour solicitations of strangers, as many to those of
 * known peers, and as many to echo requests.
 */
#define WH_NEIGHBOUR_ANSWERS_PER_S 1000

/*
 * Most answers per second, to strangers and to echo, that one MAC gets, ten of them in a burst. So
 * a flood from one MAC leaves answers for others. MACs are hashed into buckets, which some share.
 */
#define WH_NEIGHBOUR_SOURCE_PER_S 100
#define WH_NEIGHBOUR_SOURCES      256

/* Timeout of an echo: longer than the round trip of any path on Earth. */
#define WH_NEIGHBOUR_ECHO_MS 1000

#define WH_NEIGHBOUR_MTU_MAX 32000

/* Result for a received frame. */
enum wh_neighbour_reason {
	WH_NEIGHBOUR_OK = 0,
	WH_NEIGHBOUR_SHORT,      /* shorter than its headers */
	WH_NEIGHBOUR_VLAN,       /* wrong VLAN: a tag too many, missing or different */
	WH_NEIGHBOUR_TYPE,       /* neither ARP nor IP, or IP of a family that we do not use */
	WH_NEIGHBOUR_SOURCE_MAC, /* zero, multicast, or our own */
	WH_NEIGHBOUR_NOT_OURS,   /* to another MAC or IP address, or asks for another's */
	WH_NEIGHBOUR_TARGET_MAC, /* a multicast MAC that does not match protocol or IP target */
	WH_NEIGHBOUR_ARP_HEAD,   /* not IPv4 over Ethernet, or neither request nor reply */
	WH_NEIGHBOUR_ARP_SENDER, /* not a host's address */
	WH_NEIGHBOUR_IP_HEAD,    /* version, options, lengths or header sum */
	WH_NEIGHBOUR_FRAGMENT,
	WH_NEIGHBOUR_IP_SOURCE, /* not a host's address, or ours */
	WH_NEIGHBOUR_PROTOCOL,  /* not ICMP of its family; or has extension headers */
	WH_NEIGHBOUR_TOO_LONG,  /* longer than our MTU */
	WH_NEIGHBOUR_ICMP_SUM,
	WH_NEIGHBOUR_ICMP_TYPE,  /* type or code that is not handled */
	WH_NEIGHBOUR_HOP_LIMIT,  /* neighbour discovery from beyond the link: RFC 4861 7.1 */
	WH_NEIGHBOUR_NDP_OPTION, /* length, or the MAC address in it */
	WH_NEIGHBOUR_NDP_RULE,   /* inconsistent addresses, flags and options: 7.1 */
	WH_NEIGHBOUR_CONFLICT,   /* another host claims an address of ours */
	WH_NEIGHBOUR_CONTESTED,  /* claims a peer's address for a MAC other than the known one */
	WH_NEIGHBOUR_NOT_ASKED,  /* about a host that we did not ask for; unexpected echo reply */
	WH_NEIGHBOUR_LIMITED,    /* exceeds the rate limit of answers */
	WH_NEIGHBOUR_NO_ROOM,    /* too many waiting answers */
	WH_NEIGHBOUR_REASONS,
};

/* For counters and logs. */
const char *wh_neighbour_reason_name(enum wh_neighbour_reason reason);

/* Result of looking up a peer. */
enum wh_neighbour_result {
	WH_NEIGHBOUR_FOUND = 0,
	WH_NEIGHBOUR_ASKED,      /* not known yet: look it up again */
	WH_NEIGHBOUR_SILENT,     /* no answer from the peer, or from the gateway to it */
	WH_NEIGHBOUR_NO_GATEWAY, /* off the subnet, and no gateway is configured */
	WH_NEIGHBOUR_NO_ADDRESS, /* we have no address of that family */
	WH_NEIGHBOUR_NO_HOST,    /* multicast, broadcast, not a host's address, or our own */
	WH_NEIGHBOUR_RESULTS,
};

/* To be printed after "no route to HOST: ". */
const char *wh_neighbour_result_name(enum wh_neighbour_result result);

/* IP addresses here are in network order, an IPv4 address in the first four bytes. */
struct wh_neighbour_subnet {
	uint8_t ip[16];      /* our address */
	uint8_t prefix_bits; /* 0: we have no address of this family */
	uint8_t gateway[16]; /* zeros: none */
};

struct wh_neighbour_config {
	uint64_t hz;
	uint32_t entries; /* 1 to WH_NEIGHBOUR_ENTRIES_MAX: most peers at once */
	uint16_t mtu;
	uint16_t vlan; /* 0: none; otherwise frames are sent with a tag, and expected with one */
	uint8_t mac[6];
	bool macs_made_up; /* each process of the peer invents a MAC: a move is no conflict */
	struct wh_neighbour_subnet ipv4;
	struct wh_neighbour_subnet ipv6; /* in addition to the link-local address of the MAC */
};

enum wh_neighbour_state {
	WH_NEIGHBOUR_FREE = 0,
	WH_NEIGHBOUR_INCOMPLETE,
	WH_NEIGHBOUR_REACHABLE,
	WH_NEIGHBOUR_PROBE,
	WH_NEIGHBOUR_FAILED,
};

struct wh_neighbour_entry {
	struct wh_address address; /* port 0 */
	uint8_t mac[6];            /* valid if reachable or probe */
	uint8_t claimant[6];       /* another MAC that claims the address; zeros: none */
	uint8_t state;             /* enum wh_neighbour_state */
	uint8_t asks;              /* incomplete, probe: questions sent */
	uint8_t replaced;          /* incomplete, probe: repeats because frames were missed */
	uint16_t next;             /* next entry of the same hash, from 1 on; 0: none */
	uint64_t wanted_tsc;       /* last lookup */
	uint64_t asked_until_tsc;  /* no new series of questions before */
	uint64_t due_tsc;          /* incomplete, probe: next question, or failure */
	uint64_t until_tsc;        /* reachable, failed: end of that state */
};

enum wh_neighbour_quarrel {
	WH_NEIGHBOUR_QUARREL_OURS = 0, /* another host uses an address of ours */
	WH_NEIGHBOUR_QUARREL_PEERS,    /* another MAC claims a peer's address */
	WH_NEIGHBOUR_QUARREL_MOVED,    /* a peer no longer answers at one MAC, but at another */
	WH_NEIGHBOUR_QUARRELS,
};

struct wh_neighbour_conflict {
	uint8_t quarrel;           /* enum wh_neighbour_quarrel */
	struct wh_address address; /* port 0 */
	uint8_t mac[6];            /* of the other host; moved: the new one */
	uint8_t known_mac[6];      /* peers: the one in use; moved: the old one */
};

enum wh_neighbour_echo_state {
	WH_NEIGHBOUR_ECHO_NONE = 0,
	WH_NEIGHBOUR_ECHO_WAITS, /* to be sent, perhaps after resolving the MAC */
	WH_NEIGHBOUR_ECHO_SENT,
	WH_NEIGHBOUR_ECHO_ANSWERED,
	WH_NEIGHBOUR_ECHO_LOST,   /* no answer in time */
	WH_NEIGHBOUR_ECHO_UNSENT, /* never sent: see `result` */
};

struct wh_neighbour_echo {
	uint8_t state;            /* enum wh_neighbour_echo_state */
	uint8_t result;           /* enum wh_neighbour_result, at the last attempt */
	uint16_t sequence;        /* of the last request */
	uint32_t ip_bytes;        /* of the packet, including its IP header */
	struct wh_address target; /* port 0 */
	uint64_t sent_tsc;
	uint64_t due_tsc; /* waits: next attempt; sent: timeout */
	uint64_t rtt_tsc; /* answered */
};

/* A host's UDP ports are consecutive, one per queue, at most this many. */
#define WH_NEIGHBOUR_PORTS_MAX 16

/* ICMP errors about our packets to a watched peer. */
enum wh_neighbour_error {
	WH_NEIGHBOUR_ERROR_NONE = 0,
	WH_NEIGHBOUR_ERROR_PORT,        /* no such UDP port there */
	WH_NEIGHBOUR_ERROR_PROHIBITED,  /* filtered by a firewall */
	WH_NEIGHBOUR_ERROR_UNREACHABLE, /* no route to its network or to itself */
	WH_NEIGHBOUR_ERROR_TOO_BIG,     /* larger than the MTU of a link on the path */
};

/* Of an ICMP error's type and code. */
enum wh_neighbour_error wh_neighbour_error_of(uint8_t family, uint8_t type, uint8_t code);

/* A hint for the operator only: anybody who guesses our ports can forge it, and it ends nothing. */
struct wh_neighbour_watch {
	struct wh_neighbour_watch *next;
	struct wh_address peer; /* with its first port, which equals our first one */
	uint8_t error;          /* enum wh_neighbour_error: the last one */
	struct wh_address from; /* sender of the error; port 0 */
	uint32_t mtu_bytes;     /* too big: that link's MTU; 0: unknown */
	uint64_t errors;
};

struct wh_neighbour_stats {
	uint64_t input_pkts[WH_NEIGHBOUR_REASONS];
	uint64_t answered_pkts;
	uint64_t asked_pkts;
	uint64_t announced_pkts;
	uint64_t replaced; /* entries displaced by others */
	uint64_t moved;    /* peers found at a new MAC */
};

struct wh_neighbour {
	struct wh_neighbour_config config;
	struct wh_address own[WH_NEIGHBOUR_OWN_MAX]; /* port 0 */
	uint32_t owns;
	uint8_t link_local[16]; /* with IPv6; contained in own[], too */
	uint32_t frame_bytes_max;
	struct wh_neighbour_entry *entry; /* config.entries of them */
	uint16_t *bucket;                 /* by hash: first entry, from 1 on; 0: none */
	uint32_t buckets;                 /* a power of two */
	uint64_t ask_tsc;                 /* no entry is due before */
	uint64_t missed_tsc;              /* when frames were last missed; 0: never */
	struct wh_slot_fifo answers;
	uint64_t stranger_paid_tsc; /* rate limit: answers given have used the time up to this */
	uint64_t known_paid_tsc;
	uint64_t echo_paid_tsc;
	uint64_t source_paid_tsc[WH_NEIGHBOUR_SOURCES];
	uint64_t announce_tsc;
	uint32_t announce_rounds;
	uint32_t announce_next; /* index into own[] in this round */
	struct wh_neighbour_echo echo;
	uint64_t echo_wait_tsc;           /* timeout of an echo; WH_NEIGHBOUR_ECHO_MS unless set */
	struct wh_neighbour_watch *watch; /* list of watched peers */
	const struct wh_mtu_proof *proof; /* owner of the echo; NULL: none */
	struct wh_neighbour_conflict conflict[WH_NEIGHBOUR_QUARRELS];
	bool conflict_news[WH_NEIGHBOUR_QUARRELS];
	uint64_t conflict_quiet_tsc[WH_NEIGHBOUR_QUARRELS]; /* until then none is reported */
	struct wh_neighbour_stats stats;
};

/* NULL, or what is wrong with the addresses, as a sentence for the operator. */
const char *wh_neighbour_config_wrong(const struct wh_neighbour_config *config);

/* For a config that passes wh_neighbour_config_wrong: 0 or -ENOMEM. */
int wh_neighbour_init(struct wh_neighbour *neighbour, const struct wh_neighbour_config *config);
void wh_neighbour_free(struct wh_neighbour *neighbour);

/* Multicast MACs that the port must accept; returns their number. */
uint32_t wh_neighbour_groups(
	const struct wh_neighbour *neighbour, uint8_t macs[WH_NEIGHBOUR_GROUPS_MAX][6]);

/*
 * Announces our addresses on the link, twice: at the start, and after the link has come up again.
 */
void wh_neighbour_announce(struct wh_neighbour *neighbour, uint64_t now_tsc);

/* Processes any received frame; counted by its result. */
enum wh_neighbour_reason wh_neighbour_input(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const uint8_t *frame, size_t frame_bytes);

/* Reports that frames, perhaps an answer among them, were missed at that time; 0: never. */
static inline void wh_neighbour_missed(struct wh_neighbour *neighbour, uint64_t missed_tsc)
{
	neighbour->missed_tsc = missed_tsc;
}

/*
 * FOUND: writes the MAC for that target, whose port is ignored. While sending to the target call
 * this at least every few seconds, since lookups keep the entry up to date.
 */
enum wh_neighbour_result wh_neighbour_lookup(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target, uint8_t mac[6]);

/*
 * Whether an answer to a packet may be sent to the address and MAC that it came from; keeps no
 * state. The address must be a host's, not ours, and reachable on the link or by a gateway. The MAC
 * must be unicast, and not ours.
 */
bool wh_neighbour_may_answer(
	const struct wh_neighbour *neighbour, const struct wh_address *to, const uint8_t mac[6]);

/*
 * Writes the next frame to send, into at least frame_bytes_max bytes of room; returns its length,
 * 0: none now. Frames have 60 bytes or more, without the check sequence.
 */
size_t wh_neighbour_output(
	struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame, size_t room);

/*
 * When output is due next; 0: at once. It is never too late, but may be too early after an answer.
 * Input, lookup and ask_echo may bring it forward.
 */
uint64_t wh_neighbour_deadline(const struct wh_neighbour *neighbour);

/*
 * Sends one echo request in an IP packet of ip_bytes (up to the MTU, never fragmented, so that it
 * also tests a path's MTU); the result is in neighbour->echo. 0, -EBUSY while another is running,
 * or -EMSGSIZE.
 */
int wh_neighbour_ask_echo(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target, uint32_t ip_bytes);

/*
 * From now on `watch` records ICMP errors about packets to that peer, to its port and the next few.
 * `watch` is the caller's and must stay as long as the neighbour.
 */
void wh_neighbour_watch(struct wh_neighbour *neighbour, struct wh_neighbour_watch *watch,
	const struct wh_address *peer);

/* True once for each conflict to report: at most one of a kind per WH_NEIGHBOUR_DEFEND_MS. */
bool wh_neighbour_take_conflict(
	struct wh_neighbour *neighbour, struct wh_neighbour_conflict *conflict);
