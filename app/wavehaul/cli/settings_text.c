/* SPDX-License-Identifier: BSD-3-Clause */

/* One value: from text, and to text from which the same value is read. */

#include "cli/settings_table.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "bundle/choice.h"
#include "cli/address_text.h"
#include "cli/plain_text.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The largest in the kernel's sets of CPUs (CPU_SETSIZE). */
#define CPU_MAX 1023

/* Size of a list item: subnets and ranges of CPUs are shorter. */
#define ITEM_BYTES 256

#define QUEUE_MAX_PKTS 10000000

/* ", " and a subnet of IPv6. */
#define SUBNET_TEXT_BYTES (2 + INET6_ADDRSTRLEN + sizeof("/128"))

static_assert(WH_SETTINGS_ALLOWS_MAX * SUBNET_TEXT_BYTES <= WH_SETTINGS_TEXT_BYTES, "a whole list");
static_assert(WH_SETTINGS_CPUS_MAX * sizeof("1023,") <= WH_SETTINGS_TEXT_BYTES, "a whole list");
static_assert(CPU_MAX <= UINT16_MAX && QUEUE_MAX_PKTS <= UINT32_MAX, "as wide as their fields");

static const char not_understood[] = "is not understood";

struct text_unit {
	const char *letter;
	uint64_t factor;
};

/* For each type of quantity: its parser, and the units in which it is written, the last being 1. */
static const struct {
	int (*parse)(const char *text, uint64_t *value);
	struct text_unit units[5];
} quantities[] = {
	[WH_SETTING_COUNT] = {wh_parse_count, {{"", 1}}},
	[WH_SETTING_NUMBER] = {wh_parse_count, {{"", 1}}},
	[WH_SETTING_SIZE] = {wh_parse_size,
		{{"T", UINT64_C(1) << 40}, {"G", UINT64_C(1) << 30}, {"M", UINT64_C(1) << 20},
			{"K", UINT64_C(1) << 10}, {"", 1}}},
	[WH_SETTING_TIME] = {wh_parse_time,
		{{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}}},
	[WH_SETTING_RATE] = {wh_parse_rate,
		{{"G", 1000000000}, {"M", 1000000}, {"K", 1000}, {"", 1}}},
	[WH_SETTING_RATE_LIMIT] = {wh_parse_rate,
		{{"G", 1000000000}, {"M", 1000000}, {"K", 1000}, {"", 1}}},
};

static bool is_quantity(const struct wh_setting *setting)
{
	return setting->type < LENGTH(quantities) && quantities[setting->type].parse != NULL;
}

/* Exact, in the largest unit that divides it. */
static void format_quantity(const struct wh_setting *setting, uint64_t value, char *text)
{
	const struct text_unit *unit = quantities[setting->type].units;

	if (setting->type == WH_SETTING_RATE_LIMIT && value == WH_RATE_MAX) {
		strcpy(text, "max");
		return;
	}
	while (value != 0 && value % unit->factor != 0)
		unit++;
	snprintf(text, WH_SETTINGS_TEXT_BYTES, "%" PRIu64 "%s", value / unit->factor,
		value == 0 ? "" : unit->letter);
}

static bool parse_switch(const char *text, bool *on)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};

	for (size_t i = 0; i < LENGTH(words); i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*on = i % 2 == 1;
			return true;
		}
	}
	return false;
}

/* The configuration file must preserve a key's value, but trims blanks at its ends. */
static const char *take_text(const struct wh_setting *setting, const char *text, char *field)
{
	size_t length = strlen(text);

	if (length >= WH_SETTINGS_TEXT_BYTES)
		return "is too long";
	for (const char *p = text; *p != '\0'; p++)
		if (iscntrl((unsigned char)*p))
			return "contains a control character";
	if (setting->key != NULL &&
		(isspace((unsigned char)text[0]) || isspace((unsigned char)text[length - 1])))
		return "begins or ends with a space";
	memcpy(field, text, length + 1);
	return NULL;
}

static const char *take_quantity(const struct wh_setting *setting, const char *text, void *field)
{
	uint64_t value = WH_RATE_MAX;
	bool is_max = setting->type == WH_SETTING_RATE_LIMIT && strcasecmp(text, "max") == 0;

	if (!is_max && quantities[setting->type].parse(text, &value) != 0)
		return not_understood;
	if (!is_max && (value < setting->low || value > setting->high))
		return "is out of bounds";
	if (setting->type == WH_SETTING_COUNT)
		*(uint32_t *)field = (uint32_t)value;
	else
		*(uint64_t *)field = value;
	return NULL;
}

