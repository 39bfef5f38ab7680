/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/audit.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"
#include "history/history_tell.h"
#include "trust/fingerprint.h"

/* Facility daemon, severity info (RFC 5424 6.2.1); and systemd's native protocol. */
static const struct listener {
	const char *word;
	const char *socket;
	enum wh_audit_form form;
} listeners[] = {
	{"syslog", "/dev/log", WH_AUDIT_SYSLOG},
	{"journal", "/run/systemd/journal/socket", WH_AUDIT_JOURNAL},
};

/* NULL: `where` is a file. *path: the socket after a colon, or the default one. */
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

/*
 * The child process connects the first time, too, so that connecting again under the guard takes
 * the same path.
 */
static int open_socket(struct wh_audit *audit, const char *path)
{
	int fd = wh_caller_start(&audit->caller, path, SOCK_DGRAM);

	if (fd == 0)
		fd = wh_caller_call(&audit->caller);
	if (fd < 0)
		wh_caller_end(&audit->caller);
	return fd;
}

int wh_audit_open(struct wh_audit *audit, const char *where)
{
	const struct listener *listener;
	const char *path;

	*audit = (struct wh_audit){.fd = -1, .caller = {.fd = -1}, .where = where};
	if (where[0] == '\0')
		return WH_EXIT_OK;
	listener = listener_of(where, &path);
	if (listener != NULL) {
		audit->form = listener->form;
		audit->fd = open_socket(audit, path);
	} else {
		audit->fd = open(where,
			O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
		if (audit->fd < 0)
			audit->fd = -errno;
	}
	if (audit->fd >= 0)
		return WH_EXIT_OK;
	wh_complain("--audit %s: %s", where, strerror(-audit->fd));
	audit->fd = -1;
	return WH_EXIT_NO_FILE;
}

void wh_audit_guard(struct wh_audit *audit)
{
	if (audit->caller.fd >= 0)
		wh_caller_guard(&audit->caller);
}

void wh_audit_close(struct wh_audit *audit)
{
	uint64_t lost = atomic_load(&audit->lost);

	if (audit->fd < 0)
		return;
	if (lost > 0)
		wh_say("%llu line%s of the audit could not be written", (unsigned long long)lost,
			wh_plural(lost));
	close(audit->fd);
	audit->fd = -1;
	wh_caller_end(&audit->caller);
}

/* "why" becomes WAVEHAUL_WHY=; no value contains a newline. */
static void write_field(FILE *to, const char *name, const json_t *value)
{
	char *json = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
	const char *text = json != NULL ? json : json_string_value(value);
	size_t room = text != NULL ? 4 * strlen(text) + 1 : 0;
	char *plain = malloc(room + 1);

	if (text != NULL && plain != NULL && !json_is_null(value)) {
		fputs("WAVEHAUL_", to);
		for (const char *c = name; *c != '\0'; c++)
			putc(toupper((unsigned char)*c), to);
		fprintf(to, "=%s\n", wh_plain_text(text, true, plain, room));
	}
	free(plain);
	free(json);
}

static void write_fields(FILE *to, const json_t *object, const char *sentence)
{
	const char *name;
	json_t *value;

	fprintf(to, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=wavehaul\n", sentence,
		json_integer_value(json_object_get(object, "exit_status")) == 0 ? 6 : 4);
	json_object_foreach((json_t *)object, name, value)
	{
		write_field(to, name, value);
	}
}

/* Of a line that was cut, by a full disk, the rest is lost; the next begins a line of its own. */
static bool is_written(struct wh_audit *audit, const char *line, size_t bytes)
{
	if (audit->torn && write(audit->fd, "\n", 1) != 1)
		return false;
	audit->torn = false;

	ssize_t written = write(audit->fd, line, bytes);

	audit->torn = written > 0 && written < (ssize_t)bytes;
	return written == (ssize_t)bytes;
}

/* The listener may have ended and restarted under the same name. */
static bool find_again(struct wh_audit *audit)
{
	bool gone = errno == ECONNREFUSED || errno == ENOTCONN || errno == ECONNRESET;

	return gone && wh_caller_again(&audit->caller) == 0;
}

/* With one system call, so that lines of several processes do not mix. */
static void put_line(struct wh_audit *audit, const char *line, size_t bytes)
{
	bool written = is_written(audit, line, bytes) ||
		       (find_again(audit) && is_written(audit, line, bytes));

	if (!written)
		atomic_fetch_add(&audit->lost, 1);
	if (written == audit->away)
		wh_say(written ? "--audit %s is writable again"
			       : "--audit %s cannot be written: lines are lost until it can",
			audit->where);
	audit->away = !written;
}

/* Frees the object. */
static void write_line(struct wh_audit *audit, json_t *object, const char *sentence)
{
	char *json = json_dumps(object, JSON_COMPACT);
	char *line = NULL;
	size_t bytes = 0;
	FILE *to = json != NULL ? open_memstream(&line, &bytes) : NULL;

	if (to != NULL) {
		if (audit->form == WH_AUDIT_SYSLOG)
			fputs("<30>wavehaul: ", to);
		if (audit->form == WH_AUDIT_JOURNAL) {
			write_fields(to, object, sentence);
		} else {
			wh_plain_json(json, to);
			putc('\n', to);
		}
		fclose(to);
	}
	if (line != NULL)
		put_line(audit, line, bytes);
	else
		atomic_fetch_add(&audit->lost, 1);
	free(line);
	free(json);
	json_decref(object);
}

static json_t *begin(const char *event, int64_t us)
{
	char when[WH_WHEN_BYTES];

	return json_pack("{s:s, s:s}", "time", wh_when_text(us, when), "event", event);
}

void wh_audit_record(
	struct wh_audit *audit, const struct wh_history_record *record, const char *sentence)
{
	if (audit->fd < 0)
		return;

	json_t *line = begin("job", record->ended_us);

	wh_json_add(line, wh_history_json(record));
	json_object_del(line, "id");
	json_object_set_new(line, "lane", json_integer(record->lane));
	write_line(audit, line, sentence);
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

/* "identity", the whole key as `trust add` takes it, and "fingerprint", what people call it. */
static void add_proof(json_t *line, const uint8_t identity[WH_IDENTITY_BYTES])
{
	static const uint8_t nobody[WH_IDENTITY_BYTES];
	char text[WH_ID_TEXT_BYTES], print[WH_FINGERPRINT_BYTES];
	bool proved = memcmp(identity, nobody, sizeof(nobody)) != 0;

	wh_json_add(line,
		json_pack("{s:o, s:o}", "identity",
			text_or_null(proved ? wh_id_text(identity, text) : NULL), "fingerprint",
			text_or_null(proved ? wh_fingerprint_text(identity, print) : NULL)));
}

void wh_audit_refused(
	struct wh_audit *audit, const struct wh_refusal *refusal, const char *sentence)
{
	char peer[WH_ADDRESS_TEXT_BYTES];

	if (audit->fd < 0)
		return;
	json_t *line = begin("refused", wh_wall_us());

	/* A peer's port may change at any time, like a client's process number. */
	json_object_set_new(line, "peer",
		text_or_null(
			refusal->peer.family != 0 ? wh_address_text(&refusal->peer, peer) : NULL));
	add_proof(line, refusal->identity);
	wh_json_add(
		line, json_pack("{s:o, s:o, s:I}", "outcome", text_or_null(refusal->outcome), "why",
			      wh_text_to_json(refusal->why), "times", (json_int_t)refusal->times));
	write_line(audit, line, sentence);
}

void wh_audit_removed(struct wh_audit *audit, const struct wh_removal *removal)
{
	char sentence[WH_ADDRESS_TEXT_BYTES + 4 * WH_PATH_BYTES_MAX + 32];
	char plain[4 * WH_PATH_BYTES_MAX + 1];
	char peer[WH_ADDRESS_TEXT_BYTES];

	if (audit->fd < 0)
		return;

	json_t *line = begin("removed", removal->us);

	json_object_set_new(line, "peer", json_string(wh_address_text(&removal->peer, peer)));
	add_proof(line, removal->identity);
	wh_path_to_json(line, "path", removal->path);
	wh_path_to_json(line, "file", removal->file);
	snprintf(sentence, sizeof(sentence), "%s removed %s", peer,
		wh_plain_text(removal->file, true, plain, sizeof(plain)));
	write_line(audit, line, sentence);
}
