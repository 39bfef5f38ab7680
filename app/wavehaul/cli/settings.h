/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * All settings of a verb: one struct, filled from defaults, then from the configuration file (INI)
 * of verbs that have one, then from the flags. One table (settings_table.c) defines every setting
 * once: section, key, flag, type, limits, default, help, and its verbs. --help, --print-config, the
 * file's checks and getopt's list are all generated from it, so that they always agree.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/link_model.h"
#include "bundle/owners.h"
#include "bundle/record.h"
#include "cli/address_text.h"
#include "cli/cli_repair.h"
#include "profile/profile.h"
#include "wire/encap.h"
#include "wire/packet.h"

/* Bits: the verbs of a setting. */
enum wh_verb {
	WH_VERB_SERVE = 1 << 0,
	WH_VERB_SEND = 1 << 1,
	WH_VERB_GET = 1 << 2,
	WH_VERB_BENCH = 1 << 3,
	WH_VERB_DEMO = 1 << 4,
	WH_VERB_SIM = 1 << 5,
	WH_VERB_PLAN = 1 << 6,
	WH_VERB_DOCTOR = 1 << 7,
	WH_VERB_COMPLETION = 1 << 8,
	WH_VERB_PROFILES = 1 << 9,
	WH_VERB_PROBE = 1 << 10,
	WH_VERB_WAN = 1 << 11,
	WH_VERB_KEYGEN = 1 << 12,
	WH_VERB_TRUST = 1 << 13,
	WH_VERB_JOB = 1 << 14,
	WH_VERB_PARTS = 1 << 15,
	WH_VERB_CONSOLE = 1 << 16,
	WH_VERB_REPORT = 1 << 17,
	WH_VERB_LS = 1 << 18,
	WH_VERB_DU = 1 << 19,
	WH_VERB_RM = 1 << 20,
	WH_VERB_MKDIR = 1 << 21,
	WH_VERB_MV = 1 << 22,
	WH_VERB_PING = 1 << 23,
	WH_VERB_NIC = 1 << 24,
	WH_VERB_FLEET = 1 << 25,
};

/* Maximum number of entries in the table. */
#define WH_SETTINGS_MAX 256

#define WH_SETTINGS_CPUS_MAX     64
#define WH_SETTINGS_ALLOWS_MAX   32
#define WH_SETTINGS_SETS_MAX     100
#define WH_SETTINGS_PATTERNS_MAX 250
#define WH_SETTINGS_PROFILES_MAX 16

/* Room for any value as text: as long as the longest path; lists are shorter. */
#define WH_SETTINGS_TEXT_BYTES 4096

#define WH_SETTINGS_KEY_BYTES 96

/* Control packets must fit; IPv6 needs more (settings_check.c). */
#define WH_MTU_MIN (WH_CONTROL_BYTES_MAX + WH_IPV4_BYTES + WH_UDP_BYTES)
#define WH_MTU_MAX 9216

#define WH_SESSIONS_MAX 4096 /* of a server */

#define WH_BUFFERS_MIN_BYTES (UINT64_C(64) << 20)
#define WH_BUFFERS_MAX_BYTES (UINT64_C(1) << 40)

/* No pacing: as fast as the port takes packets. */
#define WH_RATE_MAX UINT64_MAX

/* Below this rate the reports sent every 10 ms take a considerable part of the line. */
#define WH_RATE_MIN UINT64_C(1000000)

#define WH_QUEUES_MAX 16
#define WH_LANES_MAX  64 /* of --parallel; several share a queue if there are fewer queues */

/* Limits of a measurement: a day, and a size within the range of chunk numbers. */
#define WH_BENCH_NS_MAX    (UINT64_C(86400) * 1000000000)
#define WH_BENCH_BYTES_MAX (UINT64_C(1) << 50)

/* Ports of one process, and the name of one. */
#define WH_PORTS_MAX           4
#define WH_SETTINGS_PORT_BYTES 640

/* A port, and what it has of its own. */
struct wh_own_port {
	char name[WH_SETTINGS_PORT_BYTES]; /* see drivers/port/spec.h; "": not given */
	struct wh_subnet ipv4;
	struct wh_subnet ipv6;
	struct wh_address gateway4; /* family 0: none */
	struct wh_address gateway6;
};

struct wh_cpu_list {
	uint32_t count; /* 0: not given */
	uint16_t cpu[WH_SETTINGS_CPUS_MAX];
};

