/* SPDX-License-Identifier: BSD-3-Clause */

/* Every setting by flag, by file and back; what is refused, and in which words. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/settings_table.h"
#include "settings_rig.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* What makes a command line whole. */
#define NO_FILE "--config|none|"
#define WHOLE   NO_FILE "--port|memif:/run/x.sock|--addr|192.0.2.1/24"

static struct wh_rig rig;

struct value_case {
	enum wh_verb verb;
	const char *name;
	const char *words; /* of the command line */
	const char *line;  /* of the file: the same */
	const char *value; /* as printed */
};

static const struct value_case value_cases[] = {
	{WH_VERB_SEND, "port.port", "--port|0000:3b:00.0", "port = 0000:3b:00.0", "0000:3b:00.0"},
	{WH_VERB_SEND, "port.port", "--port|memif:/a#b,id=0", "port = memif:/a\\#b,id=0",
		"memif:/a#b,id=0"},
	{WH_VERB_GET, "port.queues", "--queues|16", "queues=16", "16"},
	{WH_VERB_SERVE, "port.mtu", "--mtu=9000", "mtu = 9000", "9000"},
	{WH_VERB_BENCH, "port.mtu", "--mtu|1228", "mtu = 1228", "1228"},
	{WH_VERB_BENCH, "port.vlan", "--vlan|4094", "vlan = 4094", "4094"},
	{WH_VERB_BENCH, "port.dscp", "--dscp|63", "dscp = 63", "63"},
	{WH_VERB_SEND, "port.rx_descriptors", "--rx-descriptors|32768", "rx_descriptors = 32768",
		"32768"},
	{WH_VERB_SEND, "port.tx_descriptors", "--tx-descriptors|512", "tx_descriptors = 512",
		"512"},
	{WH_VERB_SEND, "address.address", "--addr|192.0.2.9/24|--addr|2001:db8::9/64",
		"address = 192.0.2.9/24, 2001:db8::9/64", "192.0.2.9/24, 2001:db8::9/64"},
	{WH_VERB_SEND, "address.address", "--addr|2001:DB8:0::9/128", "address = 2001:db8::9/128",
		"2001:db8::9/128"},
	{WH_VERB_SEND, "address.gateway", "--gateway|192.0.2.254", "gateway = 192.0.2.254",
		"192.0.2.254"},
	{WH_VERB_SERVE, "address.udp_port", "--udp-port|65535", "udp_port = 65535", "65535"},
	{WH_VERB_SEND, "ssh.ssh", "--ssh|ssh -p 22", "ssh = ssh -p 22", "ssh -p 22"},
	{WH_VERB_LS, "ssh.remote_command", "--remote-command|/x/w", "remote_command = /x/w",
		"/x/w"},
	{WH_VERB_PROBE, "ssh.udp_ports", "--udp-ports|1:2", "udp_ports = 1:2", "1:2"},
	{WH_VERB_SERVE, "cores.rx", "--rx-cpus|0,2-5", "rx = 0,2,3,4-5", "0,2-5"},
	{WH_VERB_SERVE, "cores.tx", "--tx-cpus|9,8,1023", "tx = 9, 8, 1023", "9,8,1023"},
	{WH_VERB_SERVE, "cores.worker", "--worker-cpus|0-63", "worker = 0-62,63", "0-63"},
	{WH_VERB_SERVE, "cores.books", "--books-cpus|7,3", "books = 7, 3", "7,3"},
	{WH_VERB_SERVE, "memory.buffers", "--buffers|64M", "buffers = 65536K", "64M"},
	{WH_VERB_SEND, "memory.buffers", "--buffers|1.5G", "buffers = 1.5GiB", "1536M"},
	{WH_VERB_GET, "memory.no_huge", "--no-huge", "no_huge = on", "yes"},
	{WH_VERB_GET, "transfer.profile", "--profile|udt", "profile = udt", "udt"},
	{WH_VERB_GET, "transfer.rate", "--rate|9.5Gbit", "rate = 9500M", "9500M"},
	{WH_VERB_GET, "transfer.rate", "--rate|1.2GB/s", "rate = 9.6G", "9600M"},
	{WH_VERB_GET, "transfer.rate", "--rate|MAX", "rate = max", "max"},
	{WH_VERB_SERVE, "transfer.burst", "--burst|1024", "burst = 1024", "1024"},
	{WH_VERB_BENCH, "transfer.parallel", "--parallel|64", "parallel = 64", "64"},
	{WH_VERB_SEND, "transfer.peer_timeout", "--peer-timeout|1s", "peer_timeout = 1000ms", "1s"},
	{WH_VERB_SEND, "transfer.peer_timeout", "--peer-timeout|3600s", "peer_timeout = 3600s",
		"3600s"},
	{WH_VERB_SEND, "transfer.stall_timeout", "--stall-timeout|1500ms", "stall_timeout = 1.5s",
		"1500ms"},
	{WH_VERB_SERVE, "transfer.pipe_timeout", "--pipe-timeout|2h", "pipe_timeout = 7200s",
		"7200s"},
	{WH_VERB_SEND, "transfer.recursive", "-r", "recursive = TRUE", "yes"},
	{WH_VERB_SEND, "transfer.fec", "--fec|auto", "fec = auto", "auto"},
	{WH_VERB_BENCH, "transfer.fec", "--profile|ttp", "profile = ttp", "auto"},
	{WH_VERB_BENCH, "transfer.code", "--profile|ttp", "profile = ttp", "tornado"},
	{WH_VERB_SEND, "transfer.fec_ceiling", "--profile|ttp", "profile = ttp", "0.5"},
	{WH_VERB_BENCH, "transfer.fec", "--profile|ttp|--fec|9,1", "profile = ttp\nfec = 9,1",
		"9,1"},
	{WH_VERB_BENCH, "transfer.code", "--profile|ttp|--fec|9,1", "profile = ttp\nfec = 9,1",
		"tornado"},
	{WH_VERB_SEND, "transfer.fec", "--fec|off|--profile|ttp", "fec = off\nprofile = ttp",
		"off"},
	{WH_VERB_GET, "transfer.fec", "--profile|ttp|--code|rs", "profile = ttp\ncode = rs",
		"auto"},
	{WH_VERB_GET, "transfer.code", "--profile|ttp|--code|rs", "profile = ttp\ncode = rs", "rs"},
	{WH_VERB_SEND, "transfer.fec_ceiling", "--profile|ttp|--fec-ceiling|0.3",
		"profile = ttp\nfec_ceiling = 0.3", "0.3"},
	{WH_VERB_SEND, "transfer.fec", "", "profile = fixed", "off"},
	{WH_VERB_SEND, "transfer.code", "--profile|udt", "profile = udt", "rs"},
	{WH_VERB_SEND, "transfer.fec_ceiling", "", "profile = fixed", "0.25"},
	{WH_VERB_SERVE, "transfer.fec_ceiling", "", "fec_target = 1e-4", ""},
	{WH_VERB_SERVE, "transfer.fec_ceiling", "", "profile = ttp", ""},
	{WH_VERB_SEND, "transfer.strict_paper", "--fec|auto|--strict-paper",
		"fec = auto\nstrict_paper = yes", "yes"},
	{WH_VERB_BENCH, "transfer.strict_paper", "--strict-paper|--profile|ttp",
		"strict_paper = yes\nprofile = ttp", "yes"},
	{WH_VERB_GET, "transfer.fec", "--fec|128,4", "fec = 128,4", "128,4"},
	{WH_VERB_BENCH, "transfer.fec", "--fec|1,1", "fec = 01,1", "1,1"},
	{WH_VERB_BENCH, "transfer.fec", "--fec|254,1", "fec = 254,1", "254,1"},
	{WH_VERB_BENCH, "transfer.fec", "--fec|auto|--fec|off", "fec = off", "off"},
	{WH_VERB_GET, "transfer.code", "--code|tornado", "code = tornado", "tornado"},
	{WH_VERB_SERVE, "transfer.fec_target", "--fec-target|0.001%", "fec_target = 1e-5", "1e-05"},
	{WH_VERB_SEND, "transfer.fec_target", "--fec-target|1e-9", "fec_target = 1e-9", "1e-09"},
	{WH_VERB_GET, "transfer.fec_target", "--fec-target|50%", "fec_target = 0.5", "0.5"},
	{WH_VERB_SERVE, "transfer.fec_ceiling", "--fec-ceiling|1%", "fec_ceiling = 0.01", "0.01"},
	{WH_VERB_SEND, "transfer.fec_ceiling", "--fec-ceiling|33.333%", "fec_ceiling = 0.33333",
		"0.33333"},
	{WH_VERB_GET, "transfer.recursive", "--recursive", "recursive = yes", "yes"},
	{WH_VERB_SERVE, "serve.root", "--root|/srv/my files", "root = /srv/my files",
		"/srv/my files"},
	{WH_VERB_SERVE, "serve.root", "--root|/a\\#b#", "root = /a\\\\#b\\#", "/a\\#b#"},
	{WH_VERB_SERVE, "serve.allow", "--allow|10.0.0.0/8,::/0|--allow|0.0.0.0/0",
		"allow = 10.0.0.0/8 , ::/0\nallow = 0.0.0.0/0", "10.0.0.0/8, ::/0, 0.0.0.0/0"},
	{WH_VERB_SERVE, "serve.sessions", "--sessions|4096", "sessions = 4096", "4096"},
	{WH_VERB_SERVE, "serve.audit", "--audit|/var/log/x", "audit = /var/log/x", "/var/log/x"},
	{WH_VERB_SERVE, "serve.on_end", "--on-end|/bin/x y", "on_end = /bin/x y", "/bin/x y"},
	{WH_VERB_SERVE, "serve.on_end_timeout", "--on-end-timeout|2s", "on_end_timeout = 2s", "2s"},
	{WH_VERB_SEND, "transfer.daemon", "--daemon|never", "daemon = never", "never"},
	{WH_VERB_SERVE, "queue.jobs", "--queue-jobs|64", "jobs = 64", "64"},
	{WH_VERB_SERVE, "queue.peer_jobs", "--queue-peer-jobs|64", "peer_jobs = 64", "64"},
	{WH_VERB_SERVE, "serve.control", "--control|/run/x", "control = /run/x", "/run/x"},
	{WH_VERB_SERVE, "serve.metrics", "--metrics|127.0.0.1:9480", "metrics = 127.0.0.1:9480",
		"127.0.0.1:9480"},
	{WH_VERB_SERVE, "limits.peer_jobs", "--peer-jobs|8", "peer_jobs = 8", "8"},
	{WH_VERB_SERVE, "limits.peer_memory", "--peer-memory|256M", "peer_memory = 256M", "256M"},
	{WH_VERB_SERVE, "limits.peer_reserve", "--peer-reserve|100G", "peer_reserve = 100G",
		"100G"},
	{WH_VERB_SERVE, "limits.peer_parts", "--peer-parts|10T", "peer_parts = 10T", "10T"},
	{WH_VERB_SERVE, "limits.peer_openings", "--peer-openings|20", "peer_openings = 20", "20"},
	{WH_VERB_SERVE, "limits.peer_lines", "--peer-lines|1", "peer_lines = 1", "1"},
	{WH_VERB_SERVE, "limits.job_files", "--job-files|1000000", "job_files = 1000000",
		"1000000"},
	{WH_VERB_SERVE, "limits.job_bytes", "--job-bytes|10T", "job_bytes = 10T", "10T"},
	{WH_VERB_SERVE, "limits.job_depth", "--job-depth|2047", "job_depth = 2047", "2047"},
	{WH_VERB_GET, "files.plain_names", "--plain-names", "plain_names = yes", "yes"},
	{WH_VERB_SERVE, "files.links_inside", "--links-inside", "links_inside = yes", "yes"},
	{WH_VERB_SERVE, "files.case_clash", "--case-clash|refuse", "case_clash = refuse", "refuse"},
	{WH_VERB_SERVE, "files.map_owners", "--map-owners|7=root,*=9", "map_owners = 7=root,*=9",
		"7=root,*=9"},
	{WH_VERB_SERVE, "files.map_groups", "--map-groups|*=100", "map_groups = *=100", "*=100"},
	{WH_VERB_SERVE, "files.owners", "--owners", "owners = yes", "yes"},
	{WH_VERB_SERVE, "files.set_ids", "--set-ids", "set_ids = yes", "yes"},
	{WH_VERB_SERVE, "guard.user", "--user|dtn", "user = dtn", "dtn"},
	{WH_VERB_SEND, "trust.cipher", "--cipher|aes-256-gcm", "cipher = aes-256-gcm",
		"aes-256-gcm"},
	{WH_VERB_SERVE, "trust.unsealed", "--unsealed", "unsealed = yes", "yes"},
	{WH_VERB_GET, "guard.no_guard", "--no-guard", "no_guard = yes", "yes"},
	{WH_VERB_BENCH, "bench.time", "--time|100ms", "time = 0.1s", "100ms"},
	{WH_VERB_BENCH, "bench.size", "--size|1T", "size = 1024G", "1T"},
	{WH_VERB_BENCH, "bench.size", "--size|4097", "size = 4097", "4097"},
	{WH_VERB_BENCH, "bench.reverse", "--reverse", "reverse = yes", "yes"},
	{WH_VERB_BENCH, "bench.idle", "--idle|4096", "idle = 4096", "4096"},
	{WH_VERB_PROBE, "probe.train", "--train|16", "train = 16", "16"},
	{WH_VERB_PROBE, "probe.train", "--train|65536", "train = 65536", "65536"},
	{WH_VERB_PROBE, "probe.time", "--time|60s", "time = 60s", "60s"},
	{WH_VERB_PROBE, "probe.rate", "--rate|10G", "rate = 10G", "10G"},
	{WH_VERB_PROBE, "probe.rate", "--rate|max", "rate = MAX", "max"},
	{WH_VERB_PROBE, "transfer.state", "--state|none", "state = none", "none"},
	{WH_VERB_SEND, "transfer.state", "--state|/var/x", "state = /var/x", "/var/x"},
	{WH_VERB_SEND, "transfer.resume", "--resume|FULL", "resume = full", "full"},
	{WH_VERB_SERVE, "transfer.resume", "--resume|off", "resume = off", "off"},
	{WH_VERB_SEND, "transfer.keep_records", "--keep-records|36h", "keep_records = 129600s",
		"129600s"},
	{WH_VERB_GET, "transfer.keep_parts", "--keep-parts|36h", "keep_parts = 129600s", "129600s"},
	{WH_VERB_SEND, "transfer.known", "", "profile = udt", "kept"},
	{WH_VERB_BENCH, "transfer.known", "--known|NONE", "known = none", "none"},
	{WH_VERB_BENCH, "output.json", "--json", "json = yes", "yes"},
	{WH_VERB_SEND, "output.json_stream", "--json-stream", "json_stream = yes", "yes"},
	{WH_VERB_SEND, "output.details", "--details", "details = yes", "yes"},
	{WH_VERB_SERVE, "output.verbose", "--verbose", "verbose = yes", "yes"},
	{WH_VERB_SEND, "dpdk.eal", "--eal|-m 64 --log-level=7", "eal = -m 64 --log-level=7",
		"-m 64 --log-level=7"},
};

