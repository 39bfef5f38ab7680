/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

/* Most records of digests per poll. */
#define TOLD_PER_POLL 8

bool wh_sink_may_list(const struct wh_sink *sink, const struct wh_large *file,
	const struct wh_entry *entry, const struct stat *status)
{
	return wh_choice_has(&sink->config.choice, WH_CHOICE_BLOCKS) && !sink->config.anew &&
	       !sink->config.is_pipe && entry->content == WH_CONTENT_ASK &&
	       S_ISREG(status->st_mode) &&
	       (uint64_t)status->st_size >= wh_block_bytes(file->size_bytes);
}

void wh_basis_stop(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;

	if (sink->listing == file)
		sink->listing = NULL;
	if (basis == NULL)
		return;
	wh_blocks_free(basis->blocks);
	wh_blocks_repay(&sink->config.account, &basis->charged);
	wh_likeness_free(basis->likeness);
	if (basis->fd >= 0)
		close(basis->fd);
	basis->blocks = NULL;
	basis->likeness = NULL;
	basis->fd = -1;
}

void wh_basis_free(struct wh_sink *sink, struct wh_large *file)
{
	wh_basis_stop(sink, file);
	free(file->basis);
	file->basis = NULL;
}

/* The existing file cannot be listed: transfers the file as without BLOCKS. */
static void give_up(struct wh_sink *sink, struct wh_large *file)
{
	WH_ASSERT(file->state == WH_LARGE_LIST);
	wh_basis_free(sink, file);
	file->state = file->may_compare && !file->staged ? WH_LARGE_COMPARE : WH_LARGE_RESERVE;
}

/*
 * Whole blocks only, except for the end of a file of the wanted size. A lying source chooses the
 * size that it announces, and could guess the bytes behind the digest of a short block in mid-file.
 */
static uint64_t listed_bytes(const struct wh_large *file, const struct stat *status)
{
	uint64_t bytes = wh_min_u64((uint64_t)status->st_size, file->size_bytes);

	if ((uint64_t)status->st_size == file->size_bytes)
		return bytes;
	return bytes - bytes % wh_block_bytes(file->size_bytes);
}

static bool charge_list(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;
	uint32_t count = wh_block_count(basis->bytes, wh_block_bytes(file->size_bytes));

	return wh_blocks_charge(&sink->config.account, count, &basis->charged);
}

static int32_t begin_list(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = calloc(1, sizeof(*basis));

	if (basis == NULL) {
		give_up(sink, file);
		return 1;
	}
	file->basis = basis;
	sink->listing = file;
	basis->fd = -1;
	basis->bytes = file->size_bytes;
	if (!file->staged) {
		basis->fd = wh_large_open_existing(sink, file, &basis->status);
		basis->bytes = basis->fd < 0 ? 0 : listed_bytes(file, &basis->status);
	}
	if (basis->bytes > 0 && charge_list(sink, file))
		basis->blocks = wh_blocks_list(file->staged ? file->kept_fd : basis->fd,
			basis->bytes, wh_block_bytes(file->size_bytes), sink->config.block_seed);
	if (basis->blocks == NULL)
		give_up(sink, file);
	return 1;
}

/* Returns the work done. When the list is finished the digests are available. */
static int32_t await_list(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;
	uint64_t before = basis->done;
	int rc = wh_blocks_end(basis->blocks, &basis->done);

	if (rc == -EINPROGRESS)
		return basis->done != before;
	if (rc < 0) {
		give_up(sink, file);
		return 1;
	}
	basis->whole = *wh_blocks_whole(basis->blocks);
	basis->count = wh_blocks_known(basis->blocks);
	return 1;
}

/* One file at a time, until its source begins to send: limits the number of lists at the source. */
static int32_t list(struct wh_sink *sink)
{
	struct wh_large *file = sink->listing;
	struct wh_basis *basis;
	int32_t told = 0;

	if (file == NULL) {
		file = wh_sink_first_large(sink, WH_LARGE_LIST);
		return file == NULL ? 0 : begin_list(sink, file);
	}
	basis = file->basis;
	if (basis->step != WH_BASIS_LISTS || file->failed)
		return 0;
	if (basis->count == 0)
		return await_list(sink, file);
	while (basis->told < basis->count && told < TOLD_PER_POLL &&
		wh_sink_answer_blocks(sink, file))
		told++;
	if (basis->told < basis->count)
		return told;
	wh_blocks_free(basis->blocks);
	wh_blocks_repay(&sink->config.account, &basis->charged);
	basis->blocks = NULL;
	basis->step = WH_BASIS_WAITS;
	file->state = WH_LARGE_RESERVE;
	return told;
}

