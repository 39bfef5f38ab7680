/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/assert.h"
#include "sink/sink_internal.h"

void wh_sink_end_segments(struct wh_sink *sink)
{
	if (sink->config.assemblies != NULL)
		wh_assemblies_gone(sink->config.assemblies, sink->config.lane);
}

void wh_sink_break(struct wh_sink *sink, int error, enum wh_doing doing)
{
	WH_ASSERT(error < 0);
	if (!wh_sink_is_running(sink))
		return;
	sink->progress.state = WH_SINK_BROKEN;
	sink->progress.error = error;
	sink->progress.doing = doing;
	wh_sink_end_segments(sink);
	wh_stage_abandon(sink->stage);
	sink->step = WH_STEP_TELLING;
}

bool wh_sink_stage_failed(struct wh_sink *sink, int error)
{
	bool of_one_file = error == -ENOSPC || error == -EDQUOT || error == -EMFILE ||
			   error == -ENFILE || error == -ENOMEM || error == -EIO ||
			   error == -ENAMETOOLONG || error == -EINVAL || error == -EPERM ||
			   error == -EOPNOTSUPP; /* no links on that file system */

	if (!of_one_file)
		wh_sink_break(sink, error, WH_DOING_CREATING);
	return !of_one_file;
}

bool wh_sink_prepare(struct wh_sink *sink)
{
	int rc = wh_stage_prepare(sink->stage);

	if (rc < 0)
		wh_sink_break(sink, rc, WH_DOING_CREATING);
	return rc == 0;
}