/* What a controller knows of the path before it begins. */
enum wh_known_by {
	WH_KNOWN_KEPT, /* values stored by an earlier run */
	WH_KNOWN_NONE,
	WH_KNOWN_TOLD, /* given by the operator in `path` */
};

struct wh_known_setting {
	enum wh_known_by by;
	struct wh_known_path path;
};

/* Options of each profile, in the order of wh_profile_at. */
struct wh_profile_choices {
	struct wh_profile_options of[WH_SETTINGS_PROFILES_MAX];
	uint32_t told; /* bit i: the command line sets options of this profile */
};

struct wh_far;
struct wh_for_client;

struct wh_settings {
	/* [port] */
	struct wh_own_port port[WH_PORTS_MAX];
	uint32_t ports;  /* given: 0 to WH_PORTS_MAX */
	uint32_t queues; /* pairs of queues of each port, one shard each */
	uint32_t mtu_bytes;
	uint32_t vlan; /* 0: untagged */
	uint32_t dscp;
	uint32_t rx_descriptors; /* 0: the driver's preference */
	uint32_t tx_descriptors;

	/* [address] */
	bool own_taken;         /* udp: addresses and mtu_bytes are of the kernel */
	uint32_t udp_port;      /* of queue 0; queue i has udp_port + i */
	uint32_t udp_port_last; /* for_client: any free one from udp_port on; 0: only that */

	/* [ssh] */
	char ssh[WH_SETTINGS_TEXT_BYTES];
	char remote_command[WH_SETTINGS_TEXT_BYTES];
	char udp_ports[WH_SETTINGS_TEXT_BYTES];
	bool for_client;
	/* The other end, if ssh has brought both together: ssh/far.h, for_client.h; or NULL. */
	struct wh_far *far;
	struct wh_for_client *client;

	/* [cores] */
	struct wh_cpu_list rx_cpus;
	struct wh_cpu_list tx_cpus;
	struct wh_cpu_list worker_cpus;
	struct wh_cpu_list books_cpus;

	/* [memory] */
	uint64_t buffer_bytes; /* of all sessions together */
	bool no_huge;

	/* [transfer] */
	const struct wh_profile *profile;
	uint64_t rate_bps;   /* WH_RATE_MAX: no pacing; serve: the most that a peer gets */
	uint32_t burst_pkts; /* 0: 1 on a TX core of its own, else 32 */
	uint32_t parallel;
	uint64_t peer_timeout_ns;
	uint64_t stall_timeout_ns;
	uint64_t pipe_timeout_ns;
	uint64_t wait_ns; /* for a server that is not up */
	bool recursive;
	bool archive; /* applied to `recursive`; to others by wh_settings_archive */
	struct wh_known_setting known;
	enum wh_resume resume;
	uint64_t keep_parts_ns;              /* 0: parts are not kept */
	uint64_t keep_records_ns;            /* 0: records are not kept */
	char daemon[WH_SETTINGS_TEXT_BYTES]; /* auto, never, always */
	char state[WH_SETTINGS_TEXT_BYTES];  /* "": this user's default folder */
	struct wh_repair_options repair;     /* of our streams; settled except for serve */

	/* [profile] */
	struct wh_profile_choices choices;

	/* [serve] */
	char root[WH_SETTINGS_TEXT_BYTES];
	struct wh_subnet allow[WH_SETTINGS_ALLOWS_MAX];
	uint32_t allows;
	uint32_t sessions;                   /* the most at once */
	char on_end[WH_SETTINGS_TEXT_BYTES]; /* a command; "": none */
	uint64_t on_end_timeout_ns;
	char audit[WH_SETTINGS_TEXT_BYTES];   /* "": none */
	char control[WH_SETTINGS_TEXT_BYTES]; /* "": the default place; "off": none */
	char metrics[WH_SETTINGS_TEXT_BYTES]; /* "": none */

	/* [queue] */
	uint32_t queue_jobs; /* that run at once */
	uint32_t queue_peer_jobs;
	char timetable[WH_SETTINGS_TEXT_BYTES];
	uint32_t priority;
	char not_before[WH_SETTINGS_TEXT_BYTES]; /* "": now */
	uint32_t after;                          /* 0: none */
	uint32_t retries;
	bool all;

	/* console */
	char commands[WH_SETTINGS_TEXT_BYTES]; /* "": typed, or from standard input */

	/* [limits] */
	uint32_t peer_jobs;         /* 0: three quarters of sessions */
	uint64_t peer_memory_bytes; /* 0: three quarters of buffers */
	uint64_t peer_parts_bytes;
	uint64_t peer_reserve_bytes; /* of disks */
	uint32_t peer_openings_s;
	uint32_t peer_lines_s;

