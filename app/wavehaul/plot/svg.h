/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * An SVG file that appears under its name only when it is complete; until then a previous file
 * stays.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/whole_file.h"

/* Those of tools/figureslib/colours.py: distinguishable by colour-blind people, on white. */
#define WH_SVG_COLOURS 10
extern const char *const wh_svg_colour[WH_SVG_COLOURS];

#define WH_SVG_INK   "#1b2733"
#define WH_SVG_FAINT "#5b6b7b"
#define WH_SVG_GRID  "#d5dce3"

struct wh_svg {
	FILE *file; /* the drawing is written to it */
	struct wh_whole_file whole;
};

/* Check before any other work: false after a sentence why no picture can be written there. */
bool wh_svg_may_write(const char *path);

/* A drawing in a file of the caller's, which he closes after the end. */
void wh_svg_begin(struct wh_svg *svg, FILE *file, uint32_t width, uint32_t height);
void wh_svg_end(struct wh_svg *svg);

/* 0 or a negative errno. */
int wh_svg_open(struct wh_svg *svg, const char *path, uint32_t width, uint32_t height);

/* A text that was drawn elsewhere. 0 or a negative errno; then nothing is left of it. */
int wh_svg_keep(const char *path, const char *text);

enum wh_svg_anchor {
	WH_SVG_START,
	WH_SVG_MIDDLE,
	WH_SVG_END,
};

/* Any text: characters with a meaning in SVG are escaped. */
void wh_svg_text(struct wh_svg *svg, double x, double y, enum wh_svg_anchor anchor,
	const char *attributes, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Text for an attribute between double quotes. */
void wh_svg_escaped(struct wh_svg *svg, const char *text);

/* 0 or a negative errno; then nothing is left of it. */
int wh_svg_close(struct wh_svg *svg);
