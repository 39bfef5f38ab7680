/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/own/path_size.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/moment/system_clock.h"
#include "udp/host_address.h"
#include "wire/internet.h"
#include "wire/versions.h"

#define ASK_EVERY_NS UINT64_C(100000000)
#define PATIENCE_NS  UINT64_C(1000000000)

/* Once a round trip is known, answers are awaited for that many of them, and at least so long. */
#define WAIT_RTTS   4
#define WAIT_MIN_NS UINT64_C(20000000)

/* Questions about the longest packets until they are taken to be lost for their length. */
#define ASKS 3

/* Sizes that are asked about at once, each twice, until they are found to that many bytes. */
#define SIZES      8
#define NEAR_BYTES 32

static struct {
	int fd; /* meant only while most_bytes > 0 */
	uint64_t number;
	uint32_t header_bytes;
	uint32_t least_bytes;
	uint32_t most_bytes;
	uint32_t told_bytes;
	uint32_t passed_bytes; /* the longest that were answered; 0: none */
	uint64_t asked_ns;     /* first */
	uint64_t again_ns;     /* next time, until anything is answered */
	uint64_t rtt_ns;       /* at most; 0: unknown */
	bool refused;          /* no server is there */
	/* A round waits for answers until then. The first ones ask about the longest alone. */
	uint32_t rounds;
	uint64_t until_ns;
	uint32_t from_bytes; /* of this round: longer ones are asked about by steps */
	uint32_t step_bytes;
	uint32_t lost_bytes; /* the shortest that are taken to be lost */
} path;

static void ask(uint32_t ip_bytes)
{
	static uint8_t bytes[WH_UDP_MTU_MAX];
	uint32_t length = ip_bytes - path.header_bytes;

	wh_versions_ask(bytes, length, path.number);
	if (send(path.fd, bytes, length, MSG_NOSIGNAL) < 0)
		path.refused |= errno == ECONNREFUSED;
}

static void ask_both(uint64_t now_ns)
{
	ask(path.most_bytes);
	ask(path.least_bytes);
	path.again_ns = now_ns + ASK_EVERY_NS;
}

void wh_path_size_begin(const struct wh_address *server, uint32_t least_bytes, uint32_t most_bytes,
	uint32_t told_bytes, uint8_t dscp)
{
	int fd = wh_udp_asking_socket(server, dscp);

	path.most_bytes = 0;
	if (fd < 0)
		return;
	path.fd = fd;
	path.header_bytes = wh_ip_header_bytes(server->family) + WH_UDP_BYTES;
	path.least_bytes = least_bytes;
	path.most_bytes = most_bytes;
	path.told_bytes = told_bytes;
	path.passed_bytes = 0;
	path.rtt_ns = 0;
	path.rounds = 0;
	path.refused = false;
	path.asked_ns = wh_steady_ns();
	if (getrandom(&path.number, sizeof(path.number), 0) < 0)
		path.number = path.asked_ns;
	ask_both(path.asked_ns);
}

static void read_answers(void)
{
	uint8_t bytes[WH_VERSIONS_BYTES + 1]; /* longer ones are none */
	ssize_t got;
	uint32_t length;

	while ((got = recv(path.fd, bytes, sizeof(bytes), 0)) >= 0) {
		if (!wh_versions_answers(bytes, (size_t)got, path.number, &length))
			continue;
		if (path.rtt_ns == 0)
			path.rtt_ns = wh_steady_ns() - path.asked_ns + 1;
		length += path.header_bytes;
		if (length <= path.most_bytes && length > path.passed_bytes)
			path.passed_bytes = length;
	}
	path.refused |= errno == ECONNREFUSED;
}

static void begin_round(uint64_t now_ns)
{
	path.rounds++;
	path.until_ns = now_ns + wh_max_u64(WAIT_MIN_NS, WAIT_RTTS * path.rtt_ns);
}

/* The longest ones are lost: finds how long they may be. False: that is known. */
static bool narrow(uint64_t now_ns)
{
	if (path.rounds == ASKS)
		path.lost_bytes = path.most_bytes;
	else if (path.passed_bytes < path.from_bytes + SIZES * path.step_bytes)
		path.lost_bytes = path.passed_bytes + path.step_bytes;
	if (path.lost_bytes - path.passed_bytes <= NEAR_BYTES)
		return false;
	path.from_bytes = path.passed_bytes;
	path.step_bytes = (path.lost_bytes - path.from_bytes) / (SIZES + 1);
	for (uint32_t i = 0; i < 2 * SIZES; i++)
		ask(path.from_bytes + (i / 2 + 1) * path.step_bytes);
	begin_round(now_ns);
	return true;
}

bool wh_path_size_known(void)
{
	uint64_t now_ns = wh_steady_ns();

	if (path.most_bytes == 0)
		return true;
	read_answers();
	if (path.refused || path.passed_bytes == path.most_bytes)
		return true;
	if (path.passed_bytes == 0) {
		if (now_ns >= path.again_ns)
			ask_both(now_ns);
		return now_ns >= path.asked_ns + PATIENCE_NS;
	}
	if (path.rounds > 0 && now_ns < path.until_ns)
		return false;
	if (path.rounds >= ASKS)
		return !narrow(now_ns);
	if (path.rounds > 0)
		ask(path.most_bytes);
	begin_round(now_ns);
	return false;
}

uint32_t wh_path_size_end(bool *proved)
{
	if (path.most_bytes == 0)
		return 0;
	close(path.fd);
	path.most_bytes = 0;
	*proved = path.passed_bytes > 0;
	return *proved ? path.passed_bytes : path.told_bytes;
}
