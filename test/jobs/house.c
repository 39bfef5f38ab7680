/* SPDX-License-Identifier: BSD-3-Clause */
#include "house.h"

#include <stdlib.h>

#include "../rig/parcel.h"
#include "base/assert.h"
#include "base/clock.h"
#include "disk.h"

#define ROOM_BYTES 9300 /* of any packet, head and payload */
#define BURST      32
#define PLACES     256
#define RINGS      32
#define UDP_PORT   7000
#define KEEP_S     604800 /* parts */

/* A job looks at itself as often, if nothing happens. */
#define TICK_NS UINT64_C(10000000)

#define BOOKS_PAUSE_NS 200000
#define BOOKS_STOP_NS  50000000

/* Turns in which each idle job gets one, or near enough. */
#define TURNS 33

struct parcel {
	struct parcel *next;
	struct wh_address from;
	uint32_t at; /* the receiver's port */
	uint16_t port;
	uint32_t bytes;
	uint8_t data[ROOM_BYTES];
};

static uint32_t shards_of(const struct process *process)
{
	return wh_host_settings_shards(&process->settings);
}

void house_open(struct house *house, uint64_t seed, uint64_t quantum_ns)
{
	*house = (struct house){.now_ns = WH_NS_PER_S, .quantum_ns = quantum_ns};
	wh_prng_init(&house->prng, seed);
}

static void empty(struct house *house, struct wh_netem *netem)
{
	struct parcel *parcel;

	if (netem == NULL)
		return;
	while ((parcel = wh_netem_take_any(netem)) != NULL) {
		parcel->next = house->spare;
		house->spare = parcel;
	}
	wh_netem_destroy(netem);
}

void house_close(struct house *house)
{
	for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++)
		WH_ASSERT(!house->process[i].alive);
	for (uint32_t i = 0; i < house->lines; i++) {
		empty(house, house->line[i].there);
		empty(house, house->line[i].back);
	}
	while (house->spare != NULL) {
		struct parcel *parcel = house->spare;

		house->spare = parcel->next;
		free(parcel);
	}
}

struct house_line *house_line(struct house *house, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < house->lines; i++) {
		struct house_line *line = &house->line[i];

		if ((line->end[0] == a && line->end[1] == b) ||
			(line->end[0] == b && line->end[1] == a))
			return line;
	}
	return NULL;
}

void house_lay(struct house *house, uint32_t a, uint32_t b, const struct wh_link_model *there,
	const struct wh_link_model *back)
{
	struct house_line *line = house_line(house, a, b);

	if (line == NULL) {
		WH_ASSERT(house->lines < HOUSE_LINES_MAX);
		line = &house->line[house->lines++];
	}
	empty(house, line->there);
	empty(house, line->back);
	*line = (struct house_line){
		.end = {a, b},
		.there = wh_netem_create(there, HOUSE_HZ, house->now_ns, 1 << 14),
		.back = wh_netem_create(back, HOUSE_HZ, house->now_ns, 1 << 14),
	};
	WH_ASSERT(line->there != NULL && line->back != NULL);
}

static struct wh_address port_address(uint32_t i, uint32_t port)
{
	return (struct wh_address){
		.family = WH_IPV4, .ip = {10, 0, (uint8_t)port, (uint8_t)(1 + i)}};
}

struct wh_address house_address(uint32_t i)
{
	return port_address(i, 0);
}

static void count(const struct wh_host_ctx *ctx, uint32_t shard, struct wh_host_ctx_counts *counts)
{
	*counts = (struct wh_host_ctx_counts){
		.bad_pkts = wh_endpoint_bad_pkts(ctx->shard[shard].endpoint),
	};
}

