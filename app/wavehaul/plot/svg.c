/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/svg.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/complain.h"
#include "cli/plain_text.h"

#define TEXT_BYTES 1024

const char *const wh_svg_colour[WH_SVG_COLOURS] = {"#2892ff", "#920b9f", "#fe6f6e", "#585205",
	"#06555a", "#d292c7", "#93b300", "#020043", "#640cfe", "#380001"};

/* A device or a pipe would be replaced by a file. */
static const char *obstacle(const char *path)
{
	struct stat status;

	if (path[0] == '\0' || path[strlen(path) - 1] == '/')
		return "it is a folder; name a file in it";
	if (stat(path, &status) != 0)
		return NULL;
	if (S_ISDIR(status.st_mode))
		return "it is a folder; name a file in it";
	return S_ISREG(status.st_mode) ? NULL : "it is no regular file";
}

bool wh_svg_may_write(const char *path)
{
	const char *why = obstacle(path);
	struct wh_whole_file trial;

	if (why == NULL) {
		int rc = wh_whole_file_open(&trial, path);

		if (rc == 0) {
			wh_whole_file_drop(&trial);
			return true;
		}
		why = strerror(-rc);
	}
	return wh_fail(false, "no picture can be written to %s: %s", path, why);
}

void wh_svg_begin(struct wh_svg *svg, FILE *file, uint32_t width, uint32_t height)
{
	svg->file = file;
	fprintf(svg->file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"12\" fill=\"%s\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		width, height, width, height, WH_SVG_INK);
}

void wh_svg_end(struct wh_svg *svg)
{
	fputs("</svg>\n", svg->file);
}

int wh_svg_open(struct wh_svg *svg, const char *path, uint32_t width, uint32_t height)
{
	int rc = wh_whole_file_open(&svg->whole, path);

	if (rc == 0)
		wh_svg_begin(svg, svg->whole.file, width, height);
	return rc;
}

void wh_svg_escaped(struct wh_svg *svg, const char *text)
{
	char plain[TEXT_BYTES * 2];

	wh_plain_text(text, false, plain, sizeof(plain));
	for (const char *c = plain; *c != '\0'; c++) {
		if (*c == '<')
			fputs("&lt;", svg->file);
		else if (*c == '>')
			fputs("&gt;", svg->file);
		else if (*c == '&')
			fputs("&amp;", svg->file);
		else if (*c == '"')
			fputs("&quot;", svg->file);
		else
			fputc(*c, svg->file);
	}
}

void wh_svg_text(struct wh_svg *svg, double x, double y, enum wh_svg_anchor anchor,
	const char *attributes, const char *format, ...)
{
	static const char *const anchors[] = {
		[WH_SVG_START] = "start",
		[WH_SVG_MIDDLE] = "middle",
		[WH_SVG_END] = "end",
	};
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(svg->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s>", x, y,
		anchors[anchor], attributes[0] != '\0' ? " " : "", attributes);
	wh_svg_escaped(svg, text);
	fputs("</text>\n", svg->file);
}

int wh_svg_close(struct wh_svg *svg)
{
	wh_svg_end(svg);
	return wh_whole_file_close(&svg->whole, false);
}

int wh_svg_keep(const char *path, const char *text)
{
	struct wh_whole_file whole;
	int rc = wh_whole_file_open(&whole, path);

	if (rc != 0)
		return rc;
	fputs(text, whole.file);
	return wh_whole_file_close(&whole, false);
}
