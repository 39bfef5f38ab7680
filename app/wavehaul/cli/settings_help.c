/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/exit.h"

/* Column of the explanations, and where lines end. */
#define COLUMN       24
#define HELP_COLUMNS 80

#define PROFILE_COLUMNS 7

#define STANDARD_BYTES 256

const struct wh_settings_section wh_settings_sections[] = {
	{"file", "The file"},
	{"link", "The link"},
	{"back", "The direction from B to A, where it differs"},
	{"run", "The run"},
	{"machine", "The machine"},
	{"port", "The port"},
	{"address", "Addresses"},
	{"ssh", "A server started by ssh: USER@HOST"},
	{"cores", "CPUs"},
	{"memory", "Memory"},
	{"transfer", "The transfer"},
	{"choice", "Which files go, and what becomes of those that are there"},
	{"serve", "Serving"},
	{"queue", "The queue"},
	{"fleet", "The fleet"},
	{"console", "The console"},
	{"limits", "What one peer may take"},
	{"files", "Which files may come"},
	{"guard", "What the process may do itself"},
	{WH_SETTINGS_PROFILE_SECTION, "Profiles"},
	{"trust", "Who we are, and whom we trust"},
	{"bench", "The measurement"},
	{"probe", "The probe"},
	{"history", "What is told"},
	{"output", "Output"},
	{"dpdk", "DPDK"},
	{"config", "Configuration"},
	{NULL, NULL},
};

static const char serve_text[] =
	"usage: wavehaul serve [OPTIONS]\n"
	"\n"
	"Takes files from peers and gives them files, below one folder.\n"
	"\n"
	"  wavehaul serve --port memif:/run/wh.sock,role=server \\\n"
	"      --addr 192.0.2.1/24 --root /srv\n"
	"  wavehaul serve --port 0000:3b:00.0 --addr 192.0.2.1/24 --mtu 9000 --root /srv\n";

static const char send_text[] =
	"usage: wavehaul send [OPTIONS] FILE... HOST:PATH\n"
	"\n"
	"Sends files to a `wavehaul serve`, where they appear under PATH whole and\n"
	"verified, or not at all. HOST is the server's name or address, IPv6 in\n"
	"brackets: [2001:db8::1]:PATH.\n"
	"\n"
	"  wavehaul send a.iso 192.0.2.1:in/ --port memif:/run/wh.sock \\\n"
	"      --addr 192.0.2.2/24\n"
	"  wavehaul send -r run7 192.0.2.1:in/ --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char get_text[] =
	"usage: wavehaul get [OPTIONS] HOST:PATH... DEST\n"
	"\n"
	"Fetches files from a `wavehaul serve`; at DEST they appear whole and verified,\n"
	"or not at all. HOST is the server's name or address, IPv6 in brackets:\n"
	"[2001:db8::1]:PATH.\n"
	"\n"
	"  wavehaul get 192.0.2.1:a.iso . --port memif:/run/wh.sock --addr 192.0.2.2/24\n"
	"  wavehaul get -r 192.0.2.1:run7 . --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char bench_text[] =
	"usage: wavehaul bench [OPTIONS] HOST\n"
	"\n"
	"Sends from memory to the memory of a `wavehaul serve`, and reports the rate and\n"
	"what limited it.\n"
	"\n"
	"  wavehaul bench 192.0.2.1 --port memif:/run/wh.sock --addr 192.0.2.2/24 \\\n"
	"      --mtu 9000\n"
	"  wavehaul bench 192.0.2.1 --port 0000:3b:00.0 --addr 192.0.2.2/24 --time 60s\n";

static const char demo_text[] =
	"usage: wavehaul demo [OPTIONS]\n"
	"\n"
	"Sends a file from one DPDK port to another across an emulated link inside\n"
	"this machine, checks that every byte arrived, and reports.\n";

static const char probe_text[] =
	"usage: wavehaul probe [OPTIONS] HOST\n"
	"\n"
	"Measures the path to a `wavehaul serve` by trains of packets at line rate, which\n"
	"can cost other traffic packets.\n"
	"\n"
	"  wavehaul probe 192.0.2.1 --port memif:/run/wh.sock --addr 192.0.2.2/24\n"
	"  wavehaul probe 192.0.2.1 --port 0000:3b:00.0 --addr 192.0.2.2/24 --mtu 9000 \\\n"
	"      --plot path.svg\n";