	/* Limits of a job; 0: no limit. */
	uint32_t job_files;
	uint64_t job_bytes;
	uint32_t job_depth;

	/* [files] */
	bool plain_names;
	bool links_inside;
	char case_clash[WH_SETTINGS_TEXT_BYTES]; /* auto, refuse or allow */
	/* For wh_settings_owners; "": none. */
	char map_owners[WH_SETTINGS_TEXT_BYTES];
	char map_groups[WH_SETTINGS_TEXT_BYTES];

	/* [choice] */
	const char *pattern[WH_SETTINGS_PATTERNS_MAX]; /* pointers into argv */
	bool pattern_takes[WH_SETTINGS_PATTERNS_MAX];  /* else it excludes */
	uint32_t patterns;
	uint64_t min_bytes;
	uint64_t max_bytes;
	uint64_t newer_s; /* seconds since 1970; 0: any */
	uint64_t range_from;
	uint64_t range_bytes;              /* 0: to the end */
	char join[WH_SETTINGS_TEXT_BYTES]; /* "": the range is a file of its own */
	bool update;
	bool ignore_existing;
	bool quick_check;
	bool blocks;
	char files_from[WH_SETTINGS_TEXT_BYTES]; /* "": no file with names of files */
	bool relative;                           /* paths keep their folders */
	bool nul;                                /* names end with NUL instead of a newline */
	char digest[WH_SETTINGS_TEXT_BYTES];     /* file/file_checksum.h */
	char manifest[WH_SETTINGS_TEXT_BYTES];
	char expect[WH_SETTINGS_TEXT_BYTES];
	bool remove; /* files that the source does not have */
	uint32_t remove_max;
	bool dry_run;
	bool move;
	bool backup;
	char suffix[WH_SETTINGS_TEXT_BYTES]; /* of backups */
	bool hard_links;
	bool owners; /* for serve: peers may have them kept */
	bool set_ids;
	bool xattrs;
	bool acls;

	/* [guard] */
	char user[WH_SETTINGS_TEXT_BYTES]; /* "": see guard/guard.h */
	bool no_guard;

	/* [bench] */
	uint64_t time_ns;
	uint64_t size_bytes; /* 0: by time */
	bool reverse;
	uint32_t idle_sessions; /* opened in addition, and never used */

	/* ping */
	uint32_t pings;
	uint64_t interval_ns;

	/* [probe] */
	uint32_t train_pkts;
	uint64_t probe_ns;
	uint64_t probe_bps; /* WH_RATE_MAX: as fast as the port takes */

	/* [trust] */
	bool unsealed;
	uint32_t cipher;                       /* enum wh_cipher; 0: the peer's choice */
	char identity[WH_SETTINGS_TEXT_BYTES]; /* "": this user's */
	char keylog[WH_SETTINGS_TEXT_BYTES];   /* "": none */
	char trust[WH_SETTINGS_TEXT_BYTES];    /* "": this user's */
	char known_as[WH_SETTINGS_TEXT_BYTES]; /* "": the host's own name */
	char via[WH_SETTINGS_TEXT_BYTES];      /* handled by its verb */
	bool replace;

	/* [output] */
	char plot[WH_SETTINGS_TEXT_BYTES]; /* "": none */
	bool json;
	bool json_stream;
	bool quiet;
	bool names;   /* of send and get: --verbose */
	bool verbose; /* of send and get: --details */

	/* fleet */
	char plan[WH_SETTINGS_TEXT_BYTES];
	char sites[WH_SETTINGS_TEXT_BYTES];
	uint32_t shards;
	uint64_t shard_bytes;
	uint32_t shard_files;
	char partition[WH_SETTINGS_TEXT_BYTES];
	char account[WH_SETTINGS_TEXT_BYTES];
	char licenses[WH_SETTINGS_TEXT_BYTES];
	char exclude_nodes[WH_SETTINGS_TEXT_BYTES];
	char deadline[WH_SETTINGS_TEXT_BYTES];
	uint64_t every_ns; /* 0: once */
	char page[WH_SETTINGS_TEXT_BYTES];

	/* report */
	char by[WH_SETTINGS_TEXT_BYTES];
	/* Seconds since 1970. */
	uint64_t since_s;
	uint64_t until_s; /* 0: now */
	bool as_csv;

	/* [dpdk] */
	char eal[WH_SETTINGS_TEXT_BYTES]; /* more arguments for EAL */

