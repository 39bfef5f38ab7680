/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first estimate of the bottleneck's rate, for a profile that wants one before it sends data
 * (sttp.txt III A). The transmitter sends a train: a few PROBE packets back to back. The receiver
 * answers each of them. The spacing of their arrivals gives the rate. Until the controller knows it
 * the pacer has no token, so no data are sent.
 */

#include <assert.h>

#include "endpoint/turn.h"
#include "measure/median.h"

/* A train is given up after this many round trips and at least this long; doubled each time. */
#define PATIENCE_RTTS   4
#define PATIENCE_MS     50
#define PATIENCE_MAX_MS 4000
#define DOUBLINGS_MAX   16
#define STAMP_BYTES     sizeof(uint64_t)

static_assert(WH_PROBE_TRAIN_MAX <= WH_MEDIAN_VALUES_MAX, "the gaps of a train have a median");
static_assert(WH_PROBE_TRAIN_MAX <= 32, "`returned` has a bit for each packet of a train");

/* Bytes on the wire that belong to no packet: IP, UDP and Ethernet. */
static uint32_t around_bytes(const struct wh_session *s)
{
	return s->config.wire_bytes - s->config.payload_bytes - WH_HEAD_BYTES;
}

/* Size of a PROBE: the profile's or a full packet's, within the limit of control packets. */
static uint32_t probe_bytes(const struct wh_session *s)
{
	uint32_t ip_udp_bytes = s->config.packet_bytes - s->config.payload_bytes - WH_HEAD_BYTES;
	uint32_t wanted =
		s->feedback.probe.bytes > 0 ? s->feedback.probe.bytes : s->config.packet_bytes;
	uint64_t bytes = wanted > ip_udp_bytes ? wanted - ip_udp_bytes : 0;

	return (uint32_t)wh_min_u64(wh_max_u64(bytes, WH_HEAD_BYTES), WH_CONTROL_BYTES_MAX);
}

/* How long the answers to the present train are awaited. */
static uint64_t patience_tsc(const struct wh_session *s)
{
	uint64_t doublings = wh_min_u64(s->tx.probe.train - 1u, DOUBLINGS_MAX);
	uint64_t least_tsc =
		wh_max_u64(PATIENCE_RTTS * wh_rtt_get(&s->rtt), wh_session_ms_tsc(s, PATIENCE_MS));

	return wh_min_u64(least_tsc << doublings, wh_session_ms_tsc(s, PATIENCE_MAX_MS));
}

static void send_train(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_probing *probe = &s->tx.probe;

	probe->train++;
	probe->returned = 0;
	probe->sent_tsc = now_tsc;
	probe->due_tsc = s->feedback.probe.repeats ? now_tsc + patience_tsc(s) : WH_TSC_NEVER;
	uint32_t pkts = wh_session_train_pkts(s);

	for (uint32_t i = 0; i < pkts; i++) {
		struct wh_packet packet;

		packet.probe = (struct wh_probe){
			.stamp_ns = wh_tsc_to_us(s->config.hz, now_tsc) * 1000,
			.index = i,
			.count = pkts,
			.padding_bytes = (uint16_t)(probe_bytes(s) - WH_HEAD_BYTES),
			.train = probe->train,
		};
		wh_session_push_control(s, now_tsc, WH_PACKET_PROBE, &packet);
	}
}

void wh_prelude_begin(struct wh_session *s, uint64_t now_tsc)
{
	WH_ASSERT(s->feedback.probe.pkts <= WH_PROBE_TRAIN_MAX);
	if (s->feedback.probe.pkts == 0)
		return;
	s->tx.probe.waits = true;
	send_train(s, now_tsc);
}

uint64_t wh_prelude_deadline(const struct wh_session *s)
{
	return s->tx.probe.waits ? s->tx.probe.due_tsc : WH_TSC_NEVER;
}

/*
 * The median gap between packets that were sent one after the other. If it is 0, because the clock
 * is too coarse, the mean gap from the first to the last answered packet, which may be 0 as well.
 * A gap is 0 where the receiver's clock ran backwards.
 */
