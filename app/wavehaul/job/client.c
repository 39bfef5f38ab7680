/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/client.h"

#include <errno.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "host/host_handshake.h"

/* If a process at the other end makes the link, it does so at once or not at all. */
#define PEER_LINK_NS (UINT64_C(4) * 1000000000)

/* Interval of checks whether packets of the full MTU still get through. */
#define LOOK_NS (UINT64_C(3) * 1000000000)

static void set_state(struct wh_client *client, enum wh_client_state state)
{
	/* From LINK to PROVING to a final state. */
	WH_ASSERT(wh_client_state(client) < WH_CLIENT_READY && wh_client_state(client) < state);
	atomic_store_explicit(&client->state, state, memory_order_release);
}

enum wh_client_state wh_client_state(const struct wh_client *client)
{
	return (enum wh_client_state)atomic_load_explicit(&client->state, memory_order_acquire);
}

/* Without echo of our own: on an emulated link, and where the kernel knows the path (udp). */
static bool has_no_echo(const struct wh_host *host)
{
	return host->spec[0].facts.emulated || host->netif == NULL;
}

/* Meanwhile the handshake begins; sessions wait. */
static void await_answer(struct wh_client *client, uint64_t now_tsc)
{
	struct wh_host_handshake *handshake = client->host->ctx.handshake;
	struct wh_attempt attempt = {0};

	if (handshake != NULL)
		wh_handshakes_attempt(
			&handshake->handshakes, now_tsc, &client->watch.peer, &attempt);
	wh_sa_let_go(attempt.sa);
	set_state(client, WH_CLIENT_PROVING);
}

static void await_link(struct wh_client *client, uint64_t now_tsc)
{
	if (client->host->at[0].link.was_up && client->host->ctx.settings->question.poll != NULL &&
		client->host->netif == NULL)
		await_answer(client, now_tsc);
	else if (client->host->at[0].link.was_up && has_no_echo(client->host))
		set_state(client, WH_CLIENT_READY); /* there is nothing to prove */
	else if (client->host->at[0].link.was_up &&
		 wh_mtu_proof_start(&client->proof, &client->host->netif[0].neighbour, now_tsc,
			 &client->peer) == 0)
		set_state(client, WH_CLIENT_PROVING);
	else if (now_tsc > client->give_up_tsc)
		set_state(client, WH_CLIENT_NO_LINK);
}

/* If the path changes and drops large packets, only this check reveals it. */
static void look_again(struct wh_client *client, uint64_t now_tsc)
{
	struct wh_neighbour *neighbour = &client->host->netif[0].neighbour;

	if (!client->looking) {
		if (now_tsc < client->next_look_tsc)
			return;
		client->next_look_tsc = now_tsc + wh_ns_to_tsc(client->host->ctx.hz, LOOK_NS);
		client->looking =
			wh_mtu_proof_start(&client->proof, neighbour, now_tsc, &client->peer) == 0;
		return;
	}

	enum wh_mtu_proof_state state = wh_mtu_proof_poll(&client->proof, now_tsc);

	if (state == WH_MTU_PROOF_RUNNING)
		return;
	client->looking = false;
	if (state != WH_MTU_PROOF_TOO_LARGE || client->narrow_bytes != 0)
		return;
	client->narrow_bytes = client->proof.proved_bytes;
	wh_say("packets of %u bytes no longer get through, those of %u bytes do: if that lasts, "
	       "restart with --mtu %u",
		client->host->ctx.settings->mtu_bytes, client->proof.proved_bytes,
		client->proof.proved_bytes);
}

static void hear(struct wh_client *client)
{
	const struct wh_host_question *question = &client->host->ctx.settings->question;
	int rc = question->poll(question->context);

	if (rc != -EAGAIN)
		set_state(client, rc == 0 ? WH_CLIENT_READY : WH_CLIENT_UNHEARD);
}

static void prove(struct wh_client *client, uint64_t now_tsc)
{
	if (client->host->netif == NULL) {
		hear(client);
		return;
	}
	switch (wh_mtu_proof_poll(&client->proof, now_tsc)) {
	case WH_MTU_PROOF_RUNNING:
		return;
	case WH_MTU_PROOF_TOO_LARGE:
		set_state(client, WH_CLIENT_NARROW);
		return;
	case WH_MTU_PROOF_UNKNOWN:
		/* A server may not answer echo; without a MAC address it is not reachable. */
		set_state(client, client->proof.result == WH_NEIGHBOUR_FOUND ? WH_CLIENT_READY
									     : WH_CLIENT_NO_ROUTE);
		return;
	case WH_MTU_PROOF_PROVED:
		client->proved = true;
		client->next_look_tsc = now_tsc + wh_ns_to_tsc(client->host->ctx.hz, LOOK_NS);
		set_state(client, WH_CLIENT_READY);
		return;
	}
}

static int32_t poll_client(void *state, uint64_t now_tsc)
{
	struct wh_client *client = state;

	switch (wh_client_state(client)) {
	case WH_CLIENT_LINK:
		await_link(client, now_tsc);
		return 0;
	case WH_CLIENT_PROVING:
		prove(client, now_tsc);
		return 0;
	case WH_CLIENT_READY:
		if (client->proved)
			look_again(client, now_tsc);
		return 0;
	default:
		return 0;
	}
}