/* The case as a file of its own, whole but for what the case itself gives. */
static void write_case(const struct value_case *c, char *file, size_t room)
{
	bool is_port = strcmp(c->name, "port.port") == 0;
	bool is_address = strcmp(c->name, "address.address") == 0;
	char section[16];

	CU_ASSERT_EQUAL_FATAL(sscanf(c->name, "%15[a-z]", section), 1);
	snprintf(file, room, "[%s]\n%s\n%s%s", section, c->line,
		is_port ? "" : "[port]\nport = memif:/run/x.sock\n",
		is_address ? "" : "[address]\naddress = 192.0.2.1/24\n");
}

static void test_values_by_flag(void)
{
	char words[1024];

	for (size_t i = 0; i < LENGTH(value_cases); i++) {
		const struct value_case *c = &value_cases[i];
		bool is_address = strcmp(c->name, "address.address") == 0;
		bool is_port = strcmp(c->name, "port.port") == 0;

		snprintf(words, sizeof(words), "%s|%s",
			is_address ? NO_FILE "--port|memif:/run/x.sock"
			: is_port  ? NO_FILE "--addr|192.0.2.1/24"
				   : WHOLE,
			c->words);
		wh_rig_read(&rig, c->verb, words);
		CU_ASSERT_EQUAL(rig.status, -1);
		CU_ASSERT_STRING_EQUAL(rig.said, "");
		CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, c->verb, c->name), c->value);
	}
}

