/* SPDX-License-Identifier: BSD-3-Clause */

/* Several ports of one process, each with addresses of its own. */

#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "cli/exit.h"
#include "settings_rig.h"

const char wh_suite_name[] = "settings: ports";

#define WHOLE "--config|none|--port|memif:/run/x.sock|--addr|192.0.2.1/24"

static struct wh_rig rig;

/* Addresses and gateways belong to ports by their order, and all is printed so that it is read. */
static void belong_together(void)
{
	char ports[WH_SETTINGS_TEXT_BYTES];

	wh_rig_read(&rig, WH_VERB_SEND,
		WHOLE "|--port|memif:/b#c|--addr|198.51.100.1/24,2001:db8::1/64|--gateway|"
		      "192.0.2.9,198.51.100.9");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL_FATAL(rig.settings.ports, 2);
	CU_ASSERT_STRING_EQUAL(rig.settings.port[1].name, "memif:/b#c");
	CU_ASSERT_EQUAL(rig.settings.port[0].ipv4.address.ip[0], 192);
	CU_ASSERT_EQUAL(rig.settings.port[1].ipv4.address.ip[0], 198);
	CU_ASSERT_EQUAL(rig.settings.port[0].ipv6.prefix_bits, 64);
	CU_ASSERT_EQUAL(rig.settings.port[1].gateway4.ip[3], 9);
	wh_settings_ports_text(&rig.settings, " and ", ports);
	CU_ASSERT_STRING_EQUAL(ports, "memif:/run/x.sock and memif:/b#c");
	wh_rig_read(&rig, WH_VERB_SEND,
		WHOLE "|--port|memif:/b#c|--addr|198.51.100.1/24|--print-config");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\nport = memif:/run/x.sock\nport = memif:/b\\#c\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\naddress = 192.0.2.1/24, 198.51.100.1/24\n"));
}

static void refusals(void)
{
	static const struct {
		const char *words;
		const char *said;
	} cases[] = {
		{"--addr|::2/64,::3/64,::4/64,::5/64,::6/64",
			"--addr '::2/64,::3/64,::4/64,::5/64,::6/64' is one address too many; "
			"write for example --addr 192.0.2.1/24"},
		{"--port|memif:/b", "memif:/b has no address; add --addr 192.0.2.1/24, or "},
		{"--port|memif:/run/x.sock|--addr|192.0.3.1/24",
			"memif:/run/x.sock is named twice; a port is given once"},
		{"--port|a|--port|b|--port|c|--port|d",
			"--port 'd' is a fifth port, and four are the limit; "},
		{"--port|memif:/b|--addr|192.0.3.1/24|--queues|9",
			"2 ports with 9 queues each are more than 16 queues; set --queues 8"},
	};
	char words[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(words, sizeof(words), WHOLE "|%s", cases[i].words);
		wh_rig_read(&rig, WH_VERB_SEND, words);
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
		CU_ASSERT_NSTRING_EQUAL(rig.said, cases[i].said, strlen(cases[i].said));
	}
}

CU_TestInfo wh_tests[] = {
	{"belong together", belong_together},
	{"refusals", refusals},
	CU_TEST_INFO_NULL,
};
