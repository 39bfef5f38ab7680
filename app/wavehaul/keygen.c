/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul keygen`: generates our key. */

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/settings.h"
#include "trust/own.h"
#include "trust/trust_place.h"
#include "trust/trust_tell.h"
#include "verbs.h"

static void tell(const struct wh_settings *settings, const struct wh_trust_place *place,
	const struct wh_identity *identity)
{
	if (settings->json) {
		json_t *object = wh_head_json("keygen", WH_EXIT_OK);

		json_object_set_new(object, "path", wh_word_to_json(place->identity));
		json_object_set_new(object, "own", wh_id_json(identity->id));
		wh_json_print(object, JSON_INDENT(2));
		return;
	}
	printf("%s\n", place->identity);
	wh_id_print(identity->id, stdout);
}

int wh_verb_keygen(int argc, char **argv)
{
	struct wh_settings settings;
	struct wh_trust_place place;
	struct wh_identity identity;
	int status = wh_settings_read(&settings, WH_VERB_KEYGEN, argc, argv);

	if (status != -1)
		return status;
	if (settings.operand_count > 0)
		return wh_fail(WH_EXIT_USAGE,
			"'%s' is not an option of keygen; --identity names the file",
			settings.operands[0]);
	if (!wh_trust_place_find(&place, settings.identity, ""))
		return WH_EXIT_USAGE;
	status = wh_own_make(&identity, place.identity, settings.replace);
	if (status != -1)
		return status;
	tell(&settings, &place, &identity);
	wh_identity_free(&identity);
	return WH_EXIT_OK;
}
