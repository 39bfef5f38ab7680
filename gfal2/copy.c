/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies between a file of this host and another one, through this process, which sums up the bytes
 * on their way. wavehaul(1) compares a digest of all of them before a file has its name, so the sum
 * of what was sent is the sum of what is there.
 */

#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "verbs.h"

#define FILE_SCHEME "file://"
#define TELL_US     (G_USEC_PER_SEC / 2)
#define CHECKSUM_S  1800 /* as gfal2's own plug-ins have it */

static bool is_file(const char *url)
{
	return g_str_has_prefix(url, FILE_SCHEME "/");
}

int copy_is_ours(plugin_handle handle, gfal2_context_t context, const char *from, const char *to,
	gfal_url2_check check)
{
	(void)handle;
	(void)context;
	return check == GFAL_FILE_COPY && (place_is(from) || place_is(to)) &&
	       (place_is(from) || is_file(from)) && (place_is(to) || is_file(to));
}

bool copy_fail(GError **err, int code, const char *side, const char *note, const char *sentence)
{
	gfalt_set_error(err, plugin_quark(), code, __func__, side, note, "%s", sentence);
	return false;
}

bool copy_judge(const struct copy *copy, const char *sum, const char *side, GError **err)
{
	if (copy->value[0] == '\0' || sum_is(sum, copy->value))
		return true;
	gfalt_set_error(err, plugin_quark(), EIO, __func__, side, GFALT_ERROR_CHECKSUM_MISMATCH,
		"the %s is %s, and %s was expected", copy->type, sum, copy->value);
	return false;
}

void copy_tell(struct copy *copy)
{
	gint64 now_us = g_get_monotonic_time(), since_us = now_us - copy->last_us;
	struct _gfalt_transfer_status status = {
		.bytes_transfered = copy->bytes,
		.transfer_time = (time_t)((now_us - copy->began_us) / G_USEC_PER_SEC),
	};

	if (since_us < TELL_US)
		return;
	status.average_baudrate =
		(size_t)((double)copy->bytes * G_USEC_PER_SEC / (double)(now_us - copy->began_us));
	/* What began anew has fewer bytes than before. */
	if (copy->bytes > copy->last_bytes)
		status.instant_baudrate = (size_t)((double)(copy->bytes - copy->last_bytes) *
						   G_USEC_PER_SEC / (double)since_us);
	copy->last_us = now_us;
	copy->last_bytes = copy->bytes;
	plugin_trigger_monitor(copy->params, &status, copy->from, copy->to);
}

/* The bytes on their way between a file of this host and a child. */
struct stream {
	struct copy *copy;
	int fd;
	struct sum sum;
	struct stat stat; /* of a file that is sent, from before */
};

static bool stream_beat(void *context, GError **err)
{
	const struct stream *stream = context;

	(void)err;
	copy_tell(stream->copy);
	return true;
}

/* All was read: nothing of it is there yet, and nothing will be if this fails. */
static bool may_end(struct stream *stream, GError **err)
{
	struct stat now;
	char *sum;
	bool is_right = true;

	if (fstat(stream->fd, &now) != 0 || (size_t)now.st_size != stream->copy->bytes ||
		now.st_mtim.tv_sec != stream->stat.st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != stream->stat.st_mtim.tv_nsec)
		return copy_fail(
			err, EIO, GFALT_ERROR_SOURCE, NULL, "the file changed while it was sent");
	if (stream->copy->mode != GFALT_CHECKSUM_NONE) {
		sum = sum_end(&stream->sum);
		is_right = copy_judge(stream->copy, sum, GFALT_ERROR_SOURCE, err);
		g_free(sum);
	}
	return is_right;
}

static ssize_t stream_feed(void *context, void *buffer, size_t bytes, GError **err)
{
	struct stream *stream = context;
	ssize_t count;

	do {
		count = read(stream->fd, buffer, bytes);
	} while (count < 0 && errno == EINTR);
	if (count < 0) {
		copy_fail(err, errno, GFALT_ERROR_SOURCE, NULL, g_strerror(errno));
		return -1;
	}
	if (count == 0)
		return may_end(stream, err) ? 0 : -1;
	if (stream->copy->mode != GFALT_CHECKSUM_NONE)
		sum_add(&stream->sum, buffer, (size_t)count);
	stream->copy->bytes += (size_t)count;
	return count;
}

