/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/spec.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"
#include "port/interface.h"
#include "wire/encap.h"

/* With pages of 4 KiB the kernel's veth and most drivers accept no XDP program at a larger MTU. */
#define XDP_INTERFACE_MTU_MAX 3506

/* A virtio queue's default of 256 is 0.3 ms at 10 Gb/s; this is the largest of a split queue. */
#define VIRTIO_QUEUE_PKTS 1024

#define MEMIF_SLOT_ALIGN 256
#define MEMIF_RING_BYTES (UINT32_C(5) << 19) /* 2.5 MiB */

/* 13 ms at 10 Gb/s, per direction: longer than most absences of a receiver that shares its CPU. */
#define PACKET_RING_BYTES (UINT32_C(16) << 20)
#define PACKET_SLOTS_MIN  512

#define PROC_UNIX_CONNECTED 3 /* SS_CONNECTED of linux/net.h */

/* 3 s, after which a connected client counts as one that stays. */
#define TAKEN_LOOKS   150
#define TAKEN_LOOK_US 20000

struct preparing {
	const struct wh_port_spec *spec;
	uint16_t queues;
	uint16_t mtu;
	char *why;
	size_t why_bytes;
};

__attribute__((format(printf, 3, 4))) static int fail(
	const struct preparing *preparing, int error, const char *format, ...)
{
	va_list args;

	WH_ASSERT(error < 0);
	va_start(args, format);
	vsnprintf(preparing->why, preparing->why_bytes, format, args);
	va_end(args);
	return error;
}

static int check_limits(const struct preparing *preparing)
{
	const struct wh_port_spec *spec = preparing->spec;
	const struct wh_port_facts *facts = &spec->facts;

	if (preparing->queues == 0 || preparing->queues > facts->queues_max)
		return fail(preparing, -EINVAL, "port %s has 1 to %u queues, not %u: %s",
			spec->ethdev, facts->queues_max, preparing->queues, facts->queues_why);
	if (preparing->mtu == 0 || preparing->mtu > facts->mtu_max)
		return fail(preparing, -EINVAL, "port %s has an MTU of 1 to %u, not %u: %s",
			spec->ethdev, facts->mtu_max, preparing->mtu, facts->mtu_why);
	return 0;
}

static int check_nic(const struct preparing *preparing)
{
	const char *address = preparing->spec->target;
	char path[WH_PORT_SPEC_TEXT_MAX + 32];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", address);
	if (access(path, F_OK) != 0)
		return fail(preparing, -ENODEV,
			"there is no PCI device %s: 'lspci -D' lists what there is", address);
	return 0;
}

/*
 * Checks the socket's folder: the server creates a file in it, and memif always requires both
 * rights.
 */
static int check_folder(const struct preparing *preparing)
{
	const char *path = preparing->spec->target;
	char folder[WH_PORT_SPEC_TEXT_MAX + 1];
	int bytes = (int)(strrchr(path, '/') - path);

	snprintf(folder, sizeof(folder), "%.*s", bytes > 0 ? bytes : 1, path);
	if (access(folder, R_OK | W_OK | X_OK) == 0)
		return 0;
	if (errno == EACCES || errno == EROFS)
		return fail(preparing, -EACCES, "port %s needs the right to read and write in %s",
			preparing->spec->ethdev, folder);
	return fail(preparing, -ENOENT, "there is no folder %s for the socket of port %s: make it",
		folder, preparing->spec->ethdev);
}

/*
 * A killed process leaves its socket behind. Checked with a socket of another type, which the
 * kernel compares before the listener notices anything: drivers do not expect a client that
 * connects and leaves.
 */
static bool is_left_behind(const struct wh_port_spec *spec)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	WH_ASSERT(strlen(spec->target) < sizeof(address.sun_path)); /* checked when it was read */
	memcpy(address.sun_path, spec->target, strlen(spec->target));

	bool refused = connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
		       errno == ECONNREFUSED;

	close(fd);
	return refused;
}

