/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Placements are written as text, the cores in their order: CPU, then w when it works, r and the
 * queues that it receives, s and those that it sends, in hexadecimal. "0w 1r02s02" is CPU 0 that
 * works, and CPU 1 that receives and sends the queues 0 and 2.
 */

#include "host/cores.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "cores";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT_BYTES   1024
#define WHY_BYTES    256

/* CPUs from `first` on. */
static struct wh_cpu_list cpus(uint16_t first, uint32_t count)
{
	struct wh_cpu_list list = {.count = count};

	for (uint32_t i = 0; i < count; i++)
		list.cpu[i] = (uint16_t)(first + i);
	return list;
}

/* A digit is a CPU. */
static struct wh_cpu_list digits(const char *text)
{
	struct wh_cpu_list list = {0};

	for (; *text != '\0'; text++)
		list.cpu[list.count++] = (uint16_t)(*text - '0');
	return list;
}

static size_t write_queues(char *text, char letter, uint32_t queues)
{
	size_t used = 0;

	if (queues == 0)
		return 0;
	text[used++] = letter;
	for (uint32_t queue = 0; queue < WH_PORT_QUEUES_MAX; queue++)
		if (queues & 1U << queue)
			text[used++] = "0123456789abcdef"[queue];
	return used;
}

static void write_cores(const struct wh_cores *cores, char text[TEXT_BYTES])
{
	size_t used = 0;

	for (uint32_t i = 0; i < cores->count; i++) {
		const struct wh_core *core = &cores->core[i];

		used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%u%s",
			i == 0 ? "" : " ", core->cpu, core->works ? "w" : "");
		used += write_queues(text + used, 'r', core->receives);
		used += write_queues(text + used, 's', core->sends);
		used += write_queues(text + used, 'b', core->books);
	}
	text[used] = '\0';
}

static struct wh_cores_allowed allow(const struct wh_cpu_list *cpus, uint32_t near)
{
	struct wh_cores_allowed allowed = {.cpus = *cpus, .near = near};

	for (uint32_t i = 0; i < cpus->count; i++)
		CPU_SET(cpus->cpu[i], &allowed.set);
	return allowed;
}

