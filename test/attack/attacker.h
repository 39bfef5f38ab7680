/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A host on the link that means harm: frames from any address that it likes, or sessions of its own
 * in which it lies. What it needs to know is given on the command line, and what it has seen is
 * printed as one JSON object; whether the attack was borne is for test/attack/attack.py to judge.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prng.h"
#include "wire/encap.h"
#include "wire/packet.h"

#define WH_ATTACK_NOTES       24
#define WH_ATTACK_FRAME_BYTES 2048

struct wh_attack_note {
	const char *name;
	uint64_t value;
};

struct wh_attacker {
	const char *interface;
	int interface_number;
	int raw; /* AF_PACKET */
	struct wh_address own;
	struct wh_address server;
	struct wh_address peer; /* whose address is taken in vain */
	uint8_t own_mac[6];
	uint8_t server_mac[6];
	uint8_t peer_mac[6];
	uint64_t began_ns;
	uint64_t seconds_ns; /* of an attack that goes on for a time */
	uint64_t pps;        /* 0: as fast as it goes */
	uint64_t count;      /* how much of it; 0: the attack's own idea */
	uint32_t cid;        /* of a connection, overheard, as are its token ... */
	uint64_t token;
	uint64_t pn; /* ... and where its data are */
	const char *path;
	const char *key;  /* a file with its identity: what its peers say is sealed */
	struct wh_sa *sa; /* with the server, once the handshake is over */
	struct wh_prng prng;
	uint64_t sent_pkts;
	uint64_t sent_bytes; /* of frames */
	struct wh_attack_note note[WH_ATTACK_NOTES];
	uint32_t notes;
};

struct wh_attack {
	const char *name;
	uint32_t item; /* of the list of what anyone can do */
	const char *does;
	void (*run)(struct wh_attacker *attacker);
};

uint64_t wh_attack_now_ns(void);
void wh_attack_sleep_ms(uint32_t ms);

/* Until its time is over. */
bool wh_attack_goes_on(const struct wh_attacker *attacker);

/* What is printed in the end: the last value of each name. */
void wh_attack_note(struct wh_attacker *attacker, const char *name, uint64_t value);

/* An IPv4 address that differs from `address` in its last byte; the port is a copy. */
struct wh_address wh_attack_beside(const struct wh_address *address, uint8_t last);

/* A frame as it is, then a pause where a rate was asked for. */
void wh_attack_frame(struct wh_attacker *attacker, const uint8_t *frame, size_t bytes);

/* UDP over IPv4 in which nothing need be true, to the station of that MAC. */
void wh_attack_datagram(struct wh_attacker *attacker, const struct wh_address *from,
	const struct wh_address *to, const uint8_t to_mac[6], const uint8_t *bytes, size_t count);

/* The same to the server; and in the names of server and peer to each other. */
void wh_attack_to_server(struct wh_attacker *attacker, const struct wh_address *from,
	const uint8_t *bytes, size_t count);
void wh_attack_both_ways(struct wh_attacker *attacker, const uint8_t *bytes, size_t count);

/* Encoded; a packet outside its limits is made from one within them, and tagged again. */
uint32_t wh_attack_encode(
	const struct wh_packet *packet, uint64_t token, uint8_t bytes[WH_ATTACK_FRAME_BYTES]);
void wh_attack_tag(uint8_t *bytes, size_t count);

/* What OPEN of an honest client says. */
struct wh_open_params wh_attack_params(uint32_t initiator_cid);

/* An honest example of any type, addressed to that connection. */
struct wh_packet wh_attack_example(enum wh_packet_type type, uint32_t cid);

/* With a key: makes the SA, or ends the program. */
void wh_attack_handshake(struct wh_attacker *attacker);

/* By file. */
extern const struct wh_attack wh_attacks_packets[];
extern const struct wh_attack wh_attacks_neighbours[];
extern const struct wh_attack wh_attacks_opens[];
extern const struct wh_attack wh_attacks_sessions[];
extern const struct wh_attack wh_attacks_jobs[];
extern const struct wh_attack wh_attacks_bundles[];
extern const struct wh_attack wh_attacks_taps[];
extern const struct wh_attack wh_attacks_handshakes[];
extern const struct wh_attack wh_attacks_sas[];
extern const struct wh_attack wh_attacks_lies[];
extern const struct wh_attack wh_attacks_orderer[];
