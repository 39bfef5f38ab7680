/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/plain_text.h"
#include "seal/bond.h"
#include "trust/fingerprint.h"

/* Facility daemon, severity info: RFC 5424 6.2.1. */
static const struct listener {
	const char *word;
	const char *socket;
	const char *before;
} listeners[] = {
	{"syslog", "/dev/log", "<30>wavehaul: "},
	{"journal", "/run/systemd/journal/socket",
		"PRIORITY=6\nSYSLOG_IDENTIFIER=wavehaul\nMESSAGE="},
};

/* NULL: `where` is a file. *path: the socket, after a colon or the usual one. */
static const struct listener *listener_of(const char *where, const char **path)
{
	for (size_t i = 0; i < sizeof(listeners) / sizeof(listeners[0]); i++) {
		size_t chars = strlen(listeners[i].word);

		if (strncmp(where, listeners[i].word, chars) != 0 ||
			(where[chars] != '\0' && where[chars] != ':'))
			continue;
		*path = where[chars] == ':' ? where + chars + 1 : listeners[i].socket;
		return &listeners[i];
	}
	return NULL;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int wh_audit_open(struct wh_audit *audit, const char *where)
{
	const struct listener *listener;
	const char *path;

	*audit = (struct wh_audit){.fd = -1};
	if (where[0] == '\0')
		return WH_EXIT_OK;
	listener = listener_of(where, &path);
	if (listener != NULL) {
		audit->before = listener->before;
		audit->fd = connect_to(path);
	} else {
		audit->fd = open(where,
			O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
	}
	if (audit->fd >= 0)
		return WH_EXIT_OK;
	wh_complain("--audit %s: %s", where, strerror(errno));
	return WH_EXIT_NO_FILE;
}

void wh_audit_close(struct wh_audit *audit)
{
	uint64_t lost = atomic_load(&audit->lost);

	if (audit->fd < 0)
		return;
	if (lost > 0)
		wh_say("%llu lines of the audit could not be written", (unsigned long long)lost);
	close(audit->fd);
	audit->fd = -1;
}

/* In one call, so that lines of cores do not mix. The object is freed. */
static void write_line(struct wh_audit *audit, json_t *object)
{
	char *json = json_dumps(object, JSON_COMPACT);
	char *line = NULL;
	size_t bytes = 0;
	FILE *to = json != NULL ? open_memstream(&line, &bytes) : NULL;

	if (to != NULL) {
		if (audit->before != NULL)
			fputs(audit->before, to);
		wh_plain_json(json, to);
		putc('\n', to);
		fclose(to);
	}
	if (line == NULL || write(audit->fd, line, bytes) != (ssize_t)bytes)
		atomic_fetch_add(&audit->lost, 1);
	free(line);
	free(json);
	json_decref(object);
}

/* What every line begins with; a peer's port is as changeable as a client's process. */
static json_t *begin(const char *event, const struct wh_address *peer)
{
	char text[WH_ADDRESS_TEXT_BYTES];
	struct timespec now;
	struct tm parts;
	char when[64];
	char whole[96];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(whole, sizeof(whole), "%s.%03uZ", when, (unsigned int)(now.tv_nsec / 1000000));
	return json_pack("{s:s, s:s, s:o}", "time", whole, "event", event, "peer",
		peer->family != 0 ? json_string(wh_address_text(peer, text)) : json_null());
}

/* Who has proved to be that; null of a job that was not sealed. */
static json_t *identity_of(const struct wh_job *job)
{
	char text[WH_ID_TEXT_BYTES];

	return job->streams.bond != NULL
		       ? json_string(wh_id_text(job->streams.bond->config.peer_identity, text))
		       : json_null();
}

static const char *verb_of(const struct wh_job *job)
{
	switch (job->request.verb) {
	case WH_JOB_SEND:
		return "send";
	case WH_JOB_GET:
		return "get";
	case WH_JOB_BENCH:
		return "bench";
	default:
		return "idle";
	}
}

static const char *outcome_of(const struct wh_job *job, const struct wh_totals *totals)
{
	if (job->result.failed != WH_STATUS_PENDING)
		return wh_release_status_name(job->result.failed);
	return totals->failed > 0 ? "some files failed" : "ok";
}

static void add_what(json_t *line, const struct wh_job *job)
{
	const struct wh_totals totals = wh_job_totals(job);
	uint64_t ended_tsc = wh_max_u64(job->result.ended_tsc, job->turn.came_tsc);
	uint64_t ns = wh_tsc_to_ns(job->jobs->ground->hz, ended_tsc - job->turn.came_tsc);

	/* clang-format off */
	wh_json_add(line, json_pack("{s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:s, "
		"s:o}",
		"verb", verb_of(job),
		"lane", (int)job->place.lane,
		"lanes", (int)job->request.lanes,
		"paths", (int)job->request.here.count,
		"files", (json_int_t)totals.files,
		"skipped", (json_int_t)totals.skipped,
		"failed", (json_int_t)totals.failed,
		"bytes", (json_int_t)totals.bytes,
		"resumed_bytes", (json_int_t)totals.resumed_bytes,
		"moved_bytes", (json_int_t)job->view.moved_bytes,
		"seconds", (double)ns / 1e9,
		"outcome", outcome_of(job, &totals),
		"why", wh_text_to_json(job->result.why)));
	/* clang-format on */
	if (job->request.here.count > 0 && job->records.paths != NULL)
		wh_path_to_json(line, "path", job->records.paths[0]);
}

void wh_audit_job(void *state, const struct wh_job *job)
{
	struct wh_audit *audit = state;

	WH_ASSERT(job->role == WH_AT_SERVER);
	if (audit->fd < 0)
		return;

	json_t *line = begin("job", &job->place.peer);

	if (line == NULL) {
		atomic_fetch_add(&audit->lost, 1);
		return;
	}
	json_object_set_new(line, "identity", identity_of(job));
	add_what(line, job);
	write_line(audit, line);
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *proved_by(const struct wh_refusal *refusal)
{
	static const uint8_t nobody[WH_IDENTITY_BYTES];
	char text[WH_ID_TEXT_BYTES];
	bool proved = memcmp(refusal->identity, nobody, sizeof(nobody)) != 0;

	return text_or_null(proved ? wh_id_text(refusal->identity, text) : NULL);
}

void wh_audit_refused(struct wh_audit *audit, struct wh_refusals *refusals)
{
	struct wh_refusal refusal;

	for (uint32_t i = 0; i <= WH_REFUSALS_KEPT; i++) {
		if (!wh_refusals_take(refusals, &refusal))
			return;

		json_t *line = audit->fd >= 0 ? begin("refused", &refusal.peer) : NULL;

		if (line == NULL)
			continue;
		wh_json_add(line,
			json_pack("{s:o, s:o, s:o, s:I}", "identity", proved_by(&refusal),
				"outcome", text_or_null(refusal.outcome), "why",
				refusal.why[0] != '\0' ? wh_text_to_json(refusal.why) : json_null(),
				"times", (json_int_t)refusal.times));
		write_line(audit, line);
	}
}
