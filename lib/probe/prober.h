/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROBE_PROBER_H
#define WH_PROBE_PROBER_H

/*
 * Measures the way to a peer by what arrives of numbered trains and when, as UDPmon did for
 * lambda-tcp.txt 2: one stage after the other, each a train or a few of them, and never more than
 * it was allowed to send. The other end is an answerer (answerer.h).
 *
 *   ask      a cookie, which proves our address
 *   echo     small packets a millisecond apart: round-trip times, and losses both ways
 *   size     packets of the full size are answered, or the largest that are
 *   pairs    of full packets, back to back: capacity by what lies between them
 *   grow     trains at line rate, each twice as long as the one before, until one loses packets by
 *            a queue that runs over, or the longest does not
 *   repeat   the same again, since chance loses packets, too
 *   whole    as long as was found to come whole: does it?
 *   steady   at half of the capacity, where nothing runs over: losses, and order
 *
 * A prober has no clock and sends nothing itself: an endpoint hands it what comes and asks what is
 * to go. What comes waits in a FIFO for the core that sends, which does all else. Everything that
 * the answerer says is held against what was sent: who contradicts that ends the probe.
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

/* What a prober counts with; see wh_prober_bounds. */
#define WH_PROBER_ECHOES      100
#define WH_PROBER_PAIRS       64
#define WH_PROBER_STEADY_PKTS 1000
#define WH_PROBER_TRAIN_MIN   16
#define WH_PROBER_TRAIN_MAX   WH_PROBE_PKTS_MAX

/* Smaller ones have no room for what is asked about trains. */
#define WH_PROBER_PACKET_MIN (WH_HEAD_BYTES + 128)

/* Of answers under a bond: as far apart as those may come that count. */
#define WH_PROBER_WINDOW_PKTS 1024

/* Questions about arrivals that are under way at once. */
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

/* How it ended. */
enum wh_prober_end {
	WH_PROBER_RUNNING = 0,
	WH_PROBER_DONE,
	WH_PROBER_NO_ANSWER,   /* nobody answers the first question */
	WH_PROBER_REFUSED,     /* the peer does not want it: `refused` says why */
	WH_PROBER_SILENT,      /* no answer any more */
	WH_PROBER_CONTRADICTS, /* answers that cannot be */
	WH_PROBER_BOUND,       /* of time or of packets: what was found until then stands */
	WH_PROBER_STOPPED,
	WH_PROBER_ENDS,
};

const char *wh_prober_end_name(enum wh_prober_end end);

struct wh_prober_config {
	uint64_t hz;
	struct wh_address peer;
	struct wh_bond *bond;  /* with the peer, held until it is over; NULL: nothing is sealed */
	uint64_t token;        /* 64 random bits, for the answer to the first question */
	uint32_t packet_bytes; /* of a full packet: WH_HEAD_BYTES and padding */
	uint32_t ip_udp_bytes; /* what IP and UDP add to a packet */
	uint32_t link_bytes;   /* what the link adds to that, preamble and gap counted */
	uint64_t line_bps;     /* trains leave at this rate of the wire; 0: as fast as they can */
	uint32_t train_pkts;   /* the longest one */
	uint64_t duration_ns;  /* for all of it */
	uint64_t patience_ns;  /* without an answer */
};

/* What it sends at most, questions and answers counted; for who is to be told before. */
struct wh_prober_bounds {
	uint64_t pkts;
	uint64_t bytes; /* of the wire */
	uint32_t train_pkts;
	uint64_t duration_ns;
};

/* The packets of a stage on their way out. */
struct wh_prober_run {
	uint16_t number;
	uint8_t flags;
	uint32_t count; /* 0: nothing is to be sent */
	uint32_t sent;
	uint32_t packet_bytes;
	uint32_t group;     /* so many at line rate, and then a pause */
	uint64_t gap_tsc;   /* from the beginning of a group to that of the next */
	uint64_t begun_tsc; /* the first one was due */
	uint64_t first_sent_tsc;
	uint64_t last_sent_tsc;
};

/* What is asked about a train. */
struct wh_prober_fetch {
	bool active;
	uint32_t words;    /* that a question has room for */
	uint32_t total;    /* arrivals */
	uint32_t heard;    /* packets that came: under a bond what came twice is no arrival */
	uint32_t got;      /* of them */
	uint32_t next;     /* first one not asked for yet */
	uint32_t restarts; /* since more came than there had been */
	struct {
		uint32_t first; /* of a question under way */
		uint32_t tries; /* 0: none is */
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
	struct wh_seal seal; /* of what we say, and ... */
	struct wh_seal answer_seal;
	uint8_t *keys; /* of both; NULL: there is no bond */
	struct wh_replay window;
	uint64_t window_bits[WH_PROBER_WINDOW_PKTS / 64];
	uint64_t made_us;
	uint64_t serial;
	uint64_t begun_tsc; /* 0: not yet */
	uint64_t heard_tsc; /* the latest answer that was one */
	uint64_t wait_tsc;  /* a stage waits for answers until then */
	uint64_t again_tsc; /* the first question once more */
	uint64_t asked_tsc;
	bool ask_due;
	uint64_t rtt_tsc; /* the longest so far; 0: none is known */
	uint16_t trains;
	uint32_t room_pkts; /* that the answerer notes of a train */
	struct wh_prober_run run;
	struct wh_prober_fetch fetch;
	uint32_t echoes_heard; /* as the answerer tells */
	uint32_t echoes_got;
	uint64_t echo_sent_tsc[WH_PROBER_ECHOES];
	uint64_t echo_rtt_tsc[WH_PROBER_ECHOES]; /* WH_TSC_NEVER: no answer */
	uint32_t full_bytes;                     /* of a packet that gets through */
	uint32_t size_low, size_high;            /* that passes; that does not, or may not */
	bool size_answered;
	uint32_t grow_count;
	uint32_t repeats;
	uint32_t overflow_at[3]; /* where the same train ran over, each time */
	struct wh_train train;
	uint64_t *arrival; /* WH_PROBE_PKTS_MAX: as they are told */
	struct wh_findings findings;
	_Atomic int end;          /* enum wh_prober_end; when set, findings are the reader's */
	_Atomic int wish_to_stop; /* any core */
	int last_stage;           /* before it was over: enum wh_prober_stage; as the findings */
};

/* 0 or -ENOMEM. */
int wh_prober_init(struct wh_prober *prober, const struct wh_prober_config *config);
void wh_prober_free(struct wh_prober *prober);

void wh_prober_bounds(const struct wh_prober_config *config, struct wh_prober_bounds *bounds);

/* RX core: one UDP payload that is an answer to a probe and of no session. */
void wh_prober_input(struct wh_prober *prober, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from);

/* TX core, once a turn, before output; returns how much work there was. */
int32_t wh_prober_poll(struct wh_prober *prober, uint64_t now_tsc);

/*
 * TX core: the next packet that may go, closed; 0: none may. `bytes` has room for a packet of the
 * full size.
 */
uint32_t wh_prober_output(struct wh_prober *prober, uint64_t now_tsc, uint8_t *bytes);

/* When it wants its next turn if nothing comes before; 0: at once. */
uint64_t wh_prober_deadline(const struct wh_prober *prober);

static inline enum wh_prober_end wh_prober_ended(const struct wh_prober *prober)
{
	return (enum wh_prober_end)atomic_load_explicit(&prober->end, memory_order_acquire);
}

#endif
