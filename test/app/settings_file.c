/* SPDX-License-Identifier: BSD-3-Clause */

/* Configuration files: what is refused and in which line, and files that are none. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prng.h"
#include "cli/exit.h"
#include "settings_rig.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct wh_rig rig;

static void read_text(enum wh_verb verb, const char *text, const char *words)
{
	wh_rig_read_file(&rig, verb, text, strlen(text), words);
}

/* That it was refused in that line, in words that begin so. */
static void expect_line(const char *text, unsigned int line, const char *said)
{
	char expected[1200];

	snprintf(expected, sizeof(expected), "%s:%u: %s", wh_rig_path, line, said);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
	CU_ASSERT_NSTRING_EQUAL(rig.said, expected, strlen(expected));
	if (strncmp(rig.said, expected, strlen(expected)) != 0)
		printf("\n%.60s: said '%s'", text, rig.said);
}

struct line_case {
	const char *text;
	unsigned int line;
	const char *said;
};

static const struct line_case line_cases[] = {
	{"[prot]\nport = x\n", 1, "there is no section [prot]; did you mean 'port'?"},
	{"[network]\nport = x\n", 1,
		"there is no section [network]; the sections are port, address, ssh, cores, "
		"memory, "
		"transfer, serve, queue, limits, files, guard, profile, trust, bench, probe, "
		"output, "
		"dpdk"},
	{"[config]\n", 1, "there is no section [config]; "},
	{"# head\n\n[port]\nqueus = 4\n", 4, "[port] has no key 'queus'; did you mean 'queues'?"},
	{"[port]\nspeed = 4\n", 2,
		"[port] has no key 'speed'; its keys are port, queues, mtu, vlan, dscp, "
		"rx_descriptors, "
		"tx_descriptors"},
	{"[transfer]\nmtu = 9000\n", 2, "[transfer] has no key 'mtu'; its keys are profile, "},
	{"[port]\nmtu = 90000\n", 2,
		"mtu = '90000' is out of bounds; write for example mtu = 9000 (from 1228 to "
		"9216)"},
	{"[port]\n\tmtu\t=  nine thousand # really\n", 2, "mtu = 'nine thousand' is not "},
	{"[port]\nvlan = 1\n[transfer]\n\nrate = 10\n", 5, "rate = '10' is out of bounds; "},
	{"[output]\njson = maybe\n", 2,
		"json = 'maybe' is not yes or no; write for example json = yes"},

	/* Of another verb: checked all the same. */
	{"[bench]\ntime = 1\n", 2, "time = '1' is not understood; "},
	{"[serve]\nsessions = 0\n", 2, "sessions = '0' is out of bounds; "},

	{"[profile]\nudt.beta = 1e-6\nudt.bta = 1e-6\n", 3,
		"udt has no option 'bta', see `wavehaul profiles udt`; did you mean 'beta'?"},
	{"[profile]\nudt.beta = 7\n", 2, "'7' is out of bounds; udt.beta is a number from "},
	{"[profile]\nbeta = 1\n", 2, "'beta' must begin with a profile and a dot, "},

	/* Twice. */
	{"[profile]\nudt.beta = 1e-6\nudt.beta = 1e-6\n", 3, "udt.beta is already set at "},
	{"[port]\nmtu = 9000\nvlan = 1\nmtu = 9000\n", 4, "mtu is already set at /tmp/wavehaul-"},
	{"[port]\nmtu = 9000\n[cores]\nrx = 1\n[port]\nmtu = 1500\n", 6, "mtu is already set at "},
	{"[address]\naddress = 10.0.0.1/8,10.0.0.2/8,10.0.0.3/8\naddress = 10.0.0.4/8,10.0.0.5/8\n",
		3, "address = '10.0.0.4/8,10.0.0.5/8' is one address too many; "},
	{"[port]\nport = 0000:01:00.0, 0000:02:00.0\n", 2,
		"port = '0000:01:00.0, 0000:02:00.0' seems to be several ports: each has a line, "
		"or --port, of its own; "},
	{"[port]\nport = a\nport = b\nport = c\nport = d\nport = e\n", 6,
		"port = 'e' is a fifth port, and four are the limit; "},

	/* Form. */
	{"port = x\n", 1, "a [section] must come before, for example [port]"},
	{"[port]\nport\n", 2, "expected a [section], key = value, or a # comment"},
	{"[port]\n= x\n", 2, "there is no key before the ="},
	{"; a note\n", 1, "this is not a comment: comments begin with #"},
	{"[port]\nport =\n", 2, "the value is missing; add one, or comment the line out with #"},
	{"[port]\nport = # to be filled in\n", 2, "the value is missing; "},
	{"[port\n", 1, "write a section as [port], with nothing after it"},
	{"[]\n", 1, "write a section as [port], with nothing after it"},
	{"[port] mtu = 9000\n", 1, "write a section as [port], with nothing after it"},
	{"[port] # fine\n[port]]\n", 2, "there is no section [port]]; "},
	{"[port]\rmtu = 9000\r", 1, "it contains a control character: not a text file"},
	{"[port]\nport = a\x1b[2Jb\n", 2, "it contains a control character: not a text file"},
};

