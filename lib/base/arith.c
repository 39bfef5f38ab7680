/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/arith.h"

#include <math.h>

#include "base/assert.h"

/* Terms of each series, until a term is below half a unit in the last place of the sum. */
#define EXP_TERMS 16 /* of ln(2)^n / n! */
#define LOG_TERMS 10 /* of s^2n / (2n + 1), s below 3 - 2 sqrt(2) */

/*
 * The normal tail, to 12 digits: a series of TAIL_TERMS below TAIL_FRACTION, a continued fraction
 * of TAIL_FRACTIONS terms above. Beyond TAIL_END the density is not a normal floating-point number.
 */
#define TAIL_TERMS     60
#define TAIL_FRACTION  3.0
#define TAIL_FRACTIONS 60
#define TAIL_END       37.0

/* Newton's method starts from a cube root that lacks only the last digits. */
#define NEWTON_ROUNDS 2

/* e^x - 1, for x where it converges fast. */
static double exp_series(double x)
{
	double term = 1.0;
	double sum = 0.0;

	WH_ASSERT(fabs(x) < 0.7); /* ln 2, plus rounding */
	for (int n = 1; n <= EXP_TERMS; n++) {
		term *= x / n;
		sum += term;
	}
	return sum;
}

double wh_exp(double x)
{
	double twos = floor(x / M_LN2);

	return ldexp(1.0 + exp_series(x - twos * M_LN2), (int)twos);
}

double wh_expm1(double x)
{
	return fabs(x) < M_LN2 ? exp_series(x) : wh_exp(x) - 1.0;
}

/* ln((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + s^5 / 5 + ...), around the nearest power of two. */
double wh_log(double x)
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

	WH_ASSERT(fabs(s) < 0.172); /* 3 - 2 sqrt(2), plus rounding */
	for (int n = LOG_TERMS - 1; n > 0; n--)
		sum = (sum + 1.0 / (2 * n + 1)) * (s * s);
	return twos * M_LN2 + 2.0 * s * (1.0 + sum);
}

double wh_cbrt(double x)
{
	WH_ASSERT(x >= 0.0);
	if (x == 0.0)
		return 0.0;

	double root = wh_exp(wh_log(x) / 3.0);

	for (int n = 0; n < NEWTON_ROUNDS; n++)
		root = (2.0 * root + x / (root * root)) / 3.0;
	return root;
}

/* By squaring. */
double wh_power(double base, uint64_t exponent)
{
	double result = 1.0;

	for (; exponent > 0; exponent /= 2) {
		if (exponent % 2 != 0)
			result *= base;
		base *= base;
	}
	return result;
}

/*
 * Abramowitz and Stegun, Handbook of Mathematical Functions:
 *
 *   26.2.11  between 0 and x: density * (x + x^3 / 3 + x^5 / (3 * 5) + ...)
 *   26.2.14  above x: density * 1 / (x + 1 / (x + 2 / (x + 3 / (x + ...))))
 */
double wh_normal_tail(double x)
{
	if (x < 0.0)
		return 1.0 - wh_normal_tail(-x);
	if (x > TAIL_END)
		return 0.0;

	double density = wh_exp(-x * x / 2.0) / sqrt(2.0 * M_PI);

	if (x < TAIL_FRACTION) {
		double term = x;
		double sum = x;

		for (int n = 1; n < TAIL_TERMS; n++) {
			term *= x * x / (2 * n + 1);
			sum += term;
		}
		return 0.5 - density * sum;
	}

	double below = x;

	for (int n = TAIL_FRACTIONS; n > 0; n--)
		below = x + n / below;
	return density / below;
}
