/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A prober measures the path to a peer with trains of numbered packets: by which of them arrive and
 * when, as UDPmon did for lambda-tcp.txt 2. It works in stages of one or a few trains each, within
 * fixed bounds. The other end is an answerer (answerer.h).
 *
 *   ask      a cookie, which proves our address
 *   echo     small packets a millisecond apart: round-trip times, and losses in both directions
 *   size     the largest packets that are answered, up to the full size
 *   pairs    packet pairs: two full packets back to back; capacity by their spacing on arrival
 *   grow     trains at line rate, each twice as long as the previous one, until one loses packets
 *            because a queue overflows, or the longest one does not
 *   repeat   the same train twice more: the median counts, since there are random losses, too
 *   whole    a train of the length found to pass: does it?
 *   steady   at half of the capacity, where nothing overflows: losses, and order
 *
 * A prober has no clock and sends nothing itself: an endpoint hands it received packets and asks
 * for packets to send. Received ones wait in a FIFO for the TX core, which does everything else.
 * Everything that the answerer reports is checked against what was sent: a contradiction ends the
 * probe.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "probe/findings.h"
#include "probe/train.h"
#include "seal/seal.h"
#include "track/replay.h"
#include "wire/encap.h"
#include "wire/packet.h"

/* Sizes of the stages, from which wh_prober_bounds are computed. */
#define WH_PROBER_ECHOES      100
#define WH_PROBER_PAIRS       64
#define WH_PROBER_STEADY_PKTS 1000
#define WH_PROBER_TRAIN_MIN   16
#define WH_PROBER_TRAIN_MAX   WH_PROBE_PKTS_MAX

/* Smaller packets have no room for questions about trains. */
#define WH_PROBER_PACKET_MIN (WH_HEAD_BYTES + 128)

/* Replay window of answers under an SA. */
#define WH_PROBER_WINDOW_PKTS 1024

/* Outstanding questions about arrivals. */
#define WH_PROBER_FETCHES 8

enum wh_prober_stage {
	WH_PROBER_ASK = 0,
	WH_PROBER_ECHO,
	WH_PROBER_SIZE,
	WH_PROBER_PAIRS_STAGE,
	WH_PROBER_GROW,
	WH_PROBER_REPEAT,
	WH_PROBER_WHOLE,
	WH_PROBER_STEADY,
	WH_PROBER_OVER,
	WH_PROBER_STAGES,
};

const char *wh_prober_stage_name(enum wh_prober_stage stage);

/* How a probe ended. */
enum wh_prober_end {
	WH_PROBER_RUNNING = 0,
	WH_PROBER_DONE,
	WH_PROBER_NO_ANSWER,   /* to the first question */
	WH_PROBER_REFUSED,     /* by the peer: `refused` says why */
	WH_PROBER_SILENT,      /* no more answers */
	WH_PROBER_CONTRADICTS, /* inconsistent answers */
	WH_PROBER_BOUND,       /* of time or of packets; findings so far remain */
	WH_PROBER_STOPPED,
	WH_PROBER_ENDS,
};

const char *wh_prober_end_name(enum wh_prober_end end);

struct wh_prober_config {
	uint64_t hz;
	struct wh_address peer;
	struct wh_sa *sa;      /* with the peer, held until the end; NULL: not sealed */
	uint64_t token;        /* 64 random bits, for the answer to the first question */
	uint32_t packet_bytes; /* of a full packet: WH_HEAD_BYTES and padding */
	uint32_t ip_udp_bytes; /* IP and UDP headers */
	uint32_t link_bytes;   /* added by the link, with preamble and gap */
	uint64_t line_bps;     /* rate of trains on the wire; 0: as fast as possible */
	uint32_t train_pkts;   /* longest train */
	uint64_t duration_ns;  /* of the whole probe */
	uint64_t patience_ns;  /* longest wait for an answer */
};

/* Most that is sent, including questions and answers; for announcing it. */
struct wh_prober_bounds {
	uint64_t pkts;
	uint64_t bytes; /* on the wire */
	uint32_t train_pkts;
	uint64_t duration_ns;
};

