/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/host.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "base/assert.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"
#include "file/background.h"
#include "guard/seeker.h"
#include "host/nic/host_nic.h"
#include "host/sockets/host_udp.h"

/* At the end, work in the background gets this much time to finish. */
#define RPCS_MS 5000

/* The largest burst of overdue packets where other work shares the core. */
#define SHARED_CORE_BURST_PKTS 32

/*
 * Smallest payload that is sent from chunk memory if the port can: for a short one a second segment
 * costs more than a copy.
 */
#define ATTACH_BYTES 4096

/* Beside the pools. */
#define DPDK_OWN_BYTES (UINT64_C(16) << 20)

/* A mempool's cache per lcore; larger than a burst of each direction. */
#define POOL_CACHE 256

static_assert(WH_ENDPOINT_PLACES_MIN << 7 == WH_ENDPOINT_PLACES_MAX, "places_for doubles up to it");

static uint64_t align_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/*
 * The most packets in rings of a port and in its netifs, where a packet to be sent has two mbufs,
 * the head's and the payload's; plus those in caches of cores. Packets from the link emulator are
 * in its own mbufs, and packets to it have one mbuf.
 */
static uint32_t count_mbufs(
	const struct wh_host_settings *settings, const struct wh_port_spec *spec)
{
	uint32_t rx_pkts = RTE_MAX(settings->rx_descriptors, UINT32_C(2048));
	uint32_t tx_pkts = RTE_MAX(settings->tx_descriptors, UINT32_C(2048));

	if (spec->facts.emulated)
		return WH_HOST_RING_PKTS + WH_NETIF_MBUFS + 2 * POOL_CACHE;
	return settings->queues * (rx_pkts + 2 * tx_pkts + 3 * WH_NETIF_MBUFS) +
	       WH_SETTINGS_CPUS_MAX * POOL_CACHE / 8 + 1024;
}

void wh_host_plan_memory(const struct wh_host_settings *settings, const struct wh_port_spec *spec,
	const char *whose, struct wh_memory_plan *memory)
{
	wh_memory_plan_add(memory, whose, "buffers", settings->buffer_bytes);
	if (spec->kind == WH_PORT_UDP)
		return;
	wh_memory_plan_add_mbufs(memory, whose, "packets",
		settings->ports * count_mbufs(settings, spec),
		wh_port_room_bytes((uint16_t)settings->mtu_bytes));
}

/* On the first NIC's node, or where there is room. */
static void *take_memory(const struct wh_host *host, uint64_t bytes)
{
	void *near = rte_malloc_socket("chunks", bytes, WH_CHUNK_ALIGN, host->spec[0].node);

	return near != NULL ? near
			    : rte_malloc_socket("chunks", bytes, WH_CHUNK_ALIGN, SOCKET_ID_ANY);
}

static struct rte_mempool *make_pool(const struct wh_host *host, uint16_t ethdev, int node)
{
	const struct wh_host_settings *settings = host->ctx.settings;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "packets %u", ethdev);
	return rte_pktmbuf_pool_create(name, count_mbufs(settings, host->spec), POOL_CACHE, 0,
		wh_port_room_bytes((uint16_t)settings->mtu_bytes), node);
}

static int open_arena(struct wh_host *host)
{
	uint64_t bytes = align_up(host->ctx.settings->buffer_bytes, WH_ARENA_UNIT_BYTES);

	host->memory = wh_host_is_udp(host) ? wh_host_udp_memory(bytes) : take_memory(host, bytes);
	return host->memory != NULL ? wh_arena_init(&host->ctx.arena, host->memory, bytes)
				    : -ENOMEM;
}

static void complain_of_memory(const struct wh_host *host)
{
	if (wh_host_is_udp(host))
		wh_complain("out of memory for --buffers; set a smaller size, or raise what this "
			    "process may have (ulimit -v, ulimit -d)");
	else
		wh_complain(
			"out of memory for packets and buffers (%s); reserve more hugepages, or "
			"set a smaller --buffers",
			rte_strerror(rte_errno));
}

