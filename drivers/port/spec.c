/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/spec.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "base/units.h"
#include "port/steer.h"

static_assert(WH_PORT_SPEC_NAME_BYTES == RTE_ETH_NAME_MAX_LEN, "names of ethdevs");

/* VIRTIO_MAX_RX_PKTLEN 9728, less Ethernet header, VLAN tag and virtio's own header of 12. */
#define VIRTIO_MTU_MAX 9698

#define OUR_QUEUES .queues_max = WH_PORT_QUEUES_MAX, .queues_why = "wavehaul uses no more queues"
#define ONE_QUEUE  .queues_max = 1, .queues_why = "the kernel spreads packets by a hash of its own"
#define OUR_MTU    .mtu_max = WH_PORT_MTU_MAX, .mtu_why = "wavehaul makes no larger packets"

struct kind {
	const char *prefix; /* as operators write it, before ':'; NULL: no prefix */
	const char *driver; /* a device's name begins with it */
	struct wh_port_facts facts;
};

static const struct kind kinds[WH_PORT_KINDS] = {
	[WH_PORT_PCI] = {NULL, NULL, {OUR_QUEUES, OUR_MTU}},
	[WH_PORT_MEMIF] = {"memif", "net_memif",
		{OUR_QUEUES, OUR_MTU, .link_by_peer = true, .mac_made_up = true,
			.driver_file = "net_memif"}},
	[WH_PORT_VHOST] = {"vhost", "net_vhost",
		{OUR_QUEUES, .mtu_max = VIRTIO_MTU_MAX,
			.mtu_why = "virtio at the other end takes no longer frames",
			.link_by_peer = true, .mac_made_up = true, .driver_file = "net_vhost"}},
	[WH_PORT_VIRTIO_USER] = {"virtio_user", "net_virtio_user",
		{OUR_QUEUES, .mtu_max = VIRTIO_MTU_MAX, .mtu_why = "virtio takes no longer frames",
			.link_by_peer = true, .mac_made_up = true, .driver_file = "net_virtio"}},
	[WH_PORT_AF_PACKET] = {"af_packet", "net_af_packet",
		{ONE_QUEUE, OUR_MTU, .driver_file = "net_af_packet"}},
	[WH_PORT_AF_XDP] = {"af_xdp", "net_af_xdp",
		{ONE_QUEUE, .mtu_max = 3400,
			.mtu_why = "AF_XDP keeps a frame and its mbuf in one page",
			.driver_file = "net_af_xdp"}},
	[WH_PORT_TAP] = {"tap", "net_tap",
		{ONE_QUEUE, .mtu_max = 1500, .mtu_why = "DPDK's driver takes no longer frames",
			.mac_made_up = true, .driver_file = "net_tap"}},
	[WH_PORT_UDP] = {"udp", NULL, {OUR_QUEUES, OUR_MTU}},
	[WH_PORT_VDEV] = {NULL, "net_", {OUR_QUEUES, OUR_MTU}},
};

struct reading {
	struct wh_port_spec *spec;
	uint16_t number;
	char *why;
	size_t why_bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(
	const struct reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reading->why, reading->why_bytes, format, args);
	va_end(args);
	return -EINVAL;
}

/* Whether text has no character with a special meaning to DPDK, a shell or a terminal. */
static bool is_tame(const char *text, const char *also)
{
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr(also, *text) == NULL)
			return false;
	return true;
}

/* Parts fit if the whole fits, whose length was checked first. */
static void put(char *to, size_t room, const char *from, size_t bytes)
{
	WH_ASSERT(bytes < room);
	memcpy(to, from, bytes);
	to[bytes] = '\0';
}

static void append_option(struct wh_port_spec *spec, const char *name, const char *value)
{
	size_t used = strlen(spec->options);
	int more =
		snprintf(spec->options + used, sizeof(spec->options) - used, ",%s=%s", name, value);

	WH_ASSERT(more > 0 && (size_t)more < sizeof(spec->options) - used);
}

