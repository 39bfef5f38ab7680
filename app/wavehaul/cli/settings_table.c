/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/record.h"
#include "cli/settings_columns.h"
#include "lambda/lambda.h"
#include "port/port.h"
#include "probe/answerer.h"
#include "probe/prober.h"
#include "session/handshake.h"
#include "wire/packet.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define PROFILE_STANDARD "lambda"

#define MTU_MAX      9216
#define WAN_MTU_MIN  68 /* RFC 791 3.2 */
#define WAN_MTU_MAX  WH_PORT_MTU_MAX
#define WAN_RATE_MIN UINT64_C(10000)
#define DEMO_MTU_MIN 1280 /* control packets must fit: WH_CONTROL_BYTES_MAX */
#define DEMO_MTU_MAX 9000
#define RTT_MAX_NS   (10 * WH_NS_PER_S)
#define JOBS_MAX     256

static_assert(MTU_MAX <= WH_PORT_MTU_MAX, "the port takes them");
static_assert(WH_QUEUES_MAX <= WH_PORT_QUEUES_MAX, "the port has them");
#define RATE_MAX_BPS      UINT64_C(1000000000000)
#define BUFFERS_MIN_BYTES (UINT64_C(64) << 20)
#define BUFFERS_MAX_BYTES (UINT64_C(1) << 40)
#define RESERVE_MAX_BYTES (UINT64_C(1) << 50)
#define DESCRIPTORS_MAX   32768
#define BURST_MAX_PKTS    1024
#define SESSIONS_MAX      4096
#define OPENINGS_MAX      10000
#define LINES_MAX         1000
#define QUEUE_JOBS_MAX    64
#define DAY_NS            (UINT64_C(86400) * WH_NS_PER_S)

static_assert(offsetof(struct wh_fibre_config, rate_bps) == 0,
	"of the whole way: --queue and --loss-model of wan name its first field");
static_assert(DESCRIPTORS_MAX <= UINT16_MAX, "the port counts them in 16 bits");
static_assert(WH_SETTINGS_PROFILES_MAX <= 32, "wh_profile_choices has a bit for each");

const struct wh_settings_section wh_settings_sections[] = {
	{"file", "The file"},
	{"lambda", "The lambda"},
	{"back", "The way back, from B to A, where it is not as above"},
	{"link", "The link"},
	{"run", "The run"},
	{"machine", "The machine"},
	{"port", "The port"},
	{"address", "Addresses"},
	{"cores", "CPUs"},
	{"memory", "Memory"},
	{"transfer", "The transfer"},
	{"choice", "Which files go, and what becomes of those that are there"},
	{"serve", "Serving"},
	{"queue", "The queue"},
	{"console", "The console"},
	{"limits", "What one peer may take"},
	{"files", "Which files may come"},
	{"guard", "What the process may do itself"},
	{WH_SETTINGS_PROFILE_SECTION, "Profiles"},
	{"trust", "Who we are, and whom we trust"},
	{"bench", "The measurement"},
	{"probe", "The probe"},
	{"book", "What is told"},
	{"output", "Output"},
	{"dpdk", "DPDK"},
	{"config", "Configuration"},
	{NULL, NULL},
};