static const char sim_text[] =
	"usage: wavehaul sim [OPTIONS] FILE\n"
	"       wavehaul sim --list [FOLDER]\n"
	"\n"
	"Runs a scenario in virtual time: wavehaul's own sessions beside reference TCPs,\n"
	"over any network. FILE is a path, or one of the names that --list prints.\n";

static const char plan_text[] =
	"usage: wavehaul plan --rate RATE --rtt TIME [OPTIONS]\n"
	"\n"
	"Predicts what each profile and each TCP would reach alone on such a link:\n"
	"simulated packet by packet, or by a published formula where a simulation would\n"
	"take too long.\n";

static const char doctor_text[] =
	"usage: wavehaul doctor [OPTIONS]\n"
	"\n"
	"Checks whether this machine is fit to be a data transfer node: CPUs and their\n"
	"clock, memory, NICs and their drivers, limits. It only looks, and changes\n"
	"nothing.\n"
	"\n"
	"A line for each fact:\n"
	"  good   as it should be\n"
	"  info   worth knowing, nothing to repair: a management port, a missing IOMMU\n"
	"         that no NIC here needs\n"
	"  FIX    to be repaired; the line below is the command, for a root shell. Go\n"
	"         from top to bottom, and run the doctor again: one repair can make\n"
	"         others unnecessary\n"
	"\n"
	"Examples\n"
	"  wavehaul doctor                       look at this machine\n"
	"  wavehaul doctor --json | jq -r '.checks[].repair // empty'\n"
	"                                        print only the commands\n"
	"  wavehaul doctor >/dev/null && start   in a script: 0 is fit, 7 is not\n";

static const char nic_text[] =
	"usage: wavehaul nic bind NIC...\n"
	"       wavehaul nic release NIC...\n"
	"\n"
	"Gives NICs on the PCI bus to DPDK, now and at each boot, or back to the kernel.\n"
	"With an IOMMU the driver is vfio-pci, otherwise uio_pci_generic. A NIC with the\n"
	"default route, of a bond, bridge or VLAN, or through which somebody is connected\n"
	"to this host, by ssh for example, stays the system's.\n"
	"\n"
	"  wavehaul nic bind 0000:3b:00.0\n";

static const char profiles_text[] =
	"usage: wavehaul profiles [OPTIONS] [NAME]\n"
	"\n"
	"Lists the profiles, or explains one: how it works, and each option with its\n"
	"type, range, default and place in the paper.\n";

static const char wan_text[] =
	"usage: wavehaul wan --port A --port B [OPTIONS]\n"
	"\n"
	"Joins two DPDK ports by an emulated link, until --time or Ctrl-C. Options of the\n"
	"link hold for both directions; with back- in front, for B to A only. Kernels\n"
	"behind veth need, once for each of their ends: ethtool -K IFACE tx off\n"
	"\n"
	"  wavehaul wan --port af_packet:veth1 --port af_packet:veth2 --rate 1G \\\n"
	"      --rtt 100ms\n"
	"  wavehaul wan --port af_packet:veth1 --port af_packet:veth2 --rate 100M \\\n"
	"      --back-rate 10M --loss 1e-3 --queue 500p --time 60s\n";

static const char keygen_text[] =
	"usage: wavehaul keygen [OPTIONS]\n"
	"\n"
	"Makes the key by which peers know this end, and shows its fingerprint:\n"
	"100 bits as letters and digits, to compare by telephone. The first serve or send\n"
	"makes a key by itself.\n";

static const char trust_text[] =
	"usage: wavehaul trust list | show [NAME] | remove NAME [OPTIONS]\n"
	"       wavehaul trust add NAME KEY|subject=SUBJECT [WORD=VALUE]... [OPTIONS]\n"
	"       wavehaul trust add NAME [WORD=VALUE]... [OPTIONS] --via COMMAND...\n"
	"\n"
	"Manages the peers that are trusted here, and their rights. A peer that is not\n"
	"in the list is not served, and no file goes to it. The words are those of a\n"
	"peer's file NAME.conf: address, read, write, measure, orders, orders-delete,\n"
	"folder, from, rate, sessions, bytes, map-owners, map-groups.\n"
	"\n"
	"  wavehaul trust add dtn2 --via ssh admin@dtn2\n"
	"  wavehaul trust add dtn3 sha256:3c1e...09af write=no folder=public rate=10G\n";

