/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The format of a wavehaul packet: the UDP payload.
 *
 * Every packet begins with a head of 64 bytes, one cache line, with every field at a fixed place.
 * Integers are little-endian, so that parsing is free on today's hosts:
 *
 *    0  version   u8    WH_WIRE_VERSION; versions.h: what all versions have in common
 *    1  type      u8    enum wh_packet_type
 *    2  flags     u8    enum wh_packet_flag, by type
 *    3  key       u8    number of the key that seals the packet; 0: a checksum
 *    4  cid       u32   connection ID, chosen by the end that receives it
 *    8  pn        u64   packet number. Data, repair: place in the connection's order, kept by
 *                       retransmissions. Control: counts the sender's packets of that type
 *   16  fields    32 B  by type
 *   48  tag       16 B  see lib/seal/seal.h; with key 0 its second half is the token
 *   64  body            data, repair: payload; control: fixed fields by type, then ranges
 *
 * The structs below are the format. In memory each type's numbers are in wire order without
 * padding: the first ones go to head.fields, the rest to the body. Repeated elements follow, as
 * many as their count says (layout.h).
 *
 * wh_packet_decode() is strict: it takes bytes of any length and content, and returns either a
 * packet with every field within its limits, or a named reason. Reserved bytes must be zero.
 * Encoders assert the same limits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunk.h"

#define WH_WIRE_VERSION 7

#define WH_HEAD_BYTES    64
#define WH_FIELDS_BYTES  32
#define WH_TAG_BYTES     16
#define WH_TAG_OFFSET    48
#define WH_KEY_OFFSET    3
#define WH_FIELDS_OFFSET 16

/*
 * Limits that both ends enforce.
 *
 *   PAYLOAD_ALIGN       whole vectors for the erasure codes; a chunk's last payload may be shorter
 *   WINDOW_PACKETS_MAX  2 s of 100 Gb/s at MTU 1500
 *   PN_MAX              is never reached, and keeps packet number plus span exact
 *   FIRST_PN_MAX        leaves enough packet numbers for any stream
 */
#define WH_PAYLOAD_BYTES_MIN  32
#define WH_PAYLOAD_BYTES_MAX  9216
#define WH_PAYLOAD_ALIGN      32
#define WH_CHUNK_BYTES_MIN    4096
#define WH_CHUNK_BYTES_MAX    (UINT32_C(16) << 20)
#define WH_BLOCK_PACKETS_MAX  65535
#define WH_WINDOW_PACKETS_MIN 64
#define WH_WINDOW_PACKETS_MAX (UINT32_C(1) << 24)
#define WH_PERIOD_US_MAX      UINT32_C(10000000)
#define WH_PN_MAX             (UINT64_C(1) << 62)
#define WH_FIRST_PN_MAX       (WH_PN_MAX / 2)
#define WH_CHUNK_NUMBER_MAX   (UINT32_MAX - 1)
#define WH_NAME_BYTES_MAX     255
#define WH_OPEN_OPTIONS_MAX   16

/* In OPEN: a stream of unknown size, which may be idle in between. */
#define WH_OBJECT_BYTES_UNKNOWN UINT64_MAX

/* Control packets fit into the smallest supported MTU (1280, IPv6), whatever data packets use. */
#define WH_CONTROL_BYTES_MAX 1200
#define WH_RANGES_MAX        128 /* in one control packet */

/* ttp.txt III A: control packets of 1K bits. */
#define WH_BITMAP_PKTS_MAX  1024
#define WH_BITMAP_WORDS_MAX (WH_BITMAP_PKTS_MAX / 64)

#define WH_ASK_PADDING 32

/* Bytes of a handshake: per packet, beside the head and two lengths; and in all per direction. */
#define WH_CRYPTO_BYTES_MAX  (WH_CONTROL_BYTES_MAX - WH_HEAD_BYTES - 4)
#define WH_CRYPTO_STREAM_MAX 16384

/* Most holes of a receiver's report with both WH_FLAG_LOSSES and WH_FLAG_DELIVERY. */
#define WH_HOLES_BESIDE_BOTH 124

/*
 * Unit of the clocks in packets, fine enough for packets at 100 Gb/s. 32 bits wrap after 68 s,
 * longer than any round trip.
 */
#define WH_STAMP_NS 16

