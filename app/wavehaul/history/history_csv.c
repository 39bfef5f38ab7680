/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/history_csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "cli/moment/moment.h"
#include "cli/plain_text.h"
#include "history/history_tell.h"
#include "history/sums.h"

void wh_csv_text(FILE *to, const char *text)
{
	char plain[4 * sizeof(((struct wh_history_record *)0)->path)];

	wh_plain_text(text, false, plain, sizeof(plain));
	putc('"', to);
	if (plain[0] != '\0' && strchr("=+-@", plain[0]) != NULL)
		putc('\'', to);
	for (const char *c = plain; *c != '\0'; c++) {
		if (*c == '"')
			putc('"', to);
		putc(*c, to);
	}
	putc('"', to);
}

void wh_history_csv_head(FILE *to)
{
	fputs("ended,seconds,side,job,uid,verb,peer,name,fingerprint,identity,path,paths,files,"
	      "skipped,failed,"
	      "bytes,resumed_bytes,moved_bytes,bps,pkts,lost_pkts,retransmitted_pkts,repair_pkts,"
	      "rtt_ms,"
	      "limited_by,profile,digest,exit_status,outcome,why\n",
		to);
}

void wh_history_csv(const struct wh_history_record *record, FILE *to)
{
	char print[WH_FINGERPRINT_BYTES];
	const char *const names[] = {record->verb, record->peer, record->name,
		wh_history_fingerprint(record, print), record->identity, record->path};
	const char *const ends[] = {record->limit, record->profile, record->digest};
	const uint64_t counts[] = {record->paths, record->files, record->skipped, record->failed,
		record->bytes, record->resumed_bytes, record->moved_bytes};
	char when[WH_WHEN_BYTES];

	fprintf(to, "%s,%.6f,%s,%" PRIu64 ",%" PRId64, wh_when_text(record->ended_us, when),
		wh_history_seconds(record), wh_history_side_name(record->side), record->order,
		record->uid);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		putc(',', to);
		wh_csv_text(to, names[i]);
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		fprintf(to, ",%" PRIu64, counts[i]);
	fprintf(to, ",%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f",
		wh_history_record_bps(record), record->pkts, record->lost_pkts,
		record->retransmitted_pkts, record->repair_pkts, (double)record->rtt_ns / 1e6);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		putc(',', to);
		wh_csv_text(to, ends[i]);
	}
	fprintf(to, ",%d,", record->status);
	wh_csv_text(to, record->outcome);
	putc(',', to);
	wh_csv_text(to, record->why);
	fputs("\n", to);
}

void wh_history_print_head(FILE *to)
{
	fprintf(to, "%-19s %-20s %-5s %10s %9s %12s %8s %-7s  %s\n", "ended", "peer", "verb",
		"size", "seconds", "rate", "lost", "limit", "outcome, and what");
}

void wh_history_print(const struct wh_history_record *record, FILE *to)
{
	char when[WH_MOMENT_BYTES], size[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	char who[WH_HISTORY_NAME_BYTES], why[WH_HISTORY_WHY_BYTES], path[WH_HISTORY_NAME_BYTES];
	char verb[WH_HISTORY_WORD_BYTES], outcome[WH_HISTORY_WORD_BYTES];
	char limit[WH_HISTORY_WORD_BYTES], digest[WH_HISTORY_DIGEST_BYTES];
	char print[WH_FINGERPRINT_BYTES];

	fprintf(to, "%-19s %-20.20s %-5s %10s %9.2f %12s %7.3g%% %-7s  %s %s%s%s%s%s\n",
		wh_moment_text(record->ended_us / 1000000, when),
		wh_plain_text(wh_history_who(record, print), true, who, sizeof(who)),
		wh_plain_text(record->verb, false, verb, sizeof(verb)),
		wh_format_size(size, sizeof(size), record->bytes), wh_history_seconds(record),
		wh_format_rate(rate, sizeof(rate), wh_history_record_bps(record)),
		100 * wh_history_loss(record),
		wh_plain_text(record->limit[0] != '\0' ? record->limit : "-", false, limit,
			sizeof(limit)),
		wh_plain_text(record->outcome, false, outcome, sizeof(outcome)),
		wh_plain_text(record->path, true, path, sizeof(path)),
		record->digest[0] != '\0' ? ", xxh3-128 " : "",
		wh_plain_text(record->digest, false, digest, sizeof(digest)),
		record->why[0] != '\0' ? ": " : "",
		wh_plain_text(record->why, false, why, sizeof(why)));
}