static struct wh_port_config port_config(const struct wh_host *host, uint32_t number)
{
	const struct wh_host_settings *settings = host->ctx.settings;

	return (struct wh_port_config){
		.queues = (uint16_t)settings->queues,
		.mtu = (uint16_t)settings->mtu_bytes,
		.rx_descriptors = (uint16_t)settings->rx_descriptors,
		.tx_descriptors = (uint16_t)settings->tx_descriptors,
		.udp_port = (uint16_t)settings->udp_port,
		.ipv4 = settings->port[number].ipv4.address.family != 0,
		.ipv6 = settings->port[number].ipv6.address.family != 0,
		.socket = SOCKET_ID_ANY,
		/* A process has one caller, which connects to one socket (guard/seeker.h). */
		.rejoins = number == 0 && wh_port_rejoins(&host->spec[0]),
		/* Sealing copies, and of a chunk in place no physical address is known. */
		.plain_tx = settings->handshake != NULL || host->spec[number].facts.emulated ||
			    rte_eal_iova_mode() == RTE_IOVA_PA,
	};
}

static int open_ethdev(struct wh_host *host, uint32_t number)
{
	const struct wh_port_spec *spec = &host->spec[number];
	struct wh_host_port *at = &host->at[number];
	struct wh_port_config config = port_config(host, number);
	char why[WH_PORT_WHY_BYTES];

	if (wh_port_find(spec->ethdev, &config.ethdev) != 0)
		return wh_fail(-ENODEV,
			"DPDK did not create port %s from %s; `wavehaul doctor` tells what a NIC "
			"needs, --verbose shows DPDK's messages",
			spec->ethdev, spec->target);
	at->pool = make_pool(host, config.ethdev, spec->node);
	if (at->pool == NULL)
		at->pool = make_pool(host, config.ethdev, SOCKET_ID_ANY);
	if (at->pool == NULL) {
		complain_of_memory(host);
		return -ENOMEM;
	}
	config.pool = at->pool;

	int rc = wh_port_open(&config, &at->port, why, sizeof(why));

	if (rc != 0)
		wh_complain("%s", why);
	return rc;
}

static int open_ethdevs(struct wh_host *host)
{
	uint32_t shards = wh_host_settings_shards(host->ctx.settings);
	int rc = 0;

	host->netif = aligned_alloc(64, align_up(sizeof(*host->netif), 64) * shards);
	if (host->netif == NULL)
		return wh_fail(-ENOMEM, "out of memory for the queues");
	for (uint32_t i = 0; rc == 0 && i < host->ports; i++)
		rc = open_ethdev(host, i);
	return rc;
}

static int open_ports(struct wh_host *host)
{
	if (open_arena(host) != 0) {
		complain_of_memory(host);
		return -ENOMEM;
	}
	return wh_host_is_udp(host) ? wh_host_udp_open(host) : open_ethdevs(host);
}

static struct wh_neighbour_config neighbour_config(const struct wh_host *host, uint32_t number)
{
	const struct wh_host_settings *settings = host->ctx.settings;
	const struct wh_own_port *own = &settings->port[number];
	struct wh_neighbour_config config = {
		.hz = host->ctx.hz,
		.mtu = (uint16_t)settings->mtu_bytes,
		.vlan = (uint16_t)settings->vlan,
		.macs_made_up = host->spec[number].facts.mac_made_up,
	};

	memcpy(config.mac, host->at[number].port->mac, sizeof(config.mac));
	if (own->ipv4.address.family != 0) {
		memcpy(config.ipv4.ip, own->ipv4.address.ip, 4);
		config.ipv4.prefix_bits = own->ipv4.prefix_bits;
		memcpy(config.ipv4.gateway, own->gateway4.ip, 4);
	}
	if (own->ipv6.address.family != 0) {
		memcpy(config.ipv6.ip, own->ipv6.address.ip, 16);
		config.ipv6.prefix_bits = own->ipv6.prefix_bits;
		memcpy(config.ipv6.gateway, own->gateway6.ip, 16);
	}
	return config;
}

