/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* Handlers have no argument: the one place in the program that is not reached by one. */
static _Atomic uint32_t caught;
static _Atomic bool reload;

uint32_t wh_signals_count(void)
{
	return atomic_load_explicit(&caught, memory_order_relaxed);
}

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&caught, 1);
}

static void on_reload(int number)
{
	(void)number;
	atomic_store(&reload, true);
}

void wh_signals_catch_reload(void)
{
	struct sigaction again = {.sa_handler = on_reload};

	sigaction(SIGHUP, &again, NULL);
}

bool wh_signals_reload(void)
{
	return atomic_load_explicit(&reload, memory_order_relaxed) &&
	       atomic_exchange(&reload, false);
}

void wh_signals_catch(void)
{
	struct sigaction stop = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGQUIT, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
}
