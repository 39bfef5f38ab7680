/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When this machine takes the CPU from a loop that polls: the data of `sender_noise` in a scenario.
 *
 *   perf_host_noise [SECONDS [BUSY]]
 *
 * One loop a CPU does nothing but read the clock, beside BUSY other processes that compute. What is
 * longer than 20 us between two readings of the first is a pause. It prints pairs, in microseconds:
 * how long the loop ran, and how long the pause after that was; of many pauses 256, spread over all
 * lengths, of which the longest is one.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "now.h"

#define PAUSE_NS   20000
#define PAUSES_MAX 1000000
#define PAIRS      256
#define CPUS_MAX   256
#define BUSY_MAX   256
#define SECONDS    30
#define US_NS      1000.0

static struct pause {
	uint64_t here_ns;
	uint64_t away_ns;
} pauses[PAUSES_MAX];

static uint32_t n_pauses;
static uint64_t end_ns;

static void *poll_clock(void *first)
{
	uint64_t back_ns = now_ns();
	uint64_t last_ns = back_ns;

	while (last_ns < end_ns) {
		uint64_t ns = now_ns();

		if (ns - last_ns > PAUSE_NS && first != NULL && n_pauses < PAUSES_MAX) {
			pauses[n_pauses++] = (struct pause){last_ns - back_ns, ns - last_ns};
			back_ns = ns;
		}
		last_ns = ns;
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct pause *x = a;
	const struct pause *y = b;

	return (x->away_ns > y->away_ns) - (x->away_ns < y->away_ns);
}

static void print_pairs(long seconds, long busy)
{
	uint32_t count = n_pauses < PAIRS ? n_pauses : PAIRS;
	uint64_t away_ns = 0;

	qsort(pauses, n_pauses, sizeof(pauses[0]), compare);
	for (uint32_t i = 0; i < n_pauses; i++)
		away_ns += pauses[i].away_ns;
	printf("# perf_host_noise %ld %ld: %u pauses, %.1f %% of the time\n# HERE AWAY, us\n",
		seconds, busy, n_pauses, (double)away_ns / (double)seconds / 1e7);
	for (uint64_t i = 1; i <= count; i++) {
		const struct pause *one = &pauses[i * n_pauses / count - 1];

		printf("%.0f %.0f\n", (double)one->here_ns / US_NS, (double)one->away_ns / US_NS);
	}
}

static pid_t compute(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)now_ns();
	}
	return pid;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS;
	long busy = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[CPUS_MAX];
	pid_t pid[BUSY_MAX];

	if (seconds <= 0 || busy < 0 || busy > BUSY_MAX || cpus > CPUS_MAX) {
		fprintf(stderr, "usage: perf_host_noise [SECONDS [BUSY]]\n");
		return EXIT_FAILURE;
	}
	for (long i = 0; i < busy; i++)
		pid[i] = compute();
	end_ns = now_ns() + (uint64_t)seconds * WH_NS_PER_S;
	for (long i = 0; i < cpus; i++)
		pthread_create(&thread[i], NULL, poll_clock, i == 0 ? pauses : NULL);
	for (long i = 0; i < cpus; i++)
		pthread_join(thread[i], NULL);
	for (long i = 0; i < busy; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	print_pairs(seconds, busy);
	return EXIT_SUCCESS;
}
