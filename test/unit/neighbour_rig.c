/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour_rig.h"

const uint8_t rig_us[6] = {2, 0, 0, 0, 0, 1};
const uint8_t rig_peer[6] = {2, 0, 0, 0, 0, 2};
const uint8_t rig_gate[6] = {2, 0, 0, 0, 0, 0xfe};
const uint8_t rig_other[6] = {2, 0, 0, 0, 0, 3};
const uint8_t rig_all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
const uint8_t rig_none[6];
const uint8_t rig_us4[4] = {10, 0, 0, 1};
const uint8_t rig_peer4[4] = {10, 0, 0, 2};
const uint8_t rig_gate4[4] = {10, 0, 0, 254};
const uint8_t rig_us6[16] = {0xfd, [15] = 1};
const uint8_t rig_link6[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 1};
const uint8_t rig_peer6[16] = {0xfd, [15] = 2};
const uint8_t rig_gate6[16] = {0xfe, 0x80, [15] = 0xfe};
const uint8_t rig_us6_group[16] = {0xff, 2, [11] = 1, 0xff, 0, 0, 1};
const uint8_t rig_all6[16] = {0xff, 2, [15] = 1};
const uint8_t rig_none6[16];

struct wh_neighbour_config rig_config(void)
{
	struct wh_neighbour_config config = {
		.hz = RIG_HZ,
		.entries = RIG_ENTRIES,
		.mtu = 1500,
		.ipv4 = {.ip = {10, 0, 0, 1}, .prefix_bits = 24, .gateway = {10, 0, 0, 254}},
		.ipv6 = {.prefix_bits = 64},
	};

	memcpy(config.mac, rig_us, 6);
	memcpy(config.ipv6.ip, rig_us6, 16);
	memcpy(config.ipv6.gateway, rig_gate6, 16);
	return config;
}

void rig_open(struct rig *rig, const struct wh_neighbour_config *config)
{
	memset(rig, 0xee, sizeof(*rig));
	rig->now = 0;
	rig->bytes = 0;
	CU_ASSERT_PTR_NULL_FATAL(wh_neighbour_config_wrong(config));
	CU_ASSERT_EQUAL_FATAL(wh_neighbour_init(&rig->host, config), 0);
}

void rig_open_default(struct rig *rig)
{
	struct wh_neighbour_config config = rig_config();

	rig_open(rig, &config);
}

void rig_close(struct rig *rig)
{
	wh_neighbour_free(&rig->host);
}

enum wh_neighbour_reason rig_feed(struct rig *rig, const uint8_t *frame, size_t bytes)
{
	uint8_t *copy = malloc(bytes);

	CU_ASSERT_FATAL(copy != NULL || bytes == 0);
	if (bytes > 0)
		memcpy(copy, frame, bytes);

	enum wh_neighbour_reason reason = wh_neighbour_input(&rig->host, rig->now, copy, bytes);

	free(copy);
	return reason;
}

