/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_NEIGHBOUR_NEIGHBOUR_H
#define WH_NEIGHBOUR_NEIGHBOUR_H

/*
 * What a host owes its link besides its own packets: ARP (RFC 826, RFC 5227), neighbour
 * discovery (RFC 4861) and echo (RFC 792, RFC 4443), answered and asked; and the MAC address to
 * send to for a peer on the subnet or behind the gateway.
 *
 * Sans-I/O: frames and the time go in, frames and the next deadline come out; nothing is
 * allocated after init. Frames carry a tag of 802.1Q where a VLAN is configured. What comes in is
 * refused with a named reason unless every field is right; what goes out is never a fragment.
 *
 * How a neighbour is known:
 *
 *   incomplete  asked of all of the link once a second, three times
 *   reachable   it answered us; used for 5 s without a question, then the next use asks
 *   probe       used and being asked: itself three times in 1.5 s, then three times all of the link
 *   failed      nobody answered; lookups say so for 5 s, then the next one asks again
 *
 * A question is one of these three if its answer would have been heard: where frames were missed
 * while it was waited for, it is asked again in its place, up to twelve times.
 *
 * Nothing that others send makes an entry: our own lookups do, and displace the one that was not
 * looked up for the longest time. Answers to what others ask go back to who asked, and leave
 * nothing behind.
 *
 * Nor does anything move an entry but the answer to a question of ours: from the MAC that is known,
 * or from another once that one was silent when it was asked alone. A claim of another MAC has the
 * known one asked, and is told. So a true move (a NIC that took over, a router's standby) is found
 * within seconds, whether announced or not, and who merely says to be the peer changes nothing.
 * Against one who answers first, when nobody is known yet, ARP and NDP have no remedy.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fifo.h"
#include "wire/encap.h"

#define WH_NEIGHBOUR_ENTRIES_MAX 8192

/*
 * Answers that wait to be sent; echo may fill half of them, so that it displaces no other, and
 * strangers' questions three quarters, so that peers are answered.
 */
#define WH_NEIGHBOUR_ANSWERS 16

#define WH_NEIGHBOUR_OWN_MAX    3 /* addresses of ours: IPv4, link-local, IPv6 */
#define WH_NEIGHBOUR_GROUPS_MAX 3 /* all nodes, and one per IPv6 address */

/* RFC 4861 10, and RFC 5227 1.1 for announcements and conflicts. */
#define WH_NEIGHBOUR_ASKS        3
#define WH_NEIGHBOUR_REPEAT_MS   1000
#define WH_NEIGHBOUR_PROBE_MS    500  /* between questions to a neighbour alone */
#define WH_NEIGHBOUR_FRESH_MS    5000 /* without news of a peer's, for it may have moved */
#define WH_NEIGHBOUR_REPLACED    12   /* questions, at most, since frames were missed */
#define WH_NEIGHBOUR_ANNOUNCES   2
#define WH_NEIGHBOUR_ANNOUNCE_MS 2000
#define WH_NEIGHBOUR_DEFEND_MS   10000

#define WH_NEIGHBOUR_FAILED_MS 5000

/*
 * Answers per second to ARP and neighbour solicitations of strangers, as many to those of who is
 * in the table, and as many to echo requests.
 */
#define WH_NEIGHBOUR_ANSWERS_PER_S 1000

/*
 * And of those of strangers, and of echo, as many to one MAC, ten of them at once: who asks all the
 * time leaves answers to others. Some sources share a place, by their hash.
 */
#define WH_NEIGHBOUR_SOURCE_PER_S 100
#define WH_NEIGHBOUR_SOURCES      256

/* How long an echo is waited for, from when it went: no path on Earth is as long. */
#define WH_NEIGHBOUR_ECHO_MS 1000

#define WH_NEIGHBOUR_MTU_MAX 32000

