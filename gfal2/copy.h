/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "place.h"
#include "plugin.h"
#include "sums.h"

/* A copy that runs, as its kinds share it. */
struct copy {
	const struct plugin *plugin;
	gfalt_params_t params;
	const char *from, *to; /* URLs */
	gfalt_checksum_mode_t mode;
	char type[64], value[256]; /* of the checksum; "" where none is given */
	bool replaces, makes_parents;
	guint64 timeout_s;
	gint64 began_us, last_us;
	size_t bytes, last_bytes; /* that have arrived, and had when that was told last */
};

int copy_file(plugin_handle handle, gfal2_context_t context, gfalt_params_t params,
	const char *from, const char *to, GError **err);
int copy_is_ours(plugin_handle handle, gfal2_context_t context, const char *from, const char *to,
	gfal_url2_check check);

/* As struct _gfal_plugin_interface has it. */
int copy_checksum(plugin_handle handle, const char *url, const char *type, char *text,
	size_t text_bytes, off_t offset, size_t length, GError **err);

/* Tells who follows the copy how far it is, twice a second. */
void copy_tell(struct copy *copy);

bool copy_fail(GError **err, int code, const char *side, const char *note, const char *sentence);

/* Compares a checksum with the one that was given, if one was. `side` is of gfalt_set_error(). */
bool copy_judge(const struct copy *copy, const char *sum, const char *side, GError **err);

/* The checksum of a remote file, by reading it; to be freed. */
char *copy_sum(const struct copy *copy, const struct place *place, GError **err);

/* Makes the folder that the target is to be in, if that is wanted. */
bool copy_make_parent(const struct copy *copy, const struct place *to, GError **err);

/* From one other host to another; in third.c. */
bool copy_third(struct copy *copy, const struct place *from, const struct place *to, GError **err);
