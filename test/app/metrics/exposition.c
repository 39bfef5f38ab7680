/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/exposition.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "exposition";

/* What the sources answer, by name; what is not here cannot be had. */
static const struct {
	const char *source;
	const char *answer;
} answers[] = {
	{"status", "{\"version\": \"1\\\\2\\\"3\\n4\", \"began\": 1700000000, \"draining\": false,"
		   " \"live\": 3}"},
	{"ports", "{\"link_up\": 1, \"rx_bytes\": 9007199254740993, \"drop_unresolved\": 5,"
		  " \"drop_\": 6, \"handshakes\": 9, \"handshakes_met\": 8}"},
	{"cores", "{\"cpu_0\": {\"busy_us\": 1500000, \"turns\": 7},"
		  " \"cpu_11\": {\"busy_us\": 1}}"},
	{"totals", "{\"transmitter\": {\"live\": 1, \"paced_bps\": 12, \"rtt_least_us\": 250,"
		   " \"limited_by_rate_us\": 2000000, \"limited_by_us\": 4}}"},
	{"refusals", "{\"not allowed\": 2}"},
};

static json_t *given[16];

static const json_t *figure_of(void *context, uint32_t source)
{
	(void)context;
	return given[source];
}

static char *written(bool open_metrics)
{
	const struct wh_figures figures = {figure_of, NULL};
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		given[wh_family_source_find(answers[i].source)] =
			json_loads(answers[i].answer, 0, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(given[wh_family_source_find(answers[i].source)]);
	}
	wh_exposition_write(to, open_metrics, &figures);
	fclose(to);
	for (size_t i = 0; i < 16; i++) {
		json_decref(given[i]);
		given[i] = NULL;
	}
	return text;
}

static const char plain[] =
	"# HELP wavehaul_build_info Version of the server.\n"
	"# TYPE wavehaul_build_info gauge\n"
	"wavehaul_build_info{version=\"1\\\\2\\\"3\\n4\"} 1\n"
	"# HELP wavehaul_start_time_seconds When the server began, since 1970.\n"
	"# TYPE wavehaul_start_time_seconds gauge\n"
	"wavehaul_start_time_seconds 1700000000\n"
	"# HELP wavehaul_draining Whether the server takes no new jobs, for it is to end.\n"
	"# TYPE wavehaul_draining gauge\n"
	"wavehaul_draining 0\n"
	"# HELP wavehaul_jobs Jobs that are not over, those that peers have asked for too.\n"
	"# TYPE wavehaul_jobs gauge\n"
	"wavehaul_jobs 3\n"
	"# HELP wavehaul_port_up Whether the link of the port is up.\n"
	"# TYPE wavehaul_port_up gauge\n"
	"wavehaul_port_up 1\n"
	"# HELP wavehaul_port_receive_bytes_total Bytes of these frames.\n"
	"# TYPE wavehaul_port_receive_bytes_total counter\n"
	"wavehaul_port_receive_bytes_total 9007199254740993\n"
	"# HELP wavehaul_port_dropped_packets_total Frames and packets dropped, by cause.\n"
	"# TYPE wavehaul_port_dropped_packets_total counter\n"
	"wavehaul_port_dropped_packets_total{cause=\"unresolved\"} 5\n"
	"# HELP wavehaul_handshakes_begun_total Handshakes that were begun.\n"
	"# TYPE wavehaul_handshakes_begun_total counter\n"
	"wavehaul_handshakes_begun_total 9\n"
	"# HELP wavehaul_handshakes_total Handshakes by what came of them.\n"
	"# TYPE wavehaul_handshakes_total counter\n"
	"wavehaul_handshakes_total{outcome=\"met\"} 8\n"
	"# HELP wavehaul_refusals_total Peers turned away before they had a job, by reason.\n"
	"# TYPE wavehaul_refusals_total counter\n"
	"wavehaul_refusals_total{reason=\"not allowed\"} 2\n"
	"# HELP wavehaul_sessions Sessions that are open, two for each job.\n"
	"# TYPE wavehaul_sessions gauge\n"
	"wavehaul_sessions{role=\"transmitter\"} 1\n"
	"# HELP wavehaul_session_rate_bytes_per_second Sum of the paces that sessions send by now, "
	"on the wire.\n"
	"# TYPE wavehaul_session_rate_bytes_per_second gauge\n"
	"wavehaul_session_rate_bytes_per_second{role=\"transmitter\"} 1.500000\n"
	"# HELP wavehaul_session_rtt_seconds Round trips of the sessions that are open: the least "
	"and the most.\n"
	"# TYPE wavehaul_session_rtt_seconds gauge\n"
	"wavehaul_session_rtt_seconds{role=\"transmitter\",of=\"least\"} 0.000250\n"
	"# HELP wavehaul_session_limited_seconds_total Time of sessions by what kept them from "
	"sending faster.\n"
	"# TYPE wavehaul_session_limited_seconds_total counter\n"
	"wavehaul_session_limited_seconds_total{role=\"transmitter\",by=\"rate\"} 2.000000\n"
	"# HELP wavehaul_core_busy_seconds_total Time in which a polling core found work.\n"
	"# TYPE wavehaul_core_busy_seconds_total counter\n"
	"wavehaul_core_busy_seconds_total{cpu=\"0\"} 1.500000\n"
	"wavehaul_core_busy_seconds_total{cpu=\"11\"} 0.000001\n"
	"# HELP wavehaul_core_turns_total Turns of a polling core.\n"
	"# TYPE wavehaul_core_turns_total counter\n"
	"wavehaul_core_turns_total{cpu=\"0\"} 7\n";

