/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: scenario files, down to the networks of their first points; nothing is run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "fuzz.h"
#include "scenario/point.h"

#define POINTS_TRIED 2

static uint64_t taken, refused;

static int build_points(struct wh_ini *ini, const struct wh_sweep *sweep)
{
	int status = -1;

	for (uint32_t i = 0; status == -1 && i < sweep->n_points && i < POINTS_TRIED; i++) {
		struct wh_point *point;

		status = wh_point_build(ini, sweep, i, &point);
		if (status == -1)
			wh_point_free(point);
	}
	for (uint32_t i = 0; status == -1 && i < ini->n_sections; i++)
		if (!wh_take_all_used(&ini->sections[i]))
			status = 0;
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct wh_sweep sweep;
	struct wh_ini ini;
	int status = wh_ini_parse(&ini, &wh_scenario_form, "file", (const char *)bytes, length);

	if (status == -1) {
		status = wh_sweep_read(&sweep, &ini.sections[WH_INI_SWEEP]);
		if (status == -1)
			status = build_points(&ini, &sweep);
		wh_sweep_free(&sweep);
	}
	wh_ini_free(&ini);
	if (status == -1)
		taken++;
	else
		refused++;
	return 0;
}

static const char network[] =
	"[scenario]\nduration = 10s\nwarmup = 1s\n[sweep]\nn = 1, 2, 3\n[link A-B]\nrate = 10M\n"
	"delay = 10ms\nqueue = 50\nloss = 1%\n[flow f]\nagent = udt\nfrom = A\nto = B\ncount = n\n"
	"[report]\nx = goodput(f, 2s, 5s)\n[expect]\na = goodput(f, 2s, 5s) > 1M\n";

static const char fleet[] =
	"[scenario]\n[sweep]\nn = 1, 2\n[report]\nx = alone / time\n[fleet]\nnode_rate = 10G\n"
	"files = 8\nsize = 1G\n";

static const char *const lines[] = {"[scenario]", "duration = 10s", "seed = 1", "repeat = 2",
	"warmup = 2s", "[sweep]", "n = 1, 2, 4", "n, m = 1 2, 3 4", "[link A-B]", "[link B-C]",
	"rate = 10M * n", "delay = 10ms", "queue = 50", "loss = 1%", "loss_burst = 20",
	"reorder = 3%", "reorder_delay = 1ms", "police = 2M", "police_bucket = 250K",
	"rate_steps = 20M at 1s, 5M at 2s", "delay_steps = 0s at 1s, 50ms at 3s", "[flow f]",
	"[flow g]", "agent = udt", "agent = ttp", "agent = newreno", "agent = lambda", "from = A",
	"to = B", "to = C", "count = n", "start = 1s", "size = 10M", "bottleneck = 10M", "[fleet]",
	"nodes = n", "receiver_rate = 10G", "slow_nodes = 1", "kill = 1s", "shards = 10",
	"[report]", "x = goodput(f)", "z = sent(*)", "y = mean(f, 1s, 2s) / 2", "[expect]",
	"goodput(f) > 1M", "c = drops(A-B) < goodput(g) when n > 1", "[link A-B", "= 1"};

static const char *const words[] = {"0", "1", "-1", "1e308", "1e-308", "10G", "100ms", "1%", "none",
	"nan", "(", ")", "((((", "+", "*", "/ 0", "-", "n", "min(", "max(1,", ", ,", "at 1s",
	"when", "f", "A", "1e19s", "100000", "18446744073709551616", "\x80", "sqrt(-1)", "ln(0)"};

#define LINES (sizeof(lines) / sizeof(lines[0]))
#define WORDS (sizeof(words) / sizeof(words[0]))

static size_t append(char *text, size_t used, size_t room, const char *what)
{
	size_t bytes = strlen(what);

	if (used + bytes > room)
		return used;
	memcpy(text + used, what, bytes);
	return used + bytes;
}

/* A line, its value mostly as it was. */
static size_t add_line(struct wh_prng *prng, char *text, size_t used, size_t room)
{
	const char *line = lines[wh_prng_below(prng, LINES)];
	const char *word = words[wh_prng_below(prng, WORDS)];
	const char *value = strchr(line, '=');
	char changed[256];

	if (value == NULL || wh_prng_below(prng, 3) != 0)
		return append(text, used, room, line);
	snprintf(changed, sizeof(changed), "%.*s %s%s%s", (int)(value - line + 1), line, word,
		wh_prng_below(prng, 2) == 0 ? " " : "",
		wh_prng_below(prng, 2) == 0 ? value + 1 : "");
	return append(text, used, room, changed);
}

/* Behind what is there; the number of bytes then. */
static size_t add_lines(struct wh_prng *prng, char *text, size_t used, size_t room)
{
	for (uint64_t left = wh_prng_below(prng, 24); left > 0; left--) {
		used = add_line(prng, text, used, room);
		used = append(text, used, room, "\n");
	}
	return used;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	return number > 1 ? 0 : append((char *)bytes, 0, room, number == 0 ? network : fleet);
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	uint64_t begins = wh_prng_below(prng, 3);
	size_t length = 0;

	if (begins > 0)
		length = append((char *)bytes, 0, room, begins == 1 ? network : fleet);
	return add_lines(prng, (char *)bytes, length, room);
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " scenarios taken, %" PRIu64 " refused\n", taken, refused);
}
