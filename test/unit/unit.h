/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One program per lib source file: the file of that name in test/unit defines these two, and
 * test/unit/main.c runs them. Nearly every test needs the headers below.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>

extern const char wh_suite_name[];
extern CU_TestInfo wh_tests[]; /* closed by CU_TEST_INFO_NULL */

/* Where that file defines them: before and after each test, even one that ends early. */
void wh_set_up(void) __attribute__((weak));
void wh_take_down(void) __attribute__((weak));

/* |actual - expected| <= share * |expected|, share < 1; prints both when it fails. */
void wh_assert_near(double actual, double expected, double share, const char *file, int line);

#define WH_ASSERT_NEAR(actual, expected, share)                                                    \
	wh_assert_near((double)(actual), (double)(expected), (share), __FILE__, __LINE__)
