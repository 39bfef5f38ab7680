/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bundle/xattrs.h"
#include "source/source_internal.h"

void wh_source_see_more(
	struct wh_source *source, const struct stat *status, int fd, struct wh_entry *entry)
{
	uint32_t wishes = source->config.choice.wishes;
	bool left_out = false;

	entry->uid = (wishes & WH_CHOICE_OWNERS) != 0 ? status->st_uid : WH_OWNER_UNTOLD;
	entry->gid = (wishes & WH_CHOICE_OWNERS) != 0 ? status->st_gid : WH_OWNER_UNTOLD;
	if (fd >= 0) {
		entry->xattrs = source->xattrs;
		entry->xattr_bytes = (uint32_t)wh_xattrs_read(
			fd, wishes, source->xattrs, sizeof(source->xattrs), &left_out);
	}
	source->leaves_out = (struct wh_left_out){
		.owners = status->st_uid != source->own_uid && (wishes & WH_CHOICE_OWNERS) == 0,
		.set_ids = (status->st_mode & (S_ISUID | S_ISGID)) != 0 &&
			   (wishes & WH_CHOICE_SET_IDS) == 0,
		.xattrs = left_out,
		.hard_links = S_ISREG(status->st_mode) && status->st_nlink > 1 &&
			      !wh_source_knows_link(source, status),
	};
}

void wh_source_add_left_out(struct wh_source *source)
{
	struct wh_left_out *sum = &source->progress.totals.left_out;

	sum->owners += source->leaves_out.owners;
	sum->set_ids += source->leaves_out.set_ids;
	sum->xattrs += source->leaves_out.xattrs;
	sum->hard_links += source->leaves_out.hard_links;
}