static const char *mac_text(const uint8_t mac[6], char text[RTE_ETHER_ADDR_FMT_SIZE])
{
	snprintf(text, RTE_ETHER_ADDR_FMT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		mac[2], mac[3], mac[4], mac[5]);
	return text;
}

/* Two hosts with one address lose packets to each other; nothing else would report it. */
static int32_t tell_conflict(void *state, uint64_t now_tsc)
{
	struct wh_netif *netif = state;
	struct wh_neighbour_conflict conflict;
	char address[WH_ADDRESS_TEXT_BYTES];
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	char known[RTE_ETHER_ADDR_FMT_SIZE];

	(void)now_tsc;
	if (!wh_neighbour_take_conflict(&netif->neighbour, &conflict))
		return 0;
	wh_address_text(&conflict.address, address);
	mac_text(conflict.mac, mac);
	mac_text(conflict.known_mac, known);
	if (conflict.quarrel == WH_NEIGHBOUR_QUARREL_OURS)
		wh_say("another host, %s, uses our address %s: set --addr to a free address", mac,
			address);
	else if (conflict.quarrel == WH_NEIGHBOUR_QUARREL_PEERS)
		wh_say("%s claims to be %s, which we know as %s: the claim is ignored while the "
		       "known host answers; check for a duplicate address or spoofing",
			mac, address, known);
	else
		wh_say("%s no longer answers at %s, but at %s: packets now go there", address,
			known, mac);
	return 0;
}

static int open_shard(struct wh_host *host, uint32_t number, uint32_t places)
{
	uint32_t queues = host->ctx.settings->queues;
	struct wh_netif *netif = &host->netif[number];
	struct wh_host_port *at = &host->at[number / queues];
	struct wh_loop *receives = wh_runtime_loop_of(host->runtime, number, false);
	struct wh_loop *sends = wh_runtime_loop_of(host->runtime, number, true);
	struct wh_loop *books = wh_runtime_books_of(host->runtime, number);
	struct wh_netif_config config = {
		.port = at->port,
		.queue = (uint16_t)(number % queues),
		.pool = at->pool,
		.local4 = wh_host_ctx_address(&host->ctx, WH_IPV4, number),
		.local6 = wh_host_ctx_address(&host->ctx, WH_IPV6, number),
		.vlan = (uint16_t)host->ctx.settings->vlan,
		.dscp = (uint8_t)host->ctx.settings->dscp,
		.attach_bytes = host->ctx.attach_bytes,
		.neighbour = neighbour_config(host, number / queues),
		.endpoint = wh_host_ctx_endpoint_config(&host->ctx, number, places),
		.read_tsc = wh_loop_read_tsc,
	};
	const char *wrong = wh_neighbour_config_wrong(&config.neighbour);

	WH_ASSERT(number == host->shards); /* the others of a port join its first one */
	if (wrong != NULL)
		return wh_fail(-EINVAL, "%s", wrong);
	config.endpoint.rx_meter = &receives->meter;
	config.endpoint.tx_meter = &sends->meter;
	config.endpoint.books_meter = books != NULL ? &books->meter : NULL;
	if (wh_netif_init(netif, &config) != 0)
		return wh_fail(-ENOMEM, "no memory for an endpoint");
	host->shards++;
	if (number % queues > 0)
		wh_netif_join(&host->netif[number - number % queues], netif);
	wh_neighbour_announce(&netif->neighbour, rte_rdtsc());
	receives->nap_us = WH_LOOP_PACKET_NAP_US;
	sends->nap_us = WH_LOOP_PACKET_NAP_US;
	if (books != NULL)
		wh_host_ctx_keep_books(books, &netif->endpoint);
	wh_loop_add(receives, "receive", wh_netif_receive, netif);
	wh_loop_add(sends, "send", wh_netif_send, netif);
	/*
	 * If queues are paired, each has a neighbour table of its own, which belongs to the sending
	 * core.
	 */
	wh_loop_add(sends, "conflict", tell_conflict, netif);
	return 0;
}

