/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* What an URL wavehaul://HOST[:PORT]/PATH names. */
struct place {
	char *host;    /* as wavehaul(1) takes it: IPv6 in brackets */
	unsigned port; /* 0: the usual one */
	char *path;    /* below the served folder, %XX decoded; "" is that folder itself */
};

bool place_is(const char *url);
bool place_of(const char *url, struct place *place, GError **err);
void place_clear(struct place *place);

/* HOST:PATH. */
char *place_word(const struct place *place);

/* The same for a verb that knows wildcards: a name with such a sign stands for itself alone. */
char *place_literal(const struct place *place);

/* The folder that it is in; false: it is the served folder itself. */
bool place_parent(const struct place *place, struct place *parent);

/* The last name of its path. */
const char *place_name(const struct place *place);

/* A name as it stands in an URL: what is no valid UTF-8, control characters and % become %XX. */
char *place_encode(const char *name);
