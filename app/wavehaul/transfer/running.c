/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "bundle/beneath.h"
#include "cli/complain.h"
#include "source/given.h"
#include "transfer/transfer.h"
#include "transfer/wanted.h"

bool wh_transfer_choose(struct wh_transfer *transfer)
{
	struct wh_running *running = &transfer->running;

	if (!wh_wanted_choice(
		    &transfer->wanted.settings, &running->terms, &running->request.choice))
		return false;
	wh_request_see_contents(&running->request);
	return wh_request_fits(&running->request);
}

bool wh_transfer_make_lanes(struct wh_transfer *transfer)
{
	struct wh_running *running = &transfer->running;
	struct wh_lanes *lanes = &running->lanes;

	if (!wh_lanes_make(lanes, running->jobs, &transfer->wanted.peer, &running->request))
		return wh_fail(false, "out of memory for the jobs");
	for (uint32_t lane = 0; lane < lanes->count; lane++)
		lanes->job[lane]->listener = (struct wh_job_listener){
			.gate = lane == 0 && lanes->count > 1 ? &running->gate : NULL,
			.on_file = wh_transfer_on_file,
			.rpc = running->rpc,
			.context = transfer,
		};
	return true;
}

void wh_transfer_look(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_running *running = &transfer->running;
	struct wh_lanes *lanes = &running->lanes;

	wh_transfer_tell_progress(transfer, now_tsc);
	wh_flow_plot_look(&running->plot, lanes, now_tsc);
	if (wh_lanes_failed(lanes))
		wh_lanes_hurry(lanes, now_tsc);
	else if (lanes->give_up_tsc == 0)
		wh_lanes_start_others(lanes, now_tsc);
	if (wh_lanes_ended(lanes, 1))
		atomic_store(&running->gate, true);
}

/* If the target exists now, the previous try has created it: it is not a folder for the files. */
static void follow_ready(struct wh_request *request, bool as_name)
{
	if (request->verb == WH_JOB_SEND) {
		request->there.as_name |= as_name;
	} else if (request->here.by_match && as_name) {
		request->here.by_match = false;
		request->here.into_folder = false;
		request->here.as_name = true;
	}
}

bool wh_transfer_restart(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_running *running = &transfer->running;

	follow_ready(&running->request, running->lanes.job[0]->ready.as_name);
	running->request.asks_first |= wh_lanes_flowed(&running->lanes);
	wh_flow_plot_renew(&running->plot);
	wh_lanes_free(&running->lanes);
	running->lanes = (struct wh_lanes){0};
	wh_transfer_forget(transfer);
	wh_complaint_forget();
	atomic_store(&running->gate, false);
	if (!wh_transfer_make_lanes(transfer))
		return false;
	wh_lanes_start_first(&running->lanes, now_tsc);
	return true;
}

/* The local path of a file of the bundle, if it belongs to the i-th given path. */
static bool path_here(
	const struct wh_request *request, uint32_t i, const char *path, char *whole, size_t room)
{
	bool relative = wh_choice_has(&request->choice, WH_CHOICE_RELATIVE);
	size_t first_bytes = strcspn(path, "/");
	const char *given = request->here.path[i];
	char name[WH_PATH_BYTES_MAX + 1];
	size_t above_bytes;
	int bytes;

	if (request->verb == WH_JOB_GET && request->here.as_name)
		return snprintf(whole, room, "%s%s", given, path + first_bytes) < (int)room;
	if (request->verb == WH_JOB_GET)
		return snprintf(whole, room, "%s/%s", given, path) < (int)room;
	bytes = wh_path_in_bundle(given, relative, name, &above_bytes);
	if (bytes < 0 || (bytes > 0 && (strncmp(name, path, (size_t)bytes) != 0 ||
					       (path[bytes] != '/' && path[bytes] != '\0'))))
		return false;
	return snprintf(whole, room, "%.*s%s%s", (int)above_bytes, given, bytes > 0 ? "" : "/",
		       path) < (int)room;
}

int wh_transfer_open_file(void *context, const char *path)
{
	const struct wh_transfer *transfer = context;
	const struct wh_request *request = &transfer->running.lanes.job[0]->request;
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char whole[2 * WH_PATH_BYTES_MAX + 2];
	int fd = -ENOENT;

	/*
	 * Links given by the operator are followed; a file that arrived was created here, and is no
	 * link.
	 */
	if (request->verb == WH_JOB_GET)
		flags |= O_NOFOLLOW;
	for (uint32_t i = 0; fd < 0 && i < request->here.count; i++) {
		if (!path_here(request, i, path, whole, sizeof(whole)))
			continue;
		if (request->here.root_fd >= 0) {
			fd = wh_beneath_resolve(request->here.root_fd, whole, flags);
		} else {
			fd = open(whole, flags);
			fd = fd < 0 ? -errno : fd;
		}
	}
	return fd;
}
