/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Inside the endpoint: sessions whose bookkeeping runs on another core, with a half of its own.
 *
 * Receivers, as in session/apart/landing.h. The receive half keeps their places, and kicks the half
 * of the bookkeeping once for all packets of a turn. That half polls them. When one of them may
 * leave, its core marks it and uses it no more; the receive half then takes it out of the table.
 *
 * Transmitters, as in session/apart/acks.h. The send half polls them. What arrives for them kicks
 * the half of the bookkeeping, and that one the send half.
 */

#include "endpoint/endpoint.h"

/* Whether the session's last packets were sent and its users have closed it. */
bool wh_endpoint_may_leave(const struct wh_session *session);

/* SAs of this process have changed since `seen`. _see: then activates all sessions of the half. */
bool wh_endpoint_has_news_of_sas(const struct wh_endpoint *endpoint, uint32_t seen);
void wh_endpoint_see_sas(struct wh_endpoint *endpoint, struct wh_half *half, uint32_t *seen);
