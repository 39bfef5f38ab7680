/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/exit.h"

/* Where the explanations begin. */
#define COLUMN 24

static const char serve_text[] =
	"usage: wavehaul serve [OPTIONS]\n"
	"\n"
	"Takes files from peers and gives them files, below one folder, until it is told to stop.\n"
	"The port is its own as long as it runs. A peer's `wavehaul send`, `get` or `bench` finds\n"
	"it by its address.\n"
	"\n"
	"  wavehaul serve --port memif:/run/wh.sock,role=server --addr 192.0.2.1/24 --root /srv\n"
	"  wavehaul serve --port 0000:3b:00.0 --addr 192.0.2.1/24 --mtu 9000 --root /srv\n";

static const char send_text[] =
	"usage: wavehaul send [OPTIONS] FILE... HOST:PATH\n"
	"\n"
	"Sends files to a `wavehaul serve`, where they appear under the path whole and verified,\n"
	"or not at all. HOST is the server's address, one of IPv6 in brackets: "
	"[2001:db8::1]:PATH.\n"
	"\n"
	"  wavehaul send a.iso 192.0.2.1:in/ --port memif:/run/wh.sock --addr 192.0.2.2/24\n"
	"  wavehaul send -r run7 192.0.2.1:in/ --port 0000:3b:00.0 --addr 192.0.2.2/24 --rate "
	"10G\n";

static const char get_text[] =
	"usage: wavehaul get [OPTIONS] HOST:PATH... DEST\n"
	"\n"
	"Fetches files from a `wavehaul serve`; at DEST they appear whole and verified, or not at\n"
	"all. HOST is the server's name or address, one of IPv6 in brackets: [2001:db8::1]:PATH.\n"
	"\n"
	"  wavehaul get 192.0.2.1:a.iso . --port memif:/run/wh.sock --addr 192.0.2.2/24\n"
	"  wavehaul get -r 192.0.2.1:run7 . --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char bench_text[] =
	"usage: wavehaul bench [OPTIONS] HOST\n"
	"\n"
	"Sends from memory to the memory of a `wavehaul serve` and reports the rate, and what set\n"
	"it. No disk is touched at either end. HOST is the server's name or address.\n"
	"\n"
	"  wavehaul bench 192.0.2.1 --port memif:/run/wh.sock --addr 192.0.2.2/24 --frame 9000\n"
	"  wavehaul bench 192.0.2.1 --port 0000:3b:00.0 --addr 192.0.2.2/24 --rate 9.5G --time "
	"60s\n";

static const char demo_text[] =
	"usage: wavehaul demo [OPTIONS]\n"
	"\n"
	"Sends a file from one DPDK port to another across an emulated lambda inside this\n"
	"machine, checks that every byte arrived, and reports.\n";

static const char probe_text[] =
	"usage: wavehaul probe [OPTIONS] HOST\n"
	"\n"
	"Measures the way to a `wavehaul serve` before anything is sent on it: round trip, MTU,\n"
	"capacity, how long a burst at line rate comes whole, how much memory the narrowest\n"
	"switch has, losses each way, and order. It says first what it sends at most: trains of\n"
	"numbered packets at line rate, which would cost others on the way packets. A server\n"
	"refuses while transfers run there.\n"
	"\n"
	"  wavehaul probe 192.0.2.1 --port memif:/run/wh.sock --addr 192.0.2.2/24\n"
	"  wavehaul probe 192.0.2.1 --port 0000:3b:00.0 --addr 192.0.2.2/24 --mtu 9000 \\\n"
	"      --plot way.svg\n";

static const char sim_text[] =
	"usage: wavehaul sim [OPTIONS] FILE\n"
	"       wavehaul sim --list [FOLDER]\n"
	"\n"
	"Runs a scenario in virtual time: wavehaul's own sessions beside reference TCPs, over\n"
	"any network. FILE is a path, or a name of those that --list lists. The form of\n"
	"scenarios: man wavehaul-scenario.\n";

static const char plan_text[] =
	"usage: wavehaul plan --rate RATE --rtt TIME [OPTIONS]\n"
	"\n"
	"What each profile and each TCP would do alone on such a link: simulated packet by\n"
	"packet, or by a published formula where a simulation would take too long.\n";