/* "DOMAIN:BUS:DEVICE.FUNCTION" or without the domain, written out in `full`. */
static bool read_pci(const char *text, char *full, size_t room)
{
	static const char form[] = "hh:hh.h";
	const char *first = strchr(text, ':');
	const char *short_form = text;
	uint64_t domain = 0;
	uint64_t bus = 0;
	uint64_t device = 0;
	uint64_t function = 0;

	if (first != NULL && strchr(first + 1, ':') != NULL) {
		size_t digits = (size_t)(first - text);

		if (digits < 4 || digits > 8 || strspn(text, "0123456789abcdefABCDEF") != digits)
			return false;
		wh_scan_hex(text, &domain);
		short_form = first + 1;
	}
	if (strlen(short_form) != strlen(form))
		return false;
	for (size_t i = 0; form[i] != '\0'; i++)
		if (form[i] == 'h' ? !isxdigit((unsigned char)short_form[i])
				   : short_form[i] != form[i])
			return false;

	wh_scan_hex(short_form, &bus);
	wh_scan_hex(short_form + 3, &device);
	wh_scan_hex(short_form + 6, &function);
	snprintf(full, room, "%04" PRIx64 ":%02" PRIx64 ":%02" PRIx64 ".%" PRIx64, domain, bus,
		device, function);
	return device < 32 && function < 8;
}

/* A decimal number and nothing else. */
static bool is_number(const char *text, uint64_t least, uint64_t most)
{
	uint64_t number;

	return wh_parse_count(text, &number) == 0 && number >= least && number <= most;
}

enum memif_key {
	MEMIF_ROLE = 0,
	MEMIF_ID,
	MEMIF_BSIZE,
	MEMIF_RSIZE,
	MEMIF_ZERO_COPY,
	MEMIF_KEYS,
};

static const struct {
	const char *name;
	uint64_t least; /* of a number */
	uint64_t most;
} memif_keys[MEMIF_KEYS] = {
	[MEMIF_ROLE] = {"role", 0, 0},
	[MEMIF_ID] = {"id", 0, UINT32_MAX},
	[MEMIF_BSIZE] = {"bsize", 64, UINT16_MAX},
	[MEMIF_RSIZE] = {"rsize", 1, 14},
	[MEMIF_ZERO_COPY] = {"zero-copy", 0, 0},
};

static enum memif_key find_memif_key(const char *name)
{
	enum memif_key key = 0;

	while (key < MEMIF_KEYS && strcmp(memif_keys[key].name, name) != 0)
		key++;
	return key;
}

static int read_memif_value(const struct reading *reading, enum memif_key key, const char *value)
{
	struct wh_port_spec *spec = reading->spec;
	uint64_t least = memif_keys[key].least;
	uint64_t most = memif_keys[key].most;

	if (key == MEMIF_ROLE) {
		spec->server = strcmp(value, "server") == 0;
		if (!spec->server && strcmp(value, "client") != 0)
			return refuse(reading, "memif's role is 'server' or 'client', not '%.40s'",
				value);
		return 0;
	}
	if (key == MEMIF_ZERO_COPY) {
		spec->single_file_segments = true;
		if (strcmp(value, "") != 0 && strcmp(value, "yes") != 0)
			return refuse(reading, "memif's zero-copy takes no value: it is there, "
					       "or left out");
		append_option(spec, memif_keys[key].name, "yes");
		return 0;
	}
	if (!is_number(value, least, most))
		return refuse(reading,
			"memif's %s is a number from %" PRIu64 " to %" PRIu64 ", not '%.40s'",
			memif_keys[key].name, least, most, value);
	append_option(spec, memif_keys[key].name, value);
	return 0;
}

/* "key=value,key=value", the part behind the first comma. */
static int read_memif_options(const struct reading *reading, const char *text)
{
	char copy[WH_PORT_SPEC_TEXT_MAX + 1];
	char *rest = copy;
	uint32_t seen = 0;

	put(copy, sizeof(copy), text, strlen(text));
	for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
		char *value = name + strcspn(name, "=");

		if (*value == '=')
			*value++ = '\0';

		enum memif_key key = find_memif_key(name);

		if (key == MEMIF_KEYS)
			return refuse(reading,
				"memif has no option '%.40s', but role, id, bsize, "
				"rsize and zero-copy",
				name);
		if ((seen & (1U << key)) != 0)
			return refuse(reading, "memif's %s is given twice", name);
		seen |= 1U << key;

		int error = read_memif_value(reading, key, value);

		if (error != 0)
			return error;
	}
	if (reading->spec->server && (seen & (1U << MEMIF_ZERO_COPY)) != 0)
		return refuse(reading, "memif's zero-copy is for the client's end: "
				       "the server reads where the client keeps its packets");
	return 0;
}

