/* SPDX-License-Identifier: BSD-3-Clause */

#include "place.h"

#include <errno.h>
#include <string.h>

#include "plugin.h"

#define SCHEME   "wavehaul://"
#define PORT_MAX 65535

bool place_is(const char *url)
{
	return strncmp(url, SCHEME, strlen(SCHEME)) == 0;
}

/* A name, or an address: nothing that a program could take for an option or for USER@HOST. */
static bool is_host(const char *host, size_t bytes)
{
	bool in_brackets = bytes > 2 && host[0] == '[' && host[bytes - 1] == ']';
	const char *inner = in_brackets ? ":.%" : "._-";

	if (in_brackets) {
		host++;
		bytes -= 2;
	}
	if (bytes == 0 || host[0] == '-')
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (!g_ascii_isalnum(host[i]) && strchr(inner, host[i]) == NULL)
			return false;
	return true;
}

/* Takes HOST[:PORT]. */
static bool take_host(struct place *place, const char *text, size_t bytes)
{
	const char *inside = memchr(text, ']', bytes);
	const char *from = inside != NULL ? inside : text;
	const char *colon = memchr(from, ':', (size_t)(text + bytes - from));
	size_t host_bytes = colon != NULL ? (size_t)(colon - text) : bytes;

	place->port = 0;
	for (const char *digit = colon; digit != NULL && ++digit < text + bytes;) {
		if (!g_ascii_isdigit(*digit))
			return false;
		place->port = place->port * 10 + (unsigned)(*digit - '0');
		if (place->port > PORT_MAX)
			return false;
	}
	if ((colon != NULL && place->port == 0) || !is_host(text, host_bytes))
		return false;
	place->host = g_strndup(text, host_bytes);
	return true;
}

/* Decodes in place. NULL, or what is wrong with it. */
static const char *decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		if (!g_ascii_isxdigit(from[1]) || !g_ascii_isxdigit(from[2]))
			return "two hexadecimal digits follow a %, and %25 stands for it";
		*to = (char)(g_ascii_xdigit_value(from[1]) << 4 | g_ascii_xdigit_value(from[2]));
		if (*to++ == '\0')
			return "no name has a zero byte";
		from += 2;
	}
	*to = '\0';
	return NULL;
}

/* Leaves out what names nothing; NULL, or what is wrong with it. */
static const char *take_path(struct place *place, const char *text)
{
	char *decoded = g_strdup(text);
	const char *wrong = decode(decoded);
	GString *path = g_string_new(NULL);
	char **names = wrong == NULL ? g_strsplit(decoded, "/", -1) : NULL;

	for (char **name = names; wrong == NULL && *name != NULL; name++) {
		if (strcmp(*name, "..") == 0)
			wrong = "'..' leads up, and an URL of wavehaul may not";
		else if (**name != '\0' && strcmp(*name, ".") != 0)
			g_string_append_printf(path, "%s%s", path->len > 0 ? "/" : "", *name);
	}
	g_strfreev(names);
	g_free(decoded);
	place->path = g_string_free(path, false);
	return wrong;
}

bool place_of(const char *url, struct place *place, GError **err)
{
	const char *text = url + strlen(SCHEME), *slash, *wrong = NULL;

	*place = (struct place){};
	g_assert(place_is(url));
	slash = strchr(text, '/');
	if (slash == NULL)
		slash = text + strlen(text);
	if (!take_host(place, text, (size_t)(slash - text)))
		wrong = "the URL is wavehaul://HOST[:PORT]/PATH";
	if (wrong == NULL)
		wrong = take_path(place, slash);
	if (wrong == NULL)
		return true;
	place_clear(place);
	gfal2_set_error(err, plugin_quark(), EINVAL, __func__, "%s: %s", url, wrong);
	return false;
}

void place_clear(struct place *place)
{
	g_free(place->host);
	g_free(place->path);
	*place = (struct place){};
}

char *place_word(const struct place *place)
{
	return g_strdup_printf("%s:%s", place->host, place->path[0] != '\0' ? place->path : ".");
}

char *place_literal(const struct place *place)
{
	char **names = g_strsplit(place->path, "/", -1);
	GString *word = g_string_new(place->host);

	g_string_append_c(word, ':');
	if (names[0] == NULL)
		g_string_append_c(word, '.');
	for (char **name = names; *name != NULL; name++) {
		bool is_pattern = strpbrk(*name, "*?[") != NULL;

		if (name != names)
			g_string_append_c(word, '/');
		for (const char *sign = *name; *sign != '\0'; sign++) {
			if (is_pattern && strchr("\\*?[", *sign) != NULL)
				g_string_append_c(word, '\\');
			g_string_append_c(word, *sign);
		}
	}
	g_strfreev(names);
	return g_string_free(word, false);
}

const char *place_name(const struct place *place)
{
	const char *slash = strrchr(place->path, '/');

	return slash != NULL ? slash + 1 : place->path;
}

bool place_parent(const struct place *place, struct place *parent)
{
	const char *name = place_name(place);

	if (place->path[0] == '\0')
		return false;
	*parent = (struct place){
		.host = g_strdup(place->host),
		.port = place->port,
		.path = name == place->path
				? g_strdup("")
				: g_strndup(place->path, (size_t)(name - 1 - place->path)),
	};
	return true;
}

char *place_encode(const char *name)
{
	GString *encoded = g_string_new(NULL);

	while (*name != '\0') {
		gunichar sign = g_utf8_get_char_validated(name, -1);
		bool is_valid = sign != (gunichar)-1 && sign != (gunichar)-2;
		size_t bytes = is_valid ? (size_t)(g_utf8_next_char(name) - name) : 1;

		if (is_valid && sign != '%' && !g_unichar_iscntrl(sign))
			g_string_append_len(encoded, name, (gssize)bytes);
		else
			for (size_t i = 0; i < bytes; i++)
				g_string_append_printf(encoded, "%%%02X", (unsigned char)name[i]);
		name += bytes;
	}
	return g_string_free(encoded, false);
}
