/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The table of all settings, and functions on one entry. For the files settings*.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/settings.h"

/* A share's limits are integers in this unit. */
#define WH_SETTING_SHARE_PARTS 1e9

/* Clients that examine or change a server's tree. */
#define WH_VERBS_RPCS                                                                              \
	(WH_VERB_LS | WH_VERB_DU | WH_VERB_RM | WH_VERB_MKDIR | WH_VERB_MV | WH_VERB_PING)

/* Verbs that have a port and read a configuration. */
#define WH_VERBS_CONFIGURED                                                                        \
	(WH_VERB_SERVE | WH_VERB_SEND | WH_VERB_GET | WH_VERB_BENCH | WH_VERB_PROBE | WH_VERBS_RPCS)

/* The section whose keys are the options of all profiles, such as udt.beta. */
#define WH_SETTINGS_PROFILE_SECTION "profile"

#define WH_SETTINGS_FILE "/etc/wavehaul/wavehaul.conf"

enum wh_setting_type {
	WH_SETTING_TEXT,
	WH_SETTING_PATH,   /* a text that names a file or folder */
	WH_SETTING_SWITCH, /* yes or no; a flag without a value */
	WH_SETTING_COUNT,
	WH_SETTING_NUMBER, /* a count of 64 bits */
	WH_SETTING_SIZE,
	WH_SETTING_TIME,
	WH_SETTING_RATE,
	WH_SETTING_RATE_LIMIT, /* a rate, or max */
	WH_SETTING_SHARE,
	WH_SETTING_PROFILE,
	WH_SETTING_FEC,    /* off, auto, or k,r */
	WH_SETTING_CODE,   /* enum wh_fec_code */
	WH_SETTING_CIPHER, /* enum wh_cipher; 0: any */
	WH_SETTING_RESUME, /* enum wh_resume */
	WH_SETTING_KNOWN,  /* struct wh_known_setting */
	WH_SETTING_CPUS,
	WH_SETTING_ADDRESSES, /* ours, with prefix: one of each family */
	WH_SETTING_GATEWAYS,  /* one of each family */
	WH_SETTING_SUBNETS,   /* of peers that may connect */
	WH_SETTING_QUEUE,     /* of an emulated link: bytes, or packets as 500p */
	WH_SETTING_LOSS_MODEL,
	WH_SETTING_SETS,    /* SECTION.KEY=VALUE of a scenario */
	WH_SETTING_PORTS,   /* joined by wan */
	WH_SETTING_PATTERN, /* of chosen files; low '+': included, '-': excluded */
	WH_SETTING_MOMENT,  /* seconds since 1970; from a date, or how long ago */
	/* Not handled by wh_setting_take, but by profile_set.h. */
	WH_SETTING_OPTION,  /* PROFILE.OPTION=VALUE */
	WH_SETTING_SHARING, /* short for lambda.share=VALUE */
};

struct wh_setting {
	const char *section; /* under whose title it is in --help */
	const char *key;     /* NULL: only on the command line */
	const char *name;    /* "section.key" */
	const char *flag;    /* without dashes */
	char letter;         /* a short flag; 0: none */
	bool stays;          /* none of an order by which a fleet passes files on */
	uint8_t type;        /* enum wh_setting_type */
	uint32_t verbs;      /* bits of enum wh_verb */
	size_t offset;       /* in struct wh_settings, for types with a single value */
	uint64_t low;        /* limits of a quantity; of a share in WH_SETTING_SHARE_PARTS */
	uint64_t high;
	const char *standard;       /* the default; NULL: none */
	const char *serve_standard; /* serve's default if it differs, or NULL */
	const char *argument;       /* the value's name in --help; NULL for a switch */
	const char *example;
	const char *words;      /* values or their beginnings, for completion; NULL: none */
	const char *help;       /* lines of at most 72 characters */
	const char *serve_help; /* if it means something else to serve, or NULL */
};

extern const struct wh_setting wh_settings_table[];
extern const uint32_t wh_settings_count;

struct wh_settings_section {
	const char *name;
	const char *title;
};

/* In the order of --help and --print-config; terminated by a NULL name. */
extern const struct wh_settings_section wh_settings_sections[];

/* Finds a setting by section and key; NULL: none. */
const struct wh_setting *wh_setting_find(const char *section, const char *key);

const char *wh_setting_help(const struct wh_setting *setting, enum wh_verb verb);

/* Asserts that its columns are consistent. */
void wh_setting_check(const struct wh_setting *setting);

/* "": none. */
const char *wh_setting_standard(const struct wh_setting *setting, enum wh_verb verb);

/* Whether a repeated flag adds to the list. */
bool wh_setting_is_list(const struct wh_setting *setting);

/*
 * Sets the value to `text`, or adds its items to a list. NULL, or what is wrong, to follow the text
 * in a sentence.
 */
const char *wh_setting_take(
	const struct wh_setting *setting, const char *text, struct wh_settings *settings);

/* Makes a list empty. */
void wh_setting_clear(const struct wh_setting *setting, struct wh_settings *settings);

/* The value as text from which wh_setting_take makes it again; "": not given. */
void wh_setting_format(const struct wh_setting *setting, const struct wh_settings *settings,
	char text[WH_SETTINGS_TEXT_BYTES]);

/* An example with the limits: "1500 (from 1228 to 9216)". */
void wh_setting_advise(const struct wh_setting *setting, char text[WH_SETTINGS_TEXT_BYTES]);

/* Puts '\' before each '#', which would begin a comment. */
void wh_setting_escape(const char *text, char escaped[2 * WH_SETTINGS_TEXT_BYTES]);

/*
 * Reads the configuration file at `path`: INI, "#" begins a comment, "\#" is a literal #. Keys that
 * `verb` does not know are checked and otherwise ignored. -1, or the exit status after a complaint
 * that names file and line.
 */
int wh_settings_read_file(struct wh_settings *settings, enum wh_verb verb, const char *path);

/* Refuses settings that contradict each other: -1, or the exit status after a complaint. */
int wh_settings_check(const struct wh_settings *settings, enum wh_verb verb);

/*
 * Checks settings that a verb cannot do without, and fills in those that port udp, the default, has
 * of the kernel: -1, or the exit status after a complaint.
 */
int wh_settings_check_whole(struct wh_settings *settings, enum wh_verb verb);

/*
 * Prints help in lines of at most 80 columns and the default at its end; `before` is in front of
 * each line but the first, where the caller has printed as much.
 */
void wh_setting_print_help(const char *help, const char *standard, const char *before, FILE *to);

/* --help of a verb, on stdout. */
void wh_settings_help(enum wh_verb verb);