static void test_values_by_file(void)
{
	char file[1024];

	for (size_t i = 0; i < LENGTH(value_cases); i++) {
		const struct value_case *c = &value_cases[i];

		write_case(c, file, sizeof(file));
		wh_rig_read_file(&rig, c->verb, file, strlen(file), "");
		CU_ASSERT_EQUAL(rig.status, -1);
		CU_ASSERT_STRING_EQUAL(rig.said, "");
		CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, c->verb, c->name), c->value);
	}
}

/* What --print-config says gives the same settings again, and the same print. */
static void test_values_come_back(void)
{
	static char first[sizeof(rig.out)];
	char words[1024];

	for (size_t i = 0; i < LENGTH(value_cases); i++) {
		const struct value_case *c = &value_cases[i];

		snprintf(words, sizeof(words), NO_FILE "--print-config|%s", c->words);
		if (strcmp(c->name, "address.gateway") == 0)
			strcat(words, "|--addr|192.0.2.1/24");
		wh_rig_read(&rig, c->verb, words);
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
		strcpy(first, rig.out);
		wh_rig_read_file(&rig, c->verb, first, strlen(first), "--print-config");
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
		CU_ASSERT_STRING_EQUAL(rig.out, first);
		CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, c->verb, c->name), c->value);
	}
}

static bool has_case(const char *name)
{
	for (size_t i = 0; i < LENGTH(value_cases); i++)
		if (strcmp(value_cases[i].name, name) == 0)
			return true;
	return false;
}

static void test_every_setting_has_a_case(void)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if (wh_settings_table[i].key != NULL)
			CU_ASSERT(has_case(wh_settings_table[i].name));
}

/* getopt would take the first of two, and the other could never be given. */
static void test_flags_differ(void)
{
	for (uint32_t a = 0; a < wh_settings_count; a++)
		for (uint32_t b = a + 1; b < wh_settings_count; b++)
			if (strcmp(wh_settings_table[a].flag, wh_settings_table[b].flag) == 0)
				CU_ASSERT_EQUAL(
					wh_settings_table[a].verbs & wh_settings_table[b].verbs, 0);
}