#define WH_PROBE_PKTS_MAX  65536 /* of a train */
#define WH_PROBE_WORDS_MAX 128   /* in one answer */

enum wh_packet_type {
	WH_PACKET_DATA = 1,
	WH_PACKET_REPAIR = 2,
	WH_PACKET_RCV_REPORT = 3,   /* the receiver's complete report */
	WH_PACKET_TRANS_REPORT = 4, /* the transmitter's */
	WH_PACKET_ACK2 = 5,         /* echoes one receiver's report, for its RTT */
	WH_PACKET_NAK = 6,
	WH_PACKET_DELAY_WARNING = 7,
	WH_PACKET_BITMAP = 8, /* which of the last packets arrived, ttp.txt II B */
	WH_PACKET_OPEN = 9,
	WH_PACKET_ACCEPT = 10,
	WH_PACKET_CONFIRM = 11,
	WH_PACKET_RELEASE = 12,
	WH_PACKET_PROBE = 13, /* of a train that measures the path, or a question about one */
	WH_PACKET_PROBE_ANSWER = 14,
	WH_PACKET_ASK = 15,    /* requests the cookie for a handshake */
	WH_PACKET_COOKIE = 16, /* answers ASK */
	WH_PACKET_CRYPTO = 17, /* a piece of a handshake's bytes (lib/trust) */
	WH_PACKET_PATH = 18,   /* proves that the peer receives at a new address */
	WH_PACKET_TYPES = 19,  /* one past the last */
};

enum wh_packet_flag {
	WH_FLAG_RETRANSMISSION = 1 << 0, /* data, repair */
	/* Data, repair: a packet pair, sent back to back (udt.txt III C). */
	WH_FLAG_PAIR_FIRST = 1 << 1,
	WH_FLAG_PAIR_SECOND = 1 << 2,
	WH_FLAG_LOSSES = 1 << 0,   /* receiver's report: counts of losses follow the holes */
	WH_FLAG_DELIVERY = 1 << 1, /* receiver's report: times of arrivals come last */
	WH_FLAG_BEHIND = 1 << 2,   /* receiver's report: offers less, since its port overflowed */
	WH_FLAG_ECHO = 1 << 0,     /* probe: answer at once */
	WH_FLAG_ASK = 1 << 1,      /* probe: requests permission to probe, and a cookie */
	WH_FLAG_FETCH = 1 << 2,    /* probe: requests the arrivals of a train */
	WH_FLAG_ANSWER = 1 << 0,   /* handshake, path: from the end that was asked */
	WH_FLAG_LATER = 1 << 0,    /* cookie: no such handshake; the peer begins again */
	WH_FLAG_OFFERED = 1 << 0,  /* CONFIRM: of a session that was offered, without OPEN */
};

/* Why a byte string is not a packet. Names in wh_wire_reason_name(). */
enum wh_wire_reason {
	WH_WIRE_OK = 0,
	WH_WIRE_SHORT, /* shorter than its type needs */
	WH_WIRE_LONG,  /* longer than its type may be */
	WH_WIRE_VERSION_UNKNOWN,
	WH_WIRE_TYPE_UNKNOWN,
	WH_WIRE_FLAGS,    /* not defined for the type, or contradicting */
	WH_WIRE_KEY,      /* a key number that is not in use */
	WH_WIRE_TAG,      /* checksum or seal does not agree */
	WH_WIRE_RESERVED, /* a byte that must be zero is not */
	WH_WIRE_LENGTH,   /* a length field disagrees with the packet's size */
	WH_WIRE_FIELD,    /* a field is outside its limits */
	WH_WIRE_RANGE,    /* ranges empty, overlapping, out of order or outside their bounds */
	WH_WIRE_REASONS,
};

const char *wh_wire_reason_name(enum wh_wire_reason reason);

/* The erasure code of a chunk, implemented in lib/fec. */
enum wh_fec_code {
	WH_FEC_NONE = 0,
	WH_FEC_RS = 1,
	WH_FEC_TORNADO = 2,
	WH_FEC_CODES = 3,
};

/* How losses of a stream are recovered. */
enum wh_recovery {
	WH_RECOVERY_NAK = 0,    /* missing packets are requested */
	WH_RECOVERY_HYBRID = 1, /* packets that repair cannot recover are requested */
	WH_RECOVERY_FEC = 2,    /* by repair packets only */
	WH_RECOVERIES = 3,
};

