/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/service.h"

#include "seal/sa.h"
#include "trust/trust_store.h"

bool wh_service_may_come(const struct wh_service *service, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < service->allows; i++)
		if (wh_subnet_has(&service->allow[i], peer))
			return true;
	return false;
}

bool wh_service_may_be_at(
	const struct wh_service *service, const struct wh_address *peer, const struct wh_sa *sa)
{
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;

	return wh_service_may_come(service, peer) &&
	       (sa == NULL || service->store == NULL || sa->config.rights == 0 ||
		       !wh_store_rights(service->store, sa->config.rights, &rights, name) ||
		       wh_rights_reach(&rights, peer));
}