/* Verbs without a configuration: their own defaults, whatever other verbs call by the same name. */
static void test_verbs_without_file(void)
{
	const struct wh_settings *s = &rig.settings;

	wh_rig_read(&rig, WH_VERB_DEMO,
		"--queue|500p|--ingress|40G|--loss-model|ge:0.1,0.2|--file|x y|--fec|9,1");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(s->size_bytes, 1 << 30);
	CU_ASSERT_FALSE(wh_settings_given(s, WH_VERB_DEMO, "size"));
	CU_ASSERT_TRUE(wh_settings_given(s, WH_VERB_DEMO, "fec"));
	CU_ASSERT_STRING_EQUAL(s->file, "x y");
	CU_ASSERT_STRING_EQUAL(s->out, "");
	CU_ASSERT_EQUAL(s->mtu_bytes, 9000);
	CU_ASSERT_EQUAL(s->burst_pkts, 32);
	CU_ASSERT_EQUAL(s->buffer_bytes, 0);
	CU_ASSERT_EQUAL(s->rtt_ns, 100000000);
	CU_ASSERT_EQUAL(s->link.rate_bps, UINT64_C(10000000000));
	CU_ASSERT_EQUAL(s->link.queue_pkts, 500);
	CU_ASSERT_EQUAL(s->link.ingress_bps, UINT64_C(40000000000));
	CU_ASSERT_EQUAL(s->link.queue_bytes, 0);
	CU_ASSERT_EQUAL(s->link.loss_model, WH_LOSS_GILBERT_ELLIOTT);
	CU_ASSERT_EQUAL(s->link.seed, 1);
	CU_ASSERT_EQUAL(s->repair.k, 9);
	wh_rig_read(&rig, WH_VERB_DEMO, "--queue|64K");
	CU_ASSERT_EQUAL(s->link.queue_bytes, 65536);
	CU_ASSERT_EQUAL(s->link.ingress_bps, 0);
	wh_rig_read(&rig, WH_VERB_PLAN, "--rtt|1us|--jobs|256");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(s->link.rate_bps, 0);
	CU_ASSERT_EQUAL(s->rtt_ns, 1000);
	CU_ASSERT_EQUAL(s->size_bytes, UINT64_C(1) << 40);
	CU_ASSERT_EQUAL(s->jobs, 256);
	wh_rig_read(&rig, WH_VERB_SIM, "--set|a.b=c|file|--set|d.e=f");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL_FATAL(s->n_sets, 2);
	CU_ASSERT_STRING_EQUAL(s->sets[1], "d.e=f");
	CU_ASSERT_EQUAL_FATAL(s->operand_count, 1);
	CU_ASSERT_STRING_EQUAL(s->operands[0], "file");
	wh_rig_read(&rig, WH_VERB_DOCTOR, "--json");
	CU_ASSERT_STRING_EQUAL(s->root, "");
	CU_ASSERT_TRUE(s->json);
}

/* The fields behind the names, as numbers. */
static void test_fields(void)
{
	static const uint8_t ip6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 9};
	const struct wh_settings *s = &rig.settings;

	wh_rig_read(&rig, WH_VERB_BENCH,
		NO_FILE "--port|P|--queues|2|--mtu|9000|--vlan|7|--rx-descriptors|11|"
			"--tx-descriptors|12|--addr|192.0.2.9/24|--addr|2001:db8::9/64|"
			"--gateway|192.0.2.1|--gateway|fe80::1|--udp-port|6000|--rx-cpus|3,1-2|"
			"--tx-cpus|5|--worker-cpus|1|--books-cpus|4|--buffers|2G|--no-huge|--"
			"profile|udt|--rate|"
			"10G|--burst|8|--parallel|3|--peer-timeout|2s|--stall-timeout|3s|--time|"
			"4s|--size|5K|--reverse|--idle|6|--json|--verbose|--eal|-m 64|--fec|200,55|"
			"--code|tornado|--fec-target|1e-6|--fec-ceiling|40%");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_STRING_EQUAL(s->port[0].name, "P");
	CU_ASSERT_EQUAL(s->queues, 2);
	CU_ASSERT_EQUAL(s->mtu_bytes, 9000);
	CU_ASSERT_EQUAL(s->vlan, 7);
	CU_ASSERT_EQUAL(s->rx_descriptors, 11);
	CU_ASSERT_EQUAL(s->tx_descriptors, 12);
	CU_ASSERT_EQUAL(s->port[0].ipv4.address.family, WH_IPV4);
	CU_ASSERT_EQUAL(memcmp(s->port[0].ipv4.address.ip, (uint8_t[16]){192, 0, 2, 9}, 16), 0);
	CU_ASSERT_EQUAL(s->port[0].ipv4.prefix_bits, 24);
	CU_ASSERT_EQUAL(s->port[0].ipv6.address.family, WH_IPV6);
	CU_ASSERT_EQUAL(memcmp(s->port[0].ipv6.address.ip, ip6, 16), 0);
	CU_ASSERT_EQUAL(s->port[0].ipv6.prefix_bits, 64);
	CU_ASSERT_EQUAL(s->port[0].ipv4.address.port, 0);
	CU_ASSERT_EQUAL(memcmp(s->port[0].gateway4.ip, (uint8_t[16]){192, 0, 2, 1}, 16), 0);
	CU_ASSERT_EQUAL(memcmp(s->port[0].gateway6.ip, (uint8_t[16]){0xfe, 0x80, [15] = 1}, 16), 0);
	CU_ASSERT_EQUAL(s->udp_port, 6000);
	CU_ASSERT_EQUAL(s->rx_cpus.count, 3);
	CU_ASSERT_EQUAL(memcmp(s->rx_cpus.cpu, (uint16_t[]){3, 1, 2}, 3 * sizeof(uint16_t)), 0);
	CU_ASSERT_EQUAL(s->tx_cpus.cpu[0], 5);
	CU_ASSERT(s->worker_cpus.cpu[0] == 1 && s->books_cpus.cpu[0] == 4);
	CU_ASSERT_EQUAL(s->buffer_bytes, UINT64_C(2147483648));
	CU_ASSERT_TRUE(s->no_huge);
	CU_ASSERT_STRING_EQUAL(s->profile->name, "udt");
	CU_ASSERT_EQUAL(s->rate_bps, UINT64_C(10000000000));
	CU_ASSERT_EQUAL(s->burst_pkts, 8);
	CU_ASSERT_EQUAL(s->parallel, 3);
	CU_ASSERT_EQUAL(s->peer_timeout_ns, 2000000000);
	CU_ASSERT_EQUAL(s->stall_timeout_ns, 3000000000);
	CU_ASSERT_EQUAL(s->time_ns, 4000000000);
	CU_ASSERT_EQUAL(s->size_bytes, 5120);
	CU_ASSERT_TRUE(s->reverse && s->json && s->verbose);
	CU_ASSERT_FALSE(s->json_stream || s->recursive || s->print_config);
	CU_ASSERT_EQUAL(s->idle_sessions, 6);
	CU_ASSERT_TRUE(s->repair.on);
	CU_ASSERT_EQUAL(s->repair.k, 200);
	CU_ASSERT_EQUAL(s->repair.r, 55);
	CU_ASSERT_EQUAL(s->repair.code, WH_FEC_TORNADO);
	WH_ASSERT_NEAR(s->repair.target, 1e-6, 1e-18);
	WH_ASSERT_NEAR(s->repair.ceiling, 0.4, 1e-12);
	CU_ASSERT_STRING_EQUAL(s->eal, "-m 64");
}

