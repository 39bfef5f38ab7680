/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * docs/protocol.md ends with the layout of every packet and record as the code has it.
 *
 *     formats PAGE            exit status 1 when it does not
 *     formats --write PAGE    makes the end of the page anew
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rig/packet_names.h"
#include "bundle/record_shape.h"
#include "packet_fields.h"
#include "trust/handshake.h"

#define LINE_BYTES 256
#define PAGE_BYTES (UINT32_C(1) << 20)

/* The page up to and including this line is written by people. */
#define MARK "<!-- From here on made by test/e2e/formats.c -->\n"

static FILE *tables;

__attribute__((format(printf, 1, 2))) static void row(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(tables, format, args);
	va_end(args);
	fputc('\n', tables);
}

/* Large numbers beside a power of two as that. */
static const char *number(uint64_t value, char text[LINE_BYTES])
{
	for (uint32_t bit = 16; bit < 64; bit++)
		for (int32_t more = -2; more <= 0; more++)
			if (value == (UINT64_C(1) << bit) + (uint64_t)(int64_t)more) {
				snprintf(text, LINE_BYTES, more == 0 ? "2^%u" : "2^%u - %u", bit,
					(uint32_t)-more);
				return text;
			}
	snprintf(text, LINE_BYTES, "%" PRIu64, value);
	return text;
}

static void field(uint32_t at, uint32_t bytes, const char *name, uint64_t least, uint64_t most)
{
	char from[LINE_BYTES], to[LINE_BYTES];
	uint64_t width_most = bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

	if (bytes > 8 || (least == 0 && most >= width_most))
		row("| %u | %u | `%s` | any |", at, bytes, name);
	else if (least == most)
		row("| %u | %u | `%s` | %s |", at, bytes, name, number(least, from));
	else
		row("| %u | %u | `%s` | %s to %s |", at, bytes, name, number(least, from),
			number(most < width_most ? most : width_most, to));
}

static void table_head(void)
{
	row("\n| at | bytes | field | limits |");
	row("|---|---|---|---|");
}

static void packet(uint32_t type)
{
	const struct wh_packet_rule *rule = &wh_packet_rules[type];

	row("\n### %s, type %u, %u to %u bytes", wh_rig_packet_name((enum wh_packet_type)type),
		type, rule->bytes_min, rule->bytes_max);
	table_head();
	for (size_t i = 0; i < packet_fields[type].rows; i++) {
		const struct packet_field *f = &packet_fields[type].row[i];

		field(f->wire_at, f->bytes, f->name, f->least, f->most);
	}
	for (size_t i = 0; i < packet_fields[type].behinds; i++) {
		const struct packet_field *f = &packet_fields[type].behind[i];

		row("| +%u | %u | `%s` | behind the holes |", f->wire_at, f->bytes, f->name);
	}
}

static const struct {
	uint32_t type;
	const char *name;
} records[] = {
	{WH_RECORD_ENTRY, "ENTRY"},
	{WH_RECORD_EXTENT, "EXTENT"},
	{WH_RECORD_FILE_END, "FILE_END"},
	{WH_RECORD_SAME, "SAME"},
	{WH_RECORD_FAULT, "FAULT"},
	{WH_RECORD_FINISH, "FINISH"},
	{WH_RECORD_FOUND, "FOUND"},
	{WH_RECORD_WANT, "WANT"},
	{WH_RECORD_HAVE, "HAVE"},
	{WH_RECORD_OUTCOME, "OUTCOME"},
	{WH_RECORD_COMMITTED, "COMMITTED"},
	{WH_RECORD_TOTALS, "TOTALS"},
	{WH_RECORD_BLOCKS, "BLOCKS"},
	{WH_RECORD_HELLO, "HELLO"},
	{WH_RECORD_REFUSED, "REFUSED"},
	{WH_RECORD_READY, "READY"},
	{WH_RECORD_REPORT, "REPORT"},
	{WH_RECORD_WAITS, "WAITS"},
	{WH_RECORD_ITEM, "ITEM"},
	{WH_RECORD_TALLY, "TALLY"},
	{WH_RECORD_PING, "PING"},
	{WH_RECORD_ORDER, "ORDER"},
	{WH_RECORD_STATUS, "STATUS"},
};

static void record(uint32_t type, const char *name)
{
	const struct wh_record_shape *shape = wh_record_shape(type);

	row("\n### %s, type %u, texts from %u", name, type, shape->wire_bytes);
	table_head();
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct wh_record_field *f = &shape->fields[i];

		field(f->wire_at, f->bytes, f->name, f->least, f->most);
	}
}

static void write_tables(void)
{
	row("\nVersions: packets %u, auth messages %u, streams %u.", WH_WIRE_VERSION,
		WH_AUTH_FORMAT, WH_BUNDLE_VERSION);
	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		packet(type);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		record(records[i].type, records[i].name);
}

static FILE *open_page(const char *path, const char *mode)
{
	FILE *page = fopen(path, mode);

	if (page == NULL) {
		perror(path);
		exit(1);
	}
	return page;
}

/* The whole page; *end: what follows the mark. */
static char *read_page(const char *path, char **end)
{
	FILE *page = open_page(path, "r");
	char *text = calloc(1, PAGE_BYTES);
	size_t bytes = text == NULL ? 0 : fread(text, 1, PAGE_BYTES - 1, page);

	fclose(page);
	*end = bytes == 0 ? NULL : strstr(text, MARK);
	if (*end == NULL) {
		printf("%s: no line %s", path, MARK);
		exit(1);
	}
	*end += strlen(MARK);
	return text;
}

int main(int argc, char **argv)
{
	bool writes = argc == 3 && strcmp(argv[1], "--write") == 0;
	char *wanted, *end;
	size_t bytes;
	bool same;

	if (argc != 2 && !writes)
		return 2;
	tables = open_memstream(&wanted, &bytes);
	if (tables == NULL)
		return 1;
	write_tables();
	fclose(tables);

	char *page = read_page(argv[argc - 1], &end);

	same = strcmp(end, wanted) == 0;
	if (writes) {
		FILE *to = open_page(argv[2], "w");

		*end = '\0';
		fprintf(to, "%s%s", page, wanted);
		same = fclose(to) == 0;
	} else if (!same) {
		printf("%s is not of this code: %s --write %s\n", argv[1], argv[0], argv[1]);
	}
	free(page);
	free(wanted);
	return same ? 0 : 1;
}