/* The packets of a stage that are being sent. */
struct wh_prober_run {
	uint16_t number;
	uint8_t flags;
	uint32_t count; /* 0: nothing to send */
	uint32_t sent;
	uint32_t packet_bytes;
	uint32_t group;     /* number of packets at line rate, before a pause */
	uint64_t gap_tsc;   /* from one group to the next */
	uint64_t begun_tsc; /* when the first one was due */
	uint64_t first_sent_tsc;
	uint64_t last_sent_tsc;
};

/* Fetches the arrivals of a train. */
struct wh_prober_fetch {
	bool active;
	uint32_t words;    /* most per answer */
	uint32_t total;    /* arrivals */
	uint32_t heard;    /* packets received; under an SA also duplicates, unlike total */
	uint32_t got;      /* arrivals fetched */
	uint32_t next;     /* first one not requested yet */
	uint32_t restarts; /* because `total` has grown */
	struct {
		uint32_t first; /* first arrival of an outstanding question */
		uint32_t tries; /* 0: unused */
		uint64_t again_tsc;
	} question[WH_PROBER_FETCHES];
};

struct wh_prober {
	struct wh_prober_config config;

	/* RX core to TX core */
	struct wh_slot_fifo inbox;

	/* TX core */
	uint8_t apart[64];
	enum wh_prober_stage stage;
	struct wh_seal seal;        /* of packets sent */
	struct wh_seal answer_seal; /* of answers */
	uint8_t *keys;              /* of both seals; NULL: no SA */
	struct wh_replay window;
	uint64_t window_bits[WH_PROBER_WINDOW_PKTS / 64];
	uint64_t made_us;
	uint64_t pn;
	uint64_t begun_tsc; /* 0: not yet */
	uint64_t heard_tsc; /* latest valid answer */
	uint64_t wait_tsc;  /* end of a stage's wait for answers */
	uint64_t again_tsc; /* when the first question is repeated */
	uint64_t asked_tsc;
	bool ask_due;
	uint64_t rtt_tsc; /* longest so far; 0: unknown */
	uint16_t trains;
	uint32_t room_pkts; /* recorded by the answerer per train */
	struct wh_prober_run run;
	struct wh_prober_fetch fetch;
	uint32_t echoes_heard; /* as the answerer reports */
	uint32_t echoes_got;
	uint64_t echo_sent_tsc[WH_PROBER_ECHOES];
	uint64_t echo_rtt_tsc[WH_PROBER_ECHOES]; /* WH_TSC_NEVER: no answer */
	uint32_t full_bytes;                     /* of a packet that passes */
	uint32_t size_low, size_high;            /* passes; does not pass, or is not allowed */
	bool size_answered;
	uint32_t grow_count;
	uint32_t repeats;
	uint32_t overflow_at[3]; /* where the same train overflowed, each time */
	uint32_t lost_at[3];     /* and where it lost its first packet */
	double overflow_share;   /* lost right behind the burst; 0: as the two rates have it */
	struct wh_train train;
	uint64_t *arrival; /* WH_PROBE_PKTS_MAX, as in wh_probe_answer */
	struct wh_findings findings;
	_Atomic int end;          /* enum wh_prober_end; once set, findings are final */
	_Atomic int wish_to_stop; /* any core */
	int last_stage;           /* enum wh_prober_stage at the end; final like the findings */
};

/* 0 or -ENOMEM. */
int wh_prober_init(struct wh_prober *prober, const struct wh_prober_config *config);
void wh_prober_free(struct wh_prober *prober);

void wh_prober_bounds(const struct wh_prober_config *config, struct wh_prober_bounds *bounds);

/* RX core: one UDP payload, an answer to a probe and of no session. */
void wh_prober_input(struct wh_prober *prober, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from);

/* TX core, once per turn, before output; returns the amount of work. */
int32_t wh_prober_poll(struct wh_prober *prober, uint64_t now_tsc);

/* TX core: the next packet to send, sealed; 0: none. `bytes` has room for a full packet. */
uint32_t wh_prober_output(struct wh_prober *prober, uint64_t now_tsc, uint8_t *bytes);

/* When the prober is due next if nothing arrives before; 0: at once. */
uint64_t wh_prober_deadline(const struct wh_prober *prober);

static inline enum wh_prober_end wh_prober_ended(const struct wh_prober *prober)
{
	return (enum wh_prober_end)atomic_load_explicit(&prober->end, memory_order_acquire);
}
