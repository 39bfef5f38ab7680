/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/service.h"

bool wh_service_allows(const struct wh_service *service, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < service->allows; i++)
		if (wh_subnet_has(&service->allow[i], peer))
			return true;
	return false;
}

uint32_t wh_service_places(const struct wh_service *service)
{
	return service->limits.places + service->limits.spare_places;
}