/* Whether the opened file is unchanged, judged by its status. */
static bool is_as_it_was(const struct wh_basis *basis)
{
	struct stat now;

	return fstat(basis->fd, &now) == 0 && now.st_size == basis->status.st_size &&
	       memcmp(&now.st_mtim, &basis->status.st_mtim, sizeof(now.st_mtim)) == 0;
}

/* The copy has its final size from the start. */
static int begin_copy(struct wh_basis *basis, const struct wh_large *file)
{
	uint64_t bytes = wh_min_u64((uint64_t)basis->status.st_size, file->size_bytes);

	if (ftruncate(file->fd, (off_t)file->size_bytes) != 0)
		return -errno;
	basis->done = 0;
	basis->blocks = wh_blocks_copy(basis->fd, file->fd, bytes);
	return basis->blocks != NULL ? 0 : -ENOMEM;
}

void wh_basis_begin(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;
	int rc = 0;

	WH_ASSERT(basis->step == WH_BASIS_WAITS || file->failed);
	if (sink->listing == file)
		sink->listing = NULL;
	if (file->failed || wh_large_reserve(sink, file, 0) == 0)
		return;
	file->padded = true;
	basis->step = basis->fd >= 0 ? WH_BASIS_COPIES : WH_BASIS_READY;
	if (basis->fd >= 0)
		rc = begin_copy(basis, file);
	if (rc < 0)
		wh_large_fail(sink, file, rc, WH_DOING_WRITING);
}

/* The copy has its own blocks now; blocks that differ are written into it. */
static int32_t copy(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;
	uint64_t before = basis->done;
	int rc = wh_blocks_end(basis->blocks, &basis->done);

	if (rc == -EINPROGRESS)
		return basis->done != before;
	wh_blocks_free(basis->blocks);
	basis->blocks = NULL;
	basis->step = WH_BASIS_READY;
	wh_large_give_up_room(sink, file);
	if (rc == -ENODATA || (rc == 0 && !is_as_it_was(basis)))
		wh_large_fail(sink, file, -ESTALE, WH_DOING_CHANGED);
	else if (rc < 0)
		wh_large_fail(sink, file, rc, WH_DOING_WRITING);
	return 1;
}

/* Everything was written: reads the file again. */
static int32_t read_again(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;

	if (!basis->ended || file->in_air > 0)
		return 0;
	if (file->direct)
		file->direct = wh_file_direct(file->fd, false);
	basis->step = WH_BASIS_ENDS;
	basis->done = 0;
	basis->likeness = wh_likeness_begin(
		file->fd, &(struct wh_likeness_run){.to = file->size_bytes, .all = true});
	if (basis->likeness == NULL)
		wh_large_fail(sink, file, -ENOMEM, WH_DOING_DIGEST);
	return 1;
}

static int32_t compare_whole(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;
	uint64_t before = basis->done;
	struct wh_digest digest;
	int rc = wh_likeness_end(basis->likeness, &digest, &basis->done);

	if (rc == -EINPROGRESS)
		return basis->done != before;
	if (rc < 0)
		wh_large_fail(sink, file, rc, WH_DOING_READING);
	else if (memcmp(&digest, &basis->wanted, sizeof(digest)) != 0)
		wh_large_fail(sink, file, -EIO, WH_DOING_DIGEST);
	basis->step = WH_BASIS_OVER;
	return 1;
}

static int32_t go_on(struct wh_sink *sink, struct wh_large *file)
{
	if (file == NULL || file->basis == NULL || file->failed)
		return 0;
	switch (file->basis->step) {
	case WH_BASIS_COPIES:
		return copy(sink, file);
	case WH_BASIS_READY:
		return read_again(sink, file);
	case WH_BASIS_ENDS:
		return compare_whole(sink, file);
	default:
		return 0;
	}
}

int32_t wh_sink_poll_blocks(struct wh_sink *sink)
{
	int32_t work = list(sink) + go_on(sink, sink->intake.file);

	for (uint32_t i = 0; i < sink->closing_count; i++)
		work += go_on(sink, sink->closing[i]);
	return work;
}

bool wh_basis_end(struct wh_sink *sink, struct wh_large *file, const struct wh_digest *wanted)
{
	struct wh_basis *basis = file->basis;
	bool nothing_came = file->state == WH_LARGE_ANSWERED;

	basis->wanted = *wanted;
	basis->ended = true;
	if (nothing_came && !file->failed && basis->fd >= 0 &&
		(uint64_t)basis->status.st_size == file->size_bytes && is_as_it_was(basis) &&
		memcmp(&basis->whole, wanted, sizeof(*wanted)) == 0)
		return true;
	if (nothing_came)
		wh_basis_begin(sink, file);
	return false;
}