static void test_lines(void)
{
	for (size_t i = 0; i < LENGTH(line_cases); i++) {
		const struct line_case *c = &line_cases[i];

		read_text(WH_VERB_SEND, c->text, "--port|x|--addr|192.0.2.1/24");
		expect_line(c->text, c->line, c->said);
	}
}

#define WHOLE_FILE "[port]\nport = memif:/x\nmtu = 9000\n[address]\naddress = 192.0.2.1/24\n"

static void expect_whole(const char *text)
{
	read_text(WH_VERB_SEND, text, "");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_STRING_EQUAL(rig.said, "");
	CU_ASSERT_EQUAL(rig.settings.mtu_bytes, 9000);
	CU_ASSERT_STRING_EQUAL(rig.settings.port[0].name, "memif:/x");
	CU_ASSERT_EQUAL(rig.settings.port[0].ipv4.prefix_bits, 24);
}

static void test_forms(void)
{
	/* Bytes that are no UTF-8 are fine: paths may have them. */
	read_text(WH_VERB_SERVE,
		WHOLE_FILE "[serve]\nroot = /srv/gr\xf6\xdf"
			   "e # \xe9\n",
		"");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_STRING_EQUAL(rig.settings.root, "/srv/gr\xf6\xdf"
						  "e");
	expect_whole(WHOLE_FILE);
	expect_whole("[port]\r\nport = memif:/x\r\nmtu = 9000\r\n\r\n[address]\r\n"
		     "address = 192.0.2.1/24\r\n");
	expect_whole("[port]\nport = memif:/x\nmtu = 9000\n[address]\naddress = 192.0.2.1/24");
	expect_whole("#\n# [x]\n#y = z\n \t[ port ] # p\n\tport=memif:/x#c\n mtu\t= 9000\t\n"
		     "[address]\n[serve]\n[address]\naddress=192.0.2.1/24 # a = b [c]\n\n\n");
}

/* Keys of other verbs change nothing, not even what the verb reads under the same name. */
static void test_other_verbs(void)
{
	read_text(WH_VERB_SERVE,
		WHOLE_FILE "[transfer]\nparallel = 9\nrecursive = yes\n[output]\njson = yes\n"
			   "[bench]\nsize = 1M\n[serve]\nsessions = 5\n",
		"");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(rig.settings.sessions, 5);
	CU_ASSERT_EQUAL(rig.settings.parallel, 1);
	CU_ASSERT_EQUAL(rig.settings.size_bytes, 0);
	CU_ASSERT_FALSE(rig.settings.recursive);
	CU_ASSERT_FALSE(rig.settings.json);
}

