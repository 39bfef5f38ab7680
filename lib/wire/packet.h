/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_PACKET_H
#define WH_WIRE_PACKET_H

/*
 * What a wavehaul packet looks like: the UDP payload.
 *
 * Every packet begins with a head of 64 bytes, one cache line, with every field at a fixed place;
 * integers are little-endian, so that they cost nothing to parse on today's hosts:
 *
 *    0  version   u8    WH_WIRE_VERSION; see versions.h for what outlives it
 *    1  type      u8    enum wh_packet_type
 *    2  flags     u8    enum wh_packet_flag, by type
 *    3  key       u8    number of the key that the packet is closed with; 0: a checksum
 *    4  lci       u32   logical connection identifier, chosen by the end that receives it
 *    8  serial    u64   data, repair: the packet's place in the connection's order, kept by
 *                       retransmissions; control: counts the sender's packets of that type
 *   16  fields    32 B  by type
 *   48  tag       16 B  see lib/seal/seal.h; with key 0 its second half is the token
 *   64  body            data, repair: payload; control: by type, fixed, then ranges
 *
 * The structs below are the format: in memory each type's numbers lie as they travel, without gaps,
 * the first ones in head.fields and the rest in the body; then what repeats, as often as its count
 * says (layout.h).
 *
 * wh_packet_decode() is strict: bytes of any length and content go in, and either a packet whose
 * every field is within its limits comes out, or a named reason. Reserved bytes must be zero.
 * Encoders assert the same limits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunk.h"

#define WH_WIRE_VERSION 2

#define WH_HEAD_BYTES    64
#define WH_FIELDS_BYTES  32
#define WH_TAG_BYTES     16
#define WH_TAG_OFFSET    48
#define WH_KEY_OFFSET    3
#define WH_FIELDS_OFFSET 16

/* Limits that both ends hold each other to. */
#define WH_PAYLOAD_BYTES_MIN  32
#define WH_PAYLOAD_BYTES_MAX  9216
#define WH_PAYLOAD_ALIGN      32 /* payloads but a chunk's last: full vectors for the codes */
#define WH_CHUNK_BYTES_MIN    4096
#define WH_CHUNK_BYTES_MAX    (UINT32_C(16) << 20)
#define WH_BLOCK_PACKETS_MAX  65535
#define WH_WINDOW_PACKETS_MIN 64
#define WH_WINDOW_PACKETS_MAX (UINT32_C(1) << 24) /* 1 s of 100 Gb/s twice, of MTU 1500 */
#define WH_PERIOD_US_MAX      UINT32_C(10000000)
#define WH_SERIAL_MAX         (UINT64_C(1) << 62) /* never reached; keeps serial + span exact */
#define WH_FIRST_SERIAL_MAX   (WH_SERIAL_MAX / 2) /* leaves serials for all packets to come */
#define WH_CHUNK_NUMBER_MAX   (UINT32_MAX - 1)
#define WH_NAME_BYTES_MAX     255
#define WH_OPEN_OPTIONS_MAX   16

/* Of OPEN: a stream that ends when it ends, and may lie idle meanwhile. */
#define WH_OBJECT_BYTES_UNKNOWN UINT64_MAX

/* Control packets fit into the smallest MTU we support (1280, IPv6) whatever data uses. */
#define WH_CONTROL_BYTES_MAX 1200
#define WH_RANGES_MAX        128 /* in one control packet */

/* ttp.txt III A: control packets of 1K bits. */
#define WH_BITMAP_PKTS_MAX  1024
#define WH_BITMAP_WORDS_MAX (WH_BITMAP_PKTS_MAX / 64)

#define WH_ASK_PADDING 32

/* Of a greeting: what fits into one packet beside its head and two lengths, and each way in all. */
#define WH_CRYPTO_BYTES_MAX  (WH_CONTROL_BYTES_MAX - WH_HEAD_BYTES - 4)
#define WH_CRYPTO_STREAM_MAX 16384

/* Holes of a state that has both WH_FLAG_LOSSES and WH_FLAG_DELIVERY. */
#define WH_HOLES_BESIDE_BOTH 124

/*
 * The unit of clocks where packets of 100 Gb/s are told apart; 32 bits of it wrap after 68 s, which
 * no round trip takes.
 */
#define WH_STAMP_NS 16

#define WH_PROBE_PKTS_MAX  65536 /* of a train */
#define WH_PROBE_WORDS_MAX 128   /* in one answer */