/* A line of /proc/net/unix: a connection that was accepted at that path. */
static bool is_connection_at(const char *line, const char *path)
{
	unsigned int flags, state;
	int at = 0;

	return sscanf(line, "%*s %*x %*x %x %*x %x %*u %n", &flags, &state, &at) == 2 && at > 0 &&
	       flags == 0 && state == PROC_UNIX_CONNECTED &&
	       strncmp(line + at, path, strlen(path)) == 0 && line[at + strlen(path)] == '\n';
}

static bool has_client(const struct wh_port_spec *spec)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[512];
	bool found = false;

	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = is_connection_at(line, spec->target);
	fclose(file);
	return found;
}

/*
 * Whether a client stays connected. One that has just ended is not released before the server's
 * next turn.
 */
static bool stays_taken(const struct wh_port_spec *spec)
{
	uint32_t looks = 0;

	while (has_client(spec)) {
		if (++looks == TAKEN_LOOKS)
			return true;
		usleep(TAKEN_LOOK_US);
	}
	return false;
}

static int check_as_client(const struct preparing *preparing, bool there)
{
	const struct wh_port_spec *spec = preparing->spec;
	bool memif = spec->kind == WH_PORT_MEMIF;

	if (!there || is_left_behind(spec))
		return fail(preparing, there ? -ECONNREFUSED : -ENOENT,
			"%s %s for port %s: start its peer first, with %s%s%s",
			there ? "nobody listens at" : "there is no", spec->target, spec->ethdev,
			memif ? "memif:" : "vhost:", spec->target, memif ? ",role=server" : "");
	if (stays_taken(spec))
		return fail(preparing, -EBUSY,
			"another client is connected to %s, which takes one at a time: wait for "
			"its end, or start another server with a socket of its own",
			spec->target);
	return 0;
}

static int check_socket(const struct preparing *preparing)
{
	const struct wh_port_spec *spec = preparing->spec;
	bool makes_socket = spec->kind == WH_PORT_VHOST || spec->server;
	struct stat found;
	bool there = stat(spec->target, &found) == 0;
	int error = check_folder(preparing);

	if (error != 0)
		return error;
	if (there && !S_ISSOCK(found.st_mode))
		return fail(preparing, -EEXIST, "%s is no socket: choose another path for port %s",
			spec->target, spec->ethdev);
	if (!makes_socket)
		return check_as_client(preparing, there);
	if (there && !(is_left_behind(spec) && unlink(spec->target) == 0))
		return fail(preparing, -EEXIST,
			"port %s makes %s, where another program listens already: stop that, or "
			"choose another path",
			spec->ethdev, spec->target);
	return 0;
}

/* Capabilities of this process, by the numbers of capabilities(7). */
static bool has_capability(uint32_t number)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &head, data) != 0 ||
	       (data[number / 32].effective >> number % 32 & 1) != 0;
}

/* The messages of a driver that lacks a capability are hard to understand. */
static int check_rights(const struct preparing *preparing)
{
	static const struct {
		uint32_t number;
		const char *name;
	} wanted[] = {{CAP_NET_RAW, "CAP_NET_RAW"}, {CAP_NET_ADMIN, "CAP_NET_ADMIN"}};
	const struct wh_port_spec *spec = preparing->spec;
	bool needs[RTE_DIM(wanted)] = {
		spec->kind == WH_PORT_AF_PACKET || spec->kind == WH_PORT_AF_XDP,
		spec->kind == WH_PORT_TAP || spec->kind == WH_PORT_AF_XDP,
	};

	for (size_t i = 0; i < RTE_DIM(wanted); i++)
		if (needs[i] && !has_capability(wanted[i].number))
			return fail(preparing, -EPERM,
				"port %s needs the right %s, which user %u has not: start wavehaul "
				"as root, or with that capability",
				spec->ethdev, wanted[i].name, (unsigned int)geteuid());
	return 0;
}

