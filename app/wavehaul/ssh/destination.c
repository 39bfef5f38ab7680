/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssh/destination.h"

#include <ctype.h>
#include <string.h>

bool wh_destination_has_user(const char *host)
{
	return strchr(host, '@') != NULL;
}

const char *wh_destination_name(const char *host)
{
	const char *at = strrchr(host, '@');

	return at != NULL ? at + 1 : host;
}

static bool has_only(const char *text, size_t chars, const char *others)
{
	for (size_t i = 0; i < chars; i++)
		if (!isalnum((unsigned char)text[i]) && strchr(others, text[i]) == NULL)
			return false;
	return chars > 0;
}

const char *wh_destination_wrong(const char *host)
{
	const char *name = wh_destination_name(host);
	size_t user_chars = (size_t)(name - host) - 1;

	if (host[0] == '-' || name[0] == '-')
		return "begins with -, which ssh would take for an option";
	if (!has_only(host, user_chars, "._+-@"))
		return "has no user that is passed on to ssh: letters, digits and ._+-@";
	if (!has_only(name, strlen(name), "._-:%"))
		return "has no host that is passed on to ssh: letters, digits and ._-:%";
	return NULL;
}

bool wh_destination_command(
	char *ssh, const char *const *behind, char *word[WH_DESTINATION_WORDS_MAX])
{
	uint32_t count = 0;
	char *rest = NULL;

	for (char *one = strtok_r(ssh, " \t", &rest); one != NULL;
		one = strtok_r(NULL, " \t", &rest)) {
		if (count + WH_DESTINATION_WORDS_BEHIND + 1 == WH_DESTINATION_WORDS_MAX)
			return false;
		word[count++] = one;
	}
	if (count == 0)
		return false;
	for (uint32_t i = 0; behind[i] != NULL; i++)
		word[count++] = (char *)behind[i];
	word[count] = NULL;
	return true;
}
