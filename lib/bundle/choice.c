/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* States of a pattern's automaton, one per byte of the pattern, plus one for its end. */
#define PLACES      (WH_PATTERN_BYTES_MAX + 4)
#define PLACE_WORDS ((PLACES + 63) / 64)

struct places {
	uint64_t word[PLACE_WORDS];
};

static void add(struct places *places, size_t place)
{
	WH_ASSERT(place < PLACES);
	places->word[place / 64] |= UINT64_C(1) << place % 64;
}

static bool has(const struct places *places, size_t place)
{
	return (places->word[place / 64] >> place % 64 & 1) != 0;
}

/*
 * Length of the class at `pattern`, including brackets; 0: not closed. A ']' right after '[' is one
 * of its characters.
 */
static size_t class_bytes(const char *pattern)
{
	const char *at = pattern + 1;

	at += *at == '!' || *at == '^';
	if (*at == ']')
		at++;
	while (*at != '\0' && *at != ']')
		at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
	return *at == ']' ? (size_t)(at + 1 - pattern) : 0;
}

static unsigned char class_byte(const char **at)
{
	*at += (*at)[0] == '\\';
	return (unsigned char)*(*at)++;
}

static bool is_in_class(const char *pattern, size_t bytes, unsigned char c)
{
	const char *at = pattern + 1;
	const char *end = pattern + bytes - 1;
	bool negated = *at == '!' || *at == '^';
	bool in = false;

	at += negated;
	while (at < end) {
		unsigned char low = class_byte(&at);
		unsigned char high = low;

		if (at + 1 < end && at[0] == '-') {
			at++;
			high = class_byte(&at);
		}
		in |= low <= c && c <= high;
	}
	return in != negated && c != '/';
}

/* Length of one element, and whether it matches `c`. */
static size_t element(const char *pattern, unsigned char c, bool *matches)
{
	size_t bytes;

	switch (pattern[0]) {
	case '?':
		*matches = c != '/';
		return 1;
	case '[':
		bytes = class_bytes(pattern);
		*matches = is_in_class(pattern, bytes, c);
		return bytes;
	case '\\':
		*matches = (unsigned char)pattern[1] == c;
		return 2;
	default:
		*matches = (unsigned char)pattern[0] == c;
		return 1;
	}
}

/* Stars also match nothing. A place that is there has what is behind its stars already. */
static void add_with_stars(struct places *places, const char *pattern, size_t at)
{
	for (; !has(places, at); at++) {
		add(places, at);
		if (pattern[at] != '*')
			break;
	}
}

static size_t element_bytes(const char *pattern)
{
	bool matches;

	return pattern[0] == '*' ? 1 : element(pattern, 0, &matches);
}

/* Positions of stars that also match '/': two or more in a row. */
static struct places deep_stars(const char *pattern, size_t bytes)
{
	struct places deep = {{0}};

	for (size_t at = 0; at < bytes; at += element_bytes(pattern + at)) {
		if (pattern[at] != '*' || pattern[at + 1] != '*')
			continue;
		for (; pattern[at + 1] == '*'; at++)
			add(&deep, at);
		add(&deep, at);
	}
	return deep;
}

/* Advances by one byte of the path. False: no match is possible. */
static bool step(const char *pattern, size_t bytes, const struct places *deep, unsigned char c,
	struct places *places)
{
	const struct places from = *places;
	bool any = false;

	*places = (struct places){{0}};
	for (size_t word = 0; word < PLACE_WORDS; word++) {
		for (uint64_t left = from.word[word]; left != 0; left &= left - 1) {
			size_t at = word * 64 + (size_t)__builtin_ctzll(left);
			size_t to = at;
			bool matches = c != '/' || has(deep, at);

			if (at == bytes)
				continue;
			if (pattern[at] != '*')
				to += element(pattern + at, c, &matches);
			if (matches)
				add_with_stars(places, pattern, to);
			any |= matches;
		}
	}
	return any;
}

static bool matches_whole(const char *pattern, size_t bytes, const char *path, size_t path_bytes)
{
	const struct places deep = deep_stars(pattern, bytes);
	struct places places = {{0}};

	WH_ASSERT(bytes < PLACES);
	add_with_stars(&places, pattern, 0);
	for (size_t i = 0; i < path_bytes; i++)
		if (!step(pattern, bytes, &deep, (unsigned char)path[i], &places))
			return false;
	return has(&places, bytes);
}

