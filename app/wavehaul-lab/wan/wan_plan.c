/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/wan_plan.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "host/eal.h"
#include "host/memory_room.h"
#include "host/nic/host_nic.h"
#include "port/interface.h"
#include "wan/capture.h"
#include "wire/encap.h"

#define MTU_USUAL 1500

/* The smallest queue if none is given: a burst of a port. */
#define QUEUE_FRAMES_MIN 32

/* The mean frame is this part of the longest: data one way, and answers the other way. */
#define FRAME_PART 3

/*
 * Descriptors of a port if the operator gives no number: more than drivers prefer. Each needs an
 * mbuf beside those in transit.
 */
#define DESCRIPTORS 2048

/* DPDK's own memory, beside the pools. */
#define DPDK_OWN_BYTES (UINT64_C(16) << 20)

#define FIELDS(first, last)                                                                        \
	.offset = offsetof(struct wh_link_model, first),                                           \
	.bytes = offsetof(struct wh_link_model, last) - offsetof(struct wh_link_model, first)

/* Options of the way back (B to A). One that is not given has the value of the way there. */
static const struct {
	const char *flag;
	size_t offset;
	size_t bytes;
} inherited[] = {
	{"back-rate", FIELDS(rate_bps, ingress_bps)},
	{"back-ingress", FIELDS(ingress_bps, delay_ns)},
	{"back-delay", FIELDS(delay_ns, queue_bytes)},
	{"back-queue", FIELDS(queue_bytes, loss_model)},
	{"back-loss-model", FIELDS(loss_model, loss)},
	{"back-loss", FIELDS(loss, gilbert_elliott)},
	{"back-loss-model", FIELDS(gilbert_elliott, corrupt)},
	{"back-corrupt", FIELDS(corrupt, duplicate)},
	{"back-duplicate", FIELDS(duplicate, reorder)},
	{"back-reorder", FIELDS(reorder, reorder_delay_ns)},
	{"back-reorder-delay", FIELDS(reorder_delay_ns, jitter_ns)},
	{"back-jitter", FIELDS(jitter_ns, outage)},
};

static void inherit(struct wh_wan_plan *plan)
{
	struct wh_link_model *netem = plan->netem;

	netem[WH_EMULATOR_A] = plan->settings.link;
	netem[WH_EMULATOR_B] = plan->settings.back;
	for (size_t i = 0; i < RTE_DIM(inherited); i++)
		if (!wh_settings_given(&plan->settings, WH_VERB_WAN, inherited[i].flag))
			memcpy((char *)&netem[WH_EMULATOR_B] + inherited[i].offset,
				(char *)&netem[WH_EMULATOR_A] + inherited[i].offset,
				inherited[i].bytes);
	netem[WH_EMULATOR_B].seed = netem[WH_EMULATOR_A].seed + 1;
}

static bool check_loss(const struct wh_link_model *netem, const char *back)
{
	if (netem->loss == 0 || netem->loss_model != WH_LOSS_GILBERT_ELLIOTT)
		return true;
	return wh_fail(false,
		"--%sloss and --%sloss-model ge contradict; ge:P,R,H,K says it all, for example "
		"--%sloss-model ge:0.001,0.2",
		back, back, back);
}

static void plan_queues(struct wh_wan_plan *plan)
{
	uint64_t rtt_ns = plan->netem[WH_EMULATOR_A].delay_ns + plan->netem[WH_EMULATOR_B].delay_ns;
	uint32_t mtu = plan->settings.mtu_bytes != 0 ? plan->settings.mtu_bytes : MTU_USUAL;
	uint32_t wire_bytes = mtu + WH_ETHER_BYTES + WH_ETHER_WIRE_BYTES;

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		struct wh_link_model *netem = &plan->netem[end];

		if (netem->queue_bytes == 0 && netem->queue_pkts == 0)
			netem->queue_bytes =
				wh_max_u64(wh_muldiv_u64(netem->rate_bps, rtt_ns, 8 * WH_NS_PER_S),
					QUEUE_FRAMES_MIN * (uint64_t)wire_bytes);
	}
}

static int check(struct wh_wan_plan *plan)
{
	const struct wh_settings *settings = &plan->settings;
	bool delayed = wh_settings_given(settings, WH_VERB_WAN, "delay");

	if (settings->operand_count > 0)
		return wh_fail(WH_EXIT_USAGE,
			"unexpected argument '%s'; name a port with --port %s",
			settings->operands[0], settings->operands[0]);
	if (settings->ports != WH_EMULATOR_ENDS)
		return wh_fail(WH_EXIT_USAGE, "a wan joins two ports; write for example --port "
					      "af_packet:veth1 --port af_packet:veth2");
	if (delayed && wh_settings_given(settings, WH_VERB_WAN, "rtt"))
		return wh_fail(WH_EXIT_USAGE, "--rtt and --delay exclude each other: --delay is "
					      "the one-way delay, half of --rtt");
	if (settings->rx_cpus.count > WH_EMULATOR_ENDS)
		return wh_fail(WH_EXIT_USAGE,
			"--cpus names %u CPUs, and there are two ways: name one or two",
			settings->rx_cpus.count);
	if (!delayed)
		plan->settings.link.delay_ns = settings->rtt_ns / 2;
	inherit(plan);
	plan_queues(plan);
	return check_loss(&plan->netem[WH_EMULATOR_A], "") &&
			       check_loss(&plan->netem[WH_EMULATOR_B], "back-")
		       ? -1
		       : WH_EXIT_USAGE;
}

