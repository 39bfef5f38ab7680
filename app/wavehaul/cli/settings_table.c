/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <assert.h>

#include "base/clock.h"
#include "bundle/record.h"
#include "cli/settings_columns.h"
#include "port/port.h"
#include "probe/answerer.h"
#include "probe/prober.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define PROFILE_STANDARD "lambda"

#define WAN_MTU_MIN  68 /* RFC 791 3.2 */
#define WAN_MTU_MAX  WH_PORT_MTU_MAX
#define WAN_RATE_MIN UINT64_C(10000)
#define DEMO_MTU_MIN 1280 /* control packets must fit: WH_CONTROL_BYTES_MAX */
#define DEMO_MTU_MAX 9000
#define RTT_MAX_NS   (10 * WH_NS_PER_S)
#define JOBS_MAX     256

static_assert(WH_MTU_MAX <= WH_PORT_MTU_MAX, "the port takes them");
static_assert(WH_QUEUES_MAX <= WH_PORT_QUEUES_MAX, "the port has them");
#define RATE_MAX_BPS      UINT64_C(1000000000000)
#define RESERVE_MAX_BYTES (UINT64_C(1) << 50)
#define DESCRIPTORS_MAX   32768
#define BURST_MAX_PKTS    1024
#define OPENINGS_MAX      10000
#define LINES_MAX         1000
#define QUEUE_JOBS_MAX    64
#define DAY_NS            (UINT64_C(86400) * WH_NS_PER_S)

static_assert(offsetof(struct wh_link_model, rate_bps) == 0,
	"of the whole link: --queue and --loss-model of wan name its first field");
static_assert(DESCRIPTORS_MAX <= UINT16_MAX, "the port counts them in 16 bits");
static_assert(WH_SETTINGS_PROFILES_MAX <= 32, "wh_profile_choices has a bit for each");