/*
 * Copies the next item of a list separated by commas, trimmed, into `item`; false at the end. An
 * item that does not fit becomes empty, which no list accepts.
 */
static bool next_item(const char **rest, char item[ITEM_BYTES])
{
	const char *begin = *rest;

	if (begin == NULL)
		return false;

	const char *end = strchrnul(begin, ',');

	*rest = *end == ',' ? end + 1 : NULL;
	while (begin < end && isblank((unsigned char)*begin))
		begin++;
	while (begin < end && isblank((unsigned char)end[-1]))
		end--;

	size_t length = (size_t)(end - begin);

	if (length >= ITEM_BYTES)
		length = 0;
	memcpy(item, begin, length);
	item[length] = '\0';
	return true;
}

/* "2" or "2-5". */
static bool parse_cpu_range(char *item, uint64_t *first, uint64_t *last)
{
	char *dash = strchr(item, '-');

	if (dash == NULL) {
		if (wh_parse_count(item, first) != 0)
			return false;
		*last = *first;
	} else {
		*dash = '\0';
		if (wh_parse_count(item, first) != 0 || wh_parse_count(dash + 1, last) != 0)
			return false;
	}
	return *first <= *last && *last <= CPU_MAX;
}

bool wh_cpu_list_has(const struct wh_cpu_list *list, uint64_t cpu)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->cpu[i] == cpu)
			return true;
	return false;
}

static const char *take_cpus(const char *text, struct wh_cpu_list *field)
{
	struct wh_cpu_list list = {0};
	char item[ITEM_BYTES];
	uint64_t first;
	uint64_t last;

	while (next_item(&text, item)) {
		if (!parse_cpu_range(item, &first, &last))
			return not_understood;
		for (uint64_t cpu = first; cpu <= last; cpu++) {
			if (wh_cpu_list_has(&list, cpu))
				return "names a CPU twice";
			if (list.count == WH_SETTINGS_CPUS_MAX)
				return "names more than 64 CPUs";
			list.cpu[list.count++] = (uint16_t)cpu;
		}
	}
	*field = list;
	return NULL;
}

static_assert(WH_SETTINGS_CPUS_MAX == 64, "the sentence in take_cpus says so");

/* Successive numbers become a range. */
static void format_cpus(const struct wh_cpu_list *list, char *text)
{
	text[0] = '\0';
	for (uint32_t i = 0, used = 0; i < list->count;) {
		uint32_t end = i + 1;

		while (end < list->count && list->cpu[end] == list->cpu[end - 1] + 1)
			end++;

		const char *comma = i > 0 ? "," : "";
		size_t room = WH_SETTINGS_TEXT_BYTES - used;

		used += (uint32_t)snprintf(text + used, room, end - i > 1 ? "%s%u-%u" : "%s%u",
			comma, list->cpu[i], list->cpu[end - 1]);
		WH_ASSERT(used < WH_SETTINGS_TEXT_BYTES);
		i = end;
	}
}

static const char *take_address(char *item, struct wh_settings *settings)
{
	struct wh_subnet subnet;

	if (!wh_subnet_parse(item, 1, &subnet))
		return not_understood;

	bool is_ipv6 = subnet.address.family == WH_IPV6;

	for (uint32_t i = 0; i < WH_PORTS_MAX; i++) {
		struct wh_own_port *port = &settings->port[i];
		struct wh_subnet *field = is_ipv6 ? &port->ipv6 : &port->ipv4;

		if (field->address.family != 0)
			continue;
		*field = subnet;
		return NULL;
	}
	return "is one address too many";
}

static const char *take_gateway(const char *item, struct wh_settings *settings)
{
	struct wh_address address;

	if (!wh_address_parse(item, &address))
		return not_understood;

	bool is_ipv6 = address.family == WH_IPV6;

	for (uint32_t i = 0; i < WH_PORTS_MAX; i++) {
		struct wh_own_port *port = &settings->port[i];
		struct wh_address *field = is_ipv6 ? &port->gateway6 : &port->gateway4;

		if (field->family != 0)
			continue;
		*field = address;
		return NULL;
	}
	return "is one gateway too many";
}

static const char *take_subnet(char *item, struct wh_settings *settings)
{
	struct wh_subnet subnet;

	if (!wh_subnet_parse(item, 0, &subnet))
		return not_understood;
	if (settings->allows == WH_SETTINGS_ALLOWS_MAX)
		return "exceeds the limit of 32 subnets";
	settings->allow[settings->allows++] = subnet;
	return NULL;
}

