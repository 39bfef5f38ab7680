/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/plain_text.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"

#define NO_CHARACTER UINT32_MAX

static_assert(sizeof("\\U0010ffff") <= WH_PLAIN_CHAR_BYTES, "the longest there is");

bool wh_plain_is_escaped(uint32_t code_point)
{
	static const struct {
		uint32_t first;
		uint32_t last;
	} ranges[] = {
		{0x00, 0x1f},       /* C0 */
		{0x7f, 0x9f},       /* DEL, C1 */
		{0x061c, 0x061c},   /* Arabic letter mark */
		{0x180e, 0x180e},   /* zero width */
		{0x200b, 0x200b},   /* zero width; joiners are part of words */
		{0x200e, 0x200f},   /* direction marks */
		{0x2028, 0x202e},   /* line and paragraph separators, embeddings, overrides */
		{0x2060, 0x206f},   /* invisible operators, isolates, deprecated controls */
		{0xfeff, 0xfeff},   /* byte order mark */
		{0xfff9, 0xfffb},   /* interlinear annotation */
		{0xe0000, 0xe0fff}, /* tags, variation selectors */
		{0x110000, NO_CHARACTER},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code_point >= ranges[i].first && code_point <= ranges[i].last)
			return true;
	return false;
}

/* The character at `text`, of *bytes; NO_CHARACTER: the byte begins no valid one. */
static uint32_t read_character(const char *text, uint32_t *bytes)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)text;
	uint32_t length = byte[0] < 0x80 ? 1 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
	uint32_t code_point = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);

	*bytes = 1;
	if (byte[0] >= 0xf8 || (byte[0] & 0xc0) == 0x80)
		return NO_CHARACTER;
	for (uint32_t i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80) /* also at the end of the text */
			return NO_CHARACTER;
		code_point = code_point << 6 | (byte[i] & 0x3f);
	}
	if (code_point < least[length] || code_point > 0x10ffff ||
		(code_point >= 0xd800 && code_point <= 0xdfff))
		return NO_CHARACTER;
	*bytes = length;
	return code_point;
}

static void escape(uint32_t code_point, unsigned char byte, char written[WH_PLAIN_CHAR_BYTES])
{
	if (code_point == NO_CHARACTER || code_point < 0x80)
		snprintf(written, WH_PLAIN_CHAR_BYTES, "\\x%02x", byte);
	else if (code_point <= 0xffff)
		snprintf(written, WH_PLAIN_CHAR_BYTES, "\\u%04x", code_point);
	else
		snprintf(written, WH_PLAIN_CHAR_BYTES, "\\U%08x", code_point);
}

const char *wh_plain_text(const char *text, bool double_backslashes, char *plain, size_t room)
{
	size_t used = 0;

	WH_ASSERT(room > 0);
	while (*text != '\0') {
		char written[WH_PLAIN_CHAR_BYTES] = "";
		uint32_t bytes;
		uint32_t code_point = read_character(text, &bytes);

		if (code_point == '\\' && double_backslashes)
			memcpy(written, "\\\\", 3);
		else if (wh_plain_is_escaped(code_point))
			escape(code_point, (unsigned char)*text, written);
		else
			memcpy(written, text, bytes);
		if (used + strlen(written) >= room)
			break;
		memcpy(plain + used, written, strlen(written));
		used += strlen(written);
		text += bytes;
	}
	plain[used] = '\0';
	return plain;
}

void wh_text_add(char *text, size_t room, const char *between, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, room - used, "%s%s", used > 0 ? between : "", word);
}

/* RFC 8259 7: beyond 16 bits as a pair of surrogates. */
static void print_json_escape(uint32_t code_point, FILE *to)
{
	if (code_point <= 0xffff) {
		fprintf(to, "\\u%04x", code_point);
		return;
	}
	code_point -= 0x10000;
	fprintf(to, "\\u%04x\\u%04x", 0xd800 + (code_point >> 10), 0xdc00 + (code_point & 0x3ff));
}

void wh_plain_json(const char *json, FILE *to)
{
	while (*json != '\0') {
		uint32_t bytes;
		uint32_t code_point = read_character(json, &bytes);

		/* The text's only raw control characters are its own newlines. */
		if (code_point != '\n' && code_point != NO_CHARACTER &&
			wh_plain_is_escaped(code_point))
			print_json_escape(code_point, to);
		else
			fwrite(json, 1, bytes, to);
		json += bytes;
	}
}