static const char job_text[] =
	"usage: wavehaul job add send FILE... HOST:PATH [OPTIONS]\n"
	"       wavehaul job add get HOST:PATH... DEST [OPTIONS]\n"
	"       wavehaul job add copy HOST:PATH... THIRD:PATH [OPTIONS]\n"
	"       wavehaul job list [--all] | show JOB | pause JOB... | resume JOB...\n"
	"       wavehaul job cancel JOB... | retry JOB... | set JOB RATES\n"
	"       wavehaul job move JOB [before JOB] | watch [JOB]\n"
	"\n"
	"Gives jobs to this host's server, which runs each when its turn comes, and\n"
	"continues them after a restart. Files are below the server's --root. `copy` lets\n"
	"the queue of HOST send to THIRD, by the name that HOST has for it.\n"
	"\n"
	"  wavehaul job add send run42/ dtn2:runs/ -r --not-before 22:00 --retries 10 \\\n"
	"      --rate 'weekdays 8:00-18:00 2G, else 9.5G'\n"
	"  wavehaul job set 17 4G                takes effect on a running job at once\n";

static const char fleet_text[] =
	"usage: wavehaul fleet scan|send TREE... SITE:PATH... [OPTIONS] [-- OPTIONS OF SEND]\n"
	"       wavehaul fleet scan|get SITE:PATH... FOLDER [OPTIONS] [-- OPTIONS OF GET]\n"
	"       wavehaul fleet status|retry|cancel|verify|report [OPTIONS]\n"
	"       wavehaul fleet task|check SHARD [OPTIONS]\n"
	"\n"
	"Divides trees into shards of the same size and sends each as a task of Slurm, from\n"
	"whichever node is free to a receiver of SITE; or gets it from there. `scan` only\n"
	"makes the plan; `retry` gives Slurm what is planned and not done; `verify` compares\n"
	"what is done once more, by digest, and moves again what differs; `task` and `check`\n"
	"are what Slurm runs. A shard that fails three times is given up, and the others go\n"
	"on. Several sites are a chain, the fastest first: each has its shards from the site\n"
	"before it.\n"
	"\n"
	"  wavehaul fleet send /archive/run42 stfc:in/ --plan /scratch/run42.plan \\\n"
	"      --partition dtn --licenses lambda:1 -- --profile lambda\n"
	"  wavehaul fleet status --plan /scratch/run42.plan\n";

static const char parts_text[] =
	"usage: wavehaul parts [list | rm NUMBER... | rm all] [OPTIONS]\n"
	"\n"
	"Lists or removes what this host keeps of large files that did not arrive whole.\n"
	"A later send or get of such a file, from any sender, continues where it ended\n"
	"(--resume). Parts in use by a running job are not removed.\n";

static const char console_text[] =
	"usage: wavehaul console [OPTIONS]\n"
	"\n"
	"Controls this host's server by commands, typed or from standard input; `help`\n"
	"lists them. The first that fails ends a console without a terminal.\n"
	"\n"
	"  wavehaul console -c 'show orders; pause 17'\n"
	"  wavehaul console -c 'set rate 17 weekdays 8:00-18:00 2G, else 9.5G'\n";

static const char report_text[] =
	"usage: wavehaul report [OPTIONS]\n"
	"\n"
	"Reports what the server of this host, or the user's own send and get,\n"
	"transferred.\n"
	"\n"
	"  wavehaul report --by peer --since 30d --plot month.svg\n"
	"  wavehaul report --by transfer --since 2026-11-30 --csv >day.csv\n";

