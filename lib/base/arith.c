/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/arith.h"

#include <math.h>

#include "base/assert.h"

/* Terms of a series until the next one is below half a unit in the last place of the sum. */
#define EXP_TERMS 16 /* of ln(2)^n / n! */
#define LOG_TERMS 10 /* of s^2n / (2n + 1), s below 3 - 2 sqrt(2) */

#define NEWTON_ROUNDS 2 /* from a cube root that is right but for the last digits */

/* e^x - 1, where that converges fast. */
static double exp_series(double x)
{
	double term = 1.0;
	double sum = 0.0;

	for (int n = 1; n <= EXP_TERMS; n++) {
		term *= x / n;
		sum += term;
	}
	return sum;
}

double wh_sim_exp(double x)
{
	double twos = floor(x / M_LN2);

	return ldexp(1.0 + exp_series(x - twos * M_LN2), (int)twos);
}

double wh_sim_expm1(double x)
{
	return fabs(x) < M_LN2 ? exp_series(x) : wh_sim_exp(x) - 1.0;
}

/* ln((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + s^5 / 5 + ...), around the nearest power of two. */
double wh_sim_log(double x)
{
	WH_ASSERT(x > 0.0);

	int twos;
	double part = frexp(x, &twos);

	if (part < M_SQRT1_2) {
		part *= 2.0;
		twos--;
	}

	double s = (part - 1.0) / (part + 1.0);
	double sum = 0.0;

	for (int n = LOG_TERMS - 1; n > 0; n--)
		sum = (sum + 1.0 / (2 * n + 1)) * (s * s);
	return twos * M_LN2 + 2.0 * s * (1.0 + sum);
}

double wh_sim_cbrt(double x)
{
	WH_ASSERT(x >= 0.0);
	if (x == 0.0)
		return 0.0;

	double root = wh_sim_exp(wh_sim_log(x) / 3.0);

	for (int n = 0; n < NEWTON_ROUNDS; n++)
		root = (2.0 * root + x / (root * root)) / 3.0;
	return root;
}

/* By squaring. */
double wh_sim_power(double base, uint64_t exponent)
{
	double result = 1.0;

	for (; exponent > 0; exponent /= 2) {
		if (exponent % 2 != 0)
			result *= base;
		base *= base;
	}
	return result;
}