bool wh_pattern_matches(const char *pattern, const char *path, size_t path_bytes, bool is_folder)
{
	char text[PLACES] = "**/";
	size_t bytes = strlen(pattern);
	const char *last = memrchr(path, '/', path_bytes);

	WH_ASSERT(bytes > 0 && bytes <= WH_PATTERN_BYTES_MAX);
	if (pattern[bytes - 1] == '/') {
		if (!is_folder)
			return false;
		bytes--;
	}
	if (pattern[0] == '/') {
		memcpy(text, pattern + 1, bytes - 1);
		text[bytes - 1] = '\0';
		return matches_whole(text, bytes - 1, path, path_bytes);
	}
	memcpy(text + 3, pattern, bytes);
	text[3 + bytes] = '\0'; /* without the trailing '/' */
	if (memchr(pattern, '/', bytes) == NULL) {
		last = last == NULL ? path : last + 1;
		return matches_whole(text + 3, bytes, last, (size_t)(path + path_bytes - last));
	}
	return matches_whole(text + 3, bytes, path, path_bytes) ||
	       matches_whole(text, bytes + 3, path, path_bytes);
}

static const char *pattern_wrong(const char *pattern)
{
	size_t bytes = strlen(pattern);

	if (bytes == 0 || strcmp(pattern, "/") == 0)
		return "is empty";
	if (bytes > WH_PATTERN_BYTES_MAX)
		return "is longer than 255 bytes";
	for (const char *at = pattern; *at != '\0';) {
		size_t length = at[0] == '\\' ? 2 : at[0] == '[' ? class_bytes(at) : 1;

		if (at[0] == '\\' && at[1] == '\0')
			return "ends with a \\ that takes away the meaning of nothing";
		if (length == 0)
			return "has a [ that is not closed";
		at += length;
	}
	return NULL;
}

bool wh_path_has_wildcard(const char *path)
{
	return strpbrk(path, "*?[") != NULL;
}