uint16_t rig_sum(const uint8_t *bytes, size_t count, uint32_t start)
{
	uint32_t sum = start;

	for (size_t i = 0; i < count; i++)
		sum += (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static uint16_t get(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Where the header of ARP or IP begins. */
static size_t head_of(const uint8_t *frame)
{
	return get(frame + 12) == 0x8100 ? 18 : 14;
}

/* Sum over an ICMP message that lies behind an IP header at `ip`; 0xffff when it is right. */
static uint16_t icmp_sum(const uint8_t *ip, bool ipv4)
{
	if (ipv4)
		return rig_sum(ip + 20, get(ip + 2) - 20U, 0);
	return rig_sum(ip + 40, get(ip + 4), rig_sum(ip + 8, 32, get(ip + 4) + 58U));
}

void rig_resum(uint8_t *frame, size_t bytes)
{
	size_t head = head_of(frame);
	uint8_t *ip = frame + head;
	bool ipv4 = get(frame + head - 2) == 0x0800;

	if (!ipv4 && get(frame + head - 2) != 0x86dd)
		return;

	if (bytes < head + (ipv4 ? 24 : 44))
		return;
	if (ipv4) {
		put(ip + 10, 0);
		put(ip + 10, (uint16_t)~rig_sum(ip, 20, 0));
	}

	size_t ip_bytes = ipv4 ? get(ip + 2) : 40U + get(ip + 4);

	if (ip_bytes > bytes - head || ip_bytes < (ipv4 ? 24U : 44U))
		return;
	put(ip + (ipv4 ? 22 : 42), 0);
	put(ip + (ipv4 ? 22 : 42), (uint16_t)~icmp_sum(ip, ipv4));
}

static void check_ip(const struct rig *rig, const uint8_t *ip, size_t room, bool ipv4)
{
	size_t ip_bytes = ipv4 ? get(ip + 2) : 40U + get(ip + 4);

	CU_ASSERT_FATAL(ip_bytes <= room && ip_bytes <= rig->host.config.mtu);
	CU_ASSERT_EQUAL(icmp_sum(ip, ipv4), 0xffff);
	if (ipv4) {
		CU_ASSERT_EQUAL(ip[0], 0x45);
		CU_ASSERT_EQUAL(rig_sum(ip, 20, 0), 0xffff);
		CU_ASSERT_EQUAL(memcmp(ip + 12, rig->host.config.ipv4.ip, 4), 0);
	} else {
		bool global = memcmp(ip + 8, rig->host.config.ipv6.ip, 16) == 0;

		CU_ASSERT_EQUAL(ip[0], 0x60);
		CU_ASSERT(global || (ip[8] == 0xfe && ip[9] == 0x80));
		CU_ASSERT_EQUAL(ip[7], ip[40] >= 135 ? 255 : 64);
	}
	/* Padding is zero: no byte of an earlier frame leaves. */
	for (size_t i = ip_bytes; i < room; i++)
		CU_ASSERT_EQUAL(ip[i], 0);
}

/* What holds of every frame that we send. */
static void check_frame(const struct rig *rig)
{
	const struct wh_neighbour_config *config = &rig->host.config;
	size_t head = config->vlan == 0 ? 14 : 18;
	const uint8_t *body = rig->frame + head;
	uint16_t type = get(rig->frame + head - 2);

	CU_ASSERT_FATAL(rig->bytes >= 60 && rig->bytes <= config->mtu + head);
	CU_ASSERT_EQUAL(memcmp(rig->frame + 6, config->mac, 6), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(rig->frame, config->mac, 6), 0);
	if (config->vlan != 0) {
		CU_ASSERT_EQUAL(get(rig->frame + 12), 0x8100);
		CU_ASSERT_EQUAL(get(rig->frame + 14), config->vlan);
	}
	CU_ASSERT(type == 0x0806 || type == 0x0800 || type == 0x86dd);
	if (type == 0x0806) {
		CU_ASSERT_EQUAL(memcmp(body + 8, config->mac, 6), 0);
		CU_ASSERT_EQUAL(memcmp(body + 14, config->ipv4.ip, 4), 0);
	} else {
		check_ip(rig, body, rig->bytes - head, type == 0x0800);
	}
}

size_t rig_take(struct rig *rig)
{
	size_t room = rig->host.frame_bytes_max;
	uint8_t *frame = malloc(room);

	CU_ASSERT_FATAL(frame != NULL && room <= RIG_BYTES);
	memset(frame, 0xee, room);
	rig->bytes = wh_neighbour_output(&rig->host, rig->now, frame, room);
	CU_ASSERT_FATAL(rig->bytes <= room);
	if (rig->bytes > 0) {
		memcpy(rig->frame, frame, rig->bytes);
		check_frame(rig);
	}
	free(frame);
	return rig->bytes;
}

uint32_t rig_take_all(struct rig *rig)
{
	uint32_t count = 0;

	while (rig_take(rig) > 0)
		count++;
	return count;
}

bool rig_take_is(struct rig *rig, const uint8_t *frame, size_t bytes)
{
	size_t taken = rig_take(rig);
	bool is = taken == bytes && memcmp(rig->frame, frame, bytes) == 0;

	for (size_t i = 0; !is && i < taken; i++)
		printf("%02x%s", rig->frame[i], i % 16 == 15 || i + 1 == taken ? "\n" : " ");
	return is;
}

struct wh_address rig_ip4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return (struct wh_address){.family = WH_IPV4, .ip = {a, b, c, d}, .port = 5760};
}

struct wh_address rig_ip6(const uint8_t ip[16])
{
	struct wh_address address = {.family = WH_IPV6, .port = 5760};

	memcpy(address.ip, ip, 16);
	return address;
}

void rig_expect(struct rig *rig, const struct wh_address *target, enum wh_neighbour_result result,
	const uint8_t *mac, int line)
{
	uint8_t got_mac[6] = {0};
	enum wh_neighbour_result got = wh_neighbour_lookup(&rig->host, rig->now, target, got_mac);
	bool right = got == result && memcmp(got_mac, mac != NULL ? mac : rig_none, 6) == 0;
	char condition[128];

	snprintf(condition, sizeof(condition), "line %d: %s, expected %s, of ..%02x", line,
		wh_neighbour_result_name(got), wh_neighbour_result_name(result), got_mac[5]);
	CU_assertImplementation(right, (unsigned int)line, condition, __FILE__, "", CU_FALSE);
}

static size_t pad(uint8_t *frame, size_t bytes)
{
	for (; bytes < 60; bytes++)
		frame[bytes] = 0;
	return bytes;
}

static void ether(uint8_t *frame, const uint8_t to[6], const uint8_t from[6], uint16_t type)
{
	memcpy(frame, to, 6);
	memcpy(frame + 6, from, 6);
	put(frame + 12, type);
}

size_t rig_arp(uint8_t *frame, const uint8_t to[6], uint8_t operation, const uint8_t mac[6],
	const uint8_t ip[4], const uint8_t target_mac[6], const uint8_t target_ip[4])
{
	const uint8_t head[8] = {0, 1, 8, 0, 6, 4, 0, operation};

	ether(frame, to, mac, 0x0806);
	memcpy(frame + 14, head, 8);
	memcpy(frame + 22, mac, 6);
	memcpy(frame + 28, ip, 4);
	memcpy(frame + 32, target_mac, 6);
	memcpy(frame + 38, target_ip, 4);
	return pad(frame, 42);
}

static void echo(uint8_t *icmp, uint8_t type, size_t data_bytes)
{
	const uint8_t head[8] = {type, 0, 0, 0, 0x12, 0x34, 0, 7};

	memcpy(icmp, head, 8);
	for (size_t i = 0; i < data_bytes; i++)
		icmp[8 + i] = (uint8_t)(i * 7 + 1);
}

size_t rig_echo4(uint8_t *frame, uint8_t type, const uint8_t mac[6], const uint8_t ip[4],
	const uint8_t to[4], size_t data_bytes)
{
	const uint8_t head[12] = {0x45, 0, 0, 0, 0xab, 0xcd, 0, 0, 55, 1, 0, 0};

	ether(frame, rig_us, mac, 0x0800);
	memcpy(frame + 14, head, 12);
	put(frame + 16, (uint16_t)(28 + data_bytes));
	memcpy(frame + 26, ip, 4);
	memcpy(frame + 30, to, 4);
	echo(frame + 34, type, data_bytes);
	rig_resum(frame, 42 + data_bytes);
	return pad(frame, 42 + data_bytes);
}

static void ip6(
	uint8_t *frame, const uint8_t ip[16], const uint8_t to[16], size_t bytes, uint8_t hop_limit)
{
	const uint8_t head[8] = {
		0x60, 0, 0, 0, (uint8_t)(bytes >> 8), (uint8_t)bytes, 58, hop_limit};

	memcpy(frame + 14, head, 8);
	memcpy(frame + 22, ip, 16);
	memcpy(frame + 38, to, 16);
}

size_t rig_echo6(uint8_t *frame, uint8_t type, const uint8_t mac[6], const uint8_t ip[16],
	const uint8_t to[16], size_t data_bytes)
{
	ether(frame, rig_us, mac, 0x86dd);
	ip6(frame, ip, to, 8 + data_bytes, 55);
	echo(frame + 54, type, data_bytes);
	rig_resum(frame, 62 + data_bytes);
	return pad(frame, 62 + data_bytes);
}

size_t rig_ndp(uint8_t *frame, const struct rig_ndp *ndp)
{
	const uint8_t head[8] = {ndp->type, 0, 0, 0, ndp->flags, 0, 0, 0};
	const uint8_t group[6] = {0x33, 0x33, ndp->to[12], ndp->to[13], ndp->to[14], ndp->to[15]};
	size_t bytes = 24;

	ether(frame, ndp->to[0] == 0xff ? group : rig_us, ndp->mac, 0x86dd);
	memcpy(frame + 54, head, 8);
	memcpy(frame + 62, ndp->target, 16);
	if (ndp->option != 0) {
		frame[78] = ndp->option;
		frame[79] = 1;
		memcpy(frame + 80, ndp->mac, 6);
		bytes = 32;
	}
	ip6(frame, ndp->ip, ndp->to, bytes, 255);
	rig_resum(frame, 54 + bytes);
	return 54 + bytes;
}

size_t rig_arp_request(uint8_t *frame)
{
	return rig_arp(frame, rig_all, 1, rig_peer, rig_peer4, rig_none, rig_us4);
}

size_t rig_arp_reply(uint8_t *frame)
{
	return rig_arp(frame, rig_us, 2, rig_peer, rig_peer4, rig_us, rig_us4);
}

size_t rig_solicitation(uint8_t *frame)
{
	return rig_ndp(frame, &(struct rig_ndp){.type = 135,
				      .option = 1,
				      .mac = rig_peer,
				      .ip = rig_peer6,
				      .to = rig_us6_group,
				      .target = rig_us6});
}

size_t rig_advertisement(uint8_t *frame)
{
	return rig_ndp(frame, &(struct rig_ndp){.type = 136,
				      .flags = 0x60,
				      .option = 2,
				      .mac = rig_peer,
				      .ip = rig_peer6,
				      .to = rig_us6,
				      .target = rig_peer6});
}