/*
 * Data and repair packets. A chunk's packets have consecutive packet numbers, data first, so that
 * any of them tells the packet numbers of all. Without repair packets code, r, blocks and
 * last_bytes are 0.
 */
struct wh_data_fields {
	uint64_t transmission; /* counts data and repair packets sent: never repeats; < WH_PN_MAX */
	uint32_t chunk;        /* number in the stream */
	uint32_t stamp;        /* transmitter's clock when sent, in WH_STAMP_NS, wrapping */
	uint16_t blocks;       /* interleaved in the chunk, see lib/fec */
	uint16_t index;        /* in the chunk: data 0..k-1, repair k..k+r-1 */
	uint16_t k;            /* data packets of the chunk */
	uint16_t r;            /* repair packets of the chunk */
	uint16_t payload_bytes; /* of this packet; equals the body's length */
	uint16_t last_bytes;    /* payload of the chunk's last data packet */
	uint16_t order;         /* of the chunk among those of several streams (lib/stripe), or 0 */
	uint8_t code;           /* enum wh_fec_code */
};

/* `count` packet numbers from base + offset on. */
struct wh_range {
	uint32_t offset;
	uint32_t count;
};

/*
 * The receiver's complete report. Its packet number is the ACK number, which ACK2 echoes. All
 * packet numbers below `lower` have arrived. Of [cover_first, cover_end) all have arrived but the
 * holes. The report says nothing about the rest. A large report is sent as several packets, each
 * with its own cover and everything else complete.
 *
 *   lower <= cover_first <= cover_end <= highest_end <= upper <= lower + WH_WINDOW_PACKETS_MAX
 */
struct wh_rcv_report {
	uint64_t lower;       /* rcv-lw: first packet number missing */
	uint64_t upper;       /* rcv-uw: first packet number that the table has no room for */
	uint64_t highest_end; /* one past the highest packet number seen */
	uint64_t cover_first;
	uint64_t cover_end;
	uint64_t received_pkts; /* new packets, in total */
	uint64_t duplicate_pkts;
	uint64_t bad_pkts;
	uint32_t chunk_upper;   /* first chunk number without a buffer */
	uint32_t queued_chunks; /* complete, waiting for the writer */
	uint32_t buffer_chunks; /* all buffers of the connection */
	uint32_t arrival_pps;   /* AS of udt.txt (1); 0: unknown */
	uint32_t capacity_pps;  /* NB of udt.txt (6); 0: unknown */
	uint32_t rtt_us;        /* smoothed; 0: not measured yet */
	uint32_t rtt_var_us;
	uint32_t n_holes;
	/* With WH_FLAG_LOSSES, behind the holes. Without the flag: unknown, and 0. */
	uint64_t lost_pkts;          /* detected in total, even if recovered since */
	uint64_t loss_events;        /* runs of lost packets */
	uint64_t repaired_pkts;      /* data packets recovered by repair packets */
	uint64_t undecodable_blocks; /* with too few repair packets to decode */
	/*
	 * With WH_FLAG_DELIVERY, behind the losses; else 0. Counts data and repair packets, with
	 * retransmissions and duplicates; clocks in WH_STAMP_NS. `Latest`: the packet with the
	 * highest transmission.
	 */
	uint64_t delivered_pkts; /* received in total, including duplicates */
	uint64_t seen_end;       /* one past the highest transmission received; 0: none */
	uint32_t stamp;          /* of the latest packet */
	uint32_t held;           /* time since the latest packet arrived; UINT32_MAX: longer */
	uint32_t arrived;        /* receiver's clock when the latest packet arrived, wrapping */
	uint32_t span;           /* first to last arrival since the previous report, less pauses */
	uint32_t span_pkts;      /* packets that arrived in `span`, without those at its start */
	uint32_t least_delay; /* least (receiver's clock less stamp) of those packets, wrapping */
	uint32_t late; /* greatest reordering: how long before its overtaker a packet was sent */
	uint32_t retransmitted_pkts; /* duplicates that were retransmissions, in total, wrapping */
	struct wh_range holes[WH_RANGES_MAX]; /* offsets from cover_first; ascending, apart */
};