static void test_standards(void)
{
	const struct wh_settings *s = &rig.settings;

	wh_rig_read(&rig, WH_VERB_SERVE, WHOLE);
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(s->queues, 1);
	CU_ASSERT_EQUAL(s->mtu_bytes, 1500);
	CU_ASSERT_EQUAL(s->vlan + s->rx_descriptors + s->tx_descriptors + s->burst_pkts, 0);
	CU_ASSERT_EQUAL(s->udp_port, WH_UDP_PORT_DEFAULT);
	CU_ASSERT_EQUAL(s->rx_cpus.count + s->tx_cpus.count + s->worker_cpus.count, 0);
	CU_ASSERT_EQUAL(s->buffer_bytes, 1 << 30);
	CU_ASSERT_STRING_EQUAL(s->profile->name, "lambda");
	CU_ASSERT_EQUAL(s->rate_bps, WH_RATE_MAX);
	CU_ASSERT_EQUAL(s->parallel, 1);
	CU_ASSERT_EQUAL(s->peer_timeout_ns, 30000000000);
	CU_ASSERT_EQUAL(s->stall_timeout_ns, 30000000000);
	CU_ASSERT_STRING_EQUAL(s->root, ".");
	CU_ASSERT_FALSE(s->repair.on || s->repair.told);
	WH_ASSERT_NEAR(s->repair.target, 1e-4, 1e-16);
	WH_ASSERT_NEAR(s->repair.ceiling, 0, 0); /* as the profile of each job says */
	CU_ASSERT_EQUAL(s->allows, 0);
	CU_ASSERT_EQUAL(s->sessions, 64);
	CU_ASSERT_EQUAL(s->peer_jobs + s->peer_memory_bytes, 0);
	CU_ASSERT_EQUAL(s->peer_openings_s, 100);
	CU_ASSERT_EQUAL(s->peer_lines_s, 5);
	CU_ASSERT_EQUAL(s->time_ns, 10000000000);
	CU_ASSERT_EQUAL(s->port[0].gateway4.family + s->port[0].gateway6.family +
				s->port[0].ipv6.address.family,
		0);
	CU_ASSERT_EQUAL(rig.settings.operand_count, 0);
	wh_rig_read(&rig, WH_VERB_SEND, WHOLE);
	CU_ASSERT_EQUAL(s->buffer_bytes, 512 << 20);
	CU_ASSERT_FALSE(s->repair.on);
	CU_ASSERT_EQUAL(s->repair.k + s->repair.r, 0);
	CU_ASSERT_EQUAL(s->repair.code, WH_FEC_RS);
	WH_ASSERT_NEAR(s->repair.ceiling, 0.25, 1e-12);
}

struct refusal {
	enum wh_verb verb;
	const char *words; /* behind WHOLE */
	const char *said;  /* the whole sentence, or its beginning */
};

