/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/families.h"

#include <string.h>

#include "base/assert.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A position after the last job: the list is then empty, but the counts beside it are there. */
#define NO_JOBS "{\"do\":\"job.list\",\"from\":9223372036854775807}"

const struct wh_family_source wh_family_sources[] = {
	{"status", "{\"do\":\"status\"}", ""},
	{"ports", "{\"do\":\"ports\"}", "ports"},
	{"cores", "{\"do\":\"cores\"}", "cores"},
	{"totals", "{\"do\":\"totals\"}", "totals"},
	{"refusals", "{\"do\":\"refusals\"}", "refusals"},
	{"memory", "{\"do\":\"memory\"}", "memory"},
	{"disks", "{\"do\":\"disks\"}", "disks"},
	{"parts", "{\"do\":\"parts\"}", "parts"},
	{"queue", NO_JOBS, "counts"},
	{"ended", "{\"do\":\"transfers\",\"count\":0}", "ended"},
	{"history", "{\"do\":\"transfers\",\"count\":0}", ""},
};

const uint32_t wh_family_sources_count = LENGTH(wh_family_sources);

#define COUNTER .type = WH_FAMILY_COUNTER
#define GAUGE   .type = WH_FAMILY_GAUGE
#define MICRO   .scale = 1e-6

#define PORT(what)    .from = "ports", .key = what
#define CORE(what)    .from = "cores", .key = what, .each = "cpu"
#define SESSION(what) .from = "totals", .key = what, .each = "role"
#define STATUS(what)  .from = "status", .key = what
#define MEMORY(what)  .from = "memory", .key = what
#define DISK(what)    .from = "disks", .key = what, .each = "folder"

/* Packets of all sessions, by role. */
#define PACKETS(what, member, text)                                                                \
	{                                                                                          \
		"wavehaul_session_" what "_packets", "packets", text, SESSION(member), COUNTER     \
	}