size_t wh_wildcard_base_bytes(const char *path)
{
	const char *wildcard = strpbrk(path, "*?[");
	const char *slash = wildcard != NULL ? memrchr(path, '/', (size_t)(wildcard - path)) : NULL;

	return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

bool wh_wildcard_matches(const char *pattern, size_t bytes, const char *name)
{
	char text[WH_PATTERN_BYTES_MAX + 1];

	if (bytes > WH_PATTERN_BYTES_MAX || (name[0] == '.' && pattern[0] != '.'))
		return false;
	memcpy(text, pattern, bytes);
	text[bytes] = '\0';
	return pattern_wrong(text) == NULL && wh_pattern_matches(text, name, strlen(name), false);
}

/* Digits only, at most INT64_MAX. */
static bool read_number(const char *text, uint64_t *number)
{
	*number = 0;
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		uint64_t digit = (uint64_t)*text - '0';

		if (*text < '0' || *text > '9' || *number > (INT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return true;
}

static const char *suffix_wrong(const char *suffix)
{
	size_t bytes = strlen(suffix);

	if (bytes == 0)
		return "is empty";
	if (bytes > WH_BACKUP_BYTES_MAX)
		return "is longer than 64 bytes";
	for (const char *at = suffix; *at != '\0'; at++)
		if (*at == '/' || (unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
			return "has a character that is no letter, digit or sign for a name";
	return NULL;
}

static const char *word_wrong(const char *word)
{
	size_t bytes = strlen(word);

	if (bytes < WH_JOIN_BYTES_MIN || bytes > WH_JOIN_BYTES_MAX)
		return "has not 16 to 32 characters";
	for (const char *at = word; *at != '\0'; at++)
		if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
			    (*at >= 'A' && *at <= 'Z')))
			return "has other characters than letters and digits";
	return NULL;
}

const char *wh_term_wrong(const char *term)
{
	uint64_t number;

	if (term[0] == '~')
		return suffix_wrong(term + 1);
	if (term[0] == '=')
		return word_wrong(term + 1);
	if (term[0] == '+' || term[0] == '-')
		return pattern_wrong(term + 1);
	if (term[0] == '\0' || strchr("<>@![]", term[0]) == NULL)
		return "is not understood";
	if (!read_number(term + 1, &number))
		return "is no number";
	return term[0] == '!' && number > WH_DELETE_MAX ? "is too much" : NULL;
}

static void take(struct wh_choice *choice, const char *term)
{
	uint64_t number = 0;

	if (term[0] == '+' || term[0] == '-') {
		choice->has_patterns = true;
		return;
	}
	if (term[0] == '~') {
		choice->backup = term + 1;
		return;
	}
	if (term[0] == '=') {
		choice->join = term + 1;
		return;
	}
	bool is_number = read_number(term + 1, &number);

	WH_ASSERT(is_number);
	choice->by_status |= strchr("<>@", term[0]) != NULL;
	choice->has_range |= strchr("[]", term[0]) != NULL;
	if (term[0] == '[')
		choice->range_from = number;
	else if (term[0] == ']')
		choice->range_end = number;
	else if (term[0] == '!')
		choice->delete_max = number;
	else if (term[0] == '>')
		choice->bytes_min = number;
	else if (term[0] == '<')
		choice->bytes_max = number;
	else
		choice->newer_s = (int64_t)number;
}

bool wh_terms_add(struct wh_terms *terms, char sign, const char *text)
{
	size_t room = sizeof(terms->text) - terms->used;
	int bytes = snprintf(terms->text + terms->used, room, "%c%s", sign, text);

	if (terms->count == WH_TERMS_MAX || bytes >= (int)room)
		return false;
	terms->term[terms->count++] = terms->text + terms->used;
	terms->used += (size_t)bytes + 1;
	return true;
}

/* 0 adds no term. */
bool wh_terms_add_number(struct wh_terms *terms, char sign, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return number == 0 || wh_terms_add(terms, sign, text);
}

int wh_choice_parse(
	struct wh_choice *choice, uint32_t wishes, const char *const *term, uint32_t terms)
{
	size_t bytes = 0;

	*choice = (struct wh_choice){
		.bytes_max = UINT64_MAX, .newer_s = INT64_MIN, .range_end = UINT64_MAX};
	if ((wishes & ~(uint32_t)WH_CHOICES_ALL) != 0)
		return -EINVAL;
	if (terms > WH_TERMS_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < terms; i++) {
		bytes += strlen(term[i]);
		if (wh_term_wrong(term[i]) != NULL)
			return -EINVAL;
	}
	if (bytes > WH_TERMS_BYTES_MAX)
		return -E2BIG;
	choice->wishes = wishes;
	choice->term = term;
	choice->terms = terms;
	for (uint32_t i = 0; i < terms; i++)
		take(choice, term[i]);
	/*
	 * A file that has not gone over as a whole is not removed, compared or believed to be
	 * there.
	 */
	uint32_t ranged = WH_CHOICE_KEEPS | (choice->join != NULL ? WH_CHOICE_RELATIVE : 0U);

	choice->has_range |= choice->join != NULL;
	if (choice->has_range && (wishes & ~ranged) != 0)
		return -EINVAL;
	return 0;
}

uint64_t wh_choice_range(const struct wh_choice *choice, uint64_t size_bytes, uint64_t *from)
{
	uint64_t end = size_bytes;

	*from = 0;
	if (!choice->has_range)
		return size_bytes;
	if (choice->range_end < end)
		end = choice->range_end;
	*from = choice->range_from < size_bytes ? choice->range_from : size_bytes;
	return end > *from ? end - *from : 0;
}

bool wh_choice_takes_path(
	const struct wh_choice *choice, const char *path, size_t path_bytes, bool is_folder)
{
	for (uint32_t i = 0; choice->has_patterns && i < choice->terms; i++) {
		const char *term = choice->term[i];

		if ((term[0] == '+' || term[0] == '-') &&
			wh_pattern_matches(term + 1, path, path_bytes, is_folder))
			return term[0] == '+';
	}
	return true;
}

bool wh_choice_takes_file(const struct wh_choice *choice, const struct stat *status)
{
	uint64_t bytes = (uint64_t)status->st_size;

	return !choice->by_status || (bytes >= choice->bytes_min && bytes <= choice->bytes_max &&
					     status->st_mtim.tv_sec > choice->newer_s);
}
