/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/mailbox/mailbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* Questions of one job per second. */
#define QUESTIONS_PER_S 10

void wh_mailbox_init(struct wh_mailbox *mailbox, void (*wake)(void *context), void *context)
{
	memset(mailbox, 0, sizeof(*mailbox));
	mailbox->wake = wake;
	mailbox->context = context;
	wh_spin_init(&mailbox->lock);
}

static void clear(struct wh_mailbox_place *place)
{
	for (uint32_t i = 0; i < place->question.paths; i++)
		free(place->question.path[i]);
	free(place->question.path);
	free(place->texts);
	place->question = (struct wh_mailbox_question){0};
	place->texts = NULL;
	place->refused = false;
	place->next_tsc = 0;
}

void wh_mailbox_free(struct wh_mailbox *mailbox)
{
	for (uint32_t i = 0; i < WH_MAILBOX_PLACES; i++)
		clear(&mailbox->place[i]);
}

static void set_state(
	struct wh_mailbox *mailbox, struct wh_mailbox_place *place, enum wh_mailbox_state state)
{
	WH_HOLD(&mailbox->lock);
	place->state = state;
}

static struct wh_mailbox_place *find(
	struct wh_mailbox *mailbox, enum wh_mailbox_state from, enum wh_mailbox_state to)
{
	struct wh_mailbox_place *found = NULL;

	WH_HOLD(&mailbox->lock);
	for (uint32_t i = 0; i < WH_MAILBOX_PLACES && found == NULL; i++)
		if (mailbox->place[i].state == from)
			found = &mailbox->place[i];
	if (found != NULL)
		found->state = to;
	return found;
}

struct wh_mailbox_place *wh_mailbox_enter(struct wh_mailbox *mailbox, uint64_t rights,
	const uint8_t identity[WH_IDENTITY_BYTES], const char *const *path, uint32_t paths)
{
	struct wh_mailbox_place *place = atomic_load(&mailbox->kept)
						 ? find(mailbox, WH_MAILBOX_FREE, WH_MAILBOX_IDLE)
						 : NULL;

	if (place == NULL)
		return NULL;

	struct wh_mailbox_question *question = &place->question;

	question->rights = rights;
	memcpy(question->identity, identity, WH_IDENTITY_BYTES);
	question->path = calloc(paths + 1, sizeof(question->path[0]));
	for (uint32_t i = 0; question->path != NULL && i < paths; i++) {
		question->path[i] = strdup(path[i]);
		question->paths += question->path[i] != NULL;
	}
	if (question->path != NULL && question->paths == paths)
		return place;
	clear(place);
	set_state(mailbox, place, WH_MAILBOX_FREE);
	return NULL;
}

void wh_mailbox_leave(struct wh_mailbox *mailbox, struct wh_mailbox_place *place)
{
	bool taken;

	if (place == NULL)
		return;
	wh_spin_lock(&mailbox->lock);
	WH_ASSERT(place->state != WH_MAILBOX_FREE && place->state != WH_MAILBOX_LEFT);
	taken = place->state == WH_MAILBOX_TAKEN;
	place->state = taken ? WH_MAILBOX_LEFT : WH_MAILBOX_IDLE;
	wh_spin_unlock(&mailbox->lock);
	if (taken)
		return;
	clear(place);
	set_state(mailbox, place, WH_MAILBOX_FREE);
}

static char *add_text(char *at, const char **text, const char *from, uint32_t bytes)
{
	*text = at;
	memcpy(at, from, bytes);
	at[bytes] = '\0';
	return at + bytes + 1;
}

bool wh_mailbox_put(struct wh_mailbox *mailbox, struct wh_mailbox_place *place,
	const struct wh_ordering *order, uint64_t now_tsc, uint64_t hz)
{
	struct wh_ordering *kept = &place->question.order;
	char *at;

	if (now_tsc < place->next_tsc)
		return false;
	place->next_tsc = now_tsc + hz / QUESTIONS_PER_S;
	if (place->refused) {
		set_state(mailbox, place, WH_MAILBOX_ANSWERED);
		return true;
	}
	at = malloc((size_t)order->host_bytes + order->path_bytes + order->rate_bytes +
		    order->words_bytes + 4);
	if (at == NULL)
		return false;
	free(place->texts);
	place->texts = at;
	*kept = *order;
	at = add_text(at, &kept->host, order->host, order->host_bytes);
	at = add_text(at, &kept->path, order->path, order->path_bytes);
	at = add_text(at, &kept->rate, order->rate, order->rate_bytes);
	(void)add_text(at, &kept->words, order->words, order->words_bytes);
	set_state(mailbox, place, WH_MAILBOX_ASKED);
	mailbox->wake(mailbox->context);
	return true;
}

bool wh_mailbox_take(struct wh_mailbox *mailbox, struct wh_mailbox_place *place,
	struct wh_order_status *order_status)
{
	bool answered;

	wh_spin_lock(&mailbox->lock);
	answered = place->state == WH_MAILBOX_ANSWERED;
	if (answered)
		place->state = WH_MAILBOX_IDLE;
	wh_spin_unlock(&mailbox->lock);
	if (answered)
		*order_status = place->answer;
	return answered;
}

struct wh_mailbox_place *wh_mailbox_next(struct wh_mailbox *mailbox)
{
	return find(mailbox, WH_MAILBOX_ASKED, WH_MAILBOX_TAKEN);
}

void wh_mailbox_answer(struct wh_mailbox *mailbox, struct wh_mailbox_place *place,
	const struct wh_order_status *order_status)
{
	bool left;

	place->answer = *order_status;
	snprintf(place->why, sizeof(place->why), "%s", order_status->why);
	place->answer.why = place->why;
	place->answer.why_bytes = (uint16_t)strlen(place->why);
	place->refused = order_status->state == WH_ORDER_STATUS_REFUSED;
	wh_spin_lock(&mailbox->lock);
	left = place->state == WH_MAILBOX_LEFT;
	if (!left)
		place->state = WH_MAILBOX_ANSWERED;
	wh_spin_unlock(&mailbox->lock);
	if (!left)
		return;
	clear(place);
	set_state(mailbox, place, WH_MAILBOX_FREE);
}
