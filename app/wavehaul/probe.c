/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul probe`: measures the path to a server before anything is sent on it. */

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "host/host.h"
#include "host/host_handshake.h"
#include "job/client.h"
#include "job/on_host.h"
#include "plot/svg.h"
#include "probe/prober.h"
#include "report/kept.h"
#include "report/probe_tell.h"
#include "report/seal_told.h"
#include "ssh/far.h"
#include "transfer/sealed.h"
#include "verbs.h"

#define WATCH_US   2000
#define PATIENCE_S 3

struct probe {
	struct wh_settings settings;
	struct wh_sealed sealed;
	struct wh_on_host on;
	struct wh_client client;
	struct wh_address peer;
	const char *server;
	char peer_text[WH_ADDRESS_TEXT_BYTES];
	struct wh_sought sought; /* the server's SA, if sealed */
	uint64_t sought_tsc;     /* time of the first attempt; 0: not yet */
	struct wh_job_sealed told;
	struct wh_prober prober;
	bool begun;
	uint64_t next_tsc;
	struct wh_kept before; /* of the previous probe */
};

/* A NIC takes packets faster than it sends, so trains leave at its link's rate. */
static uint64_t line_bps(const struct probe *probe)
{
	if (probe->settings.probe_bps != WH_RATE_MAX)
		return probe->settings.probe_bps;
	return probe->on.host.ctx.line_bps[0];
}

static struct wh_prober_config prober_config(const struct probe *probe)
{
	const struct wh_settings *settings = &probe->settings;
	uint32_t ip_udp_bytes = wh_encap_ip_udp_bytes((enum wh_family)probe->peer.family);
	uint32_t payload_bytes =
		settings->mtu_bytes - ip_udp_bytes - WH_HEAD_BYTES < WH_PAYLOAD_BYTES_MAX
			? settings->mtu_bytes - ip_udp_bytes - WH_HEAD_BYTES
			: WH_PAYLOAD_BYTES_MAX;

	return (struct wh_prober_config){
		.peer = probe->peer,
		.packet_bytes = WH_HEAD_BYTES + payload_bytes,
		.ip_udp_bytes = ip_udp_bytes,
		.link_bytes = wh_encap_wire_bytes((enum wh_family)probe->peer.family, 0) -
			      WH_HEAD_BYTES - ip_udp_bytes +
			      (settings->vlan != 0 ? WH_VLAN_BYTES : 0),
		.train_pkts = settings->train_pkts,
		.duration_ns = settings->probe_ns,
		.patience_ns = PATIENCE_S * WH_NS_PER_S,
	};
}

static bool begin(struct probe *probe)
{
	struct wh_prober_config config = prober_config(probe);

	config.hz = probe->on.host.ctx.hz;
	config.token = wh_host_ctx_draw(&probe->on.host.ctx);
	config.line_bps = line_bps(probe);
	config.sa = probe->sought.sa;
	if (wh_prober_init(&probe->prober, &config) != 0)
		return false;
	if (config.sa != NULL) {
		probe->told.cipher = config.sa->config.cipher;
		memcpy(probe->told.peer_id, config.sa->config.peer_identity,
			sizeof(probe->told.peer_id));
	}
	probe->begun = true;
	wh_endpoint_probe(wh_host_endpoint(&probe->on.host, 0), &probe->prober);
	return true;
}

/* The link and the neighbour are ready, and the SA if sealed. */
static bool is_ready(struct probe *probe, uint64_t now_tsc)
{
	struct wh_host_handshake *handshake = probe->on.host.ctx.handshake;

	if (wh_client_state(&probe->client) != WH_CLIENT_READY)
		return false;
	if (handshake == NULL || probe->sought.sa != NULL)
		return true;
	if (probe->sought_tsc == 0)
		probe->sought_tsc = now_tsc;
	wh_host_handshake_seek(handshake, now_tsc, &probe->peer, PATIENCE_S * WH_NS_PER_S,
		&probe->sought_tsc, &probe->sought);
	return probe->sought.sa != NULL;
}

static bool is_hopeless(const struct probe *probe)
{
	return wh_client_state(&probe->client) > WH_CLIENT_READY ||
	       probe->sought.status != WH_STATUS_PENDING || wh_signals_count() > 0;
}

/* The server's decision about our key comes after the SA, and may revoke it. */
static bool was_refused(struct probe *probe, uint64_t now_tsc)
{
	struct wh_sa *sa = probe->sought.sa;

	if (sa == NULL || !wh_sa_is_revoked(sa))
		return false;
	wh_host_handshake_seek(probe->on.host.ctx.handshake, now_tsc, &probe->peer,
		PATIENCE_S * WH_NS_PER_S, &probe->sought_tsc, &probe->sought);
	wh_sa_let_go(probe->sought.sa);
	probe->sought.sa = sa;
	return probe->sought.status != WH_STATUS_PENDING;
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct probe *probe = state;

	if (now_tsc < probe->next_tsc)
		return 0;
	probe->next_tsc = now_tsc + wh_us_to_tsc(probe->on.host.ctx.hz, WATCH_US);
	if (!probe->begun) {
		if ((is_ready(probe, now_tsc) && !begin(probe)) || is_hopeless(probe))
			wh_runtime_stop(&probe->on.runtime);
		return 0;
	}
	if (wh_signals_count() > 0)
		atomic_store(&probe->prober.wish_to_stop, 1);
	if (wh_prober_ended(&probe->prober) != WH_PROBER_RUNNING || was_refused(probe, now_tsc))
		wh_runtime_stop(&probe->on.runtime);
	return 0;
}

static int refused(const struct probe *probe)
{
	if (probe->prober.findings.refused == WH_STATUS_BUSY)
		wh_complain("%s has running transfers, or another probe, which the trains would "
			    "disturb; try again when they are done",
			probe->server);
	else
		wh_complain("%s does not let us probe: what it has of us says measure = no, see "
			    "wavehaul-trust(1)",
			probe->server);
	return WH_EXIT_NETWORK;
}

static int no_answer(const struct probe *probe)
{
	return wh_fail(WH_EXIT_NETWORK,
		"%s does not answer on UDP port %u: is a server running there, on that port, and "
		"does its --allow include this host?%s",
		probe->server, probe->settings.udp_port,
		probe->settings.unsealed
			? " One that seals hears nobody who does not: leave out --unsealed"
			: "");
}

/* There was no SA; reported as by a transfer. */
static int no_sa(const struct probe *probe)
{
	if (probe->sought.status == WH_STATUS_PEER_GONE)
		return no_answer(probe);
	return wh_fail(WH_EXIT_NETWORK, "%s: %s", probe->server, probe->sought.why);
}

/* The sentence and the exit status for the probe's result. */
static int conclude(const struct probe *probe)
{
	if (atomic_load(&probe->on.host.lost))
		return WH_EXIT_NETWORK;
	if (probe->sought.status != WH_STATUS_PENDING)
		return no_sa(probe);
	if (!probe->begun)
		return wh_client_conclude(&probe->client, probe->server);
	switch (wh_prober_ended(&probe->prober)) {
	case WH_PROBER_DONE:
		return WH_EXIT_OK;
	case WH_PROBER_REFUSED:
		return refused(probe);
	case WH_PROBER_NO_ANSWER:
		return no_answer(probe);
	case WH_PROBER_CONTRADICTS:
		return wh_fail(WH_EXIT_VERIFY,
			"the answers of %s contradict each other: all results are discarded",
			probe->server);
	case WH_PROBER_BOUND:
		return wh_fail(WH_EXIT_STALLED,
			"the time is up, at stage '%s': what is known until there stands; --time "
			"gives more, --train asks for less",
			wh_prober_stage_name((enum wh_prober_stage)probe->prober.last_stage));
	case WH_PROBER_STOPPED:
	case WH_PROBER_RUNNING:
		return wh_fail(WH_EXIT_INTERRUPTED, "interrupted");
	default:
		return wh_fail(WH_EXIT_NETWORK,
			"%s answers no more, at stage '%s'; is the path still there?",
			probe->server,
			wh_prober_stage_name((enum wh_prober_stage)probe->prober.last_stage));
	}
}

static void tell_json(struct probe *probe, int status)
{
	json_t *object = wh_head_json("probe", status);
	const struct wh_findings *found = &probe->prober.findings;
	const struct wh_kept *before = &probe->before;

	json_object_set_new(object, "host", wh_word_to_json(probe->server));
	json_object_set_new(object, "end",
		json_string(wh_prober_end_name(
			probe->begun ? wh_prober_ended(&probe->prober) : WH_PROBER_NO_ANSWER)));
	json_object_set_new(object, "sealed", wh_seal_json(&probe->told));
	json_object_set_new(
		object, "found", probe->begun ? wh_findings_to_json(found) : json_null());
	json_object_set_new(object, "before",
		before->probed ? wh_findings_to_json(&before->found) : json_null());
	json_object_set_new(object, "before_when",
		before->probed ? json_string(before->found_when) : json_null());
	wh_json_print(object, JSON_INDENT(2));
}

static struct wh_kept_place place_of(const struct probe *probe)
{
	return (struct wh_kept_place){
		.folder = probe->settings.state,
		.peer = probe->peer_text,
		.port = probe->settings.port[0].name,
	};
}

/* Reports and stores the findings; a plot that cannot be written is a failure of its own. */
static int report(struct probe *probe, int status)
{
	const struct wh_findings *found = &probe->prober.findings;
	const struct wh_kept *before = &probe->before;
	const char *plot = probe->settings.plot;
	bool done = status == WH_EXIT_OK;

	if (done) {
		const struct wh_kept_place place = place_of(probe);
		int rc = wh_kept_probe(&place, found);

		if (rc != 0)
			wh_say("cannot save the results (%s); --state names another folder",
				strerror(-rc));
	}
	if (probe->begun && plot[0] != '\0') {
		int rc = wh_probe_plot(found, probe->peer_text, plot);

		if (rc != 0) {
			wh_complain("cannot write %s: %s", plot, strerror(-rc));
			status = status == WH_EXIT_OK ? WH_EXIT_OTHER : status;
		}
	}
	if (!probe->settings.json && probe->begun)
		wh_seal_tell(&probe->told);
	if (!probe->settings.json && probe->begun && found->sent_pkts > 0) {
		wh_probe_tell(found, before->probed ? &before->found : NULL, before->found_when);
		wh_probe_picture(found);
	}
	return status;
}

static int run(void *context)
{
	struct probe *probe = context;
	wh_client_init(&probe->client, &probe->on.host, &probe->peer,
		probe->settings.peer_timeout_ns, rte_rdtsc());
	wh_runtime_add(&probe->on.runtime, 0, "watch", watch, probe);
	wh_runtime_run(&probe->on.runtime);
	if (probe->begun)
		wh_endpoint_probe(wh_host_endpoint(&probe->on.host, 0), NULL);
	wh_sa_let_go(probe->sought.sa);
	return report(probe, conclude(probe));
}

static int prepare(struct probe *probe)
{
	struct wh_settings *settings = &probe->settings;
	struct wh_prober_bounds bounds;
	int status;

	if (settings->operand_count != 1)
		return wh_fail(
			WH_EXIT_USAGE, "probe needs one HOST; `wavehaul probe --help` explains");
	if (settings->plot[0] != '\0' && !wh_svg_may_write(settings->plot))
		return WH_EXIT_OTHER;
	probe->server = settings->operands[0];
	status = wh_far_find(settings, WH_VERB_PROBE, probe->server, &probe->peer);
	if (status != 0)
		return status;
	probe->peer.port = (uint16_t)settings->udp_port;

	struct wh_address nameless = probe->peer;

	nameless.port = 0;
	wh_address_text(&nameless, probe->peer_text);
	const struct wh_kept_place place = place_of(probe);

	wh_kept_recall(&place, &probe->before);

	struct wh_prober_config config = prober_config(probe);

	wh_prober_bounds(&config, &bounds);
	wh_probe_announce(probe->server, &bounds);
	return WH_EXIT_OK;
}

int wh_verb_probe(int argc, char **argv)
{
	struct probe *probe = calloc(1, sizeof(*probe));

	if (probe == NULL)
		return WH_EXIT_OTHER;
	probe->server = "";

	int status = wh_settings_read(&probe->settings, WH_VERB_PROBE, argc, argv);

	if (status < 0) {
		status = prepare(probe);
		if (status == WH_EXIT_OK) {
			wh_signals_catch();
			status = wh_on_small_host(&probe->sealed, &probe->settings, probe->server,
				&probe->on, run, probe);
		}
		if (probe->settings.json)
			tell_json(probe, status);
	} else if (status != WH_EXIT_OK && wh_words_contain(argc, argv, "--json")) {
		wh_json_print(wh_head_json("probe", status), JSON_INDENT(2));
	}
	if (probe->begun)
		wh_prober_free(&probe->prober);
	free(probe);
	return status;
}