/* What became of a frame that came in. */
enum wh_neighbour_reason {
	WH_NEIGHBOUR_OK = 0,
	WH_NEIGHBOUR_SHORT,      /* ends before its headers do */
	WH_NEIGHBOUR_VLAN,       /* of another VLAN: a tag too many, missing or different */
	WH_NEIGHBOUR_TYPE,       /* neither ARP nor IP, or IP of a family that we have not */
	WH_NEIGHBOUR_SOURCE_MAC, /* zero, a group's, or our own */
	WH_NEIGHBOUR_NOT_OURS,   /* to another MAC or IP address, or asks for another's */
	WH_NEIGHBOUR_TARGET_MAC, /* a group's that does not go with the protocol or the IP target */
	WH_NEIGHBOUR_ARP_HEAD,   /* not IPv4 over Ethernet, or neither request nor reply */
	WH_NEIGHBOUR_ARP_SENDER, /* no host's address */
	WH_NEIGHBOUR_IP_HEAD,    /* version, options, lengths or header sum */
	WH_NEIGHBOUR_FRAGMENT,
	WH_NEIGHBOUR_IP_SOURCE, /* no host's address, or ours */
	WH_NEIGHBOUR_PROTOCOL,  /* not ICMP of its family, extension headers included */
	WH_NEIGHBOUR_TOO_LONG,  /* for our MTU */
	WH_NEIGHBOUR_ICMP_SUM,
	WH_NEIGHBOUR_ICMP_TYPE,  /* type or code: nothing that we take part in */
	WH_NEIGHBOUR_HOP_LIMIT,  /* discovery from beyond the link: RFC 4861 7.1 */
	WH_NEIGHBOUR_NDP_OPTION, /* length, or the MAC address in it */
	WH_NEIGHBOUR_NDP_RULE,   /* addresses, flags and options do not go together: 7.1 */
	WH_NEIGHBOUR_CONFLICT,   /* somebody else claims an address of ours */
	WH_NEIGHBOUR_CONTESTED,  /* claims a peer's address for a MAC that is not the known one */
	WH_NEIGHBOUR_NOT_ASKED,  /* news of a host whose MAC we do not know, an echo not awaited */
	WH_NEIGHBOUR_LIMITED,    /* more questions than we answer in a second */
	WH_NEIGHBOUR_NO_ROOM,    /* more answers than wait at once */
	WH_NEIGHBOUR_REASONS,
};

/* For counters and logs. */
const char *wh_neighbour_reason_name(enum wh_neighbour_reason reason);

/* The way to a peer. */
enum wh_neighbour_way {
	WH_NEIGHBOUR_FOUND = 0,
	WH_NEIGHBOUR_ASKED,      /* not known yet: look it up again */
	WH_NEIGHBOUR_SILENT,     /* nobody on the link answers for it, or for the gateway to it */
	WH_NEIGHBOUR_NO_GATEWAY, /* off the subnet, and no gateway is configured */
	WH_NEIGHBOUR_NO_ADDRESS, /* we have none of that family */
	WH_NEIGHBOUR_NO_HOST,    /* a group's, a broadcast, no host's at all, or our own */
	WH_NEIGHBOUR_WAYS,
};

/* To be read behind "no way to HOST: ". */
const char *wh_neighbour_way_name(enum wh_neighbour_way way);

/* IP addresses here are in network order, an IPv4 address in the first four bytes. */
struct wh_neighbour_subnet {
	uint8_t ip[16];      /* ours */
	uint8_t prefix_bits; /* 0: we have no address of this family */
	uint8_t gateway[16]; /* zero: none */
};

struct wh_neighbour_config {
	uint64_t hz;
	uint32_t entries; /* 1 to WH_NEIGHBOUR_ENTRIES_MAX: peers that are sent to at once */
	uint16_t mtu;
	uint16_t vlan; /* 0: none; otherwise frames are tagged, and expected so */
	uint8_t mac[6];
	struct wh_neighbour_subnet ipv4;
	struct wh_neighbour_subnet ipv6; /* beside it the link-local address of the MAC is ours */
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
	uint8_t mac[6];            /* reachable, probe */
	uint8_t state;             /* enum wh_neighbour_state */
	uint8_t asks;              /* incomplete, probe: questions sent */
	uint8_t replaced;          /* likewise: of which so many more in place of others */
	uint16_t next;             /* of those with its hash, from 1 on; 0: it is the last */
	uint64_t wanted_tsc;       /* last lookup */
	uint64_t asked_until_tsc;  /* no further question before then */
	uint64_t due_tsc;          /* incomplete, probe: next question, or giving up */
	uint64_t until_tsc;        /* reachable, failed: end of it */
};

