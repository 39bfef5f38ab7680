/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/repair_json.h"

#include "cli/repair.h"

json_t *wh_repair_json(const struct wh_session_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:f}", "sent", (json_int_t)stats->repair_pkts, "used",
		(json_int_t)stats->repaired_pkts, "undecodable_blocks",
		(json_int_t)stats->undecodable_blocks, "overhead", wh_repair_overhead(stats));
}