static void open_host_ctx(struct process *process)
{
	struct wh_host_ctx *ctx = &process->host.ctx;
	const struct wh_host_settings *settings = &process->settings;

	*ctx = (struct wh_host_ctx){
		.hz = HOUSE_HZ,
		.settings = settings,
		.hooks = wh_jobs_hooks,
		.attach_bytes = wh_prng_below(&process->house->prng, 2) == 0 ? 0 : UINT32_MAX,
		.burst_pkts = 32,
		.workers = 2,
		.worker = {&process->loop[0], &process->loop[1]},
		.count = count,
	};
	ctx->hooks.owner = &process->jobs;
	for (uint32_t i = 0; i < sizeof(ctx->cookie_key); i++) {
		ctx->cookie_key[i] = (uint8_t)wh_prng_u64(&process->house->prng);
		ctx->draw_key[i] = (uint8_t)wh_prng_u64(&process->house->prng);
	}

	int rc = wh_arena_init(&ctx->arena, process->memory, settings->buffer_bytes);

	WH_ASSERT(rc == 0 && settings->queues <= HOUSE_QUEUES_MAX);
	WH_ASSERT(settings->ports > 0 && settings->ports <= HOUSE_PORTS_MAX);
	if (settings->handshake != NULL) {
		rc = wh_host_handshake_init(&process->host.handshake, ctx, settings->handshake);
		WH_ASSERT(rc == 0);
		wh_loop_add(ctx->worker[0], "handshake", wh_host_handshake_poll,
			&process->host.handshake);
	}
	for (uint32_t i = 0; i < wh_host_settings_shards(settings); i++) {
		ctx->shard[i] = (struct wh_host_ctx_shard){
			.ctx = ctx, .number = i, .endpoint = &process->endpoint[i]};

		const struct wh_endpoint_config config =
			wh_host_ctx_endpoint_config(ctx, i, PLACES);

		rc = wh_endpoint_init(&process->endpoint[i], &config);
		WH_ASSERT(rc == 0);
	}
}

/* Memory stays from one world to the next: its pages are not made anew. */
static void provide_memory(struct process *process)
{
	static struct {
		void *memory;
		uint64_t bytes;
	} kept[HOUSE_PROCESSES_MAX];
	uint64_t wanted = process->settings.buffer_bytes;

	if (kept[process->number].bytes < wanted) {
		free(kept[process->number].memory);
		kept[process->number].memory = aligned_alloc(WH_CHUNK_ALIGN, wanted);
		kept[process->number].bytes = wanted;
	}
	process->memory = kept[process->number].memory;
	WH_ASSERT(process->memory != NULL);
}

static int64_t calendar_s;
static uint32_t sentences;

void house_set_calendar(int64_t wall_s)
{
	calendar_s = wall_s;
}

uint32_t house_sentences(void)
{
	return sentences;
}

static int64_t read_calendar(void)
{
	return calendar_s;
}

static void hear(const char *sentence)
{
	sentences += sentence[0] != '\0';
}

/* As a server goes on without a journal that cannot be had. */
static void open_journal(struct process *process)
{
	const struct wh_journal_config config = {
		.path = process->database,
		.keep_s = KEEP_S,
		.wall_s = read_calendar,
		.say = hear,
	};

	if (process->database == NULL || wh_journal_open(&process->jobs.journal, &config) < 0)
		process->jobs.journal = NULL;
	process->jobs.batch_bytes = process->batch_bytes;
}

void house_start(struct house *house, uint32_t i, const struct wh_service *service, bool repair)
{
	struct process *process = &house->process[i];
	struct wh_host_settings *settings = &process->settings;

	WH_ASSERT(!process->alive);
	process->house = house;
	process->number = i;
	process->life = ++house->lives;
	process->stopped = false;
	process->loop[0] = process->loop[1] = (struct wh_loop){0};
	settings->udp_port = UDP_PORT;
	for (uint32_t port = 0; port < settings->ports; port++)
		settings->port[port].ipv4 =
			(struct wh_subnet){.address = port_address(i, port), .prefix_bits = 24};
	provide_memory(process);
	open_host_ctx(process);
	process->jobs = (struct wh_jobs){0};
	disk_enter(process->life, house->now_ns);

	if (service != NULL)
		process->service = *service;

	int rc = wh_jobs_init(&process->jobs, &process->host.ctx,
		service != NULL ? &process->service : NULL, repair);

	WH_ASSERT(rc == 0);
	wh_jobs_open_rings(&process->jobs, RINGS);
	open_journal(process);
	process->alive = true;
	process->books_prng = process->house->prng;
}

void house_end(struct house *house, uint32_t i, enum house_death death)
{
	struct process *process = &house->process[i];

	WH_ASSERT(process->alive);
	disk_enter(process->life, house->now_ns);
	if (death != HOUSE_ENDED)
		disk_break_off();
	disk_kill(death != HOUSE_ENDED);
	wh_jobs_end(&process->jobs);
	disk_hurry(process->life);
	disk_kill(false);
	wh_jobs_free(&process->jobs);
	wh_journal_close(process->jobs.journal);
	process->jobs.journal = NULL;
	disk_lose_power(process->life, death == HOUSE_UNPOWERED);
	disk_enter(0, house->now_ns);
	for (uint32_t shard = 0; shard < shards_of(process); shard++)
		wh_endpoint_free(&process->endpoint[shard]);
	wh_host_handshake_free(&process->host.handshake);
	wh_arena_free(&process->host.ctx.arena);
	process->alive = false;
	process->verbs = 0;
}

