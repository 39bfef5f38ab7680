/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Functions whose results must be the same on every machine, so that a run can be replayed. They
 * use sums, products and quotients alone, which IEEE 754 rounds the same everywhere. libm chooses
 * its functions by CPU features, and their last digits differ. Accurate to a few units in the last
 * place.
 */

#include <stdint.h>

double wh_exp(double x);   /* e^x, where that is a normal number */
double wh_expm1(double x); /* e^x - 1 */
double wh_log(double x);   /* natural; x > 0 */
double wh_cbrt(double x);  /* x >= 0 */
double wh_power(double base, uint64_t exponent);

/* The probability that a standard normal variable exceeds x; to 12 digits. */
double wh_normal_tail(double x);
