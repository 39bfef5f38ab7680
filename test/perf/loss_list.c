/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What an operation on the loss list costs with 1 and with 100,000 losses outstanding: singles
 * scattered over a window of 2^20 packet numbers. udt.txt appendix B asks for "similar small time":
 * the program fails when a median is more than three times as high with 100,000.
 *
 * These were reported in the order of their packet numbers, as a receiver meets them (`in order`),
 * or in a random order (`shuffled`), which is the worst for the memory behind the due lists. All
 * lists get the same operations, and their repetitions alternate, so that a busy machine disturbs
 * all alike. Operations do not wait for each other, as those for a burst of packets do not.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/prng.h"
#include "track/loss_list.h"

#define WINDOW      (UINT32_C(1) << 20)
#define MANY        UINT32_C(100000)
#define OPERATIONS  UINT32_C(50000)
#define REPETITIONS 31
#define RATIO_MAX   3.0

/* Packet numbers of the window that are not lost, and that are: in random order. */
static uint64_t fresh[OPERATIONS];
static uint64_t lost[MANY];

/* The same, as a receiver meets them. */
static uint64_t fresh_upwards[OPERATIONS];
static uint64_t lost_upwards[MANY];

struct load {
	struct wh_loss_list list;
	uint64_t now_tsc;
};

enum { ONE, IN_ORDER, SHUFFLED, LOADS };

static struct load loads[LOADS];

static void insert_remove(struct load *load, const uint64_t *pns, uint32_t count)
{
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint64_t pn = pns[i % count];

		wh_loss_list_insert(&load->list, pn, pn + 1, load->now_tsc);
		WH_ASSERT(wh_loss_list_remove(&load->list, pn));
	}
}

static void run_insert_remove(struct load *load)
{
	insert_remove(load, fresh, OPERATIONS);
}

static void run_insert_remove_upwards(struct load *load)
{
	insert_remove(load, fresh_upwards, OPERATIONS);
}

/* So few places that they stay in the cache: the work alone, without its memory. */
static void run_insert_remove_cached(struct load *load)
{
	insert_remove(load, fresh, 64);
}

static void run_lookup(struct load *load)
{
	uint32_t found = 0;

	/* By turns one that is lost (in the full lists) and one that is not. */
	for (uint32_t i = 0; i < OPERATIONS; i++)
		found += wh_loss_list_contains(&load->list, i % 2 ? lost[i] : fresh[i]);
	WH_ASSERT(found == (load->list.ranges == MANY ? OPERATIONS / 2 : 0));
}

static void run_next_due(struct load *load)
{
	struct wh_loss_range range;

	for (uint32_t i = 0; i < OPERATIONS; i++) {
		load->now_tsc += WH_LOSS_K_MAX; /* round trips of 1: one is always due */
		WH_ASSERT(wh_loss_list_next_due(&load->list, load->now_tsc, 1, &range));
	}
}

static const struct {
	const char *name;
	void (*run)(struct load *load);
} operations[] = {
	{"insert + remove", run_insert_remove},
	{"same, upwards", run_insert_remove_upwards},
	{"same, cached", run_insert_remove_cached},
	{"lookup", run_lookup},
	{"next_due", run_next_due},
};

#define OPERATION_COUNT (sizeof(operations) / sizeof(operations[0]))

static double costs_ns[OPERATION_COUNT][LOADS][REPETITIONS];

static void choose_pns(void)
{
	static uint32_t pns[WINDOW - 1];
	struct wh_prng prng;

	wh_prng_init(&prng, 1);
	for (uint32_t i = 0; i < WINDOW - 1; i++)
		pns[i] = i;
	for (uint32_t i = 0; i < MANY + OPERATIONS; i++) {
		uint32_t other = i + (uint32_t)wh_prng_below(&prng, WINDOW - 1 - i);
		uint32_t pn = pns[other];

		pns[other] = pns[i];
		if (i < MANY)
			lost[i] = pn;
		else
			fresh[i - MANY] = pn;
	}
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int compare_double(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static void fill(struct load *load, const uint64_t *first, uint32_t count)
{
	WH_ASSERT(wh_loss_list_init(&load->list, WINDOW) == 0);
	for (uint32_t i = 0; i < count; i++)
		wh_loss_list_insert(&load->list, first[i], first[i] + 1, ++load->now_tsc);
	wh_loss_list_check(&load->list);
}

static void sort(uint64_t *sorted, const uint64_t *values, uint32_t count)
{
	memcpy(sorted, values, count * sizeof(values[0]));
	qsort(sorted, count, sizeof(sorted[0]), compare_u64);
}

static void fill_all(void)
{
	sort(fresh_upwards, fresh, OPERATIONS);
	sort(lost_upwards, lost, MANY);

	/* lost[0] is one that run_lookup does not ask for. */
	fill(&loads[ONE], lost, 1);
	fill(&loads[IN_ORDER], lost_upwards, MANY);
	fill(&loads[SHUFFLED], lost, MANY);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(void)
{
	for (uint32_t repetition = 0; repetition < REPETITIONS; repetition++) {
		for (size_t i = 0; i < OPERATION_COUNT; i++) {
			for (uint32_t j = 0; j < LOADS; j++) {
				double start_ns = now_ns();

				operations[i].run(&loads[j]);
				costs_ns[i][j][repetition] = (now_ns() - start_ns) / OPERATIONS;
			}
		}
	}
}

static double median(double *values)
{
	qsort(values, REPETITIONS, sizeof(values[0]), compare_double);
	return values[REPETITIONS / 2];
}

/* The highest ratio of all. */
static double report(void)
{
	double ratio_max = 0;

	printf("ns per operation, medians of %d repetitions of %u\n\n", REPETITIONS, OPERATIONS);
	printf("%-16s %10s %24s %24s\n", "", "1 lost", "100,000 in order", "100,000 shuffled");
	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		double one_ns = median(costs_ns[i][ONE]);

		printf("%-16s %10.1f", operations[i].name, one_ns);
		for (uint32_t j = IN_ORDER; j < LOADS; j++) {
			double many_ns = median(costs_ns[i][j]);
			double ratio = many_ns / one_ns;

			printf(" %10.1f (ratio %4.2f)", many_ns, ratio);
			ratio_max = ratio > ratio_max ? ratio : ratio_max;
		}
		printf("\n");
	}
	return ratio_max;
}

int main(void)
{
	choose_pns();
	fill_all();
	measure();

	double ratio = report();

	printf("\nhighest ratio %.2f, required: at most %.1f\n", ratio, RATIO_MAX);
	for (uint32_t j = 0; j < LOADS; j++) {
		wh_loss_list_check(&loads[j].list);
		wh_loss_list_free(&loads[j].list);
	}
	return ratio <= RATIO_MAX ? EXIT_SUCCESS : EXIT_FAILURE;
}
