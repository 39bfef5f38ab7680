/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <string.h>

#include "base/assert.h"

#define SAS 64

void wh_rig_host_make(struct wh_rig_host *host)
{
	int rc = wh_identity_make(&host->identity);

	WH_ASSERT(rc == 0);
}

void wh_rig_host_free(struct wh_rig_host *host)
{
	if (host->up)
		wh_rig_host_stop(host);
	wh_identity_free(&host->identity);
}

void wh_rig_host_start(struct wh_rig_host *host, uint8_t number)
{
	struct wh_handshakes_config config = {
		.hz = host->end.session.hz,
		.identity = &host->identity,
		.ciphers = 1 << WH_CIPHER_AES_128_GCM,
		.version = "0.1",
		.sadb = &host->sadb,
		.authorizer = host->authorizer,
	};
	int rc = wh_sadb_init(&host->sadb, SAS);

	WH_ASSERT(rc == 0 && !host->up);
	host->end.more.key[1] = ++host->lives;
	host->end.sadb = host->end.more.with_handshake ? &host->sadb : NULL;
	wh_rig_end_open(&host->end, number, WH_ENDPOINT_PLACES_MIN);
	memcpy(config.key, host->end.endpoint.listener.key, sizeof(config.key));
	rc = wh_handshakes_init(&host->handshakes, &config);
	WH_ASSERT(rc == 0);
	host->up = true;
}

void wh_rig_host_stop(struct wh_rig_host *host)
{
	wh_rig_end_close(&host->end);
	wh_handshakes_free(&host->handshakes);
	wh_sadb_free(&host->sadb);
	host->up = false;
}

void wh_rig_host_handshake(struct wh_rig_host *host, uint64_t now_tsc)
{
	struct wh_endpoint *endpoint = &host->end.endpoint;
	struct wh_handshake_datagram datagram;
	struct wh_slot *slot;

	while ((slot = wh_slot_fifo_peek(&endpoint->datagrams_in)) != NULL) {
		wh_handshakes_take(&host->handshakes, now_tsc,
			(const struct wh_handshake_datagram *)slot->data);
		wh_slot_fifo_release(&endpoint->datagrams_in);
	}
	wh_handshakes_poll(&host->handshakes, now_tsc);
	while (wh_handshakes_give(&host->handshakes, now_tsc, &datagram)) {
		slot = wh_slot_fifo_reserve(&endpoint->datagrams_out);
		WH_ASSERT(slot != NULL);
		memcpy(slot->data, &datagram, sizeof(datagram));
		slot->bytes = sizeof(datagram);
		wh_slot_fifo_commit(&endpoint->datagrams_out);
	}
}
