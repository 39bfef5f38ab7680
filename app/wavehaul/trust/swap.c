/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/swap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/assert.h"
#include "cli/child/child.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "trust/fingerprint.h"

#define ANSWER_BYTES_MAX (64 << 10)
#define WORDS_BEHIND     8

/* A shell parses it there: names and keys contain no special characters. */
static char **make_command(const struct wh_swap *swap, const char *key)
{
	char **word = calloc(swap->words + WORDS_BEHIND, sizeof(word[0]));
	const char *behind[] = {"wavehaul", "trust", "add", swap->as, key, "--json",
		swap->replace ? "--replace" : NULL, NULL};

	static_assert(sizeof(behind) / sizeof(behind[0]) <= WORDS_BEHIND, "room for all");
	if (word == NULL)
		return NULL;
	memcpy(word, swap->via, swap->words * sizeof(word[0]));
	for (uint32_t i = 0; behind[i] != NULL; i++)
		word[swap->words + i] = (char *)behind[i];
	return word;
}

static ssize_t read_all(int fd, char *text)
{
	size_t bytes = 0;
	ssize_t got = 0;

	while (bytes < ANSWER_BYTES_MAX &&
		((got = read(fd, text + bytes, ANSWER_BYTES_MAX - bytes)) > 0 ||
			(got < 0 && errno == EINTR)))
		bytes += got > 0 ? (size_t)got : 0;
	return got < 0 ? got : (ssize_t)bytes;
}

/* The other host's output is not trusted: it is checked like a stranger's. */
static bool take_answer(const char *text, size_t bytes, uint8_t their_id[WH_IDENTITY_BYTES])
{
	json_t *answer = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
	const char *key = json_string_value(json_object_get(json_object_get(answer, "own"), "key"));
	bool ok = json_is_true(json_object_get(answer, "ok"));
	bool good = ok && key != NULL && wh_id_read(key, their_id);
	const char *error = json_string_value(json_object_get(answer, "error"));

	if (!good && error != NULL)
		wh_complain("the other host says: %s", error);
	else if (!good)
		wh_complain("the other host's answer is not that of `wavehaul trust add --json`; "
			    "is the same wavehaul installed there, and in its PATH?");
	json_decref(answer);
	return good;
}

/* The command shares our stdin, since it may ask for a password. */
static int run(char **command, char *text, uint8_t their_id[WH_IDENTITY_BYTES])
{
	struct wh_child child;
	int error = wh_child_start(&child, command, true);

	if (error != 0)
		return wh_fail(WH_EXIT_NO_FILE, "cannot run %s: %s", command[0], strerror(error));

	ssize_t bytes = read_all(child.from_fd, text);
	int ended = wh_child_wait(&child);

	if (bytes <= 0 && ended != 0)
		return wh_fail(WH_EXIT_NETWORK,
			"%s exited with status %d before the other host sent its key; its messages "
			"are above",
			command[0], ended);
	if (bytes < 0 || !take_answer(text, (size_t)bytes, their_id))
		return WH_EXIT_NETWORK;
	return -1;
}

int wh_swap_run(const struct wh_swap *swap, uint8_t their_id[WH_IDENTITY_BYTES])
{
	char key[WH_ID_TEXT_BYTES];
	char **command = make_command(swap, wh_id_text(swap->own_id, key));
	char *text = malloc(ANSWER_BYTES_MAX);
	int status = WH_EXIT_OTHER;

	WH_ASSERT(swap->words > 0);
	if (command != NULL && text != NULL)
		status = run(command, text, their_id);
	free(command);
	free(text);
	return status;
}