static const struct refusal refusals[] = {
	{WH_VERB_SEND, "--rate|10X",
		"--rate '10X' is not understood; write for example --rate 10G (from 1M to 1000G, "
		"or max)"},
	{WH_VERB_SEND, "--rate|999999", "--rate '999999' is out of bounds; "},
	{WH_VERB_SEND, "--rate|1001G", "--rate '1001G' is out of bounds; "},
	{WH_VERB_SEND, "--rate|", "--rate '' is empty; "},
	{WH_VERB_SEND, "--mtu|1227",
		"--mtu '1227' is out of bounds; write for example --mtu 9000 (from 1228 to 9216)"},
	{WH_VERB_SEND, "--mtu|9217", "--mtu '9217' is out of bounds; "},
	{WH_VERB_SEND, "--mtu|-9000", "--mtu '-9000' is not understood; "},
	{WH_VERB_SEND, "--mtu| 9000", "--mtu ' 9000' is not understood; "},
	{WH_VERB_SEND, "--mtu|9000 ", "--mtu '9000 ' is not understood; "},
	{WH_VERB_SEND, "--set|udt.beta",
		"--set udt.beta: write PROFILE.OPTION=VALUE, for example "},
	{WH_VERB_SEND, "--set|udt.beta=", "--set udt.beta=: write PROFILE.OPTION=VALUE, "},
	{WH_VERB_SEND, "--set|utd.beta=1",
		"--set utd.beta=1: 'utd.beta' must begin with a profile and a dot, as udt.beta "
		"does; the profiles are fixed, udt, ttp"},
	{WH_VERB_SEND, "--set|udt.bta=1",
		"--set udt.bta=1: udt has no option 'bta', see `wavehaul profiles udt`; did you "
		"mean 'beta'?"},
	{WH_VERB_SEND, "--set|ttp.rate=1",
		"--set ttp.rate=1: ttp has no option 'rate', see `wavehaul profiles ttp`; did you "
		"mean 'initial_rate'?"},
	{WH_VERB_SEND, "--set|udt.quality=1",
		"--set udt.quality=1: udt has no option 'quality', see `wavehaul profiles udt`; "
		"its options are formula3, "},
	{WH_VERB_SEND, "--set|udt.beta=2",
		"--set udt.beta=2: '2' is out of bounds; udt.beta is a number from 1e-12 to 1"},
	{WH_VERB_SEND, "--set|udt.formula3=perhaps",
		"--set udt.formula3=perhaps: 'perhaps' is not understood; udt.formula3 is a switch "
		"on or off"},
	{WH_VERB_SEND, "--set|udt.beta=1e-6",
		"an option of udt is set, but the profile is lambda; add --profile udt, or "},
	{WH_VERB_SEND, "--profile|ttp|--set|ttp.min_rate=2G|--set|ttp.max_rate=1G",
		"ttp.max_rate "},
	{WH_VERB_DEMO, "--queue|0p",
		"--queue '0p' is not understood; write for example --queue 64M"},
	{WH_VERB_DEMO, "--queue|10000001p", "--queue '10000001p' is not understood; "},
	{WH_VERB_DEMO, "--loss|2",
		"--loss '2' is not understood; write for example --loss 0.01% (from 0 to 1)"},
	{WH_VERB_DEMO, "--loss-model|x", "--loss-model 'x' is not understood; "},
	{WH_VERB_DEMO, "--mtu|1279", "--mtu '1279' is out of bounds; "},
	{WH_VERB_DEMO, "--rate|max", "--rate 'max' is not understood; "},
	{WH_VERB_PLAN, "--loss|0.5", "--loss '0.5' is out of bounds; "},
	{WH_VERB_PLAN, "--jobs|257", "--jobs '257' is out of bounds; "},
	{WH_VERB_SEND, "--queues|0", "--queues '0' is out of bounds; "},
	{WH_VERB_SEND, "--queues|17", "--queues '17' is out of bounds; "},
	{WH_VERB_SEND, "--queues|4294967297", "--queues '4294967297' is out of bounds; "},
	{WH_VERB_SEND, "--queues|18446744073709551617",
		"--queues '18446744073709551617' is not understood; "},
	{WH_VERB_SEND, "--vlan|4095", "--vlan '4095' is out of bounds; "},
	{WH_VERB_SEND, "--buffers|63M",
		"--buffers '63M' is out of bounds; write for example "
		"--buffers 4G (from 64M to 1T)"},
	{WH_VERB_SEND, "--buffers|1GB", "--buffers '1GB' is not understood; "},
	{WH_VERB_SEND, "--udp-port|0", "--udp-port '0' is out of bounds; "},
	{WH_VERB_SEND, "--udp-port|65536", "--udp-port '65536' is out of bounds; "},
	{WH_VERB_SEND, "--peer-timeout|999ms",
		"--peer-timeout '999ms' is out of bounds; write for example --peer-timeout 30s "
		"(from 1s to 3600s)"},
	{WH_VERB_SEND, "--peer-timeout|3601s", "--peer-timeout '3601s' is out of bounds; "},
	{WH_VERB_SEND, "--stall-timeout|30", "--stall-timeout '30' is not understood; "},
	{WH_VERB_SEND, "--profile|fast",
		"--profile 'fast' is no profile; write for example --profile fixed, or udt"},
	{WH_VERB_SEND, "--fec|sometimes",
		"--fec 'sometimes' is not understood; write for example --fec auto, or 128,4"},
	{WH_VERB_SEND, "--fec|128", "--fec '128' is not understood; "},
	{WH_VERB_SEND, "--fec|128,", "--fec '128,' is not understood; "},
	{WH_VERB_SEND, "--fec|,4", "--fec ',4' is not understood; "},
	{WH_VERB_SEND, "--fec|128,4,", "--fec '128,4,' is not understood; "},
	{WH_VERB_SEND, "--fec|128, 4", "--fec '128, 4' is not understood; "},
	{WH_VERB_SEND, "--fec|-128,4", "--fec '-128,4' is not understood; "},
	{WH_VERB_SEND, "--fec|0,1", "--fec '0,1' is not understood; "},
	{WH_VERB_SEND, "--fec|8,0", "--fec '8,0' is not understood; "},
	{WH_VERB_SEND, "--fec|8,9", "--fec '8,9' is not understood; "},
	{WH_VERB_SEND, "--fec|252,4", "--fec '252,4' is not understood; "},
	{WH_VERB_SEND, "--fec|384,4", "--fec '384,4' is not understood; "},
	{WH_VERB_SEND, "--code|xor",
		"--code 'xor' is no code; write for example --code rs, or tornado"},
	{WH_VERB_SEND, "--code|none", "--code 'none' is no code; "},
	{WH_VERB_SEND, "--fec-target|0",
		"--fec-target '0' is out of bounds; write for example --fec-target 1e-4 (from "
		"1e-09 to 0.5)"},
	{WH_VERB_SEND, "--fec-target|9e-10", "--fec-target '9e-10' is out of bounds; "},
	{WH_VERB_SEND, "--fec-target|51%", "--fec-target '51%' is out of bounds; "},
	{WH_VERB_SEND, "--fec-target|few", "--fec-target 'few' is not understood; "},
	{WH_VERB_SERVE, "--fec-ceiling|0.9%",
		"--fec-ceiling '0.9%' is out of bounds; write for example --fec-ceiling 10% (from "
		"0.01 to 0.5)"},
	{WH_VERB_SEND, "--fec-ceiling|0.501", "--fec-ceiling '0.501' is out of bounds; "},
	{WH_VERB_SERVE, "--fec|auto", "'--fec' may be --fec-target, --fec-ceiling"},
	{WH_VERB_SEND, "--parallel|65", "--parallel '65' is out of bounds; "},
	{WH_VERB_SEND, "--burst|1025", "--burst '1025' is out of bounds; "},
	{WH_VERB_SEND, "--addr|192.0.2.2/24",
		"there are more addresses than ports: a port has one of each family"},
	{WH_VERB_SEND, "--addr|10.0.0.1", "--addr '10.0.0.1' is not understood; "},
	{WH_VERB_SEND, "--addr|2001:db8::1/129", "--addr '2001:db8::1/129' is not understood; "},
	{WH_VERB_SEND, "--addr|2001:db8::1/0", "--addr '2001:db8::1/0' is not understood; "},
	{WH_VERB_SEND, "--addr|2001:db8::1/6 4", "--addr '2001:db8::1/6 4' is not understood; "},
	{WH_VERB_SEND, "--addr|2001:db8::1/64,", "--addr '2001:db8::1/64,' is not understood; "},
	{WH_VERB_SEND, "--gateway|192.0.2.2|--gateway|192.0.2.3",
		"--gateway needs a local address of the same family; "},
	{WH_VERB_SEND, "--gateway|192.0.2.2/24", "--gateway '192.0.2.2/24' is not understood; "},
	{WH_VERB_SEND, "--rx-cpus|1,2,1", "--rx-cpus '1,2,1' names a CPU twice; "},
	{WH_VERB_SEND, "--rx-cpus|5-2", "--rx-cpus '5-2' is not understood; "},
	{WH_VERB_SEND, "--rx-cpus|1024", "--rx-cpus '1024' is not understood; "},
	{WH_VERB_SEND, "--rx-cpus|0-64", "--rx-cpus '0-64' names more than 64 CPUs; "},
	{WH_VERB_SEND, "--rx-cpus|1,,2", "--rx-cpus '1,,2' is not understood; "},
	{WH_VERB_SEND, "--rx-cpus|1-", "--rx-cpus '1-' is not understood; "},
	{WH_VERB_SERVE, "--allow|10.0.0.0/33", "--allow '10.0.0.0/33' is not understood; "},
	{WH_VERB_SERVE, "--root|a\tb", "--root 'a\\x09b' contains a control character; "},
	{WH_VERB_SERVE, "--root| a", "--root ' a' begins or ends with a space; "},
	{WH_VERB_SERVE, "--root|a ", "--root 'a ' begins or ends with a space; "},
	{WH_VERB_SERVE, "--sessions|0", "--sessions '0' is out of bounds; "},
	{WH_VERB_SERVE, "--sessions|4097", "--sessions '4097' is out of bounds; "},
	{WH_VERB_BENCH, "--time|99ms", "--time '99ms' is out of bounds; "},
	{WH_VERB_BENCH, "--mtu|900",
		"--mtu '900' is out of bounds; write for example --mtu 9000 (from 1228 to "
		"9216)"},
	{WH_VERB_SEND, "-r|--rate|1", "--rate '1' is out of bounds; "},
	{WH_VERB_SEND, "--ra|1", "--rate '1' is out of bounds; "},
	{WH_VERB_BENCH, "--idle|4097", "--idle '4097' is out of bounds; "},

	/* Spelling. */
	{WH_VERB_SEND, "--speed|10G",
		"'--speed' is not an option of send; `wavehaul send --help` lists the options"},
	{WH_VERB_SEND, "--dlete", "'--dlete' is not an option of send; did you mean '--delete'?"},
	{WH_VERB_SEND, "--prot=memif:a",
		"'--prot=memif:a' is not an option of send; did you mean "
		"'--port'?"},
	{WH_VERB_SEND, "--r",
		"'--r' may be --rx-descriptors, --remote-command, --rx-cpus, --rate, --retries, "
		"--resume, --recursive"},
	{WH_VERB_SEND, "--frame|1500", "'--frame' is not an option of send; "},
	{WH_VERB_SEND, "--root|/srv", "'--root' is not an option of send; "},
	{WH_VERB_SERVE, "--json", "'--json' is not an option of serve; "},
	{WH_VERB_BENCH, "--json-stream", "'--json-stream' is not an option of bench; "},
	{WH_VERB_SERVE, "-r",
		"'-r' is not an option of serve; `wavehaul serve --help` lists the options"},
	{WH_VERB_SEND, "-rx", "'-x' is not an option of send; "},
	{WH_VERB_SEND, "--json=1", "'--json=1' takes no value; remove the = and what follows it"},
	{WH_VERB_SEND, "--help=1", "'--help=1' takes no value; "},
	{WH_VERB_BENCH, "--mtu", "--mtu needs a value; write for example --mtu 9000 "},
	{WH_VERB_SEND, "--vlan",
		"--vlan needs a value; write for example --vlan 100 (from 0 to 4094)"},

	/* What does not go together. */
	{WH_VERB_SEND, "--rx-cpus|1,2|--tx-cpus|2,3",
		"CPU 2 is in both --rx-cpus and --tx-cpus, but the two lists differ; make them "
		"identical, or give them no CPU in common"},
	{WH_VERB_SEND, "--rx-cpus|1,2|--tx-cpus|2,1", "CPU 1 is in both --rx-cpus and --tx-cpus, "},
	{WH_VERB_SEND, "--gateway|192.0.3.1",
		"the IPv4 gateway is no other host on the address's subnet; see --addr, "},
	{WH_VERB_SEND, "--gateway|2001:db8::1",
		"--gateway needs a local address of the same family; add --addr, for example "
		"--addr 2001:db8::1/64"},
	{WH_VERB_SEND, "--addr|2001:db8::1/64|--gateway|2001:db9::1",
		"the IPv6 gateway is no other host on the address's subnet, nor link-local; "},
	{WH_VERB_SEND, "--addr|2001:db8::1/64|--mtu|1279",
		"the MTU is below the 1280 bytes that IPv6 demands; "},
	{WH_VERB_SEND, "--queues|2|--udp-port|65535",
		"2 queues starting at --udp-port 65535 would pass port 65535; write for example "
		"--udp-port 5760"},
	{WH_VERB_SEND, "--known|10G", "--known '10G' is not understood; "},
	{WH_VERB_SEND, "--known|10G,5", "--known '10G,5' is not understood; "},
	{WH_VERB_SEND, "--known|10G,5ms,", "--known '10G,5ms,' is not understood; "},
	{WH_VERB_SEND, "--known|10G,0", "--known '10G,0' is out of bounds; "},
	{WH_VERB_SEND, "--known|1000T,5ms", "--known '1000T,5ms' is out of bounds; "},
	{WH_VERB_SEND, "--known|10G,5ms,99999999", "--known '10G,5ms,99999999' is out of bounds; "},
	{WH_VERB_SEND, "--profile|fixed|--known|10G,5ms,64",
		"--known has no effect with profile fixed, "},
	{WH_VERB_SEND, "--strict-paper",
		"--strict-paper needs repair packets; add --fec auto, or leave out --strict-paper"},
	{WH_VERB_BENCH, "--strict-paper|--profile|udt", "--strict-paper needs repair packets; "},
	{WH_VERB_BENCH, "--strict-paper|--profile|ttp|--fec|off",
		"--strict-paper needs repair packets; "},
};