/* If all ports have gone, the process ends. */
static int32_t watch_links(void *state, uint64_t now_tsc)
{
	struct wh_host *host = state;
	bool all_gone = true;

	for (uint32_t i = 0; i < host->ports; i++) {
		struct wh_host_port *at = &host->at[i];

		at->gone = at->gone || !wh_link_watch_poll(&at->link, now_tsc);
		all_gone = all_gone && at->gone;
	}
	if (all_gone) {
		atomic_store(&host->lost, true);
		wh_runtime_stop(host->runtime);
	}
	return 0;
}

/*
 * Without its groups a host does not receive neighbour discovery; ARP's broadcasts arrive anyway.
 */
static void join_groups(struct wh_host *host, uint32_t number)
{
	struct wh_port *port = host->at[number].port;
	const char *name = host->spec[number].ethdev;
	uint8_t macs[WH_NEIGHBOUR_GROUPS_MAX][6];
	uint32_t count = wh_neighbour_groups(
		&host->netif[number * host->ctx.settings->queues].neighbour, macs);
	enum wh_port_groups groups = WH_PORT_GROUPS_UNFILTERED;

	WH_ASSERT(count <= WH_NEIGHBOUR_GROUPS_MAX);
	if (count > 0 && wh_port_join_groups(port, macs, count, &groups) != 0)
		wh_say("port %s does not accept multicast addresses: IPv6 neighbours may not find "
		       "it",
			name);
	else if (host->ctx.settings->verbose)
		wh_say("port %s: groups %s, queues by %s", name, wh_port_groups_name(groups),
			wh_port_steering_name(port->steering));
}

static void warn_of_crossed_nodes(const struct wh_host *host, uint32_t number)
{
	uint32_t queues = host->ctx.settings->queues;
	uint32_t own = ((1U << queues) - 1) << (number * queues);
	int port_node;
	int core_node;

	for (uint32_t i = 0; i < host->runtime->cores.count; i++) {
		const struct wh_core *core = &host->runtime->cores.core[i];

		if (((core->receives | core->sends) & own) == 0 ||
			!wh_port_crosses_nodes(host->at[number].port, i, &port_node, &core_node))
			continue;
		wh_say("port %s is on NUMA node %d, but CPU %u, which moves its packets, is on "
		       "node %d: every packet crosses between nodes; choose nearer CPUs with "
		       "--rx-cpus and --tx-cpus",
			host->spec[number].ethdev, port_node, core->cpu, core_node);
	}
}

/*
 * Half of the places are for streams to us, half for ours; a few are for sessions that are closing.
 */
static uint32_t places_for(uint32_t jobs)
{
	uint32_t places = WH_ENDPOINT_PLACES_MIN;

	while (places < 2 * jobs + 16 && places < WH_ENDPOINT_PLACES_MAX)
		places *= 2;
	return places;
}

bool wh_host_link_up(const struct wh_host *host, uint32_t port)
{
	const struct wh_port *ethdev = host->at[port].port;

	return ethdev == NULL || __atomic_load_n(&ethdev->link_up, __ATOMIC_RELAXED);
}

void wh_host_port_names(
	const struct wh_host *host, uint32_t first, uint32_t end, char text[WH_HOST_PORTS_BYTES])
{
	text[0] = '\0';
	for (uint32_t i = first; i < end; i++)
		wh_text_add(text, WH_HOST_PORTS_BYTES, i > first ? ", " : "", host->spec[i].ethdev);
}

void wh_host_port_stats(const struct wh_host *host, uint32_t shard, struct wh_port_stats *stats)
{
	uint32_t queues = host->ctx.settings->queues;

	if (wh_host_is_udp(host))
		wh_udp_stats(&host->udp[shard], stats);
	else
		*stats = *wh_port_stats(host->at[shard / queues].port, (uint16_t)(shard % queues));
}

