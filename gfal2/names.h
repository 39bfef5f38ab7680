/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include "place.h"
#include "plugin.h"

/* What gfal2 asks about names; as struct _gfal_plugin_interface has them. */
int names_stat(plugin_handle handle, const char *url, struct stat *stat, GError **err);
gfal_file_handle names_open(plugin_handle handle, const char *url, GError **err);
struct dirent *names_read(plugin_handle handle, gfal_file_handle file, GError **err);
struct dirent *names_read_stat(
	plugin_handle handle, gfal_file_handle file, struct stat *stat, GError **err);
int names_close(plugin_handle handle, gfal_file_handle file, GError **err);
int names_mkdir(plugin_handle handle, const char *url, mode_t mode, gboolean parents, GError **err);
int names_unlink(plugin_handle handle, const char *url, GError **err);
int names_rename(plugin_handle handle, const char *from, const char *to, GError **err);

bool names_stat_place(
	const struct plugin *plugin, const struct place *place, struct stat *stat, GError **err);

/* With what is above it; it is no error if it is there. */
bool names_make(const struct plugin *plugin, const struct place *folder, GError **err);