const struct wh_metric_family wh_families[] = {
	{"wavehaul_build", "", "Version of the server.", STATUS("version"), .label = "version",
		.type = WH_FAMILY_INFO},
	{"wavehaul_start_time_seconds", "seconds", "When the server began, since 1970.",
		STATUS("began"), GAUGE},
	{"wavehaul_draining", "", "Whether the server takes no new jobs, for it is to end.",
		STATUS("draining"), GAUGE},
	{"wavehaul_jobs", "", "Jobs that are not over, those that peers have asked for too.",
		STATUS("live"), GAUGE},

	{"wavehaul_port_up", "", "Whether the link of the port is up.", PORT("link_up"), GAUGE},
	{"wavehaul_port_mtu_bytes", "bytes", "Largest IP packet of the port.", PORT("mtu_bytes"),
		GAUGE},
	{"wavehaul_port_receive_packets", "packets", "Frames that the port has taken in.",
		PORT("rx_pkts"), COUNTER},
	{"wavehaul_port_receive_bytes", "bytes", "Bytes of these frames.", PORT("rx_bytes"),
		COUNTER},
	{"wavehaul_port_transmit_packets", "packets", "Frames that the port has sent.",
		PORT("tx_pkts"), COUNTER},
	{"wavehaul_port_transmit_bytes", "bytes", "Bytes of these frames.", PORT("tx_bytes"),
		COUNTER},
	{"wavehaul_port_dropped_packets", "packets", "Frames and packets dropped, by cause.",
		PORT("drop_*"), .label = "cause", COUNTER},
	{"wavehaul_port_nic_packets", "packets",
		"What the NIC lost or held back, by its driver's counter.", PORT("nic_*"),
		.label = "counter", COUNTER},
	{"wavehaul_port_full_bursts", "bursts", "Bursts that the port did not take whole.",
		PORT("tx_full_bursts"), COUNTER},
	{"wavehaul_port_starved_turns", "turns", "Turns without a buffer for a packet to send.",
		PORT("no_mbuf_turns"), COUNTER},
	{"wavehaul_refused_opens", "", "Sessions that peers wanted to open and did not get.",
		PORT("refused_opens"), COUNTER},
	{"wavehaul_probes", "", "Probes of the path to here that were answered.", PORT("probes"),
		COUNTER},
	{"wavehaul_handshakes_begun", "", "Handshakes that were begun.", PORT("handshakes"),
		COUNTER},
	{"wavehaul_handshakes", "", "Handshakes by what came of them.", PORT("handshakes_*"),
		.label = "outcome", COUNTER},
	{"wavehaul_sas", "", "Times that a peer and this server came to share keys.", PORT("sas"),
		COUNTER},
	{"wavehaul_refusals", "", "Peers turned away before they had a job, by reason.",
		.from = "refusals", .key = "*", .label = "reason", COUNTER},

	{"wavehaul_sessions", "", "Sessions that are open, two for each job.", SESSION("live"),
		GAUGE},
	{"wavehaul_sessions_opened", "", "Sessions so far.", SESSION("sessions"), COUNTER},
	{"wavehaul_session_payload_bytes", "bytes",
		"Payload received, or sent and acknowledged, of all sessions.",
		SESSION("moved_bytes"), COUNTER},
	{"wavehaul_session_rate_bytes_per_second", "bytes_per_second",
		"Sum of the paces that sessions send by now, on the wire.", SESSION("paced_bps"),
		GAUGE, .scale = 0.125},
	{"wavehaul_session_rtt_seconds", "seconds",
		"Round trips of the sessions that are open: the least and the most.",
		SESSION("rtt_*_us"), .label = "of", GAUGE, MICRO},
	{"wavehaul_session_limited_seconds", "seconds",
		"Time of sessions by what kept them from sending faster.",
		SESSION("limited_by_*_us"), .label = "by", COUNTER, MICRO},
	PACKETS("sent", "sent_pkts", "Data packets sent, retransmissions included."),
	PACKETS("retransmitted", "retransmitted_pkts", "Data packets retransmitted."),
	PACKETS("received", "received_pkts", "Data packets received that were new."),
	PACKETS("duplicate", "duplicate_pkts", "Data packets received again."),
	PACKETS("spurious", "spurious_pkts", "Packets retransmitted that had arrived."),
	PACKETS("lost", "lost_pkts", "Data packets found missing."),
	PACKETS("repair", "repair_pkts", "Repair packets sent or received."),
	PACKETS("repaired", "repaired_pkts", "Data packets brought back by repair packets."),
	PACKETS("bad", "bad_pkts", "Packets that contradict their session: dropped."),
	PACKETS("control_sent", "control_sent_pkts", "Control packets sent."),
	PACKETS("control_received", "control_received_pkts", "Control packets received."),
	{"wavehaul_session_undecodable_blocks", "blocks",
		"Chunks for which repair packets did not suffice.", SESSION("undecodable_blocks"),
		COUNTER},
	{"wavehaul_session_stalls", "", "Times that a session had something to do and could not.",
		SESSION("stalls"), COUNTER},
	{"wavehaul_session_silences", "", "Times that a peer was silent for longer than expected.",
		SESSION("exp_events"), COUNTER},
	{"wavehaul_session_narrowings", "", "Times that its path seemed to have become narrower.",
		SESSION("narrowings"), COUNTER},

	{"wavehaul_queue_jobs", "", "Jobs of the queue by state; those over for a month.",
		.from = "queue", .key = "*", .label = "state", GAUGE},

	{"wavehaul_jobs_ended", "", "Jobs of peers, and tries of the queue's jobs, that are over.",
		.from = "ended", .key = "ended_*", .label = "result", .each = "verb", COUNTER},
	{"wavehaul_jobs_ended_bytes", "bytes", "Bytes of files that came by them.", .from = "ended",
		.key = "bytes", .each = "verb", COUNTER},
	{"wavehaul_unnoted_jobs", "", "Of these, those that could not be noted for the report.",
		.from = "history", .key = "lost", COUNTER},

	{"wavehaul_core_busy_seconds", "seconds", "Time in which a polling core found work.",
		CORE("busy_us"), COUNTER, MICRO},
	{"wavehaul_core_seconds", "seconds", "Time that a polling core has looked for work.",
		CORE("total_us"), COUNTER, MICRO},
	{"wavehaul_core_turns", "", "Turns of a polling core.", CORE("turns"), COUNTER},
	{"wavehaul_core_naps", "", "Naps of a polling core without work.", CORE("naps"), COUNTER},

	{"wavehaul_buffer_bytes", "bytes", "Memory for the chunks of sessions.",
		MEMORY("buffer_bytes"), GAUGE},
	{"wavehaul_buffer_free_bytes", "bytes", "Of this, what no session has.",
		MEMORY("buffer_free_bytes"), GAUGE},
	{"wavehaul_packet_buffers", "", "Buffers for packets.", MEMORY("mbufs"), GAUGE},
	{"wavehaul_packet_buffers_free", "", "Of these, free ones.", MEMORY("mbufs_free"), GAUGE},
	{"wavehaul_resident_most_bytes", "bytes",
		"Largest memory of the process so far, without pages of hugetlbfs.",
		MEMORY("resident_most_bytes"), GAUGE},

	{"wavehaul_parts", "", "Files that did not come whole and are kept.", .from = "parts",
		.key = "parts", GAUGE},
	{"wavehaul_parts_durable_bytes", "bytes", "Of these, what need not come again.",
		.from = "parts", .key = "durable_bytes", GAUGE},
	{"wavehaul_disk_size_bytes", "bytes", "Size of the disk of a folder.", DISK("size_bytes"),
		GAUGE},
	{"wavehaul_disk_free_bytes", "bytes", "Room on that disk.", DISK("free_bytes"), GAUGE},
	{"wavehaul_disk_files", "", "Files that the disk can have.", DISK("files"), GAUGE},
	{"wavehaul_disk_files_free", "", "Of these, free ones.", DISK("files_free"), GAUGE},
};

const uint32_t wh_families_count = LENGTH(wh_families);

uint32_t wh_family_source_find(const char *name)
{
	uint32_t i = 0;

	while (i < wh_family_sources_count && strcmp(wh_family_sources[i].name, name) != 0)
		i++;
	WH_ASSERT(i < wh_family_sources_count);
	return i;
}
