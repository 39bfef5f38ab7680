/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/greet.h"

#include <string.h>

#include "base/assert.h"
#include "host/ground.h"

/* Bonds at once: peers that share a secret with this process. */
#define BONDS 4096

/*
 * Letters that a turn takes of a queue. One may cost the working core a signature and what else a
 * handshake takes, some 300 us, and jobs have their turns between.
 */
#define TAKEN_PER_TURN 4

int wh_greet_init(
	struct wh_greet *greet, struct wh_ground *ground, const struct wh_greet_settings *settings)
{
	struct wh_greeter_config config = {
		.hz = ground->hz,
		.identity = settings->identity,
		.ciphers = settings->ciphers,
		.version = WH_VERSION,
		.believer = settings->believer,
		.tell = settings->tell,
		.context = settings->context,
		.bonds = &greet->bonds,
	};

	*greet = (struct wh_greet){.ground = ground};
	memcpy(config.key, ground->cookie_key, sizeof(config.key));

	int rc = wh_bonds_init(&greet->bonds, BONDS);

	if (rc == 0)
		rc = wh_greeter_init(&greet->greeter, &config);
	if (rc != 0)
		wh_bonds_free(&greet->bonds);
	else
		ground->greet = greet;
	return rc;
}

void wh_greet_free(struct wh_greet *greet)
{
	if (greet->ground == NULL)
		return;
	wh_greeter_free(&greet->greeter);
	wh_bonds_free(&greet->bonds);
	greet->ground->greet = NULL;
	greet->ground = NULL;
}

static int32_t take(struct wh_greet *greet, struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_slot *slot;
	int32_t work = 0;

	while (work < TAKEN_PER_TURN && (slot = wh_slot_fifo_peek(&endpoint->letters_in)) != NULL) {
		wh_greeter_take(&greet->greeter, now_tsc, (const struct wh_letter *)slot->data);
		wh_slot_fifo_release(&endpoint->letters_in);
		work++;
	}
	return work;
}

/* What finds no room is lost, as on the way, and goes again. */
static void post(struct wh_ground *ground, const struct wh_letter *letter)
{
	WH_ASSERT(letter->queue < ground->settings->queues);

	struct wh_endpoint *endpoint = ground->shard[letter->queue].endpoint;
	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint->letters_out);

	if (slot == NULL)
		return;
	memcpy(slot->data, letter, sizeof(*letter));
	slot->bytes = sizeof(*letter);
	wh_slot_fifo_commit(&endpoint->letters_out);
}

int32_t wh_greet_poll(void *state, uint64_t now_tsc)
{
	struct wh_greet *greet = state;
	struct wh_ground *ground = greet->ground;
	struct wh_letter letter;
	int32_t work = 0;

	for (uint32_t i = 0; i < ground->settings->queues; i++)
		work += take(greet, ground->shard[i].endpoint, now_tsc);
	work += wh_greeter_poll(&greet->greeter, now_tsc);
	while (wh_greeter_give(&greet->greeter, now_tsc, &letter)) {
		post(ground, &letter);
		work++;
	}
	return work;
}
