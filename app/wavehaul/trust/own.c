/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/own.h"

#include <errno.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "file/fresh_file.h"
#include "trust/fingerprint.h"
#include "trust/place.h"

static const char *why(int rc)
{
	switch (rc) {
	case -EPERM:
		return "others than its owner may read it, or it is another user's; chmod 600 and "
		       "chown mend that, and a key that was read by others is to be made anew: "
		       "`wavehaul keygen --replace`";
	case -EBADMSG:
		return "it is no PEM of a key without a password and of its certificate; "
		       "`wavehaul keygen --replace` makes another one";
	case -ENOTSUP:
		return "its key is none of Ed25519, EC, or RSA of 2048 bits or more";
	default:
		return strerror(-rc);
	}
}

int wh_own_make(struct wh_identity *identity, const char *path, bool replace)
{
	if (!wh_trust_place_make(path))
		return WH_EXIT_NO_FILE;
	if (wh_identity_make(identity) != 0) {
		wh_complain("no key could be made");
		return WH_EXIT_OTHER;
	}

	int rc = wh_identity_save(identity, path, replace);

	if (rc == 0)
		return -1;
	wh_identity_free(identity);
	if (rc == -EEXIST)
		wh_complain("%s is there already; --replace makes another one, which nobody "
			    "trusts yet",
			path);
	else
		wh_complain("cannot write the key %s: %s", path, strerror(-rc));
	return rc == -EEXIST ? WH_EXIT_USAGE : WH_EXIT_NO_FILE;
}

static int load(struct wh_identity *identity, const char *path)
{
	int rc = wh_identity_load(identity, path);

	if (rc == 0)
		return -1;
	wh_complain("cannot take the key %s: %s", path, why(rc));
	return WH_EXIT_NO_FILE;
}

int wh_own_identity(struct wh_identity *identity, const char *path)
{
	char text[WH_FINGERPRINT_BYTES];
	int rc = wh_identity_load(identity, path);

	wh_fresh_file_sweep(path);
	if (rc == 0)
		return -1;
	if (rc != -ENOENT)
		return load(identity, path);

	int status = wh_own_make(identity, path, false);

	/* Another process may have created it at the same time: use that one. */
	if (status == WH_EXIT_USAGE)
		return load(identity, path);
	if (status == -1)
		wh_say("made the key %s, by which peers know this end: %s", path,
			wh_fingerprint_text(identity->id, text));
	return status;
}

void wh_id_print(const uint8_t id[WH_IDENTITY_BYTES], const char *before, FILE *to)
{
	char text[WH_FINGERPRINT_BYTES];
	char scene[WH_SCENE_BYTES];

	fprintf(to, "%s%s\n", before, wh_fingerprint_text(id, text));
	for (uint32_t i = 0; i < WH_SCENES; i++)
		fprintf(to, "%s%s\n", before, wh_fingerprint_scene(id, i, scene));
}