/* The path of a Unix socket. */
static int read_path(const struct reading *reading, const char *prefix, const char *path)
{
	const size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;

	if (path[0] != '/')
		return refuse(reading,
			"%s wants the path of a socket from the root on, "
			"as in '%s:/run/x.sock'",
			prefix, prefix);
	if (strlen(path) > most)
		return refuse(reading, "the path of a socket has at most %zu characters, this %zu",
			most, strlen(path));
	if (!is_tame(path, "/._-@+"))
		return refuse(reading,
			"%s takes letters, digits and '/._-@+' in the path of its "
			"socket: choose another",
			prefix);
	if (path[strlen(path) - 1] == '/')
		return refuse(reading, "'%s' is a folder: add the socket's name", path);
	return 0;
}

static int read_interface(const struct reading *reading, const char *prefix, const char *name)
{
	if (name[0] == '\0' || strlen(name) >= IF_NAMESIZE || !is_tame(name, "._-@") ||
		strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return refuse(reading,
			"%s wants the name of an interface, up to %d letters, digits and '._-@', "
			"as in '%s:eth0'",
			prefix, IF_NAMESIZE - 1, prefix);
	return 0;
}

/* The part of the text before the port; *port: the part behind it, NULL: none. */
static size_t split_address(const char *text, const char **port)
{
	const char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *colon = strchr(bracket != NULL ? bracket : text, ':');
	bool several = colon != NULL && strchr(colon + 1, ':') != NULL;

	*port = colon != NULL && !several ? colon + 1 : NULL;
	return *port != NULL ? (size_t)(colon - text) : strlen(text);
}

static bool read_address(const char *text, struct wh_address *address)
{
	char copy[INET6_ADDRSTRLEN + 2];
	const char *port;
	size_t bytes = split_address(text, &port);
	bool bracketed = text[0] == '[';
	uint64_t number = 0;

	if (bytes >= sizeof(copy) || bytes < 2 || (bracketed && text[bytes - 1] != ']'))
		return false;
	put(copy, sizeof(copy), text + bracketed, bytes - 2 * bracketed);
	address->family = strchr(copy, ':') != NULL ? WH_IPV6 : WH_IPV4;
	if (port != NULL && (!is_number(port, 1, UINT16_MAX) || wh_parse_count(port, &number) != 0))
		return false;
	address->port = (uint16_t)number;
	return inet_pton(address->family == WH_IPV6 ? AF_INET6 : AF_INET, copy, address->ip) == 1;
}

/* "udp" or "udp:ADDRESS" or "udp:ADDRESS:PORT" */
static int read_udp(const struct reading *reading, const char *text)
{
	struct wh_port_spec *spec = reading->spec;
	const char *address = text + strlen(kinds[WH_PORT_UDP].prefix);

	spec->kind = WH_PORT_UDP;
	spec->facts = kinds[WH_PORT_UDP].facts;
	spec->facts.paired_queues = true;
	put(spec->ethdev, sizeof(spec->ethdev), "udp", 3);
	put(spec->target, sizeof(spec->target), text, strlen(text));
	if (*address != '\0' && !read_address(address + 1, &spec->local))
		return refuse(reading,
			"'%.60s' is no port: write udp, or udp: and an address of this host, "
			"perhaps with a UDP port: udp:192.0.2.1:5760, udp:[2001:db8::1]:5760",
			text);
	return 0;
}

static bool is_udp(const char *text)
{
	size_t bytes = strlen(kinds[WH_PORT_UDP].prefix);

	return strncmp(text, kinds[WH_PORT_UDP].prefix, bytes) == 0 &&
	       (text[bytes] == '\0' || text[bytes] == ':');
}

static const char *target_end(const char *text)
{
	return text + strcspn(text, ",");
}

/* "prefix:target[,options]" */
static int read_kind(const struct reading *reading, enum wh_port_kind kind, const char *prefix,
	const char *target)
{
	struct wh_port_spec *spec = reading->spec;
	const char *options = target_end(target);
	bool is_socket =
		kind == WH_PORT_MEMIF || kind == WH_PORT_VHOST || kind == WH_PORT_VIRTIO_USER;

	spec->kind = kind;
	spec->facts = kinds[kind].facts;
	spec->single_file_segments = kind == WH_PORT_VHOST || kind == WH_PORT_VIRTIO_USER;
	put(spec->target, sizeof(spec->target), target, (size_t)(options - target));
	snprintf(spec->ethdev, sizeof(spec->ethdev), "%s%u", kinds[kind].driver, reading->number);
	spec->facts.paired_queues = wh_steer_is_paired(spec->ethdev);

	int error = is_socket ? read_path(reading, prefix, spec->target)
			      : read_interface(reading, prefix, spec->target);

	if (error != 0 || *options == '\0')
		return error;
	if (kind != WH_PORT_MEMIF)
		return refuse(reading, "%s takes nothing after a comma: leave out '%.40s'", prefix,
			options);
	return read_memif_options(reading, options + 1);
}

/*
 * "net_..": finds the kind by the prefix of the driver's name, as the bus of virtual devices does.
 */
static int read_vdev(const struct reading *reading, const char *text)
{
	struct wh_port_spec *spec = reading->spec;
	size_t name_bytes = (size_t)(target_end(text) - text);

	if (name_bytes >= sizeof(spec->ethdev))
		return refuse(reading, "the name of a device has at most %zu characters, this %zu",
			sizeof(spec->ethdev) - 1, name_bytes);
	put(spec->ethdev, sizeof(spec->ethdev), text, name_bytes);
	if (!is_tame(spec->ethdev, "_-") || strcmp(spec->ethdev, "net_") == 0)
		return refuse(reading,
			"the name of a device is a driver's and a number, as in "
			"'net_ring0', not '%.63s'",
			spec->ethdev);
	spec->kind = WH_PORT_VDEV;
	spec->verbatim = true;
	for (enum wh_port_kind kind = 0; kind < WH_PORT_VDEV; kind++)
		if (kinds[kind].driver != NULL &&
			strncmp(text, kinds[kind].driver, strlen(kinds[kind].driver)) == 0)
			spec->kind = kind;
	spec->facts = kinds[spec->kind].facts;
	spec->facts.paired_queues = wh_steer_is_paired(spec->ethdev);
	spec->single_file_segments = spec->kind == WH_PORT_VHOST ||
				     spec->kind == WH_PORT_VIRTIO_USER ||
				     strstr(text, ",zero-copy=yes") != NULL;
	put(spec->target, sizeof(spec->target), text, strlen(text));
	return 0;
}

/* A PCI address, which is also the port's name; the rest is for its driver. */
static int read_nic(const struct reading *reading, const char *text)
{
	struct wh_port_spec *spec = reading->spec;
	const char *options = target_end(text);
	char address[WH_PORT_SPEC_TEXT_MAX + 1];

	put(address, sizeof(address), text, (size_t)(options - text));
	if (!read_pci(address, spec->ethdev, sizeof(spec->ethdev)))
		return refuse(reading,
			"'%.60s' is no port: write a PCI address (0000:3b:00.0), "
			"udp, memif:, vhost:, virtio_user:, af_packet:, af_xdp:, tap: "
			"or a DPDK device (net_..)",
			text);
	spec->kind = WH_PORT_PCI;
	spec->needs_pci = true;
	spec->facts = kinds[WH_PORT_PCI].facts;
	put(spec->target, sizeof(spec->target), spec->ethdev, strlen(spec->ethdev));
	put(spec->options, sizeof(spec->options), options, strlen(options));
	return 0;
}

int wh_port_spec_read(
	const char *text, uint16_t number, struct wh_port_spec *spec, char *why, size_t why_bytes)
{
	struct reading reading = {
		.spec = spec, .number = number, .why = why, .why_bytes = why_bytes};
	size_t bytes = strlen(text);

	*spec = (struct wh_port_spec){.kind = WH_PORT_PCI, .node = -1};
	if (bytes > WH_PORT_SPEC_TEXT_MAX)
		return refuse(&reading, "a port is written in at most %d characters, not %zu",
			WH_PORT_SPEC_TEXT_MAX, bytes);
	for (size_t i = 0; i < bytes; i++)
		if (!isgraph((unsigned char)text[i]))
			return refuse(&reading,
				"a port is written without blanks, in ASCII: "
				"character %zu is neither",
				i + 1);

	if (is_udp(text))
		return read_udp(&reading, text);
	for (enum wh_port_kind kind = 0; kind < WH_PORT_KINDS; kind++) {
		const char *prefix = kinds[kind].prefix;
		size_t prefix_bytes = prefix == NULL ? 0 : strlen(prefix);

		if (prefix != NULL && strncmp(text, prefix, prefix_bytes) == 0 &&
			text[prefix_bytes] == ':')
			return read_kind(&reading, kind, prefix, text + prefix_bytes + 1);
	}
	return strncmp(text, "net_", 4) == 0 ? read_vdev(&reading, text) : read_nic(&reading, text);
}
