/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/fault_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More helpful text than the kernel's; NULL: the kernel's is sufficient. */
static const char *own_words(enum wh_doing doing, int error)
{
	if (doing == WH_DOING_CHANGED)
		return "it changed during the transfer; transfer it again when nobody writes to it";
	switch (error) {
	case EISDIR:
		if (doing == WH_DOING_REMOVING)
			return "is a folder; add -r to remove it with everything in it";
		return doing == WH_DOING_KIND
			       ? "is a folder; add -r to transfer it with everything in it"
			       : "a folder already has this file's name; move it away, or choose "
				 "another name";
	case ENOTDIR:
		return "part of this path is a file, not a folder; move that file away";
	case EXDEV:
		return "leads out of the served or target folder, by .. or by a symbolic link; use "
		       "a path below that folder";
	case ELOOP:
		return "the path contains a symbolic link, and links are not followed here; use "
		       "the path that it points to";
	case EEXIST:
		return "a pipe, socket or device already has this name and is never replaced; move "
		       "it away, or choose another name";
	case ENOLINK:
		return "is a symbolic link to a missing target; create the target, or remove the "
		       "link";
	case EOPNOTSUPP:
		if (doing == WH_DOING_PASSING)
			return "skipped, not a regular file";
		return doing == WH_DOING_KIND ? "is a pipe, a socket or a device; only files, "
						"folders and symbolic links can be sent"
					      : NULL;
	case ENOMEM:
		return doing == WH_DOING_LISTING
			       ? "no memory for all names; raise --peer-memory or --buffers "
				 "of the server, or transfer less at once"
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
		return "the disk that is read is too slow";
	case WH_LIMIT_PEER_DISK:
		return "the receiver's disk is too slow";
	case WH_LIMIT_MEMORY:
	case WH_LIMIT_PEER:
		return "the receiver accepts no more data";
	default:
		return "packets are sent, but none of their data is acknowledged: the path's MTU "
		       "may have become smaller (--mtu)";
	}
}
