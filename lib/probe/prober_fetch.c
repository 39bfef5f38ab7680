/* SPDX-License-Identifier: BSD-3-Clause */

/* Fetches the arrivals of a train: a few questions at once, each repeated until it is answered. */

#include <string.h>

#include "probe/probe_internal.h"

/* After this many unanswered repeats the probe ends. */
#define TRIES_MAX 12

/* Restarts because more arrivals were reported than at first. */
#define RESTARTS_MAX 3

#define LEAST_PATIENCE_NS UINT64_C(20000000)

void wh_prober_fetch_begin(struct wh_prober *prober, uint64_t begin_tsc)
{
	WH_ASSERT(!prober->fetch.active && prober->run.sent == prober->run.count);
	uint32_t words = (prober->full_bytes - WH_HEAD_BYTES) / (uint32_t)sizeof(uint64_t);

	words = words < WH_PROBE_WORDS_MAX ? words : WH_PROBE_WORDS_MAX;
	prober->fetch = (struct wh_prober_fetch){.active = true, .words = words, .next = words};
	/* Only one question at first: its answer contains the number of arrivals. */
	prober->fetch.question[0].tries = 1;
	prober->fetch.question[0].again_tsc = begin_tsc;
}

/* Questions may queue behind a whole train. */
static uint64_t patience_tsc(const struct wh_prober *prober)
{
	const struct wh_prober_run *run = &prober->run;
	double capacity_bps = prober->findings.trains_bps > 0 ? prober->findings.trains_bps
							      : prober->findings.pairs_bps;
	double queued_s = capacity_bps > 0
				  ? (double)run->count * 8 *
					    wh_prober_wire_bytes(prober, run->packet_bytes) /
					    capacity_bps
				  : 0;

	return 2 * prober->rtt_tsc + wh_ns_to_tsc(prober->config.hz, LEAST_PATIENCE_NS) +
	       (uint64_t)(queued_s * (double)prober->config.hz);
}

static void ask_more(struct wh_prober *prober, uint64_t now_tsc)
{
	struct wh_prober_fetch *fetch = &prober->fetch;

	for (uint32_t i = 0; i < WH_PROBER_FETCHES && fetch->next < fetch->total; i++) {
		if (fetch->question[i].tries > 0)
			continue;
		fetch->question[i].first = fetch->next;
		fetch->question[i].tries = 1;
		fetch->question[i].again_tsc = now_tsc;
		fetch->next += fetch->words;
	}
}

void wh_prober_fetch_poll(struct wh_prober *prober, uint64_t now_tsc)
{
	const struct wh_prober_fetch *fetch = &prober->fetch;

	for (uint32_t i = 0; i < WH_PROBER_FETCHES; i++)
		if (fetch->question[i].tries > TRIES_MAX) {
			wh_prober_finish(prober, now_tsc, WH_PROBER_SILENT);
			return;
		}
}

bool wh_prober_fetch_question(struct wh_prober *prober, uint64_t now_tsc, struct wh_probe *probe)
{
	struct wh_prober_fetch *fetch = &prober->fetch;

	if (!fetch->active)
		return false;
	for (uint32_t i = 0; i < WH_PROBER_FETCHES; i++) {
		if (fetch->question[i].tries == 0 || fetch->question[i].tries > TRIES_MAX ||
			now_tsc < fetch->question[i].again_tsc)
			continue;
		fetch->question[i].tries++;
		fetch->question[i].again_tsc = now_tsc + patience_tsc(prober);
		probe->index = fetch->question[i].first;
		return true;
	}
	return false;
}

/* An answer has all arrivals that fit, from its first one on, and reports no fewer than before. */
static bool is_consistent(const struct wh_prober *prober, const struct wh_probe_answer *answer)
{
	uint32_t left = answer->total > answer->index ? answer->total - answer->index : 0;
	uint32_t wanted = left < prober->fetch.words ? left : prober->fetch.words;

	return answer->n_words == wanted && answer->heard >= answer->total &&
	       answer->total <= prober->room_pkts && answer->total >= prober->fetch.total;
}

bool wh_prober_fetch_answer(
	struct wh_prober *prober, uint64_t now_tsc, const struct wh_probe_answer *answer)
{
	struct wh_prober_fetch *fetch = &prober->fetch;
	uint32_t at = 0;

	if (!fetch->active || answer->train != prober->run.number)
		return false;
	while (at < WH_PROBER_FETCHES &&
		(fetch->question[at].tries == 0 || fetch->question[at].first != answer->index))
		at++;
	if (at == WH_PROBER_FETCHES)
		return false; /* answered before */
	if (!is_consistent(prober, answer) || fetch->restarts > RESTARTS_MAX) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_CONTRADICTS);
		return false;
	}
	if (fetch->got > 0 && answer->total > fetch->total) {
		/* Late packets have arrived since, behind those already fetched. */
		uint32_t restarts = fetch->restarts + 1;

		fetch->active = false;
		wh_prober_fetch_begin(prober, now_tsc);
		fetch->restarts = restarts;
		return false;
	}
	fetch->total = answer->total;
	fetch->heard = answer->heard;
	fetch->question[at].tries = 0;
	fetch->got += answer->n_words;
	WH_ASSERT(answer->index + answer->n_words <= WH_PROBE_PKTS_MAX);
	memcpy(&prober->arrival[answer->index], answer->words,
		answer->n_words * sizeof(prober->arrival[0]));
	ask_more(prober, now_tsc);
	if (fetch->got < fetch->total)
		return false;
	fetch->active = false;
	return true;
}

uint64_t wh_prober_fetch_deadline(const struct wh_prober *prober)
{
	uint64_t deadline_tsc = WH_TSC_NEVER;

	for (uint32_t i = 0; i < WH_PROBER_FETCHES; i++)
		if (prober->fetch.question[i].tries > 0)
			deadline_tsc =
				wh_min_u64(deadline_tsc, prober->fetch.question[i].again_tsc);
	return deadline_tsc;
}