	/* The emulated path of demo and wan; the link of plan. */
	struct wh_link_model link; /* as given */
	uint64_t rtt_ns;

	/* wan */
	struct wh_link_model back;         /* as given for the direction from B to A only */
	uint32_t frame_bytes;              /* 0: derived from the MTU */
	char then[WH_SETTINGS_TEXT_BYTES]; /* the schedule; "": none */
	char pcap[WH_SETTINGS_TEXT_BYTES]; /* "": none */
	uint64_t pcap_bytes;
	uint32_t pcap_snap_bytes;

	/* demo */
	char file[WH_SETTINGS_TEXT_BYTES]; /* "": one of size_bytes is generated */
	char out[WH_SETTINGS_TEXT_BYTES];  /* "": a temporary folder */

	/* sim and plan */
	uint32_t jobs;                          /* processes at once */
	const char *sets[WH_SETTINGS_SETS_MAX]; /* pointers into argv */
	uint32_t n_sets;
	char seed[WH_SETTINGS_TEXT_BYTES];
	char csv[WH_SETTINGS_TEXT_BYTES];
	bool list;

	/* [config] */
	char config[WH_SETTINGS_TEXT_BYTES];
	bool print_config;

	/* Rest of the command line: pointers into argv */
	char **operands;
	int operand_count;

	bool given[WH_SETTINGS_MAX]; /* by a flag: indices of the table */
};

/* The verb's name, as in `wavehaul serve`. */
const char *wh_verb_name(enum wh_verb verb);

/* Whether the verb is of wavehaul-lab, a program of its own. */
bool wh_verb_is_of_laboratory(enum wh_verb verb);

/* Complains of an option, given with its dashes, that the verb does not have. */
void wh_settings_complain(const char *option, enum wh_verb verb);

/* The i-th verb in the order of --help, and a line about it; 0 and NULL after the last. */
enum wh_verb wh_verb_at(uint32_t i, const char **summary);

/* Whether that flag was given on the command line, rather than by a file or default. */
bool wh_settings_given(const struct wh_settings *settings, enum wh_verb verb, const char *flag);

/* A flag given there that is none of `allowed`, which ends with NULL; NULL: there is none. */
const char *wh_settings_given_beside(
	const struct wh_settings *settings, const char *const *allowed);

/*
 * Applies defaults, --config's file, then the flags, in whatever order they are. -1: go on; else
 * the exit status after --help, --print-config or a complaint was printed (a complaint about the
 * file names file and line).
 */
int wh_settings_read(struct wh_settings *settings, enum wh_verb verb, int argc, char **argv);

/*
 * Lets --archive include --owners and --set-ids, if the end that receives may keep them. A sender
 * asks for both: the other end decides.
 */
void wh_settings_archive(struct wh_settings *settings, bool owners, bool set_ids);

/*
 * For send, get and remote operations, when no server of this host has the port that they need:
 * checks the settings that they cannot do without, and fills in those that port udp has of the
 * kernel. -1, or the exit status after a complaint.
 */
int wh_settings_check_own(struct wh_settings *settings);

/* The names of its ports, with `between` after each but the last. "": none. */
void wh_settings_ports_text(
	const struct wh_settings *settings, const char *between, char text[WH_SETTINGS_TEXT_BYTES]);

/* Whether any of its ports has an address of that family. */
bool wh_settings_has_family(const struct wh_settings *settings, uint8_t family);

/* As if no port and no address had been given. */
void wh_settings_forget_ports(struct wh_settings *settings);

/*
 * The i-th setting of `verb`, as key ("transfer.rate") and effective value, for the `start` line of
 * --json-stream; then the options of its profile; false after the last.
 */
bool wh_settings_at(const struct wh_settings *settings, enum wh_verb verb, uint32_t i,
	char key[WH_SETTINGS_KEY_BYTES], char value[WH_SETTINGS_TEXT_BYTES]);

/* Sets the defaults, as in the papers. */
void wh_profile_choices_init(struct wh_profile_choices *choices);

const struct wh_profile_options *wh_profile_choice(
	const struct wh_profile_choices *choices, const struct wh_profile *profile);

bool wh_cpu_list_has(const struct wh_cpu_list *list, uint64_t cpu);

/*
 * Parses FROM=TO,FROM=TO and looks the names up here. NULL, or what is wrong, to follow the text in
 * a sentence.
 */
const char *wh_settings_owners(const char *text, bool groups, struct wh_owner_map *map);