enum wh_neighbour_quarrel {
	WH_NEIGHBOUR_QUARREL_OURS = 0, /* somebody else uses an address of ours */
	WH_NEIGHBOUR_QUARREL_PEERS,    /* another MAC claims a peer's address */
	WH_NEIGHBOUR_QUARREL_MOVED, /* a peer no longer answers at one MAC, and does at another */
	WH_NEIGHBOUR_QUARRELS,
};

struct wh_neighbour_conflict {
	uint8_t quarrel;           /* enum wh_neighbour_quarrel */
	struct wh_address address; /* port 0 */
	uint8_t mac[6];            /* theirs, or the new one */
	uint8_t known_mac[6];      /* peers: the one in use; moved: the one before */
};

enum wh_neighbour_echo_state {
	WH_NEIGHBOUR_ECHO_NONE = 0,
	WH_NEIGHBOUR_ECHO_WAITS, /* to be sent, perhaps for the peer's MAC */
	WH_NEIGHBOUR_ECHO_SENT,
	WH_NEIGHBOUR_ECHO_ANSWERED,
	WH_NEIGHBOUR_ECHO_LOST,   /* no answer in time */
	WH_NEIGHBOUR_ECHO_NO_WAY, /* never sent: see `way` */
};

struct wh_neighbour_echo {
	uint8_t state;            /* enum wh_neighbour_echo_state */
	uint8_t way;              /* enum wh_neighbour_way, of the last attempt */
	uint16_t sequence;        /* of the question sent last */
	uint32_t ip_bytes;        /* of the packet, its IP header counted */
	struct wh_address target; /* port 0 */
	uint64_t sent_tsc;
	uint64_t due_tsc; /* waits: next attempt; sent: given up */
	uint64_t rtt_tsc; /* answered */
};

/* A host's UDP ports stand in a row, one for each queue: no more than these. */
#define WH_NEIGHBOUR_PORTS_MAX 16

/* What hosts on the way say of our packets to a peer that is watched. */
enum wh_neighbour_error {
	WH_NEIGHBOUR_ERROR_NONE = 0,
	WH_NEIGHBOUR_ERROR_PORT,        /* it has no such UDP port */
	WH_NEIGHBOUR_ERROR_PROHIBITED,  /* a firewall lets nothing through */
	WH_NEIGHBOUR_ERROR_UNREACHABLE, /* no way to its network or to itself */
	WH_NEIGHBOUR_ERROR_TOO_BIG,     /* larger than a link beyond takes */
};

/*
 * A hint to the operator and no more: who can guess our ports can forge it, and nothing ends by it.
 */
struct wh_neighbour_watch {
	struct wh_neighbour_watch *next;
	struct wh_address peer; /* with its first port, which is our first, too */
	uint8_t error;          /* enum wh_neighbour_error: the last one */
	struct wh_address from; /* who said so; port 0 */
	uint32_t mtu_bytes;     /* too big: of that link; 0: not told */
	uint64_t errors;
};

struct wh_neighbour_stats {
	uint64_t input_pkts[WH_NEIGHBOUR_REASONS];
	uint64_t answered_pkts;
	uint64_t asked_pkts;
	uint64_t announced_pkts;
	uint64_t replaced; /* entries that made room for another */
	uint64_t moved;    /* peers found at another MAC than before */
};