static bool stream_take(void *context, const void *bytes, size_t count, GError **err)
{
	struct stream *stream = context;
	const char *at = bytes;

	if (stream->copy->mode != GFALT_CHECKSUM_NONE)
		sum_add(&stream->sum, bytes, count);
	stream->copy->bytes += count;
	while (count > 0) {
		ssize_t written = stream->fd >= 0 ? write(stream->fd, at, count) : (ssize_t)count;

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return copy_fail(
				err, errno, GFALT_ERROR_DESTINATION, NULL, g_strerror(errno));
		at += written;
		count -= (size_t)written;
	}
	return true;
}

bool copy_make_parent(const struct copy *copy, const struct place *to, GError **err)
{
	struct place parent;
	bool is_made = true;

	if (!copy->makes_parents || !place_parent(to, &parent))
		return true;
	if (parent.path[0] != '\0')
		is_made = names_make(copy->plugin, &parent, err);
	place_clear(&parent);
	return is_made;
}

static bool send_stream(struct stream *stream, const struct place *to, GError **err)
{
	struct copy *copy = stream->copy;
	struct flow flow = {.feed = stream_feed, .beat = stream_beat, .context = stream};
	char *word = place_word(to);
	json_t *report = verb_ask(copy->plugin,
		verb_words(copy->plugin, to, "send", "-", word, "--json",
			copy->replaces ? NULL : "--ignore-existing", NULL),
		copy->timeout_s, &flow, err);
	bool is_there = report != NULL;

	if (is_there && !copy->replaces &&
		json_integer_value(json_object_get(report, "skipped")) > 0)
		is_there = copy_fail(err, EEXIST, GFALT_ERROR_DESTINATION, GFALT_ERROR_EXISTS,
			"the target exists, and is not to be replaced");
	json_decref(report);
	g_free(word);
	return is_there;
}