static int check_interface(const struct preparing *preparing)
{
	const char *name = preparing->spec->target;
	uint32_t mtu = 0;
	bool up = false;
	int error = wh_interface_mtu(name, &mtu);

	if (error == 0)
		error = wh_interface_is_up(name, &up);
	if (error != 0)
		return fail(preparing, error,
			"there is no interface %s (%s): 'ip link' lists what there is", name,
			strerror(-error));
	if (mtu < preparing->mtu)
		return fail(preparing, -EMSGSIZE,
			"interface %s has an MTU of %u, port %s is to have %u: "
			"'ip link set %s mtu %u'",
			name, mtu, preparing->spec->ethdev, preparing->mtu, name, preparing->mtu);
	if (!up)
		return fail(preparing, -ENETDOWN, "interface %s is down: 'ip link set %s up'", name,
			name);
	return 0;
}

static int check_xdp(const struct preparing *preparing)
{
	const char *name = preparing->spec->target;
	uint32_t mtu = 0;
	uint32_t queues = 1;
	int error = check_interface(preparing);

	if (error != 0)
		return error;
	if (wh_interface_mtu(name, &mtu) == 0 && mtu > XDP_INTERFACE_MTU_MAX)
		return fail(preparing, -EMSGSIZE,
			"interface %s has an MTU of %u, AF_XDP takes up to %u: "
			"'ip link set %s mtu %u'",
			name, mtu, XDP_INTERFACE_MTU_MAX, name, preparing->mtu);
	if (wh_interface_queues(name, &queues) == 0 && queues > 1)
		return fail(preparing, -EINVAL,
			"interface %s spreads packets over %u queues, of which port %s would see "
			"one: 'ethtool -L %s combined 1'",
			name, queues, preparing->spec->ethdev, name);
	return 0;
}

static int check_machine(const struct preparing *preparing)
{
	if (preparing->spec->verbatim)
		return 0;

	int error = check_rights(preparing);

	if (error != 0)
		return error;
	switch (preparing->spec->kind) {
	case WH_PORT_PCI:
		return check_nic(preparing);
	case WH_PORT_MEMIF:
	case WH_PORT_VHOST:
	case WH_PORT_VIRTIO_USER:
		return check_socket(preparing);
	case WH_PORT_AF_PACKET:
		return check_interface(preparing);
	case WH_PORT_AF_XDP:
		return check_xdp(preparing);
	default:
		return 0;
	}
}

/*
 * The kernel puts a frame at TPACKET_ALIGN(TPACKET2_HDRLEN + 16) less the Ethernet header, so that
 * the IP header is aligned. The coarsest slot for which mbufs still have room makes the smallest
 * blocks: the kernel needs each in one piece of memory.
 */
struct wh_port_packet_ring wh_port_packet_ring_for(uint16_t mtu, uint32_t page_bytes)
{
	uint32_t head_bytes = TPACKET_ALIGN(TPACKET2_HDRLEN + 16);
	uint32_t least_bytes = head_bytes + mtu + WH_VLAN_BYTES;
	uint32_t most_bytes = wh_port_room_bytes(mtu) - RTE_PKTMBUF_HEADROOM +
			      (uint32_t)(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll));
	uint32_t unit_bytes = page_bytes;

	while (unit_bytes > TPACKET_ALIGNMENT &&
		RTE_ALIGN_CEIL(least_bytes, unit_bytes) > most_bytes)
		unit_bytes /= 2;

	uint32_t slot_bytes = RTE_ALIGN_CEIL(least_bytes, unit_bytes);
	uint32_t in_block = page_bytes / unit_bytes;
	uint32_t slots = RTE_MAX(PACKET_RING_BYTES / slot_bytes, (uint32_t)PACKET_SLOTS_MIN);

	WH_ASSERT(slot_bytes <= most_bytes);
	return (struct wh_port_packet_ring){
		.slot_bytes = slot_bytes,
		.block_bytes = slot_bytes * in_block,
		.slots = RTE_ALIGN_MUL_CEIL(slots, in_block),
	};
}

