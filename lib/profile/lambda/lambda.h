/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_H
#define WH_PROFILE_LAMBDA_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_lambda;

#endif
