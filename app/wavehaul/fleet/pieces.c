/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/pieces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/whole_file.h"
#include "source/given.h"

#define NAME_BESIDE 16

struct pieces {
	const struct wh_pieces_how *how;
	FILE *names;
	int error;  /* of reading them */
	char *held; /* a name that was too much for the piece before; NULL: none */
	size_t room;
	struct wh_whole_file sums;
	char list[PATH_MAX];
	char got[PATH_MAX]; /* checksums of a piece */
};

/* False: there is none, or the list cannot be read. */
static bool hold_next(struct pieces *pieces)
{
	bool holds = getdelim(&pieces->held, &pieces->room, '\0', pieces->names) > 0;

	if (!holds && ferror(pieces->names))
		pieces->error = errno;
	return holds;
}

/* Writes the next piece; the name behind it is held. False after a complaint. */
static bool write_piece(struct pieces *pieces, bool *is_more)
{
	const struct wh_pieces_how *how = pieces->how;
	FILE *to = fopen(pieces->list, "we");
	size_t chars = 0, names = 0;
	bool good = to != NULL;

	do {
		good = good &&
		       fprintf(to, "%s:%s%s%s%c", how->host, how->above != NULL ? how->above : "",
			       how->above != NULL ? "/./" : "",
			       how->above != NULL ? wh_path_kept(pieces->held) : pieces->held,
			       '\0') > 0;
		chars += strlen(pieces->held) + NAME_BESIDE;
		*is_more = hold_next(pieces);
	} while (*is_more && ++names < how->names &&
		 chars + strlen(pieces->held) + NAME_BESIDE <= how->chars);
	if (to != NULL && fclose(to) != 0)
		good = false;
	return good || wh_fail(false, "cannot write %s: %s", pieces->list, strerror(errno));
}

/* False after a complaint. */
static bool add_sums(struct pieces *pieces)
{
	FILE *from = fopen(pieces->got, "re");
	char bytes[4096];
	size_t count;
	bool good = from != NULL;

	while (good && (count = fread(bytes, 1, sizeof(bytes), from)) > 0)
		good = fwrite(bytes, 1, count, pieces->sums.file) == count;
	good = good && ferror(from) == 0;
	if (from != NULL)
		fclose(from);
	return good || wh_fail(false, "cannot add the checksums of %s to %s: %s", pieces->got,
			       pieces->sums.path, strerror(errno));
}

static int get_all(struct pieces *pieces, wh_piece_fn on_piece, void *context)
{
	bool is_more = hold_next(pieces);
	int first = WH_EXIT_OK;

	while (is_more) {
		int status;

		if (!write_piece(pieces, &is_more))
			return WH_EXIT_OTHER;
		status = on_piece(context, pieces->list, pieces->got);
		if (status == WH_EXIT_OK && pieces->how->sums && !add_sums(pieces))
			return WH_EXIT_OTHER;
		if (first == WH_EXIT_OK)
			first = status;
		if (status != WH_EXIT_OK && status != WH_EXIT_PARTIAL && status != WH_EXIT_NO_FILE)
			return status;
	}
	/* What is behind was not got: that must not look like the end of the shard. */
	if (pieces->error != 0)
		return wh_fail(WH_EXIT_OTHER, "cannot read the names of the shard: %s",
			strerror(pieces->error));
	return first;
}

/* False after a complaint. */
static bool open_all(struct pieces *pieces, const struct wh_plan *plan, uint32_t shard)
{
	char path[PATH_MAX];
	int rc;

	wh_plan_path(plan, shard, "state", ".part", pieces->list);
	wh_plan_path(plan, shard, "state", ".got", pieces->got);
	wh_plan_path(plan, shard, "shards", "", path);
	pieces->names = fopen(path, "re");
	if (pieces->names == NULL)
		return wh_fail(false, "cannot read %s: %s", path, strerror(errno));
	if (!pieces->how->sums)
		return true;
	wh_plan_path(plan, shard, "state", ".sums", path);
	rc = wh_whole_file_open(&pieces->sums, path);
	return rc == 0 || wh_fail(false, "cannot write %s: %s", path, strerror(-rc));
}

int wh_pieces_go(const struct wh_plan *plan, uint32_t shard, const struct wh_pieces_how *how,
	wh_piece_fn on_piece, void *context)
{
	struct pieces pieces = {.how = how};
	int status = WH_EXIT_OTHER, rc;

	if (open_all(&pieces, plan, shard)) {
		status = get_all(&pieces, on_piece, context);
		if (how->sums && status != WH_EXIT_OK) {
			wh_whole_file_drop(&pieces.sums);
		} else if (how->sums) {
			rc = wh_whole_file_close(&pieces.sums, true);
			if (rc != 0)
				status = wh_fail(WH_EXIT_OTHER, "cannot write %s: %s",
					pieces.sums.path, strerror(-rc));
		}
	}
	if (pieces.names != NULL)
		fclose(pieces.names);
	free(pieces.held);
	return status;
}
