/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/on_host.h"

#include "cli/complain.h"
#include "cli/exit.h"

int wh_on_host(struct wh_on_host *on, int (*run)(void *context), void *context)
{
	struct wh_host_ctx_hooks hooks = wh_jobs_hooks;
	int status;

	hooks.owner = &on->jobs;
	if (on->may_be_probed)
		hooks.may_probe = wh_jobs_may_probe;
	status = wh_host_start(&on->host, &on->runtime, &on->settings, &hooks, on->places);
	if (status != WH_EXIT_OK)
		return status;
	if (wh_jobs_init(&on->jobs, &on->host.ctx, on->service, on->repair) != 0) {
		wh_complain("no memory for the jobs");
		status = WH_EXIT_OTHER;
	} else {
		status = run(context);
	}
	wh_jobs_free(&on->jobs);
	wh_host_close(&on->host);
	wh_runtime_close(&on->runtime);
	return status;
}