static void test_refusals(void)
{
	char words[1024];

	for (size_t i = 0; i < LENGTH(refusals); i++) {
		const struct refusal *r = &refusals[i];
		bool configured = (r->verb & WH_VERBS_CONFIGURED) != 0;

		snprintf(words, sizeof(words), "%s%s", configured ? WHOLE "|" : "", r->words);
		wh_rig_read(&rig, r->verb, words);
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
		CU_ASSERT_NSTRING_EQUAL(rig.said, r->said, strlen(r->said));
		CU_ASSERT_STRING_EQUAL(rig.out, "");
		if (strncmp(rig.said, r->said, strlen(r->said)) != 0)
			printf("\n%s: said '%s'", r->words, rig.said);
	}
}

static void test_what_is_missing(void)
{
	wh_rig_read(&rig, WH_VERB_GET, NO_FILE "--addr|192.0.2.1/24|--daemon|never");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
	CU_ASSERT_NSTRING_EQUAL(
		rig.said, "--addr is for ports with an address of their own; --port udp has", 64);
	wh_rig_read(&rig, WH_VERB_GET, NO_FILE "--port|udp:x");
	CU_ASSERT_NSTRING_EQUAL(rig.said, "'udp:x' is no port: write udp, or udp: and an", 45);
	wh_rig_read(&rig, WH_VERB_GET, NO_FILE "--daemon|never|--vlan|7");
	CU_ASSERT_NSTRING_EQUAL(rig.said, "--vlan is for ports with an address of their own", 48);
	wh_rig_read(&rig, WH_VERB_GET, NO_FILE "--port|memif:/x");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
	CU_ASSERT_NSTRING_EQUAL(rig.said, "this end has no address; add --addr 192.0.2.1/24", 48);
	wh_rig_read(&rig, WH_VERB_GET, NO_FILE "--port|memif:/x|--gateway|192.0.2.1");
	CU_ASSERT_NSTRING_EQUAL(rig.said, "--gateway needs a local address of the same family", 44);
}

static void test_what_goes_together(void)
{
	static const char *const words[] = {
		WHOLE "|--rx-cpus|1-3|--tx-cpus|1,2,3|--worker-cpus|1-3",
		WHOLE "|--rx-cpus|1-3|--tx-cpus|4-6|--worker-cpus|3-4",
		WHOLE "|--rx-cpus|1",
		WHOLE "|--mtu|1279",
		WHOLE "|--mtu|1280|--addr|2001:db8::1/64",
		WHOLE "|--queues|16|--udp-port|65520",
		WHOLE "|--addr|2001:db8::1/64|--gateway|fe80::1",
	};

	for (size_t i = 0; i < LENGTH(words); i++) {
		wh_rig_read(&rig, WH_VERB_SERVE, words[i]);
		CU_ASSERT_EQUAL(rig.status, -1);
		CU_ASSERT_STRING_EQUAL(rig.said, "");
	}
}

static void test_longest_text(void)
{
	static char words[2 * WH_SETTINGS_TEXT_BYTES] = WHOLE "|--root|";
	size_t begin = strlen(words);

	memset(words + begin, '#', WH_SETTINGS_TEXT_BYTES);
	words[begin + WH_SETTINGS_TEXT_BYTES] = '\0';
	wh_rig_read(&rig, WH_VERB_SERVE, words);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, "--root '####"));
	words[begin + WH_SETTINGS_TEXT_BYTES - 1] = '\0';
	wh_rig_read(&rig, WH_VERB_SERVE, words);
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(strlen(rig.settings.root), WH_SETTINGS_TEXT_BYTES - 1);
}