static int read_schedule(struct wh_wan_plan *plan)
{
	if (plan->settings.then[0] == '\0')
		return -1;

	int status = wh_wan_schedule_read(
		&plan->schedule, plan->settings.then, plan->netem, plan->settings.time_ns);

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		plan->netem[end].queue_pkts_max =
			wh_wan_schedule_queue_pkts(&plan->schedule, (enum wh_emulator_end)end);
	return status;
}

int wh_wan_plan_read(struct wh_wan_plan *plan, int argc, char **argv)
{
	int status = wh_settings_read(&plan->settings, WH_VERB_WAN, argc, argv);

	if (status == -1)
		status = check(plan);
	return status == -1 ? read_schedule(plan) : status;
}

void wh_wan_plan_free(struct wh_wan_plan *plan)
{
	wh_wan_schedule_free(&plan->schedule);
}

/* The smaller MTU of the interfaces below the ports. */
static uint16_t usual_mtu(const struct wh_wan_plan *plan)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		const struct wh_port_spec *spec = &plan->spec[end];
		bool shared = spec->kind == WH_PORT_AF_PACKET || spec->kind == WH_PORT_AF_XDP;
		uint32_t mtu = 0;

		if (!shared || spec->verbatim || wh_interface_mtu(spec->target, &mtu) != 0)
			mtu = MTU_USUAL;
		least = RTE_MIN(least, RTE_MIN(mtu, (uint32_t)spec->facts.mtu_max));
	}
	return (uint16_t)least;
}

static bool has_frames(const struct wh_port_spec *spec, char *why, size_t why_bytes)
{
	if (spec->kind != WH_PORT_UDP)
		return true;
	snprintf(why, why_bytes,
		"sockets of port udp have no frames to pass on: write af_packet:IFACE");
	return false;
}

static bool read_ports(struct wh_wan_plan *plan, char *why, size_t why_bytes)
{
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		struct wh_port_spec *spec = &plan->spec[end];
		const char *name = plan->settings.port[end].name;

		if (wh_port_spec_read(name, (uint16_t)end, spec, why, why_bytes) != 0 ||
			!has_frames(spec, why, why_bytes) ||
			!wh_host_may_have(spec, why, why_bytes))
			return false;
	}
	if (strcmp(plan->spec[WH_EMULATOR_A].target, plan->spec[WH_EMULATOR_B].target) == 0) {
		snprintf(why, why_bytes, "both ports are %.60s: a wan joins two",
			plan->settings.port[WH_EMULATOR_A].name);
		return false;
	}
	plan->mtu = plan->settings.mtu_bytes != 0 ? (uint16_t)plan->settings.mtu_bytes
						  : usual_mtu(plan);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		if (wh_port_spec_prepare(&plan->spec[end], 1, plan->mtu, &plan->device[end], why,
			    why_bytes) != 0)
			return false;
	return true;
}

static void plan_memory(struct wh_wan_plan *plan)
{
	static const char *const whose[WH_EMULATOR_ENDS] = {"A to B: ", "B to A: "};
	uint32_t wire_bytes = plan->frame_bytes + WH_ETHER_WIRE_BYTES;

	plan->memory = (struct wh_memory_plan){0};
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		plan->items_max[end] = wh_wan_schedule_items(
			&plan->schedule, &plan->netem[end], (enum wh_emulator_end)end, wire_bytes);
		plan->mbufs[end] =
			wh_join_mbufs_needed(plan->items_max[end], DESCRIPTORS, DESCRIPTORS);
		wh_memory_plan_add_mbufs(&plan->memory, whose[end], "packets", plan->mbufs[end],
			wh_port_room_bytes(plan->mtu));
		wh_memory_plan_add(&plan->memory, whose[end], "delay line",
			plan->items_max[end] * (uint64_t)WH_NETEM_ITEM_BYTES);
	}
	wh_memory_plan_add(&plan->memory, "", "DPDK's own", DPDK_OWN_BYTES);
	wh_memory_plan_add(&plan->memory, "", "capture",
		plan->settings.pcap[0] != '\0'
			? wh_wan_capture_bytes(plan->settings.pcap_snap_bytes)
			: 0);
}

static bool memory_does(const struct wh_wan_plan *plan)
{
	uint64_t told = plan->settings.buffer_bytes;
	uint64_t free_bytes =
		wh_max_u64(wh_memory_room("", false).bytes / 2, wh_eal_hugepage_room_bytes());
	uint64_t budget_bytes = told != 0 ? told : free_bytes;
	char needed[WH_UNITS_MAX];
	char had[WH_UNITS_MAX];

	if (plan->memory.bytes <= budget_bytes)
		return true;
	return wh_fail(false,
		"such a path has up to %" PRIu64
		" packets of %u bytes under way, which take %s of memory, and %s are %s: give %s, "
		"a smaller --queue or delay, or a larger --frame",
		(uint64_t)plan->items_max[WH_EMULATOR_A] + plan->items_max[WH_EMULATOR_B],
		plan->frame_bytes, wh_format_size(needed, sizeof(needed), plan->memory.bytes),
		wh_format_size(had, sizeof(had), budget_bytes),
		told != 0 ? "all that --memory gives" : "half of what is free",
		told != 0 ? "more" : "a larger --memory");
}

int wh_wan_plan_make(struct wh_wan_plan *plan)
{
	char why[WH_PORT_WHY_BYTES];

	if (!read_ports(plan, why, sizeof(why)))
		return wh_fail(WH_EXIT_HARDWARE, "%s", why);
	plan->frame_bytes = plan->settings.frame_bytes != 0
				    ? plan->settings.frame_bytes
				    : RTE_MAX((uint32_t)plan->mtu / FRAME_PART,
					      (uint32_t)WH_ETHER_FRAME_BYTES_MIN);
	plan_memory(plan);
	return memory_does(plan) ? WH_EXIT_OK : WH_EXIT_HARDWARE;
}