static struct wh_cores place_near(
	const struct wh_host_settings *settings, const struct wh_cpu_list *allowed, uint32_t near)
{
	const struct wh_cores_allowed of = allow(allowed, near);
	struct wh_cores cores;
	char why[WHY_BYTES] = "";

	CU_ASSERT_EQUAL_FATAL(wh_cores_place(settings, &of, &cores, why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(why, "");
	return cores;
}

static struct wh_cores place(
	const struct wh_host_settings *settings, const struct wh_cpu_list *allowed)
{
	return place_near(settings, allowed, 0);
}

static void expect(const struct wh_cores *cores, const char *expected)
{
	char text[TEXT_BYTES];

	write_cores(cores, text);
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		fprintf(stderr, "\n    is       %s\n    is not   %s\n", text, expected);
}

static void test_by_number_of_cpus(void)
{
	static const struct {
		uint32_t cpus;
		uint32_t queues;
		const char *expected;
	} cases[] = {
		{1, 1, "0wr0s0"},
		{1, 2, "0wr01s01"},
		{1, 4, "0wr0123s0123"},
		{1, 16, "0wr0123456789abcdefs0123456789abcdef"},
		{2, 1, "0w 1r0s0"},
		{2, 2, "0w 1r01s01"},
		{2, 4, "0w 1r0123s0123"},
		{2, 16, "0w 1r0123456789abcdefs0123456789abcdef"},
		{3, 1, "0w 1r0 2s0"},
		{3, 2, "0w 1r0s0 2r1s1"},
		{3, 4, "0w 1r02s02 2r13s13"},
		{3, 16, "0w 1r02468aces02468ace 2r13579bdfs13579bdf"},
		{4, 1, "0w 3w 1r0 2s0"},
		{4, 2, "0w 1r0 3s0 2r1s1"},
		{4, 4, "0w 1r03s03 2r1s1 3r2s2"},
		{4, 16, "0w 1r0369cfs0369cf 2r147ads147ad 3r258bes258be"},
		{6, 1, "0w 3w 4w 5w 1r0 2s0"},
		{6, 2, "0w 5w 1r0 3s0 2r1 4s1"},
		{8, 1, "0w 3w 4w 5w 6w 7w 1r0 2s0"},
		{8, 2, "0w 5w 6w 7w 1r0 3s0 2r1 4s1"},
		{8, 4, "0w 1r0 5s0 2r1 6s1 3r2 7s2 4r3s3"},
		{16, 1, "0w 3w 4w 5w 6w 7w 8w 9w 1r0 2s0"},
		{32, 1, "0w 3w 4w 5w 6w 7w 8w 9w 1r0 2s0"},
		{32, 2,
			"0w 5w 6w 7w 8w 9w 10w 11w 12w 13w 14w 15w 16w 17w 18w 19w 1r0 3s0 2r1 "
			"4s1"},
		{8, 16, "0w 1r07es07e 2r18fs18f 3r29s29 4r3as3a 5r4bs4b 6r5cs5c 7r6ds6d"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct wh_host_settings settings = {.ports = 1, .queues = cases[i].queues};
		const struct wh_cpu_list allowed = cpus(0, cases[i].cpus);
		struct wh_cores cores = place(&settings, &allowed);

		expect(&cores, cases[i].expected);
	}
}

static void test_as_named(void)
{
	static const struct {
		const char *allowed;
		uint32_t queues;
		const char *rx;
		const char *tx;
		const char *worker;
		const char *expected;
	} cases[] = {
		/* One list named: the others follow. */
		{"0123", 1, "2", "", "", "0w 1w 3w 2r0s0"},
		{"0123", 2, "", "3", "", "0w 1w 2w 3r01s01"},
		{"0123", 1, "", "", "3", "3w 0r0 1s0"},
		{"0123", 2, "", "", "3", "3w 0r0 2s0 1r1s1"},
		{"0123", 4, "", "", "01", "0w 1w 2r02s02 3r13s13"},
		/* Two, and three. */
		{"0123", 1, "1", "2", "", "0w 3w 1r0 2s0"},
		{"0123", 2, "12", "12", "", "0w 3w 1r0s0 2r1s1"},
		{"0123", 2, "12", "", "3", "3w 1r0s0 2r1s1"},
		{"0123", 2, "", "12", "0", "0w 1r0s0 2r1s1"},
		{"01234", 2, "12", "34", "0", "0w 1r0 3s0 2r1 4s1"},
		{"0123", 4, "1", "23", "0", "0w 1r0123 2s02 3s13"},
		/* Workers beside packets. */
		{"0123", 1, "0", "0", "0", "0wr0s0"},
		{"0123", 2, "01", "23", "0123", "0wr0 1wr1 2ws0 3ws1"},
		{"01", 1, "", "", "01", "0wr0 1ws0"},
		{"01", 2, "", "", "10", "1wr1s1 0wr0s0"},
		{"0", 1, "", "", "0", "0wr0s0"},
		/* Nobody is left to work. */
		{"01", 1, "1", "0", "", "1wr0 0s0"},
		{"01", 2, "10", "", "", "1wr0s0 0r1s1"},
		{"01", 2, "", "10", "", "1wr0s0 0r1s1"},
		{"5", 2, "5", "5", "", "5wr01s01"},
		/* Not every CPU is ours. */
		{"27", 1, "", "", "", "2w 7r0s0"},
		{"479", 1, "", "", "", "4w 7r0 9s0"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct wh_host_settings settings = {
			.ports = 1,
			.queues = cases[i].queues,
			.rx_cpus = digits(cases[i].rx),
			.tx_cpus = digits(cases[i].tx),
			.worker_cpus = digits(cases[i].worker),
		};
		const struct wh_cpu_list allowed = digits(cases[i].allowed);
		struct wh_cores cores = place(&settings, &allowed);

		expect(&cores, cases[i].expected);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *rx;
		const char *tx;
		const char *worker;
		const char *said;
	} cases[] = {
		{"4", "", "", "this process may not use CPU 4 of --rx-cpus"},
		{"05", "0", "0", "this process may not use CPU 5 of --rx-cpus"},
		{"", "0126", "", "this process may not use CPU 6 of --tx-cpus"},
		{"", "", "7", "this process may not use CPU 7 of --worker-cpus"},
		{"4", "5", "6", "this process may not use CPU 4 of --rx-cpus"},
	};
	const struct wh_cpu_list four = digits("0123");
	const struct wh_cores_allowed allowed = allow(&four, 2);

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct wh_host_settings settings = {
			.ports = 1,
			.queues = 1,
			.rx_cpus = digits(cases[i].rx),
			.tx_cpus = digits(cases[i].tx),
			.worker_cpus = digits(cases[i].worker),
		};
		struct wh_cores cores;
		char why[WHY_BYTES] = "";

		CU_ASSERT_EQUAL(
			wh_cores_place(&settings, &allowed, &cores, why, sizeof(why)), -EINVAL);
		CU_ASSERT_EQUAL(strncmp(why, cases[i].said, strlen(cases[i].said)), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "taskset"));
	}
}

/* The NIC's node has the CPUs from 4 on. */
static void test_near(void)
{
	static const struct {
		const char *allowed;
		uint32_t near;
		uint32_t queues;
		const char *worker;
		const char *expected;
	} cases[] = {
		{"45670123", 4, 1, "", "4w 7w 5r0 6s0"},
		{"4560123", 3, 1, "", "4w 5r0 6s0"},
		/* They do not suffice, so they come first. */
		{"450123", 2, 1, "", "4w 1w 2w 3w 5r0 0s0"},
		{"45670123", 4, 2, "", "4w 1w 2w 3w 5r0 7s0 6r1 0s1"},
		/* A far one may be named. */
		{"45670123", 4, 1, "0", "0w 4r0 5s0"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct wh_host_settings settings = {.ports = 1,
			.queues = cases[i].queues,
			.worker_cpus = digits(cases[i].worker)};
		const struct wh_cpu_list allowed = digits(cases[i].allowed);
		struct wh_cores cores = place_near(&settings, &allowed, cases[i].near);

		expect(&cores, cases[i].expected);
	}
}

/* What holds of every placement. */
static void check_promises(const struct wh_cores *cores, uint32_t queues)
{
	uint32_t received = 0;
	uint32_t sent = 0;

	CU_ASSERT_TRUE(cores->core[0].works);
	for (uint32_t i = 0; i < cores->count; i++) {
		const struct wh_core *core = &cores->core[i];

		CU_ASSERT_TRUE(core->works || core->receives != 0 || core->sends != 0);
		CU_ASSERT_EQUAL(received & core->receives, 0);
		CU_ASSERT_EQUAL(sent & core->sends, 0);
		received |= core->receives;
		sent |= core->sends;
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(core->cpu, cores->core[j].cpu);
	}
	CU_ASSERT_EQUAL(received, (1U << queues) - 1);
	CU_ASSERT_EQUAL(sent, received);
}

static void test_every_number(void)
{
	for (uint32_t count = 1; count <= WH_SETTINGS_CPUS_MAX; count++) {
		for (uint32_t queues = 1; queues <= WH_PORT_QUEUES_MAX; queues++) {
			const struct wh_host_settings settings = {.ports = 1, .queues = queues};
			const struct wh_cpu_list allowed = cpus(100, count);
			struct wh_cores cores = place(&settings, &allowed);
			uint32_t left = count > 2 * queues ? count - 2 * queues : 1;
			uint32_t wanted = RTE_MIN(left, WH_CORES_WORKERS * queues);
			uint32_t workers = 0;

			check_promises(&cores, queues);
			CU_ASSERT_EQUAL(cores.count, count - (left - wanted));
			for (uint32_t i = 0; i < cores.count; i++)
				workers += cores.core[i].works;
			CU_ASSERT_EQUAL(workers, wanted);
		}
	}
}

/* A machine with more CPUs than a list has room for: each of them may be named. */
static void test_many_cpus(void)
{
	struct wh_cpu_list first = cpus(0, WH_SETTINGS_CPUS_MAX);
	struct wh_cores_allowed allowed = allow(&first, 0);
	const struct wh_host_settings settings = {
		.ports = 1, .queues = 1, .rx_cpus = cpus(200, 1), .tx_cpus = cpus(201, 1)};
	struct wh_cores cores;
	char why[WHY_BYTES] = "";

	CU_ASSERT_EQUAL(wh_cores_place(&settings, &allowed, &cores, why, sizeof(why)), -EINVAL);
	CU_ASSERT_NSTRING_EQUAL(why, "this process may not use CPU 200", 32);
	for (uint16_t cpu = WH_SETTINGS_CPUS_MAX; cpu < 256; cpu++)
		CPU_SET(cpu, &allowed.set);
	CU_ASSERT_EQUAL(wh_cores_place(&settings, &allowed, &cores, why, sizeof(why)), 0);
	expect(&cores, "0w 1w 2w 3w 4w 5w 6w 7w 200r0 201s0");
}

static void test_sends_alone(void)
{
	static const struct {
		uint32_t cpus;
		uint32_t queues;
		uint32_t alone; /* bits: queues */
	} cases[] = {
		{1, 1, 0x0},
		{2, 1, 0x0}, /* also receives */
		{3, 1, 0x1},
		{3, 2, 0x0},
		{4, 2, 0x1},
		{8, 4, 0x7},
		{64, 16, 0xffff},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct wh_host_settings settings = {.ports = 1, .queues = cases[i].queues};
		const struct wh_cpu_list allowed = cpus(0, cases[i].cpus);
		struct wh_cores cores = place(&settings, &allowed);

		for (uint32_t queue = 0; queue < cases[i].queues; queue++)
			CU_ASSERT_EQUAL(wh_cores_sends_alone(&cores, queue),
				(cases[i].alone & 1U << queue) != 0);
	}
}

/* Books kept apart: by CPUs that do nothing else, as far as there are others. */
static void test_books(void)
{
	static const struct {
		const char *allowed;
		uint32_t queues;
		const char *books;
		const char *expected;
	} cases[] = {
		{"01", 1, "1", "0wr0s0 1b0"},
		{"012", 1, "2", "0w 1r0s0 2b0"},
		{"0123", 1, "3", "0w 1r0 2s0 3b0"},
		{"0123", 2, "3", "0w 1r0s0 3b01 2r1s1"},
		{"012345", 2, "45", "0w 1r0 3s0 4b0 2r1s1 5b1"},
		{"01234567", 1, "2", "0w 4w 5w 6w 7w 1r0 3s0 2b0"},
	};
	const struct wh_host_settings both = {
		.ports = 1, .queues = 1, .rx_cpus = digits("1"), .books_cpus = digits("21")};
	const struct wh_host_settings foreign = {
		.ports = 1, .queues = 1, .books_cpus = digits("9")};
	const struct wh_cpu_list four = digits("0123");
	const struct wh_cores_allowed allowed = allow(&four, 4);
	char why[WHY_BYTES] = "";
	struct wh_cores cores;

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct wh_host_settings settings = {.ports = 1,
			.queues = cases[i].queues,
			.books_cpus = digits(cases[i].books)};
		const struct wh_cpu_list cpus = digits(cases[i].allowed);

		cores = place(&settings, &cpus);
		expect(&cores, cases[i].expected);
	}
	CU_ASSERT_EQUAL(wh_cores_place(&both, &allowed, &cores, why, sizeof(why)), -EINVAL);
	CU_ASSERT_NSTRING_EQUAL(why, "CPU 1 of --books-cpus receives packets", 38);
	CU_ASSERT_EQUAL(wh_cores_place(&foreign, &allowed, &cores, why, sizeof(why)), -EINVAL);
	CU_ASSERT_NSTRING_EQUAL(why, "this process may not use CPU 9 of --books-cpus", 46);
}

/* A core that sends nothing else, but sends for two queues, or works beside, is not alone. */
static void test_sends_with_others(void)
{
	const struct wh_host_settings two = {
		.ports = 1,
		.queues = 2,
		.rx_cpus = digits("1"),
		.tx_cpus = digits("2"),
		.worker_cpus = digits("0"),
	};
	const struct wh_host_settings beside = {
		.ports = 1,
		.queues = 1,
		.rx_cpus = digits("1"),
		.tx_cpus = digits("2"),
		.worker_cpus = digits("02"),
	};
	const struct wh_cpu_list allowed = digits("012");
	struct wh_cores cores = place(&two, &allowed);

	CU_ASSERT_FALSE(wh_cores_sends_alone(&cores, 0));
	CU_ASSERT_FALSE(wh_cores_sends_alone(&cores, 1));
	cores = place(&beside, &allowed);
	CU_ASSERT_FALSE(wh_cores_sends_alone(&cores, 0));
}

static void test_allowed(void)
{
	struct wh_cores_allowed allowed;
	const struct wh_cpu_list *cpus = &allowed.cpus;
	cpu_set_t before;
	cpu_set_t one;
	uint16_t last;

	CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(before), &before), 0);
	wh_cores_allowed(NULL, &allowed);
	CU_ASSERT_EQUAL_FATAL(cpus->count, (uint32_t)CPU_COUNT(&before));
	CU_ASSERT_EQUAL(allowed.near, 0);
	for (uint32_t i = 0; i < cpus->count; i++) {
		CU_ASSERT_TRUE(CPU_ISSET(cpus->cpu[i], &before));
		CU_ASSERT_TRUE(i == 0 || cpus->cpu[i] > cpus->cpu[i - 1]);
	}

	last = cpus->cpu[cpus->count - 1];
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	CPU_SET(CPU_SETSIZE - 1, &one); /* near, and not ours */
	wh_cores_allowed(&one, &allowed);
	CU_ASSERT_EQUAL(cpus->count, (uint32_t)CPU_COUNT(&before));
	CU_ASSERT_EQUAL(allowed.near, 1);
	CU_ASSERT_EQUAL(cpus->cpu[0], last);

	CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(one), &one), 0);
	wh_cores_allowed(NULL, &allowed);
	CU_ASSERT_EQUAL(cpus->count, 1);
	CU_ASSERT_EQUAL(cpus->cpu[0], last);
	CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof(before), &before), 0);
}

CU_TestInfo wh_tests[] = {
	{"by number of CPUs", test_by_number_of_cpus},
	{"as named", test_as_named},
	{"refused", test_refused},
	{"near the NIC", test_near},
	{"books apart", test_books},
	{"every number", test_every_number},
	{"many CPUs", test_many_cpus},
	{"sends alone", test_sends_alone},
	{"sends with others", test_sends_with_others},
	{"allowed", test_allowed},
	CU_TEST_INFO_NULL,
};