static uint64_t gap_ns(const struct wh_probing *probe, uint32_t pkts)
{
	uint64_t gaps_ns[WH_PROBE_TRAIN_MAX];
	uint32_t first = UINT32_MAX;
	uint32_t last = 0;
	uint32_t gaps = 0;

	for (uint32_t i = 0; i < pkts; i++) {
		if ((probe->returned >> i & 1) == 0)
			continue;
		if (i > 0 && (probe->returned >> (i - 1) & 1) != 0)
			gaps_ns[gaps++] = probe->came_ns[i] -
					  wh_min_u64(probe->came_ns[i], probe->came_ns[i - 1]);
		if (first == UINT32_MAX)
			first = i;
		last = i;
	}

	uint64_t median_ns = gaps > 0 ? wh_median_u64(gaps_ns, gaps) : 0;

	if (median_ns > 0 || last <= first)
		return median_ns;
	return (probe->came_ns[last] - wh_min_u64(probe->came_ns[last], probe->came_ns[first])) /
	       (last - first);
}

/* Two packets or more were answered, so that there is a gap. */
static bool several(const struct wh_probing *probe)
{
	return (probe->returned & (probe->returned - 1)) != 0;
}

/*
 * Tells the controller. The peer chooses the times, so the gap is limited: by the peer timeout, for
 * no bottleneck is slower.
 */
static void tell(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_probing *probe = &s->tx.probe;
	uint64_t gap =
		wh_min_u64(gap_ns(probe, wh_session_train_pkts(s)), s->config.peer_timeout_ns);
	const struct wh_probe_event event = {
		.now_tsc = now_tsc,
		.gap_tsc = wh_ns_to_tsc(s->config.hz, gap),
		.rtt_tsc = wh_max_u64(
			probe->latest_tsc - wh_min_u64(probe->latest_tsc, probe->sent_tsc), 1),
		.bytes = probe_bytes(s) + around_bytes(s),
	};

	probe->waits = false;
	WH_CONTROL_TELL(&s->tx.control, on_probe, &event);
	wh_session_decide(s);
}

/*
 * When patience is over. A queue that is shorter than a train always drops the train's last packet,
 * so the answers that did arrive must do if there are two; otherwise another train is sent.
 */
int32_t wh_prelude_poll(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_probing *probe = &s->tx.probe;

	if (!probe->waits || now_tsc < probe->due_tsc)
		return 0;
	if (several(probe))
		tell(s, now_tsc);
	else
		send_train(s, now_tsc);
	return 1;
}

void wh_prelude_answered(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	struct wh_probing *probe = &s->tx.probe;
	const struct wh_probe_answer *answer = &packet->probe_answer;
	uint32_t pkts = wh_session_train_pkts(s);

	if (pkts == 0 || packet->flags != WH_FLAG_ECHO || answer->index >= pkts) {
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
		return;
	}
	if (!probe->waits || answer->train != probe->train ||
		(probe->returned >> answer->index & 1) != 0) {
		wh_session_count(&s->stats.control_stale_pkts);
		return;
	}
	probe->returned |= UINT32_C(1) << answer->index;
	probe->latest_tsc = arrived_tsc;
	probe->came_ns[answer->index] =
		answer->n_words > 0 ? answer->words[0] : wh_tsc_to_ns(s->config.hz, arrived_tsc);
	/* No further answer can add a gap. */
	if (answer->index + 1 == pkts && several(probe))
		tell(s, now_tsc);
}

/*
 * The receiver's part. If the PROBE has room for a time, its answer contains the PROBE's arrival
 * time. Then the spacing does not depend on when the cores had their turns.
 */
void wh_prelude_answer(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	const struct wh_probe *probe = &packet->probe;
	struct wh_packet answer;

	if (s->feedback.probe.pkts == 0 || packet->flags != WH_FLAG_ECHO) {
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
		return;
	}
	if (!wh_session_may_say(s))
		return;
	answer.probe_answer.stamp_ns = probe->stamp_ns;
	answer.probe_answer.index = probe->index;
	answer.probe_answer.total = 0;
	answer.probe_answer.heard = ++s->rx.probes_heard;
	answer.probe_answer.train = probe->train;
	answer.probe_answer.n_words = probe->padding_bytes >= STAMP_BYTES;
	answer.probe_answer.status = WH_STATUS_PENDING;
	answer.probe_answer.words[0] = wh_tsc_to_ns(s->config.hz, arrived_tsc);
	wh_session_push_control(s, now_tsc, WH_PACKET_PROBE_ANSWER, &answer);
}
