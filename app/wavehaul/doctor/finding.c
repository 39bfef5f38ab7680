/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor/finding.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/assert.h"
#include "cli/json.h"

static void make_printable(char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

struct wh_finding wh_finding(
	enum wh_doctor_verdict verdict, const char *repair, const char *format, ...)
{
	struct wh_finding result = {.verdict = verdict};
	int length = snprintf(result.repair, sizeof(result.repair), "%s", repair);
	va_list args;

	WH_ASSERT(verdict == WH_FIX || length == 0);
	/* A truncated command might be another one. */
	WH_ASSERT(length < (int)sizeof(result.repair));
	va_start(args, format);
	vsnprintf(result.text, sizeof(result.text), format, args);
	va_end(args);
	make_printable(result.text);
	make_printable(result.repair);
	return result;
}

void wh_findings_add(
	struct wh_doctor_findings *findings, struct wh_finding result, const char *format, ...)
{
	size_t bytes = (findings->count + 1) * sizeof(result);
	va_list args;

	va_start(args, format);

	int length = vsnprintf(result.name, sizeof(result.name), format, args);

	va_end(args);
	WH_ASSERT(length > 0 && length < (int)sizeof(result.name));
	findings->at = realloc(findings->at, bytes);
	WH_ASSERT(findings->at != NULL);
	findings->at[findings->count++] = result;
}

void wh_findings_free(struct wh_doctor_findings *findings)
{
	free(findings->at);
	*findings = (struct wh_doctor_findings){0};
}

uint32_t wh_findings_to_fix(const struct wh_doctor_findings *findings)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < findings->count; i++)
		if (findings->at[i].verdict == WH_FIX)
			count++;
	return count;
}

void wh_findings_print_text(const struct wh_doctor_findings *findings)
{
	static const char *const word[] = {"good", "info", "FIX"};

	static_assert(sizeof(word) / sizeof(word[0]) == WH_FIX + 1, "a word for each");
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct wh_finding *one = &findings->at[i];

		printf("%-5s %-17s %s\n", word[one->verdict], one->name, one->text);
		if (one->repair[0] != '\0')
			printf("%-23s %s\n", "", one->repair);
	}
}

void wh_findings_print_json(const struct wh_doctor_findings *findings)
{
	static const char *const word[] = {"good", "info", "bad"};
	json_t *checks = json_array();

	static_assert(sizeof(word) / sizeof(word[0]) == WH_FIX + 1, "a word for each");
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct wh_finding *one = &findings->at[i];
		json_t *repair = one->repair[0] == '\0' ? json_null() : json_string(one->repair);

		json_array_append_new(
			checks, json_pack("{s:s, s:s, s:s, s:o}", "name", one->name, "verdict",
					word[one->verdict], "text", one->text, "repair", repair));
	}

	wh_json_print(json_pack("{s:s, s:b, s:o}", "verb", "doctor", "ok",
			      wh_findings_to_fix(findings) == 0, "checks", checks),
		JSON_COMPACT);
}