struct wh_trans_report {
	uint64_t lower;       /* trans-lw: first packet number not acknowledged */
	uint64_t upper;       /* trans-uw: next new one; <= lower + WH_WINDOW_PACKETS_MAX */
	uint64_t heard_end;   /* one past the latest receiver report's packet number; 0: none */
	uint32_t queued_pkts; /* of the open chunks, waiting to be sent */
	uint32_t held_us;     /* time since that report arrived */
};

struct wh_ack2 {
	uint64_t ack_pn;   /* packet number of the receiver's report that is echoed */
	uint64_t lower;    /* `lower` of that report */
	uint32_t stamp_us; /* transmitter's clock, for one-way delay (udt.txt V) */
};

struct wh_nak {
	uint64_t base;                         /* origin of the offsets */
	uint16_t n_losses;                     /* at least one */
	struct wh_range losses[WH_RANGES_MAX]; /* ascending, disjoint */
};

struct wh_delay_warning {
	uint64_t highest_end; /* as in the receiver's report */
	uint16_t pct_milli;   /* 0..1000 */
	uint16_t pdt_milli;   /* 0..1000 */
};

/*
 * Which of the packet numbers [first, first + pkts) the path delivered: bit i % 64 of word i / 64
 * is set for first + i. Retransmitted and repaired packets count as lost. Bits beyond the last one
 * are 0; words beyond the last one are ignored.
 */
struct wh_bitmap {
	uint64_t first;
	uint16_t pkts; /* at least one */
	uint64_t bits[WH_BITMAP_WORDS_MAX];
};

/* Number of words for that many bits. */
static inline uint32_t wh_bitmap_words(uint32_t pkts)
{
	return (pkts + 63) / 64;
}

/* A profile's option by its number; the profile interprets the value. */
struct wh_open_option {
	uint8_t number;
	uint64_t bits;
};

#define WH_COOKIE_BYTES 16

/* Parameters of a connection; the initiator proposes them in OPEN and repeats them in CONFIRM. */
struct wh_open_params {
	uint32_t initiator_cid; /* address of packets to the initiator; not 0 */
	uint32_t chunk_bytes;
	uint32_t window_pkts;   /* a power of two: size of both tables */
	uint32_t period_us;     /* between reports; SYN of udt.txt */
	uint64_t first_pn;      /* up to WH_FIRST_PN_MAX */
	uint64_t object_bytes;  /* size of the stream, or WH_OBJECT_BYTES_UNKNOWN */
	uint16_t payload_bytes; /* multiple of WH_PAYLOAD_ALIGN */
	uint8_t name_bytes;     /* contains no NUL; decoding appends one */
	uint8_t n_options;
	uint8_t profile;          /* number in the profile table */
	uint8_t recovery;         /* enum wh_recovery */
	uint16_t repair_pkts;     /* most per chunk; 0 with NAK, and only then */
	uint64_t initiator_token; /* token of packets to the initiator */
	/* A place at the initiator, offered for a session that answers this one; 0: none. */
	uint32_t reply_cid;
	uint8_t reply_cookie[WH_COOKIE_BYTES];
	struct wh_open_option options[WH_OPEN_OPTIONS_MAX]; /* in ascending order of numbers */
	char name[WH_NAME_BYTES_MAX + 1];
};

/* OPEN: params. ACCEPT: params of the listener's answer. CONFIRM: params and cookie. */
struct wh_open {
	uint32_t stamp_us;
	uint32_t answer_cid; /* the initiator's, in clear text for a peer without the SA; or 0 */
	struct wh_open_params params;
};

struct wh_accept {
	uint32_t acceptor_cid; /* address of packets to the acceptor; not 0 unless refused */
	uint32_t stamp_us;     /* copied from OPEN, for a first RTT */
	uint8_t cookie[WH_COOKIE_BYTES];
	uint32_t buffer_chunks; /* buffers of the acceptor */
	uint8_t refused;        /* enum wh_release_status, not VERIFIED; 0: accepted */
};

struct wh_confirm {
	uint32_t acceptor_cid;
	uint8_t cookie[WH_COOKIE_BYTES];
	struct wh_open_params params;
};

