/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/sink_internal.h"

static enum wh_waits taking_waits(const struct wh_sink *sink)
{
	const struct wh_intake *intake = &sink->intake;

	if (sink->closing_count == WH_SINK_CLOSING_MAX || !wh_stage_has_room(sink->stage))
		return WH_WAITS_DISK;
	if (sink->listing != NULL && sink->listing->basis->step < WH_BASIS_WAITS)
		return WH_WAITS_DISK;
	if (intake->file != NULL && wh_basis_is_busy(intake->file))
		return WH_WAITS_DISK;
	if (intake->chunk == NULL)
		return wh_sink_awaits_lanes(sink) ? WH_WAITS_SEGMENTS : WH_WAITS_ENTRIES;
	if (sink->config.is_pipe)
		return WH_WAITS_PIPE;
	if (intake->raw && sink->ring != NULL && sink->idle == 0)
		return WH_WAITS_DISK;
	return WH_WAITS_SESSION;
}

enum wh_waits wh_sink_waits(const struct wh_sink *sink)
{
	if (!wh_sink_is_running(sink))
		return WH_WAITS_NOTHING;
	switch (sink->step) {
	case WH_STEP_TAKING:
		return taking_waits(sink);
	case WH_STEP_EMPTYING:
		return wh_sink_awaits_lanes(sink) ? WH_WAITS_SEGMENTS : WH_WAITS_DISK;
	case WH_STEP_SYNCING:
	case WH_STEP_CLEARING:
		return WH_WAITS_DISK;
	case WH_STEP_WAITING:
		return WH_WAITS_LANES;
	case WH_STEP_TELLING:
	case WH_STEP_ENDING:
		return WH_WAITS_SESSION;
	default:
		return WH_WAITS_NOTHING;
	}
}
