/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Which files of a tree are transferred, and how existing ones are treated: wishes, each a bit, and
 * terms, each a short text. Both are sent in HELLO, so terms must be parsed before they are
 * trusted.
 *
 *   +PATTERN  is included  the first one that matches a path decides; none: it is included
 *   -PATTERN  is excluded; an excluded folder is not entered
 *   >BYTES    files of at least that size
 *   <BYTES    files of at most that size
 *   !COUNT    most files, links and folders that may be removed because the source lacks them
 *   ~SUFFIX   a replaced file is kept under its name with this suffix
 *   @SECONDS  files changed after that time; since 1970, a whole number
 *   [BYTES    of each file only what is from that offset on ...
 *   ]BYTES    ... and before this one; with neither may there be any wish but for attributes
 *   =WORD     the range is kept until jobs with the same WORD have brought all others, and then the
 *             file gets its name; else a range is a file of its own. May go with RELATIVE, too
 *
 * A pattern without a '/' matches the last name of a path. One that begins with '/' matches the
 * whole path in the bundle, any other one the end of the path, from some name on. With a '/' at its
 * end it matches folders only. '*' stands for any bytes but '/', '**' for any bytes, '?' for one
 * byte but '/', [a-z] for one of these, [!a-z] for any other; '\' quotes the next byte.
 *
 * Matching costs at most the product of the pattern's and the path's lengths.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Limits per pattern, and for all terms: they bound the work that a peer can cause. */
#define WH_PATTERN_BYTES_MAX 255
#define WH_TERMS_MAX         256
#define WH_BACKUP_BYTES_MAX  64
#define WH_JOIN_BYTES_MIN    16 /* nobody guesses it, who could bring a range as well */
#define WH_JOIN_BYTES_MAX    32
#define WH_DELETE_MAX        1000000
#define WH_TERMS_BYTES_MAX   8192

enum wh_wish {
	WH_CHOICE_UPDATE = 1 << 0, /* an existing file that is newer stays */
	WH_CHOICE_ABSENT = 1 << 1, /* whatever exists stays */
	WH_CHOICE_QUICK = 1 << 2,  /* an existing file of that size and time is considered equal */
	/*
	 * After everything else succeeded, removes what the bundle's folders contain there and the
	 * source does not have; with TOP also in the target itself, if its own contents were sent.
	 * Excluded files stay.
	 */
	WH_CHOICE_DELETE = 1 << 3,
	WH_CHOICE_DELETE_TOP = 1 << 4,
	WH_CHOICE_MOVE = 1 << 5,   /* the source removes files and links that are durable here */
	WH_CHOICE_DRY = 1 << 6,    /* nothing is read, written or removed: reports what would be */
	WH_CHOICE_BLOCKS = 1 << 7, /* of an existing large file only blocks that differ are sent */
	/* Kept in addition to content, mode and time, if the receiving end allows it: */
	WH_CHOICE_HARD_LINKS = 1 << 8,
	WH_CHOICE_OWNERS = 1 << 9,   /* as numbers */
	WH_CHOICE_SET_IDS = 1 << 10, /* set-user-ID, set-group-ID */
	WH_CHOICE_XATTRS = 1 << 11,  /* of the namespace user */
	WH_CHOICE_ACLS = 1 << 12,
	WH_CHOICE_RELATIVE = 1 << 13, /* names are whole given paths (source/walk.h) */
	WH_CHOICES_ALL = (1 << 14) - 1,
	/* With these wishes the outcome tells the source what was there. */
	WH_CHOICES_TELL = WH_CHOICE_UPDATE | WH_CHOICE_ABSENT | WH_CHOICE_QUICK | WH_CHOICE_DELETE |
			  WH_CHOICE_DELETE_TOP | WH_CHOICE_DRY | WH_CHOICE_BLOCKS,
};

#define WH_CHOICE_KEEPS_SHIFT 8
#define WH_CHOICE_KEEPS       UINT32_C(0x1f00)

/* All zeros include everything. */
struct wh_choice {
	uint32_t wishes; /* enum wh_wish, together */
	uint32_t terms;
	const char *const *term; /* borrowed */
	bool has_patterns;
	bool by_status; /* terms about a file's size or time exist */
	uint64_t bytes_min;
	uint64_t bytes_max;
	int64_t newer_s;    /* INT64_MIN: any */
	const char *backup; /* NULL: replaced files are not kept */
	uint64_t delete_max;
	bool has_range; /* of each file only these bytes */
	uint64_t range_from;
	uint64_t range_end;
	const char *join; /* ranges with this word become one file; NULL: each is one of its own */
};

/* Storage for terms that are built here; must outlive the choice. */
struct wh_terms {
	uint32_t count;
	const char *term[WH_TERMS_MAX];
	size_t used;
	char text[WH_TERMS_BYTES_MAX];
};

/* False: no room. */
bool wh_terms_add(struct wh_terms *terms, char sign, const char *text);
bool wh_terms_add_number(struct wh_terms *terms, char sign, uint64_t number);

/* What is wrong with a term, as words to follow it in a sentence; NULL: nothing. */
const char *wh_term_wrong(const char *term);

/* 0; -EINVAL: an invalid term or wish; -E2BIG: too many. The terms must outlive it. */
int wh_choice_parse(
	struct wh_choice *choice, uint32_t wishes, const char *const *term, uint32_t terms);

bool wh_pattern_matches(const char *pattern, const char *path, size_t path_bytes, bool is_folder);

/*
 * Paths below a server's root may contain wildcards, because no shell has expanded them.
 *
 *   has_wildcard  whether a path has any
 *   base_bytes    length of what comes before the first name with a wildcard, with its '/'
 *   matches       whether a name matches the pattern's first `bytes` bytes, which contain no '/';
 *                 as in shells a leading '.' must be matched literally
 */
bool wh_path_has_wildcard(const char *path);
size_t wh_wildcard_base_bytes(const char *path);
bool wh_wildcard_matches(const char *pattern, size_t bytes, const char *name);

/* Whether the patterns include the path. */
bool wh_choice_takes_path(
	const struct wh_choice *choice, const char *path, size_t path_bytes, bool is_folder);

/* How many bytes of a file of that size are transferred; *from: the first of them. */
uint64_t wh_choice_range(const struct wh_choice *choice, uint64_t size_bytes, uint64_t *from);

/* How many bytes of a file whose ENTRY has that size the job brings. */
static inline uint64_t wh_choice_bytes(const struct wh_choice *choice, uint64_t size_bytes)
{
	uint64_t from;

	return choice->join != NULL ? wh_choice_range(choice, size_bytes, &from) : size_bytes;
}

/* Whether the terms include a file of that size and time. */
bool wh_choice_takes_file(const struct wh_choice *choice, const struct stat *status);

/* Whether a file may be skipped without comparing its bytes. */
static inline bool wh_choice_believes(const struct wh_choice *choice)
{
	return (choice->wishes & (WH_CHOICE_UPDATE | WH_CHOICE_ABSENT | WH_CHOICE_QUICK)) != 0;
}

static inline bool wh_choice_has(const struct wh_choice *choice, enum wh_wish wish)
{
	return (choice->wishes & (uint32_t)wish) != 0;
}