static struct parcel *parcel_get(struct house *house)
{
	struct parcel *parcel = house->spare;

	if (parcel != NULL)
		house->spare = parcel->next;
	else
		parcel = malloc(sizeof(*parcel));
	WH_ASSERT(parcel != NULL);
	return parcel;
}

static void post(struct house *house, struct house_line *line, bool there, const struct wh_out *out,
	const struct wh_address *from)
{
	struct wh_netem *netem = there ? line->there : line->back;
	uint32_t bytes = out->head_bytes + out->payload_bytes;
	uint32_t wire_bytes =
		bytes + WH_UDP_BYTES + WH_IPV4_BYTES + WH_ETHER_BYTES + WH_ETHER_WIRE_BYTES;
	struct wh_netem_fate fate;

	WH_ASSERT(bytes <= ROOM_BYTES);
	*(there ? &line->there_bytes : &line->back_bytes) += wire_bytes;
	wh_netem_admit(netem, house->now_ns, wire_bytes, &fate);
	for (uint32_t i = 0; i < fate.copies; i++) {
		struct parcel *parcel = parcel_get(house);

		parcel->from = *from;
		parcel->at = out->to->ip[2];
		parcel->port = out->to->port;
		parcel->bytes = bytes;
		wh_rig_parcel_fill(parcel->data, out, &fate);
		if (!wh_netem_hold(netem, fate.due_tsc[i], parcel)) {
			wh_netem_count_queue_drop(netem);
			parcel->next = house->spare;
			house->spare = parcel;
		}
	}
}

static uint32_t send_all(struct process *process, uint32_t shard)
{
	static uint8_t room[BURST][ROOM_BYTES];
	struct house *house = process->house;
	struct wh_out out[BURST];
	const struct wh_address from = wh_host_ctx_address(&process->host.ctx, WH_IPV4, shard);

	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];

	uint32_t count = wh_endpoint_output(&process->endpoint[shard], house->now_ns, out, BURST);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = out[i].to->ip[3] - 1U;
		struct house_line *line = house_line(house, process->number, to);

		WH_ASSERT(line != NULL);
		if (!line->cut &&
			((line->dark >> out[i].to->ip[2] | line->dark >> from.ip[2]) & 1) == 0)
			post(house, line, line->end[1] == to, &out[i], &from);
	}
	return count;
}

static uint32_t arrive(
	struct house *house, const struct house_line *line, struct wh_netem *netem, uint32_t end)
{
	struct process *process = &house->process[line->end[end]];
	struct wh_netem_item items[BURST];
	uint32_t count = wh_netem_take(netem, house->now_ns, items, BURST);

	for (uint32_t i = 0; i < count; i++) {
		struct parcel *parcel = items[i].item;
		uint32_t queue = parcel->port - UDP_PORT;
		const struct wh_host_settings *settings = &process->settings;

		if (process->alive && !line->cut && queue < settings->queues &&
			parcel->at < settings->ports)
			wh_endpoint_input(&process->endpoint[parcel->at * settings->queues + queue],
				house->now_ns, items[i].due_tsc, parcel->data, parcel->bytes,
				&parcel->from);
		parcel->next = house->spare;
		house->spare = parcel;
	}
	return count;
}

static uint32_t poll_loops(struct process *process, uint64_t now_ns)
{
	uint32_t work = 0;

	if (process->stopped)
		return 0;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t p = 0; p < process->loop[i].tasks; p++)
			work += (uint32_t)process->loop[i].task[p].poll(
				process->loop[i].task[p].state, now_ns);
	return work;
}

/*
 * The core of the bookkeeping, if the process has one, comes a random while after packets have
 * arrived, and now and then much later.
 */
static uint32_t poll_books(struct process *process, uint64_t now_ns)
{
	bool stops = wh_prng_below(&process->books_prng, 1000) == 0;
	uint32_t work = 0;

	if (process->settings.books_cpus.count == 0 || now_ns < process->books_due_ns)
		return 0;
	process->books_due_ns =
		now_ns +
		(stops ? BOOKS_STOP_NS : wh_prng_below(&process->books_prng, BOOKS_PAUSE_NS));
	for (uint32_t i = 0; i < shards_of(process); i++)
		work += (uint32_t)wh_endpoint_books_poll(&process->endpoint[i], now_ns);
	return work;
}