/* From a file of this host. */
static bool upload(struct copy *copy, const char *path, const struct place *to, GError **err)
{
	struct stream stream = {.copy = copy, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	bool is_sent = false;

	if (stream.fd < 0 || fstat(stream.fd, &stream.stat) != 0)
		copy_fail(err, errno, GFALT_ERROR_SOURCE, NULL, g_strerror(errno));
	else if (!S_ISREG(stream.stat.st_mode))
		copy_fail(err, S_ISDIR(stream.stat.st_mode) ? EISDIR : EINVAL, GFALT_ERROR_SOURCE,
			NULL, "the source is no regular file");
	else if (copy_make_parent(copy, to, err)) {
		if (copy->mode != GFALT_CHECKSUM_NONE)
			sum_begin(&stream.sum, copy->type);
		is_sent = send_stream(&stream, to, err);
		g_clear_pointer(&stream.sum.by_glib, g_checksum_free);
	}
	if (stream.fd >= 0)
		close(stream.fd);
	return is_sent;
}

static bool get_stream(struct stream *stream, const struct place *from, const char *offset,
	const char *length, GError **err)
{
	const struct plugin *plugin = stream->copy->plugin;
	struct flow flow = {.take = stream_take, .beat = stream_beat, .context = stream};
	char *word = place_literal(from);
	char **words = length != NULL ? verb_words(plugin, from, "get", word, "-", "--quiet",
						"--offset", offset, "--length", length, NULL)
				      : verb_words(plugin, from, "get", word, "-", "--quiet",
						offset != NULL ? "--offset" : NULL, offset, NULL);

	g_free(word);
	return verb_run(plugin, words, stream->copy->timeout_s, &flow, err);
}

/* All is there and right: it gets its name. */
static bool name_it(const struct copy *copy, const struct stream *stream, const char *temporary,
	const char *path, GError **err)
{
	if (fsync(stream->fd) != 0)
		return copy_fail(err, errno, GFALT_ERROR_DESTINATION, NULL, g_strerror(errno));
	if (copy->replaces ? rename(temporary, path) == 0 : link(temporary, path) == 0)
		return true;
	return copy_fail(err, errno, GFALT_ERROR_DESTINATION,
		errno == EEXIST ? GFALT_ERROR_EXISTS : NULL, g_strerror(errno));
}

static bool receive(struct stream *stream, const struct place *from, const char *temporary,
	const char *path, GError **err)
{
	const struct copy *copy = stream->copy;
	bool is_right;
	char *sum;

	if (!get_stream(stream, from, NULL, NULL, err))
		return false;
	if (copy->mode != GFALT_CHECKSUM_NONE) {
		sum = sum_end(&stream->sum);
		is_right = copy_judge(copy, sum, GFALT_ERROR_DESTINATION, err);
		g_free(sum);
		if (!is_right)
			return false;
	}
	return name_it(copy, stream, temporary, path, err);
}

/* Before anything moves: what is there, and the folder above. */
static bool prepare_path(const struct copy *copy, const char *path, GError **err)
{
	struct stat stat;
	char *folder;
	int made = 0;

	if (lstat(path, &stat) == 0) {
		if (S_ISDIR(stat.st_mode))
			return copy_fail(err, EISDIR, GFALT_ERROR_DESTINATION, NULL,
				"the target is a folder");
		if (!copy->replaces)
			return copy_fail(err, EEXIST, GFALT_ERROR_DESTINATION, GFALT_ERROR_EXISTS,
				"the target exists, and is not to be replaced");
		if (!S_ISREG(stat.st_mode) && !S_ISLNK(stat.st_mode))
			return copy_fail(err, EINVAL, GFALT_ERROR_DESTINATION, NULL,
				"the target is no regular file");
	}
	if (copy->makes_parents) {
		folder = g_path_get_dirname(path);
		made = g_mkdir_with_parents(folder, 0755);
		g_free(folder);
	}
	return made == 0 || copy_fail(err, errno, GFALT_ERROR_DESTINATION, GFALT_ERROR_PARENT,
				    g_strerror(errno));
}

/* To a file of this host: beside the target until it is right. */
static bool download(struct copy *copy, const struct place *from, const char *path, GError **err)
{
	char *folder = g_path_get_dirname(path);
	char *temporary = g_build_filename(folder, ".wavehaul-XXXXXX", NULL);
	struct stream stream = {.copy = copy, .fd = -1};
	bool is_there = false;

	if (prepare_path(copy, path, err)) {
		stream.fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0644);
		if (stream.fd < 0)
			copy_fail(err, errno, GFALT_ERROR_DESTINATION, NULL, g_strerror(errno));
	}
	if (stream.fd >= 0) {
		if (copy->mode != GFALT_CHECKSUM_NONE)
			sum_begin(&stream.sum, copy->type);
		is_there = receive(&stream, from, temporary, path, err);
		g_clear_pointer(&stream.sum.by_glib, g_checksum_free);
		close(stream.fd);
		/* By a rename it has gone already. */
		unlink(temporary);
	}
	g_free(temporary);
	g_free(folder);
	return is_there;
}

/* A copy of nothing to nowhere: what is read is summed up. */
char *copy_sum(const struct copy *copy, const struct place *place, GError **err)
{
	struct copy reading = *copy;
	struct stream stream = {.copy = &reading, .fd = -1};
	char *sum = NULL;

	reading.last_us = G_MAXINT64; /* nobody is told */
	sum_begin(&stream.sum, copy->type);
	if (get_stream(&stream, place, NULL, NULL, err))
		sum = sum_end(&stream.sum);
	g_clear_pointer(&stream.sum.by_glib, g_checksum_free);
	return sum;
}

static bool read_params(struct copy *copy, GError **err)
{
	struct sum sum;

	copy->mode = gfalt_get_checksum(copy->params, copy->type, sizeof(copy->type), copy->value,
		sizeof(copy->value), NULL);
	if (gfalt_get_strict_copy_mode(copy->params, NULL))
		copy->mode = GFALT_CHECKSUM_NONE;
	copy->replaces = gfalt_get_replace_existing_file(copy->params, NULL);
	copy->makes_parents = gfalt_get_create_parent_dir(copy->params, NULL);
	copy->timeout_s = gfalt_get_timeout(copy->params, NULL);
	if (copy->mode == GFALT_CHECKSUM_NONE)
		return true;
	if (copy->type[0] == '\0')
		g_strlcpy(copy->type, "ADLER32", sizeof(copy->type));
	if (!sum_begin(&sum, copy->type))
		return copy_fail(err, ENOSYS, GFALT_ERROR_CHECKSUM, NULL,
			"there is no such checksum; there are ADLER32, CRC32, MD5, SHA1, SHA256, "
			"SHA512");
	g_free(sum_end(&sum));
	return true;
}

