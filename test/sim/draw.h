/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "world.h"

/* A random world for a seed: link, profile, buffers, object, and what happens to it. */
void wh_draw_world(uint64_t seed, struct wh_world_config *config);

/* One line that tells a reader what kind of world it is. */
void wh_draw_describe(const struct wh_world_config *config, char *text, size_t room);