static const char doctor_text[] =
	"usage: wavehaul doctor [OPTIONS]\n"
	"\n"
	"Looks whether this machine is fit to be a data transfer node: CPUs and their clock,\n"
	"memory, NICs and who has them, limits. It only looks, and changes nothing.\n"
	"\n"
	"A line for each fact:\n"
	"  good   as it should be\n"
	"  info   worth knowing, nothing to repair: a management port, a missing IOMMU that\n"
	"         no NIC here needs\n"
	"  FIX    to be repaired; the line below is the command, for a root shell. Go from top\n"
	"         to bottom, and run the doctor again: one repair may make others needless\n"
	"\n"
	"Examples\n"
	"  wavehaul doctor                       this machine, by eye\n"
	"  wavehaul doctor --json | jq -r '.checks[].repair // empty'\n"
	"                                        the commands alone\n"
	"  wavehaul doctor >/dev/null && start   in a script: 0 is fit, 7 is not\n";

static const char profiles_text[] =
	"usage: wavehaul profiles [OPTIONS] [NAME]\n"
	"\n"
	"Lists the profiles, or what one lets you set: each option with its type, range, default\n"
	"and place in the paper.\n";

static const char wan_text[] =
	"usage: wavehaul wan --port A --port B [OPTIONS]\n"
	"\n"
	"Joins two DPDK ports as a lambda: frames that come in at one leave by the other after "
	"the\n"
	"path's queue, line and delay, or are lost as it loses them. Whatever is behind the ports\n"
	"crosses it, kernel TCP in namespaces or other hosts: Ethernet, with any protocol, "
	"address\n"
	"and tag. Runs until --time or Ctrl-C and reports; what it dropped for want of its own\n"
	"means is named apart from what the path lost.\n"
	"\n"
	"Options of the path are for both ways; with back- before, for the one from B to A.\n"
	"Kernels behind veth leave segmentation and sums to a NIC that is not there, so, once for\n"
	"each of their ends: ethtool -K IFACE tx off\n"
	"\n"
	"  wavehaul wan --port af_packet:veth1 --port af_packet:veth2 --rate 1G --rtt 100ms\n"
	"  wavehaul wan --port af_packet:veth1 --port af_packet:veth2 --rate 100M --back-rate "
	"10M \\\n"
	"      --loss 1e-3 --queue 500p --time 60s\n";

static const char keygen_text[] =
	"usage: wavehaul keygen [OPTIONS]\n"
	"\n"
	"Makes the key by which peers know this end, and shows its fingerprint: 100 bits as\n"
	"letters and digits, and 96 bits as four scenes, easier to compare by telephone. The "
	"first\n"
	"serve or send makes one by itself.\n";

static const char trust_text[] =
	"usage: wavehaul trust list | show [NAME] | remove NAME [OPTIONS]\n"
	"       wavehaul trust add NAME KEY|subject=SUBJECT [WORD=VALUE]... [OPTIONS]\n"
	"       wavehaul trust add NAME [WORD=VALUE]... [OPTIONS] --via COMMAND...\n"
	"\n"
	"Says who is trusted here, and with what. Who is not in the list is let in nowhere, and\n"
	"no file goes to him. show alone shows this end's own key. What add writes is a file\n"
	"NAME.conf that may be edited; a server heeds it within a second, in running transfers,\n"
	"too.\n"
	"\n"
	"  address=192.0.2.2       where it answers; again for another\n"
	"  read=no write=no        it may not get files, or send any; measure=no: nor bench\n"
	"  orders=yes              it may have our queue send what it may get to our peers\n"
	"  folder=incoming         below the root, that and what is in it; again for another\n"
	"  from=192.0.2.0/24       it may come from there; again for another\n"
	"  rate=10G sessions=4     of what it gets, and jobs at once\n"
	"  bytes=10T               that it may move in a day\n"
	"  map-owners=7=alice      whose files become that it sends; map-groups likewise\n"
	"\n"
	"  wavehaul trust add dtn2 --via ssh admin@dtn2\n"
	"  wavehaul trust add dtn3 sha256:3c1e...09af write=no folder=public\n";

static const char job_text[] =
	"usage: wavehaul job add send FILE... HOST:PATH [OPTIONS]\n"
	"       wavehaul job add get HOST:PATH... DEST [OPTIONS]\n"
	"       wavehaul job add copy HOST:PATH... THIRD:PATH [OPTIONS]\n"
	"       wavehaul job list [--all] | show JOB | pause JOB... | resume JOB...\n"
	"       wavehaul job cancel JOB... | retry JOB... | set JOB RATES\n"
	"       wavehaul job move JOB [before JOB] | watch [JOB]\n"
	"\n"
	"Hands jobs to the server of this host, which keeps them in a queue, runs them when it is\n"
	"their turn, and goes on with them after a restart. Files are below the server's --root,\n"
	"and are read and written by its user. HOST is a peer that is trusted here by name, or an\n"
	"address. copy has the queue of HOST send to THIRD, a peer of HOST by the name that it\n"
	"has there; nothing of it passes this host, and HOST lets us by orders=yes.\n"
	"\n"
	"  wavehaul job add send run42/ dtn2:runs/ -r --not-before 22:00 --retries 10 \\\n"
	"      --rate 'weekdays 8:00-18:00 2G, else 9.5G'\n"
	"  wavehaul job list\n"
	"  wavehaul job set 17 4G                what runs goes by it at once\n";

