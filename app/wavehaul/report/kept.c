/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/whole_file.h"
#include "report/probe_tell.h"

#define FORMAT 2

#define DAY_S          86400
#define FILE_BYTES_MAX 65536
#define MEMORY_MAX     1e15
#define PREFIX         "peer-"
#define SUFFIX         ".json"
#define WHEN_FORM      "%Y-%m-%dT%H:%M:%SZ"

bool wh_kept_where(const char *wanted, char folder[PATH_MAX])
{
	const char *service = getenv("STATE_DIRECTORY");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int length = -1;

	if (strcmp(wanted, "none") == 0)
		return false;
	if (wanted[0] != '\0')
		length = snprintf(folder, PATH_MAX, "%s", wanted);
	else if (service != NULL && service[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s", service);
	else if (geteuid() == 0)
		length = snprintf(folder, PATH_MAX, "/var/lib/wavehaul");
	else if (state != NULL && state[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s/wavehaul", state);
	else if (home != NULL && home[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s/.local/state/wavehaul", home);
	return length > 0 && length < PATH_MAX;
}

/*
 * An address has only digits, letters, dots and colons. A port may have any name, which is also
 * stored in the file: two with the same text here share a file, which the later one overwrites.
 */
static bool path_of(const struct wh_kept_place *place, char folder[PATH_MAX], char path[PATH_MAX])
{
	char port[64];
	int length;

	WH_ASSERT(strchr(place->peer, '/') == NULL);
	if (!wh_kept_where(place->folder, folder))
		return false;
	snprintf(port, sizeof(port), "%s", place->port);
	for (char *c = port; *c != '\0'; c++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_",
			    *c) == NULL)
			*c = '_';
	length = snprintf(path, PATH_MAX, "%s/" PREFIX "%s-%s" SUFFIX, folder, place->peer, port);
	return length > 0 && length < PATH_MAX;
}

static void make_folders(char folder[PATH_MAX])
{
	for (char *at = folder + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)mkdir(folder, 0755);
		*at = '/';
	}
	(void)mkdir(folder, 0755);
}

int wh_kept_folder(const char *wanted)
{
	char folder[PATH_MAX];

	if (!wh_kept_where(wanted, folder))
		return -1;
	make_folders(folder);
	return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Locks the folder itself: that needs neither space in it nor the right to write. */
int wh_kept_hold(const char *wanted)
{
	int place_fd = wh_kept_folder(wanted);
	int fd = place_fd >= 0 ? openat(place_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = fd < 0 ? ENOENT : flock(fd, LOCK_EX | LOCK_NB) != 0 ? errno : 0;

	if (place_fd >= 0)
		close(place_fd);
	if (error == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return error == EWOULDBLOCK ? -EBUSY : -error;
}

bool wh_kept_file(const char *wanted, const char *name, char path[PATH_MAX])
{
	char folder[PATH_MAX];
	int length = wh_kept_where(wanted, folder) ? snprintf(path, PATH_MAX, "%s/%s", folder, name)
						   : -1;

	return length > 0 && length < PATH_MAX;
}

static void write_when(char when[WH_KEPT_WHEN_BYTES])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, WH_KEPT_WHEN_BYTES, WHEN_FORM, &tm);
}

/* The clock may have been set back a little; a time far in the future is invalid. */
static bool read_when(const json_t *value, char when[WH_KEPT_WHEN_BYTES], uint32_t *age_s)
{
	const char *text = json_string_value(value);
	time_t now = time(NULL);
	struct tm tm = {0};
	const char *end = text == NULL ? NULL : strptime(text, WHEN_FORM, &tm);
	int64_t age;

	if (end == NULL || *end != '\0' || strlen(text) >= WH_KEPT_WHEN_BYTES)
		return false;
	strcpy(when, text);
	age = (int64_t)now - (int64_t)timegm(&tm);
	if (age < -DAY_S || age > UINT32_MAX)
		return false;
	*age_s = age < 0 ? 0 : (uint32_t)age;
	return true;
}

static bool read_number(const json_t *object, const char *key, double most, double *to)
{
	const json_t *value = json_object_get(object, key);

	*to = json_number_value(value);
	return json_is_number(value) && *to >= 0 && *to <= most;
}

static bool read_path(const json_t *object, struct wh_kept *kept)
{
	const char *by = json_string_value(json_object_get(object, "by"));
	double capacity_bps, rtt_ns, burst_pkts;

	if (by == NULL || strlen(by) >= WH_KEPT_BY_BYTES ||
		(strcmp(by, "probe") != 0 && wh_profile_find(by) == NULL) ||
		!read_number(object, "capacity_bps", (double)WH_KNOWN_BPS_MAX, &capacity_bps) ||
		!read_number(object, "rtt_ns", (double)WH_KNOWN_RTT_MAX_NS, &rtt_ns) ||
		!read_number(object, "burst_pkts", WH_KNOWN_PKTS_MAX, &burst_pkts) ||
		!read_when(json_object_get(object, "when"), kept->path_when, &kept->path.age_s))
		return false;
	strcpy(kept->path_by, by);
	kept->path.capacity_bps = (uint64_t)capacity_bps;
	kept->path.rtt_ns = (uint64_t)rtt_ns;
	kept->path.burst_pkts = (uint32_t)burst_pkts;
	return kept->path.capacity_bps > 0 && wh_known_path_valid(&kept->path);
}

/* A member that is null is unknown; one of a wrong type makes the file invalid. */
static bool read_kept(const json_t *object, const struct wh_kept_place *place, struct wh_kept *kept)
{
	const char *peer = json_string_value(json_object_get(object, "peer"));
	const json_t *path = json_object_get(object, "path");
	const json_t *probe = json_object_get(object, "probe");
	uint32_t age_s;

	if (json_integer_value(json_object_get(object, "format")) != FORMAT || peer == NULL ||
		strcmp(peer, place->peer) != 0 ||
		!json_is_string(json_object_get(object, "port")) ||
		!read_number(object, "memory_bytes", MEMORY_MAX, &kept->memory_bytes) ||
		(!json_is_null(path) && !read_path(path, kept)))
		return false;
	if (json_is_null(probe))
		return true;
	kept->probed = read_when(json_object_get(probe, "when"), kept->found_when, &age_s) &&
		       wh_findings_from_json(json_object_get(probe, "found"), &kept->found);
	return kept->probed;
}

/* A file created by another user is not trusted. */
static const char *open_kept(const char *path, json_t **object)
{
	char text[FILE_BYTES_MAX];
	struct stat status;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = NULL;
	ssize_t bytes;

	*object = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		why = "it is no regular file";
	else if (status.st_uid != geteuid() && status.st_uid != 0)
		why = "it is another user's";
	else if ((bytes = read(fd, text, sizeof(text))) < 0)
		why = strerror(errno);
	else if (bytes < (ssize_t)sizeof(text))
		*object = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	if (why == NULL && *object == NULL)
		why = "it is damaged";
	return why;
}

/* Also false for results of another port that shares this file. */
static bool is_of_port(const json_t *object, const struct wh_kept_place *place)
{
	const char *port = json_string_value(json_object_get(object, "port"));

	return port == NULL || strcmp(port, place->port) == 0;
}

bool wh_kept_recall(const struct wh_kept_place *place, struct wh_kept *kept)
{
	char folder[PATH_MAX];
	char path[PATH_MAX];
	json_t *object;

	*kept = (struct wh_kept){0};
	if (!path_of(place, folder, path))
		return false;

	const char *why = open_kept(path, &object);
	bool known = object != NULL && is_of_port(object, place);

	if (known && !read_kept(object, place, kept)) {
		known = false;
		why = "it is damaged";
	}
	if (why != NULL)
		wh_say("what is kept in %s is not believed: %s", path, why);
	if (!known)
		*kept = (struct wh_kept){0};
	else if (kept->path.age_s > WH_KEPT_PATH_DAYS * DAY_S)
		kept->path = (struct wh_known_path){0};
	json_decref(object);
	return known;
}

static json_t *path_json(const struct wh_kept *kept)
{
	if (kept->path.capacity_bps == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:s, s:s}", "capacity_bps",
		(json_int_t)kept->path.capacity_bps, "rtt_ns", (json_int_t)kept->path.rtt_ns,
		"burst_pkts", (json_int_t)kept->path.burst_pkts, "by", kept->path_by, "when",
		kept->path_when);
}

struct found_file {
	time_t changed;
	char name[NAME_MAX + 1];
};

static int by_age(const void *left, const void *right)
{
	time_t a = ((const struct found_file *)left)->changed;
	time_t b = ((const struct found_file *)right)->changed;

	return (a > b) - (a < b);
}

static bool is_kept(const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && bytes > strlen(SUFFIX) &&
	       strcmp(name + bytes - strlen(SUFFIX), SUFFIX) == 0;
}

/* Deletes the oldest files if there are too many, and all that are too old. */
static void sweep(const char *folder)
{
	struct found_file *files = calloc(2 * WH_KEPT_FILES_MAX, sizeof(*files));
	DIR *dir = files == NULL ? NULL : opendir(folder);
	time_t oldest = time(NULL) - (time_t)WH_KEPT_FILE_DAYS * DAY_S;
	uint32_t count = 0;
	struct dirent *entry;
	struct stat status;

	while (dir != NULL && count < 2 * WH_KEPT_FILES_MAX && (entry = readdir(dir)) != NULL) {
		if (!is_kept(entry->d_name) ||
			fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		files[count].changed = status.st_mtime;
		strcpy(files[count++].name, entry->d_name);
	}
	if (dir != NULL)
		qsort(files, count, sizeof(*files), by_age);
	for (uint32_t i = 0; i < count; i++)
		if (count - i > WH_KEPT_FILES_MAX || files[i].changed < oldest)
			(void)unlinkat(dirfd(dir), files[i].name, 0);
	if (dir != NULL)
		closedir(dir);
	free(files);
}

static int write_kept(const char *path, json_t *object)
{
	struct wh_whole_file whole;
	int rc = object == NULL ? -ENOMEM : wh_whole_file_open(&whole, path);

	if (rc != 0)
		return rc;
	/* Write errors are reported by closing. */
	(void)json_dumpf(object, whole.file, JSON_INDENT(2));
	fputc('\n', whole.file);
	return wh_whole_file_close(&whole, true);
}

static int keep(const struct wh_kept_place *place, const struct wh_kept *kept)
{
	char folder[PATH_MAX];
	char path[PATH_MAX];
	json_t *object;
	int rc;

	if (strcmp(place->folder, "none") == 0)
		return 0;
	if (!path_of(place, folder, path))
		return -ENAMETOOLONG;
	make_folders(folder);
	object = json_pack("{s:i, s:s, s:s, s:o, s:f, s:o}", "format", FORMAT, "peer", place->peer,
		"port", place->port, "path", path_json(kept), "memory_bytes", kept->memory_bytes,
		"probe",
		kept->probed ? json_pack("{s:s, s:o}", "when", kept->found_when, "found",
				       wh_findings_to_json(&kept->found))
			     : json_null());
	rc = write_kept(path, object);
	json_decref(object);
	if (rc == 0)
		sweep(folder);
	return rc;
}

struct wh_known_path wh_kept_path_of(const struct wh_findings *found)
{
	double bps = found->trains_bps > 0.0 ? found->trains_bps : 0.0;
	const struct wh_known_path path = {
		.capacity_bps = (uint64_t)fmin(bps, (double)WH_KNOWN_BPS_MAX),
		.rtt_ns = wh_min_u64(found->rtt_min_ns, WH_KNOWN_RTT_MAX_NS),
		.burst_pkts = (uint32_t)wh_min_u64(found->burst_pkts, WH_KNOWN_PKTS_MAX),
	};

	return wh_known_path_valid(&path) ? path : (struct wh_known_path){0};
}

static void set_path(struct wh_kept *kept, const struct wh_known_path *path, const char *by)
{
	/* A transfer may not have measured bursts. */
	uint32_t burst_pkts = path->burst_pkts > 0 ? path->burst_pkts : kept->path.burst_pkts;

	kept->path = *path;
	kept->path.burst_pkts = burst_pkts;
	snprintf(kept->path_by, sizeof(kept->path_by), "%s", by);
	write_when(kept->path_when);
}

int wh_kept_probe(const struct wh_kept_place *place, const struct wh_findings *found)
{
	const struct wh_known_path path = wh_kept_path_of(found);
	struct wh_kept kept;

	wh_kept_recall(place, &kept);
	kept.probed = true;
	kept.found = *found;
	write_when(kept.found_when);
	kept.memory_bytes = fmin(found->memory_bytes, MEMORY_MAX);
	if (path.capacity_bps > 0)
		set_path(&kept, &path, "probe");
	return keep(place, &kept);
}

int wh_kept_transfer(const struct wh_kept_place *place, const struct wh_known_path *found,
	const struct wh_profile *profile)
{
	struct wh_kept kept;

	WH_ASSERT(found->capacity_bps > 0 && wh_known_path_valid(found));
	wh_kept_recall(place, &kept);
	set_path(&kept, found, profile->name);
	return keep(place, &kept);
}