static const char ls_text[] =
	"usage: wavehaul ls [OPTIONS] HOST:PATH...\n"
	"\n"
	"Lists folders of a `wavehaul serve`: mode, owner, group, bytes, time, name. A\n"
	"path that is not a folder is listed itself; quoted wildcards are matched there.\n"
	"\n"
	"  wavehaul ls dtn2:runs --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char du_text[] =
	"usage: wavehaul du [OPTIONS] HOST:PATH...\n"
	"\n"
	"Adds up folders of a `wavehaul serve`: space on the disk, bytes of files, and\n"
	"number of entries. Quoted wildcards are matched there.\n"
	"\n"
	"  wavehaul du dtn2:runs --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char rm_text[] =
	"usage: wavehaul rm [OPTIONS] HOST:PATH...\n"
	"\n"
	"Removes files of a `wavehaul serve`; with -r also folders, and everything in\n"
	"them. Quoted wildcards are matched there: look first by ls.\n"
	"\n"
	"  wavehaul rm 'dtn2:runs/41/*.tmp' --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char mkdir_text[] =
	"usage: wavehaul mkdir [OPTIONS] HOST:PATH...\n"
	"\n"
	"Makes folders below the root of a `wavehaul serve`.\n"
	"\n"
	"  wavehaul mkdir -p dtn2:runs/42 --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char mv_text[] =
	"usage: wavehaul mv [OPTIONS] HOST:PATH... HOST:PATH\n"
	"\n"
	"Renames or moves files and folders within a `wavehaul serve`. The last path is\n"
	"an existing folder, or the new name if only one other path is given; a file of\n"
	"that name is replaced.\n"
	"\n"
	"  wavehaul mv dtn2:runs/42.new dtn2:runs/42 --port 0000:3b:00.0 \\\n"
	"      --addr 192.0.2.2/24\n";

static const char ping_text[] =
	"usage: wavehaul ping [OPTIONS] HOST\n"
	"\n"
	"Sends questions to a `wavehaul serve` over a session, and reports how long the\n"
	"answers take.\n"
	"\n"
	"  wavehaul ping dtn2 --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char completion_text[] =
	"usage: wavehaul completion bash|zsh|fish\n"
	"\n"
	"Prints the script by which that shell completes verbs, options and their values.\n"
	"An installed wavehaul has it already; otherwise:\n"
	"\n"
	"  source <(wavehaul completion bash)     or zsh\n"
	"  wavehaul completion fish | source\n";

static const struct {
	enum wh_verb verb;
	const char *name;
	const char *summary;
	const char *text; /* the beginning of --help */
} verbs[] = {
	{WH_VERB_DEMO, "demo", "send a file across an emulated link inside this machine",
		demo_text},
	{WH_VERB_SERVE, "serve", "accept transfers and serve files below a folder", serve_text},
	{WH_VERB_SEND, "send", "send files or trees to a server", send_text},
	{WH_VERB_GET, "get", "get files or trees from a server", get_text},
	{WH_VERB_BENCH, "bench", "measure memory to memory against a server", bench_text},
	{WH_VERB_PROBE, "probe", "measure the path to a server: capacity, bursts, memory, losses",
		probe_text},
	{WH_VERB_LS, "ls", "list folders of a server", ls_text},
	{WH_VERB_DU, "du", "add up the sizes of folders of a server", du_text},
	{WH_VERB_RM, "rm", "remove files or trees on a server", rm_text},
	{WH_VERB_MKDIR, "mkdir", "make folders on a server", mkdir_text},
	{WH_VERB_MV, "mv", "rename files and folders on a server", mv_text},
	{WH_VERB_PING, "ping", "measure how long a server takes to answer", ping_text},
	{WH_VERB_SIM, "sim", "run a scenario in virtual time: a network, flows, expectations",
		sim_text},
	{WH_VERB_WAN, "wan", "join two ports by an emulated link, for whatever is behind them",
		wan_text},
	{WH_VERB_PLAN, "plan", "predict what each profile and each TCP reaches on a link",
		plan_text},
	{WH_VERB_DOCTOR, "doctor", "check whether this machine is fit, and how to repair it",
		doctor_text},
	{WH_VERB_NIC, "nic", "give NICs to DPDK, or back to the kernel", nic_text},
	{WH_VERB_PROFILES, "profiles", "list the profiles and their options", profiles_text},
	{WH_VERB_KEYGEN, "keygen", "make the key by which peers know this end", keygen_text},
	{WH_VERB_JOB, "job", "queue jobs on this host's server, and control them", job_text},
	{WH_VERB_FLEET, "fleet", "send or get whole archives by many nodes, as tasks of Slurm",
		fleet_text},
	{WH_VERB_CONSOLE, "console", "control this host's server by commands, and see what it does",
		console_text},
	{WH_VERB_TRUST, "trust", "manage trusted peers and their rights", trust_text},
	{WH_VERB_PARTS, "parts", "list or remove parts of files that did not arrive whole",
		parts_text},
	{WH_VERB_REPORT, "report", "report past transfers, by day, peer, user or one by one",
		report_text},
	{WH_VERB_COMPLETION, "completion", "print the shell completion script", completion_text},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static_assert(WH_VERB_FLEET == 1 << (VERBS - 1), "a line for each bit of enum wh_verb");

static uint32_t index_of(enum wh_verb verb)
{
	uint32_t i = 0;

	while (i < VERBS && verbs[i].verb != verb)
		i++;
	WH_ASSERT(i < VERBS);
	return i;
}

bool wh_verb_is_of_laboratory(enum wh_verb verb)
{
	return (verb & (WH_VERB_DEMO | WH_VERB_SIM | WH_VERB_WAN | WH_VERB_PLAN)) != 0;
}

const char *wh_verb_name(enum wh_verb verb)
{
	return verbs[index_of(verb)].name;
}

enum wh_verb wh_verb_at(uint32_t i, const char **summary)
{
	*summary = i < VERBS ? verbs[i].summary : NULL;
	return i < VERBS ? verbs[i].verb : (enum wh_verb)0;
}

const char *wh_setting_standard(const struct wh_setting *setting, enum wh_verb verb)
{
	bool other = verb == WH_VERB_SERVE && setting->serve_standard != NULL;

	if (other)
		return setting->serve_standard;
	return setting->standard != NULL ? setting->standard : "";
}

const char *wh_setting_help(const struct wh_setting *setting, enum wh_verb verb)
{
	bool other = verb == WH_VERB_SERVE && setting->serve_help != NULL;

	return other ? setting->serve_help : setting->help;
}

/* What is longer than its column has a line to itself. */
static void print_flag(char letter, const char *flag, const char *argument)
{
	int used = letter != 0 ? printf("  -%c, --%s", letter, flag) : printf("  --%s", flag);

	if (argument != NULL)
		used += printf(" %s", argument);
	if (used >= COLUMN)
		printf("\n%*s", COLUMN, "");
	else
		printf("%*s", COLUMN - used, "");
}

/* Prints the words of a text that is at `used` columns of its line; returns where it ends. */
static size_t print_words(const char *text, size_t used, const char *before, FILE *to)
{
	size_t indent = strlen(before);

	for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
		size_t chars = strcspn(text, " \n");

		if (used > indent && used + 1 + chars > HELP_COLUMNS) {
			fprintf(to, "\n%s", before);
			used = indent;
		} else if (used > indent) {
			fputc(' ', to);
			used++;
		}
		fprintf(to, "%.*s", (int)chars, text);
		used += chars;
		text += chars;
	}
	return used;
}

