/* SPDX-License-Identifier: BSD-3-Clause */

#include "names.h"

#include <errno.h>
#include <string.h>

#include "verbs.h"

#define BLOCK_BYTES 512
#define NAMESPACE_S 300 /* as gfal2's own plug-ins have it */

struct list {
	json_t *report;
	size_t next;
	struct dirent *entry; /* the last one that was read */
};

/* The path of an entry; names that are no UTF-8 come as hexadecimal digits. NULL: it has none. */
static char *path_of(const json_t *entry)
{
	const char *path = json_string_value(json_object_get(entry, "path"));
	const char *digits = json_string_value(json_object_get(entry, "path_hex"));
	GString *bytes;

	if (path != NULL)
		return g_strdup(g_str_has_prefix(path, "./") ? path + 2 : path);
	if (digits == NULL)
		return NULL;
	bytes = g_string_new(NULL);
	for (; g_ascii_isxdigit(digits[0]) && g_ascii_isxdigit(digits[1]); digits += 2)
		g_string_append_c(bytes, (char)(g_ascii_xdigit_value(digits[0]) << 4 |
						 g_ascii_xdigit_value(digits[1])));
	return g_string_free(bytes, false);
}

static mode_t kind_of(const json_t *entry)
{
	const char *kind = json_string_value(json_object_get(entry, "kind"));

	if (g_strcmp0(kind, "folder") == 0)
		return S_IFDIR;
	if (g_strcmp0(kind, "link") == 0)
		return S_IFLNK;
	return g_strcmp0(kind, "file") == 0 ? S_IFREG : S_IFIFO;
}

static void fill(struct stat *stat, const json_t *entry)
{
	json_int_t mode = json_integer_value(json_object_get(entry, "mode"));

	*stat = (struct stat){
		.st_mode = kind_of(entry) | ((mode_t)mode & 07777),
		.st_nlink = 1,
		.st_uid = (uid_t)json_integer_value(json_object_get(entry, "uid")),
		.st_gid = (gid_t)json_integer_value(json_object_get(entry, "gid")),
		.st_size = json_integer_value(json_object_get(entry, "bytes")),
		.st_blocks = json_integer_value(json_object_get(entry, "used_bytes")) / BLOCK_BYTES,
		.st_mtim.tv_sec = json_integer_value(json_object_get(entry, "mtime_s")),
		.st_mtim.tv_nsec = json_integer_value(json_object_get(entry, "mtime_ns")),
	};
	stat->st_atim = stat->st_ctim = stat->st_mtim;
}

static guint64 timeout_of(const struct plugin *plugin)
{
	return plugin_timeout_s(plugin, "NAMESPACE_TIMEOUT", NAMESPACE_S);
}

static json_t *look(const struct plugin *plugin, const struct place *place, GError **err)
{
	char *word = place_literal(place);
	json_t *report = verb_ask(plugin, verb_words(plugin, place, "ls", word, "--json", NULL),
		timeout_of(plugin), NULL, err);

	g_free(word);
	return report;
}

static const json_t *find(const json_t *report, const char *path)
{
	size_t index;
	const json_t *entry;

	json_array_foreach(json_object_get(report, "entries"), index, entry)
	{
		char *found = path_of(entry);
		bool is_it = g_strcmp0(found, path) == 0;

		g_free(found);
		if (is_it)
			return entry;
	}
	return NULL;
}

/* The served folder is in none that is listed: it is there, and that is all that is known. */
static bool stat_folder(
	const struct plugin *plugin, const struct place *place, struct stat *stat, GError **err)
{
	struct place parent;
	json_t *report;
	const json_t *entry;

	*stat = (struct stat){.st_mode = S_IFDIR | 0755, .st_nlink = 1};
	if (!place_parent(place, &parent))
		return true;
	report = look(plugin, &parent, err);
	entry = find(report, place->path);
	/* By a link it has another name there, and a pattern of a name is none of a link. */
	if (entry != NULL && kind_of(entry) == S_IFDIR)
		fill(stat, entry);
	json_decref(report);
	place_clear(&parent);
	return report != NULL;
}

bool names_stat_place(
	const struct plugin *plugin, const struct place *place, struct stat *stat, GError **err)
{
	json_t *report = look(plugin, place, err);
	const json_t *entry = find(report, place->path);
	bool is_file = entry != NULL && kind_of(entry) != S_IFDIR;

	if (is_file)
		fill(stat, entry);
	json_decref(report);
	return report != NULL && (is_file || stat_folder(plugin, place, stat, err));
}

int names_stat(plugin_handle handle, const char *url, struct stat *stat, GError **err)
{
	struct place place;
	bool is_there;

	if (!place_of(url, &place, err))
		return -1;
	is_there = names_stat_place(handle, &place, stat, err);
	place_clear(&place);
	return is_there ? 0 : -1;
}

static json_t *list_of(const struct plugin *plugin, const struct place *place, GError **err)
{
	json_t *report = look(plugin, place, err);
	const json_t *entry = find(report, place->path);

	if (entry == NULL)
		return report;
	gfal2_set_error(err, plugin_quark(), ENOTDIR, __func__, "%s is no folder", place->path);
	json_decref(report);
	return NULL;
}