static bool copy_either(struct copy *copy, const char *from, const char *to, GError **err)
{
	struct place source = {}, target = {};
	bool is_copied = false;

	if ((place_is(from) && !place_of(from, &source, err)) ||
		(place_is(to) && !place_of(to, &target, err)))
		;
	else if (source.host == NULL)
		is_copied = upload(copy, from + strlen(FILE_SCHEME), &target, err);
	else if (target.host == NULL)
		is_copied = download(copy, &source, to + strlen(FILE_SCHEME), err);
	else
		is_copied = copy_third(copy, &source, &target, err);
	place_clear(&source);
	place_clear(&target);
	return is_copied;
}

int copy_file(plugin_handle handle, gfal2_context_t context, gfalt_params_t params,
	const char *from, const char *to, GError **err)
{
	struct copy copy = {
		.plugin = handle,
		.params = params,
		.from = from,
		.to = to,
		.began_us = g_get_monotonic_time(),
	};
	bool is_third = place_is(from) && place_is(to), is_copied;

	(void)context;
	copy.last_us = copy.began_us;
	if (!read_params(&copy, err))
		return -1;
	plugin_trigger_event(params, plugin_quark(), GFAL_EVENT_NONE, GFAL_EVENT_TRANSFER_TYPE,
		"%s", is_third ? GFAL_TRANSFER_TYPE_PUSH : GFAL_TRANSFER_TYPE_STREAMED);
	plugin_trigger_event(params, plugin_quark(), GFAL_EVENT_NONE, GFAL_EVENT_TRANSFER_ENTER,
		"%s => %s", from, to);
	is_copied = copy_either(&copy, from, to, err);
	plugin_trigger_event(params, plugin_quark(), GFAL_EVENT_NONE, GFAL_EVENT_TRANSFER_EXIT,
		"%s => %s", from, to);
	return is_copied ? 0 : -1;
}

static char *sum_range(const struct plugin *plugin, const struct place *place, const char *type,
	off_t offset, size_t length, GError **err)
{
	struct copy copy = {
		.plugin = plugin,
		.mode = GFALT_CHECKSUM_BOTH,
		.timeout_s = plugin_timeout_s(plugin, "CHECKSUM_TIMEOUT", CHECKSUM_S),
		.last_us = G_MAXINT64, /* nobody is told */
	};
	struct stream stream = {.copy = &copy, .fd = -1};
	char *first = offset > 0 || length > 0 ? g_strdup_printf("%lld", (long long)offset) : NULL;
	char *bytes = length > 0 ? g_strdup_printf("%zu", length) : NULL, *sum = NULL;

	if (!sum_begin(&stream.sum, type))
		gfal2_set_error(err, plugin_quark(), ENOSYS, __func__,
			"there is no checksum %s; there are ADLER32, CRC32, MD5, SHA1, SHA256, "
			"SHA512",
			type);
	else if (get_stream(&stream, place, first, bytes, err))
		sum = sum_end(&stream.sum);
	g_clear_pointer(&stream.sum.by_glib, g_checksum_free);
	g_free(first);
	g_free(bytes);
	return sum;
}

int copy_checksum(plugin_handle handle, const char *url, const char *type, char *text,
	size_t text_bytes, off_t offset, size_t length, GError **err)
{
	struct place place;
	char *sum;
	bool has_room;

	if (!place_of(url, &place, err))
		return -1;
	sum = sum_range(handle, &place, type, offset, length, err);
	place_clear(&place);
	if (sum == NULL)
		return -1;
	has_room = g_strlcpy(text, sum, text_bytes) < text_bytes;
	g_free(sum);
	if (!has_room)
		gfal2_set_error(err, plugin_quark(), ENOBUFS, __func__,
			"no room for a checksum of that length");
	return has_room ? 0 : -1;
}
