/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "cli/exit.h"

#define ASKED_S 2 /* by whole seconds of the clock, so at least one */

/* Signal handlers have no argument, so they need static variables. */
static _Atomic uint32_t caught;
static _Atomic bool reload;

uint32_t wh_signals_count(void)
{
	return atomic_load_explicit(&caught, memory_order_relaxed);
}

/*
 * Whoever asks a third time need not wait for what does not look at the count, as while a NIC is
 * opened or a file system does not answer. It is as safe as kill -9. Asking takes time: timeout(1)
 * passes a Ctrl-C on twice, beside the terminal's own.
 */
static void on_signal(int number)
{
	static _Atomic time_t first_s;
	struct timespec now;
	uint32_t before = atomic_fetch_add(&caught, 1);

	(void)number;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (before == 0)
		atomic_store(&first_s, now.tv_sec);
	else if (before >= 2 && now.tv_sec - atomic_load(&first_s) >= ASKED_S)
		_exit(WH_EXIT_INTERRUPTED);
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

/*
 * A mapped page is lost. Acknowledged data is in databases' logs, which are not mapped; everything
 * else is restored at the next start.
 */
static void on_lost_page(int number)
{
	static const char said[] =
		"wavehaul: a memory page is no longer available (SIGBUS): a file in use was "
		"truncated, such as service.db-shm in --state, or no hugepage is left; recorded "
		"data is safe: restart wavehaul\n";

	(void)number;
	if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
		_exit(WH_EXIT_OTHER);
	_exit(WH_EXIT_OTHER);
}

void wh_signals_catch(void)
{
	struct sigaction lost_page = {.sa_handler = on_lost_page};
	struct sigaction stop = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGBUS, &lost_page, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGQUIT, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
}
