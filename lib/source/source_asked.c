/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "source/source_internal.h"

/* A sent entry whose outcome the sink has not reported. */
struct wh_ledger_entry *wh_source_find_open(struct wh_source *source, uint64_t id)
{
	struct wh_ledger_entry *entry = wh_ledger_find(&source->ledger, id);

	return entry != NULL && id < source->ids_out && !entry->has_outcome ? entry : NULL;
}

void wh_source_forget_blocks(struct wh_source *source, struct wh_source_asked *file)
{
	if (file->told_count == 0)
		return;
	WH_ASSERT(source->lists > 0);
	source->lists--;
	wh_blocks_repay(&source->config.account, &file->charged);
	free(file->told);
	file->told = NULL;
	file->told_count = 0;
}

void wh_source_release(struct wh_source *source, struct wh_source_asked *file)
{
	struct wh_ledger_entry *entry = wh_ledger_find(&source->ledger, file->id);

	WH_ASSERT(file->state != WH_ASKED_FREE && source->asked_count > 0);
	WH_ASSERT(entry == NULL || &source->asked[entry->asked] == file);
	wh_source_forget_blocks(source, file);
	if (entry != NULL)
		entry->asked = WH_LEDGER_NO_ASKED;
	if (file->fd >= 0)
		close(file->fd);
	file->state = WH_ASKED_FREE;
	source->asked_count--;
}