static const char parts_text[] =
	"usage: wavehaul parts [list | rm NUMBER... | rm all] [OPTIONS]\n"
	"\n"
	"Lists what this host keeps of large files that did not come whole, or removes it. A "
	"later\n"
	"send or get of such a file, whoever sends it, goes on where it ended (--resume). What a\n"
	"job is at is not removed.\n";

static const char console_text[] =
	"usage: wavehaul console [OPTIONS]\n"
	"\n"
	"Steers the server of this host by words: shows what it does, sets rates, pauses, "
	"resumes,\n"
	"cancels, drains. `help` lists what can be said; Tab completes it, the\n"
	"arrow keys bring earlier lines back, and Ctrl-D or `quit` ends it. Tables take `live`\n"
	"behind them, and are shown every second until a key. Without a terminal lines come from\n"
	"standard input; the first that fails ends it, and its exit status is the console's.\n"
	"\n"
	"  wavehaul console\n"
	"  wavehaul console -c 'show orders; pause 17'\n"
	"  wavehaul console -c 'set rate 17 weekdays 8:00-18:00 2G, else 9.5G'\n";

static const char report_text[] =
	"usage: wavehaul report [OPTIONS]\n"
	"\n"
	"Tells what the server of this host, or the user's own send and get, moved: how\n"
	"much, with whom, how fast, and what failed. A server may run meanwhile, or not.\n"
	"\n"
	"  wavehaul report --by peer --since 30d --plot month.svg\n"
	"  wavehaul report --by transfer --since 2026-11-30 --csv >day.csv\n";

static const char ls_text[] =
	"usage: wavehaul ls [OPTIONS] HOST:PATH...\n"
	"\n"
	"Lists what is in folders of a `wavehaul serve`: mode, owner, group, bytes, time, name.\n"
	"A path that is no folder is listed itself.\n"
	"\n"
	"  wavehaul ls dtn2:runs --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char du_text[] =
	"usage: wavehaul du [OPTIONS] HOST:PATH...\n"
	"\n"
	"Adds up what is in folders of a `wavehaul serve`: room on the disk, bytes of files, and\n"
	"how many entries there are. A file with several names counts with each.\n"
	"\n"
	"  wavehaul du dtn2:runs --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char rm_text[] =
	"usage: wavehaul rm [OPTIONS] HOST:PATH...\n"
	"\n"
	"Removes files of a `wavehaul serve`; with -r folders, too, and all that is in them. "
	"Links\n"
	"are removed themselves, and never followed. What is below 64 folders stays.\n"
	"\n"
	"  wavehaul rm -r dtn2:runs/41 --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char mkdir_text[] =
	"usage: wavehaul mkdir [OPTIONS] HOST:PATH...\n"
	"\n"
	"Makes folders below the one that a `wavehaul serve` serves.\n"
	"\n"
	"  wavehaul mkdir -p dtn2:runs/42 --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char mv_text[] =
	"usage: wavehaul mv [OPTIONS] HOST:PATH... HOST:PATH\n"
	"\n"
	"Gives files and folders of a `wavehaul serve` other names there. The last path is a\n"
	"folder that is there, or the new name of the only other one; a file of that name is\n"
	"replaced.\n"
	"\n"
	"  wavehaul mv dtn2:runs/42.new dtn2:runs/42 --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char ping_text[] =
	"usage: wavehaul ping [OPTIONS] HOST\n"
	"\n"
	"Asks a `wavehaul serve` over a session, and says how long each answer takes, with what\n"
	"most of them do not exceed. Both ends are measured with the way.\n"
	"\n"
	"  wavehaul ping dtn2 --port 0000:3b:00.0 --addr 192.0.2.2/24\n";

static const char completion_text[] =
	"usage: wavehaul completion bash\n"
	"\n"
	"Prints what bash reads to complete verbs, options and their values. An installed\n"
	"wavehaul brings it along; for one that is not:\n"
	"\n"
	"  source <(wavehaul completion bash)\n"
	"\n";