struct wh_neighbour {
	struct wh_neighbour_config config;
	struct wh_address own[WH_NEIGHBOUR_OWN_MAX]; /* port 0 */
	uint32_t owns;
	uint8_t link_local[16]; /* with IPv6: among own[], too */
	uint32_t frame_bytes_max;
	struct wh_neighbour_entry *entry; /* config.entries of them */
	uint16_t *bucket;                 /* by hash: an entry, from 1 on; 0: none */
	uint32_t buckets;                 /* a power of two */
	uint64_t ask_tsc;                 /* no entry is due before */
	uint64_t missed_tsc;              /* when frames were last missed; 0: never */
	struct wh_slot_fifo answers;
	uint64_t stranger_paid_tsc; /* answers given take until then, at the rate allowed */
	uint64_t known_paid_tsc;
	uint64_t echo_paid_tsc;
	uint64_t source_paid_tsc[WH_NEIGHBOUR_SOURCES];
	uint64_t announce_tsc;
	uint32_t announce_rounds;
	uint32_t announce_next; /* of own[], in this round */
	struct wh_neighbour_echo echo;
	uint64_t echo_wait_tsc; /* for the answer to one; WH_NEIGHBOUR_ECHO_MS unless set */
	struct wh_neighbour_watch *watch; /* of each peer that is watched */
	const struct wh_mtu_proof *proof; /* whose the echo is; NULL: nobody's */
	struct wh_neighbour_conflict conflict[WH_NEIGHBOUR_QUARRELS];
	bool conflict_news[WH_NEIGHBOUR_QUARRELS];
	uint64_t conflict_quiet_tsc[WH_NEIGHBOUR_QUARRELS]; /* counted but not told before */
	struct wh_neighbour_stats stats;
};

/* NULL, or what is wrong with the addresses, as a sentence to the operator. */
const char *wh_neighbour_config_wrong(const struct wh_neighbour_config *config);

/* For a config with which nothing is wrong: 0 or -ENOMEM. */
int wh_neighbour_init(struct wh_neighbour *neighbour, const struct wh_neighbour_config *config);
void wh_neighbour_free(struct wh_neighbour *neighbour);

/* Groups whose frames the port has to let through; returns how many were written. */
uint32_t wh_neighbour_groups(
	const struct wh_neighbour *neighbour, uint8_t macs[WH_NEIGHBOUR_GROUPS_MAX][6]);

/* Tells the link our addresses, twice: at the start, and when the link has come up again. */
void wh_neighbour_announce(struct wh_neighbour *neighbour, uint64_t now_tsc);

/* A frame that came in, whatever it is; counted by what became of it. */
enum wh_neighbour_reason wh_neighbour_input(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const uint8_t *frame, size_t frame_bytes);

/* That at that time frames were missed, an answer among them, perhaps; 0: none ever were. */
static inline void wh_neighbour_missed(struct wh_neighbour *neighbour, uint64_t missed_tsc)
{
	neighbour->missed_tsc = missed_tsc;
}

/*
 * The MAC to send to for that target (its port does not matter), written when FOUND. To be called
 * as long as packets are sent there, every few seconds at least: use keeps an entry, and asks.
 */
enum wh_neighbour_way wh_neighbour_lookup(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target, uint8_t mac[6]);

/*
 * Whether an answer to a packet from that address may go to the MAC that it came from, and leave
 * nothing behind: the address is a host's, not ours, and we have a way to it, on the link or by a
 * gateway; the MAC is a single station's, and not ours.
 */
bool wh_neighbour_may_answer(
	const struct wh_neighbour *neighbour, const struct wh_address *to, const uint8_t mac[6]);

/*
 * The next frame to send into `frame`, which has frame_bytes_max bytes of room or more; returns
 * its length, 0: none now. Whole frames of 60 bytes and more, without the check sequence.
 */
size_t wh_neighbour_output(
	struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame, size_t room);

/*
 * When output wants to be called next; 0: at once. Never late, but a question that has been
 * answered may leave it early. Input, lookup and ask_echo may bring it forward.
 */
uint64_t wh_neighbour_deadline(const struct wh_neighbour *neighbour);

/*
 * Sends one echo request in an IP packet of ip_bytes (up to the MTU, and never fragmented, so
 * that it also proves a path's MTU); the result is in neighbour->echo. 0, -EBUSY while another
 * is under way, or -EMSGSIZE.
 */
int wh_neighbour_ask_echo(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target, uint32_t ip_bytes);

/*
 * From now on errors about packets to that peer are kept in `watch`, which is the caller's and
 * stays as long as the neighbour: those of its port and the next few.
 */
void wh_neighbour_watch(struct wh_neighbour *neighbour, struct wh_neighbour_watch *watch,
	const struct wh_address *peer);

/* True once for each conflict to be told: of a kind at most one in WH_NEIGHBOUR_DEFEND_MS. */
bool wh_neighbour_take_conflict(
	struct wh_neighbour *neighbour, struct wh_neighbour_conflict *conflict);

#endif