/* 32 subnets, each as long as can be; not one more. */
static void test_most_subnets(void)
{
	static char words[sizeof(rig.out)], file[sizeof(rig.out)];
	size_t used = (size_t)snprintf(words, sizeof(words), "%s", WHOLE);
	char expected[64];

	for (uint32_t i = 0; i < WH_SETTINGS_ALLOWS_MAX; i++)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
			"|--allow|2001:db8:1111:2222:3333:4444:5555:66%02x/128", i);
	strcpy(file, words);
	strcat(words, "|--print-config");
	wh_rig_read(&rig, WH_VERB_SERVE, words);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	strcat(file, "|--allow|10.0.0.0/8");
	strcpy(words, rig.out);
	wh_rig_read(&rig, WH_VERB_SERVE, file);
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, "'10.0.0.0/8' exceeds the limit of 32 subnets; "));

	wh_rig_read_file(&rig, WH_VERB_SERVE, words, strlen(words), "");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(rig.settings.allows, 32);
	CU_ASSERT_EQUAL(rig.settings.allow[31].address.ip[15], 31);
	CU_ASSERT_EQUAL(rig.settings.allow[31].prefix_bits, 128);
	snprintf(expected, sizeof(expected), "/128, %s",
		"2001:db8:1111:2222:3333:4444:5555:661f/128");
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_rig_value(&rig, WH_VERB_SERVE, "serve.allow"), expected));
}

static void test_operands(void)
{
	wh_rig_read(&rig, WH_VERB_SEND, "a|" WHOLE "|b|-r|--|--json|c");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_TRUE(rig.settings.recursive);
	CU_ASSERT_FALSE(rig.settings.json);
	CU_ASSERT_EQUAL_FATAL(rig.settings.operand_count, 4);
	CU_ASSERT_STRING_EQUAL(rig.settings.operands[0], "a");
	CU_ASSERT_STRING_EQUAL(rig.settings.operands[1], "b");
	CU_ASSERT_STRING_EQUAL(rig.settings.operands[2], "--json");
	CU_ASSERT_STRING_EQUAL(rig.settings.operands[3], "c");
}

static void test_repeated_flags(void)
{
	wh_rig_read(&rig, WH_VERB_SEND, WHOLE "|--rate|1G|--json|--rate|2G|--json");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(rig.settings.rate_bps, UINT64_C(2000000000));
}

static void test_subnet_has(void)
{
	static const struct {
		const char *subnet;
		uint8_t family;
		uint8_t ip[16];
		bool has;
	} cases[] = {
		{"192.0.2.128/25", WH_IPV4, {192, 0, 2, 128}, true},
		{"192.0.2.128/25", WH_IPV4, {192, 0, 2, 255}, true},
		{"192.0.2.128/25", WH_IPV4, {192, 0, 2, 127}, false},
		{"192.0.2.1/24", WH_IPV4, {192, 0, 2, 200}, true}, /* host bits do not count */
		{"192.0.2.1/32", WH_IPV4, {192, 0, 2, 1}, true},
		{"192.0.2.1/32", WH_IPV4, {192, 0, 2, 0}, false},
		{"128.0.0.0/1", WH_IPV4, {255, 1, 2, 3}, true},
		{"128.0.0.0/1", WH_IPV4, {127, 1, 2, 3}, false},
		{"0.0.0.0/0", WH_IPV4, {255, 1, 2, 3}, true},
		{"0.0.0.0/0", WH_IPV6, {255, 1, 2, 3}, false},
		{"::/0", WH_IPV6, {1}, true},
		{"2001:db8::/33", WH_IPV6, {0x20, 0x01, 0x0d, 0xb8, 0x7f}, true},
		{"2001:db8::/33", WH_IPV6, {0x20, 0x01, 0x0d, 0xb8, 0x80}, false},
		{"::1/128", WH_IPV6, {[15] = 1}, true},
		{"::1/128", WH_IPV6, {[15] = 0}, false},
	};
	char words[256];

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct wh_address address = {.family = cases[i].family, .port = 5760};

		memcpy(address.ip, cases[i].ip, sizeof(address.ip));
		snprintf(words, sizeof(words), WHOLE "|--allow|%s", cases[i].subnet);
		wh_rig_read(&rig, WH_VERB_SERVE, words);
		CU_ASSERT_EQUAL_FATAL(rig.settings.allows, 1);
		CU_ASSERT_EQUAL(wh_subnet_has(&rig.settings.allow[0], &address), cases[i].has);
	}
}

/* In the order of the table, and no key of another verb. */
static void test_at(void)
{
	char value[WH_SETTINGS_TEXT_BYTES];
	char key[WH_SETTINGS_KEY_BYTES] = "";
	uint32_t count = 0;

	wh_rig_read(&rig, WH_VERB_BENCH, WHOLE);
	CU_ASSERT_TRUE(wh_settings_at(&rig.settings, WH_VERB_BENCH, 0, key, value));
	CU_ASSERT_STRING_EQUAL(key, "port.port");
	CU_ASSERT_STRING_EQUAL(value, "memif:/run/x.sock");
	CU_ASSERT_TRUE(wh_settings_at(&rig.settings, WH_VERB_BENCH, 9, key, value));
	CU_ASSERT_STRING_EQUAL(key, "address.udp_port");
	CU_ASSERT_STRING_EQUAL(value, "5760");
	while (wh_settings_at(&rig.settings, WH_VERB_BENCH, count, key, value))
		count++;
	CU_ASSERT_EQUAL(count, 46); /* the last ones are the profile's */
	CU_ASSERT_STRING_EQUAL(key, "profile.lambda.share");
	CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, WH_VERB_BENCH, "serve.root"), "?");
	CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, WH_VERB_BENCH, "cores.rx"), "");
}

const char wh_suite_name[] = "settings";

CU_TestInfo wh_tests[] = {
	{"values by flag", test_values_by_flag},
	{"values by file", test_values_by_file},
	{"values come back from --print-config", test_values_come_back},
	{"every setting has a case", test_every_setting_has_a_case},
	{"flags differ", test_flags_differ},
	{"verbs without file", test_verbs_without_file},
	{"fields", test_fields},
	{"standards", test_standards},
	{"refusals", test_refusals},
	{"what is missing", test_what_is_missing},
	{"what goes together", test_what_goes_together},
	{"longest text", test_longest_text},
	{"most subnets", test_most_subnets},
	{"operands", test_operands},
	{"repeated flags", test_repeated_flags},
	{"subnet has", test_subnet_has},
	{"at", test_at},
	CU_TEST_INFO_NULL,
};