static_assert(WH_SETTINGS_ALLOWS_MAX == 32, "the sentence in take_subnet says so");

/* "500p" are packets, otherwise a size. */
static const char *take_queue(const char *text, struct wh_link_model *link)
{
	size_t length = strlen(text);
	char digits[16];
	uint64_t pkts = 0;
	uint64_t bytes = 0;

	if (length >= 2 && length <= sizeof(digits) && text[length - 1] == 'p') {
		memcpy(digits, text, length - 1);
		digits[length - 1] = '\0';
		if (wh_parse_count(digits, &pkts) != 0 || pkts < 1 || pkts > QUEUE_MAX_PKTS)
			return not_understood;
	} else if (wh_parse_size(text, &bytes) != 0 || bytes == 0) {
		return not_understood;
	}
	link->queue_pkts = (uint32_t)pkts;
	link->queue_bytes = bytes;
	return NULL;
}

static const char *take_set(const char *text, struct wh_settings *settings)
{
	if (settings->n_sets == WH_SETTINGS_SETS_MAX)
		return "exceeds the limit of 100";
	settings->sets[settings->n_sets++] = text;
	return NULL;
}

static const char *take_pattern(
	const struct wh_setting *setting, const char *text, struct wh_settings *settings)
{
	char term[WH_PATTERN_BYTES_MAX + 3];
	const char *wrong;

	snprintf(term, sizeof(term), "%c%s", (char)setting->low, text);
	wrong = wh_term_wrong(term);
	if (wrong != NULL)
		return wrong;
	if (settings->patterns == WH_SETTINGS_PATTERNS_MAX)
		return "exceeds the limit of 250";
	settings->pattern_takes[settings->patterns] = setting->low == '+';
	settings->pattern[settings->patterns++] = text;
	return NULL;
}

static_assert(WH_SETTINGS_PATTERNS_MAX == 250, "the sentence in take_pattern says so");

/*
 * 90s, 15m, 2h or 7d before `now`, or a local date, 2026-11-22, optionally with a time after a T or
 * a blank, 18:30 or 18:30:15. False: neither.
 */
static bool parse_moment(const char *text, time_t now, int64_t *moment_s)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"};
	uint64_t ago_ns;

	if (wh_parse_time(text, &ago_ns) == 0) {
		*moment_s = now - (int64_t)(ago_ns / WH_NS_PER_S);
		return true;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(text, forms[i], &tm);

		if (end == NULL || *end != '\0')
			continue;

		time_t moment = mktime(&tm);

		if (moment == (time_t)-1)
			return false;
		*moment_s = moment;
		return true;
	}
	return false;
}

static const char *take_moment(const char *text, uint64_t *field)
{
	int64_t moment_s;
	uint64_t told_s;

	if (text[0] == '@' && wh_parse_count(text + 1, &told_s) == 0 && told_s <= INT64_MAX) {
		*field = told_s;
		return NULL;
	}
	if (!parse_moment(text, time(NULL), &moment_s))
		return not_understood;
	if (moment_s <= 0)
		return "is before 1970";
	*field = (uint64_t)moment_s;
	return NULL;
}

static_assert(WH_SETTINGS_SETS_MAX == 100, "the sentence in take_set says so");

static const char *take_port(const char *text, struct wh_settings *settings)
{
	if (text[0] == '\0')
		return NULL;
	if (strlen(text) >= WH_SETTINGS_PORT_BYTES)
		return "is too long";
	if (strstr(text, ", ") != NULL)
		return "seems to be several ports: each has a line, or --port, of its own";
	if (settings->ports == WH_PORTS_MAX)
		return "is a fifth port, and four are the limit";
	strcpy(settings->port[settings->ports++].name, text);
	return NULL;
}

static_assert(WH_PORTS_MAX == 4, "the sentence in take_port says so");

static const char *take_list(
	const struct wh_setting *setting, const char *text, struct wh_settings *settings)
{
	char item[ITEM_BYTES];
	const char *wrong = NULL;

	while (wrong == NULL && next_item(&text, item)) {
		if (setting->type == WH_SETTING_ADDRESSES)
			wrong = take_address(item, settings);
		else if (setting->type == WH_SETTING_GATEWAYS)
			wrong = take_gateway(item, settings);
		else
			wrong = take_subnet(item, settings);
	}
	return wrong;
}