/* Of one port, with what its device counts. */
static void port_stats(const struct wh_host *host, uint32_t number, struct wh_port_stats *stats)
{
	if (wh_host_is_udp(host))
		wh_host_udp_stats(host, number, stats);
	else
		wh_port_stats_total(host->at[number].port, stats);
}

void wh_host_port_stats_total(const struct wh_host *host, struct wh_port_stats *total)
{
	*total = (struct wh_port_stats){0};
	for (uint32_t i = 0; i < host->ports; i++) {
		struct wh_port_stats stats;

		port_stats(host, i, &stats);
		wh_port_stats_add(total, &stats);
	}
}

static void count(const struct wh_host_ctx *ctx, uint32_t shard, struct wh_host_ctx_counts *counts)
{
	const struct wh_host *host =
		(const struct wh_host *)((const char *)ctx - offsetof(struct wh_host, ctx));
	struct wh_port_stats stats;

	WH_ASSERT(shard < host->shards);
	*counts = (struct wh_host_ctx_counts){
		.bad_pkts = wh_host_is_udp(host) ? wh_endpoint_bad_pkts(&host->udp[shard].endpoint)
						 : wh_netif_bad_pkts(&host->netif[shard])};
	port_stats(host, shard / ctx->settings->queues, &stats);
	for (uint32_t i = 0; i < WH_PORT_DROPS; i++)
		counts->dropped_pkts += stats.dropped_pkts[i];
	counts->nic_holds = stats.tx_held > stats.tx_pkts / 1000;
	counts->port_is_full = stats.tx_full * WH_PORT_BACKLOG_PKTS > stats.tx_pkts;
	wh_runtime_cycles(host->runtime, counts->cycles);
}

static bool draw_keys(struct wh_host_ctx *ctx)
{
	return getrandom(ctx->cookie_key, sizeof(ctx->cookie_key), 0) == sizeof(ctx->cookie_key) &&
	       getrandom(ctx->draw_key, sizeof(ctx->draw_key), 0) == sizeof(ctx->draw_key);
}

static int open_handshake(struct wh_host *host)
{
	struct wh_host_ctx *ctx = &host->ctx;

	if (ctx->settings->handshake == NULL)
		return 0;
	if (wh_host_handshake_init(&host->handshake, ctx, ctx->settings->handshake) != 0)
		return wh_fail(-EIO, "this identity cannot be used: TLS rejects its key, or memory "
				     "is exhausted");
	wh_loop_add(ctx->worker[0], "handshake", wh_host_handshake_poll, &host->handshake);
	return 0;
}

/* Of its ports. */
static void fill_host_ctx(struct wh_host *host)
{
	struct wh_host_ctx *ctx = &host->ctx;

	ctx->attach_bytes = ATTACH_BYTES;
	for (uint32_t i = 0; i < host->ports; i++) {
		const struct wh_port *port = host->at[i].port;

		if (port == NULL || !port->multi_segment_tx)
			ctx->attach_bytes = UINT32_MAX;
		if (host->spec[i].kind == WH_PORT_PCI)
			ctx->line_bps[i] = wh_port_line_bps(port);
	}
	ctx->burst_pkts = wh_host_is_udp(host)                             ? WH_UDP_BURST
			  : wh_cores_sends_alone(&host->runtime->cores, 0) ? 1
									   : SHARED_CORE_BURST_PKTS;
	ctx->count = count;
}

/* Sets up what it has of ports, of cores and of random keys. */
static int open_host_ctx(struct wh_host *host)
{
	const struct wh_cores *cores = &host->runtime->cores;
	struct wh_host_ctx *ctx = &host->ctx;

	if (!draw_keys(ctx))
		return wh_fail(-EIO, "the system supplies no random numbers for a secret: %s",
			strerror(errno));
	fill_host_ctx(host);
	for (uint32_t i = 0; i < cores->count; i++)
		if (cores->core[i].works)
			ctx->worker[ctx->workers++] = &host->runtime->loop[i];
	WH_ASSERT(ctx->workers > 0); /* cores.h: the first core works */
	if (open_handshake(host) != 0)
		return -EIO;
	for (uint32_t number = 0; number < wh_host_settings_shards(ctx->settings); number++)
		ctx->shard[number] = (struct wh_host_ctx_shard){
			.ctx = ctx,
			.number = number,
			.endpoint = wh_host_is_udp(host) ? &host->udp[number].endpoint
							 : &host->netif[number].endpoint,
		};
	return 0;
}

