/* SPDX-License-Identifier: BSD-3-Clause */

/* What gfal2 finds in the plug-in, and the entry by which it is loaded. */

#include "plugin.h"

#include <errno.h>

#include "copy.h"
#include "names.h"
#include "place.h"

__attribute__((visibility("default"))) gfal_plugin_interface gfal_plugin_init(
	gfal2_context_t context, GError **err);

GQuark plugin_quark(void)
{
	return g_quark_from_static_string("WAVEHAUL");
}

static const char *name_of(void)
{
	return PLUGIN_NAME;
}

static gboolean is_for_us(
	plugin_handle handle, const char *url, plugin_mode operation, GError **err)
{
	(void)handle;
	(void)err;
	switch (operation) {
	case GFAL_PLUGIN_STAT:
	case GFAL_PLUGIN_LSTAT:
	case GFAL_PLUGIN_OPENDIR:
	case GFAL_PLUGIN_MKDIR:
	case GFAL_PLUGIN_MKDIR_REC:
	case GFAL_PLUGIN_UNLINK:
	case GFAL_PLUGIN_RENAME:
	case GFAL_PLUGIN_CHECKSUM:
		return place_is(url);
	default:
		return false;
	}
}

guint64 plugin_timeout_s(const struct plugin *plugin, const char *key, int otherwise)
{
	int seconds = gfal2_get_opt_integer_with_default(plugin->context, "CORE", key, otherwise);

	return seconds > 0 ? (guint64)seconds : 0;
}

/* Of functions that it does not name, gfal2 says itself that there are none. */
gfal_plugin_interface gfal_plugin_init(gfal2_context_t context, GError **err)
{
	struct plugin *plugin = g_new0(struct plugin, 1);

	(void)err;
	plugin->context = context;
	return (gfal_plugin_interface){
		.plugin_data = plugin,
		.priority = 0, /* GFAL_PLUGIN_PRIORITY_DATA, which ends in a semicolon */
		.getName = name_of,
		.plugin_delete = g_free,
		.check_plugin_url = is_for_us,
		.statG = names_stat,
		.lstatG = names_stat,
		.opendirG = names_open,
		.readdirG = names_read,
		.readdirppG = names_read_stat,
		.closedirG = names_close,
		.mkdirpG = names_mkdir,
		.unlinkG = names_unlink,
		.renameG = names_rename,
		.checksum_calcG = copy_checksum,
		.check_plugin_url_transfer = copy_is_ours,
		.copy_file = copy_file,
	};
}
