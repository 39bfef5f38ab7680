/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/on_host.h"

#include "cli/complain.h"
#include "cli/exit.h"

int wh_on_host(const struct wh_on_host *wanted, int (*run)(void *context), void *context)
{
	struct wh_host_ctx_hooks hooks = wh_jobs_hooks;
	int status;

	hooks.owner = wanted->jobs;
	if (wanted->may_be_probed)
		hooks.may_probe = wh_jobs_may_probe;
	status = wh_host_start(
		wanted->host, wanted->runtime, wanted->settings, &hooks, wanted->places);
	if (status != WH_EXIT_OK)
		return status;
	if (wh_jobs_init(wanted->jobs, &wanted->host->ctx, wanted->service, wanted->repair) != 0) {
		wh_complain("no memory for the jobs");
		status = WH_EXIT_OTHER;
	} else {
		status = run(context);
	}
	wh_jobs_free(wanted->jobs);
	wh_host_close(wanted->host);
	wh_runtime_close(wanted->runtime);
	return status;
}
