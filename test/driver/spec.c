/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "port/interface.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port/spec";

#define LONGEST_PATH                                                                               \
	"/123456789/123456789/123456789/123456789/123456789/123456789/123456789/123456789/"        \
	"123456789/123456789/123456"

static void test_read(void)
{
	static const struct {
		const char *text;
		enum wh_port_kind kind;
		const char *ethdev;
		const char *target;
		const char *options;
	} cases[] = {
		{"0000:3b:00.0", WH_PORT_PCI, "0000:3b:00.0", "0000:3b:00.0", ""},
		{"3B:1f.7", WH_PORT_PCI, "0000:3b:1f.7", "0000:3b:1f.7", ""},
		{"10000:e1:00.0", WH_PORT_PCI, "10000:e1:00.0", "10000:e1:00.0", ""},
		{"3b:00.0,mprq_en=1", WH_PORT_PCI, "0000:3b:00.0", "0000:3b:00.0", ",mprq_en=1"},
		{"memif:/run/x.sock", WH_PORT_MEMIF, "net_memif3", "/run/x.sock", ""},
		{"memif:/run/x.sock,role=server,id=7,bsize=9216,rsize=11", WH_PORT_MEMIF,
			"net_memif3", "/run/x.sock", ",id=7,bsize=9216,rsize=11"},
		{"memif:/x,zero-copy,role=client", WH_PORT_MEMIF, "net_memif3", "/x",
			",zero-copy=yes"},
		{"memif:/x,zero-copy=yes", WH_PORT_MEMIF, "net_memif3", "/x", ",zero-copy=yes"},
		{"memif:/x,id=4294967295", WH_PORT_MEMIF, "net_memif3", "/x", ",id=4294967295"},
		{"vhost:/run/x.sock", WH_PORT_VHOST, "net_vhost3", "/run/x.sock", ""},
		{"virtio_user:/a/b@1+c-d_e", WH_PORT_VIRTIO_USER, "net_virtio_user3",
			"/a/b@1+c-d_e", ""},
		{"af_packet:enp59s0f0np0", WH_PORT_AF_PACKET, "net_af_packet3", "enp59s0f0np0", ""},
		{"af_xdp:eth0.100", WH_PORT_AF_XDP, "net_af_xdp3", "eth0.100", ""},
		{"tap:wavehaul0", WH_PORT_TAP, "net_tap3", "wavehaul0", ""},
		{"udp", WH_PORT_UDP, "udp", "udp", ""},
		{"udp:192.0.2.1", WH_PORT_UDP, "udp", "udp:192.0.2.1", ""},
		{"udp:192.0.2.1:5761", WH_PORT_UDP, "udp", "udp:192.0.2.1:5761", ""},
		{"udp:[2001:db8::1]:5761", WH_PORT_UDP, "udp", "udp:[2001:db8::1]:5761", ""},
		{"net_ring0", WH_PORT_VDEV, "net_ring0", "net_ring0", ""},
		{"net_pcap0,rx_pcap=in.pcap,tx_iface=lo", WH_PORT_VDEV, "net_pcap0",
			"net_pcap0,rx_pcap=in.pcap,tx_iface=lo", ""},
		{"net_memif_a,socket=@x", WH_PORT_MEMIF, "net_memif_a", "net_memif_a,socket=@x",
			""},
		{"net_af_xdp0,iface=eth0", WH_PORT_AF_XDP, "net_af_xdp0", "net_af_xdp0,iface=eth0",
			""},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_spec spec;
		char why[WH_PORT_WHY_BYTES] = "";

		CU_ASSERT_EQUAL(wh_port_spec_read(cases[i].text, 3, &spec, why, sizeof(why)), 0);
		CU_ASSERT_STRING_EQUAL(why, "");
		CU_ASSERT_EQUAL(spec.kind, cases[i].kind);
		CU_ASSERT_STRING_EQUAL(spec.ethdev, cases[i].ethdev);
		CU_ASSERT_STRING_EQUAL(spec.target, cases[i].target);
		CU_ASSERT_STRING_EQUAL(spec.options, cases[i].options);
		CU_ASSERT_EQUAL(spec.needs_pci, cases[i].kind == WH_PORT_PCI);
		CU_ASSERT_EQUAL(spec.verbatim, strncmp(cases[i].text, "net_", 4) == 0);
	}
}

