/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "port/port.h"
#include "session/handshake.h"
#include "wire/packet.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define SERVE     WH_VERB_SERVE
#define TRANSFERS (WH_VERB_SEND | WH_VERB_GET)
#define CLIENTS   (TRANSFERS | WH_VERB_BENCH)
#define ALL       (SERVE | CLIENTS)

#define KEY(in, of)  .section = in, .key = of, .name = in "." of
#define SHARE(share) (uint64_t)((share)*WH_SETTING_SHARE_PARTS + 0.5)
#define FIELD(field) .offset = offsetof(struct wh_settings, field)

#define MTU_MAX 9216

static_assert(MTU_MAX <= WH_PORT_MTU_MAX, "the port takes them");
static_assert(WH_QUEUES_MAX <= WH_PORT_QUEUES_MAX, "the port has them");

#define RATE_MAX_BPS UINT64_C(1000000000000)

#define BUFFERS_MIN_BYTES (UINT64_C(64) << 20)
#define BUFFERS_MAX_BYTES (UINT64_C(1) << 40)
#define RESERVE_MAX_BYTES (UINT64_C(1) << 50)

#define DESCRIPTORS_MAX 32768
#define BURST_MAX_PKTS  1024
#define SESSIONS_MAX    4096
#define OPENINGS_MAX    10000
#define LINES_MAX       1000
#define DAY_NS          (UINT64_C(86400) * WH_NS_PER_S)

const struct wh_settings_section wh_settings_sections[] = {
	{"port", "The port"},
	{"address", "Addresses"},
	{"cores", "CPUs"},
	{"memory", "Memory"},
	{"transfer", "The transfer"},
	{"serve", "Serving"},
	{"limits", "What one peer may take"},
	{"bench", "The measurement"},
	{"output", "Output"},
	{"dpdk", "DPDK"},
	{"config", "Configuration"},
	{NULL, NULL},
};

