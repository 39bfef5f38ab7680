/* SPDX-License-Identifier: BSD-3-Clause */

/* What all paths of a job have counted: those in use, and those that were left. */

#include "job/paths/paths.h"

static void add_session(struct wh_path_sum *sum, const struct wh_session *session)
{
	const struct wh_session_stats stats = wh_session_stats(session);

	wh_session_stats_add(&sum->stats, &stats);
	sum->moved_bytes += wh_session_moved_bytes(session);
	sum->lost_pkts += wh_session_lost_pkts(session);
}

void wh_path_note(struct wh_job *job, struct wh_job_path *path, bool ours)
{
	const struct wh_session *session = ours ? path->out : wh_path_in(path);

	if (job->streams.stripe == NULL || session == NULL || path->summed[ours])
		return;
	add_session(&job->streams.stripe->left[ours], session);
	path->summed[ours] = true;
}

void wh_paths_sum(const struct wh_job *job, bool ours, struct wh_path_sum *sum)
{
	const struct wh_job_stripe *stripe = job->streams.stripe;
	const struct wh_job_path *main = wh_job_main(job);

	*sum = stripe != NULL ? stripe->left[ours] : (struct wh_path_sum){0};
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		const struct wh_job_path *path = &job->streams.path[i];
		const struct wh_session *session = ours ? path->out : wh_path_in(path);

		if (session == NULL || path->summed[ours])
			continue;
		add_session(sum, session);
		if (ours && (path == main || path->out_joined))
			sum->rate_bps += wh_session_pace(session).rate_bps;
		if (path == main) {
			const struct wh_session_stats stats = wh_session_stats(session);

			sum->stats.first_sent_tsc = stats.first_sent_tsc;
			sum->stats.outcome_tsc = stats.outcome_tsc;
		}
	}
}
