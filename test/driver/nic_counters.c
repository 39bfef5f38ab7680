/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/nic_counters.h"

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "unit.h"

const char wh_suite_name[] = "drivers/port/nic_counters";

/* A device with these counters, number i of them with the id 100 + i. */
static struct {
	const char *name[8];
	uint64_t value[8];
	int reads;
	bool fails;
} nic;

int rte_eth_xstats_get_id_by_name(uint16_t port_id, const char *name, uint64_t *id)
{
	(void)port_id;
	for (uint64_t i = 0; nic.name[i] != NULL; i++)
		if (strcmp(nic.name[i], name) == 0) {
			*id = 100 + i;
			return 0;
		}
	return -EINVAL;
}

int rte_eth_xstats_get_by_id(
	uint16_t port_id, const uint64_t *ids, uint64_t *values, unsigned int size)
{
	(void)port_id;
	nic.reads++;
	for (unsigned int i = 0; i < size; i++)
		values[i] = nic.value[ids[i] - 100];
	return nic.fails ? -EIO : (int)size;
}

static void expect(
	const struct wh_nic_counters *counters, uint32_t number, const char *name, uint64_t value)
{
	uint64_t told;

	CU_ASSERT_STRING_EQUAL(wh_nic_counter(counters, number, &told), name);
	CU_ASSERT_EQUAL(told, value);
}

static void test_ena(void)
{
	struct wh_nic_counters counters;

	memset(&nic, 0, sizeof(nic));
	nic.name[0] = "rx_good_packets";
	nic.name[1] = "pps_allowance_exceeded";
	nic.name[2] = "wd_expired";
	nic.name[3] = "bw_in_allowance_exceeded";
	nic.value[1] = 7;
	nic.value[3] = 40;
	wh_nic_counters_find(&counters, 0, "net_ena");
	CU_ASSERT_EQUAL_FATAL(counters.count, 2);
	expect(&counters, 0, "bw_in_allowance_exceeded", 0);

	wh_nic_counters_read(&counters, 0, 1000, 500);
	expect(&counters, 0, "bw_in_allowance_exceeded", 40);
	expect(&counters, 1, "pps_allowance_exceeded", 7);
	CU_ASSERT_EQUAL(wh_nic_counters_held(&counters), 7);

	/* Not so soon; and a failure changes nothing. */
	nic.value[1] = 8;
	wh_nic_counters_read(&counters, 0, 1499, 500);
	CU_ASSERT_EQUAL(nic.reads, 1);
	nic.fails = true;
	wh_nic_counters_read(&counters, 0, 1500, 500);
	CU_ASSERT_EQUAL(nic.reads, 2);
	CU_ASSERT_EQUAL(wh_nic_counters_held(&counters), 7);
	nic.fails = false;
	wh_nic_counters_read(&counters, 0, 2000, 500);
	CU_ASSERT_EQUAL(wh_nic_counters_held(&counters), 8);
}

static void test_none(void)
{
	struct wh_nic_counters counters;

	memset(&nic, 0, sizeof(nic));
	nic.name[0] = "rx_good_packets";
	wh_nic_counters_find(&counters, 0, "net_ena");
	CU_ASSERT_EQUAL(counters.count, 0);
	wh_nic_counters_read(&counters, 0, 1000, 500);
	CU_ASSERT_EQUAL(nic.reads, 0);

	nic.name[0] = "rx_crc_errors";
	wh_nic_counters_find(&counters, 0, "net_vhost");
	CU_ASSERT_EQUAL(counters.count, 0);
	CU_ASSERT_EQUAL(wh_nic_counters_held(&counters), 0);
}

CU_TestInfo wh_tests[] = {
	{"those that are known, once in a while", test_ena},
	{"a device without any", test_none},
	CU_TEST_INFO_NULL,
};