static int open_shards(struct wh_host *host, uint32_t jobs)
{
	if (open_host_ctx(host) != 0)
		return -EIO;
	if (wh_host_is_udp(host))
		return wh_host_udp_open_shards(host, places_for(jobs));
	for (uint32_t number = 0; number < wh_host_settings_shards(host->ctx.settings); number++)
		if (open_shard(host, number, places_for(jobs)) != 0)
			return -EINVAL;
	for (uint32_t i = 0; i < host->ports; i++) {
		join_groups(host, i);
		warn_of_crossed_nodes(host, i);
	}
	/* On the core that sends for queue 0, which also writes the state of the links. */
	wh_loop_add(wh_runtime_loop_of(host->runtime, 0, true), "link", watch_links, host);
	return 0;
}

int wh_host_open(struct wh_host *host, struct wh_runtime *runtime, const struct wh_port_spec *spec,
	const struct wh_host_settings *settings, const struct wh_host_ctx_hooks *hooks,
	uint32_t jobs)
{
	WH_ASSERT(runtime->started && jobs > 0);
	WH_ASSERT(hooks->welcome != NULL && hooks->accept != NULL && hooks->gone != NULL);
	*host = (struct wh_host){
		.ctx = {.hz = runtime->hz, .settings = settings, .hooks = *hooks},
		.runtime = runtime,
		.ports = settings->ports,
	};
	for (uint32_t i = 0; i < host->ports; i++) {
		host->spec[i] = spec[i];
		host->at[i].host = host;
	}
	if (open_ports(host) != 0 || open_shards(host, jobs) != 0) {
		wh_host_close(host);
		return WH_EXIT_HARDWARE;
	}
	for (uint32_t i = 0; i < host->ports; i++)
		if (wh_host_is_udp(host))
			host->at[i].link.was_up = true;
		else
			wh_link_watch_init(&host->at[i].link, host->at[i].port, &host->spec[i],
				runtime->hz, host->ports == 1);
	return WH_EXIT_OK;
}

/* The ports of a process, as named and as DPDK's environment is told. */
struct named_ports {
	struct wh_port_spec spec[WH_PORTS_MAX];
	struct wh_port_argument device[WH_PORTS_MAX];
};

static int start_runtime(struct wh_runtime *runtime, const struct wh_cores *cores,
	const struct named_ports *ports, const struct wh_host_settings *settings)
{
	const struct wh_port_spec *spec = ports->spec;
	struct wh_memory_plan memory = {0};

	wh_host_plan_memory(settings, spec, "", &memory);
	if (spec->kind != WH_PORT_UDP)
		wh_memory_plan_add(&memory, "", "DPDK's own", DPDK_OWN_BYTES);
	if (settings->verbose)
		wh_memory_plan_print(&memory, stderr);
	if (spec->kind == WH_PORT_UDP)
		return wh_host_udp_has_memory(&memory, settings)
			       ? wh_runtime_start(runtime, cores, settings->verbose, NULL)
			       : -ENOMEM;

	struct wh_eal_config eal = {
		.memory_bytes = memory.bytes,
		.small_pages_bytes = memory.small_pages_bytes,
		.option = "--buffers",
		.option_bytes = settings->buffer_bytes,
		.no_huge = settings->no_huge,
		.node = spec->node,
		.take_now = true,
		.extra = settings->eal[0] != '\0' ? settings->eal : NULL,
		.verbose = settings->verbose,
	};

	for (uint32_t i = 0; i < settings->ports; i++) {
		eal.device[i] = ports->device[i];
		eal.one_file |= spec[i].single_file_segments;
		eal.physical |= spec[i].physical;
	}
	return wh_runtime_start(runtime, cores, settings->verbose, &eal);
}

