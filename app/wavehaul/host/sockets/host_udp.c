/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/sockets/host_udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "guard/calls.h"
#include "host/memory_room.h"

/* With any free port those of further queues, which follow it, may be taken. */
#define ATTEMPTS 16

static_assert(WH_QUEUES_MAX * WH_UDP_FAMILIES <= WH_CALLS_SENDER_MAX, "the guard knows them all");

bool wh_host_udp_has_memory(
	const struct wh_memory_plan *plan, const struct wh_host_settings *settings)
{
	const struct wh_memory_room room = wh_memory_room("", false);

	return wh_memory_fits(&room, plan->bytes, "--buffers", settings->buffer_bytes);
}

/* Pages are taken when they are touched; large ones need no rights, where the kernel has them. */
void *wh_host_udp_memory(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

/* The sockets of an address' queues from the first one on; each queue's port is one more. */
static int open_sockets(
	struct wh_host *host, uint32_t number, uint16_t port, char *why, size_t why_bytes)
{
	const struct wh_host_settings *settings = host->ctx.settings;
	struct wh_address own[] = {
		settings->port[number].ipv4.address, settings->port[number].ipv6.address};
	uint32_t end = (number + 1) * settings->queues;
	int rc = 0;

	/* A client goes on from another address when its host joins another network. */
	if (!settings->listens && host->spec[number].local.family == 0)
		for (uint32_t i = 0; i < WH_UDP_FAMILIES; i++)
			memset(own[i].ip, 0, sizeof(own[i].ip));

	for (; rc == 0 && host->udps < end; host->udps += rc == 0) {
		struct wh_udp_sockets *sockets = &host->udp[host->udps].config.sockets;

		rc = wh_udp_sockets_open(own, port, !settings->listens, sockets, why, why_bytes);
		if (rc == 0 && wh_udp_sockets_mark(sockets, (uint8_t)settings->dscp) != 0)
			wh_say("the kernel does not set --dscp");
		if (rc == 0)
			port = (uint16_t)(sockets->port + 1);
		if (rc == 0 && port == 0 && host->udps + 1 < end)
			rc = -EADDRINUSE;
	}
	return rc;
}

static void close_sockets(struct wh_host *host, uint32_t first)
{
	for (uint32_t i = first; i < host->udps; i++)
		wh_udp_sockets_close(&host->udp[i].config.sockets);
	host->udps = first;
}

/* At one address. */
static int open_port(struct wh_host *host, uint32_t number)
{
	const struct wh_host_settings *settings = host->ctx.settings;
	const struct wh_port_spec *spec = &host->spec[number];
	uint32_t first = number * settings->queues;
	uint16_t port = spec->local.port != 0 ? spec->local.port
			: settings->listens   ? (uint16_t)settings->udp_port
					      : 0;
	uint32_t attempts =
		port == 0 ? ATTEMPTS : wh_max_u64(settings->udp_port_last, port) - port + 1;
	char why[WH_PORT_WHY_BYTES] = "";
	int rc = -EADDRINUSE;

	for (uint32_t i = 0; rc == -EADDRINUSE && i < attempts; i++) {
		close_sockets(host, first);
		rc = open_sockets(
			host, number, port == 0 ? 0 : (uint16_t)(port + i), why, sizeof(why));
	}
	if (rc != 0)
		return wh_fail(rc, "%s", why);
	host->ctx.own_port[number] = host->udp[first].config.sockets.port;
	return 0;
}

int wh_host_udp_open(struct wh_host *host)
{
	char why[WH_PORT_WHY_BYTES] = "";
	int rc = 0;

	host->udp = aligned_alloc(64,
		(sizeof(*host->udp) + 63) / 64 * 64 * wh_host_settings_shards(host->ctx.settings));
	if (host->udp == NULL)
		return wh_fail(-ENOMEM, "out of memory for the queues");
	for (uint32_t i = 0; rc == 0 && i < host->ports; i++)
		rc = open_port(host, i);
	if (rc != 0)
		return rc;
	if (wh_udp_old_kernel_text(&host->udp[0].config.sockets, why, sizeof(why)))
		wh_say("%s", why);
	for (uint32_t i = 0; i < host->udps; i++)
		for (uint32_t family = 0; family < WH_UDP_FAMILIES; family++)
			if (host->udp[i].config.sockets.fd[family] >= 0)
				wh_calls_let_send(host->udp[i].config.sockets.fd[family]);
	return 0;
}

/* What the kernel drops looks like the path's loss to the sessions: this tells them apart. */
static int32_t tell_missed(void *state, uint64_t now_tsc)
{
	struct wh_host *host = state;
	uint32_t receive_bytes = host->udp[0].config.sockets.receive_bytes;
	char text[WH_PORT_WHY_BYTES];
	uint64_t missed_pkts = 0;

	if (host->missed_told || now_tsc < host->next_missed_tsc)
		return 0;
	host->next_missed_tsc = now_tsc + host->ctx.hz;
	for (uint32_t i = 0; i < host->shards; i++) {
		struct wh_port_stats stats;

		wh_udp_stats(&host->udp[i], &stats);
		missed_pkts += stats.dropped_pkts[WH_PORT_RX_MISSED];
	}
	if (missed_pkts == 0)
		return 0;
	host->missed_told = true;
	if (receive_bytes < WH_UDP_RECEIVE_BYTES) {
		wh_udp_small_buffer_text(receive_bytes, text, sizeof(text));
		wh_say("%s", text);
	}
	return 0;
}

static int open_shard(struct wh_host *host, uint32_t number, uint32_t places)
{
	struct wh_loop *receives = wh_runtime_loop_of(host->runtime, number, false);
	struct wh_loop *sends = wh_runtime_loop_of(host->runtime, number, true);
	struct wh_loop *books = wh_runtime_books_of(host->runtime, number);
	struct wh_udp *udp = &host->udp[number];
	struct wh_udp_config config = {
		.sockets = udp->config.sockets,
		.mtu = (uint16_t)host->ctx.settings->mtu_bytes,
		.endpoint = wh_host_ctx_endpoint_config(&host->ctx, number, places),
		.read_tsc = wh_loop_read_tsc,
	};

	config.endpoint.rx_meter = &receives->meter;
	config.endpoint.tx_meter = &sends->meter;
	config.endpoint.books_meter = books != NULL ? &books->meter : NULL;
	if (wh_udp_init(udp, &config) != 0)
		return wh_fail(-ENOMEM, "no memory for an endpoint");
	host->shards++;
	receives->nap_us = WH_LOOP_PACKET_NAP_US;
	sends->nap_us = WH_LOOP_PACKET_NAP_US;
	if (books != NULL)
		wh_host_ctx_keep_books(books, &udp->endpoint);
	wh_loop_add(receives, "receive", wh_udp_receive, udp);
	wh_loop_add(sends, "send", wh_udp_send, udp);
	return 0;
}

int wh_host_udp_open_shards(struct wh_host *host, uint32_t places)
{
	for (uint32_t number = 0; number < host->udps; number++) {
		int rc = open_shard(host, number, places);

		if (rc != 0)
			return rc;
	}
	wh_loop_add(wh_runtime_loop_of(host->runtime, 0, true), "missed", tell_missed, host);
	return 0;
}

void wh_host_udp_close(struct wh_host *host)
{
	if (host->udp == NULL)
		return;
	for (uint32_t i = 0; i < host->shards; i++)
		wh_udp_free(&host->udp[i]);
	close_sockets(host, 0);
	free(host->udp);
	host->udp = NULL;
}

void wh_host_udp_stats(const struct wh_host *host, uint32_t port, struct wh_port_stats *stats)
{
	uint32_t queues = host->ctx.settings->queues;

	*stats = (struct wh_port_stats){0};
	for (uint32_t i = port * queues; i < (port + 1) * queues; i++) {
		struct wh_port_stats one;

		wh_udp_stats(&host->udp[i], &one);
		wh_port_stats_add(stats, &one);
	}
}