static uint64_t books_deadline(const struct process *process, const struct wh_endpoint *endpoint)
{
	if (process->settings.books_cpus.count == 0)
		return WH_TSC_NEVER;
	return wh_max_u64(process->books_due_ns, wh_endpoint_books_deadline(endpoint));
}

static uint32_t poll_process(struct process *process)
{
	uint32_t work = 0;

	if (!process->alive)
		return 0;

	uint64_t now_ns = process->house->now_ns;

	disk_enter(process->life, now_ns);
	for (uint32_t i = 0; i < shards_of(process); i++)
		work += (uint32_t)wh_endpoint_receive_poll(&process->endpoint[i], now_ns);
	work += poll_books(process, now_ns);
	work += poll_loops(process, now_ns);
	for (uint32_t i = 0; !process->stopped && i < process->verbs; i++)
		work += (uint32_t)process->verb[i].poll(process->verb[i].state, now_ns);
	for (uint32_t i = 0; process->alive && i < shards_of(process); i++) {
		work += (uint32_t)wh_endpoint_send_poll(&process->endpoint[i], now_ns);
		work += send_all(process, i);
	}
	return work;
}

static uint32_t look(struct house *house)
{
	uint32_t work = (uint32_t)disk_run(house->now_ns);

	for (uint32_t i = 0; i < house->lines; i++) {
		work += arrive(house, &house->line[i], house->line[i].there, 1);
		work += arrive(house, &house->line[i], house->line[i].back, 0);
	}
	for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++)
		work += poll_process(&house->process[i]);
	return work;
}

static uint64_t deadline(const struct house *house)
{
	uint64_t due_ns = wh_min_u64(disk_deadline(), house->now_ns + TICK_NS);

	for (uint32_t i = 0; i < house->lines; i++)
		due_ns = wh_min_u64(due_ns, wh_min_u64(wh_netem_deadline(house->line[i].there),
						    wh_netem_deadline(house->line[i].back)));
	for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++) {
		const struct process *process = &house->process[i];

		for (uint32_t shard = 0; process->alive && shard < shards_of(process); shard++) {
			const struct wh_endpoint *endpoint = &process->endpoint[shard];

			due_ns = wh_min_u64(wh_min_u64(due_ns, wh_endpoint_send_deadline(endpoint)),
				wh_endpoint_receive_deadline(endpoint));
			due_ns = wh_min_u64(due_ns, books_deadline(process, endpoint));
		}
	}
	return due_ns;
}

void house_step(struct house *house, uint64_t until_ns)
{
	for (uint32_t round = 0; round < 4 && look(house) > 0; round++)
		house->events++;
	house->events++;
	for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++)
		if (house->process[i].alive)
			wh_jobs_check(&house->process[i].jobs);

	uint64_t next_ns = wh_max_u64(deadline(house), house->now_ns + house->quantum_ns);

	/* Idle jobs have their turns while nothing else happens. */
	if (next_ns >= house->now_ns + TICK_NS)
		for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++)
			for (uint32_t turn = 0; house->process[i].alive && turn < TURNS; turn++) {
				disk_enter(house->process[i].life, house->now_ns);
				poll_loops(&house->process[i], house->now_ns);
			}
	house->now_ns = wh_max_u64(wh_min_u64(next_ns, until_ns), house->now_ns + 1);
}

const char *house_owes(const struct house *house, uint32_t i)
{
	const struct process *process = &house->process[i];
	const struct wh_jobs *jobs = &process->jobs;
	const struct wh_arena *arena = &process->host.ctx.arena;

	if (jobs->live != 0)
		return "a job is still live";
	if (arena->free_units != arena->units)
		return "memory of chunks";
	if (jobs->table_bytes != 0)
		return "memory of tables";
	if (!LIST_EMPTY(&jobs->lane_groups.list))
		return "a lane group";
	for (uint32_t d = 0; d < WH_ROOM_DEVICES; d++)
		if (jobs->room.device[d].promised_bytes != 0)
			return "room on a disk";
	if (jobs->service == NULL)
		return NULL;
	if (jobs->peers.places != 0)
		return "a place";
	for (uint32_t p = 0; p < WH_PEERS_ROWS * WH_PEERS_PER_ROW; p++) {
		const struct wh_peer *peer = &jobs->peers.peer[p];

		if (peer->key == 0)
			continue;
		if (peer->places != 0 || peer->bytes != 0)
			return "a peer's places or memory";
		if (peer->room.promised_bytes != 0)
			return "a peer's room on a disk";
	}
	return NULL;
}