/* What is true of a port follows from its driver, whichever way it is written. */
static void test_facts(void)
{
	static const struct {
		const char *text;
		uint16_t queues_max, mtu_max;
		bool single_file, server, by_peer, paired, mac_made_up;
	} cases[] = {
		{"3b:00.0", 16, 32000, false, false, false, false, false},
		{"memif:/x", 16, 32000, false, false, true, true, true},
		{"memif:/x,role=server", 16, 32000, false, true, true, true, true},
		{"memif:/x,zero-copy", 16, 32000, true, false, true, true, true},
		{"net_memif0,zero-copy=yes", 16, 32000, true, false, true, true, true},
		{"net_memif0,zero-copy=no", 16, 32000, false, false, true, true, true},
		{"vhost:/x", 16, 9698, true, false, true, true, true},
		{"virtio_user:/x", 16, 9698, true, false, true, true, true},
		{"net_virtio_user0,path=/x", 16, 9698, true, false, true, true, true},
		{"af_packet:a", 1, 32000, false, false, false, false, false},
		{"af_xdp:a", 1, 3400, false, false, false, false, false},
		{"tap:a", 1, 1500, false, false, false, false, true},
		{"net_ring0", 16, 32000, false, false, false, true, false},
		{"net_null0", 16, 32000, false, false, false, false, false},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_spec spec;
		char why[WH_PORT_WHY_BYTES];

		CU_ASSERT_EQUAL(wh_port_spec_read(cases[i].text, 0, &spec, why, sizeof(why)), 0);
		CU_ASSERT_EQUAL(spec.facts.queues_max, cases[i].queues_max);
		CU_ASSERT_EQUAL(spec.facts.mtu_max, cases[i].mtu_max);
		CU_ASSERT_EQUAL(spec.single_file_segments, cases[i].single_file);
		CU_ASSERT_EQUAL(spec.server, cases[i].server);
		CU_ASSERT_EQUAL(spec.facts.link_by_peer, cases[i].by_peer);
		CU_ASSERT_EQUAL(spec.facts.paired_queues, cases[i].paired);
		CU_ASSERT_EQUAL(spec.facts.mac_made_up, cases[i].mac_made_up);
	}
}

#define NO_UDP                                                                                     \
	" is no port: write udp, or udp: and an address of this host, perhaps with a UDP port: "   \
	"udp:192.0.2.1:5760, udp:[2001:db8::1]:5760"

#define NO_PORT                                                                                    \
	" is no port: write a PCI address (0000:3b:00.0), udp, memif:, vhost:, virtio_user:, "     \
	"af_packet:, af_xdp:, tap: or a DPDK device (net_..)"
#define NO_NAME(prefix)                                                                            \
	prefix " wants the name of an interface, up to 15 letters, digits and '._-@', "            \
	       "as in '" prefix ":eth0'"
#define NO_PATH(prefix)                                                                            \
	prefix " wants the path of a socket from the root on, as in '" prefix ":/run/x.sock'"

struct refusal {
	const char *text;
	const char *says;
};

static void check_refusals(const struct refusal *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct wh_port_spec spec;
		char why[WH_PORT_WHY_BYTES] = "";

		CU_ASSERT_EQUAL(
			wh_port_spec_read(cases[i].text, 0, &spec, why, sizeof(why)), -EINVAL);
		CU_ASSERT_STRING_EQUAL(why, cases[i].says);
	}
}

