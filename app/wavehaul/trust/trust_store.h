/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The trusted peers of a running process: the files of trust.d, checked for changes once a second.
 * A handshake server asks whom to authorize, and jobs which rights their peers have. Each answer
 * has a number, which is withdrawn when its file is removed or changed.
 *
 * The main thread opens, looks and closes; everything else may be called on any core. Nothing here
 * is on a packet's path.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "trust/authority.h"
#include "trust/authorizer.h"
#include "trust/days.h"
#include "trust/keeper.h"
#include "trust/peer_list.h"
#include "trust/trust_place.h"

/* Maximum number of stored answers. */
#define WH_ANSWERS_MAX 1024

/* The number of our own rights: for a peer with our own key. */
#define WH_RIGHTS_OWN 1

#define WH_REFUSAL_BYTES 1024
#define WH_WHY_BYTES     640

/* A peer that was authorized. */
struct wh_answer {
	uint64_t number; /* 0: unused */
	bool withdrawn;
	bool disowned;        /* withdrawn since no authority accepts its certificate */
	int64_t used_s;       /* time of the last request for it */
	int64_t authorized_s; /* time of day when it was given */
	struct wh_peer_file peer;
	uint8_t id[WH_IDENTITY_BYTES];
	/*
	 * The identity that is charged: that of the key, or of the owner named by an authority,
	 * whichever of his proxies' keys is used.
	 */
	uint8_t owner[WH_IDENTITY_BYTES];
	uint32_t jobs;     /* running now; kept while not 0 */
	X509 *certificate; /* signed by an authority; NULL: identified by its key */
	STACK_OF(X509) * chain;
};

/* An unknown server, and the decision of the person at the terminal. */
enum wh_asking {
	WH_ASKING_NONE = 0,
	WH_ASKING_WANTED, /* by the handshake server's core */
	WH_ASKING_ASKED,  /* shown on the terminal */
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
	/* Constant once it is open. */
	struct wh_trust_place place;
	char pair[WH_HOST_BYTES]; /* wh_trust_open_pair: the other end; "": peers are in files */
	uint8_t own_id[WH_IDENTITY_BYTES];
	/* The peer that a client means; "": any peer at the address. */
	char expected[WH_PEER_NAME_BYTES];
	bool may_ask; /* a person is at the terminal */

	_Atomic uint32_t changes; /* any core: changes whenever a number is withdrawn */

	/* Owned by the main thread. */
	uint64_t stamp; /* of the files that were read */
	int64_t looked_s;
	struct wh_keeper *keeper; /* NULL: days are lost at the end of the process */

	/* Under the lock. */
	struct wh_spin lock;
	struct wh_peer_list list;
	struct wh_authority *authority; /* NULL: none */
	struct wh_answer *answer;       /* WH_ANSWERS_MAX */
	struct wh_days *days;
	uint64_t next_number;
	struct wh_question question;
	struct wh_address bind; /* new address of a known peer; family 0: none */
	char bind_name[WH_PEER_NAME_BYTES];
	char refusal[WH_REFUSAL_BYTES];        /* of the last refused server, "": none */
	uint8_t refused_id[WH_IDENTITY_BYTES]; /* the last key that was refused */
	char refused_why[WH_WHY_BYTES];        /* why it was */
	int64_t told_ns;                       /* time of the last log line */
};

/* `own`: our identity. -1, or the exit status after a complaint. */
int wh_store_open(struct wh_store *store, const struct wh_trust_place *place,
	const uint8_t own[WH_IDENTITY_BYTES]);
void wh_store_close(struct wh_store *store);

/*
 * question.c: on the main thread, a few times a second: asks a pending question, reads the reply if
 * there is one, and checks the files.
 */
void wh_store_look(struct wh_store *store);

/* Once a second: reads changed files. */
void wh_store_check(struct wh_store *store);

/*
 * Reads the files at once, even within the same second. A file that is invalid now keeps the rights
 * that this process has read from it before.
 */
void wh_store_reload(struct wh_store *store);

/* Like wh_store_reload, and reports the result. */
void wh_store_reload_told(struct wh_store *store);

/* Loads days from that file, and saves them there until the store is closed. */
void wh_store_keep_days(struct wh_store *store, const char *path);

/* Whether a client means one key, by a name or by that address; `id`: which one. */
bool wh_store_meant(
	struct wh_store *store, const struct wh_address *address, uint8_t id[WH_IDENTITY_BYTES]);

struct wh_authorizer wh_store_authorizer(struct wh_store *store);

/* The rights of a number; false: withdrawn. `name`: the peer's, "": ourselves. */
bool wh_store_rights(struct wh_store *store, uint64_t number, struct wh_rights *rights,
	char name[WH_PEER_NAME_BYTES]);

/*
 * A peer's job begins, or ends. -ENOENT: its rights were withdrawn; -EBUSY: its owner has as many
 * jobs as allowed. A peer authorized again keeps its total of the day.
 */
int wh_store_enter(struct wh_store *store, uint64_t number);
void wh_store_leave(struct wh_store *store, uint64_t number);

/* Adds moved bytes (0: none); false: more than it may move in a day. */
bool wh_store_spend(struct wh_store *store, uint64_t number, uint64_t bytes);

/*
 * orderer.c. The owner of a waiting order: the identity charged for the answer `number`. False: no
 * longer trusted.
 */
bool wh_store_owner(struct wh_store *store, uint64_t number, uint8_t owner[WH_IDENTITY_BYTES]);
/*
 * The present rights of that owner, with the peer's name here ("": our own key). False: no longer
 * trusted.
 */
bool wh_store_rights_of(struct wh_store *store, const char *name,
	const uint8_t owner[WH_IDENTITY_BYTES], struct wh_rights *rights);
/* A charge for bytes moved for that owner, as in wh_store_spend. */
bool wh_store_charge(struct wh_store *store, const uint8_t owner[WH_IDENTITY_BYTES],
	const struct wh_rights *rights, uint64_t bytes);

/* Why that key was refused last; "": another one was refused since. */
void wh_store_why(
	struct wh_store *store, const uint8_t id[WH_IDENTITY_BYTES], char why[WH_WHY_BYTES]);

/* Why the last server was refused, and what to do; "": none was. */
void wh_store_refusal(struct wh_store *store, char text[WH_REFUSAL_BYTES]);
