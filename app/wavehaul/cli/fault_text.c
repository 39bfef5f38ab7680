/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/fault_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More helpful text than the kernel's; NULL: the kernel's is sufficient. */
static const char *own_words(enum wh_doing doing, int error)
{
	switch (error) {
	case EISDIR:
		return doing == WH_DOING_KIND ? "is a folder; -r takes it with all that is in it"
					      : "a folder of this name is in the way of a file; "
						"move it away, or choose another name";
	case ENOTDIR:
		return "a file is where a folder should be on the way there; move it away";
	case EXDEV:
		return "leads out of the folder that is served or written into, by .. or by a "
		       "symbolic link; name what is below it";
	case ELOOP:
		return "a symbolic link is on the way, and none is followed here; name what it "
		       "stands for";
	case EEXIST:
		return "a pipe, a socket or a device of this name is in the way, and is not "
		       "replaced; move it away, or choose another name";
	case ENOLINK:
		return "is a symbolic link to what is not there; make that first, or remove the "
		       "link";
	case EOPNOTSUPP:
		if (doing == WH_DOING_PASSING)
			return "skipped, not a regular file";
		return doing == WH_DOING_KIND ? "is a pipe, a socket or a device; only files, "
						"folders and symbolic links can be sent"
					      : NULL;
	default:
		return NULL;
	}
}

const char *wh_fault_text(char text[WH_FAULT_TEXT_BYTES], enum wh_doing doing, int error)
{
	const char *words = wh_doing_forbidden(doing);

	if (words == NULL)
		words = own_words(doing, abs(error));
	if (words != NULL)
		snprintf(text, WH_FAULT_TEXT_BYTES, "%s", words);
	else
		snprintf(text, WH_FAULT_TEXT_BYTES, "%s failed: %s", wh_doing_name(doing),
			strerror(abs(error)));
	return text;
}

const char *wh_stall_text(enum wh_limit limit)
{
	switch (limit) {
	case WH_LIMIT_DISK:
		return "a disk is behind, here or there";
	case WH_LIMIT_MEMORY:
	case WH_LIMIT_PEER:
		return "the receiver takes no more";
	default:
		return "packets leave, and none of their data is acknowledged: the path may have "
		       "become too narrow for their size (--mtu)";
	}
}