gfal_file_handle names_open(plugin_handle handle, const char *url, GError **err)
{
	struct place place;
	struct list *list;
	json_t *report;

	if (!place_of(url, &place, err))
		return NULL;
	report = list_of(handle, &place, err);
	place_clear(&place);
	if (report == NULL)
		return NULL;
	list = g_new0(struct list, 1);
	list->report = report;
	return gfal_file_handle_new2(PLUGIN_NAME, list, NULL, url);
}

/* A name may be longer in an URL than on a disk, and than a struct dirent has room for. */
static struct dirent *entry_of(const char *name, mode_t kind)
{
	size_t bytes = strlen(name) + 1;
	struct dirent *entry =
		g_malloc0(MAX(sizeof(*entry), G_STRUCT_OFFSET(struct dirent, d_name) + bytes));

	memcpy((char *)entry + G_STRUCT_OFFSET(struct dirent, d_name), name, bytes);
	entry->d_reclen = (unsigned short)bytes;
	entry->d_type = IFTODT(kind);
	return entry;
}

struct dirent *names_read_stat(
	plugin_handle handle, gfal_file_handle file, struct stat *stat, GError **err)
{
	struct list *list = gfal_file_handle_get_fdesc(file);
	const json_t *entry =
		json_array_get(json_object_get(list->report, "entries"), list->next++);
	char *path = entry != NULL ? path_of(entry) : NULL, *name;

	(void)handle;
	(void)err;
	g_clear_pointer(&list->entry, g_free);
	if (path == NULL)
		return NULL;
	name = place_encode(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
	fill(stat, entry);
	list->entry = entry_of(name, stat->st_mode);
	g_free(name);
	g_free(path);
	return list->entry;
}

struct dirent *names_read(plugin_handle handle, gfal_file_handle file, GError **err)
{
	struct stat stat;

	return names_read_stat(handle, file, &stat, err);
}

int names_close(plugin_handle handle, gfal_file_handle file, GError **err)
{
	struct list *list = gfal_file_handle_get_fdesc(file);

	(void)handle;
	(void)err;
	json_decref(list->report);
	g_free(list->entry);
	g_free(list);
	gfal_file_handle_delete(file);
	return 0;
}

/* Runs a verb that changes names; its words are freed. */
static bool change(const struct plugin *plugin, char **words, GError **err)
{
	json_t *report = verb_ask(plugin, words, timeout_of(plugin), NULL, err);

	json_decref(report);
	return report != NULL;
}

bool names_make(const struct plugin *plugin, const struct place *folder, GError **err)
{
	char *word = place_word(folder);
	bool is_made = change(
		plugin, verb_words(plugin, folder, "mkdir", "-p", word, "--json", NULL), err);

	g_free(word);
	return is_made;
}

int names_mkdir(plugin_handle handle, const char *url, mode_t mode, gboolean parents, GError **err)
{
	struct place place;
	char *word;
	bool is_made;

	/* The server's umask decides. */
	(void)mode;
	if (!place_of(url, &place, err))
		return -1;
	word = place_word(&place);
	is_made = parents ? names_make(handle, &place, err)
			  : change(handle,
				    verb_words(handle, &place, "mkdir", word, "--json", NULL), err);
	g_free(word);
	place_clear(&place);
	return is_made ? 0 : -1;
}

int names_unlink(plugin_handle handle, const char *url, GError **err)
{
	struct place place;
	char *word;
	bool is_removed;

	if (!place_of(url, &place, err))
		return -1;
	word = place_literal(&place);
	is_removed = change(handle, verb_words(handle, &place, "rm", word, "--json", NULL), err);
	g_free(word);
	place_clear(&place);
	return is_removed ? 0 : -1;
}

/* `mv` would move it into a folder of that name, which is not what a rename does. */
static bool is_no_folder(const struct plugin *plugin, const struct place *place, GError **err)
{
	struct stat stat;
	GError *why = NULL;

	if (names_stat_place(plugin, place, &stat, &why)) {
		if (!S_ISDIR(stat.st_mode))
			return true;
		gfal2_set_error(err, plugin_quark(), EISDIR, __func__,
			"%s is a folder, and nothing else can have its name", place->path);
		return false;
	}
	if (why->code != ENOENT) {
		g_propagate_error(err, why);
		return false;
	}
	g_error_free(why);
	return true;
}

static bool move(
	const struct plugin *plugin, const struct place *from, const struct place *to, GError **err)
{
	char *word, *other;
	bool is_moved;

	if (strcmp(from->host, to->host) != 0 || from->port != to->port) {
		gfal2_set_error(err, plugin_quark(), EXDEV, __func__,
			"from %s to %s is no rename; copy it", from->host, to->host);
		return false;
	}
	if (!is_no_folder(plugin, to, err))
		return false;
	word = place_word(from);
	other = place_word(to);
	is_moved = change(plugin, verb_words(plugin, from, "mv", word, other, "--json", NULL), err);
	g_free(word);
	g_free(other);
	return is_moved;
}

int names_rename(plugin_handle handle, const char *from, const char *to, GError **err)
{
	struct place old, new;
	bool is_moved = false;

	if (!place_of(from, &old, err))
		return -1;
	if (place_of(to, &new, err)) {
		is_moved = move(handle, &old, &new, err);
		place_clear(&new);
	}
	place_clear(&old);
	return is_moved ? 0 : -1;
}