/* Appends an item to the list in `text`. */
static void append_subnet(const struct wh_subnet *subnet, bool with_bits, char *text)
{
	const struct wh_address *address = &subnet->address;
	size_t used = strlen(text);

	if (address->family == 0)
		return;
	if (used > 0)
		used += (size_t)snprintf(text + used, WH_SETTINGS_TEXT_BYTES - used, ", ");
	inet_ntop(address->family == WH_IPV6 ? AF_INET6 : AF_INET, address->ip, text + used,
		(socklen_t)(WH_SETTINGS_TEXT_BYTES - used));
	used = strlen(text);
	if (with_bits)
		snprintf(text + used, WH_SETTINGS_TEXT_BYTES - used, "/%u", subnet->prefix_bits);
}

bool wh_settings_has_family(const struct wh_settings *settings, uint8_t family)
{
	for (uint32_t i = 0; i < settings->ports; i++)
		if (settings->port[i].ipv4.address.family == family ||
			settings->port[i].ipv6.address.family == family)
			return true;
	return false;
}

void wh_settings_ports_text(
	const struct wh_settings *settings, const char *between, char text[WH_SETTINGS_TEXT_BYTES])
{
	text[0] = '\0';
	for (uint32_t i = 0; i < settings->ports; i++)
		wh_text_add(
			text, WH_SETTINGS_TEXT_BYTES, i > 0 ? between : "", settings->port[i].name);
}

void wh_settings_forget_ports(struct wh_settings *settings)
{
	memset(settings->port, 0, sizeof(settings->port));
	settings->ports = 0;
	settings->own_taken = false;
}

static void format_list(
	const struct wh_setting *setting, const struct wh_settings *settings, char *text)
{
	text[0] = '\0';
	switch (setting->type) {
	case WH_SETTING_PORTS:
		wh_settings_ports_text(settings, "\n", text);
		break;
	case WH_SETTING_ADDRESSES:
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			append_subnet(&settings->port[i].ipv4, true, text);
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			append_subnet(&settings->port[i].ipv6, true, text);
		break;
	case WH_SETTING_GATEWAYS:
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			append_subnet(
				&(struct wh_subnet){settings->port[i].gateway4, 0}, false, text);
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			append_subnet(
				&(struct wh_subnet){settings->port[i].gateway6, 0}, false, text);
		break;
	default:
		for (uint32_t i = 0; i < settings->allows; i++)
			append_subnet(&settings->allow[i], true, text);
		break;
	}
}

void wh_setting_clear(const struct wh_setting *setting, struct wh_settings *settings)
{
	WH_ASSERT(wh_setting_is_list(setting));
	if (setting->type == WH_SETTING_ADDRESSES) {
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			settings->port[i].ipv4 = settings->port[i].ipv6 = (struct wh_subnet){0};
	} else if (setting->type == WH_SETTING_GATEWAYS) {
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			settings->port[i].gateway4 = settings->port[i].gateway6 =
				(struct wh_address){0};
	} else if (setting->type == WH_SETTING_SETS) {
		settings->n_sets = 0;
	} else if (setting->type == WH_SETTING_PORTS) {
		for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
			settings->port[i].name[0] = '\0';
		settings->ports = 0;
	} else {
		settings->allows = 0;
	}
}

