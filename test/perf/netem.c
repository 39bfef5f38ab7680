/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Nanoseconds per packet of admit, hold and take, for a 10 Gb/s line of 1 ms that is kept busy.
 * The best of several rounds, since other work on the machine can only add.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "lab/netem/netem.h"
#include "now.h"

#define PACKETS    2000000
#define ROUNDS     5
#define BURST      32
#define WIRE_BYTES 1538

static double measure_round(const struct wh_link_model *config)
{
	uint32_t items_max = wh_netem_items_needed(config, WIRE_BYTES) + 2 * BURST;
	struct wh_netem *netem = wh_netem_create(config, WH_NS_PER_S, 0, items_max);
	struct wh_netem_item items[BURST];
	uint64_t netem_tsc = 0;
	static char packet;

	if (netem == NULL) {
		perror("wh_netem_create");
		exit(EXIT_FAILURE);
	}

	uint64_t start_ns = now_ns();

	for (unsigned int n = 0; n < PACKETS; n += BURST) {
		for (unsigned int i = 0; i < BURST; i++) {
			struct wh_netem_fate fate;

			wh_netem_admit(netem, netem_tsc, WIRE_BYTES, &fate);
			for (uint32_t copy = 0; copy < fate.copies; copy++) {
				if (!wh_netem_hold(netem, fate.due_tsc[copy], &packet))
					wh_netem_count_queue_drop(netem);
			}
		}
		netem_tsc += BURST * UINT64_C(1231); /* 1230.4 ns each at 10 Gb/s */
		while (wh_netem_take(netem, netem_tsc, items, BURST) == BURST)
			;
	}

	double ns = (double)(now_ns() - start_ns) / PACKETS;

	while (wh_netem_take_any(netem) != NULL)
		;
	wh_netem_destroy(netem);
	return ns;
}

int main(void)
{
	static const struct {
		const char *name;
		struct wh_link_model config;
	} cases[] = {
		{"clean", {.seed = 1}},
		{"1 % loss", {.loss = 0.01}},
		{"1 % loss, bit errors", {.loss = 0.01, .bit_error = 1e-9}},
		{"bursts of loss", {.loss_model = WH_LOSS_GILBERT_ELLIOTT,
					   .gilbert_elliott = {0.001, 0.1, 0.0, 1.0}}},
		{"10 % reordered", {.reorder = 0.1}},
		{"10 % duplicated", {.duplicate = 0.1}},
		{"10 us jitter", {.jitter_ns = 10000}},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_link_model config = cases[i].config;
		double best_ns = 0.0;

		config.rate_bps = UINT64_C(10000000000);
		config.delay_ns = 1000000;
		config.queue_bytes = 1000000;
		config.queue_pkts = 1000;
		for (int round = 0; round < ROUNDS; round++) {
			double ns = measure_round(&config);

			if (round == 0 || ns < best_ns)
				best_ns = ns;
		}
		printf("%-22s %5.1f ns per packet\n", cases[i].name, best_ns);
	}
	return EXIT_SUCCESS;
}
