/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_COMPLETION_H
#define WH_APP_COMPLETION_H

/* A script for bash, on stdout, that completes what the table of settings has. */
void wh_completion_print(void);

#endif