/* Flags come after the file, and what they list replaces what the file lists. */
static void test_flags_after_file(void)
{
	static const char text[] = "[port]\nport = a\nmtu = 9000\n[address]\n"
				   "address = 192.0.2.1/24, 2001:db8::1/64\ngateway = 192.0.2.2\n"
				   "[serve]\nallow = 10.0.0.0/8\nroot = /srv\n";

	read_text(WH_VERB_SERVE, text, "--mtu|1500|--allow|11.0.0.0/8|--allow|12.0.0.0/8");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(rig.settings.mtu_bytes, 1500);
	CU_ASSERT_STRING_EQUAL(rig.settings.port[0].name, "a");
	CU_ASSERT_STRING_EQUAL(rig.settings.root, "/srv");
	CU_ASSERT_STRING_EQUAL(
		wh_rig_value(&rig, WH_VERB_SERVE, "serve.allow"), "11.0.0.0/8, 12.0.0.0/8");
	CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, WH_VERB_SERVE, "address.address"),
		"192.0.2.1/24, 2001:db8::1/64");
	read_text(WH_VERB_SERVE, text, "--addr|198.51.100.1/24|--gateway|198.51.100.2");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_STRING_EQUAL(
		wh_rig_value(&rig, WH_VERB_SERVE, "address.address"), "198.51.100.1/24");
	CU_ASSERT_STRING_EQUAL(
		wh_rig_value(&rig, WH_VERB_SERVE, "address.gateway"), "198.51.100.2");

	/* Before --config on the command line, too. */
	char words[128];

	snprintf(words, sizeof(words), "--mtu|1501|--config|%s", wh_rig_path);
	wh_rig_read(&rig, WH_VERB_SERVE, words);
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(rig.settings.mtu_bytes, 1501);
	CU_ASSERT_STRING_EQUAL(rig.settings.port[0].name, "a");
}

/* A value may be as long as the same text as a flag, and a line as long as it likes. */
static void test_longest_line(void)
{
	static char text[2 * WH_SETTINGS_TEXT_BYTES] = "[serve]\nroot=";
	size_t begin = strlen(text);

	memset(text + begin, 'r', WH_SETTINGS_TEXT_BYTES);
	text[begin + WH_SETTINGS_TEXT_BYTES - 1] = '\0';
	read_text(WH_VERB_SERVE, text, "--port|x|--addr|192.0.2.1/24");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(strlen(rig.settings.root), WH_SETTINGS_TEXT_BYTES - 1);
	text[begin + WH_SETTINGS_TEXT_BYTES - 1] = 'r';
	read_text(WH_VERB_SERVE, text, "");
	expect_line(text, 2, "root = 'rrr");

	strcpy(text, WHOLE_FILE "#");
	begin = strlen(text) - 1;
	memset(text + begin, '#', 3000);
	text[begin + 3000] = '\0';
	expect_whole(text);
}

static const char *draw(struct wh_prng *prng, const char *const *choices, uint64_t count)
{
	return choices[wh_prng_below(prng, count)];
}

/* In whatever dress an entry comes, it is one, and has its value. */
static void test_dressed_lines(void)
{
	static const char *const blanks[] = {"", " ", "\t", " \t  "};
	static const char *const ends[] = {
		"\n", "\r\n", " \n", "# x\n", "\t# = [y] # z\r\n", "#\n"};
	static const char *const between[] = {
		"", "\n", "# mtu = 1\n", " # [dpdk]\n", "\r\n", "[bench]\n"};
	struct wh_prng prng;
	char text[1024];

	wh_prng_init(&prng, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t mtu = 1280 + (uint32_t)wh_prng_below(&prng, 7000);
		size_t used = 0;

		for (uint32_t entry = 0; entry < 3; entry++) {
			static const char *const sections[] = {"port", "serve", "cores"};
			static const char *const keys[] = {"mtu", "root", "rx"};
			const char *a = draw(&prng, blanks, 4);
			const char *b = draw(&prng, blanks, 4);
			const char *c = draw(&prng, blanks, 4);
			char value[32] = "/\\#[a] = \\b\\#";

			if (entry != 1)
				snprintf(value, sizeof(value), "%u", entry == 0 ? mtu : mtu % 1000);
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"%s%s[%s%s%s]%s%s%s%s%s=%s%s%s", draw(&prng, between, 6), a, b,
				sections[entry], c, a, draw(&prng, ends, 6), b, keys[entry], c, a,
				value, draw(&prng, ends, 6));
		}
		read_text(WH_VERB_SERVE, text, "--port|x|--addr|192.0.2.1/24");
		CU_ASSERT_EQUAL_FATAL(rig.status, -1);
		CU_ASSERT_EQUAL(rig.settings.mtu_bytes, mtu);
		CU_ASSERT_EQUAL(rig.settings.rx_cpus.cpu[0], mtu % 1000);
		CU_ASSERT_STRING_EQUAL(rig.settings.root, "/#[a] = \\b#");
	}
}