void wh_client_init(struct wh_client *client, struct wh_host *host, const struct wh_address *peer,
	uint64_t patience_ns, uint64_t now_tsc)
{
	if (host->spec[0].facts.link_by_peer)
		patience_ns = wh_min_u64(patience_ns, PEER_LINK_NS);
	*client = (struct wh_client){
		.host = host,
		.peer = *peer,
		.give_up_tsc = now_tsc + wh_ns_to_tsc(host->ctx.hz, patience_ns),
	};
	struct wh_address watched = *peer;

	watched.port = (uint16_t)host->ctx.settings->udp_port;
	if (host->netif != NULL)
		wh_neighbour_watch(&host->netif[0].neighbour, &client->watch, &watched);
	else
		wh_udp_watch(&host->udp[0], &client->watch, &watched);
	wh_loop_add(wh_runtime_loop_of(host->runtime, 0, true), "mtu", poll_client, client);
}

void wh_client_look_again(struct wh_client *client, uint64_t patience_ns, uint64_t now_tsc)
{
	WH_ASSERT(wh_client_state(client) == WH_CLIENT_NO_LINK ||
		  wh_client_state(client) == WH_CLIENT_NO_ROUTE);
	client->give_up_tsc = now_tsc + wh_ns_to_tsc(client->host->ctx.hz, patience_ns);
	/* The client's core leaves it alone until it sees the new state. */
	atomic_store_explicit(&client->state, WH_CLIENT_LINK, memory_order_release);
}

int wh_client_conclude(const struct wh_client *client, const char *server)
{
	const struct wh_host_settings *settings = client->host->ctx.settings;
	char host[WH_HOST_TEXT_BYTES];

	switch (wh_client_state(client)) {
	case WH_CLIENT_NO_LINK:
		if (client->host->spec[0].facts.link_by_peer)
			wh_complain("the process at the other end of %s does not accept this "
				    "connection: does it serve another client, use another id, or "
				    "have the same role?",
				settings->port[0].name);
		else
			wh_complain("the link of %s is down: check the cable and the other end",
				settings->port[0].name);
		return WH_EXIT_NETWORK;
	case WH_CLIENT_NO_ROUTE:
		if (client->proof.result == WH_NEIGHBOUR_SILENT)
			wh_complain("no route to %s: no host answers %s for it or for its gateway; "
				    "the host is down, or --addr, --gateway or --vlan is wrong",
				wh_host_text(server, &client->peer, host),
				client->peer.family == WH_IPV4 ? "ARP" : "neighbour discovery");
		else
			wh_complain("no route to %s: %s; check --addr, --gateway and --vlan, and "
				    "that its server is running",
				wh_host_text(server, &client->peer, host),
				wh_neighbour_result_name(
					(enum wh_neighbour_result)client->proof.result));
		return WH_EXIT_NETWORK;
	case WH_CLIENT_NARROW:
		return wh_fail(WH_EXIT_NETWORK,
			"packets of %u bytes do not get through to %s and back, those of %u bytes "
			"do; set --mtu %u, or raise the MTU of the path",
			settings->mtu_bytes, server, client->proof.proved_bytes,
			client->proof.proved_bytes);
	case WH_CLIENT_UNHEARD:
		return settings->question.conclude(settings->question.context);
	default:
		return wh_fail(WH_EXIT_INTERRUPTED, "interrupted before anything was sent");
	}
}

void wh_client_tell_hint(
	const struct wh_client *client, const struct wh_job *job, const char *server)
{
	const struct wh_host_settings *settings = client->host->ctx.settings;
	const struct wh_neighbour_watch *watch = &client->watch;
	char from[WH_ADDRESS_TEXT_BYTES];
	uint32_t port = settings->udp_port;

	if (client->narrow_bytes != 0 && job->result.failed != WH_STATUS_PENDING)
		wh_say("the MTU may be the cause: packets of %u bytes no longer reached %s, those "
		       "of %u bytes did",
			settings->mtu_bytes, server, client->narrow_bytes);
	if (job->result.failed != WH_STATUS_PEER_GONE)
		return;
	wh_address_text(&watch->from, from);
	switch ((enum wh_neighbour_error)watch->error) {
	case WH_NEIGHBOUR_ERROR_PORT:
		wh_say("%s refuses UDP port %u (ICMP port unreachable): is a server running there, "
		       "on that port?",
			server, port);
		break;
	case WH_NEIGHBOUR_ERROR_PROHIBITED:
		wh_say("%s reports that packets to %s are prohibited: a firewall must allow UDP "
		       "port %u",
			from, server, port);
		break;
	case WH_NEIGHBOUR_ERROR_UNREACHABLE:
		wh_say("%s reports that it has no route to %s: check the routes, and that the host "
		       "is up",
			from, server);
		break;
	case WH_NEIGHBOUR_ERROR_TOO_BIG:
		wh_say("%s reports that packets of %u bytes are too long for the path to %s: set "
		       "--mtu %u",
			from, settings->mtu_bytes, server, watch->mtu_bytes);
		break;
	case WH_NEIGHBOUR_ERROR_NONE:
		if (client->proved && job->ready.began_tsc == 0)
			wh_say("%s answers ping: either no server is running there, or a firewall "
			       "drops UDP port %u",
				server, port);
	}
}