static const struct {
	enum wh_verb verb;
	const char *name;
	const char *summary;
	const char *text; /* how --help begins */
} verbs[] = {
	{WH_VERB_DEMO, "demo", "send a file across an emulated lambda inside this machine",
		demo_text},
	{WH_VERB_SERVE, "serve", "accept transfers and serve files below a folder", serve_text},
	{WH_VERB_SEND, "send", "send files or trees to a server", send_text},
	{WH_VERB_GET, "get", "get files or trees from a server", get_text},
	{WH_VERB_BENCH, "bench", "measure memory to memory against a server", bench_text},
	{WH_VERB_PROBE, "probe", "measure the way to a server: capacity, bursts, memory, losses",
		probe_text},
	{WH_VERB_LS, "ls", "list what is in folders of a server", ls_text},
	{WH_VERB_DU, "du", "add up what is in folders of a server", du_text},
	{WH_VERB_RM, "rm", "remove files or trees of a server", rm_text},
	{WH_VERB_MKDIR, "mkdir", "make folders at a server", mkdir_text},
	{WH_VERB_MV, "mv", "give files and folders of a server other names", mv_text},
	{WH_VERB_PING, "ping", "measure how long a server takes to answer", ping_text},
	{WH_VERB_SIM, "sim", "run a scenario in virtual time: a network, flows, expectations",
		sim_text},
	{WH_VERB_WAN, "wan", "join two ports as a lambda, for whatever is behind them", wan_text},
	{WH_VERB_PLAN, "plan", "what each profile and each TCP would do on a link", plan_text},
	{WH_VERB_DOCTOR, "doctor",
		"say whether this machine is fit for transfers, and what repairs it", doctor_text},
	{WH_VERB_PROFILES, "profiles", "list the profiles and what each lets you set",
		profiles_text},
	{WH_VERB_KEYGEN, "keygen", "make the key by which peers know this end", keygen_text},
	{WH_VERB_JOB, "job", "give jobs to the queue of this host's server, and steer them",
		job_text},
	{WH_VERB_CONSOLE, "console", "steer the server of this host by words, and see what it does",
		console_text},
	{WH_VERB_TRUST, "trust", "say who is trusted here, and with what", trust_text},
	{WH_VERB_PARTS, "parts", "list or remove what is kept of files that did not come whole",
		parts_text},
	{WH_VERB_REPORT, "report", "what was transferred here: by day, peer, user or one by one",
		report_text},
	{WH_VERB_COMPLETION, "completion", "print what a shell reads to complete all this",
		completion_text},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static_assert(WH_VERB_PING == 1 << (VERBS - 1), "a line for each bit of enum wh_verb");

static uint32_t index_of(enum wh_verb verb)
{
	uint32_t i = 0;

	while (i < VERBS && verbs[i].verb != verb)
		i++;
	WH_ASSERT(i < VERBS);
	return i;
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

static void print_flag(const char *flag, const char *argument)
{
	int used = printf(
		"  --%s%s%s", flag, argument == NULL ? "" : " ", argument == NULL ? "" : argument);

	printf("%*s", used < COLUMN ? COLUMN - used : 1, "");
}

void wh_setting_print_help(const char *help, const char *standard, const char *before, FILE *to)
{
	for (;;) {
		size_t chars = strcspn(help, "\n");

		fprintf(to, "%.*s", (int)chars, help);
		if (help[chars] == '\0')
			break;
		fprintf(to, "\n%s", before);
		help += chars + 1;
	}
	if (standard[0] != '\0')
		fprintf(to, " (%s)", standard);
	fputc('\n', to);
}

static void print_setting(const struct wh_setting *setting, enum wh_verb verb)
{
	const char *standard = wh_setting_standard(setting, verb);
	char column[COLUMN + 1];

	snprintf(column, sizeof(column), "%*s", COLUMN, "");
	print_flag(setting->flag, setting->argument);
	wh_setting_print_help(wh_setting_help(setting, verb),
		strcmp(standard, "no") == 0 ? "" : standard, column, stdout);
	if (setting->type == WH_SETTING_PROFILE)
		for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
			printf("%*s%-6s %s\n", COLUMN - 4, "", wh_profile_at(i)->name,
				wh_profile_at(i)->summary);
	if (setting->alias != NULL && verb == WH_VERB_BENCH) {
		print_flag(setting->alias, setting->argument);
		printf("another name of --%s\n", setting->flag);
	}
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
	print_flag("help", NULL);
	printf("this\n\n" WH_EXIT_HELP);
}
