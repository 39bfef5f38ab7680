/* SPDX-License-Identifier: BSD-3-Clause */

/* DPDK's start with named drivers only, and what of the C library is as before after it. */

#include "eal/eal_init.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_build_config.h>
#include <rte_cycles.h>
#include <rte_version.h>

#include "base/clock.h"
#include "eal.h"
#include "port/spec.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/eal_init";

#define MBUFS      64
#define ROOM_BYTES 256
#define WORDS      16

static uint64_t raw_ns(void)
{
	struct timespec now;

	CU_ASSERT_EQUAL(clock_gettime(CLOCK_MONOTONIC_RAW, &now), 0);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Whether a shared object of that name is in this process. */
static bool is_mapped(const char *name)
{
	char line[PATH_MAX + 128];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");

	CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		found |= strstr(line, name) != NULL;
	fclose(maps);
	return found;
}

static void test_paths(void)
{
	char path[PATH_MAX];

	CU_ASSERT_TRUE(wh_eal_driver_path("net_memif", path, sizeof(path)));
	CU_ASSERT_EQUAL(strncmp(path, RTE_EAL_PMD_PATH "/librte_net_memif.so.",
				strlen(RTE_EAL_PMD_PATH "/librte_net_memif.so.")),
		0);
	CU_ASSERT_FALSE(wh_eal_driver_path("net_nobody", path, sizeof(path)));
	CU_ASSERT_FALSE(wh_eal_driver_path("net_memif", path, 8));
}

/* A name that is wrong would only make each start slow. */
static void test_ports(void)
{
	static const char *const ports[] = {
		"memif:/x", "vhost:/x", "virtio_user:/x", "af_packet:x", "af_xdp:x", "tap:x"};
	char path[PATH_MAX], why[WH_PORT_WHY_BYTES];
	struct wh_port_spec spec;

	for (size_t i = 0; i < RTE_DIM(ports); i++) {
		CU_ASSERT_EQUAL_FATAL(wh_port_spec_read(ports[i], 0, &spec, why, sizeof(why)), 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(spec.facts.driver_file);
		CU_ASSERT_TRUE(wh_eal_driver_path(spec.facts.driver_file, path, sizeof(path)));
	}
	CU_ASSERT_EQUAL(wh_port_spec_read("3b:00.0", 0, &spec, why, sizeof(why)), 0);
	CU_ASSERT_PTR_NULL(spec.facts.driver_file);
}

static void start(void)
{
	static char words[WORDS][PATH_MAX] = {"driver", "--no-huge", "--no-shconf", "-m", "64",
		"--no-pci", "--no-telemetry", "--iova-mode=va", "-l", "0", "--log-level=error",
		"-d", "", "-d", ""};
	char *arguments[WORDS + 1] = {NULL};
	int count = 0;

	CU_ASSERT_TRUE(wh_eal_driver_path("mempool_ring", words[12], sizeof(words[12])));
	CU_ASSERT_TRUE(wh_eal_driver_path("net_memif", words[14], sizeof(words[14])));
	for (; words[count][0] != '\0'; count++)
		arguments[count] = words[count];
	CU_ASSERT_EQUAL_FATAL(wh_eal_init(count, arguments, true), count - 1);
}

static void test_named_drivers(void)
{
	CU_ASSERT_FALSE(is_mapped("librte_net_memif"));
	start();
	CU_ASSERT_TRUE(is_mapped("librte_net_memif"));
	CU_ASSERT_FALSE(is_mapped("librte_net_mlx5"));
	CU_ASSERT_FALSE(is_mapped("librte_net_af_packet"));
	wh_test_pool_free(wh_test_pool("pool", MBUFS, ROOM_BYTES));
}

/* DPDK learnt the TSC's rate in a tenth of its time; drivers wait by it. */
static void test_rate(void)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	uint64_t began_ns = raw_ns(), began_tsc = rte_rdtsc();

	CU_ASSERT_EQUAL(nanosleep(&nap, NULL), 0);

	uint64_t tsc = rte_rdtsc() - began_tsc, ns = raw_ns() - began_ns;

	WH_ASSERT_NEAR((double)tsc * 1e9 / (double)ns, rte_get_tsc_hz(), 0.01);
}

/* Outside of DPDK's start a sleep has its length, and a question its answer. */
static void test_library(void)
{
	const struct timespec as_eal = {.tv_nsec = 100000000};
	const struct timespec none = {.tv_nsec = -1};
	uint64_t began_ns = raw_ns();
	char name[32];

	CU_ASSERT_EQUAL(nanosleep(&as_eal, NULL), 0);
	CU_ASSERT(raw_ns() - began_ns >= 99000000);
	CU_ASSERT_EQUAL(nanosleep(&none, NULL), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	snprintf(name, sizeof(name), "librte_eal.so.%d", RTE_VER_YEAR + 1);
	CU_ASSERT_PTR_NOT_NULL(dlopen(name, RTLD_LAZY | RTLD_NOLOAD));
	CU_ASSERT_PTR_NULL(dlopen("librte_nobody.so", RTLD_LAZY));
	wh_test_eal_stop();
}

/* In this order. */
CU_TestInfo wh_tests[] = {
	{"paths", test_paths},
	{"ports", test_ports},
	{"named drivers", test_named_drivers},
	{"the rate of the TSC", test_rate},
	{"the library is as before", test_library},
	CU_TEST_INFO_NULL,
};
