/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The encoder of a stream with repair packets: chunks of 6 data packets from a reader's FIFO to
 * host_trans's, with the repair that the operator, or the loss, asks for.
 */

#include "../../rig/end.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "repair";

#define PAYLOAD     1408
#define CHUNK_BYTES 8192
#define LAST_BYTES  (CHUNK_BYTES - 5 * PAYLOAD)
#define CHUNKS      8
#define REPAIR_PKTS 4

struct rig {
	struct wh_session *session;
	struct wh_fec *fec;
	uint8_t *memory;
	struct wh_chunk end;
	uint64_t filled;
};

static void rig_open(struct rig *rig, struct wh_repair_config repair)
{
	static const struct wh_address peer = {
		.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};
	struct wh_session_config config;

	*rig = (struct rig){0};
	repair.recovery = WH_RECOVERY_HYBRID;
	repair.repair_pkts = REPAIR_PKTS;
	wh_rig_session_config(&config, 1000000000, CHUNK_BYTES, CHUNKS, 64);
	config.repair = repair;

	struct wh_fec_limits limits = wh_session_fec_limits(&config);

	rig->memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * wh_session_chunk_stride(&config));
	config.chunk_memory = rig->memory;
	rig->fec = wh_fec_create(&limits);
	CU_ASSERT_TRUE_FATAL(rig->memory != NULL && rig->fec != NULL);
	rig->session = wh_session_open(&config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
}

static void rig_close(struct rig *rig)
{
	wh_session_destroy(rig->session);
	wh_fec_destroy(rig->fec);
	free(rig->memory);
}

/* The reader fills a chunk. */
static void fill(struct rig *rig, uint32_t bytes)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(rig->session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	chunk->number = rig->filled++;
	chunk->bytes = bytes;
	chunk->end = false;
	for (uint32_t i = 0; i < bytes; i++)
		chunk->data[i] = (uint8_t)(i * 31 + chunk->number);
	CU_ASSERT_TRUE(wh_fifo_push(wh_session_ready_chunks(rig->session), chunk));
}

/* What host_trans takes next. */
static struct wh_chunk *take(struct rig *rig)
{
	return wh_fifo_pop(&rig->session->tx.ready);
}

static const struct wh_fec_shape *shape_of(struct rig *rig, const struct wh_chunk *chunk)
{
	return &rig->session->tx.tx_chunk[chunk->slot].shape;
}

/* One chunk through the encoder. */
static const struct wh_fec_shape *encode(struct rig *rig, uint32_t bytes)
{
	fill(rig, bytes);
	CU_ASSERT_EQUAL(wh_session_encode(rig->session, rig->fec), 1);

	struct wh_chunk *chunk = take(rig);

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	CU_ASSERT_EQUAL(chunk->number, rig->filled - 1);

	const struct wh_fec_shape *shape = shape_of(rig, chunk);

	wh_fifo_push(&rig->session->tx.free, chunk);
	return shape;
}

/* get_rcv_stat tells of so many more packets. */
static void tell(struct rig *rig, uint64_t pkts, uint64_t lost_pkts, uint64_t events)
{
	atomic_fetch_add(&rig->session->tx.told_pkts, pkts);
	atomic_fetch_add(&rig->session->tx.told_lost_pkts, lost_pkts);
	atomic_fetch_add(&rig->session->tx.told_events, events);
}

/* 6 data packets in blocks of 4 are two, with 2 repair packets each; they are what lib/fec says. */
static void test_as_told(void)
{
	struct rig rig;
	uint8_t expected[REPAIR_PKTS * PAYLOAD] __attribute__((aligned(32)));

	rig_open(&rig, (struct wh_repair_config){.code = WH_FEC_RS, .fixed_k = 4, .fixed_r = 2});
	fill(&rig, CHUNK_BYTES);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 1);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 0);

	struct wh_chunk *chunk = take(&rig);
	const struct wh_fec_shape *shape = shape_of(&rig, chunk);

	CU_ASSERT_EQUAL(shape->code, WH_FEC_RS);
	CU_ASSERT_EQUAL(shape->k, 6);
	CU_ASSERT_EQUAL(shape->r, 4);
	CU_ASSERT_EQUAL(shape->blocks, 2);
	CU_ASSERT_EQUAL(shape->symbol_bytes, PAYLOAD);
	CU_ASSERT_EQUAL(shape->last_bytes, LAST_BYTES);
	wh_fec_encode(rig.fec, shape, chunk->data, 0, 6, expected);
	CU_ASSERT_EQUAL(memcmp(chunk->data + CHUNK_BYTES, expected, sizeof(expected)), 0);
	wh_fifo_push(&rig.session->tx.free, chunk);

	/* One packet is a block of its own; of a code that does not exist nothing is sent. */
	shape = encode(&rig, 100);
	CU_ASSERT_EQUAL(shape->k, 1);
	CU_ASSERT_EQUAL(shape->r, 2);
	CU_ASSERT_EQUAL(shape->blocks, 1);
	CU_ASSERT_EQUAL(shape->last_bytes, 100);
	rig_close(&rig);
	rig_open(&rig,
		(struct wh_repair_config){.code = WH_FEC_TORNADO, .fixed_k = 254, .fixed_r = 1});
	CU_ASSERT_EQUAL(encode(&rig, PAYLOAD)->k, 1);
	rig_close(&rig);
}

