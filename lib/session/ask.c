/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Between a session and its users on other cores: requests (wishes) go in, news come out.
 *
 * A wish is a bit in one word with the statuses, so that one atomic operation sets both and the
 * owner core reads them together. The user then kicks the session's place in its half of the
 * endpoint, so that the wish is noticed soon. For a session without a place it kicks a common bit,
 * after which the half polls all of its sessions.
 *
 * Once CLOSE is set the session may be freed at any time, so ask.c does not touch it any more.
 */

#include <assert.h>

#include <rte_pause.h>

#include "session/session_internal.h"

#define WISHES        (WH_WISH_ABORT | WH_WISH_SINK_DONE | WH_WISH_CLOSE)
#define ABORT_SHIFT   8
#define SINK_SHIFT    16
#define STATUS_MASK   0xff
#define OUTCOME_SHIFT 8

static_assert(WISHES < 1 << ABORT_SHIFT && WH_STATUSES <= STATUS_MASK, "each has its own bits");

static uint32_t word_of(enum wh_session_wish wish, enum wh_release_status status)
{
	if (wish == WH_WISH_ABORT)
		return wish | (uint32_t)status << ABORT_SHIFT;
	if (wish == WH_WISH_SINK_DONE)
		return wish | (uint32_t)status << SINK_SHIFT;
	return wish;
}

/* Only the first wish of a kind counts, so that a status is never a mixture of two. */
static void set_wish(struct wh_session *s, enum wh_session_wish wish, uint32_t word)
{
	uint32_t wishes = atomic_load(&s->wishes);

	while ((wishes & wish) == 0)
		if (atomic_compare_exchange_weak(&s->wishes, &wishes, wishes | word))
			return;
}

static void ask_to_close(struct wh_session *s)
{
	struct wh_half *half = atomic_load(&s->half);

	/* Just accepted: the RX core is about to give it a place. */
	for (; half == NULL; half = atomic_load(&s->half))
		rte_pause();

	uint32_t place = atomic_load(&s->place);

	set_wish(s, WH_WISH_CLOSE, WH_WISH_CLOSE);
	wh_half_kick(half, place);
}

void wh_session_ask(struct wh_session *s, enum wh_session_wish wish, enum wh_release_status status)
{
	WH_ASSERT(wish == WH_WISH_ABORT || wish == WH_WISH_SINK_DONE || wish == WH_WISH_CLOSE);
	WH_ASSERT(wish != WH_WISH_ABORT || status >= WH_STATUS_MISMATCH);
	WH_ASSERT(wish != WH_WISH_SINK_DONE ||
		  (s->role == WH_RECEIVER && status != WH_STATUS_PENDING));
	if (wish == WH_WISH_CLOSE) {
		ask_to_close(s);
		return;
	}
	set_wish(s, wish, word_of(wish, status));
	wh_session_kick(s);
}

void wh_session_kick(struct wh_session *s)
{
	struct wh_half *half = atomic_load(&s->half);

	if (half != NULL) /* else it is polled when it gets its place */
		wh_half_kick(half, atomic_load(&s->place));
}

void wh_session_set_rate(struct wh_session *s, uint64_t rate_bps)
{
	WH_ASSERT(s->role == WH_TRANSMITTER && s->config.rate_bps > 0 && rate_bps > 0);
	if (atomic_exchange_explicit(&s->wanted_bps, rate_bps, memory_order_relaxed) != rate_bps)
		wh_session_kick(s);
}

uint64_t wh_session_rate(const struct wh_session *s)
{
	return atomic_load_explicit(&s->rate_bps, memory_order_relaxed);
}

void wh_session_set_option(struct wh_session *s, uint32_t option, double value)
{
	WH_ASSERT(s->role == WH_TRANSMITTER && option < s->config.profile->n_options);
	WH_ASSERT(s->config.profile->options[option].live);
	atomic_store_explicit(&s->option[option], value, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->option_wishes, 1, memory_order_release);
	wh_session_kick(s);
}

struct wh_profile_options wh_session_options(const struct wh_session *s)
{
	struct wh_profile_options options;

	for (uint32_t i = 0; i < WH_OPTIONS_MAX; i++)
		options.value[i] = atomic_load_explicit(&s->option[i], memory_order_relaxed);
	return options;
}

bool wh_session_fresh_wishes(struct wh_session *s, struct wh_wishes *fresh)
{
	uint32_t wishes = atomic_load(&s->wishes);

	fresh->wishes = wishes & WISHES & ~s->granted;
	fresh->sink = (enum wh_release_status)(wishes >> SINK_SHIFT & STATUS_MASK);
	fresh->abort = (enum wh_release_status)(wishes >> ABORT_SHIFT & STATUS_MASK);
	s->granted |= fresh->wishes;
	return fresh->wishes != 0;
}

void wh_session_publish(struct wh_session *s)
{
	uint32_t news = (uint32_t)s->phase | (uint32_t)s->outcome << OUTCOME_SHIFT;

	if (news != atomic_load_explicit(&s->news, memory_order_relaxed))
		atomic_store_explicit(&s->news, news, memory_order_release);
}

struct wh_session_news wh_session_news(const struct wh_session *s)
{
	uint32_t news = atomic_load_explicit(&s->news, memory_order_acquire);

	return (struct wh_session_news){
		.phase = (enum wh_phase)(news & ((1 << OUTCOME_SHIFT) - 1)),
		.outcome = (enum wh_release_status)(news >> OUTCOME_SHIFT),
	};
}

uint64_t wh_session_heard_tsc(const struct wh_session *s)
{
	return __atomic_load_n(&s->last_heard_tsc, __ATOMIC_RELAXED);
}

bool wh_session_peer_versions(const struct wh_session *s, uint8_t *least, uint8_t *most)
{
	uint32_t versions = atomic_load(&s->peer_versions);

	*least = (uint8_t)versions;
	*most = (uint8_t)(versions >> 8);
	return versions != 0;
}

void wh_session_set_context(struct wh_session *s, void *context)
{
	s->context = context;
}

void *wh_session_context(const struct wh_session *s)
{
	return s->context;
}