const struct wh_setting wh_settings_table[] = {
	{
		KEY("port", "port"),
		FIELD(port),
		.flag = "port",
		.type = WH_SETTING_TEXT,
		.verbs = ALL,
		.standard = "",
		.argument = "PORT",
		.example = "0000:3b:00.0",
		.help = "the DPDK port: a NIC by PCI address, 0000:3b:00.0; or software:\n"
			"memif:/run/wavehaul.sock,role=server, vhost:PATH, virtio_user:PATH,\n"
			"af_packet:eth1, af_xdp:eth1, tap:NAME, or a DPDK device, net_...",
	},
	{
		KEY("port", "queues"),
		FIELD(queues),
		.flag = "queues",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.low = 1,
		.high = WH_QUEUES_MAX,
		.standard = "1",
		.argument = "N",
		.example = "4",
		.help = "pairs of queues; sessions are dealt out to them",
	},
	{
		KEY("port", "mtu"),
		FIELD(mtu_bytes),
		.flag = "mtu",
		.alias = "frame",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.low = WH_MTU_MIN,
		.high = MTU_MAX,
		.standard = "1500",
		.argument = "BYTES",
		.example = "9000",
		.help = "of IP: 1500, 9000; both ends and all between must bear it",
	},
	{
		KEY("port", "vlan"),
		FIELD(vlan),
		.flag = "vlan",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.high = WH_VLAN_MAX,
		.standard = "0",
		.argument = "ID",
		.example = "100",
		.help = "frames carry this VLAN tag; 0: none",
	},
	{
		KEY("port", "rx_descriptors"),
		FIELD(rx_descriptors),
		.flag = "rx-descriptors",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.high = DESCRIPTORS_MAX,
		.standard = "0",
		.argument = "N",
		.example = "4096",
		.help = "of a receiving queue; 0: what the driver likes best",
	},
	{
		KEY("port", "tx_descriptors"),
		FIELD(tx_descriptors),
		.flag = "tx-descriptors",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.high = DESCRIPTORS_MAX,
		.standard = "0",
		.argument = "N",
		.example = "4096",
		.help = "of a sending queue; 0: what the driver likes best",
	},
	{
		KEY("address", "address"),
		.flag = "addr",
		.type = WH_SETTING_ADDRESSES,
		.verbs = ALL,
		.standard = "",
		.argument = "ADDR/BITS",
		.example = "192.0.2.1/24",
		.help = "of this end, with its subnet: 192.0.2.1/24, 2001:db8::1/64;\n"
			"one IPv4 and one IPv6 address may be given",
	},
	{
		KEY("address", "gateway"),
		.flag = "gateway",
		.type = WH_SETTING_GATEWAYS,
		.verbs = ALL,
		.standard = "",
		.argument = "ADDR",
		.example = "192.0.2.254",
		.help = "the way to peers beyond the subnet; one of each family",
	},
	{
		KEY("address", "udp_port"),
		FIELD(udp_port),
		.flag = "udp-port",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.low = 1,
		.high = UINT16_MAX,
		.standard = "5760",
		.argument = "N",
		.example = "5760",
		.help = "of queue 0, the following ones for the other queues",
	},
	{
		KEY("cores", "rx"),
		FIELD(rx_cpus),
		.flag = "rx-cpus",
		.type = WH_SETTING_CPUS,
		.verbs = ALL,
		.standard = "",
		.argument = "LIST",
		.example = "2-5",
		.help = "that receive, as 2 or 0,2-5; without: by the number of CPUs",
	},
	{
		KEY("cores", "tx"),
		FIELD(tx_cpus),
		.flag = "tx-cpus",
		.type = WH_SETTING_CPUS,
		.verbs = ALL,
		.standard = "",
		.argument = "LIST",
		.example = "6-9",
		.help = "that send: the same list as --rx-cpus, or none of its CPUs",
	},
	{
		KEY("cores", "worker"),
		FIELD(worker_cpus),
		.flag = "worker-cpus",
		.type = WH_SETTING_CPUS,
		.verbs = ALL,
		.standard = "",
		.argument = "LIST",
		.example = "10-11",
		.help = "that read, write and hash",
	},
	{
		KEY("memory", "buffers"),
		FIELD(buffer_bytes),
		.flag = "buffers",
		.type = WH_SETTING_SIZE,
		.verbs = ALL,
		.low = BUFFERS_MIN_BYTES,
		.high = BUFFERS_MAX_BYTES,
		.standard = "512M",
		.serve_standard = "1G",
		.argument = "SIZE",
		.example = "4G",
		.help = "of all sessions together; rate times round trip, and half as much\n"
			"again, keeps a path full",
	},
	{
		KEY("memory", "no_huge"),
		FIELD(no_huge),
		.flag = "no-huge",
		.type = WH_SETTING_SWITCH,
		.verbs = ALL,
		.standard = "no",
		.example = "yes",
		.help = "ordinary memory, though there may be hugepages",
	},
	{
		KEY("transfer", "profile"),
		FIELD(profile),
		.flag = "profile",
		.type = WH_SETTING_PROFILE,
		.verbs = CLIENTS,
		.standard = "fixed",
		.argument = "NAME",
		.example = "fixed",
		.help = "how the rate is found",
	},
	{
		KEY("transfer", "rate"),
		FIELD(rate_bps),
		.flag = "rate",
		.type = WH_SETTING_RATE,
		.verbs = ALL,
		.low = WH_RATE_MIN,
		.high = RATE_MAX_BPS,
		.standard = "max",
		.argument = "RATE",
		.example = "10G",
		.help = "on the wire, at most: 10G, 9.5Gbit, 1.2GB/s; max: what the port\n"
			"takes",
		.serve_help = "on the wire, the most that a peer is given: 10G, 9.5Gbit,\n"
			      "1.2GB/s; max: what the port takes",
	},
	{
		KEY("transfer", "burst"),
		FIELD(burst_pkts),
		.flag = "burst",
		.type = WH_SETTING_COUNT,
		.verbs = ALL,
		.high = BURST_MAX_PKTS,
		.standard = "0",
		.argument = "N",
		.example = "32",
		.help = "packets back to back when the sender is late; 0: 1 on a sending\n"
			"CPU of its own, else 32",
	},
	{
		KEY("transfer", "parallel"),
		FIELD(parallel),
		.flag = "parallel",
		.type = WH_SETTING_COUNT,
		.verbs = CLIENTS,
		.low = 1,
		.high = WH_LANES_MAX,
		.standard = "1",
		.argument = "N",
		.example = "4",
		.help = "sessions side by side; files of 16 MiB and more for each go by\n"
			"all of them",
	},
	{
		KEY("transfer", "peer_timeout"),
		FIELD(peer_timeout_ns),
		.flag = "peer-timeout",
		.type = WH_SETTING_TIME,
		.verbs = ALL,
		.low = WH_NS_PER_S,
		.high = WH_PEER_TIMEOUT_MAX_S * WH_NS_PER_S,
		.standard = "30s",
		.argument = "TIME",
		.example = "30s",
		.help = "give up after so long without a word from the peer",
	},
	{
		KEY("transfer", "stall_timeout"),
		FIELD(stall_timeout_ns),
		.flag = "stall-timeout",
		.type = WH_SETTING_TIME,
		.verbs = ALL,
		.low = WH_NS_PER_S,
		.high = DAY_NS,
		.standard = "30s",
		.argument = "TIME",
		.example = "30s",
		.help = "give up after so long without progress",
	},
	{
		KEY("transfer", "fec"),
		FIELD(repair),
		.flag = "fec",
		.type = WH_SETTING_FEC,
		.verbs = CLIENTS,
		.standard = "",
		.argument = "off|auto|K,R",
		.example = "auto, or 128,4",
		.help = "repair packets beside the data, so that a loss costs no round trip:\n"
			"auto: as many as the loss asks for; K,R: R for every K of data\n"
			"(off; auto with --profile ttp)",
	},
	{
		KEY("transfer", "code"),
		FIELD(repair.code),
		.flag = "code",
		.type = WH_SETTING_CODE,
		.verbs = CLIENTS,
		.standard = "",
		.argument = "NAME",
		.example = "rs, or tornado",
		.help = "of repair packets: rs (Reed-Solomon: none too many), tornado (XOR:\n"
			"cheaper where much is repaired, and a few packets more)\n"
			"(rs; tornado with --profile ttp)",
	},
	{
		KEY("transfer", "fec_target"),
		FIELD(repair.target),
		.flag = "fec-target",
		.type = WH_SETTING_SHARE,
		.verbs = ALL,
		.low = SHARE(WH_REPAIR_TARGET_MIN),
		.high = SHARE(WH_REPAIR_TARGET_MAX),
		.standard = WH_REPAIR_TARGET_STANDARD,
		.argument = "SHARE",
		.example = "1e-4",
		.help = "of blocks that --fec auto may leave without enough repair packets",
		.serve_help = "of blocks that --fec auto of a client that gets may leave without\n"
			      "enough repair packets",
	},
	{
		KEY("transfer", "fec_ceiling"),
		FIELD(repair.ceiling),
		.flag = "fec-ceiling",
		.type = WH_SETTING_SHARE,
		.verbs = ALL,
		.low = SHARE(WH_REPAIR_CEILING_MIN),
		.high = SHARE(WH_REPAIR_CEILING_MAX),
		.standard = "",
		.argument = "SHARE",
		.example = "10%",
		.help = "of all packets sent, the repair packets of --fec auto at most; there\n"
			"is memory for as many (0.25; 0.5 with --profile ttp)",
		.serve_help =
			"of all packets sent, the repair packets of --fec auto of a client\n"
			"that gets at most; there is memory for as many (0.25; 0.5 to a client\n"
			"with --profile ttp)",
	},
	{
		KEY("transfer", "strict_paper"),
		FIELD(repair.strict),
		.flag = "strict-paper",
		.type = WH_SETTING_SWITCH,
		.verbs = WH_VERB_SEND | WH_VERB_BENCH,
		.standard = "no",
		.example = "yes",
		.help = "what repair packets do not bring back is not asked for, as in the\n"
			"paper of ttp: the transfer fails then",
	},
	{
		KEY("transfer", "recursive"),
		FIELD(recursive),
		.flag = "recursive",
		.letter = 'r',
		.type = WH_SETTING_SWITCH,
		.verbs = TRANSFERS,
		.standard = "no",
		.example = "yes",
		.help = "folders too, with all that is in them; -r for short",
	},
	{
		KEY("serve", "root"),
		FIELD(root),
		.flag = "root",
		.type = WH_SETTING_TEXT,
		.verbs = SERVE,
		.standard = ".",
		.argument = "FOLDER",
		.example = "/srv/wavehaul",
		.help = "files come from here and go here, and nowhere else",
	},
	{
		KEY("serve", "allow"),
		.flag = "allow",
		.type = WH_SETTING_SUBNETS,
		.verbs = SERVE,
		.standard = "",
		.argument = "SUBNETS",
		.example = "192.0.2.0/24,2001:db8::/64",
		.help = "peers that may connect, as 192.0.2.0/24,2001:db8::/64;\n"
			"without: those of its own subnet",
	},
	{
		KEY("serve", "sessions"),
		FIELD(sessions),
		.flag = "sessions",
		.type = WH_SETTING_COUNT,
		.verbs = SERVE,
		.low = 1,
		.high = SESSIONS_MAX,
		.standard = "64",
		.argument = "N",
		.example = "64",
		.help = "at once, at most",
	},
	{
		KEY("limits", "peer_jobs"),
		FIELD(peer_jobs),
		.flag = "peer-jobs",
		.type = WH_SETTING_COUNT,
		.verbs = SERVE,
		.high = SESSIONS_MAX,
		.standard = "0",
		.argument = "N",
		.example = "8",
		.help = "of --sessions, by one peer at once: an IPv4 address, or 64 bits of an\n"
			"IPv6 one; 0: three quarters",
	},
	{
		KEY("limits", "peer_memory"),
		FIELD(peer_memory_bytes),
		.flag = "peer-memory",
		.type = WH_SETTING_SIZE,
		.verbs = SERVE,
		.high = BUFFERS_MAX_BYTES,
		.standard = "0",
		.argument = "SIZE",
		.example = "256M",
		.help = "of --buffers, by one peer at once, what sessions take beside chunks\n"
			"counted; 0: three quarters",
	},
	{
		KEY("limits", "peer_reserve"),
		FIELD(peer_reserve_bytes),
		.flag = "peer-reserve",
		.type = WH_SETTING_SIZE,
		.verbs = SERVE,
		.high = RESERVE_MAX_BYTES,
		.standard = "16G",
		.argument = "SIZE",
		.example = "100G",
		.help = "of disks, kept for files that one peer announced and has not sent\n"
			"yet; of all peers together never more than half of what is free",
	},
	{
		KEY("limits", "peer_openings"),
		FIELD(peer_openings_s),
		.flag = "peer-openings",
		.type = WH_SETTING_COUNT,
		.verbs = SERVE,
		.low = 1,
		.high = OPENINGS_MAX,
		.standard = "100",
		.argument = "N",
		.example = "20",
		.help = "jobs that one peer may open in a second; three times as many at once",
	},
	{
		KEY("limits", "peer_lines"),
		FIELD(peer_lines_s),
		.flag = "peer-lines",
		.type = WH_SETTING_COUNT,
		.verbs = SERVE,
		.low = 1,
		.high = LINES_MAX,
		.standard = "5",
		.argument = "N",
		.example = "1",
		.help = "of the log that one peer gives rise to in a second; three times as\n"
			"many at once, and of all peers together ten times as many",
	},
	{
		KEY("bench", "time"),
		FIELD(time_ns),
		.flag = "time",
		.type = WH_SETTING_TIME,
		.verbs = WH_VERB_BENCH,
		.low = WH_NS_PER_S / 10,
		.high = WH_BENCH_NS_MAX,
		.standard = "10s",
		.argument = "TIME",
		.example = "10s",
		.help = "measure for so long",
	},
	{
		KEY("bench", "size"),
		FIELD(size_bytes),
		.flag = "size",
		.type = WH_SETTING_SIZE,
		.verbs = WH_VERB_BENCH,
		.high = WH_BENCH_BYTES_MAX,
		.standard = "0",
		.argument = "SIZE",
		.example = "10G",
		.help = "measure until so much has arrived, whatever --time says; 0: by time",
	},
	{
		KEY("bench", "reverse"),
		FIELD(reverse),
		.flag = "reverse",
		.type = WH_SETTING_SWITCH,
		.verbs = WH_VERB_BENCH,
		.standard = "no",
		.example = "yes",
		.help = "the server sends",
	},
	{
		KEY("bench", "idle"),
		FIELD(idle_sessions),
		.flag = "idle",
		.type = WH_SETTING_COUNT,
		.verbs = WH_VERB_BENCH,
		.high = SESSIONS_MAX,
		.standard = "0",
		.argument = "N",
		.example = "1000",
		.help = "sessions opened beside, and never used",
	},
	{
		KEY("output", "json"),
		FIELD(json),
		.flag = "json",
		.type = WH_SETTING_SWITCH,
		.verbs = CLIENTS,
		.standard = "no",
		.example = "yes",
		.help = "one JSON object on stdout, and nothing else there",
	},
	{
		KEY("output", "json_stream"),
		FIELD(json_stream),
		.flag = "json-stream",
		.type = WH_SETTING_SWITCH,
		.verbs = TRANSFERS,
		.standard = "no",
		.example = "yes",
		.help = "a JSON object per line on stdout, as things happen",
	},
	{
		KEY("output", "verbose"),
		FIELD(verbose),
		.flag = "verbose",
		.type = WH_SETTING_SWITCH,
		.verbs = ALL,
		.standard = "no",
		.example = "yes",
		.help = "say what memory is for, how DPDK was started, and count more",
	},
	{
		KEY("dpdk", "eal"),
		FIELD(eal),
		.flag = "eal",
		.type = WH_SETTING_TEXT,
		.verbs = ALL,
		.standard = "",
		.argument = "'ARGS'",
		.example = "--log-level=7",
		.help = "more arguments for DPDK's EAL, separated by blanks",
	},
	{
		.section = "config",
		FIELD(config),
		.flag = "config",
		.type = WH_SETTING_TEXT,
		.verbs = ALL,
		.standard = "",
		.argument = "FILE",
		.example = "site.conf",
		.help = "read settings from it; flags come after it. none: from no file.\n"
			"Without, " WH_SETTINGS_FILE " is read where it exists",
	},
	{
		.section = "config",
		FIELD(print_config),
		.flag = "print-config",
		.type = WH_SETTING_SWITCH,
		.verbs = ALL,
		.standard = "no",
		.example = "yes",
		.help = "print the settings as such a file, and do no more",
	},
};