/*
 * Without flags a packet of a train, with flags a question. With a connection ID it belongs to that
 * session; without one it comes from a stranger. A stranger asks first (WH_FLAG_ASK) and gets a
 * cookie: `made_us`, and a proof, which is the token of the stranger's further packets. Padding
 * (zeros) sets the packet's length: an answer is never longer than its question.
 *
 * Under an SA, WH_FLAG_ASK and its answer are sealed by the SA, the answer for the token in the
 * question. All other packets are sealed for the proof of the cookie. Packet numbers are the SA's.
 */
struct wh_probe {
	/*
	 * Prober's clock when sent; the answer repeats it, unchecked. With WH_FLAG_ASK: the token
	 * of the answer.
	 */
	uint64_t stamp_ns;
	uint64_t made_us;       /* of the cookie; 0: none */
	uint32_t index;         /* in the train; with WH_FLAG_FETCH: first arrival to return */
	uint32_t count;         /* packets in the train; more than index */
	uint16_t padding_bytes; /* equals the body's length */
	uint16_t train;         /* number of the train; a later train ends earlier ones */
	uint32_t sa;            /* SA of both ends, by the answerer's number; 0: none */
};

/*
 * The flags are those of the question. With WH_FLAG_ASK and status PENDING (allowed) the words are
 * made_us and the token. With WH_FLAG_FETCH each word is an arrival: the index in its lower half,
 * and in its upper half the nanoseconds since the train's first arrival.
 */
struct wh_probe_answer {
	uint64_t stamp_ns; /* of the question */
	uint32_t index;    /* of the question */
	uint32_t total;    /* ASK: most arrivals recorded per train; FETCH: arrivals recorded */
	uint32_t heard;    /* ECHO: questions answered; FETCH: packets of the train received */
	uint16_t train;    /* of the question */
	uint16_t n_words;
	uint8_t status; /* enum wh_release_status, PENDING unless refused */
	uint64_t words[WH_PROBE_WORDS_MAX];
};

enum wh_release_stage {
	WH_RELEASE_REQUEST = 1, /* transmitter: everything was sent, with this digest */
	WH_RELEASE_REPLY = 2,   /* receiver: the outcome */
	WH_RELEASE_DONE = 3,    /* transmitter: has the outcome */
	WH_RELEASE_ABORT = 4,   /* either end: ends the connection, see status */
	WH_RELEASE_STAGES = 5,
};

/* The outcome of a connection, with the same numbers at both ends. */
enum wh_release_status {
	WH_STATUS_PENDING = 0,
	WH_STATUS_VERIFIED = 1,    /* all bytes arrived, digests agree, file has its final name */
	WH_STATUS_MISMATCH = 2,    /* digest or size differs */
	WH_STATUS_NO_SPACE = 3,    /* the receiver's disk is full */
	WH_STATUS_IO_ERROR = 4,    /* reading or writing a file failed */
	WH_STATUS_REFUSED = 5,     /* parameters or peer not accepted */
	WH_STATUS_BUSY = 6,        /* no place for a connection */
	WH_STATUS_INTERRUPTED = 7, /* by an operator */
	WH_STATUS_STALLED = 8,     /* no progress for too long */
	WH_STATUS_PEER_GONE = 9,   /* no packets from the peer for too long; never on the wire */
	WH_STATUS_UNREPAIRED =
		10,              /* repair packets did not suffice, and the profile requests none */
	WH_STATUS_UNSEALED = 11, /* this end requires sealed connections */
	WH_STATUS_NO_SA = 12,    /* this end has no SA of that number */
	WH_STATUS_REVOKED = 13,  /* the peer is no longer trusted */
	/* Another process has taken the peer's place. In ACCEPT: the cookie is not for the peer. */
	WH_STATUS_REPLACED = 14,
	WH_STATUS_UNHEARD = 15, /* the peer has received nothing from here for too long */
	WH_STATUSES = 16,
};

const char *wh_release_status_name(enum wh_release_status status);

struct wh_release {
	uint64_t chunks; /* in the whole stream; up to WH_CHUNK_NUMBER_MAX + 1 */
	uint64_t total_bytes;
	uint64_t pn_end; /* one past the last packet number */
	uint8_t stage;   /* enum wh_release_stage */
	uint8_t status;  /* enum wh_release_status */
	struct wh_digest digest;
};