const struct wh_setting wh_settings_table[] = {
	{IN("file"), FIELD(size_bytes), .flag = "size", .verbs = DEMO, SIZE(0, WH_BENCH_BYTES_MAX),
		.standard = "1G", .argument = "SIZE", .example = "4G",
		.help = "make a file of this size and send it"},
	{IN("file"), FIELD(file), .flag = "file", PATH, .verbs = DEMO, .argument = "FILE",
		.example = "a.iso", .help = "send this file instead"},
	{IN("file"), FIELD(out), .flag = "out", PATH, .verbs = DEMO, .argument = "FOLDER",
		.example = "/tmp/arrived",
		.help = "keep what arrives in this folder (it is removed at the end)"},
	{IN("link"), FIELD(link.rate_bps), .flag = "rate", .verbs = DEMO,
		RATE(WH_RATE_MIN, RATE_MAX_BPS), .standard = "10G", .argument = "RATE",
		.example = "9.5Gbit", .help = "rate of the line: 10G, 9.5Gbit, 1.2GB/s"},
	{IN("link"), FIELD(ports), .flag = "paths", .verbs = DEMO, COUNT(1, WH_PORTS_MAX),
		.standard = "1", .argument = "N", .example = "2",
		.help = "number of such links, by all of which the file goes at once"},
	{IN("link"), FIELD(rtt_ns), .flag = "rtt", .verbs = DEMO, TIME(0, RTT_MAX_NS),
		.standard = "100ms", .argument = "TIME", .example = "100ms",
		.help = "round-trip time: 100ms, 20us, 1s"},
	{IN("link"), FIELD(link), .flag = "queue", .type = WH_SETTING_QUEUE, .verbs = DEMO,
		.argument = "SIZE|Np", .example = "64M, or 500p for packets",
		.help = "room for packets that wait before the line: bytes, or packets as 500p\n"
			"(one bandwidth-delay product, at least two bursts)"},
	{IN("link"), FIELD(link.ingress_bps), .flag = "ingress", .verbs = DEMO,
		RATE(WH_RATE_MIN, RATE_MAX_BPS), .argument = "RATE", .example = "40G",
		.help = "rate of the sender's link to a switch whose memory is --queue (none:\n"
			"packets arrive at the queue as they are sent)"},
	{IN("link"), FIELD(link.loss), .flag = "loss", .verbs = DEMO, SHARE(0, 1),
		.standard = "0.01%", .argument = "SHARE", .example = "0.01%",
		.help = "share of packets lost: 0.01%, 1e-4, 0; must be 0 with --loss-model ge\n"
			"or ber"},
	{IN("link"), FIELD(link), .flag = "loss-model", .type = WH_SETTING_LOSS_MODEL,
		.words = "bernoulli ge: ber:", .verbs = DEMO, .standard = "bernoulli",
		.argument = "MODEL", .example = "ge:0.001,0.2",
		.help = "how packets are lost: bernoulli; ge:P,R[,H[,K]] for Gilbert-Elliott\n"
			"bursts; ber:E for bit errors"},
	{IN("link"), FIELD(link.reorder), .flag = "reorder", .verbs = DEMO, SHARE(0, 1),
		.standard = "0", .argument = "SHARE", .example = "1%",
		.help = "share of packets that others overtake"},
	{IN("link"), FIELD(link.duplicate), .flag = "duplicate", .verbs = DEMO, SHARE(0, 1),
		.standard = "0", .argument = "SHARE", .example = "0.1%",
		.help = "share of packets that arrive twice"},
	{IN("link"), FIELD(link.corrupt), .flag = "corrupt", .verbs = DEMO, SHARE(0, 1),
		.standard = "0", .argument = "SHARE", .example = "1e-5",
		.help = "share of packets that arrive with a wrong bit"},
	{IN("link"), FIELD(link.jitter_ns), .flag = "jitter", .verbs = DEMO, TIME(0, RTT_MAX_NS),
		.standard = "0", .argument = "TIME", .example = "200us",
		.help = "additional delay, random between 0 and this"},
	{IN("link"), FIELD(mtu_bytes), .flag = "mtu", .verbs = DEMO,
		COUNT(DEMO_MTU_MIN, DEMO_MTU_MAX), .standard = "9000", .argument = "BYTES",
		.example = "9000", .help = "largest IP packet, from 1280 to 9000"},
	{IN("link"), FIELD(link.seed), .flag = "seed", .type = WH_SETTING_NUMBER,
		WITHIN(0, INT64_MAX), .verbs = DEMO | WAN, .standard = "1", .argument = "N",
		.example = "42", .help = "seed of all random numbers: the same seed repeats a run"},
	{IN("port"), .flag = "port", .type = WH_SETTING_PORTS, .verbs = WAN, .argument = "PORT",
		.example = "af_packet:veth1",
		.help = "a DPDK port; give it twice, for A and for B: a NIC by PCI address,\n"
			"0000:3b:00.0; or software: af_packet:veth1, af_xdp:veth1, tap:NAME,\n"
			"memif:/run/a.sock,role=server, vhost:PATH, virtio_user:PATH, or a DPDK\n"
			"device, net_..."},
	{IN("port"), FIELD(mtu_bytes), .flag = "mtu", .verbs = WAN, COUNT(WAN_MTU_MIN, WAN_MTU_MAX),
		.argument = "BYTES", .example = "9000",
		.help = "largest IP packet; longer frames are dropped (that of the interfaces,\n"
			"else 1500)"},
	{IN("link"), FIELD(rtt_ns), .flag = "rtt", .verbs = WAN, TIME(0, 2 * RTT_MAX_NS),
		.standard = "100ms", .argument = "TIME", .example = "100ms",
		.help = "round-trip time, half of it in each direction: 100ms, 20us, 1s"},
	BOTH_WAYS("delay", delay_ns, NULL, "delay of one direction, instead of --rtt: 50ms, 10us",
		TIME(0, RTT_MAX_NS), .argument = "TIME", .example = "50ms"),
	BOTH_WAYS("rate", rate_bps, "1G", "of the line: 1G, 9.5Gbit, 1.2GB/s",
		RATE(WAN_RATE_MIN, RATE_MAX_BPS), .argument = "RATE", .example = "1G"),
	BOTH_WAYS("ingress", ingress_bps, NULL,
		"rate of the sender's link to a switch whose memory is --queue (none:\n"
		"frames arrive at the queue as they are sent)",
		RATE(WAN_RATE_MIN, RATE_MAX_BPS), .argument = "RATE", .example = "10G"),
	BOTH_WAYS("queue", rate_bps, NULL,
		"room for frames that wait before the line: bytes, or packets as 500p\n"
		"(one bandwidth-delay product, at least 32 frames)",
		.type = WH_SETTING_QUEUE, .argument = "SIZE|Np",
		.example = "12M, or 500p for packets"),
	BOTH_WAYS("loss", loss, NULL, "share of packets lost: 0.01%, 1e-4", SHARE(0, 1),
		.argument = "SHARE", .example = "0.01%"),
	BOTH_WAYS("loss-model", rate_bps, NULL,
		"how packets are lost: bernoulli; ge:P,R[,H[,K]] for Gilbert-Elliott\n"
		"bursts; ber:E for bit errors",
		.type = WH_SETTING_LOSS_MODEL, .words = "bernoulli ge: ber:", .argument = "MODEL",
		.example = "ge:0.001,0.2"),
	BOTH_WAYS("reorder", reorder, NULL, "share of packets that others overtake", SHARE(0, 1),
		.argument = "SHARE", .example = "1%"),
	BOTH_WAYS("reorder-delay", reorder_delay_ns, NULL,
		"how much later overtaken packets arrive (a tenth of the delay)",
		TIME(1, RTT_MAX_NS), .argument = "TIME", .example = "1ms"),
	BOTH_WAYS("duplicate", duplicate, NULL, "share of packets that arrive twice", SHARE(0, 1),
		.argument = "SHARE", .example = "0.1%"),
	BOTH_WAYS("corrupt", corrupt, NULL, "share of packets that arrive with a wrong bit",
		SHARE(0, 1), .argument = "SHARE", .example = "1e-5"),
	BOTH_WAYS("jitter", jitter_ns, NULL, "additional delay, random between 0 and this",
		TIME(0, RTT_MAX_NS), .argument = "TIME", .example = "200us"),
	{IN("run"), FIELD(time_ns), .flag = "time", .verbs = WAN,
		TIME(WH_NS_PER_S / 10, WH_BENCH_NS_MAX), .argument = "TIME", .example = "60s",
		.help = "end after this time (at Ctrl-C)"},
	{IN("run"), FIELD(then), .flag = "then", PATH, .verbs = WAN, .argument = "FILE",
		.example = "steps.ini",
		.help = "change the path while it runs, by a file with sections [at 5s], [at 5s\n"
			"there] or [at 5s back] and lines such as rate = 2G below; outage =\n"
			"200ms drops everything for that time"},
	{IN("cores"), FIELD(rx_cpus), .flag = "cpus", .type = WH_SETTING_CPUS, .verbs = WAN,
		.argument = "LIST", .example = "2",
		.help = "CPUs that move packets and do nothing else: one for both directions,\n"
			"or one for each, as 2,3 (the last one that this process may use)"},
	{IN("memory"), FIELD(buffer_bytes), .flag = "memory", .verbs = WAN,
		SIZE(WH_BUFFERS_MIN_BYTES, WH_BUFFERS_MAX_BYTES), .argument = "SIZE",
		.example = "1G",
		.help = "memory for packets in flight, at most (half of what is free)"},
	{IN("memory"), FIELD(frame_bytes), .flag = "frame", .verbs = WAN,
		COUNT(WH_ETHER_FRAME_BYTES_MIN, WAN_MTU_MAX), .argument = "BYTES", .example = "64",
		.help = "mean length of frames, from which the number of buffers follows: rate\n"
			"times delay and a full queue; shorter frames may find no buffer (a\n"
			"third of the MTU)"},
	{IN("link"), FIELD(link.rate_bps), .flag = "rate", .verbs = PLAN, RATE(10000, RATE_MAX_BPS),
		.argument = "RATE", .example = "10G",
		.help = "rate of the link, counting IP packets: 10G, 622M"},
	{IN("link"), FIELD(rtt_ns), .flag = "rtt", .verbs = PLAN, TIME(1000, RTT_MAX_NS),
		.argument = "TIME", .example = "150ms", .help = "round-trip time: 150ms"},
	{IN("link"), FIELD(link.loss), .flag = "loss", .verbs = PLAN, SHARE(0, 0.499999999),
		.standard = "0", .argument = "SHARE", .example = "1e-5",
		.help = "share of packets lost at random, in both directions: 1e-5, 0.01%"},
	{IN("link"), FIELD(size_bytes), .flag = "file", .verbs = PLAN, SIZE(1, UINT64_C(1) << 60),
		.standard = "1T", .argument = "SIZE", .example = "10T",
		.help = "size of the file to be moved: 10T, 500G"},
	{IN("link"), FIELD(mtu_bytes), .flag = "mtu", .verbs = PLAN, COUNT(576, WH_MTU_MAX),
		.standard = "9000", .argument = "BYTES", .example = "9000",
		.help = "largest IP packet, from 576 to 9216"},
	{IN("link"), FIELD(link.queue_pkts), .flag = "queue", .verbs = PLAN,
		COUNT(1, UINT32_C(1) << 30), .argument = "PACKETS", .example = "1000",
		.help = "room in the queue before the link, in packets (one bandwidth-delay\n"
			"product)"},
	{IN("run"), .flag = "set", .type = WH_SETTING_SETS, .verbs = SIM,
		.argument = "SECTION.KEY=VALUE", .example = "scenario.duration=5s",
		.help = "override a setting of the file: scenario.duration=5s, 'link\n"
			"A-B.queue=100', sweep.rtt=1ms,10ms; or an option of a profile in every\n"
			"flow: udt.beta=1e-6; may be given several times"},
	{IN("run"), FIELD(seed), .flag = "seed", TEXT, .verbs = SIM, .argument = "N",
		.example = "42", .help = "seed, instead of the file's"},
	{IN("run"), FIELD(jobs), .flag = "jobs", .verbs = SIM | PLAN, COUNT(1, JOBS_MAX),
		.standard = "1", .argument = "N", .example = "2",
		.help = "number of runs at once, each in a process"},
	{IN("run"), FIELD(csv), .flag = "csv", PATH, .verbs = SIM, .argument = "FOLDER",
		.example = "/tmp/points",
		.help = "write points.csv into this folder, and flows.csv, links.csv and\n"
			"samples of each run"},
	{IN("run"), FIELD(list), .flag = "list", SWITCH, .verbs = SIM,
		.help = "list the scenarios in FOLDER, or those that came with wavehaul"},
	{IN("machine"), FIELD(root), .flag = "root", PATH, .verbs = DOCTOR, .argument = "FOLDER",
		.example = "/tmp/copy",
		.help = "examine /proc, /sys and /lib/modules below FOLDER, copied from another\n"
			"machine; checks that need the live machine are left out"},
	{IN("machine"), FIELD(root), .flag = "root", PATH, .verbs = WH_VERB_NIC,
		.argument = "FOLDER", .example = "/tmp/copy",
		.help = "do it in the files below FOLDER instead of this machine's /sys and /etc"},
	{KEY("port", "port"), .flag = "port", .type = WH_SETTING_PORTS, .verbs = ALL,
		.argument = "PORT", .example = "0000:3b:00.0",
		.help = "udp: sockets of the kernel, for any user account, at the host's main\n"
			"addresses or udp:ADDRESS[:PORT] (used when none is given); or a NIC by\n"
			"PCI address, 0000:3b:00.0; or DPDK's software ports:\n"
			"memif:/run/wavehaul.sock,role=server, vhost:PATH, virtio_user:PATH,\n"
			"af_packet:eth1, af_xdp:eth1, tap:NAME, or a DPDK device, net_...;\n"
			"up to four, by all of which files go; other verbs use the first"},
	{KEY("port", "queues"), FIELD(queues), .flag = "queues", .verbs = MOVERS,
		COUNT(1, WH_QUEUES_MAX), .standard = "1", .argument = "N", .example = "4",
		.help = "number of queue pairs; sessions are spread over them"},
	{KEY("port", "mtu"), FIELD(mtu_bytes), .flag = "mtu", .verbs = ALL,
		COUNT(WH_MTU_MIN, WH_MTU_MAX), .standard = "1500", .argument = "BYTES",
		.example = "9000",
		.help = "largest IP packet: 1500, 9000; both ends and everything between them\n"
			"must support it"},
	{KEY("port", "vlan"), FIELD(vlan), .flag = "vlan", .verbs = ALL, COUNT(0, WH_VLAN_MAX),
		.standard = "0", .argument = "ID", .example = "100",
		.help = "VLAN tag of all frames; 0: none"},
	{KEY("port", "dscp"), FIELD(dscp), .flag = "dscp", .verbs = ALL, COUNT(0, WH_DSCP_MAX),
		.standard = "0", .argument = "N", .example = "8",
		.help = "class of all packets, by which a network may prefer others (RFC 2474):\n"
			"8: below others; 46: before them"},
	{KEY("port", "rx_descriptors"), FIELD(rx_descriptors), .flag = "rx-descriptors",
		.verbs = ALL, COUNT(0, DESCRIPTORS_MAX), .standard = "0", .argument = "N",
		.example = "4096",
		.help = "descriptors of a receive queue; 0: what the driver recommends"},
	{KEY("port", "tx_descriptors"), FIELD(tx_descriptors), .flag = "tx-descriptors",
		.verbs = ALL, COUNT(0, DESCRIPTORS_MAX), .standard = "0", .argument = "N",
		.example = "4096",
		.help = "descriptors of a send queue; 0: what the driver recommends"},
	{KEY("address", "address"), .flag = "addr", .type = WH_SETTING_ADDRESSES, .verbs = ALL,
		.argument = "ADDR/BITS", .example = "192.0.2.1/24",
		.help = "address of this end, with its subnet: 192.0.2.1/24, 2001:db8::1/64;\n"
			"one IPv4 and one IPv6 address for each port, in the order of the ports"},
	{KEY("address", "gateway"), .flag = "gateway", .type = WH_SETTING_GATEWAYS, .verbs = ALL,
		.argument = "ADDR", .example = "192.0.2.254",
		.help = "gateway to peers beyond the subnet; one of each family for each port"},
	{KEY("address", "udp_port"), FIELD(udp_port), .flag = "udp-port", .verbs = ALL,
		COUNT(1, UINT16_MAX), .standard = "5760", .argument = "N", .example = "5760",
		.help = "UDP port of queue 0; the other queues use the ports after it"},
	{KEY("ssh", "ssh"), FIELD(ssh), .flag = "ssh", TEXT, .verbs = ALL_CLIENTS,
		.standard = "ssh", .argument = "COMMAND", .example = "'ssh -p 22 -J gate'",
		.help = "command that reaches USER@HOST, its words separated by blanks"},
	{KEY("ssh", "remote_command"), FIELD(remote_command), .flag = "remote-command", TEXT,
		.verbs = ALL_CLIENTS, .standard = "wavehaul", .argument = "COMMAND",
		.example = "/opt/bin/wavehaul", .help = "the program there, for the shell"},
	{KEY("ssh", "udp_ports"), FIELD(udp_ports), .flag = "udp-ports", TEXT, .verbs = ALL_CLIENTS,
		.standard = "60000:60999", .argument = "FIRST:LAST", .example = "60000:60100",
		.help = "the server there takes the first free one of them"},
	{KEY("cores", "rx"), FIELD(rx_cpus), .flag = "rx-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "2-5",
		.help = "CPUs that receive, as 2 or 0,2-5 (chosen by the number of CPUs)"},
	{KEY("cores", "tx"), FIELD(tx_cpus), .flag = "tx-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "6-9",
		.help = "CPUs that send: the same list as --rx-cpus, or none of its CPUs"},
	{KEY("cores", "worker"), FIELD(worker_cpus), .flag = "worker-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "10-11",
		.help = "CPUs that read, write and hash"},
	{KEY("cores", "books"), FIELD(books_cpus), .flag = "books-cpus", .type = WH_SETTING_CPUS,
		.verbs = ALL, .argument = "LIST", .example = "12", .help = "CPUs for bookkeeping"},
	{KEY("memory", "buffers"), FIELD(buffer_bytes), .flag = "buffers", .verbs = MOVERS,
		SIZE(WH_BUFFERS_MIN_BYTES, WH_BUFFERS_MAX_BYTES), .standard = "512M",
		.serve_standard = "1G", .argument = "SIZE", .example = "4G",
		.help = "packet memory of all sessions together; to keep a path full, 1.5 times\n"
			"rate times round trip"},
	{IN("memory"), FIELD(buffer_bytes), .flag = "memory", .verbs = DEMO,
		SIZE(WH_BUFFERS_MIN_BYTES, WH_BUFFERS_MAX_BYTES), .argument = "SIZE",
		.example = "1G", .help = "memory for all buffers (what the path needs)"},
	{KEY("memory", "no_huge"), FIELD(no_huge), .flag = "no-huge", SWITCH,
		.verbs = ALL | DEMO | WAN,
		.help = "use ordinary memory, even if there are hugepages"},
	{KEY("transfer", "profile"), FIELD(profile), .flag = "profile", .type = WH_SETTING_PROFILE,
		.verbs = CLIENTS | DEMO | JOB, .standard = PROFILE_STANDARD, .argument = "NAME",
		.example = PROFILE_STANDARD, .help = "how the rate is found"},
	{KEY("transfer", "rate"), FIELD(rate_bps), .flag = "rate", .type = WH_SETTING_RATE_LIMIT,
		.words = "max", .verbs = MOVERS, WITHIN(WH_RATE_MIN, RATE_MAX_BPS),
		.standard = "max", .argument = "RATE", .example = "10G",
		.help = "upper bound, counted on the wire: 10G, 9.5Gbit, 1.2GB/s; max: what the\n"
			"port takes",
		.serve_help =
			"upper bound of all that one peer moves, both ways, counted on the wire:\n"
			"10G, 9.5Gbit, 1.2GB/s; max: what the port takes"},
	{KEY("transfer", "burst"), FIELD(burst_pkts), .flag = "burst", .verbs = MOVERS | JOB,
		COUNT(0, BURST_MAX_PKTS), .standard = "0", .argument = "N", .example = "32",
		.help = "packets that may go back to back when the sender is late; 0: 1 if\n"
			"sending has a CPU of its own, else 32"},
	{IN("transfer"), FIELD(burst_pkts), .flag = "burst", .verbs = DEMO,
		COUNT(1, BURST_MAX_PKTS), .standard = "32", .argument = "N", .example = "32",
		.help = "packets that may go back to back when the sender is late"},
	{IN("transfer"), .flag = "set", .stays = true, .type = WH_SETTING_OPTION,
		.verbs = CLIENTS | DEMO | PLAN | JOB, .argument = "PROFILE.OPTION=VALUE",
		.example = "udt.beta=1e-6",
		.help = "set an option of a profile: udt.beta=1e-6; may be given several times.\n"
			"`wavehaul profiles` lists them"},
	{IN("transfer"), .flag = "share", .stays = true, .type = WH_SETTING_SHARING,
		.words = "dedicated fair scavenger", .verbs = CLIENTS | DEMO | JOB,
		.argument = "HOW", .example = "scavenger",
		.help = "short for --set lambda.share=HOW: dedicated, the path is ours alone;\n"
			"fair, an equal share beside other flows, TCP too; scavenger, only what\n"
			"others leave"},
	{KEY("transfer", "parallel"), FIELD(parallel), .flag = "parallel", .verbs = CLIENTS | JOB,
		COUNT(1, WH_LANES_MAX), .standard = "1", .argument = "N", .example = "4",
		.help = "number of parallel sessions; files of at least 16 MiB for each are\n"
			"split over all of them"},
	{KEY("transfer", "peer_timeout"), FIELD(peer_timeout_ns), .flag = "peer-timeout",
		.verbs = MOVERS | DEMO | JOB | RPCS,
		TIME(WH_NS_PER_S, WH_PEER_TIMEOUT_MAX_S *WH_NS_PER_S), .standard = "30s",
		.argument = "TIME", .example = "30s",
		.help = "give up after this time without a packet from the peer"},
	{KEY("transfer", "stall_timeout"), FIELD(stall_timeout_ns), .flag = "stall-timeout",
		.verbs = MOVERS | DEMO | JOB | RPCS, TIME(WH_NS_PER_S, DAY_NS), .standard = "30s",
		.argument = "TIME", .example = "30s",
		.help = "give up after this time without progress"},
	{KEY("transfer", "pipe_timeout"), FIELD(pipe_timeout_ns), .flag = "pipe-timeout",
		.verbs = SERVE | TRANSFERS, TIME(WH_NS_PER_S, 30 * DAY_NS), .standard = "12h",
		.argument = "TIME", .example = "1h",
		.help = "the same as --stall-timeout, while the peer waits for a pipe"},
	{IN("transfer"), FIELD(wait_ns), .flag = "wait", .verbs = TRANSFERS, TIME(0, DAY_NS),
		.standard = "0s", .argument = "TIME", .example = "10m",
		.help = "wait for a server that is not up, at most this long"},
	{IN("transfer"), FIELD(retries), .flag = "retries", .stays = true, .verbs = TRANSFERS | JOB,
		COUNT(0, 1000), .standard = "0", .argument = "N", .example = "10",
		.help = "try again after failures that may pass. Each retry looks for a\n"
			"server that is gone, for --peer-timeout or longer: for 1s, 2s,\n"
			"4s and so on, up to 10 minutes"},
	{KEY("transfer", "fec"), FIELD(repair), .flag = "fec", .type = WH_SETTING_FEC,
		.words = "off auto", .verbs = CLIENTS | DEMO | JOB, .argument = "off|auto|K,R",
		.example = "auto, or 128,4 (K and R together at most 255, R at most K)",
		.help = "send repair packets, so that a loss costs no round trip. auto: as many\n"
			"as the measured loss requires; K,R: R for every K data packets (off;\n"
			"auto with --profile ttp)"},
	{KEY("transfer", "code"), FIELD(repair.code), .flag = "code", .type = WH_SETTING_CODE,
		.verbs = CLIENTS | DEMO | JOB, .argument = "NAME", .example = "rs, or tornado",
		.help = "code of repair packets: rs (Reed-Solomon: needs the fewest), tornado\n"
			"(XOR: cheaper where much is repaired, but needs a few more) (rs;\n"
			"tornado with --profile ttp)"},
	{KEY("transfer", "fec_target"), FIELD(repair.target), .flag = "fec-target",
		.verbs = MOVERS | DEMO | JOB, SHARE(WH_REPAIR_TARGET_MIN, WH_REPAIR_TARGET_MAX),
		.standard = WH_REPAIR_TARGET_STANDARD, .argument = "SHARE", .example = "1e-4",
		.help = "share of blocks for which the repair packets of --fec auto may be too\n"
			"few",
		.serve_help =
			"share of blocks for which repair packets may be too few, when a client\n"
			"gets files with --fec auto"},
	{KEY("transfer", "fec_ceiling"), FIELD(repair.ceiling), .flag = "fec-ceiling",
		.verbs = MOVERS | DEMO | JOB, SHARE(WH_REPAIR_CEILING_MIN, WH_REPAIR_CEILING_MAX),
		.argument = "SHARE", .example = "10%",
		.help = "largest share of repair packets among all packets sent with --fec\n"
			"auto; memory is reserved for them (0.25; 0.5 with --profile ttp)",
		.serve_help =
			"largest share of repair packets among all packets sent, when a client\n"
			"gets files with --fec auto; memory is reserved for them (0.25; 0.5 to\n"
			"a client with --profile ttp)"},
	{KEY("transfer", "strict_paper"), FIELD(repair.strict), .flag = "strict-paper", SWITCH,
		.verbs = WH_VERB_SEND | WH_VERB_BENCH | DEMO | JOB,
		.help = "never retransmit what repair packets do not bring back, as in the\n"
			"paper of ttp: the transfer fails instead"},
	{KEY("transfer", "known"), FIELD(known), .flag = "known", .type = WH_SETTING_KNOWN,
		.words = "kept none", .verbs = WH_VERB_SEND | WH_VERB_BENCH | JOB,
		.standard = "kept", .argument = "WHAT", .example = "kept, none, or 9.8G,100ms,64",
		.help = "what is known of the path at the start, for profiles that find their\n"
			"rate. kept: what --state has of it; none; or RATE,RTT[,N]: rate on the\n"
			"wire, round trip, and how many packets the path takes back to back"},
	{IN("transfer"), FIELD(known), .flag = "known", .type = WH_SETTING_KNOWN, .words = "none",
		.verbs = DEMO, .standard = "none", .argument = "WHAT",
		.example = "none, or 9.8G,100ms,64",
		.help = "what is known of the path at the start, for profiles that find their\n"
			"rate: none; or RATE,RTT[,N]: rate on the wire, round trip, and how\n"
			"many packets the path takes back to back"},
	{KEY("transfer", "state"), FIELD(state), .flag = "state", PATH,
		.verbs = SERVE | TRANSFERS | WH_VERB_BENCH | PROBE | PARTS | REPORT,
		.argument = "FOLDER", .example = "/var/lib/wavehaul",
		.help = "folder that remembers paths and partly transferred files for the next\n"
			"time; none: remember nothing (/var/lib/wavehaul for root,\n"
			"~/.local/state/wavehaul for others)",
		.serve_help = "folder of this server, and of no other: the queue of jobs, partly\n"
			      "transferred files, and what peers have moved today; none: remember\n"
			      "nothing, and have no queue (/var/lib/wavehaul for root,\n"
			      "~/.local/state/wavehaul for others)"},
	{KEY("transfer", "daemon"), FIELD(daemon), .flag = "daemon", TEXT,
		.words = "auto never always", .verbs = TRANSFERS | RPCS, .standard = "auto",
		.argument = "WHEN", .example = "auto, never or always",
		.help = "let this host's server, if it has that --port or none is named, do the\n"
			"transfer by its port, with files below its --root. auto: if one\n"
			"answers; never; or always"},
	{IN("transfer"), FIELD(on_end), .flag = "then-run", TEXT, .verbs = TRANSFERS,
		.argument = "COMMAND", .example = "'notify-send wavehaul'",
		.help = "run this program, with these words, at the end, however it came; its\n"
			"environment says what has ended"},
	{IN("transfer"), FIELD(control), .flag = "control", PATH,
		.verbs = TRANSFERS | RPCS | JOB | CONSOLE, .argument = "PATH",
		.example = "/run/wavehaul/control, or off",
		.help = "control socket of this host's server; off: none (below /run/wavehaul,\n"
			"or $XDG_RUNTIME_DIR)"},
	{KEY("transfer", "resume"), FIELD(resume), .flag = "resume", .type = WH_SETTING_RESUME,
		.verbs = SERVE | TRANSFERS | JOB, .standard = "sparse", .argument = "HOW",
		.example = "full", .words = "off attributes sparse full",
		.help = "if a part of a large file arrived earlier, transfer only the rest,\n"
			"provided that it is the same file. attributes: by size, times and\n"
			"inode; sparse: and by samples; full: by size, time and all bytes; off:\n"
			"never. The stricter setting of both ends holds",
		.serve_help =
			"if a part of a large file arrived earlier, take only the rest, as with\n"
			"send and get; off: never. The stricter setting of both ends holds"},
	{KEY("transfer", "keep_parts"), FIELD(keep_parts_ns), .flag = "keep-parts",
		.verbs = SERVE | WH_VERB_GET, TIME(0, 10 * 365 * DAY_NS), .standard = "7d",
		.argument = "TIME", .example = "30d",
		.help = "how long the part of a large file is kept for another run; 0s: it is\n"
			"removed with its job"},
	{KEY("transfer", "keep_records"), FIELD(keep_records_ns), .flag = "keep-records",
		.verbs = SERVE | TRANSFERS, TIME(0, 10 * 365 * DAY_NS), .standard = "365d",
		.argument = "TIME", .example = "30d",
		.help = "how long transfers and their outcomes are kept for wavehaul report;\n"
			"0s: they are not recorded"},
	{KEY("transfer", "recursive"), FIELD(recursive), .flag = "recursive", .letter = 'r', SWITCH,
		.verbs = TRANSFERS | JOB, .help = "take folders, too, with everything in them"},
	{IN("transfer"), FIELD(archive), .flag = "archive", .letter = 'a', SWITCH,
		.verbs = TRANSFERS | JOB,
		.help = "--recursive, and --owners and --set-ids where the receiving end can\n"
			"keep them; times, modes and links are always kept"},
	{IN("transfer"), FIELD(recursive), .flag = "recursive", .letter = 'r', SWITCH,
		.verbs = WH_VERB_LS | WH_VERB_DU | WH_VERB_RM,
		.help = "everything below folders; du: a line for each folder below"},
	{IN("transfer"), FIELD(recursive), .flag = "parents", .letter = 'p', SWITCH,
		.verbs = WH_VERB_MKDIR,
		.help = "make the folders above, too; it is no error if they exist"},
	{IN("transfer"), FIELD(pings), .flag = "count", .verbs = WH_VERB_PING, COUNT(1, 1000000),
		.standard = "10", .argument = "N", .example = "100", .help = "number of questions"},
	{IN("transfer"), FIELD(interval_ns), .flag = "interval", .verbs = WH_VERB_PING,
		TIME(0, WH_NS_PER_S), .standard = "100ms", .argument = "TIME", .example = "10ms",
		.help = "time between questions; the next one always waits for the answer"},
	{IN("choice"), .flag = "include", .stays = true, .type = WH_SETTING_PATTERN,
		WITHIN('+', '+'), .verbs = ORDERED, .argument = "PATTERN", .example = "'*.dat'",
		.help = "take files that match. Patterns are tried in the order given; the\n"
			"first that matches decides, and a file that matches none is taken. *\n"
			"and ? match anything but /, ** matches anything, [a-z] one of these. A\n"
			"pattern without / is compared with the last name of a path, one that\n"
			"begins with / with the whole path as transferred, others with its end;\n"
			"one that ends with / matches folders only"},
	{IN("choice"), .flag = "exclude", .stays = true, .type = WH_SETTING_PATTERN,
		WITHIN('-', '-'), .verbs = ORDERED, .argument = "PATTERN", .example = "'*.tmp'",
		.help = "leave out files that match, and folders with everything in them"},
	{IN("choice"), FIELD(min_bytes), .flag = "min-size", .verbs = ORDERED, SIZE(0, INT64_MAX),
		.standard = "0", .argument = "SIZE", .example = "1M",
		.help = "only files of at least this size"},
	{IN("choice"), FIELD(max_bytes), .flag = "max-size", .verbs = ORDERED, SIZE(1, INT64_MAX),
		.argument = "SIZE", .example = "10G", .help = "only files of at most this size"},
	{IN("choice"), FIELD(newer_s), .flag = "newer", .type = WH_SETTING_MOMENT, .verbs = ORDERED,
		.argument = "WHEN", .example = "2h",
		.help = "only files changed since: 90s, 15m, 2h or 7d ago; a local date and\n"
			"time, as 2026-11-22 or 2026-11-22T18:30; or @ and seconds since 1970"},
	{IN("choice"), FIELD(range_from), .flag = "offset", .verbs = ORDERED,
		SIZE(0, INT64_MAX / 2), .standard = "0", .argument = "SIZE", .example = "800M",
		.help = "of the file that goes to -, or with --join, only what is from this byte\n"
			"on"},
	{IN("choice"), FIELD(range_bytes), .flag = "length", .verbs = ORDERED,
		SIZE(1, INT64_MAX / 2), .argument = "SIZE", .example = "4K",
		.help = "and only so many bytes; only these are moved"},
	{IN("choice"), FIELD(join), .flag = "join", TEXT, .verbs = WH_VERB_SEND | WH_VERB_JOB,
		.argument = "WORD", .example = "e5b1c2d0a94f47be",
		.help = "the target keeps these bytes of the file until other sends with this\n"
			"word, from any host, have brought the rest; 16 to 32 letters and digits\n"
			"that nobody guesses"},
	{IN("choice"), FIELD(update), .flag = "update", SWITCH, .verbs = ORDERED,
		.help = "do not replace files that are newer at the target"},
	{IN("choice"), FIELD(ignore_existing), .flag = "ignore-existing", SWITCH, .verbs = ORDERED,
		.help = "do not replace any file at the target"},
	{IN("choice"), FIELD(quick_check), .flag = "quick-check", SWITCH, .verbs = ORDERED,
		.help = "take files of the same size, time and mode for the same, without\n"
			"reading them"},
	{IN("choice"), FIELD(blocks), .flag = "blocks", SWITCH, .verbs = ORDERED,
		.help = "if a large file exists at the target, send only blocks that differ"},
	{IN("choice"), FIELD(files_from), .flag = "files-from", PATH, .verbs = ORDERED,
		.argument = "FILE", .example = "list.txt",
		.help = "read names from FILE, one a line (-: from stdin); implies --relative"},
	{IN("choice"), FIELD(nul), .flag = "null", .letter = '0', SWITCH, .verbs = ORDERED,
		.help = "names in --files-from end with NUL, as from find -print0"},
	{IN("choice"), FIELD(relative), .flag = "relative", .letter = 'R', SWITCH, .verbs = ORDERED,
		.help = "keep the folders of paths as they are given, like a/b/c for a/b/c; of\n"
			"/data/./a/b/c what follows /./. Links among them are sent as links"},
	{IN("choice"), FIELD(manifest), .flag = "manifest", PATH, .verbs = ORDERED,
		.argument = "FILE", .example = "run7.md5",
		.help = "at the end, read all files here and write their checksums to FILE"},
	{IN("choice"), FIELD(expect), .flag = "expect", PATH, .verbs = ORDERED, .argument = "FILE",
		.example = "run7.md5",
		.help = "at the end, compare all files here with the checksums in FILE; exit\n"
			"status 6 if they differ"},
	{IN("choice"), FIELD(digest), .flag = "digest", .stays = true, TEXT,
		.words = "xxh3 adler32 crc32c md5", .verbs = ORDERED, .standard = "xxh3",
		.argument = "NAME", .example = "md5",
		.help = "checksum of --manifest and --expect: xxh3, adler32, crc32c or md5"},
	{IN("choice"), FIELD(dry_run), .flag = "dry-run", .letter = 'n', SWITCH, .verbs = ORDERED,
		.help = "say what would be transferred, judged by size and time; change nothing"},
	{IN("choice"), FIELD(remove), .flag = "delete", SWITCH, .verbs = ORDERED,
		.help = "when all else went well, remove from folders at the target what is not\n"
			"at the source, except what --exclude and the like leave out"},
	{IN("choice"), FIELD(remove_max), .flag = "max-delete", .verbs = ORDERED,
		COUNT(0, WH_DELETE_MAX), .standard = "1000", .argument = "N", .example = "100000",
		.help = "if --delete would remove more than N files and folders, it removes\n"
			"none"},
	{IN("choice"), FIELD(move), .flag = "move", SWITCH, .verbs = ORDERED,
		.help = "remove each file or link at the source once it is on the target's\n"
			"disk, unless it has changed"},
	{IN("choice"), FIELD(backup), .flag = "backup", SWITCH, .verbs = ORDERED,
		.help = "keep a replaced file under its name plus --suffix"},
	{IN("choice"), FIELD(suffix), .flag = "suffix", TEXT, .verbs = ORDERED, .standard = "~",
		.argument = "TEXT", .example = ".before", .help = "suffix of --backup"},
	{IN("choice"), FIELD(hard_links), .flag = "hard-links", SWITCH, .verbs = ORDERED,
		.help = "send a file with several names once, and link the names at the target"},
	{IN("choice"), FIELD(owners), .flag = "owners", SWITCH, .verbs = ORDERED,
		.help = "keep owner and group of files and folders, by number; the receiving\n"
			"end must be root, and serve needs --owners"},
	{IN("choice"), FIELD(set_ids), .flag = "set-ids", SWITCH, .verbs = ORDERED,
		.help = "keep set-user-ID and set-group-ID; serve needs --set-ids"},
	{IN("choice"), FIELD(xattrs), .flag = "xattrs", SWITCH, .verbs = ORDERED,
		.help = "keep extended attributes in the namespace user"},
	{IN("choice"), FIELD(acls), .flag = "acls", SWITCH, .verbs = ORDERED,
		.help = "keep POSIX ACLs, including default ACLs of folders"},
	{KEY("serve", "root"), FIELD(root), .flag = "root", PATH, .verbs = SERVE, .standard = ".",
		.argument = "FOLDER", .example = "/srv/wavehaul",
		.help = "peers read and write files below this folder, and nowhere else"},
	{KEY("serve", "allow"), .flag = "allow", .type = WH_SETTING_SUBNETS, .verbs = SERVE,
		.argument = "SUBNETS", .example = "192.0.2.0/24,2001:db8::/64",
		.help = "peers that may connect: 192.0.2.0/24,2001:db8::/64 (those of its own\n"
			"subnet)"},
	{KEY("serve", "sessions"), FIELD(sessions), .flag = "sessions", .verbs = SERVE,
		COUNT(1, WH_SESSIONS_MAX), .standard = "64", .argument = "N", .example = "64",
		.help = "number of sessions at once, at most"},
	{KEY("serve", "audit"), FIELD(audit), .flag = "audit", PATH, .verbs = SERVE,
		.argument = "WHERE", .example = "/var/log/wavehaul.jsonl",
		.help = "write a line of JSON for each job and each refusal to a file, or to\n"
			"syslog or journal (syslog:SOCKET, journal:SOCKET: to that socket)"},
	{KEY("serve", "on_end"), FIELD(on_end), .flag = "on-end", TEXT, .verbs = SERVE,
		.argument = "COMMAND", .example = "/usr/local/bin/arrived",
		.help = "run this program, with these words, at the end of each job of the queue\n"
			"and of each transfer of a peer; its environment says what has ended"},
	{KEY("serve", "on_end_timeout"), FIELD(on_end_timeout_ns), .flag = "on-end-timeout",
		.verbs = SERVE, TIME(WH_NS_PER_S, 86400 * WH_NS_PER_S), .standard = "60s",
		.argument = "TIME", .example = "600s", .help = "kill that program after this time"},
	{KEY("serve", "control"), FIELD(control), .flag = "control", PATH, .verbs = SERVE,
		.argument = "PATH", .example = "/run/wavehaul/control, or off",
		.help = "socket by which operators and programs of this host control the\n"
			"server; off: none (below /run/wavehaul, or $XDG_RUNTIME_DIR)"},
	{KEY("serve", "metrics"), FIELD(metrics), .flag = "metrics", TEXT, .verbs = SERVE,
		.argument = "[ADDR:]PORT", .example = "9480",
		.help = "serve /metrics for Prometheus and a status page by HTTP, on this port\n"
			"of localhost, or of another address that the kernel has (off)"},
	{KEY("queue", "jobs"), FIELD(queue_jobs), .flag = "queue-jobs", .verbs = SERVE,
		COUNT(1, QUEUE_JOBS_MAX), .standard = "4", .argument = "N", .example = "4",
		.help = "number of queued jobs that run at once, at most"},
	{KEY("queue", "peer_jobs"), FIELD(queue_peer_jobs), .flag = "queue-peer-jobs",
		.verbs = SERVE, COUNT(1, QUEUE_JOBS_MAX), .standard = "2", .argument = "N",
		.example = "2", .help = "of these with the same host, at most"},
	{IN("queue"), FIELD(timetable), .flag = "rate", .type = WH_SETTING_TEXT, .words = "max",
		.verbs = JOB, .standard = "max", .argument = "RATES", .example = "9.5G",
		.help = "upper bound, counted on the wire: 10G, or a timetable: 'weekdays\n"
			"8:00-18:00 2G, else 9.5G'"},
	{IN("queue"), FIELD(priority), .flag = "priority", .verbs = JOB, COUNT(0, 9),
		.standard = "5", .argument = "N", .example = "7",
		.help = "priority; the highest runs first"},
	{IN("queue"), FIELD(not_before), .flag = "not-before", TEXT, .verbs = JOB,
		.argument = "TIME", .example = "22:00",
		.help = "do not start before, in local time: 22:00 or 'Thu 08:00' (the next\n"
			"time), '2026-11-30 22:00'; or 90m from now"},
	{IN("queue"), FIELD(after), .flag = "after", .verbs = JOB, COUNT(0, UINT32_MAX),
		.standard = "0", .argument = "JOB", .example = "17",
		.help = "start when that job is done; fail if it fails"},
	{IN("queue"), FIELD(all), .flag = "all", SWITCH, .verbs = JOB,
		.help = "list finished jobs, too"},
	FLEET_SETTINGS,
	{IN("console"), FIELD(commands), .flag = "commands", .letter = 'c', TEXT, .verbs = CONSOLE,
		.argument = "'COMMANDS'", .example = "'show jobs; show ports'",
		.help = "run these commands, separated by ;, and end"},
	{KEY("limits", "peer_jobs"), FIELD(peer_jobs), .flag = "peer-jobs", .verbs = SERVE,
		COUNT(0, WH_SESSIONS_MAX), .standard = "0", .argument = "N", .example = "8",
		.help = "sessions that one peer may have at once, of --sessions; a peer is a\n"
			"key or, unsealed, an IPv4 address or 64 bits of an IPv6 address; 0:\n"
			"three quarters"},
	{KEY("limits", "peer_memory"), FIELD(peer_memory_bytes), .flag = "peer-memory",
		.verbs = SERVE, SIZE(0, WH_BUFFERS_MAX_BYTES), .standard = "0", .argument = "SIZE",
		.example = "256M",
		.help = "memory that one peer may use at once, of --buffers, including tables\n"
			"of its sessions and lists of names; 0: three quarters"},
	{KEY("limits", "peer_reserve"), FIELD(peer_reserve_bytes), .flag = "peer-reserve",
		.verbs = SERVE, SIZE(0, RESERVE_MAX_BYTES), .standard = "16G", .argument = "SIZE",
		.example = "100G",
		.help = "disk space reserved for files that one peer has announced and not yet\n"
			"sent; for all peers together never more than half of the free space"},
	{KEY("limits", "peer_parts"), FIELD(peer_parts_bytes), .flag = "peer-parts", .verbs = SERVE,
		SIZE(0, RESERVE_MAX_BYTES), .standard = "0", .argument = "SIZE", .example = "10T",
		.help = "disk space that partly transferred files of one peer may take, in\n"
			"10000 files at most; 0: any size"},
	{KEY("limits", "peer_openings"), FIELD(peer_openings_s), .flag = "peer-openings",
		.verbs = SERVE, COUNT(1, OPENINGS_MAX), .standard = "100", .argument = "N",
		.example = "20",
		.help = "jobs that one peer may open in a second; in a burst three times as\n"
			"many"},
	{KEY("limits", "peer_lines"), FIELD(peer_lines_s), .flag = "peer-lines", .verbs = SERVE,
		COUNT(1, LINES_MAX), .standard = "5", .argument = "N", .example = "1",
		.help = "lines of the log that one peer may cause in a second; in a burst three\n"
			"times as many, and all peers together ten times as many"},
	{KEY("limits", "job_files"), FIELD(job_files), .flag = "job-files", .verbs = SERVE,
		COUNT(0, UINT32_MAX), .standard = "0", .argument = "N", .example = "1000000",
		.help = "files, folders and links in one job, at most; 0: any number"},
	{KEY("limits", "job_bytes"), FIELD(job_bytes), .flag = "job-bytes", .verbs = SERVE,
		SIZE(0, RESERVE_MAX_BYTES), .standard = "0", .argument = "SIZE", .example = "10T",
		.help = "bytes of files in one job, at most; 0: any number"},
	{KEY("limits", "job_depth"), FIELD(job_depth), .flag = "job-depth", .verbs = SERVE,
		COUNT(0, WH_PATH_BYTES_MAX / 2), .standard = "0", .argument = "N", .example = "32",
		.help = "depth of folders in one job; anything deeper fails; 0: as deep as a\n"
			"path can be"},
	{KEY("files", "plain_names"), FIELD(plain_names), .flag = "plain-names", SWITCH,
		.verbs = SERVE | WH_VERB_GET | JOB, .help = "refuse names with control characters"},
	{KEY("files", "links_inside"), FIELD(links_inside), .flag = "links-inside", SWITCH,
		.verbs = SERVE | WH_VERB_GET | JOB,
		.help = "refuse symbolic links that lead out of the target folder; wavehaul\n"
			"itself never follows links there"},
	{KEY("files", "case_clash"), FIELD(case_clash), .flag = "case-clash", TEXT,
		.words = "auto refuse allow", .verbs = SERVE | WH_VERB_GET | JOB,
		.standard = "auto", .argument = "HOW", .example = "refuse",
		.help = "if names differ by case alone: refuse the second, or allow it; auto:\n"
			"refuse where the file system ignores case, as FAT does"},
	{KEY("files", "map_owners"), FIELD(map_owners), .flag = "map-owners", TEXT,
		.verbs = SERVE | WH_VERB_GET | JOB, .argument = "RULES",
		.example = "7=alice,*=nobody",
		.help = "map owners of files and ACL entries: sender's number=user here"},
	{KEY("files", "map_groups"), FIELD(map_groups), .flag = "map-groups", TEXT,
		.verbs = SERVE | WH_VERB_GET | JOB, .argument = "RULES", .example = "100=users",
		.help = "the same for groups"},
	{KEY("files", "owners"), FIELD(owners), .flag = "owners", SWITCH, .verbs = SERVE,
		.help = "let peers keep owners of files (send --owners)"},
	{KEY("files", "set_ids"), FIELD(set_ids), .flag = "set-ids", SWITCH, .verbs = SERVE,
		.help = "let peers keep set-user-ID and set-group-ID (send --set-ids)"},
	{KEY("guard", "user"), FIELD(user), .flag = "user", TEXT, .verbs = MOVERS | RPCS,
		.argument = "NAME", .example = "wavehaul",
		.help = "when started as root, continue as this user once the port is open (as\n"
			"called)",
		.serve_help = "when started as root, continue as this user once the port is open\n"
			      "(wavehaul, if there is such a user)"},
	{KEY("guard", "no_guard"), FIELD(no_guard), .flag = "no-guard", SWITCH,
		.verbs = MOVERS | RPCS,
		.help = "for debugging: keep all privileges and system calls"},
	{KEY("bench", "time"), FIELD(time_ns), .flag = "time", .verbs = WH_VERB_BENCH,
		TIME(WH_NS_PER_S / 10, WH_BENCH_NS_MAX), .standard = "10s", .argument = "TIME",
		.example = "10s", .help = "measure for this time"},
	{KEY("bench", "size"), FIELD(size_bytes), .flag = "size", .verbs = WH_VERB_BENCH,
		SIZE(0, WH_BENCH_BYTES_MAX), .standard = "0", .argument = "SIZE", .example = "10G",
		.help = "measure until this much has arrived, instead of --time; 0: by time"},
	{KEY("bench", "reverse"), FIELD(reverse), .flag = "reverse", SWITCH, .verbs = WH_VERB_BENCH,
		.help = "let the server send"},
	{KEY("bench", "idle"), FIELD(idle_sessions), .flag = "idle", .verbs = WH_VERB_BENCH,
		COUNT(0, WH_SESSIONS_MAX), .standard = "0", .argument = "N", .example = "1000",
		.help = "open this many more sessions, and leave them idle"},
	{KEY("probe", "train"), FIELD(train_pkts), .flag = "train", .verbs = PROBE,
		COUNT(WH_PROBER_TRAIN_MIN, WH_PROBER_TRAIN_MAX), .standard = "8192",
		.argument = "N", .example = "2048",
		.help = "number of packets in the longest train"},
	{KEY("probe", "time"), FIELD(probe_ns), .flag = "time", .verbs = PROBE,
		TIME(WH_NS_PER_S / 10, WH_ANSWERER_LIFETIME_S *WH_NS_PER_S), .standard = "20s",
		.argument = "TIME", .example = "20s", .help = "time for the whole probe, at most"},
	{KEY("probe", "rate"), FIELD(probe_bps), .flag = "rate", .type = WH_SETTING_RATE_LIMIT,
		.words = "max", .verbs = PROBE, WITHIN(WH_RATE_MIN, RATE_MAX_BPS),
		.standard = "max", .argument = "RATE", .example = "10G",
		.help = "rate of trains, counted on the wire; max: as fast as the port takes\n"
			"them"},
	{IN("probe"), FIELD(plot), .flag = "plot", PATH, .verbs = PROBE, .argument = "FILE",
		.example = "path.svg",
		.help = "draw the arrivals of the longest train into FILE, as SVG"},
	{KEY("output", "json"), FIELD(json), .flag = "json", SWITCH,
		.verbs = CLIENTS | PROBE | DEMO | SIM | PLAN | WAN | WH_VERB_PROFILES,
		.help = "print one JSON object on stdout, and nothing else"},
	{IN("output"), FIELD(plot), .flag = "plot", PATH, .verbs = CLIENTS | DEMO,
		.argument = "FILE", .example = "transfer.svg",
		.help = "draw rate, round trip, losses and what limited it over time into FILE,\n"
			"as SVG"},
	{IN("output"), FIELD(plot), .flag = "plot", PATH, .verbs = SIM, .argument = "FILE",
		.example = "flows.svg",
		.help = "draw goodput and window of each flow, queues and losses over time into\n"
			"FILE, as SVG; for a single point"},
	{IN("output"), FIELD(json), .flag = "json", SWITCH, .verbs = DOCTOR,
		.help = "one JSON object on stdout: {\"verb\", \"ok\", \"checks\": [{\"name\",\n"
			"\"verdict\": \"good\", \"info\" or \"bad\", \"text\", \"repair\"}]}, "
			"repair being\n"
			"null or the command"},
	{IN("trust"), FIELD(identity), .flag = "identity", PATH,
		.verbs = KEYGEN | TRUST | MOVERS | PROBE | RPCS, .argument = "FILE",
		.example = "/etc/wavehaul/identity.pem",
		.help = "our key and certificate, as PEM (identity.pem in /etc/wavehaul for\n"
			"root, in ~/.config/wavehaul for others, or in $WAVEHAUL_CONFIG_DIR)"},
	{IN("trust"), FIELD(trust), .flag = "trust", PATH, .verbs = TRUST | MOVERS | PROBE | RPCS,
		.argument = "FOLDER", .example = "/etc/wavehaul/trust.d",
		.help = "folder with a file NAME.conf for each trusted peer, and certificates\n"
			"of authorities in ca/ (trust.d beside identity.pem)"},
	{KEY("trust", "cipher"), FIELD(cipher), .flag = "cipher", .type = WH_SETTING_CIPHER,
		.verbs = MOVERS | PROBE | RPCS | DEMO, .argument = "NAME", .example = "aes-256-gcm",
		.words = "aes-128-gcm aes-256-gcm",
		.help = "use only this cipher: aes-128-gcm or aes-256-gcm (one that both ends\n"
			"accept, the first if possible)"},
	{IN("trust"), FIELD(keylog), .flag = "keylog", PATH, .verbs = MOVERS | PROBE | RPCS | DEMO,
		.argument = "FILE", .example = "keys.log",
		.help = "write the keys of all sessions to FILE, for the dissector; whoever has\n"
			"that file can read what they carried"},
	{KEY("trust", "unsealed"), FIELD(unsealed), .flag = "unsealed", SWITCH,
		.verbs = MOVERS | PROBE | RPCS | DEMO,
		.help = "no encryption and no authentication: anyone on the path can read and\n"
			"change everything. Both ends must ask for it"},
	{IN("trust"), FIELD(replace), .flag = "replace", SWITCH, .verbs = KEYGEN,
		.help = "replace an existing key; peers have to be told the new one"},
	{IN("trust"), FIELD(replace), .flag = "replace", SWITCH, .verbs = TRUST,
		.help = "add: replace what that name stands for, with --via at the other end,\n"
			"too"},
	{IN("trust"), FIELD(known_as), .flag = "as", TEXT, .verbs = TRUST, .argument = "NAME",
		.example = "dtn1",
		.help = "add --via: name of this end at the other end (this host's name)"},
	{IN("trust"), FIELD(via), .flag = "via", TEXT, .verbs = TRUST, .argument = "COMMAND...",
		.example = "ssh admin@dtn2",
		.help = "add: exchange keys with a host by a command that reaches it; these are\n"
			"the last words of the line: --via ssh admin@dtn2"},
	{IN("history"), FIELD(by), .flag = "by", TEXT, .verbs = REPORT,
		.words = "day peer user verb outcome transfer", .standard = "day",
		.argument = "WHAT", .example = "peer",
		.help = "add up by day, peer, user, verb or outcome; transfer: a line for each"},
	{IN("history"), FIELD(since_s), .flag = "since", .type = WH_SETTING_MOMENT, .verbs = REPORT,
		.argument = "WHEN", .example = "7d",
		.help = "transfers that ended since: 15m, 2h or 7d ago, or a local date and\n"
			"time, as 2026-11-30 or '2026-11-30 22:00'"},
	{IN("history"), FIELD(until_s), .flag = "until", .type = WH_SETTING_MOMENT, .verbs = REPORT,
		.argument = "WHEN", .example = "1d",
		.help = "transfers that ended before this time (now)"},
	{IN("output"), FIELD(plot), .flag = "plot", PATH, .verbs = REPORT, .argument = "FILE",
		.example = "month.svg", .help = "draw the sums as bars into FILE, as SVG"},
	{IN("output"), FIELD(as_csv), .flag = "csv", SWITCH, .verbs = REPORT,
		.help = "print comma-separated values on stdout"},
	{IN("output"), FIELD(json), .flag = "json", SWITCH,
		.verbs = KEYGEN | TRUST | JOB | PARTS | CONSOLE | REPORT | FLEET | RPCS,
		.help = "print one JSON object on stdout, and nothing else"},
	{IN("output"), FIELD(quiet), .flag = "quiet", .letter = 'q', SWITCH, .verbs = TRANSFERS,
		.help = "print nothing but failures"},
	{KEY("output", "json_stream"), FIELD(json_stream), .flag = "json-stream", SWITCH,
		.verbs = TRANSFERS,
		.help = "print a JSON object per line on stdout for each event"},
	{IN("output"), FIELD(pcap), .flag = "pcap", PATH, .verbs = WAN, .argument = "FILE",
		.example = "wan.pcapng",
		.help = "write the frames of both ports to FILE, as they come in and as they\n"
			"leave, as pcapng; it needs a second CPU"},
	{IN("output"), FIELD(pcap_bytes), .flag = "pcap-max", .verbs = WAN,
		SIZE(UINT64_C(64) << 10, UINT64_C(1) << 50), .standard = "1G", .argument = "SIZE",
		.example = "10G",
		.help = "largest size of that file; later frames are not written"},
	{IN("output"), FIELD(pcap_snap_bytes), .flag = "pcap-snap", .verbs = WAN,
		COUNT(64, WAN_MTU_MAX), .standard = "256", .argument = "BYTES", .example = "9100",
		.help = "bytes of each frame to write, at most"},
	{IN("output"), FIELD(json_stream), .flag = "json-stream", SWITCH, .verbs = WAN,
		.help = "print a JSON object per line on stdout: each second, each change, the\n"
			"end"},
	{IN("output"), FIELD(names), .flag = "verbose", .letter = 'v', SWITCH, .verbs = TRANSFERS,
		.help = "print the name of each file on stdout once it is done"},
	{KEY("output", "details"), FIELD(verbose), .flag = "details", SWITCH, .verbs = TRANSFERS,
		.help = "tell what memory is used for and how DPDK was started, and print a row\n"
			"a second: rate, round trip, loss and what limits"},
	{KEY("output", "verbose"), FIELD(verbose), .flag = "verbose", .letter = 'v', SWITCH,
		.verbs = (ALL & ~(enum wh_verb)TRANSFERS) | DEMO | WAN,
		.help = "tell what memory is used for and how DPDK was started"},
	{KEY("dpdk", "eal"), FIELD(eal), .flag = "eal", TEXT, .verbs = ALL | DEMO | WAN,
		.argument = "'ARGS'", .example = "--log-level=7",
		.help = "more arguments for DPDK's EAL, separated by spaces; not for port udp"},
	{IN("config"), FIELD(config), .flag = "config", PATH, .verbs = ALL, .argument = "FILE",
		.example = "site.conf",
		.help = "read settings from it; flags come after it. none: from no file.\n"
			"Without, " WH_SETTINGS_FILE " is read where it exists"},
	{IN("config"), FIELD(for_client), .flag = "for-client", SWITCH, .verbs = SERVE,
		.help = "serve the one client that has started this by ssh, by its line on\n"
			"standard input; no file is read unless --config names it"},
	{IN("config"), FIELD(print_config), .flag = "print-config", SWITCH, .verbs = ALL,
		.help = "print the settings as such a file, and end"},
};

static_assert(LENGTH(wh_settings_table) <= WH_SETTINGS_MAX, "a flag each of what was given");

const uint32_t wh_settings_count = LENGTH(wh_settings_table);
