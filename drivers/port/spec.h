/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The value of --port, and the arguments with which DPDK then creates the port:
 *
 *   0000:3b:00.0[,KEY=VALUE..]  a NIC; 3b:00.0 is in domain 0000. The options are its driver's
 *   memif:/run/x.sock[,role=server|client][,id=0][,bsize=BYTES][,rsize=N][,zero-copy]
 *                               shared memory with another process that has the same id; one
 *                               end must be the server, the default is client. bsize bytes
 *                               (default: a frame of the MTU) in each of 2^rsize slots (default:
 *                               up to 2.5 MiB in all).
 *                               zero-copy is for the client only, and needs hugepages
 *   vhost:/run/x.sock           creates the socket and waits for a virtio_user, or a VM
 *   virtio_user:/run/x.sock     connects to a vhost, which must exist before
 *   af_packet:IFACE             shares the interface with the kernel
 *   af_xdp:IFACE                shares the interface too, but is faster; MTU up to 3400
 *   tap:NAME                    a new interface of the kernel
 *   udp[:ADDRESS[:PORT]]        no device: UDP sockets of the kernel, for any user account. By
 *                               default those of this host's main addresses; an IPv6 address with a
 *                               port is in brackets, udp:[2001:db8::1]:5760
 *   net_DRIVER..[,KEY=VALUE..]  any other virtual device, as for DPDK's --vdev
 *
 * Only wh_port_spec_prepare queries the machine. Neither needs the EAL, which is started with the
 * result.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/port.h"
#include "wire/encap.h"

#define WH_PORT_SPEC_TEXT_MAX       255
#define WH_PORT_SPEC_NAME_BYTES     64
#define WH_PORT_SPEC_ARGUMENT_BYTES 512

enum wh_port_kind {
	WH_PORT_PCI = 0,
	WH_PORT_MEMIF,
	WH_PORT_VHOST,
	WH_PORT_VIRTIO_USER,
	WH_PORT_AF_PACKET,
	WH_PORT_AF_XDP,
	WH_PORT_TAP,
	WH_PORT_UDP,  /* udp/udp.h: no ethdev, and nothing for EAL to create */
	WH_PORT_VDEV, /* any other driver */
	WH_PORT_KINDS,
};

/* Properties of every port of a kind. */
struct wh_port_facts {
	uint16_t queues_max;
	const char *queues_why; /* why no more */
	uint16_t mtu_max;
	const char *mtu_why;
	bool link_by_peer;       /* the link is down until another process is connected */
	bool paired_queues;      /* what is sent on queue q arrives on the peer's queue q */
	bool mac_made_up;        /* chosen anew at each start, by the driver */
	bool emulated;           /* an end of a link emulated by this process, which sets the MTU */
	const char *driver_file; /* as wh_eal_driver_path has it; NULL: not known */
};

struct wh_port_spec {
	enum wh_port_kind kind;
	bool verbatim;              /* net_..: the device exactly as the operator wrote it */
	bool server;                /* memif */
	bool needs_pci;             /* EAL must not be told --no-pci */
	bool physical;              /* a NIC takes addresses of no IOMMU: set by the program */
	bool single_file_segments;  /* --single-file-segments, where there are hugepages */
	int node;                   /* NUMA node of its NIC, by the program; -1: unknown */
	struct wh_port_facts facts; /* of the kind */
	struct wh_address local; /* udp; family 0: the host's main addresses, port 0: not given */
	char ethdev[WH_PORT_SPEC_NAME_BYTES];    /* for wh_port_find, once the EAL has started */
	char target[WH_PORT_SPEC_TEXT_MAX + 1];  /* PCI address, path, interface, or the device */
	char options[WH_PORT_SPEC_TEXT_MAX + 1]; /* of the device, each preceded by a comma */
};

/*
 * Two arguments for EAL: "--vdev" or "-a", and a device; option NULL: none, for udp. And the file
 * of its driver, or NULL.
 */
struct wh_port_argument {
	const char *option;
	const char *driver_file;
	char device[WH_PORT_SPEC_ARGUMENT_BYTES];
};

/*
 * Parses the text. `number` distinguishes virtual devices of one process (net_memif0, net_memif1).
 * 0; or -EINVAL, and in `why` (WH_PORT_WHY_BYTES are enough) one sentence that says what would be
 * right.
 */
int wh_port_spec_read(
	const char *text, uint16_t number, struct wh_port_spec *spec, char *why, size_t why_bytes);

/*
 * Checks that this machine has what the port needs, and writes the argument for that many queues
 * and that MTU. 0; or a negative errno and one sentence: -EINVAL where the kind of port cannot have
 * them, -ENODEV, -ENOENT, -EEXIST, -EACCES, -EPERM, -EBUSY, -ECONNREFUSED, -ENETDOWN or -EMSGSIZE
 * where the machine is not ready. Waits up to 3 s for a memif or vhost socket that another client
 * holds.
 */
int wh_port_spec_prepare(const struct wh_port_spec *spec, uint16_t queues, uint16_t mtu,
	struct wh_port_argument *argument, char *why, size_t why_bytes);

/* Whether its driver connects to a peer that listens and may have restarted: port/rejoin.h. */
static inline bool wh_port_rejoins(const struct wh_port_spec *spec)
{
	return spec->kind == WH_PORT_MEMIF && !spec->verbatim && !spec->server;
}

/*
 * Slots of AF_PACKET's ring for an MTU (packet(7), TPACKET_V2): each holds a frame after the
 * kernel's header, whole slots fill a block, whole pages make a block, and an mbuf's room of
 * wh_port_room_bytes is as large as a slot, as the driver requires.
 */
struct wh_port_packet_ring {
	uint32_t slot_bytes;
	uint32_t block_bytes;
	uint32_t slots;
};

struct wh_port_packet_ring wh_port_packet_ring_for(uint16_t mtu, uint32_t page_bytes);