const struct wh_setting wh_settings_table[] = {
	{IN("file"), FIELD(size_bytes), .flag = "size", .verbs = DEMO, SIZE(0, WH_BENCH_BYTES_MAX),
		.standard = "1G", .argument = "SIZE", .example = "4G",
		.help = "make a file of this size and send it"},
	{IN("file"), FIELD(file), .flag = "file", PATH, .verbs = DEMO, .argument = "FILE",
		.example = "a.iso", .help = "send this file instead"},
	{IN("file"), FIELD(out), .flag = "out", PATH, .verbs = DEMO, .argument = "FOLDER",
		.example = "/tmp/arrived",
		.help = "keep what arrives there; without, it is removed at the end"},
	{IN("lambda"), FIELD(lambda.rate_bps), .flag = "rate", .verbs = DEMO,
		RATE(WH_RATE_MIN, RATE_MAX_BPS), .standard = "10G", .argument = "RATE",
		.example = "9.5Gbit", .help = "of the line: 10G, 9.5Gbit, 1.2GB/s"},
	{IN("lambda"), FIELD(rtt_ns), .flag = "rtt", .verbs = DEMO, TIME(0, RTT_MAX_NS),
		.standard = "100ms", .argument = "TIME", .example = "100ms",
		.help = "both ways: 100ms, 20us, 1s"},
	{IN("lambda"), FIELD(lambda), .flag = "queue", .type = WH_SETTING_QUEUE, .verbs = DEMO,
		.argument = "SIZE|Np", .example = "64M, or 500p for packets",
		.help = "what may wait before the line: bytes, or packets as 500p\n"
			"(one bandwidth-delay product, at least two bursts)"},
	{IN("lambda"), FIELD(lambda.ingress_bps), .flag = "ingress", .verbs = DEMO,
		RATE(WH_RATE_MIN, RATE_MAX_BPS), .argument = "RATE", .example = "40G",
		.help = "of the sender's link, before a switch whose memory --queue is\n"
			"(none: packets come as they are sent)"},
	{IN("lambda"), FIELD(lambda.loss), .flag = "loss", .verbs = DEMO, SHARE(0, 1),
		.standard = "0.01%", .argument = "SHARE", .example = "0.01%",
		.help = "of packets: 0.01%, 1e-4, 0; 0 beside --loss-model ge or ber"},
	{IN("lambda"), FIELD(lambda), .flag = "loss-model", .type = WH_SETTING_LOSS_MODEL,
		.words = "bernoulli ge: ber:", .verbs = DEMO, .standard = "bernoulli",
		.argument = "MODEL", .example = "ge:0.001,0.2",
		.help = "bernoulli; ge:P,R[,H[,K]] for Gilbert-Elliott bursts; ber:E for bit\n"
			"errors"},
	{IN("lambda"), FIELD(lambda.reorder), .flag = "reorder", .verbs = DEMO, SHARE(0, 1),
		.standard = "0", .argument = "SHARE", .example = "1%",
		.help = "of packets that are overtaken"},
	{IN("lambda"), FIELD(lambda.duplicate), .flag = "duplicate", .verbs = DEMO, SHARE(0, 1),
		.standard = "0", .argument = "SHARE", .example = "0.1%",
		.help = "of packets that come twice"},
	{IN("lambda"), FIELD(lambda.corrupt), .flag = "corrupt", .verbs = DEMO, SHARE(0, 1),
		.standard = "0", .argument = "SHARE", .example = "1e-5",
		.help = "of packets that come with a wrong bit"},
	{IN("lambda"), FIELD(lambda.jitter_ns), .flag = "jitter", .verbs = DEMO,
		TIME(0, RTT_MAX_NS), .standard = "0", .argument = "TIME", .example = "200us",
		.help = "delay that varies between 0 and this"},
	{IN("lambda"), FIELD(mtu_bytes), .flag = "mtu", .verbs = DEMO,
		COUNT(DEMO_MTU_MIN, DEMO_MTU_MAX), .standard = "9000", .argument = "BYTES",
		.example = "9000", .help = "of IP: 1500, 9000, any from 1280 to 9000"},
	{IN("lambda"), FIELD(lambda.seed), .flag = "seed", .type = WH_SETTING_NUMBER,
		WITHIN(0, INT64_MAX), .verbs = DEMO | WAN, .standard = "1", .argument = "N",
		.example = "42", .help = "of everything random: the same seed, the same luck"},
	{IN("port"), .flag = "port", .type = WH_SETTING_PORTS, .verbs = WAN, .argument = "PORT",
		.example = "af_packet:veth1",
		.help = "given twice: the DPDK ports A and B, each a NIC by PCI address,\n"
			"0000:3b:00.0; or software: af_packet:veth1, af_xdp:veth1, tap:NAME,\n"
			"memif:/run/a.sock,role=server, vhost:PATH, virtio_user:PATH, or a DPDK\n"
			"device, net_..."},
	{IN("port"), FIELD(mtu_bytes), .flag = "mtu", .verbs = WAN, COUNT(WAN_MTU_MIN, WAN_MTU_MAX),
		.argument = "BYTES", .example = "9000",
		.help = "of IP; longer frames are dropped (that of the interfaces, else 1500)"},
	{IN("lambda"), FIELD(rtt_ns), .flag = "rtt", .verbs = WAN, TIME(0, 2 * RTT_MAX_NS),
		.standard = "100ms", .argument = "TIME", .example = "100ms",
		.help = "both ways, half of it each: 100ms, 20us, 1s"},
	BOTH_WAYS("delay", delay_ns, NULL, "one way, instead of --rtt: 50ms, 10us",
		TIME(0, RTT_MAX_NS), .argument = "TIME", .example = "50ms"),
	BOTH_WAYS("rate", rate_bps, "1G", "of the line: 1G, 9.5Gbit, 1.2GB/s",
		RATE(WAN_RATE_MIN, RATE_MAX_BPS), .argument = "RATE", .example = "1G"),
	BOTH_WAYS("ingress", ingress_bps, NULL,
		"of the sender's link, before a switch whose memory --queue is\n"
		"(none: frames come as they are sent)",
		RATE(WAN_RATE_MIN, RATE_MAX_BPS), .argument = "RATE", .example = "10G"),
	BOTH_WAYS("queue", rate_bps, NULL,
		"what may wait before the line: bytes, or packets as 500p\n"
		"(one bandwidth-delay product, at least 32 frames)",
		.type = WH_SETTING_QUEUE, .argument = "SIZE|Np",
		.example = "12M, or 500p for packets"),
	BOTH_WAYS("loss", loss, NULL, "of packets: 0.01%, 1e-4", SHARE(0, 1), .argument = "SHARE",
		.example = "0.01%"),
	BOTH_WAYS("loss-model", rate_bps, NULL,
		"bernoulli; ge:P,R[,H[,K]] for Gilbert-Elliott bursts; ber:E for bit\n"
		"errors",
		.type = WH_SETTING_LOSS_MODEL, .words = "bernoulli ge: ber:", .argument = "MODEL",
		.example = "ge:0.001,0.2"),
	BOTH_WAYS("reorder", reorder, NULL, "of packets that are overtaken", SHARE(0, 1),
		.argument = "SHARE", .example = "1%"),
	BOTH_WAYS("reorder-delay", reorder_delay_ns, NULL,
		"by which those come later (a tenth of the delay)", TIME(1, RTT_MAX_NS),
		.argument = "TIME", .example = "1ms"),
	BOTH_WAYS("duplicate", duplicate, NULL, "of packets that come twice", SHARE(0, 1),
		.argument = "SHARE", .example = "0.1%"),
	BOTH_WAYS("corrupt", corrupt, NULL, "of packets that come with a wrong bit", SHARE(0, 1),
		.argument = "SHARE", .example = "1e-5"),
	BOTH_WAYS("jitter", jitter_ns, NULL, "delay that varies between 0 and this",
		TIME(0, RTT_MAX_NS), .argument = "TIME", .example = "200us"),
	{IN("run"), FIELD(time_ns), .flag = "time", .verbs = WAN,
		TIME(WH_NS_PER_S / 10, WH_BENCH_NS_MAX), .argument = "TIME", .example = "60s",
		.help = "end after so long (with Ctrl-C)"},
	{IN("run"), FIELD(then), .flag = "then", PATH, .verbs = WAN, .argument = "FILE",
		.example = "steps.ini",
		.help = "change the path while it runs: [at 5s], [at 5s there] or [at 5s back],\n"
			"and below it lines as rate = 2G; outage = 200ms drops all for so long"},
	{IN("cores"), FIELD(rx_cpus), .flag = "cpus", .type = WH_SETTING_CPUS, .verbs = WAN,
		.argument = "LIST", .example = "2",
		.help = "that move packets and do nothing else: one for both ways, or one for\n"
			"each, as 2,3 (the last that this process may use)"},
	{IN("memory"), FIELD(buffer_bytes), .flag = "memory", .verbs = WAN,
		SIZE(BUFFERS_MIN_BYTES, BUFFERS_MAX_BYTES), .argument = "SIZE", .example = "1G",
		.help = "for all packets under way, at most (half of what is free)"},
	{IN("memory"), FIELD(frame_bytes), .flag = "frame", .verbs = WAN,
		COUNT(WH_LAMBDA_FRAME_BYTES_MIN, WAN_MTU_MAX), .argument = "BYTES", .example = "64",
		.help = "mean length of frames, for which there is room with rate times delay\n"
			"and the queue full; where they are shorter some may find none (a third\n"
			"of the MTU)"},
	{IN("link"), FIELD(lambda.rate_bps), .flag = "rate", .verbs = PLAN,
		RATE(10000, RATE_MAX_BPS), .argument = "RATE", .example = "10G",
		.help = "of the link, IP packets counted: 10G, 622M"},
	{IN("link"), FIELD(rtt_ns), .flag = "rtt", .verbs = PLAN, TIME(1000, RTT_MAX_NS),
		.argument = "TIME", .example = "150ms", .help = "both ways: 150ms"},
	{IN("link"), FIELD(lambda.loss), .flag = "loss", .verbs = PLAN, SHARE(0, 0.499999999),
		.standard = "0", .argument = "SHARE", .example = "1e-5",
		.help = "of packets, by chance, in both directions: 1e-5, 0.01%"},
	{IN("link"), FIELD(size_bytes), .flag = "file", .verbs = PLAN, SIZE(1, UINT64_C(1) << 60),
		.standard = "1T", .argument = "SIZE", .example = "10T",
		.help = "to be moved: 10T, 500G"},
	{IN("link"), FIELD(mtu_bytes), .flag = "mtu", .verbs = PLAN, COUNT(576, MTU_MAX),
		.standard = "9000", .argument = "BYTES", .example = "9000",
		.help = "of IP, from 576 to 9216"},
	{IN("link"), FIELD(lambda.queue_pkts), .flag = "queue", .verbs = PLAN,
		COUNT(1, UINT32_C(1) << 30), .argument = "PACKETS", .example = "1000",
		.help = "before the link (one bandwidth-delay product)"},
	{IN("run"), .flag = "set", .type = WH_SETTING_SETS, .verbs = SIM,
		.argument = "SECTION.KEY=VALUE", .example = "scenario.duration=5s",
		.help = "as if the file said so: scenario.duration=5s,\n"
			"'link A-B.queue=100', sweep.rtt=1ms,10ms; or for each flow of a\n"
			"profile: udt.beta=1e-6; may be given again"},
	{IN("run"), FIELD(seed), .flag = "seed", TEXT, .verbs = SIM, .argument = "N",
		.example = "42", .help = "in place of the file's"},
	{IN("run"), FIELD(jobs), .flag = "jobs", .verbs = SIM | PLAN, COUNT(1, JOBS_MAX),
		.standard = "1", .argument = "N", .example = "2",
		.help = "runs at once, each in a process"},
	{IN("run"), FIELD(csv), .flag = "csv", PATH, .verbs = SIM, .argument = "FOLDER",
		.example = "/tmp/points",
		.help = "write points.csv there, and flows.csv, links.csv and samples of each\n"
			"run"},
	{IN("run"), FIELD(list), .flag = "list", SWITCH, .verbs = SIM,
		.help = "scenarios in FOLDER, or those that came with wavehaul"},
	{IN("machine"), FIELD(root), .flag = "root", PATH, .verbs = DOCTOR, .argument = "FOLDER",
		.example = "/tmp/copy",
		.help = "look at the /proc, /sys and /lib/modules below FOLDER, a copy from\n"
			"another machine; what only a living machine shows is left out"},
	{KEY("port", "port"), FIELD(port), .flag = "port", TEXT, .verbs = ALL, .argument = "PORT",
		.example = "0000:3b:00.0",
		.help = "the DPDK port: a NIC by PCI address, 0000:3b:00.0; or software:\n"
			"memif:/run/wavehaul.sock,role=server, vhost:PATH, virtio_user:PATH,\n"
			"af_packet:eth1, af_xdp:eth1, tap:NAME, or a DPDK device, net_..."},
	{KEY("port", "queues"), FIELD(queues), .flag = "queues", .verbs = MOVERS,
		COUNT(1, WH_QUEUES_MAX), .standard = "1", .argument = "N", .example = "4",
		.help = "pairs of queues; sessions are dealt out to them"},
	{KEY("port", "mtu"), FIELD(mtu_bytes), .flag = "mtu", .alias = "frame", .verbs = ALL,
		COUNT(WH_MTU_MIN, MTU_MAX), .standard = "1500", .argument = "BYTES",
		.example = "9000",
		.help = "of IP: 1500, 9000; both ends and all between must bear it"},
	{KEY("port", "vlan"), FIELD(vlan), .flag = "vlan", .verbs = ALL, COUNT(0, WH_VLAN_MAX),
		.standard = "0", .argument = "ID", .example = "100",
		.help = "frames carry this VLAN tag; 0: none"},
	{KEY("port", "rx_descriptors"), FIELD(rx_descriptors), .flag = "rx-descriptors",
		.verbs = ALL, COUNT(0, DESCRIPTORS_MAX), .standard = "0", .argument = "N",
		.example = "4096", .help = "of a receiving queue; 0: what the driver likes best"},
	{KEY("port", "tx_descriptors"), FIELD(tx_descriptors), .flag = "tx-descriptors",
		.verbs = ALL, COUNT(0, DESCRIPTORS_MAX), .standard = "0", .argument = "N",
		.example = "4096", .help = "of a sending queue; 0: what the driver likes best"},
	{KEY("address", "address"), .flag = "addr", .type = WH_SETTING_ADDRESSES, .verbs = ALL,
		.argument = "ADDR/BITS", .example = "192.0.2.1/24",
		.help = "of this end, with its subnet: 192.0.2.1/24, 2001:db8::1/64;\n"
			"one IPv4 and one IPv6 address may be given"},
	{KEY("address", "gateway"), .flag = "gateway", .type = WH_SETTING_GATEWAYS, .verbs = ALL,
		.argument = "ADDR", .example = "192.0.2.254",
		.help = "the way to peers beyond the subnet; one of each family"},
	{KEY("address", "udp_port"), FIELD(udp_port), .flag = "udp-port", .verbs = ALL,
		COUNT(1, UINT16_MAX), .standard = "5760", .argument = "N", .example = "5760",
		.help = "of queue 0, the following ones for the other queues"},
	{KEY("cores", "rx"), FIELD(rx_cpus), .flag = "rx-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "2-5",
		.help = "that receive, as 2 or 0,2-5; without: by the number of CPUs"},
	{KEY("cores", "tx"), FIELD(tx_cpus), .flag = "tx-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "6-9",
		.help = "that send: the same list as --rx-cpus, or none of its CPUs"},
	{KEY("cores", "worker"), FIELD(worker_cpus), .flag = "worker-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "10-11",
		.help = "that read, write and hash"},
	{KEY("memory", "buffers"), FIELD(buffer_bytes), .flag = "buffers", .verbs = MOVERS,
		SIZE(BUFFERS_MIN_BYTES, BUFFERS_MAX_BYTES), .standard = "512M",
		.serve_standard = "1G", .argument = "SIZE", .example = "4G",
		.help = "of all sessions together; rate times round trip, and half as much\n"
			"again, keeps a path full"},
	{IN("memory"), FIELD(buffer_bytes), .flag = "memory", .verbs = DEMO,
		SIZE(BUFFERS_MIN_BYTES, BUFFERS_MAX_BYTES), .argument = "SIZE", .example = "1G",
		.help = "for all buffers (what the path needs)"},
	{KEY("memory", "no_huge"), FIELD(no_huge), .flag = "no-huge", SWITCH,
		.verbs = ALL | DEMO | WAN,
		.help = "ordinary memory, though there may be hugepages"},
	{KEY("transfer", "profile"), FIELD(profile), .flag = "profile", .type = WH_SETTING_PROFILE,
		.verbs = CLIENTS | DEMO | JOB, .standard = PROFILE_STANDARD, .argument = "NAME",
		.example = PROFILE_STANDARD, .help = "how the rate is found"},
	{KEY("transfer", "rate"), FIELD(rate_bps), .flag = "rate", .type = WH_SETTING_RATE_LIMIT,
		.words = "max", .verbs = MOVERS, WITHIN(WH_RATE_MIN, RATE_MAX_BPS),
		.standard = "max", .argument = "RATE", .example = "10G",
		.help = "on the wire, at most: 10G, 9.5Gbit, 1.2GB/s; max: what the port\n"
			"takes",
		.serve_help = "on the wire, the most that a peer is given: 10G, 9.5Gbit,\n"
			      "1.2GB/s; max: what the port takes"},
	{KEY("transfer", "burst"), FIELD(burst_pkts), .flag = "burst", .verbs = MOVERS | JOB,
		COUNT(0, BURST_MAX_PKTS), .standard = "0", .argument = "N", .example = "32",
		.help = "packets back to back when the sender is late; 0: 1 on a sending\n"
			"CPU of its own, else 32"},
	{IN("transfer"), FIELD(burst_pkts), .flag = "burst", .verbs = DEMO,
		COUNT(1, BURST_MAX_PKTS), .standard = "32", .argument = "N", .example = "32",
		.help = "packets back to back when the sender is late"},
	{IN("transfer"), .flag = "set", .type = WH_SETTING_OPTION,
		.verbs = CLIENTS | DEMO | PLAN | JOB, .argument = "PROFILE.OPTION=VALUE",
		.example = "udt.beta=1e-6",
		.help = "an option of a profile, as udt.beta=1e-6; may be given again.\n"
			"`wavehaul profiles` lists them"},
	{IN("transfer"), .flag = "share", .type = WH_SETTING_SHARING,
		.words = "dedicated fair scavenger", .verbs = CLIENTS | DEMO | JOB,
		.argument = "HOW", .example = "scavenger",
		.help = "short for --set lambda.share=HOW: dedicated, the way is its own; fair,\n"
			"as one of equals, TCPs among them; scavenger, what others leave"},
	{IN("transfer"), .flag = "udt", .type = WH_SETTING_UDT,
		.words = "no-formula-3 spare-single-loss bytes no-delay-warning one-way-delay",
		.verbs = DEMO, .argument = "LIST", .example = "no-formula-3,spare-single-loss",
		.help = "short for --set, by commas: no-formula-3, spare-single-loss, bytes,\n"
			"no-delay-warning, one-way-delay"},
	{KEY("transfer", "parallel"), FIELD(parallel), .flag = "parallel", .verbs = CLIENTS | JOB,
		COUNT(1, WH_LANES_MAX), .standard = "1", .argument = "N", .example = "4",
		.help = "sessions side by side; files of 16 MiB and more for each go by\n"
			"all of them"},
	{KEY("transfer", "peer_timeout"), FIELD(peer_timeout_ns), .flag = "peer-timeout",
		.verbs = MOVERS | DEMO | JOB | ERRANDS,
		TIME(WH_NS_PER_S, WH_PEER_TIMEOUT_MAX_S *WH_NS_PER_S), .standard = "30s",
		.argument = "TIME", .example = "30s",
		.help = "give up after so long without a word from the peer"},
	{KEY("transfer", "stall_timeout"), FIELD(stall_timeout_ns), .flag = "stall-timeout",
		.verbs = MOVERS | DEMO | JOB | ERRANDS, TIME(WH_NS_PER_S, DAY_NS),
		.standard = "30s", .argument = "TIME", .example = "30s",
		.help = "give up after so long without progress"},
	{KEY("transfer", "pipe_timeout"), FIELD(pipe_timeout_ns), .flag = "pipe-timeout",
		.verbs = SERVE | TRANSFERS, TIME(WH_NS_PER_S, 30 * DAY_NS), .standard = "12h",
		.argument = "TIME", .example = "1h",
		.help = "the same, while the peer waits for a pipe"},
	{IN("transfer"), FIELD(wait_ns), .flag = "wait", .verbs = TRANSFERS, TIME(0, DAY_NS),
		.standard = "0s", .argument = "TIME", .example = "10m",
		.help = "for a server that is not up, at most so long"},
	{IN("transfer"), FIELD(retries), .flag = "retries", .verbs = TRANSFERS | JOB,
		COUNT(0, 1000), .standard = "0", .argument = "N", .example = "10",
		.help = "other tries after failures that may pass, with growing pauses"},
	{KEY("transfer", "fec"), FIELD(repair), .flag = "fec", .type = WH_SETTING_FEC,
		.words = "off auto", .verbs = CLIENTS | DEMO | JOB, .argument = "off|auto|K,R",
		.example = "auto, or 128,4 (K and R together at most 255, R at most K)",
		.help = "repair packets beside the data, so that a loss costs no round trip:\n"
			"auto: as many as the loss asks for; K,R: R for every K of data\n"
			"(off; auto with --profile ttp)"},
	{KEY("transfer", "code"), FIELD(repair.code), .flag = "code", .type = WH_SETTING_CODE,
		.verbs = CLIENTS | DEMO | JOB, .argument = "NAME", .example = "rs, or tornado",
		.help = "of repair packets: rs (Reed-Solomon: none too many), tornado (XOR:\n"
			"cheaper where much is repaired, and a few packets more)\n"
			"(rs; tornado with --profile ttp)"},
	{KEY("transfer", "fec_target"), FIELD(repair.target), .flag = "fec-target",
		.verbs = MOVERS | DEMO | JOB, SHARE(WH_REPAIR_TARGET_MIN, WH_REPAIR_TARGET_MAX),
		.standard = WH_REPAIR_TARGET_STANDARD, .argument = "SHARE", .example = "1e-4",
		.help = "of blocks that --fec auto may leave without enough repair packets",
		.serve_help = "of blocks that --fec auto of a client that gets may leave without\n"
			      "enough repair packets"},
	{KEY("transfer", "fec_ceiling"), FIELD(repair.ceiling), .flag = "fec-ceiling",
		.verbs = MOVERS | DEMO | JOB, SHARE(WH_REPAIR_CEILING_MIN, WH_REPAIR_CEILING_MAX),
		.argument = "SHARE", .example = "10%",
		.help = "of all packets sent, the repair packets of --fec auto at most; there\n"
			"is memory for as many (0.25; 0.5 with --profile ttp)",
		.serve_help =
			"of all packets sent, the repair packets of --fec auto of a client\n"
			"that gets at most; there is memory for as many (0.25; 0.5 to a client\n"
			"with --profile ttp)"},
	{KEY("transfer", "strict_paper"), FIELD(repair.strict), .flag = "strict-paper", SWITCH,
		.verbs = WH_VERB_SEND | WH_VERB_BENCH | DEMO | JOB,
		.help = "what repair packets do not bring back is not asked for, as in the\n"
			"paper of ttp: the transfer fails then"},
	{KEY("transfer", "known"), FIELD(known), .flag = "known", .type = WH_SETTING_KNOWN,
		.words = "kept none", .verbs = WH_VERB_SEND | WH_VERB_BENCH | JOB,
		.standard = "kept", .argument = "WAY", .example = "kept, none, or 9.8G,100ms,64",
		.help = "what a profile that finds its rate begins with: kept, what --state has\n"
			"of the way; none; or RATE,RTT[,N]: on the wire, both ways, and how many\n"
			"packets it bears back to back"},
	{IN("transfer"), FIELD(known), .flag = "known", .type = WH_SETTING_KNOWN, .words = "none",
		.verbs = DEMO, .standard = "none", .argument = "WAY",
		.example = "none, or 9.8G,100ms,64",
		.help = "what a profile that finds its rate begins with: none; or RATE,RTT[,N]:\n"
			"on the wire, both ways, and how many packets it bears back to back"},
	{KEY("transfer", "state"), FIELD(state), .flag = "state", PATH,
		.verbs = SERVE | TRANSFERS | WH_VERB_BENCH | PROBE | PARTS | REPORT,
		.argument = "FOLDER", .example = "/var/lib/wavehaul",
		.help = "what was found of ways, and which files came in part, is kept there\n"
			"for the next time; none: nowhere. Without: /var/lib/wavehaul for root,\n"
			"~/.local/state/wavehaul for others",
		.serve_help =
			"of one server: the queue of jobs, which files came in part and what\n"
			"peers have moved today; none: these are kept nowhere, without a queue.\n"
			"Without: /var/lib/wavehaul for root, ~/.local/state/wavehaul for others"},
	{KEY("transfer", "daemon"), FIELD(daemon), .flag = "daemon", TEXT,
		.words = "auto never always", .verbs = TRANSFERS | ERRANDS, .standard = "auto",
		.argument = "WHEN", .example = "auto, never or always",
		.help = "a server of this host with that --port, or any if none is named, runs\n"
			"it by its port, with files below its --root: auto, where one answers;\n"
			"never; or always"},
	{IN("transfer"), FIELD(control), .flag = "control", PATH,
		.verbs = TRANSFERS | ERRANDS | JOB | CONSOLE, .argument = "PATH",
		.example = "/run/wavehaul/control, or off",
		.help = "the control socket of this host's server; off: none\n"
			"(below /run/wavehaul, or $XDG_RUNTIME_DIR)"},
	{KEY("transfer", "resume"), FIELD(resume), .flag = "resume", .type = WH_SETTING_RESUME,
		.verbs = SERVE | TRANSFERS | JOB, .standard = "sparse", .argument = "HOW",
		.example = "full", .words = "off attributes sparse full",
		.help = "where the beginning of a large file came before, send the rest\n"
			"alone, if it is the same file: by size, times and inode; sparse: and\n"
			"by samples; full: by size, time and all bytes. Of both ends the\n"
			"stricter one; off: never",
		.serve_help = "where the beginning of a large file came before, take the rest\n"
			      "alone, as send and get have it; of both ends the stricter one;\n"
			      "off: never"},
	{KEY("transfer", "keep_parts"), FIELD(keep_parts_ns), .flag = "keep-parts",
		.verbs = SERVE | WH_VERB_GET, TIME(0, 10 * 365 * DAY_NS), .standard = "7d",
		.argument = "TIME", .example = "30d",
		.help = "what came of a large file in part stays for so long, for another\n"
			"run; 0s: it goes with its job"},
	{KEY("transfer", "keep_records"), FIELD(keep_records_ns), .flag = "keep-records",
		.verbs = SERVE | TRANSFERS, TIME(0, 10 * 365 * DAY_NS), .standard = "365d",
		.argument = "TIME", .example = "30d",
		.help = "what was transferred, and what came of it, is noted for wavehaul report\n"
			"and kept for so long; 0s: nothing is noted"},
	{KEY("transfer", "recursive"), FIELD(recursive), .flag = "recursive", .letter = 'r', SWITCH,
		.verbs = TRANSFERS | JOB,
		.help = "folders too, with all that is in them; -r for short"},
	{IN("transfer"), FIELD(recursive), .flag = "recursive", .letter = 'r', SWITCH,
		.verbs = WH_VERB_LS | WH_VERB_DU | WH_VERB_RM,
		.help = "all that is in folders; of du a line for each in them; -r for short"},
	{IN("transfer"), FIELD(recursive), .flag = "parents", .letter = 'p', SWITCH,
		.verbs = WH_VERB_MKDIR,
		.help = "the folders above, too, and none of them need be new; -p for short"},
	{IN("transfer"), FIELD(pings), .flag = "count", .verbs = WH_VERB_PING, COUNT(1, 1000000),
		.standard = "10", .argument = "N", .example = "100", .help = "how often to ask"},
	{IN("transfer"), FIELD(interval_ns), .flag = "interval", .verbs = WH_VERB_PING,
		TIME(0, WH_NS_PER_S), .standard = "100ms", .argument = "TIME", .example = "10ms",
		.help = "from one to the next, which waits for its answer at any rate"},
	{IN("choice"), .flag = "include", .type = WH_SETTING_PATTERN, WITHIN('+', '+'),
		.verbs = ORDERED, .argument = "PATTERN", .example = "'*.dat'",
		.help = "take what matches. Patterns are asked in the order given, the first\n"
			"that matches decides, and what none matches is taken. * and ? are for\n"
			"anything but /, ** for anything, [a-z] for one of these. One without /\n"
			"is for the last name of a path, one that begins with / for the whole\n"
			"path as it goes over, others for what it ends with; one that ends with\n"
			"/ is for folders alone"},
	{IN("choice"), .flag = "exclude", .type = WH_SETTING_PATTERN, WITHIN('-', '-'),
		.verbs = ORDERED, .argument = "PATTERN", .example = "'*.tmp'",
		.help = "leave out what matches, and of folders all that is in them"},
	{IN("choice"), FIELD(min_bytes), .flag = "min-size", .verbs = ORDERED, SIZE(0, INT64_MAX),
		.standard = "0", .argument = "SIZE", .example = "1M",
		.help = "files of at least so much"},
	{IN("choice"), FIELD(max_bytes), .flag = "max-size", .verbs = ORDERED, SIZE(0, INT64_MAX),
		.argument = "SIZE", .example = "10G", .help = "files of at most so much"},
	{IN("choice"), FIELD(newer_s), .flag = "newer", .type = WH_SETTING_MOMENT, .verbs = ORDERED,
		.argument = "WHEN", .example = "2h",
		.help = "files that were changed since: 90s, 15m, 2h or 7d ago; a local date and\n"
			"time, as 2026-11-22 or 2026-11-22T18:30; or @ and seconds since 1970"},
	{IN("choice"), FIELD(update), .flag = "update", SWITCH, .verbs = ORDERED,
		.help = "a file that is newer there stays"},
	{IN("choice"), FIELD(ignore_existing), .flag = "ignore-existing", SWITCH, .verbs = ORDERED,
		.help = "whatever is there stays"},
	{IN("choice"), FIELD(quick_check), .flag = "quick-check", SWITCH, .verbs = ORDERED,
		.help = "a file there of the same size, time and mode is the same, unread"},
	{IN("choice"), FIELD(blocks), .flag = "blocks", SWITCH, .verbs = ORDERED,
		.help = "of a large file that is there, only blocks that differ go"},
	{IN("choice"), FIELD(files_from), .flag = "files-from", PATH, .verbs = ORDERED,
		.argument = "FILE", .example = "list.txt",
		.help = "what stands there, a name a line, before the last word; -: stdin"},
	{IN("choice"), FIELD(nul), .flag = "null", .letter = '0', SWITCH, .verbs = ORDERED,
		.help = "a NUL ends each name of --files-from, as of find -print0"},
	{IN("choice"), FIELD(manifest), .flag = "manifest", PATH, .verbs = ORDERED,
		.argument = "FILE", .example = "run7.md5",
		.help = "at the end, read all files here, and write their checksums there"},
	{IN("choice"), FIELD(expect), .flag = "expect", PATH, .verbs = ORDERED, .argument = "FILE",
		.example = "run7.md5",
		.help = "at the end, compare them with those there; exit 6 if they differ"},
	{IN("choice"), FIELD(digest), .flag = "digest", TEXT, .words = "xxh3 adler32 crc32c md5",
		.verbs = ORDERED, .standard = "xxh3", .argument = "NAME", .example = "md5",
		.help = "of --manifest and --expect: xxh3, adler32, crc32c or md5"},
	{IN("choice"), FIELD(dry_run), .flag = "dry-run", SWITCH, .verbs = ORDERED,
		.help = "say what would go, by size and time, and move nothing"},
	{IN("choice"), FIELD(remove), .flag = "delete", SWITCH, .verbs = ORDERED,
		.help = "when all else is well, remove from folders there what they have not "
			"here,\n"
			"but what --exclude and the like leave out"},
	{IN("choice"), FIELD(remove_max), .flag = "max-delete", .verbs = ORDERED,
		COUNT(0, WH_DELETE_MAX), .standard = "1000", .argument = "N", .example = "100000",
		.help = "where --delete would remove more files and folders, it removes none"},
	{IN("choice"), FIELD(move), .flag = "move", SWITCH, .verbs = ORDERED,
		.help = "a file or link goes here, unless it changed, once it is on the disk "
			"there"},
	{IN("choice"), FIELD(backup), .flag = "backup", SWITCH, .verbs = ORDERED,
		.help = "a file that is replaced stays under its name with --suffix behind it"},
	{IN("choice"), FIELD(suffix), .flag = "suffix", TEXT, .verbs = ORDERED, .standard = "~",
		.argument = "TEXT", .example = ".before", .help = "of --backup"},
	{IN("choice"), FIELD(hard_links), .flag = "hard-links", SWITCH, .verbs = ORDERED,
		.help = "files that have several names have them there, too, and go once"},
	{IN("choice"), FIELD(owners), .flag = "owners", SWITCH, .verbs = ORDERED,
		.help = "keep owner and group of files and folders, by number; the receiving end\n"
			"is root, and serve has --owners"},
	{IN("choice"), FIELD(set_ids), .flag = "set-ids", SWITCH, .verbs = ORDERED,
		.help = "keep set-user-ID and set-group-ID; serve has --set-ids"},
	{IN("choice"), FIELD(xattrs), .flag = "xattrs", SWITCH, .verbs = ORDERED,
		.help = "keep extended attributes of the namespace user"},
	{IN("choice"), FIELD(acls), .flag = "acls", SWITCH, .verbs = ORDERED,
		.help = "keep POSIX ACLs, those that folders hand down, too"},
	{KEY("serve", "root"), FIELD(root), .flag = "root", PATH, .verbs = SERVE, .standard = ".",
		.argument = "FOLDER", .example = "/srv/wavehaul",
		.help = "files come from here and go here, and nowhere else"},
	{KEY("serve", "allow"), .flag = "allow", .type = WH_SETTING_SUBNETS, .verbs = SERVE,
		.argument = "SUBNETS", .example = "192.0.2.0/24,2001:db8::/64",
		.help = "peers that may connect, as 192.0.2.0/24,2001:db8::/64;\n"
			"without: those of its own subnet"},
	{KEY("serve", "sessions"), FIELD(sessions), .flag = "sessions", .verbs = SERVE,
		COUNT(1, SESSIONS_MAX), .standard = "64", .argument = "N", .example = "64",
		.help = "at once, at most"},
	{KEY("serve", "audit"), FIELD(audit), .flag = "audit", PATH, .verbs = SERVE,
		.argument = "WHERE", .example = "/var/log/wavehaul.jsonl",
		.help = "a line of JSON for each job, and for who is refused, to a file, or to\n"
			"syslog or journal (with :SOCKET: that listens there)"},
	{KEY("serve", "control"), FIELD(control), .flag = "control", PATH, .verbs = SERVE,
		.argument = "PATH", .example = "/run/wavehaul/control, or off",
		.help = "the socket by which operators and programs of this host steer it; off:\n"
			"none (below /run/wavehaul, or $XDG_RUNTIME_DIR)"},
	{KEY("serve", "metrics"), FIELD(metrics), .flag = "metrics", TEXT, .verbs = SERVE,
		.argument = "[ADDR:]PORT", .example = "9480",
		.help = "by HTTP, /metrics for Prometheus and a page for people, at that port of\n"
			"this host, or of an address of its kernel's; without: none"},
	{KEY("queue", "jobs"), FIELD(queue_jobs), .flag = "queue-jobs", .verbs = SERVE,
		COUNT(1, QUEUE_JOBS_MAX), .standard = "4", .argument = "N", .example = "4",
		.help = "of the queue that run at once, at most"},
	{KEY("queue", "peer_jobs"), FIELD(queue_peer_jobs), .flag = "queue-peer-jobs",
		.verbs = SERVE, COUNT(1, QUEUE_JOBS_MAX), .standard = "2", .argument = "N",
		.example = "2", .help = "of these with one host"},
	{IN("queue"), FIELD(timetable), .flag = "rate", .type = WH_SETTING_TEXT, .words = "max",
		.verbs = JOB, .standard = "max", .argument = "RATES", .example = "9.5G",
		.help = "on the wire, at most: 10G, or by the time of the week:\n"
			"'weekdays 8:00-18:00 2G, else 9.5G'"},
	{IN("queue"), FIELD(priority), .flag = "priority", .verbs = JOB, COUNT(0, 9),
		.standard = "5", .argument = "N", .example = "7", .help = "the highest runs first"},
	{IN("queue"), FIELD(not_before), .flag = "not-before", TEXT, .verbs = JOB,
		.argument = "TIME", .example = "22:00",
		.help = "of this place: 22:00, the next time it is that late;\n"
			"'2026-11-30 22:00'; or 90m, from now"},
	{IN("queue"), FIELD(after), .flag = "after", .verbs = JOB, COUNT(0, UINT32_MAX),
		.standard = "0", .argument = "JOB", .example = "17",
		.help = "not until that job is done; fails with it"},
	{IN("queue"), FIELD(all), .flag = "all", SWITCH, .verbs = JOB,
		.help = "list jobs that are over, too"},
	{IN("console"), FIELD(commands), .flag = "commands", .letter = 'c', TEXT, .verbs = CONSOLE,
		.argument = "'COMMANDS'", .example = "'show jobs; show ports'",
		.help = "run these, with ; between them, and end; -c for short"},
	{KEY("limits", "peer_jobs"), FIELD(peer_jobs), .flag = "peer-jobs", .verbs = SERVE,
		COUNT(0, SESSIONS_MAX), .standard = "0", .argument = "N", .example = "8",
		.help = "of --sessions, by one peer at once: a key or, unsealed, an IPv4 address\n"
			"or 64 bits of an IPv6 one; 0: three quarters"},
	{KEY("limits", "peer_memory"), FIELD(peer_memory_bytes), .flag = "peer-memory",
		.verbs = SERVE, SIZE(0, BUFFERS_MAX_BYTES), .standard = "0", .argument = "SIZE",
		.example = "256M",
		.help = "of --buffers, by one peer at once, what sessions take beside chunks\n"
			"counted; 0: three quarters"},
	{KEY("limits", "peer_reserve"), FIELD(peer_reserve_bytes), .flag = "peer-reserve",
		.verbs = SERVE, SIZE(0, RESERVE_MAX_BYTES), .standard = "16G", .argument = "SIZE",
		.example = "100G",
		.help = "of disks, kept for files that one peer announced and has not sent\n"
			"yet; of all peers together never more than half of what is free"},
	{KEY("limits", "peer_parts"), FIELD(peer_parts_bytes), .flag = "peer-parts", .verbs = SERVE,
		SIZE(0, RESERVE_MAX_BYTES), .standard = "0", .argument = "SIZE", .example = "10T",
		.help = "of files that came in part, kept of one peer, of 10000 files at\n"
			"most; 0: any size"},
	{KEY("limits", "peer_openings"), FIELD(peer_openings_s), .flag = "peer-openings",
		.verbs = SERVE, COUNT(1, OPENINGS_MAX), .standard = "100", .argument = "N",
		.example = "20",
		.help = "jobs that one peer may open in a second; three times as many at once"},
	{KEY("limits", "peer_lines"), FIELD(peer_lines_s), .flag = "peer-lines", .verbs = SERVE,
		COUNT(1, LINES_MAX), .standard = "5", .argument = "N", .example = "1",
		.help = "of the log that one peer gives rise to in a second; three times as\n"
			"many at once, and of all peers together ten times as many"},
	{KEY("limits", "job_files"), FIELD(job_files), .flag = "job-files", .verbs = SERVE,
		COUNT(0, UINT32_MAX), .standard = "0", .argument = "N", .example = "1000000",
		.help = "files, folders and links that one job may bring; 0: any number"},
	{KEY("limits", "job_bytes"), FIELD(job_bytes), .flag = "job-bytes", .verbs = SERVE,
		SIZE(0, RESERVE_MAX_BYTES), .standard = "0", .argument = "SIZE", .example = "10T",
		.help = "of files that one job may bring; 0: any number"},
	{KEY("limits", "job_depth"), FIELD(job_depth), .flag = "job-depth", .verbs = SERVE,
		COUNT(0, WH_PATH_BYTES_MAX / 2), .standard = "0", .argument = "N", .example = "32",
		.help = "folders in folders that a job may bring; what is deeper fails;\n"
			"0: as many as a path has room for"},
	{KEY("files", "plain_names"), FIELD(plain_names), .flag = "plain-names", SWITCH,
		.verbs = SERVE | WH_VERB_GET | JOB,
		.help = "what comes with control characters in its name fails"},
	{KEY("files", "links_inside"), FIELD(links_inside), .flag = "links-inside", SWITCH,
		.verbs = SERVE | WH_VERB_GET | JOB,
		.help = "symbolic links that lead out of the folder they come into fail; none\n"
			"is ever followed there by wavehaul itself"},
	{KEY("files", "case_clash"), FIELD(case_clash), .flag = "case-clash", TEXT,
		.words = "auto refuse allow", .verbs = SERVE | WH_VERB_GET | JOB,
		.standard = "auto", .argument = "HOW", .example = "refuse",
		.help = "names that differ by case alone: the second fails; auto: on FAT etc."},
	{KEY("files", "map_owners"), FIELD(map_owners), .flag = "map-owners", TEXT,
		.verbs = SERVE | WH_VERB_GET | JOB, .argument = "RULES",
		.example = "7=alice,*=nobody",
		.help = "whose files and entries of ACLs become: number there=user here"},
	{KEY("files", "map_groups"), FIELD(map_groups), .flag = "map-groups", TEXT,
		.verbs = SERVE | WH_VERB_GET | JOB, .argument = "RULES", .example = "100=users",
		.help = "the same of groups"},
	{KEY("files", "owners"), FIELD(owners), .flag = "owners", SWITCH, .verbs = SERVE,
		.help = "peers may have files keep their owners (send --owners)"},
	{KEY("files", "set_ids"), FIELD(set_ids), .flag = "set-ids", SWITCH, .verbs = SERVE,
		.help = "peers may have files keep set-user-ID and set-group-ID"},
	{KEY("guard", "user"), FIELD(user), .flag = "user", TEXT, .verbs = MOVERS | ERRANDS,
		.argument = "NAME", .example = "wavehaul",
		.help = "started as root, go on as this user once the port is open (as\n"
			"called)",
		.serve_help = "started as root, go on as this user once the port is open\n"
			      "(wavehaul, where there is such a user)"},
	{KEY("guard", "no_guard"), FIELD(no_guard), .flag = "no-guard", SWITCH,
		.verbs = MOVERS | ERRANDS,
		.help = "keep every right and system call of the process, to debug it"},
	{KEY("bench", "time"), FIELD(time_ns), .flag = "time", .verbs = WH_VERB_BENCH,
		TIME(WH_NS_PER_S / 10, WH_BENCH_NS_MAX), .standard = "10s", .argument = "TIME",
		.example = "10s", .help = "measure for so long"},
	{KEY("bench", "size"), FIELD(size_bytes), .flag = "size", .verbs = WH_VERB_BENCH,
		SIZE(0, WH_BENCH_BYTES_MAX), .standard = "0", .argument = "SIZE", .example = "10G",
		.help = "measure until so much has arrived, whatever --time says; 0: by time"},
	{KEY("bench", "reverse"), FIELD(reverse), .flag = "reverse", SWITCH, .verbs = WH_VERB_BENCH,
		.help = "the server sends"},
	{KEY("bench", "idle"), FIELD(idle_sessions), .flag = "idle", .verbs = WH_VERB_BENCH,
		COUNT(0, SESSIONS_MAX), .standard = "0", .argument = "N", .example = "1000",
		.help = "sessions opened beside, and never used"},
	{KEY("probe", "train"), FIELD(train_pkts), .flag = "train", .verbs = PROBE,
		COUNT(WH_PROBER_TRAIN_MIN, WH_PROBER_TRAIN_MAX), .standard = "8192",
		.argument = "N", .example = "2048", .help = "packets of the longest train"},
	{KEY("probe", "time"), FIELD(probe_ns), .flag = "time", .verbs = PROBE,
		TIME(WH_NS_PER_S / 10, WH_ANSWERER_LIFETIME_S *WH_NS_PER_S), .standard = "20s",
		.argument = "TIME", .example = "20s", .help = "for all of it, at most"},
	{KEY("probe", "rate"), FIELD(probe_bps), .flag = "rate", .type = WH_SETTING_RATE_LIMIT,
		.words = "max", .verbs = PROBE, WITHIN(WH_RATE_MIN, RATE_MAX_BPS),
		.standard = "max", .argument = "RATE", .example = "10G",
		.help = "of trains on the wire, where they are not to leave at line rate;\n"
			"max: as fast as the port takes them"},
	{IN("probe"), FIELD(plot), .flag = "plot", PATH, .verbs = PROBE, .argument = "FILE",
		.example = "way.svg",
		.help = "draw the arrivals of the longest train there, as SVG"},
	{KEY("output", "json"), FIELD(json), .flag = "json", SWITCH,
		.verbs = CLIENTS | PROBE | DEMO | SIM | PLAN | WAN | WH_VERB_PROFILES,
		.help = "one JSON object on stdout, and nothing else there"},
	{IN("output"), FIELD(plot), .flag = "plot", PATH, .verbs = CLIENTS | DEMO,
		.argument = "FILE", .example = "transfer.svg",
		.help = "draw rate, round trip, losses and what limits over time there, as SVG"},
	{IN("output"), FIELD(plot), .flag = "plot", PATH, .verbs = SIM, .argument = "FILE",
		.example = "flows.svg",
		.help = "draw what arrives of each flow, windows, queues and losses over time\n"
			"there, as SVG; of one point"},
	{IN("output"), FIELD(json), .flag = "json", SWITCH, .verbs = DOCTOR,
		.help = "one JSON object on stdout: {\"verb\", \"ok\", \"checks\": [{\"name\",\n"
			"\"verdict\": \"good\", \"info\" or \"bad\", \"text\", \"repair\"}]}, "
			"repair being\n"
			"null or the command"},
	{IN("trust"), FIELD(identity), .flag = "identity", PATH,
		.verbs = KEYGEN | TRUST | MOVERS | PROBE | ERRANDS, .argument = "FILE",
		.example = "/etc/wavehaul/identity.pem",
		.help = "our key and certificate, as PEM. Without: identity.pem in\n"
			"/etc/wavehaul for root, in ~/.config/wavehaul for others, or in\n"
			"WAVEHAUL_CONFIG_DIR"},
	{IN("trust"), FIELD(trust), .flag = "trust", PATH,
		.verbs = TRUST | MOVERS | PROBE | ERRANDS, .argument = "FOLDER",
		.example = "/etc/wavehaul/trust.d",
		.help = "files of those who are trusted, NAME.conf, and in ca/ certificates of\n"
			"authorities. Without: trust.d beside identity.pem"},
	{KEY("trust", "cipher"), FIELD(cipher), .flag = "cipher", .type = WH_SETTING_CIPHER,
		.verbs = MOVERS | PROBE | ERRANDS | DEMO, .argument = "NAME",
		.example = "aes-256-gcm", .words = "aes-128-gcm aes-256-gcm",
		.help = "seal by that alone: aes-128-gcm or aes-256-gcm. Without: by whichever\n"
			"both ends take, the first before the second"},
	{IN("trust"), FIELD(keylog), .flag = "keylog", PATH,
		.verbs = MOVERS | PROBE | ERRANDS | DEMO, .argument = "FILE", .example = "keys.log",
		.help = "write the keys of all sessions there, for the dissector: who has that\n"
			"file reads what they carry"},
	{KEY("trust", "unsealed"), FIELD(unsealed), .flag = "unsealed", SWITCH,
		.verbs = MOVERS | PROBE | ERRANDS | DEMO,
		.help = "seal nothing, and ask nobody who it is: whoever is on the way reads\n"
			"all, and can change it. Both ends have to say so"},
	{IN("trust"), FIELD(replace), .flag = "replace", SWITCH, .verbs = KEYGEN,
		.help = "in place of a key that is there: nobody knows the new one yet"},
	{IN("trust"), FIELD(replace), .flag = "replace", SWITCH, .verbs = TRUST,
		.help = "add: in place of what that name stands for now, there, too, with --via"},
	{IN("trust"), FIELD(known_as), .flag = "as", TEXT, .verbs = TRUST, .argument = "NAME",
		.example = "dtn1",
		.help = "add --via: what this end is to be called there (this host's name)"},
	{IN("trust"), FIELD(via), .flag = "via", TEXT, .verbs = TRUST, .argument = "COMMAND...",
		.example = "ssh admin@dtn2",
		.help = "add: swap keys with a host by a command that reaches it, the last\n"
			"words of the line: --via ssh admin@dtn2"},
	{IN("book"), FIELD(by), .flag = "by", TEXT, .verbs = REPORT,
		.words = "day peer user verb outcome transfer", .standard = "day",
		.argument = "WHAT", .example = "peer",
		.help = "add up by day, peer, user, verb or outcome; transfer: each is told"},
	{IN("book"), FIELD(since_s), .flag = "since", .type = WH_SETTING_MOMENT, .verbs = REPORT,
		.argument = "WHEN", .example = "7d",
		.help = "what ended since: 15m, 2h or 7d ago, or a local date and time as\n"
			"2026-11-30 or '2026-11-30 22:00'"},
	{IN("book"), FIELD(until_s), .flag = "until", .type = WH_SETTING_MOMENT, .verbs = REPORT,
		.argument = "WHEN", .example = "1d", .help = "and before, likewise (now)"},
	{IN("output"), FIELD(plot), .flag = "plot", PATH, .verbs = REPORT, .argument = "FILE",
		.example = "month.svg", .help = "draw the sums there as bars, as SVG"},
	{IN("output"), FIELD(as_csv), .flag = "csv", SWITCH, .verbs = REPORT,
		.help = "lines of values separated by commas on stdout"},
	{IN("output"), FIELD(json), .flag = "json", SWITCH,
		.verbs = KEYGEN | TRUST | JOB | PARTS | CONSOLE | REPORT | ERRANDS,
		.help = "one JSON object on stdout, and nothing else"},
	{IN("output"), FIELD(quiet), .flag = "quiet", SWITCH, .verbs = TRANSFERS,
		.help = "say nothing but what fails"},
	{KEY("output", "json_stream"), FIELD(json_stream), .flag = "json-stream", SWITCH,
		.verbs = TRANSFERS, .help = "a JSON object per line on stdout, as things happen"},
	{IN("output"), FIELD(pcap), .flag = "pcap", PATH, .verbs = WAN, .argument = "FILE",
		.example = "wan.pcapng",
		.help = "write the frames of both ports there, as they come in and as they\n"
			"leave, as pcapng; give it a second CPU"},
	{IN("output"), FIELD(pcap_bytes), .flag = "pcap-max", .verbs = WAN,
		SIZE(UINT64_C(64) << 10, UINT64_C(1) << 50), .standard = "1G", .argument = "SIZE",
		.example = "10G", .help = "of that file; what comes then is not written"},
	{IN("output"), FIELD(pcap_snap_bytes), .flag = "pcap-snap", .verbs = WAN,
		COUNT(64, WAN_MTU_MAX), .standard = "256", .argument = "BYTES", .example = "9100",
		.help = "of each frame, at most"},
	{IN("output"), FIELD(json_stream), .flag = "json-stream", SWITCH, .verbs = WAN,
		.help = "a JSON object per line on stdout: each second, each change, the end"},
	{KEY("output", "verbose"), FIELD(verbose), .flag = "verbose", SWITCH,
		.verbs = ALL | DEMO | WAN,
		.help = "say what memory is for, how DPDK was started, and count more; of send\n"
			"and get a row a second, too: rate, round trip, loss and what limits"},
	{KEY("dpdk", "eal"), FIELD(eal), .flag = "eal", TEXT, .verbs = ALL | DEMO | WAN,
		.argument = "'ARGS'", .example = "--log-level=7",
		.help = "more arguments for DPDK's EAL, separated by blanks"},
	{IN("config"), FIELD(config), .flag = "config", PATH, .verbs = ALL, .argument = "FILE",
		.example = "site.conf",
		.help = "read settings from it; flags come after it. none: from no file.\n"
			"Without, " WH_SETTINGS_FILE " is read where it exists"},
	{IN("config"), FIELD(print_config), .flag = "print-config", SWITCH, .verbs = ALL,
		.help = "print the settings as such a file, and do no more"},
};

