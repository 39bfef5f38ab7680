/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/moment/system_clock.h"
#include "metrics/exposition.h"
#include "metrics/metrics_listen.h"
#include "metrics/page.h"

/*
 * An answer is cached for this many times as long as it took to make: so queries take at most 1/20
 * of the thread.
 */
#define HOLDS 20

static json_t *ask(void *context, const char *request)
{
	const struct wh_metrics *metrics = context;
	struct wh_control_call call = {.administers = false};

	return wh_control_answer(metrics->tables, request, strlen(request), &call);
}

/* A new reference, or NULL. */
static json_t *ask_source(struct wh_metrics *metrics, const struct wh_family_source *source)
{
	json_t *answer = ask(metrics, source->request);
	json_t *member = answer;

	if (source->member[0] != '\0')
		member = json_object_get(answer, source->member);
	else if (!json_is_true(json_object_get(answer, "ok")))
		member = NULL;
	json_incref(member);
	json_decref(answer);
	return member;
}

static const json_t *figures_of(void *context, uint32_t source)
{
	struct wh_metrics *metrics = context;
	struct wh_metrics_answer *kept = &metrics->answer[source];
	uint64_t began_ns = wh_steady_ns();

	WH_ASSERT(source < WH_METRICS_SOURCES_MAX);
	if (began_ns < kept->until_ns)
		return kept->answer;
	json_decref(kept->answer);
	kept->answer = ask_source(metrics, &wh_family_sources[source]);

	uint64_t ended_ns = wh_steady_ns();

	kept->until_ns = ended_ns + HOLDS * (ended_ns - began_ns);
	return kept->answer;
}

/* Writes the page for people, a few times a second at most, however many clients there are. */
static void write_page(struct wh_metrics *metrics, FILE *to)
{
	const struct wh_page_asker asker = {ask, metrics};
	uint64_t began_ns = wh_steady_ns();

	if (metrics->page == NULL || began_ns >= metrics->page_until_ns) {
		size_t bytes;
		FILE *page;

		free(metrics->page);
		metrics->page = NULL;
		page = open_memstream(&metrics->page, &bytes);
		if (page == NULL)
			return;
		wh_page_write(page, &asker);
		if (fclose(page) != 0)
			return;
		metrics->page_until_ns = wh_steady_ns() + HOLDS * (wh_steady_ns() - began_ns);
	}
	fputs(metrics->page, to);
}

static bool page_of(void *context, const char *path, const char *accept, struct wh_http_page *page)
{
	const struct wh_figures figures = {figures_of, context};
	bool open_metrics = strstr(accept, "application/openmetrics-text") != NULL;
	bool for_people = strcmp(path, "/") == 0;
	FILE *to;

	if (!for_people && strcmp(path, "/metrics") != 0)
		return false;
	to = open_memstream(&page->text, &page->bytes);
	if (to == NULL)
		return false;
	if (for_people)
		write_page(context, to);
	else
		wh_exposition_write(to, open_metrics, &figures);
	snprintf(page->type, sizeof(page->type), "%s",
		for_people     ? WH_PAGE_TYPE
		: open_metrics ? WH_OPEN_METRICS_TYPE
			       : WH_EXPOSITION_TYPE);
	return fclose(to) == 0;
}

static uint32_t take_turn(void *context)
{
	struct wh_metrics *metrics = context;

	return wh_http_serve(&metrics->http);
}

int wh_metrics_open(
	struct wh_metrics *metrics, const char *where, struct wh_control_socket *control)
{
	char told[WH_LISTEN_TEXT_BYTES];
	int rc;

	*metrics = (struct wh_metrics){
		.http = {.fd = -1, .page_of = page_of, .context = metrics},
		.tables = &control->tables,
	};
	WH_ASSERT(wh_family_sources_count <= WH_METRICS_SOURCES_MAX);
	if (where[0] == '\0')
		return WH_EXIT_OK;
	rc = wh_listen_open(where, told);
	if (rc >= 0)
		rc = wh_http_open(&metrics->http, rc);
	if (rc == -EINVAL)
		return wh_fail(WH_EXIT_USAGE,
			"--metrics is a port, or an address and a port as 192.0.2.1:9480 or "
			"[2001:db8::1]:9480, and not '%s'",
			where);
	if (rc < 0)
		return wh_fail(WH_EXIT_OTHER, "--metrics %s: %s", where, strerror(-rc));
	metrics->http.of_this_host =
		strncmp(told, "127.", 4) == 0 || strncmp(told, "[::1]", 5) == 0;
	wh_control_add_turn(control, take_turn, metrics, metrics->http.fd);
	wh_say("metrics at http://%s/metrics", told);
	return WH_EXIT_OK;
}

void wh_metrics_close(struct wh_metrics *metrics)
{
	wh_http_close(&metrics->http);
	for (uint32_t i = 0; i < WH_METRICS_SOURCES_MAX; i++)
		json_decref(metrics->answer[i].answer);
	free(metrics->page);
	*metrics = (struct wh_metrics){.http = {.fd = -1}};
}
