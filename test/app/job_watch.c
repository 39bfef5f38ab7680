/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that go on and jobs that do not, second by second in virtual time. */

#include "job/waits/watch.h"

#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "app/job_watch";

#define HZ      UINT64_C(1000)
#define TIMEOUT (30 * HZ)
#define FOREVER 100000

/* What happens in each second of a job. */
struct play {
	const char *what;
	enum wh_waits waits;
	uint64_t works_every_s;
	uint64_t bytes_per_s;
	uint64_t told_every_s; /* how it stands with the peer */
	enum wh_waits peer_waits;
	uint64_t peer_works_every_s;
	uint64_t pipe_s;
	bool company;
	uint64_t ends_s; /* FOREVER: it goes on */
};

static bool is_due(uint64_t every_s, uint64_t second)
{
	return every_s != 0 && second % every_s == 0;
}

/* The second in which the watch has had enough. */
static uint64_t end_of(const struct play *play, struct wh_watch *watch)
{
	struct wh_watch_sight sight = {.waits = play->waits, .company = play->company};
	const struct wh_watch_patience patience = {TIMEOUT, play->pipe_s * HZ};

	/* Not from 0: that stands for never. */
	wh_watch_begin(watch, HZ, HZ);
	sight.peer.waits = (uint8_t)play->peer_waits;
	for (uint64_t second = 1; second < FOREVER; second++) {
		sight.worked += is_due(play->works_every_s, second);
		sight.moved_bytes += play->bytes_per_s;
		sight.waits_told += is_due(play->told_every_s, second);
		sight.peer.worked += is_due(play->peer_works_every_s, second);
		if (!wh_watch_see(watch, (second + 1) * HZ, &patience, &sight))
			return second;
	}
	return FOREVER;
}

#define LONG (WH_DISK_PATIENCE * 30 + 1)

static const struct play plays[] = {
	{.what = "nothing at all", .waits = WH_WAITS_ANSWER, .ends_s = 31},
	{.what = "a peer that lives and does nothing",
		.waits = WH_WAITS_COMMIT,
		.told_every_s = 1,
		.peer_waits = WH_WAITS_ENTRIES,
		.bytes_per_s = 200, /* of what both tell */
		.ends_s = 31},
	{.what = "work here", .works_every_s = 30, .ends_s = FOREVER},
	{.what = "work that comes too late", .works_every_s = 40, .ends_s = 31},
	{.what = "bytes", .bytes_per_s = 256, .ends_s = FOREVER},
	{.what = "a disk of ours", .waits = WH_WAITS_DISK, .ends_s = LONG},
	{.what = "a pipe of ours", .waits = WH_WAITS_PIPE, .pipe_s = 400, .ends_s = FOREVER},
	{.what = "the peer's pipe",
		.waits = WH_WAITS_ENTRIES,
		.told_every_s = 1,
		.peer_waits = WH_WAITS_PIPE,
		.pipe_s = 400,
		.ends_s = 401},
	{.what = "the peer's pipe, told of no more",
		.waits = WH_WAITS_ENTRIES,
		.peer_waits = WH_WAITS_PIPE,
		.pipe_s = 400,
		.ends_s = 31},
	{.what = "the peer's pipe, for ever",
		.waits = WH_WAITS_ENTRIES,
		.told_every_s = 1,
		.peer_waits = WH_WAITS_PIPE,
		.ends_s = FOREVER},
	{.what = "other lanes of ours", .waits = WH_WAITS_LANES, .ends_s = FOREVER},
	{.what = "the peer's disk",
		.waits = WH_WAITS_TOTALS,
		.told_every_s = 10,
		.peer_waits = WH_WAITS_DISK,
		.ends_s = LONG},
	{.what = "the peer's disk, told of once in a while",
		.waits = WH_WAITS_TOTALS,
		.told_every_s = 40,
		.peer_waits = WH_WAITS_DISK,
		.ends_s = 31},
	{.what = "a digest at the peer",
		.waits = WH_WAITS_ANSWER,
		.told_every_s = 1,
		.peer_works_every_s = 20,
		.ends_s = LONG},
	{.what = "the peer's lanes",
		.waits = WH_WAITS_ENTRIES,
		.told_every_s = 1,
		.peer_waits = WH_WAITS_LANES,
		.company = true,
		.ends_s = FOREVER},
	{.what = "other lanes' parts, while they get on",
		.waits = WH_WAITS_SEGMENTS,
		.company = true,
		.ends_s = FOREVER},
	{.what = "other lanes' segments", .waits = WH_WAITS_SEGMENTS, .ends_s = LONG},
	{.what = "parts of the peer's other lanes",
		.waits = WH_WAITS_COMMIT,
		.told_every_s = 1,
		.peer_waits = WH_WAITS_SEGMENTS,
		.company = true,
		.ends_s = FOREVER},
	{.what = "lanes that the peer has not",
		.waits = WH_WAITS_ENTRIES,
		.told_every_s = 1,
		.peer_waits = WH_WAITS_LANES,
		.ends_s = 31},
};

static void test_plays(void)
{
	for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
		struct wh_watch watch;
		uint64_t end_s = end_of(&plays[i], &watch);

		if (end_s != plays[i].ends_s)
			fprintf(stderr, "%s: %llu s\n", plays[i].what, (unsigned long long)end_s);
		CU_ASSERT_EQUAL(end_s, plays[i].ends_s);
	}
}

static void test_words(void)
{
	char text[WH_WATCH_TEXT_BYTES];
	struct wh_watch watch;

	CU_ASSERT_EQUAL(end_of(&plays[1], &watch), 31);
	CU_ASSERT_STRING_EQUAL(wh_watch_text(&watch, 32 * HZ, TIMEOUT, "source", "sink", text),
		"the source waits for the receiver to make durable what it has; "
		"the sink waits for the sender to send more files");
	CU_ASSERT_STRING_EQUAL(wh_watch_text(&watch, 63 * HZ, TIMEOUT, "source", "sink", text),
		"the source waits for the receiver to make durable what it has; "
		"the sink says nothing");
	for (uint32_t ours = 0; ours < WH_WAITS_COUNT; ours++)
		for (uint32_t peers = 0; peers < WH_WAITS_COUNT; peers++) {
			watch.last.waits = (enum wh_waits)ours;
			watch.last.peer.waits = (uint8_t)peers;
			wh_watch_text(&watch, 32 * HZ, TIMEOUT, "receiver", "sender", text);
			CU_ASSERT_TRUE(strlen(text) < WH_WATCH_TEXT_BYTES - 1);
		}
}

CU_TestInfo wh_tests[] = {
	{"plays", test_plays},
	{"words", test_words},
	CU_TEST_INFO_NULL,
};