static_assert(LENGTH(wh_settings_table) <= WH_SETTINGS_MAX, "a flag each of what was given");

const uint32_t wh_settings_count = LENGTH(wh_settings_table);

static bool is_section(const char *name)
{
	const struct wh_settings_section *section = wh_settings_sections;

	while (section->name != NULL && strcmp(section->name, name) != 0)
		section++;
	return section->name != NULL;
}

void wh_setting_check(const struct wh_setting *setting)
{
	bool valued = setting->type != WH_SETTING_SWITCH;
	bool is_count = setting->type == WH_SETTING_COUNT;

	WH_ASSERT(is_section(setting->section));
	WH_ASSERT(setting->verbs != 0 && setting->flag != NULL && setting->help != NULL);
	WH_ASSERT((setting->key == NULL) == (setting->name == NULL));
	WH_ASSERT(setting->key == NULL || (setting->verbs & WH_VERBS_CONFIGURED) != 0);
	WH_ASSERT(valued == (setting->argument != NULL));
	WH_ASSERT(setting->example != NULL);
	WH_ASSERT(setting->alias == NULL || (setting->verbs & WH_VERB_BENCH) != 0);
	WH_ASSERT(setting->serve_standard == NULL || (setting->verbs & WH_VERB_SERVE) != 0);
	WH_ASSERT(setting->serve_help == NULL || (setting->verbs & WH_VERB_SERVE) != 0);
	WH_ASSERT(setting->offset < sizeof(struct wh_settings));
	WH_ASSERT(setting->low <= setting->high);
	WH_ASSERT(!is_count || setting->high <= UINT32_MAX); /* as wide as its field */
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

	if (other)
		return setting->serve_standard;
	return setting->standard != NULL ? setting->standard : "";
}

const char *wh_setting_help(const struct wh_setting *setting, enum wh_verb verb)
{
	bool other = verb == WH_VERB_SERVE && setting->serve_help != NULL;

	return other ? setting->serve_help : setting->help;
}

bool wh_setting_is_list(const struct wh_setting *setting)
{
	return setting->type == WH_SETTING_ADDRESSES || setting->type == WH_SETTING_GATEWAYS ||
	       setting->type == WH_SETTING_SUBNETS || setting->type == WH_SETTING_SETS ||
	       setting->type == WH_SETTING_PORTS;
}