static void test_bytes(void)
{
	char *text = written(false);

	CU_ASSERT_STRING_EQUAL(text, plain);
	free(text);
}

static bool has(const char *text, const char *line)
{
	return strstr(text, line) != NULL;
}

/* The other form names families, and tells their units. */
static void test_open_metrics(void)
{
	char *text = written(true);
	size_t bytes = strlen(text);

	CU_ASSERT(has(text, "# TYPE wavehaul_build info\nwavehaul_build_info{"));
	CU_ASSERT(has(text, "# TYPE wavehaul_port_receive_bytes counter\n"
			    "# UNIT wavehaul_port_receive_bytes bytes\n"
			    "wavehaul_port_receive_bytes_total 9007199254740993\n"));
	CU_ASSERT(has(text, "# UNIT wavehaul_session_rate_bytes_per_second bytes_per_second\n"));
	CU_ASSERT(!has(text, "# UNIT wavehaul_jobs"));
	CU_ASSERT_STRING_EQUAL(text + bytes - 6, "# EOF\n");
	free(text);
}

/* Names and units of all families go together. */
static void test_table(void)
{
	for (uint32_t i = 0; i < wh_families_count; i++) {
		const struct wh_metric_family *family = &wh_families[i];
		size_t chars = strlen(family->name);
		size_t unit = strlen(family->unit);

		CU_ASSERT(strncmp(family->name, "wavehaul_", 9) == 0);
		CU_ASSERT(unit == 0 || strcmp(family->name + chars - unit, family->unit) == 0);
		CU_ASSERT(family->help[strlen(family->help) - 1] == '.');
		CU_ASSERT((strchr(family->key, '*') != NULL || family->type == WH_FAMILY_INFO) ==
			  (family->label != NULL));
		CU_ASSERT(wh_family_source_find(family->from) < wh_family_sources_count);
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(family->name, wh_families[j].name);
	}
}

CU_TestInfo wh_tests[] = {
	{"the bytes of each kind of figure", test_bytes},
	{"OpenMetrics", test_open_metrics},
	{"the table", test_table},
	CU_TEST_INFO_NULL,
};