void wh_setting_escape(const char *text, char escaped[2 * WH_SETTINGS_TEXT_BYTES])
{
	char *to = escaped;

	for (; *text != '\0'; text++) {
		WH_ASSERT(to + 2 < escaped + 2 * WH_SETTINGS_TEXT_BYTES);
		if (*text == '#')
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
}

static const char *take_profile(const char *text, const struct wh_profile **field)
{
	*field = wh_profile_find(text);
	return *field == NULL ? "is no profile" : NULL;
}

static const char *take_share(const struct wh_setting *setting, const char *text, double *field)
{
	double share;

	if (wh_parse_share(text, &share) != 0)
		return not_understood;
	if (share < (double)setting->low / WH_SETTING_SHARE_PARTS ||
		share > (double)setting->high / WH_SETTING_SHARE_PARTS)
		return "is out of bounds";
	*field = share;
	return NULL;
}

/* The fewest digits from which the same value is read. */
static void format_share(double share, char *text)
{
	int digits = 1;

	do
		snprintf(text, WH_SETTINGS_TEXT_BYTES, "%.*g", digits, share);
	while (digits++ < 17 && strtod(text, NULL) != share);
}

static const char *take_code(const char *text, enum wh_fec_code *field)
{
	enum wh_fec_code code = wh_repair_code(text);

	if (code == WH_FEC_NONE)
		return "is no code";
	*field = code;
	return NULL;
}

static const char *take_cipher(const char *text, uint32_t *field)
{
	for (uint32_t cipher = 1; cipher < WH_CIPHERS; cipher++)
		if (strcmp(text, wh_cipher_name((enum wh_cipher)cipher)) == 0) {
			*field = cipher;
			return NULL;
		}
	return "is not a cipher; choose aes-128-gcm or aes-256-gcm";
}

static const char *const resumes[WH_RESUMES] = {
	[WH_RESUME_OFF] = "off",
	[WH_RESUME_ATTRIBUTES] = "attributes",
	[WH_RESUME_SPARSE] = "sparse",
	[WH_RESUME_FULL] = "full",
};

static const char *take_resume(const char *text, enum wh_resume *field)
{
	for (uint32_t i = 0; i < WH_RESUMES; i++)
		if (strcasecmp(text, resumes[i]) == 0) {
			*field = (enum wh_resume)i;
			return NULL;
		}
	return "is not off, attributes, sparse or full";
}

static const char *take_told(char *text, struct wh_known_path *path)
{
	char *rest = text;
	const char *rate = strsep(&rest, ",");
	const char *rtt = strsep(&rest, ",");
	uint64_t pkts = 0;

	if (rtt == NULL || wh_parse_rate(rate, &path->capacity_bps) != 0 ||
		wh_parse_time(rtt, &path->rtt_ns) != 0 ||
		(rest != NULL && wh_parse_count(rest, &pkts) != 0))
		return not_understood;
	path->burst_pkts = (uint32_t)pkts;
	return path->capacity_bps > 0 && pkts <= WH_KNOWN_PKTS_MAX && wh_known_path_valid(path)
		       ? NULL
		       : "is out of bounds";
}

static const char *take_known(const char *text, struct wh_known_setting *field)
{
	struct wh_known_setting known = {.by = WH_KNOWN_TOLD};
	char copy[ITEM_BYTES];
	const char *wrong = NULL;

	if (strcasecmp(text, "kept") == 0)
		known.by = WH_KNOWN_KEPT;
	else if (strcasecmp(text, "none") == 0)
		known.by = WH_KNOWN_NONE;
	else if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		wrong = not_understood;
	else
		wrong = take_told(copy, &known.path);
	if (wrong == NULL)
		*field = known;
	return wrong;
}

static void format_known(const struct wh_known_setting *known, char *text)
{
	if (known->by == WH_KNOWN_TOLD)
		snprintf(text, WH_SETTINGS_TEXT_BYTES, "%" PRIu64 ",%" PRIu64 "ns,%u",
			known->path.capacity_bps, known->path.rtt_ns, known->path.burst_pkts);
	else
		strcpy(text, known->by == WH_KNOWN_KEPT ? "kept" : "none");
}

const char *wh_setting_take(
	const struct wh_setting *setting, const char *text, struct wh_settings *settings)
{
	char *field = (char *)settings + setting->offset;

	if (*text == '\0')
		return "is empty";
	if (is_quantity(setting))
		return take_quantity(setting, text, field);
	switch (setting->type) {
	case WH_SETTING_TEXT:
	case WH_SETTING_PATH:
		return take_text(setting, text, field);
	case WH_SETTING_SWITCH:
		return parse_switch(text, (bool *)field) ? NULL : "is not yes or no";
	case WH_SETTING_PROFILE:
		return take_profile(text, (const struct wh_profile **)field);
	case WH_SETTING_SHARE:
		return take_share(setting, text, (double *)field);
	case WH_SETTING_FEC:
		return wh_repair_parse(text, &settings->repair) ? NULL : not_understood;
	case WH_SETTING_CIPHER:
		return take_cipher(text, (uint32_t *)field);
	case WH_SETTING_RESUME:
		return take_resume(text, (enum wh_resume *)field);
	case WH_SETTING_CODE:
		return take_code(text, (enum wh_fec_code *)field);
	case WH_SETTING_KNOWN:
		return take_known(text, (struct wh_known_setting *)field);
	case WH_SETTING_CPUS:
		return take_cpus(text, (struct wh_cpu_list *)field);
	case WH_SETTING_QUEUE:
		return take_queue(text, (struct wh_link_model *)field);
	case WH_SETTING_LOSS_MODEL:
		return wh_link_model_parse_loss(text, (struct wh_link_model *)field) == 0
			       ? NULL
			       : not_understood;
	case WH_SETTING_SETS:
		return take_set(text, settings);
	case WH_SETTING_PORTS:
		return take_port(text, settings);
	case WH_SETTING_PATTERN:
		return take_pattern(setting, text, settings);
	case WH_SETTING_MOMENT:
		return take_moment(text, (uint64_t *)field);
	default:
		WH_ASSERT(wh_setting_is_list(setting));
		return take_list(setting, text, settings);
	}
}

void wh_setting_format(const struct wh_setting *setting, const struct wh_settings *settings,
	char text[WH_SETTINGS_TEXT_BYTES])
{
	const char *field = (const char *)settings + setting->offset;

	if (is_quantity(setting)) {
		format_quantity(setting,
			setting->type == WH_SETTING_COUNT ? *(const uint32_t *)field
							  : *(const uint64_t *)field,
			text);
		return;
	}
	switch (setting->type) {
	case WH_SETTING_TEXT:
	case WH_SETTING_PATH:
		strcpy(text, field);
		break;
	case WH_SETTING_MOMENT:
		text[0] = '\0';
		if (*(const uint64_t *)field != 0)
			sprintf(text, "@%" PRIu64, *(const uint64_t *)field);
		break;
	case WH_SETTING_SWITCH:
		strcpy(text, *(const bool *)field ? "yes" : "no");
		break;
	case WH_SETTING_PROFILE:
		strcpy(text, (*(const struct wh_profile *const *)field)->name);
		break;
	case WH_SETTING_SHARE:
		text[0] = '\0'; /* if the setting has a key, 0 means not given */
		if (*(const double *)field != 0)
			format_share(*(const double *)field, text);
		break;
	case WH_SETTING_FEC:
		strcpy(text, wh_repair_text(&settings->repair, (char[WH_REPAIR_TEXT_BYTES]){0}));
		break;
	case WH_SETTING_CIPHER:
		strcpy(text, *(const uint32_t *)field == 0
				     ? ""
				     : wh_cipher_name(*(const uint32_t *)field));
		break;
	case WH_SETTING_RESUME:
		strcpy(text, resumes[*(const enum wh_resume *)field]);
		break;
	case WH_SETTING_CODE:
		strcpy(text, wh_fec_code_name(*(const enum wh_fec_code *)field));
		break;
	case WH_SETTING_KNOWN:
		format_known((const struct wh_known_setting *)field, text);
		break;
	case WH_SETTING_CPUS:
		format_cpus((const struct wh_cpu_list *)field, text);
		break;
	default:
		WH_ASSERT(setting->key != NULL && wh_setting_is_list(setting));
		format_list(setting, settings, text);
		break;
	}
}

static void advise_profiles(char *text)
{
	text[0] = '\0';
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		wh_text_add(text, WH_SETTINGS_TEXT_BYTES, ", or ", wh_profile_at(i)->name);
}

void wh_setting_advise(const struct wh_setting *setting, char text[WH_SETTINGS_TEXT_BYTES])
{
	char low[WH_SETTINGS_TEXT_BYTES];
	char high[WH_SETTINGS_TEXT_BYTES];

	if (setting->type == WH_SETTING_PROFILE) {
		advise_profiles(text);
		return;
	}
	if (setting->high == 0 || setting->type == WH_SETTING_PATTERN) {
		snprintf(text, WH_SETTINGS_TEXT_BYTES, "%s", setting->example);
		return;
	}
	if (setting->type == WH_SETTING_SHARE) {
		format_share((double)setting->low / WH_SETTING_SHARE_PARTS, low);
		format_share((double)setting->high / WH_SETTING_SHARE_PARTS, high);
	} else {
		format_quantity(setting, setting->low, low);
		format_quantity(setting, setting->high, high);
	}
	snprintf(text, WH_SETTINGS_TEXT_BYTES, "%s (from %.64s to %.64s%s)", setting->example, low,
		high, setting->type == WH_SETTING_RATE_LIMIT ? ", or max" : "");
}

bool wh_setting_is_list(const struct wh_setting *setting)
{
	return setting->type == WH_SETTING_ADDRESSES || setting->type == WH_SETTING_GATEWAYS ||
	       setting->type == WH_SETTING_SUBNETS || setting->type == WH_SETTING_SETS ||
	       setting->type == WH_SETTING_PORTS;
}
