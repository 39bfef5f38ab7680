/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/seal_told.h"

#include "cli/complain.h"
#include "seal/gcm.h"
#include "seal/seal.h"
#include "trust/fingerprint.h"

void wh_seal_tell(const struct wh_job_sealed *sealed)
{
	char text[WH_FINGERPRINT_BYTES];

	if (sealed->cipher == 0)
		wh_say("nothing was sealed");
	else
		wh_say("sealed by %s (%s); the server is %s", wh_cipher_name(sealed->cipher),
			wh_gcm_unit()->name, wh_fingerprint_text(sealed->peer_id, text));
	if (sealed->cipher != 0 && wh_seal_has_keylog())
		wh_say("its keys were written to the --keylog file");
}

json_t *wh_seal_json(const struct wh_job_sealed *sealed)
{
	char fingerprint[WH_FINGERPRINT_BYTES];
	char id[WH_ID_TEXT_BYTES];

	if (sealed == NULL || sealed->cipher == 0)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:s, s:b}", "cipher", wh_cipher_name(sealed->cipher),
		"library", wh_gcm_unit()->name, "identity", wh_id_text(sealed->peer_id, id),
		"fingerprint", wh_fingerprint_text(sealed->peer_id, fingerprint), "keylog",
		(int)wh_seal_has_keylog());
}