/*
 * A handshake authenticates two processes to each other before anything is sealed: TLS, in pieces
 * in both directions (lib/trust). `handshake` is a number that the client draws; nobody off the
 * path can guess it. The server makes the cookie, and keeps no state before it comes back. All
 * pieces contain both.
 */
struct wh_ask {
	uint64_t handshake;
	uint8_t padding[WH_ASK_PADDING]; /* without meaning: versions.h requires this length */
};

/*
 * The answer to an ASK. With WH_FLAG_LATER it answers a CRYPTO that finds no handshake, and repeats
 * its number and cookie.
 */
struct wh_cookie {
	uint64_t handshake;
	uint8_t cookie[WH_COOKIE_BYTES];
};

struct wh_crypto {
	uint64_t handshake;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint32_t offset;        /* of the first byte */
	uint32_t acked;         /* all bytes before it were received */
	uint16_t bytes;         /* may be 0 */
	uint16_t padding_bytes; /* zeros behind the data, which raise the limit of the answer */
	uint8_t data[WH_CRYPTO_BYTES_MAX];
};

/*
 * A challenge to the address from which the newest packets of a session come; with WH_FLAG_ANSWER
 * the answer, which repeats the token. Both are sealed by the SA; the packet number is the SA's.
 */
struct wh_path {
	uint64_t token;
};

struct wh_packet {
	enum wh_packet_type type;
	uint8_t flags;
	uint32_t cid;
	uint64_t pn;
	const uint8_t *payload; /* data, repair: points into the decoded bytes */
	union {
		uint8_t fields[WH_FIELDS_BYTES];
		struct wh_data_fields data;
		struct wh_rcv_report rcv_report;
		struct wh_trans_report trans_report;
		struct wh_ack2 ack2;
		struct wh_nak nak;
		struct wh_delay_warning delay_warning;
		struct wh_bitmap bitmap;
		struct wh_open open;
		struct wh_accept accept;
		struct wh_confirm confirm;
		struct wh_release release;
		struct wh_probe probe;
		struct wh_probe_answer probe_answer;
		struct wh_ask ask;
		struct wh_cookie cookie;
		struct wh_crypto crypto;
		struct wh_path path;
	};
};

/* Parameters in wire format, at most WH_CONTROL_BYTES_MAX. Returns the number of bytes. */
size_t wh_params_encode(const struct wh_open_params *params, uint8_t *bytes);

/* Whether every field is within its limits: checked by decoders, asserted by encoders. */
enum wh_wire_reason wh_packet_check(const struct wh_packet *packet);

/*
 * Decodes one packet; *packet is defined only if WH_WIRE_OK is returned. Data packets set only
 * their own few members of *packet, so the union's size costs nothing. No field is authenticated
 * before the seal is opened (lib/seal). Data and repair have all fields in the head; the bodies of
 * all other packets are encrypted, and can only be read after that.
 *
 * There are two steps. Peek checks size and kind, and reads type, flags, connection ID and packet
 * number, by which the seal is found. Read decodes the rest of a packet that peek has accepted.
 */
enum wh_wire_reason wh_packet_decode(const uint8_t *bytes, size_t length, struct wh_packet *packet);
enum wh_wire_reason wh_packet_peek(const uint8_t *bytes, size_t length, struct wh_packet *packet);
enum wh_wire_reason wh_packet_read(const uint8_t *bytes, size_t length, struct wh_packet *packet);

/*
 * Encodes any packet but data and repair into `room` bytes and returns its length. The seal fills
 * in key number and tag. WH_CONTROL_BYTES_MAX is always enough, except for a probe with more
 * padding.
 */
uint32_t wh_packet_encode(const struct wh_packet *packet, uint8_t *bytes, size_t room);

/*
 * Encodes the head of a data or repair packet, WH_HEAD_BYTES, without key number and tag. The
 * payload is not touched; data.payload_bytes is its length.
 */
void wh_packet_encode_data(const struct wh_packet *packet, uint8_t *head);

/*
 * For simulators, where a payload has a length and no bytes: takes a head and the length of the
 * payload. As strict as wh_packet_decode, and accepts only data and repair. packet->payload is
 * NULL. Such packets are not sealed.
 */
enum wh_wire_reason wh_packet_decode_virtual(
	const uint8_t *head, size_t payload_bytes, struct wh_packet *packet);