static void test_refused(void)
{
	static const struct refusal cases[] = {
		{"", "''" NO_PORT},
		{"udp4", "'udp4'" NO_PORT},
		{"udp:", "'udp:'" NO_UDP},
		{"udp::5760", "'udp::5760'" NO_UDP},
		{"udp:eth0", "'udp:eth0'" NO_UDP},
		{"udp:192.0.2", "'udp:192.0.2'" NO_UDP},
		{"udp:192.0.2.1:0", "'udp:192.0.2.1:0'" NO_UDP},
		{"udp:192.0.2.1:65536", "'udp:192.0.2.1:65536'" NO_UDP},
		{"udp:192.0.2.1:", "'udp:192.0.2.1:'" NO_UDP},
		{"udp:[2001:db8::1", "'udp:[2001:db8::1'" NO_UDP},
		{"udp:[]:1", "'udp:[]:1'" NO_UDP},
		{"eth0", "'eth0'" NO_PORT},
		{"memif", "'memif'" NO_PORT},
		{"Memif:/x", "'Memif:/x'" NO_PORT},
		{"3b:00.8", "'3b:00.8'" NO_PORT},
		{"3b:20.0", "'3b:20.0'" NO_PORT},
		{"3b:00", "'3b:00'" NO_PORT},
		{"3b:00.00", "'3b:00.00'" NO_PORT},
		{"3g:00.0", "'3g:00.0'" NO_PORT},
		{"000:3b:00.0", "'000:3b:00.0'" NO_PORT},
		{"123456789:3b:00.0", "'123456789:3b:00.0'" NO_PORT},
		{"-0000:3b:00.0", "'-0000:3b:00.0'" NO_PORT},
		{"0000:3b:00.0:", "'0000:3b:00.0:'" NO_PORT},
		{"memif:/run/a b", "a port is written without blanks, in ASCII: character 13 is "
				   "neither"},
		{"tap:a\033[2J", "a port is written without blanks, in ASCII: character 6 is "
				 "neither"},
		{"tap:\xc3\xa4", "a port is written without blanks, in ASCII: character 5 is "
				 "neither"},
		{"memif:", NO_PATH("memif")},
		{"vhost:x.sock", NO_PATH("vhost")},
		{"virtio_user:@x", NO_PATH("virtio_user")},
		{"memif:" LONGEST_PATH "9",
			"the path of a socket has at most 107 characters, this 108"},
		{"memif:/run/", "'/run/' is a folder: add the socket's name"},
		{"vhost:/a=b", "vhost takes letters, digits and '/._-@+' in the path of its "
			       "socket: choose another"},
		{"vhost:/a[b", "vhost takes letters, digits and '/._-@+' in the path of its "
			       "socket: choose another"},
		{"vhost:/a,client=1", "vhost takes nothing after a comma: leave out ',client=1'"},
		{"tap:a,", "tap takes nothing after a comma: leave out ','"},
		{"tap:", NO_NAME("tap")},
		{"tap:..", NO_NAME("tap")},
		{"af_packet:eth0/1", NO_NAME("af_packet")},
		{"af_packet:1234567890123456", NO_NAME("af_packet")},
		{"af_xdp:a:1", NO_NAME("af_xdp")},
		{"net_", "the name of a device is a driver's and a number, as in 'net_ring0', "
			 "not 'net_'"},
		{"net_ring;0,x", "the name of a device is a driver's and a number, as in "
				 "'net_ring0', not 'net_ring;0'"},
		{"net_456789012345678901234567890123456789012345678901234567890123",
			"the name of a device has at most 63 characters, this 64"},
	};

	check_refusals(cases, RTE_DIM(cases));
}

static void test_refused_options(void)
{
	static const struct refusal cases[] = {
		{"memif:/a,", "memif has no option '', but role, id, bsize, rsize and zero-copy"},
		{"memif:/a,b.sock", "memif has no option 'b.sock', but role, id, bsize, rsize and "
				    "zero-copy"},
		{"memif:/a,socket=b", "memif has no option 'socket', but role, id, bsize, rsize "
				      "and zero-copy"},
		{"memif:/a,role", "memif's role is 'server' or 'client', not ''"},
		{"memif:/a,role=master", "memif's role is 'server' or 'client', not 'master'"},
		{"memif:/a,id=-1", "memif's id is a number from 0 to 4294967295, not '-1'"},
		{"memif:/a,id=4294967296",
			"memif's id is a number from 0 to 4294967295, not '4294967296'"},
		{"memif:/a,bsize=63", "memif's bsize is a number from 64 to 65535, not '63'"},
		{"memif:/a,bsize=65536", "memif's bsize is a number from 64 to 65535, not '65536'"},
		{"memif:/a,rsize=0", "memif's rsize is a number from 1 to 14, not '0'"},
		{"memif:/a,rsize=15", "memif's rsize is a number from 1 to 14, not '15'"},
		{"memif:/a,rsize=1k", "memif's rsize is a number from 1 to 14, not '1k'"},
		{"memif:/a,id=1,id=1", "memif's id is given twice"},
		{"memif:/a,zero-copy=no", "memif's zero-copy takes no value: it is there, or left "
					  "out"},
		{"memif:/a,zero-copy,role=server",
			"memif's zero-copy is for the client's end: the server reads where the "
			"client keeps its packets"},
	};

	check_refusals(cases, RTE_DIM(cases));
}