/* WH_EXIT_OK, or an exit status after a complaint. */
static int prepare_ports(const struct wh_host_settings *settings, struct named_ports *ports)
{
	char why[WH_PORT_WHY_BYTES];

	for (uint32_t i = 0; i < settings->ports; i++) {
		struct wh_port_spec *spec = &ports->spec[i];

		if (wh_port_spec_read(
			    settings->port[i].name, (uint16_t)i, spec, why, sizeof(why)) != 0)
			return wh_fail(WH_EXIT_HARDWARE, "%s", why);
		if (spec->kind != ports->spec[0].kind)
			return wh_fail(WH_EXIT_USAGE,
				"%s and %s are ports of different kinds; one process has ports of "
				"one kind",
				settings->port[0].name, settings->port[i].name);
	}
	for (uint32_t i = 0; i < settings->ports; i++) {
		struct wh_port_spec *spec = &ports->spec[i];

		if (!wh_host_may_have(spec, why, sizeof(why)) ||
			wh_port_spec_prepare(spec, (uint16_t)settings->queues,
				(uint16_t)settings->mtu_bytes, &ports->device[i], why,
				sizeof(why)) != 0)
			return wh_fail(WH_EXIT_HARDWARE, "%s", why);
	}
	return WH_EXIT_OK;
}

int wh_host_start(struct wh_host *host, struct wh_runtime *runtime,
	const struct wh_host_settings *settings, const struct wh_host_ctx_hooks *hooks,
	uint32_t jobs)
{
	char why[WH_PORT_WHY_BYTES];
	struct named_ports ports = {0};
	struct wh_cores_allowed allowed;
	struct wh_cores cores;
	cpu_set_t near;
	int status = prepare_ports(settings, &ports);

	if (status != WH_EXIT_OK)
		return status;
	wh_cores_allowed(wh_host_near_cpus(ports.spec, "", &near) ? &near : NULL, &allowed);
	if (wh_cores_place(settings, &allowed, &cores, why, sizeof(why)) != 0)
		return wh_fail(WH_EXIT_HARDWARE, "%s", why);

	/*
	 * A process that may connect to a socket of the port (memif, vhost) reads and writes our
	 * memory: allow only the owner, whatever the umask is.
	 */
	mode_t before = umask(S_IRWXG | S_IRWXO);

	status = WH_EXIT_HARDWARE;
	wh_seeker_start(ports.spec);
	if (start_runtime(runtime, &cores, &ports, settings) == 0) {
		status = wh_host_open(host, runtime, ports.spec, settings, hooks, jobs);
		if (status != WH_EXIT_OK)
			wh_runtime_close(runtime);
	}
	if (status != WH_EXIT_OK)
		wh_seeker_end();
	umask(before);
	return status;
}

/*
 * Staging folders of failed jobs may still be being removed. Does not wait for a disk that hangs.
 */
static void await_rpcs(void)
{
	for (int ms = 0; ms < RPCS_MS && wh_background_count() > 0; ms++)
		rte_delay_us_sleep(1000);
}

/*
 * Memory and packets' buffers go with the EAL or the process, which only unmap them: rte_free would
 * first write zeros over gigabytes, for seconds in which a stopped process is not gone.
 */
void wh_host_close(struct wh_host *host)
{
	await_rpcs();
	wh_host_udp_close(host);
	for (uint32_t i = 0; host->netif != NULL && i < host->shards; i++)
		wh_netif_free(&host->netif[i]);
	host->shards = 0;
	wh_host_handshake_free(&host->handshake);
	for (uint32_t i = 0; i < host->ports; i++)
		wh_port_close(host->at[i].port);
	wh_seeker_end();
	wh_arena_free(&host->ctx.arena);
	free(host->netif);
}