static void test_hostile(void)
{
	static char megabyte[1 << 20];
	static const char zero[] = "[port]\nmtu = 90\0"
				   "00\n";

	read_text(WH_VERB_SEND, "", "--port|x|--addr|192.0.2.1/24");
	CU_ASSERT_EQUAL(rig.status, -1);
	wh_rig_read_file(&rig, WH_VERB_SEND, zero, sizeof(zero) - 1, "");
	expect_line("zero", 2, "it contains a control character: not a text file");
	for (size_t i = 0; i < sizeof(megabyte); i++)
		megabyte[i] = (char)(i * 2654435761U >> 11);
	wh_rig_read_file(&rig, WH_VERB_SEND, megabyte, sizeof(megabyte), "");
	expect_line("noise", 1, "");
	memset(megabyte, 'a', sizeof(megabyte));
	wh_rig_read_file(&rig, WH_VERB_SEND, megabyte, sizeof(megabyte), "");
	expect_line("one line", 1, "expected a [section], key = value, or a # comment");
	memset(megabyte, '\n', sizeof(megabyte));
	wh_rig_read_file(
		&rig, WH_VERB_SEND, megabyte, sizeof(megabyte), "--port|x|--addr|192.0.2.1/24");
	CU_ASSERT_EQUAL(rig.status, -1);
	truncate(wh_rig_path, sizeof(megabyte) + 1);
	snprintf(megabyte, sizeof(megabyte), "--config|%s", wh_rig_path);
	wh_rig_read(&rig, WH_VERB_SEND, megabyte);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_NO_FILE);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, ": it is larger than 1 MiB; "));
}

static void test_no_file(void)
{
	wh_rig_read(&rig, WH_VERB_SEND, "--config|/nowhere/at.all");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_NO_FILE);
	CU_ASSERT_STRING_EQUAL(rig.said, "cannot read the configuration /nowhere/at.all: No such "
					 "file or directory; --config none ignores it");
	wh_rig_read(&rig, WH_VERB_SEND, "--config|/tmp");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_NO_FILE);
	CU_ASSERT_STRING_EQUAL(rig.said, "cannot read the configuration /tmp: it is not a regular "
					 "file; --config none ignores it");
	wh_rig_read(&rig, WH_VERB_SEND, "--config|");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
	CU_ASSERT_STRING_EQUAL(
		rig.said, "--config '' is empty; write for example --config site.conf");
}

/* A pipe that nobody writes to must not hold the program. */
static void test_pipe(void)
{
	char folder[] = "/tmp/wavehaul-settings-XXXXXX";
	char path[64];
	char words[128];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	snprintf(words, sizeof(words), "--config|%s", path);
	wh_rig_read(&rig, WH_VERB_SEND, words);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_NO_FILE);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, ": it is not a regular file; "));
	unlink(path);
	rmdir(folder);
}

/* The files of config/ are whole, for every verb, and come back as they are. */
static void expect_example(const char *name, enum wh_verb verb, const char *port)
{
	static char first[sizeof(rig.out)];
	char words[1024];

	snprintf(words, sizeof(words), "--config|" WH_TREE "/config/%s", name);
	wh_rig_read(&rig, verb, words);
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_STRING_EQUAL(rig.said, "");
	CU_ASSERT_STRING_EQUAL(rig.settings.port[0].name, port);
	strcat(words, "|--print-config");
	wh_rig_read(&rig, verb, words);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	strcpy(first, rig.out);
	read_text(verb, first, "--print-config");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	CU_ASSERT_STRING_EQUAL(rig.out, first);
}

static void test_examples(void)
{
	static const enum wh_verb verbs[] = {
		WH_VERB_SERVE, WH_VERB_SEND, WH_VERB_GET, WH_VERB_BENCH};

	for (size_t i = 0; i < LENGTH(verbs); i++) {
		expect_example(
			"memif.conf", verbs[i], "memif:/run/wavehaul/memif.sock,role=server");
		expect_example("veth.conf", verbs[i], "af_packet:wh0");
		expect_example("nic.conf", verbs[i], "0000:3b:00.0");
	}
}

const char wh_suite_name[] = "settings file";

CU_TestInfo wh_tests[] = {
	{"lines", test_lines},
	{"forms", test_forms},
	{"other verbs", test_other_verbs},
	{"flags after file", test_flags_after_file},
	{"longest line", test_longest_line},
	{"dressed lines", test_dressed_lines},
	{"hostile", test_hostile},
	{"no file", test_no_file},
	{"pipe", test_pipe},
	{"examples", test_examples},
	CU_TEST_INFO_NULL,
};