/* As long as may be, and a character more; every character but what is printable. */
static void test_lengths(void)
{
	struct wh_port_spec spec;
	char why[WH_PORT_WHY_BYTES];
	char text[300];

	memset(text, 'x', sizeof(text));
	memcpy(text, "net_a,", 6);
	text[255] = '\0';
	CU_ASSERT_EQUAL(wh_port_spec_read(text, 0, &spec, why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(spec.target, text);
	text[255] = 'x';
	text[256] = '\0';
	CU_ASSERT_EQUAL(wh_port_spec_read(text, 0, &spec, why, sizeof(why)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "a port is written in at most 255 characters, not 256");

	CU_ASSERT_EQUAL(wh_port_spec_read("memif:" LONGEST_PATH, 0, &spec, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(strlen(spec.target), 107);

	for (int character = 1; character < 256; character++) {
		bool tame = character > ' ' && character < 127;

		snprintf(text, sizeof(text), "net_a,x=%c", character);
		CU_ASSERT_EQUAL(
			wh_port_spec_read(text, 0, &spec, why, sizeof(why)), tame ? 0 : -EINVAL);
	}
}

/* Reads and prepares, in that order; `argument` is wiped first. */
static int prepare(const char *text, uint16_t queues, uint16_t mtu,
	struct wh_port_argument *argument, char why[WH_PORT_WHY_BYTES])
{
	struct wh_port_spec spec;

	memset(argument, 0, sizeof(*argument));
	why[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(wh_port_spec_read(text, 0, &spec, why, WH_PORT_WHY_BYTES), 0);
	return wh_port_spec_prepare(&spec, queues, mtu, argument, why, WH_PORT_WHY_BYTES);
}

static void test_limits(void)
{
	static const struct {
		const char *text;
		uint16_t queues, mtu;
		const char *says;
	} cases[] = {
		{"memif:/tmp/x", 0, 1500,
			"port net_memif0 has 1 to 16 queues, not 0: wavehaul "
			"uses no more queues"},
		{"memif:/tmp/x", 17, 1500,
			"port net_memif0 has 1 to 16 queues, not 17: wavehaul "
			"uses no more queues"},
		{"memif:/tmp/x", 1, 32001,
			"port net_memif0 has an MTU of 1 to 32000, not 32001: "
			"wavehaul makes no larger packets"},
		{"memif:/tmp/x", 1, 0,
			"port net_memif0 has an MTU of 1 to 32000, not 0: "
			"wavehaul makes no larger packets"},
		{"tap:a", 1, 1501,
			"port net_tap0 has an MTU of 1 to 1500, not 1501: DPDK's "
			"driver takes no longer frames"},
		{"af_xdp:lo", 1, 3401,
			"port net_af_xdp0 has an MTU of 1 to 3400, not 3401: "
			"AF_XDP keeps a frame and its mbuf in one page"},
		{"af_packet:lo", 2, 1500,
			"port net_af_packet0 has 1 to 1 queues, not 2: the "
			"kernel spreads packets by a hash of its own"},
		{"vhost:/tmp/x", 1, 9699,
			"port net_vhost0 has an MTU of 1 to 9698, not 9699: "
			"virtio at the other end takes no longer frames"},
		{"net_virtio_user0,path=/x", 1, 9699,
			"port net_virtio_user0 has an MTU of 1 to 9698, not 9699: virtio takes no "
			"longer frames"},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_argument argument;
		char why[WH_PORT_WHY_BYTES];

		CU_ASSERT_EQUAL(
			prepare(cases[i].text, cases[i].queues, cases[i].mtu, &argument, why),
			-EINVAL);
		CU_ASSERT_STRING_EQUAL(why, cases[i].says);
	}
}

static void test_arguments(void)
{
	static const struct {
		const char *text;
		uint16_t queues, mtu;
		const char *option, *device;
	} cases[] = {
		{"memif:/tmp/wh_no_such,role=server", 4, 9000, "--vdev",
			"net_memif0,socket=/tmp/wh_no_such,socket-abstract=no,role=server,"
			"bsize=9216,rsize=8"},
		{"memif:/tmp/wh_no_such,bsize=4096,role=server", 4, 9000, "--vdev",
			"net_memif0,socket=/tmp/wh_no_such,socket-abstract=no,role=server,"
			"bsize=4096,rsize=8"},
		{"memif:/tmp/wh_no_such,rsize=12,role=server", 1, 1500, "--vdev",
			"net_memif0,socket=/tmp/wh_no_such,socket-abstract=no,role=server,"
			"rsize=12,bsize=1536"},
		{"memif:/wh_no_such,role=server", 1, 1500, "--vdev",
			"net_memif0,socket=/wh_no_such,socket-abstract=no,role=server,"
			"bsize=1536,rsize=10"},
		{"vhost:/tmp/wh_no_such", 4, 9000, "--vdev",
			"net_vhost0,iface=/tmp/wh_no_such,queues=4,client=0"},
		{"tap:wh0", 1, 1500, "--vdev", "net_tap0,iface=wh0"},
		{"net_null7,size=64,copy=1", 16, 32000, "--vdev", "net_null7,size=64,copy=1"},
		/* not ours to check: DPDK says what is wrong with it */
		{"net_af_packet0,iface=wh_no_such", 1, 1500, "--vdev",
			"net_af_packet0,iface=wh_no_such"},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_argument argument;
		char why[WH_PORT_WHY_BYTES];

		/* an ordinary user cannot make a socket in the root folder */
		if (strstr(cases[i].device, "=/wh_no") != NULL && geteuid() != 0)
			continue;
		CU_ASSERT_EQUAL(
			prepare(cases[i].text, cases[i].queues, cases[i].mtu, &argument, why), 0);
		CU_ASSERT_STRING_EQUAL(why, "");
		CU_ASSERT_STRING_EQUAL_FATAL(argument.option, cases[i].option);
		CU_ASSERT_STRING_EQUAL(argument.device, cases[i].device);
	}
}

/* A NIC of this machine, if there is one, and one that no machine has. */
static void test_nic(void)
{
	struct wh_port_argument argument;
	char why[WH_PORT_WHY_BYTES];

	CU_ASSERT_EQUAL(prepare("ffff:ff:1f.7", 1, 1500, &argument, why), -ENODEV);
	CU_ASSERT_STRING_EQUAL(
		why, "there is no PCI device ffff:ff:1f.7: 'lspci -D' lists what there is");
	if (access("/sys/bus/pci/devices/0000:00:00.0", F_OK) != 0)
		return;
	CU_ASSERT_EQUAL(prepare("00:00.0,mprq_en=1", 1, 9000, &argument, why), 0);
	CU_ASSERT_STRING_EQUAL(argument.option, "-a");
	CU_ASSERT_STRING_EQUAL(argument.device, "0000:00:00.0,mprq_en=1");
}

/* Who makes a socket does not find it, who goes to one does. */
static int listen_at(const struct sockaddr_un *address, int type)
{
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd, 1), 0);
	return fd;
}

static int connect_to(const struct sockaddr_un *address, int type)
{
	int fd = socket(AF_UNIX, type, 0);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	return fd;
}

/*
 * Whoever looks whether a socket is in use does not connect to it, since drivers bear no guest that
 * leaves at once; and a client that finds another one there is told.
 */
static void test_sockets_in_use(void)
{
	char folder[] = "/tmp/wh_spec_XXXXXX";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct wh_port_argument argument;
	char why[WH_PORT_WHY_BYTES];
	char text[128];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/x", folder);

	int fd = listen_at(&address, SOCK_SEQPACKET);

	snprintf(text, sizeof(text), "memif:%s/x,role=server", folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -EEXIST);
	snprintf(text, sizeof(text), "memif:%s/x", folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), 0);
	CU_ASSERT_EQUAL(accept(fd, NULL, NULL), -1);
	CU_ASSERT_EQUAL(errno, EAGAIN);

	int client = connect_to(&address, SOCK_SEQPACKET);
	int accepted = accept(fd, NULL, NULL);

	CU_ASSERT_FATAL(accepted >= 0);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "another client is connected to "));
	close(accepted);
	close(client);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), 0);
	close(fd);

	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -ECONNREFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "nobody listens at "));
	CU_ASSERT_EQUAL(unlink(address.sun_path), 0);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "/x,role=server"));
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void test_sockets(void)
{
	char folder[] = "/tmp/wh_spec_XXXXXX";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct wh_port_argument argument;
	char why[WH_PORT_WHY_BYTES];
	char text[128];
	char expected[WH_PORT_WHY_BYTES];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/x", folder);

	snprintf(text, sizeof(text), "virtio_user:%s/x", folder);
	snprintf(expected, sizeof(expected),
		"there is no %s/x for port net_virtio_user0: start its peer first, with "
		"vhost:%s/x",
		folder, folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -ENOENT);
	CU_ASSERT_STRING_EQUAL(why, expected);

	snprintf(text, sizeof(text), "memif:%s/no/x", folder);
	snprintf(expected, sizeof(expected),
		"there is no folder %s/no for the socket of port net_memif0: make it", folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -ENOENT);
	CU_ASSERT_STRING_EQUAL(why, expected);

	int fd = listen_at(&address, SOCK_STREAM);

	snprintf(text, sizeof(text), "virtio_user:%s/x", folder);
	snprintf(expected, sizeof(expected), "net_virtio_user0,path=%s/x,queues=2,queue_size=1024",
		folder);
	CU_ASSERT_EQUAL(prepare(text, 2, 1500, &argument, why), 0);
	CU_ASSERT_STRING_EQUAL(argument.device, expected);
	snprintf(text, sizeof(text), "memif:%s/x", folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(argument.device, "role=client"));

	static const char *const servers[][2] = {
		{"vhost:%s/x", "net_vhost0"},
		{"memif:%s/x,role=server", "net_memif0"},
	};

	for (size_t i = 0; i < RTE_DIM(servers); i++) {
		snprintf(text, sizeof(text), servers[i][0], folder);
		snprintf(expected, sizeof(expected),
			"port %s makes %s/x, where another program listens already: stop that, or "
			"choose another path",
			servers[i][1], folder);
		CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -EEXIST);
		CU_ASSERT_STRING_EQUAL(why, expected);
	}
	close(fd);

	/* whoever made it is gone: it is removed */
	snprintf(text, sizeof(text), "vhost:%s/x", folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), 0);
	CU_ASSERT_EQUAL(access(address.sun_path, F_OK), -1);

	/* a folder is there, and no socket */
	CU_ASSERT_EQUAL(mkdir(address.sun_path, 0700), 0);
	snprintf(text, sizeof(text), "memif:%s/x", folder);
	snprintf(expected, sizeof(expected),
		"%s/x is no socket: choose another path for port net_memif0", folder);
	CU_ASSERT_EQUAL(prepare(text, 1, 1500, &argument, why), -EEXIST);
	CU_ASSERT_STRING_EQUAL(why, expected);
	CU_ASSERT_EQUAL(rmdir(address.sun_path), 0);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void test_interfaces(void)
{
	struct wh_port_argument argument;
	char why[WH_PORT_WHY_BYTES];
	bool up = false;
	uint32_t mtu = 0;

	CU_ASSERT_EQUAL(wh_interface_mtu("wh_no_such", &mtu), -ENODEV);
	CU_ASSERT_EQUAL(prepare("af_packet:wh_no_such", 1, 1500, &argument, why), -ENODEV);
	CU_ASSERT_STRING_EQUAL(why, "there is no interface wh_no_such (No such device): "
				    "'ip link' lists what there is");
	CU_ASSERT_EQUAL(prepare("af_xdp:wh_no_such", 1, 1500, &argument, why), -ENODEV);

	CU_ASSERT_EQUAL(wh_interface_mtu("lo", &mtu), 0);
	CU_ASSERT_EQUAL(mtu, 65536);
	CU_ASSERT_EQUAL(wh_interface_is_up("lo", &up), 0);
	if (!up) {
		printf("skipped: interfaces that are up, for lo is down\n");
		return;
	}
	CU_ASSERT_EQUAL(prepare("af_packet:lo", 1, 1500, &argument, why), 0);
	CU_ASSERT_STRING_EQUAL(argument.device, "net_af_packet0,iface=lo,qpairs=1,blocksz=4096,"
						"framesz=2048,framecnt=8192");
	CU_ASSERT_EQUAL(prepare("af_packet:lo", 1, 9000, &argument, why), 0);
	CU_ASSERT_STRING_EQUAL(argument.device, "net_af_packet0,iface=lo,qpairs=1,blocksz=36864,"
						"framesz=9216,framecnt=1820");
	CU_ASSERT_EQUAL(prepare("af_xdp:lo", 1, 1500, &argument, why), -EMSGSIZE);
	CU_ASSERT_STRING_EQUAL(why, "interface lo has an MTU of 65536, AF_XDP takes up to 3506: "
				    "'ip link set lo mtu 1500'");
}

