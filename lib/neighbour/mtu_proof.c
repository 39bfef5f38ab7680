/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/mtu_proof.h"

#include <errno.h>

#include "base/assert.h"
#include "base/clock.h"

/* Common MTUs of links and tunnels; the one that passes tells an operator where to look. */
static const uint16_t known_sizes[] = {
	WH_MTU_PROOF_SMALL_IPV4, WH_MTU_PROOF_SMALL_IPV6, 1400, 1420, /* WireGuard over Ethernet */
	1450,                                                         /* VXLAN over Ethernet */
	1476,                                                         /* GRE over Ethernet */
	1492,                                                         /* PPPoE: RFC 2516 7 */
	1500,                                                         /* Ethernet */
	2048, 4352,                                                   /* FDDI: RFC 1191 7.1 */
	4470,                                                         /* packet over SONET */
	8192, 8950,                                                   /* VXLAN over jumbo frames */
	8976,                                                         /* GRE over jumbo frames */
	9000,                                                         /* jumbo frames */
	9180,                                                         /* IP over ATM: RFC 2225 7 */
	9216,                                                         /* what many switches carry */
};

#define KNOWN_SIZES (sizeof(known_sizes) / sizeof(known_sizes[0]))

static uint32_t small_bytes(const struct wh_mtu_proof *proof)
{
	return proof->target.family == WH_IPV4 ? WH_MTU_PROOF_SMALL_IPV4 : WH_MTU_PROOF_SMALL_IPV6;
}

static bool is_under_way(const struct wh_neighbour_echo *echo)
{
	return echo->state == WH_NEIGHBOUR_ECHO_WAITS || echo->state == WH_NEIGHBOUR_ECHO_SENT;
}

int wh_mtu_proof_start(struct wh_mtu_proof *proof, struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target)
{
	int rc;

	if (neighbour->proof != NULL && neighbour->proof != proof)
		return -EBUSY;
	*proof = (struct wh_mtu_proof){
		.neighbour = neighbour,
		.target = *target,
		.ip_bytes = neighbour->config.mtu,
	};
	proof->target.port = 0;
	neighbour->echo_wait_tsc =
		wh_us_to_tsc(neighbour->config.hz, WH_NEIGHBOUR_ECHO_MS * UINT64_C(1000));
	WH_ASSERT(proof->ip_bytes >= small_bytes(proof));
	rc = wh_neighbour_ask_echo(neighbour, now_tsc, &proof->target, proof->ip_bytes);
	if (rc == 0)
		neighbour->proof = proof;
	return rc;
}

/* The median of the known sizes strictly between the two; 0: none. */
static uint32_t size_between(uint32_t proved_bytes, uint32_t refused_bytes)
{
	uint32_t first = 0, end = KNOWN_SIZES;

	while (first < end && known_sizes[first] <= proved_bytes)
		first++;
	while (end > first && known_sizes[end - 1] >= refused_bytes)
		end--;
	return first < end ? known_sizes[first + (end - first) / 2] : 0;
}

/* Ends the test, or tries another size, by what was proved and refused so far. */
static void go_on(struct wh_mtu_proof *proof)
{
	WH_ASSERT(proof->refused_bytes == 0 || proof->proved_bytes < proof->refused_bytes);
	proof->asks = 0;
	if (proof->proved_bytes == proof->neighbour->config.mtu) {
		proof->state = WH_MTU_PROOF_PROVED;
		return;
	}
	if (proof->proved_bytes == 0) {
		proof->state = WH_MTU_PROOF_UNKNOWN;
		return;
	}
	/* The peer may have come up since the first attempt, so the whole MTU is tried again. */
	if (proof->refused_bytes == 0) {
		proof->ip_bytes = proof->neighbour->config.mtu;
		return;
	}

	uint32_t size = size_between(proof->proved_bytes, proof->refused_bytes);

	if (size == 0)
		proof->state = WH_MTU_PROOF_TOO_LARGE;
	else
		proof->ip_bytes = size;
}

/* The peer's first answer gives a round trip, which sets the timeout from now on. */
static void wait_by_round_trip(struct wh_mtu_proof *proof, const struct wh_neighbour_echo *echo)
{
	uint64_t hz = proof->neighbour->config.hz;

	proof->neighbour->echo_wait_tsc =
		wh_min_u64(wh_us_to_tsc(hz, WH_NEIGHBOUR_ECHO_MS * UINT64_C(1000)),
			wh_max_u64(wh_us_to_tsc(hz, WH_MTU_PROOF_WAIT_MS * UINT64_C(1000)),
				4 * echo->rtt_tsc));
}

static void take_loss(struct wh_mtu_proof *proof)
{
	bool first = proof->proved_bytes == 0 && proof->ip_bytes > small_bytes(proof);

	if (first) {
		proof->ip_bytes = small_bytes(proof);
		return;
	}
	if (++proof->asks < WH_MTU_PROOF_ASKS)
		return;
	proof->refused_bytes = proof->ip_bytes;
	go_on(proof);
}

static void take_result(struct wh_mtu_proof *proof, const struct wh_neighbour_echo *echo)
{
	proof->result = echo->result;
	switch (echo->state) {
	case WH_NEIGHBOUR_ECHO_ANSWERED:
		if (proof->proved_bytes == 0)
			wait_by_round_trip(proof, echo);
		proof->proved_bytes = proof->ip_bytes;
		go_on(proof);
		break;
	case WH_NEIGHBOUR_ECHO_LOST:
		take_loss(proof);
		break;
	default:
		WH_ASSERT(echo->state == WH_NEIGHBOUR_ECHO_UNSENT);
		proof->state = WH_MTU_PROOF_UNKNOWN;
	}
}

enum wh_mtu_proof_state wh_mtu_proof_poll(struct wh_mtu_proof *proof, uint64_t now_tsc)
{
	const struct wh_neighbour_echo *echo = &proof->neighbour->echo;

	if (proof->state != WH_MTU_PROOF_RUNNING || is_under_way(echo))
		return proof->state;
	WH_ASSERT(echo->ip_bytes == proof->ip_bytes);
	WH_ASSERT(wh_address_equal(&echo->target, &proof->target));
	take_result(proof, echo);
	if (proof->state == WH_MTU_PROOF_RUNNING) {
		int rc = wh_neighbour_ask_echo(
			proof->neighbour, now_tsc, &proof->target, proof->ip_bytes);

		WH_ASSERT(rc == 0);
	} else {
		proof->neighbour->proof = NULL;
	}
	return proof->state;
}
