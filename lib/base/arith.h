/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BASE_ARITH_H
#define WH_BASE_ARITH_H

/*
 * Functions whose results decide on events: from sums, products and quotients alone, which IEEE 754
 * rounds alike everywhere. Those of libm are chosen by what the CPU can do, and differ in the last
 * digit. Good to a few units of it.
 */

#include <stdint.h>

double wh_exp(double x);   /* e^x, as long as that is a normal number */
double wh_expm1(double x); /* e^x - 1 */
double wh_log(double x);   /* natural; x > 0 */
double wh_cbrt(double x);  /* x >= 0 */
double wh_power(double base, uint64_t exponent);

/* The chance that a value of the standard normal distribution is above x; to 12 digits. */
double wh_normal_tail(double x);

#endif
