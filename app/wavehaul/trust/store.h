/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_STORE_H
#define WH_APP_TRUST_STORE_H

/*
 * Who is trusted, while a process runs: the files of trust.d, looked at once a second. A greeter
 * asks whom to believe, and jobs what their peers may do. What is answered has a number, which is
 * withdrawn once the file that said so is gone, or says something else.
 *
 * The main thread opens, looks and closes; all else is for any core. Nothing here is on the way of
 * a packet.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "trust/authority.h"
#include "trust/believer.h"
#include "trust/days.h"
#include "trust/keeper.h"
#include "trust/peer_list.h"
#include "trust/place.h"

/* Answers that are kept. */
#define WH_ANSWERS_MAX 1024

/* The number of what we may do ourselves: a peer with our own key. */
#define WH_RIGHTS_OWN 1

#define WH_REFUSAL_BYTES 1024
#define WH_WHY_BYTES     640

/* Somebody was believed. */
struct wh_answer {
	uint64_t number; /* 0: free */
	bool withdrawn;
	int64_t used_s;     /* when somebody asked for it last */
	int64_t believed_s; /* what the time of day was said to be then */
	struct wh_peer_file peer;
	uint8_t id[WH_IDENTITY_BYTES];
	/* Who is charged: the key itself, or the owner that an authority vouches for, whatever keys
	 * he has given his proxies. */
	uint8_t owner[WH_IDENTITY_BYTES];
	uint32_t jobs;     /* at once; it is not forgotten meanwhile */
	X509 *certificate; /* of one that an authority vouches for; NULL: known by its key */
	STACK_OF(X509) * chain;
};

/* A server that nobody knows, and what the person at the terminal says. */
enum wh_asking {
	WH_ASKING_NONE = 0,
	WH_ASKING_WANTED, /* by the greeter's core */
	WH_ASKING_ASKED,  /* it stands on the terminal */
	WH_ASKING_NO,
};

struct wh_question {
	enum wh_asking state;
	struct wh_address address;
	uint8_t id[WH_IDENTITY_BYTES];
	char typed[256];
	uint32_t chars;
};

struct wh_store {
	/* Since it was opened. */
	struct wh_trust_place place;
	uint8_t own_id[WH_IDENTITY_BYTES];
	char expected[WH_PEER_NAME_BYTES]; /* whom a client means; "": whoever is at the address */
	bool may_ask;                      /* a person who sits at a terminal */

	_Atomic uint32_t changes; /* any core: another number after a number was withdrawn */

	/* The main thread's. */
	uint64_t stamp; /* of the files as they were read */
	int64_t looked_s;
	struct wh_keeper *keeper; /* NULL: days end with the process */

	/* Under the lock. */
	struct wh_spin lock;
	struct wh_peer_list list;
	struct wh_authority *authority; /* NULL: none */
	struct wh_answer *answer;       /* WH_ANSWERS_MAX */
	struct wh_days *days;
	uint64_t next_number;
	struct wh_question question;
	struct wh_address bind; /* where a known peer was met first; family 0: nowhere */
	char bind_name[WH_PEER_NAME_BYTES];
	char refusal[WH_REFUSAL_BYTES]; /* the last one of a server, "" as long as there is none */
	uint8_t refused_id[WH_IDENTITY_BYTES]; /* whoever was refused last, and ... */
	char refused_why[WH_WHY_BYTES];
	int64_t told_ns; /* when a line was written last */
};

/* `own`: our identity. -1, or the exit status after a complaint. */
int wh_store_open(struct wh_store *store, const struct wh_trust_place *place,
	const uint8_t own[WH_IDENTITY_BYTES]);
void wh_store_close(struct wh_store *store);

/* The main thread, a few times a second: reads what has changed, and asks what is to be asked. */
void wh_store_look(struct wh_store *store);

/*
 * At once, whether a second has passed or not. A file in which something is wrong counts for what
 * it said before, if this process has read it before.
 */
void wh_store_reload(struct wh_store *store);

/* Likewise, and says what there is. */
void wh_store_reload_told(struct wh_store *store);

/* Goes on with the days of that file, and keeps them there, until it is closed. */
void wh_store_keep_days(struct wh_store *store, const char *path);

struct wh_believer wh_store_believer(struct wh_store *store);

/* What is behind a number: false: it was withdrawn. `name`: of the peer, "" of ourselves. */
bool wh_store_rights(struct wh_store *store, uint64_t number, struct wh_rights *rights,
	char name[WH_PEER_NAME_BYTES]);

/*
 * A job of a peer begins and ends: -ENOENT: its rights were withdrawn; -EBUSY: it has as many as it
 * may, those of the same owner counted. Who is believed anew goes on with what he has moved in the
 * day.
 */
int wh_store_enter(struct wh_store *store, uint64_t number);
void wh_store_leave(struct wh_store *store, uint64_t number);

/* It has moved so many bytes more (0: nothing new); false: more than it may in a day. */
bool wh_store_spend(struct wh_store *store, uint64_t number, uint64_t bytes);

/*
 * orderer.c: of whom an order is that waits in the queue: who is charged for what he asks by a
 * number; then, with his name here ("": our own key), what he may do now. False: he is not trusted
 * any more. And what was moved for him, as of wh_store_spend.
 */
bool wh_store_owner(struct wh_store *store, uint64_t number, uint8_t owner[WH_IDENTITY_BYTES]);
bool wh_store_rights_of(struct wh_store *store, const char *name,
	const uint8_t owner[WH_IDENTITY_BYTES], struct wh_rights *rights);
bool wh_store_charge(struct wh_store *store, const uint8_t owner[WH_IDENTITY_BYTES],
	const struct wh_rights *rights, uint64_t bytes);

/* Why somebody with that key was refused last; "": others were since. */
void wh_store_why(
	struct wh_store *store, const uint8_t id[WH_IDENTITY_BYTES], char why[WH_WHY_BYTES]);

/* Why the last server was refused, and what to do; "": none was. */
void wh_store_refusal(struct wh_store *store, char text[WH_REFUSAL_BYTES]);

/* question.c: asks and hears, without waiting; under no lock. */
void wh_store_ask(struct wh_store *store);

/* What would let somebody in, as a command. */
const char *wh_store_command(const uint8_t id[WH_IDENTITY_BYTES], const struct wh_address *address,
	bool at, char text[WH_REFUSAL_BYTES]);

#endif