/*
 * Hand-computed: a slot holds 80 bytes of the kernel (the frame's IP header is aligned to 16
 * behind 52 + 16), the MTU and a VLAN tag; an mbuf's data room holds a slot less 32.
 */
static void test_packet_ring(void)
{
	static const struct {
		uint16_t mtu;
		uint32_t slot_bytes, block_bytes, slots;
	} cases[] = {
		{1, 2048, 4096, 8192}, {1500, 2048, 4096, 8192},
		{1964, 2048, 4096, 8192},    /* 80 + 1964 + 4 = 2048: just fits */
		{1965, 2304, 36864, 7296},   /* mbufs have room for 2336: 9 * 256, 16 to a block;
					      * 16 MiB are 7281 */
		{4012, 4096, 4096, 4096},    /* 80 + 4012 + 4 = 4096 */
		{9000, 9216, 36864, 1820},   /* 9084 in 9 * 1024 */
		{32000, 32256, 258048, 520}, /* 32084 in 63 * 512; 64 * 512 are over 32416 */
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_packet_ring ring = wh_port_packet_ring_for(cases[i].mtu, 4096);

		CU_ASSERT_EQUAL(ring.slot_bytes, cases[i].slot_bytes);
		CU_ASSERT_EQUAL(ring.block_bytes, cases[i].block_bytes);
		CU_ASSERT_EQUAL(ring.slots, cases[i].slots);
	}
	for (uint32_t page_bytes = 4096; page_bytes <= 65536; page_bytes *= 4)
		for (uint16_t mtu = 1; mtu <= WH_PORT_MTU_MAX; mtu++) {
			struct wh_port_packet_ring ring = wh_port_packet_ring_for(mtu, page_bytes);
			uint32_t room_bytes = wh_port_room_bytes(mtu) - RTE_PKTMBUF_HEADROOM;

			CU_ASSERT_FATAL(ring.slot_bytes >= 80U + mtu + 4);
			CU_ASSERT_FATAL(ring.slot_bytes - 32 <= room_bytes);
			CU_ASSERT_EQUAL_FATAL(ring.slot_bytes % 16, 0);
			CU_ASSERT_EQUAL_FATAL(ring.block_bytes % page_bytes, 0);
			CU_ASSERT_EQUAL_FATAL(ring.block_bytes % ring.slot_bytes, 0);
			CU_ASSERT_EQUAL_FATAL(ring.slots % (ring.block_bytes / ring.slot_bytes), 0);
			CU_ASSERT_FATAL(ring.slots >= 512);
		}
}

CU_TestInfo wh_tests[] = {
	{"every form is read", test_read},
	{"what is true of a port", test_facts},
	{"what is no port gets a sentence", test_refused},
	{"and so do options that are none", test_refused_options},
	{"the longest text, and every character", test_lengths},
	{"queues and MTU within what the kind has", test_limits},
	{"arguments for EAL", test_arguments},
	{"a NIC has to be there", test_nic},
	{"sockets: who makes one and who goes to one", test_sockets},
	{"sockets that are in use", test_sockets_in_use},
	{"interfaces: there, large enough, up", test_interfaces},
	{"the ring of AF_PACKET for every MTU", test_packet_ring},
	CU_TEST_INFO_NULL,
};