/* Others wait until host_trans has begun one: they are to be planned by what is known then. */
static void test_ahead(void)
{
	struct rig rig;

	rig_open(&rig, (struct wh_repair_config){.code = WH_FEC_RS, .fixed_k = 4, .fixed_r = 2});
	for (uint32_t i = 0; i < CHUNKS; i++)
		fill(&rig, CHUNK_BYTES);
	for (uint32_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 1);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 0);
	CU_ASSERT_EQUAL(take(&rig)->number, 0);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 1);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 0);
	for (uint32_t i = 1; i < 5; i++)
		CU_ASSERT_EQUAL(take(&rig)->number, i);
	CU_ASSERT_PTR_NULL(take(&rig));
	rig_close(&rig);
}

static void test_end(void)
{
	struct rig rig;

	rig_open(&rig, (struct wh_repair_config){.code = WH_FEC_RS, .fixed_k = 4, .fixed_r = 2});
	fill(&rig, CHUNK_BYTES);
	rig.end = (struct wh_chunk){.number = 1, .end = true};
	CU_ASSERT_TRUE(wh_fifo_push(wh_session_ready_chunks(rig.session), &rig.end));
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 1);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 1);
	CU_ASSERT_EQUAL(wh_session_encode(rig.session, rig.fec), 0);
	CU_ASSERT_EQUAL(take(&rig)->number, 0);
	CU_ASSERT_PTR_EQUAL(take(&rig), &rig.end);
	rig_close(&rig);
}

/* A path that proves clean gets none, and again with the first chunk after a loss. */
static void test_as_planned(void)
{
	struct rig rig;
	struct wh_repair_config repair = {.code = WH_FEC_RS};

	wh_fec_planner_config_init(&repair.planner, WH_FEC_RS);
	repair.planner.clean_pkts = 1000;
	repair.planner.ceiling = 0.4;
	repair.planner.r_max = REPAIR_PKTS;
	rig_open(&rig, repair);

	/* Until something is known 0.1 %: of 6 and 1 packets two are lost with 2e-5. */
	CU_ASSERT_EQUAL(encode(&rig, CHUNK_BYTES)->r, 1);
	tell(&rig, 999, 0, 0);
	CU_ASSERT_EQUAL(encode(&rig, CHUNK_BYTES)->r, 1);
	tell(&rig, 1, 0, 0);

	const struct wh_fec_shape *shape = encode(&rig, CHUNK_BYTES);

	CU_ASSERT_EQUAL(shape->r, 0);
	CU_ASSERT_EQUAL(shape->code, WH_FEC_NONE);
	CU_ASSERT_EQUAL(shape->k, 6);
	/* 0.92 %, short and long term alike: of 8 three are lost with 4e-5, of 7 two with 2e-3. */
	tell(&rig, 100, 10, 10);
	CU_ASSERT_EQUAL(encode(&rig, CHUNK_BYTES)->r, 2);

	/* More is not planned than there is memory for, nor than the ceiling allows. */
	tell(&rig, 1000, 900, 900);
	CU_ASSERT_EQUAL(encode(&rig, CHUNK_BYTES)->r, 4);
	CU_ASSERT_EQUAL(encode(&rig, 3 * PAYLOAD)->r, 2);
	CU_ASSERT_EQUAL(encode(&rig, PAYLOAD)->r, 0);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"as told", test_as_told},
	{"ahead", test_ahead},
	{"end", test_end},
	{"as planned", test_as_planned},
	CU_TEST_INFO_NULL,
};
