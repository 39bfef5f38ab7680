/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "profile/profile.h"

extern const struct wh_profile wh_profile_fixed;