void wh_setting_print_help(const char *help, const char *standard, const char *before, FILE *to)
{
	char brackets[STANDARD_BYTES];
	size_t used = print_words(help, strlen(before), before, to);

	snprintf(brackets, sizeof(brackets), "(%s)", standard);
	if (standard[0] != '\0')
		print_words(brackets, used, before, to);
	fputc('\n', to);
}

static void print_profiles(void)
{
	char summary[COLUMN + PROFILE_COLUMNS + 1];

	snprintf(summary, sizeof(summary), "%*s", COLUMN + PROFILE_COLUMNS, "");
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++) {
		printf("%*s%-*s", COLUMN, "", PROFILE_COLUMNS, wh_profile_at(i)->name);
		wh_setting_print_help(wh_profile_at(i)->summary, "", summary, stdout);
	}
}

static void print_setting(const struct wh_setting *setting, enum wh_verb verb)
{
	const char *standard = wh_setting_standard(setting, verb);
	char column[COLUMN + 1];

	snprintf(column, sizeof(column), "%*s", COLUMN, "");
	print_flag(setting->letter, setting->flag, setting->argument);
	wh_setting_print_help(wh_setting_help(setting, verb),
		strcmp(standard, "no") == 0 ? "" : standard, column, stdout);
	if (setting->type == WH_SETTING_PROFILE)
		print_profiles();
}

static void print_section(const struct wh_settings_section *section, enum wh_verb verb)
{
	bool headed = false;

	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if ((setting->verbs & verb) == 0 || strcmp(setting->section, section->name) != 0)
			continue;
		if (!headed)
			printf("\n%s\n", section->title);
		headed = true;
		print_setting(setting, verb);
	}
}

void wh_settings_help(enum wh_verb verb)
{
	printf("%s", verbs[index_of(verb)].text);
	for (const struct wh_settings_section *s = wh_settings_sections; s->name != NULL; s++)
		print_section(s, verb);
	print_flag('h', "help", NULL);
	printf("print this help; `man wavehaul-%s` explains\n\n" WH_EXIT_HELP, wh_verb_name(verb));
}
