/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_CHOICE_H
#define WH_BUNDLE_CHOICE_H

/*
 * What of a tree is to be carried over, and how what is there already is treated: wishes, each a
 * bit, and terms, each a short text. Both travel in HELLO, so a term is somebody else's until it
 * has been parsed.
 *
 *   +PATTERN  is taken      the first that matches a path decides; none does: it is taken
 *   -PATTERN  is left out; a folder is not entered then
 *   >BYTES    files of at least so many bytes
 *   <BYTES    files of at most so many
 *   !COUNT    so many files, links and folders may be removed that the source does not have
 *   ~SUFFIX   a file that is replaced keeps its bytes under its name with that behind it
 *   @SECONDS  files that were changed after that time; since 1970, a whole number
 *
 * A pattern without a '/' is for the last name of a path. One that begins with '/' is for the whole
 * path as it is in the bundle, any other for what the path ends with, from some name on. A '/' at
 * its end: only folders match. '*' stands for any bytes but '/', '**' for any, '?' for one that is
 * no '/', [a-z] for one of these, [!a-z] for one that is none of them; '\' takes away the meaning
 * of what follows.
 *
 * To match costs at most a pattern's bytes times the path's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Of patterns and of all terms together: what a peer can make us compare is bounded. */
#define WH_PATTERN_BYTES_MAX 255
#define WH_TERMS_MAX         256
#define WH_BACKUP_BYTES_MAX  64
#define WH_DELETE_MAX        1000000
#define WH_TERMS_BYTES_MAX   8192

enum wh_wish {
	WH_CHOICE_UPDATE = 1 << 0, /* a file there that is newer stays */
	WH_CHOICE_ABSENT = 1 << 1, /* whatever is there stays */
	WH_CHOICE_QUICK = 1 << 2,  /* a file there of that size and time has the same bytes */
	/* When all else is well, what a folder of the bundle has there and the source has not goes;
	 * and of the target itself, whose own contents were sent. What was left out stays. */
	WH_CHOICE_DELETE = 1 << 3,
	WH_CHOICE_DELETE_TOP = 1 << 4,
	WH_CHOICE_MOVE = 1 << 5,   /* at the source a file or link goes once it is durable here */
	WH_CHOICE_DRY = 1 << 6,    /* nothing is read, written or removed: what would be is told */
	WH_CHOICE_BLOCKS = 1 << 7, /* of a large file that is there, blocks that differ go */
	/* What is kept beside bytes, mode and time, if the receiving end may: */
	WH_CHOICE_HARD_LINKS = 1 << 8,
	WH_CHOICE_OWNERS = 1 << 9,   /* by number */
	WH_CHOICE_SET_IDS = 1 << 10, /* set-user-ID, set-group-ID */
	WH_CHOICE_XATTRS = 1 << 11,  /* of the namespace user */
	WH_CHOICE_ACLS = 1 << 12,
	WH_CHOICES_ALL = (1 << 13) - 1,
};

#define WH_CHOICE_KEEPS_SHIFT 8
#define WH_CHOICE_KEEPS       UINT32_C(0x1f00)

/* Zeros take everything. */
struct wh_choice {
	uint32_t wishes; /* enum wh_wish, together */
	uint32_t terms;
	const char *const *term; /* borrowed */
	bool has_patterns;
	bool by_status; /* a file's size or time counts */
	uint64_t bytes_min;
	uint64_t bytes_max;
	int64_t newer_s;    /* INT64_MIN: any */
	const char *backup; /* NULL: what is replaced goes */
	uint64_t delete_max;
};

/* The texts of terms that are made here; they must outlive the choice. */
struct wh_terms {
	uint32_t count;
	const char *term[WH_TERMS_MAX];
	size_t used;
	char text[WH_TERMS_BYTES_MAX];
};

/* False: there is no room for it. */
bool wh_terms_add(struct wh_terms *terms, char sign, const char *text);
bool wh_terms_add_number(struct wh_terms *terms, char sign, uint64_t number);

/* What is wrong with a term, as words that follow it in a sentence; NULL: nothing. */
const char *wh_term_wrong(const char *term);

/* 0; -EINVAL: a term or wish that is none; -E2BIG: too many. The terms must outlive it. */
int wh_choice_parse(
	struct wh_choice *choice, uint32_t wishes, const char *const *term, uint32_t terms);

bool wh_pattern_matches(const char *pattern, const char *path, size_t path_bytes, bool is_folder);

/* Whether patterns let the path through. */
bool wh_choice_takes_path(
	const struct wh_choice *choice, const char *path, size_t path_bytes, bool is_folder);

/* Whether a file's size and time do. */
bool wh_choice_takes_file(const struct wh_choice *choice, const struct stat *status);

/* Whether a file may be skipped though nobody has compared its bytes. */
static inline bool wh_choice_believes(const struct wh_choice *choice)
{
	return (choice->wishes & (WH_CHOICE_UPDATE | WH_CHOICE_ABSENT | WH_CHOICE_QUICK)) != 0;
}

static inline bool wh_choice_has(const struct wh_choice *choice, enum wh_wish wish)
{
	return (choice->wishes & (uint32_t)wish) != 0;
}

#endif