enum wh_packet_type {
	WH_PACKET_DATA = 1,
	WH_PACKET_REPAIR = 2,
	WH_PACKET_RCV_STATE = 3,   /* the receiver's complete state; its serial is the ACK number */
	WH_PACKET_TRANS_STATE = 4, /* the transmitter's */
	WH_PACKET_ACK2 = 5,        /* echo of one receiver state, for its RTT */
	WH_PACKET_NAK = 6,
	WH_PACKET_DELAY_WARNING = 7,
	WH_PACKET_BITMAP = 8, /* which of the last packets arrived, ttp.txt II B */
	WH_PACKET_OPEN = 9,
	WH_PACKET_ACCEPT = 10,
	WH_PACKET_CONFIRM = 11,
	WH_PACKET_RELEASE = 12,
	WH_PACKET_PROBE = 13, /* one of a train that measures the way, or a question about one */
	WH_PACKET_PROBE_ANSWER = 14,
	WH_PACKET_ASK = 15,    /* who wants to greet asks for a cookie ... */
	WH_PACKET_COOKIE = 16, /* ... and gets one */
	WH_PACKET_CRYPTO = 17, /* a piece of a greeting's bytes, lib/trust */
	WH_PACKET_TYPES = 18,  /* one past the last */
};

enum wh_packet_flag {
	WH_FLAG_RETRANSMISSION = 1 << 0, /* data, repair */
	WH_FLAG_PAIR_FIRST =
		1 << 1, /* data, repair: the next follows back to back, udt.txt III C */
	WH_FLAG_PAIR_SECOND = 1 << 2,
	WH_FLAG_LOSSES = 1 << 0,   /* receiver's state: what it knows of losses follows, ... */
	WH_FLAG_DELIVERY = 1 << 1, /* ... and then when what of our packets arrived */
	WH_FLAG_ECHO = 1 << 0,     /* probe: answer at once */
	WH_FLAG_ASK = 1 << 1,      /* probe: whether a stranger may, and the cookie for it */
	WH_FLAG_FETCH = 1 << 2,    /* probe: what came of a train */
	WH_FLAG_ANSWER = 1 << 0,   /* greeting: from the end that was greeted */
	WH_FLAG_OFFERED = 1 << 0,  /* CONFIRM: of what a greeting has offered, without an OPEN */
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
const char *wh_packet_type_name(enum wh_packet_type type);

/* The erasure code of a chunk; lib/fec has them. */
enum wh_fec_code {
	WH_FEC_NONE = 0,
	WH_FEC_RS = 1,
	WH_FEC_TORNADO = 2,
	WH_FEC_CODES = 3,
};

/* How a stream is brought to be complete. */
enum wh_recovery {
	WH_RECOVERY_NAK = 0,    /* what is missing is asked for */
	WH_RECOVERY_HYBRID = 1, /* what repair packets do not bring back is */
	WH_RECOVERY_FEC = 2,    /* nothing is: repair packets must do */
	WH_RECOVERIES = 3,
};

/*
 * Data and repair. A chunk's packets have serials in a row, data first, so that any of them tells
 * where the others are. Without repair packets code, r, blocks and last_bytes are 0.
 */
struct wh_data_fields {
	uint64_t transmission;  /* counts every data and repair packet sent: never repeats;
				 * below WH_SERIAL_MAX */
	uint32_t chunk;         /* number in the stream */
	uint32_t stamp;         /* transmitter's clock when sent, in WH_STAMP_NS, wrapping */
	uint16_t blocks;        /* interleaved in the chunk, see lib/fec */
	uint16_t index;         /* in the chunk: data 0..k-1, repair k..k+r-1 */
	uint16_t k;             /* data packets of the chunk */
	uint16_t r;             /* repair packets of the chunk */
	uint16_t payload_bytes; /* of this packet; equals the body's length */
	uint16_t last_bytes;    /* payload of the chunk's last data packet */
	uint8_t code;           /* enum wh_fec_code */
};

/* `count` serials from base + offset on. */
struct wh_range {
	uint32_t offset;
	uint32_t count;
};

/*
 * The receiver's complete state. Serials below lower have all arrived; of [cover_first,
 * cover_end) all have arrived but the holes; nothing is said about the rest. Large states go as
 * several packets, each with its own cover and everything else complete.
 * lower <= cover_first <= cover_end <= highest_end <= upper <= lower + WH_WINDOW_PACKETS_MAX.
 */
struct wh_rcv_state {
	uint64_t lower;       /* rcv-lw: first serial missing */
	uint64_t upper;       /* rcv-uw: first serial that the table has no room for */
	uint64_t highest_end; /* one past the highest serial seen */
	uint64_t cover_first;
	uint64_t cover_end;
	uint64_t received_pkts; /* new ones, ever */
	uint64_t duplicate_pkts;
	uint64_t bad_pkts;
	uint32_t chunk_upper;   /* buffers available: first chunk number there is no buffer for */
	uint32_t queued_chunks; /* whole, waiting for the writer */
	uint32_t buffer_chunks; /* all buffers of the connection */
	uint32_t arrival_pps;   /* AS of udt.txt (1); 0: unknown */
	uint32_t capacity_pps;  /* NB of udt.txt (6); 0: unknown */
	uint32_t rtt_us;        /* smoothed; 0: not measured yet */
	uint32_t rtt_var_us;
	uint32_t n_holes;
	/* With WH_FLAG_LOSSES, behind the holes; else nothing is said of them, and they are 0. */
	uint64_t lost_pkts;          /* found missing, ever, however they came back ... */
	uint64_t loss_events;        /* ... in so many runs */
	uint64_t repaired_pkts;      /* data that repair packets brought back */
	uint64_t undecodable_blocks; /* for which they did not suffice */
	/*
	 * With WH_FLAG_DELIVERY, behind those; else 0. Of data and repair packets, whatever became
	 * of them; clocks in WH_STAMP_NS. The latest is the one with the highest transmission.
	 */
	uint64_t delivered_pkts; /* that came, ever, and those that came again, too */
	uint64_t seen_end;       /* one past the highest transmission that came; 0: none did */
	uint32_t stamp;          /* the latest's, ... */
	uint32_t held;           /* ... and how long ago it came; at its most: longer ago */
	uint32_t arrived;        /* receiver's clock when it came, wrapping */
	uint32_t span;           /* first to last arrival since the state before, less pauses */
	uint32_t span_pkts;      /* that came in it after its first moment */
	uint32_t least_delay;    /* of these, receiver's clock less the stamp, wrapping */
	uint32_t late;           /* of these, the most that one was sent before one that
				     * overtook it */
	uint32_t again_pkts;     /* that had come already and were sent again, ever, wrapping */
	struct wh_range holes[WH_RANGES_MAX]; /* offsets from cover_first; ascending, apart */
};

struct wh_trans_state {
	uint64_t lower;       /* trans-lw: first serial not acknowledged */
	uint64_t upper;       /* trans-uw: next new serial; within WH_WINDOW_PACKETS_MAX of lower */
	uint64_t heard_end;   /* one past the latest receiver's state that is known; 0: none */
	uint32_t queued_pkts; /* of the chunks in hand, waiting to be sent */
	uint32_t held_us;     /* since that state came */
};

struct wh_ack2 {
	uint64_t ack_serial; /* serial of the receiver state that is echoed */
	uint64_t lower;      /* acknowledged by it */
	uint32_t stamp_us;   /* transmitter's clock, for one-way delay (udt.txt V) */
};

struct wh_nak {
	uint64_t base;                         /* offsets count from it */
	uint16_t n_losses;                     /* at least one */
	struct wh_range losses[WH_RANGES_MAX]; /* ascending, disjoint */
};

struct wh_delay_warning {
	uint64_t highest_end; /* as in the receiver's state */
	uint16_t pct_milli;   /* 0..1000 */
	uint16_t pdt_milli;   /* 0..1000 */
};

/*
 * Of the serials [first, first + pkts), which were seen by the receiver as they came off the path:
 * bit i % 64 of word i / 64 is set for first + i. What was sent again or repaired counts as lost.
 * The bits behind the last are 0; words behind the last are not looked at.
 */
struct wh_bitmap {
	uint64_t first;
	uint16_t pkts; /* at least one */
	uint64_t bits[WH_BITMAP_WORDS_MAX];
};

/* Words that so many bits take. */
static inline uint32_t wh_bitmap_words(uint32_t pkts)
{
	return (pkts + 63) / 64;
}

/* An option of the profile by its number, and a value that the profile makes sense of. */
struct wh_open_option {
	uint8_t number;
	uint64_t bits;
};

/* What a connection is to be; the initiator proposes it in OPEN and repeats it in CONFIRM. */
struct wh_open_params {
	uint32_t initiator_lci; /* under which the initiator wants packets; not 0 */
	uint32_t chunk_bytes;
	uint32_t window_pkts;   /* a power of two: size of both tables */
	uint32_t period_us;     /* of states; SYN of udt.txt */
	uint64_t first_serial;  /* up to WH_FIRST_SERIAL_MAX */
	uint64_t object_bytes;  /* size of the stream, or WH_OBJECT_BYTES_UNKNOWN */
	uint16_t payload_bytes; /* multiple of WH_PAYLOAD_ALIGN */
	uint8_t name_bytes;     /* no NUL inside; decoding puts one after */
	uint8_t n_options;
	uint8_t profile;          /* number in the profile table */
	uint8_t recovery;         /* enum wh_recovery */
	uint16_t repair_pkts;     /* a chunk has at most so many; 0 with NAK, and only then */
	uint64_t initiator_token; /* that packets to the initiator are to carry */
	struct wh_open_option options[WH_OPEN_OPTIONS_MAX]; /* numbers ascend */
	char name[WH_NAME_BYTES_MAX + 1];
};

#define WH_COOKIE_BYTES 16

/* OPEN: params. ACCEPT: params of the listener's answer. CONFIRM: params and cookie. */
struct wh_open {
	uint32_t stamp_us;
	uint32_t answer_lci; /* the initiator's, for who cannot read the parameters; or 0 */
	struct wh_open_params params;
};

struct wh_accept {
	uint32_t acceptor_lci; /* under which the acceptor wants packets; not 0 unless refused */
	uint32_t stamp_us;     /* echo of the OPEN's, for a first RTT */
	uint8_t cookie[WH_COOKIE_BYTES];
	uint32_t buffer_chunks; /* that the acceptor will have */
	uint8_t refused;        /* enum wh_release_status, not VERIFIED; 0: welcome */
};

struct wh_confirm {
	uint32_t acceptor_lci;
	uint8_t cookie[WH_COOKIE_BYTES];
	struct wh_open_params params;
};

/*
 * Without flags one of a numbered train; with one a question. With an lci it belongs to that
 * session, without one it is a stranger's. His token is the proof of the cookie that he was given
 * when he asked, and `made_us` the rest of it. The padding, zeros, makes a packet as long as is
 * wanted; an answer is never longer than the question. Under a bond ASK is closed by that, its
 * answer too, about the token that it told, and all else about the proof of the cookie; the serials
 * are the bond's.
 */
struct wh_probe {
	/* Prober's clock when it was sent; echoed, whatever it says. With WH_FLAG_ASK: the token
	 * that the answer is to carry. */
	uint64_t stamp_ns;
	uint64_t made_us;       /* of the cookie; 0: none */
	uint32_t index;         /* in the train; with WH_FLAG_FETCH: the first arrival wanted */
	uint32_t count;         /* packets of the train; more than index */
	uint16_t padding_bytes; /* equals the body's length */
	uint16_t train;         /* its number: a later one ends those before */
	uint32_t bond;          /* of both, by the answering end's number; 0: none */
};

/*
 * The flags are the question's. With WH_FLAG_ASK the words are made_us and the token, if status is
 * PENDING: welcome. With WH_FLAG_FETCH each is an arrival: in its lower half the index, in the
 * upper one the nanoseconds since the train's first arrival.
 */
struct wh_probe_answer {
	uint64_t stamp_ns; /* the question's */
	uint32_t index;    /* the question's */
	uint32_t total;    /* ASK: arrivals that are noted of a train at most; FETCH: that were */
	uint32_t heard;    /* ECHO: echoes answered so far; FETCH: packets of the train that came */
	uint16_t train;    /* the question's */
	uint16_t n_words;
	uint8_t status; /* enum wh_release_status, PENDING unless refused */
	uint64_t words[WH_PROBE_WORDS_MAX];
};

enum wh_release_stage {
	WH_RELEASE_REQUEST = 1, /* transmitter: everything is sent, this is its digest */
	WH_RELEASE_REPLY = 2,   /* receiver: what became of it */
	WH_RELEASE_DONE = 3,    /* transmitter: I know */
	WH_RELEASE_ABORT = 4,   /* either: it is over, see status */
	WH_RELEASE_STAGES = 5,
};

/* The outcome of a connection, the same numbers on both ends. */
enum wh_release_status {
	WH_STATUS_PENDING = 0,
	WH_STATUS_VERIFIED = 1,    /* all bytes arrived, digest agrees, file has its final name */
	WH_STATUS_MISMATCH = 2,    /* digest or size does not agree */
	WH_STATUS_NO_SPACE = 3,    /* the receiver's disk is full */
	WH_STATUS_IO_ERROR = 4,    /* reading or writing a file failed */
	WH_STATUS_REFUSED = 5,     /* parameters or peer not acceptable */
	WH_STATUS_BUSY = 6,        /* no connection free */
	WH_STATUS_INTERRUPTED = 7, /* by an operator */
	WH_STATUS_STALLED = 8,     /* no progress for too long */
	WH_STATUS_PEER_GONE = 9,   /* no packets from the peer for too long; never on the wire */
	WH_STATUS_UNREPAIRED =
		10,              /* repair packets did not suffice, and nothing may be asked for */
	WH_STATUS_UNSEALED = 11, /* this end takes sealed connections alone */
	WH_STATUS_UNBOUND = 12,  /* it knows no bond of that number */
	WH_STATUS_REVOKED = 13,  /* the peer is not trusted any more */
	WH_STATUS_REPLACED = 14, /* another process of the peer stands where that one did */
	WH_STATUSES = 15,
};

const char *wh_release_status_name(enum wh_release_status status);

struct wh_release {
	uint64_t chunks; /* of the whole stream; up to WH_CHUNK_NUMBER_MAX + 1 */
	uint64_t total_bytes;
	uint64_t serial_end; /* one past the last serial */
	uint8_t stage;       /* enum wh_release_stage */
	uint8_t status;      /* enum wh_release_status */
	struct wh_digest digest;
};

/*
 * Two processes greet each other before anything is sealed: TLS, whose bytes go in pieces each way
 * (lib/trust). The number is the greeting end's, and none but it and who hears it can tell; the
 * cookie is the other end's, who keeps nothing before it comes back. Both stand in every piece.
 */
struct wh_ask {
	uint64_t greeting;
	uint8_t padding[WH_ASK_PADDING]; /* says nothing: versions.h wants the length */
};

struct wh_cookie {
	uint64_t greeting; /* ASK's */
	uint8_t cookie[WH_COOKIE_BYTES];
};

struct wh_crypto {
	uint64_t greeting;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint32_t offset;        /* of the first byte */
	uint32_t acked;         /* all before it have come from the other end */
	uint16_t bytes;         /* may be 0 */
	uint16_t padding_bytes; /* zeros behind them: what is answered is measured by what came */
	uint8_t data[WH_CRYPTO_BYTES_MAX];
};

struct wh_packet {
	enum wh_packet_type type;
	uint8_t flags;
	uint32_t lci;
	uint64_t serial;
	const uint8_t *payload; /* data, repair: points into the bytes decoded */
	union {
		uint8_t fields[WH_FIELDS_BYTES];
		struct wh_data_fields data;
		struct wh_rcv_state rcv_state;
		struct wh_trans_state trans_state;
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
	};
};

/* Parameters as they travel; WH_CONTROL_BYTES_MAX of room are enough. Returns how many bytes. */
size_t wh_params_encode(const struct wh_open_params *params, uint8_t *bytes);

/* Whether every field is within its limits: what decoding ensures and what encoders assert. */
enum wh_wire_reason wh_packet_check(const struct wh_packet *packet);

/*
 * Decodes one packet; *packet is defined only when WH_WIRE_OK is returned. Data packets touch
 * only their own few members of *packet, so the union's size costs nothing. Nothing that it says is
 * to be believed before its seal is opened (lib/seal), and what a seal encrypts is not to be read
 * before: the body of all packets but data and repair, whose fields are all in the head.
 *
 * In two steps: the first one judges size and kind and reads type, flags, lci and serial, so that
 * who has the seal can be found; the second one reads the rest of a packet that has passed it.
 */
enum wh_wire_reason wh_packet_decode(const uint8_t *bytes, size_t length, struct wh_packet *packet);
enum wh_wire_reason wh_packet_peek(const uint8_t *bytes, size_t length, struct wh_packet *packet);
enum wh_wire_reason wh_packet_read(const uint8_t *bytes, size_t length, struct wh_packet *packet);

/*
 * Encodes any packet but data and repair into `room` bytes and returns its length. Key number and
 * tag are the seal's to write. WH_CONTROL_BYTES_MAX of room are always enough, but for a probe with
 * more padding.
 */
uint32_t wh_packet_encode(const struct wh_packet *packet, uint8_t *bytes, size_t room);

/*
 * Encodes the head of a data or repair packet, WH_HEAD_BYTES but for key number and tag, for a
 * payload that is not touched; data.payload_bytes says how long it is.
 */
void wh_packet_encode_data(const struct wh_packet *packet, uint8_t *head);

/*
 * Payload of a length and without bytes, for simulators: takes a head and the length of what would
 * follow, is as strict as above, and knows no types but data and repair. packet->payload is NULL.
 * Such packets are not closed: nothing in a simulator changes their bytes.
 */
enum wh_wire_reason wh_packet_decode_virtual(
	const uint8_t *head, size_t payload_bytes, struct wh_packet *packet);

#endif
