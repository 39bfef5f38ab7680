/* SPDX-License-Identifier: BSD-3-Clause */
#include "book/csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "book/sums.h"
#include "book/tell.h"
#include "cli/moment/moment.h"
#include "cli/plain_text.h"

void wh_csv_text(FILE *to, const char *text)
{
	char plain[4 * sizeof(((struct wh_book_entry *)0)->path)];

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

void wh_entry_csv_head(FILE *to)
{
	fputs("ended,seconds,side,job,uid,verb,peer,name,fingerprint,identity,path,paths,files,"
	      "skipped,failed,"
	      "bytes,resumed_bytes,moved_bytes,bps,pkts,lost_pkts,again_pkts,repair_pkts,rtt_ms,"
	      "limited_by,profile,digest,exit_status,outcome,why\n",
		to);
}

void wh_entry_csv(const struct wh_book_entry *entry, FILE *to)
{
	char print[WH_FINGERPRINT_BYTES];
	const char *const names[] = {entry->verb, entry->peer, entry->name,
		wh_entry_fingerprint(entry, print), entry->identity, entry->path};
	const char *const ends[] = {entry->limit, entry->profile, entry->digest};
	const uint64_t counts[] = {entry->paths, entry->files, entry->skipped, entry->failed,
		entry->bytes, entry->resumed_bytes, entry->moved_bytes};
	char when[WH_WHEN_BYTES];

	fprintf(to, "%s,%.6f,%s,%" PRIu64 ",%" PRId64, wh_when_text(entry->ended_us, when),
		wh_entry_seconds(entry), wh_entry_side_name(entry->side), entry->order, entry->uid);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		putc(',', to);
		wh_csv_text(to, names[i]);
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		fprintf(to, ",%" PRIu64, counts[i]);
	fprintf(to, ",%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f",
		wh_entry_bps(entry), entry->pkts, entry->lost_pkts, entry->again_pkts,
		entry->repair_pkts, (double)entry->rtt_ns / 1e6);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		putc(',', to);
		wh_csv_text(to, ends[i]);
	}
	fprintf(to, ",%d,", entry->status);
	wh_csv_text(to, entry->outcome);
	putc(',', to);
	wh_csv_text(to, entry->why);
	fputs("\n", to);
}

void wh_entry_print_head(FILE *to)
{
	fprintf(to, "%-19s %-20s %-5s %10s %9s %12s %8s %-7s  %s\n", "ended", "peer", "verb",
		"size", "seconds", "rate", "lost", "limit", "outcome, and what");
}

void wh_entry_print(const struct wh_book_entry *entry, FILE *to)
{
	char when[WH_MOMENT_BYTES], size[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	char who[WH_ENTRY_NAME_BYTES], why[WH_ENTRY_WHY_BYTES], path[WH_ENTRY_NAME_BYTES];
	char verb[WH_ENTRY_WORD_BYTES], outcome[WH_ENTRY_WORD_BYTES];
	char limit[WH_ENTRY_WORD_BYTES], digest[WH_ENTRY_DIGEST_BYTES];
	char print[WH_FINGERPRINT_BYTES];

	fprintf(to, "%-19s %-20.20s %-5s %10s %9.2f %12s %7.3g%% %-7s  %s %s%s%s%s%s\n",
		wh_moment_text(entry->ended_us / 1000000, when),
		wh_plain_text(wh_entry_who(entry, print), true, who, sizeof(who)),
		wh_plain_text(entry->verb, false, verb, sizeof(verb)),
		wh_format_size(size, sizeof(size), entry->bytes), wh_entry_seconds(entry),
		wh_format_rate(rate, sizeof(rate), wh_entry_bps(entry)), 100 * wh_entry_loss(entry),
		wh_plain_text(
			entry->limit[0] != '\0' ? entry->limit : "-", false, limit, sizeof(limit)),
		wh_plain_text(entry->outcome, false, outcome, sizeof(outcome)),
		wh_plain_text(entry->path, true, path, sizeof(path)),
		entry->digest[0] != '\0' ? ", xxh3-128 " : "",
		wh_plain_text(entry->digest, false, digest, sizeof(digest)),
		entry->why[0] != '\0' ? ": " : "",
		wh_plain_text(entry->why, false, why, sizeof(why)));
}