/*
 * A slot for a whole frame. Frames may take several, but under load DPDK 22.11's driver then loses
 * parts of them: one in a few hundred of 9000 bytes arrived in pieces that did not belong together.
 */
static uint32_t memif_slot_bytes(const struct preparing *preparing)
{
	return RTE_ALIGN_CEIL(
		(uint32_t)preparing->mtu + WH_ETHER_BYTES + WH_VLAN_BYTES, MEMIF_SLOT_ALIGN);
}

/*
 * As many slots as caches near a core hold: with 2^10 of 9 KiB each frame comes from farther away.
 */
static uint32_t memif_slots_log2(const struct preparing *preparing)
{
	return rte_log2_u32(MEMIF_RING_BYTES / memif_slot_bytes(preparing) + 1) - 1;
}

/* Writes the device's argument. Returns what snprintf does. */
static int word_device(const struct preparing *preparing, char *to, size_t room)
{
	const struct wh_port_spec *spec = preparing->spec;
	const char *name = spec->ethdev;
	const char *target = spec->target;

	if (spec->verbatim)
		return snprintf(to, room, "%s", target);
	switch (spec->kind) {
	case WH_PORT_MEMIF: {
		char bsize[24] = "";
		char rsize[24] = "";

		if (strstr(spec->options, ",bsize=") == NULL)
			snprintf(bsize, sizeof(bsize), ",bsize=%u", memif_slot_bytes(preparing));
		if (strstr(spec->options, ",rsize=") == NULL)
			snprintf(rsize, sizeof(rsize), ",rsize=%u", memif_slots_log2(preparing));
		return snprintf(to, room, "%s,socket=%s,socket-abstract=no,role=%s%s%s%s", name,
			target, spec->server ? "server" : "client", spec->options, bsize, rsize);
	}
	case WH_PORT_VHOST:
		return snprintf(to, room, "%s,iface=%s,queues=%u,client=0", name, target,
			preparing->queues);
	case WH_PORT_VIRTIO_USER:
		return snprintf(to, room, "%s,path=%s,queues=%u,queue_size=%u", name, target,
			preparing->queues, VIRTIO_QUEUE_PKTS);
	case WH_PORT_AF_PACKET: {
		struct wh_port_packet_ring ring =
			wh_port_packet_ring_for(preparing->mtu, (uint32_t)sysconf(_SC_PAGESIZE));

		return snprintf(to, room, "%s,iface=%s,qpairs=%u,blocksz=%u,framesz=%u,framecnt=%u",
			name, target, preparing->queues, ring.block_bytes, ring.slot_bytes,
			ring.slots);
	}
	case WH_PORT_AF_XDP:
		return snprintf(to, room, "%s,iface=%s,start_queue=0,queue_count=%u", name, target,
			preparing->queues);
	case WH_PORT_TAP:
		return snprintf(to, room, "%s,iface=%s", name, target);
	default:
		return snprintf(to, room, "%s%s", target, spec->options);
	}
}

int wh_port_spec_prepare(const struct wh_port_spec *spec, uint16_t queues, uint16_t mtu,
	struct wh_port_argument *argument, char *why, size_t why_bytes)
{
	struct preparing preparing = {
		.spec = spec, .queues = queues, .mtu = mtu, .why = why, .why_bytes = why_bytes};
	int error = check_limits(&preparing);

	if (error == 0)
		error = check_machine(&preparing);
	if (error != 0)
		return error;
	if (spec->kind == WH_PORT_UDP) {
		argument->option = NULL;
		return 0;
	}

	int bytes = word_device(&preparing, argument->device, sizeof(argument->device));

	WH_ASSERT(bytes > 0 && (size_t)bytes < sizeof(argument->device));
	argument->option = spec->kind == WH_PORT_PCI ? "-a" : "--vdev";
	argument->driver_file = spec->facts.driver_file;
	return 0;
}