static_assert(LENGTH(wh_settings_table) <= WH_SETTINGS_MAX, "a bit each");

const uint32_t wh_settings_count = LENGTH(wh_settings_table);

const char *wh_verb_name(enum wh_verb verb)
{
	switch (verb) {
	case WH_VERB_SERVE:
		return "serve";
	case WH_VERB_SEND:
		return "send";
	case WH_VERB_GET:
		return "get";
	default:
		WH_ASSERT(verb == WH_VERB_BENCH);
		return "bench";
	}
}

const struct wh_setting *wh_setting_find(const char *section, const char *key)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (setting->key != NULL && strcmp(setting->section, section) == 0 &&
			strcmp(setting->key, key) == 0)
			return setting;
	}
	return NULL;
}

const char *wh_setting_standard(const struct wh_setting *setting, enum wh_verb verb)
{
	bool other = verb == WH_VERB_SERVE && setting->serve_standard != NULL;

	return other ? setting->serve_standard : setting->standard;
}

const char *wh_setting_help(const struct wh_setting *setting, enum wh_verb verb)
{
	bool other = verb == WH_VERB_SERVE && setting->serve_help != NULL;

	return other ? setting->serve_help : setting->help;
}

bool wh_setting_is_list(const struct wh_setting *setting)
{
	return setting->type == WH_SETTING_ADDRESSES || setting->type == WH_SETTING_GATEWAYS ||
	       setting->type == WH_SETTING_SUBNETS;
}
