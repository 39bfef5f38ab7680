/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/own.h"

#include <errno.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "file/fresh_file.h"
#include "trust/fingerprint.h"
#include "trust/trust_place.h"

static const char *why(int rc)
{
	switch (rc) {
	case -EPERM:
		return "other users may read it, or it belongs to another user; fix that with "
		       "chmod 600 and chown; if others may have read the key, replace it: "
		       "`wavehaul keygen --replace`";
	case -EBADMSG:
		return "it is not a PEM file with an unencrypted key and its certificate; "
		       "`wavehaul keygen --replace` makes a new one";
	case -ENOTSUP:
		return "its key is not Ed25519, EC, or RSA of 2048 bits or more";
	default:
		return strerror(-rc);
	}
}

int wh_own_make(struct wh_identity *identity, const char *path, bool replace)
{
	if (!wh_trust_place_make(path))
		return WH_EXIT_NO_FILE;
	if (wh_identity_make(identity) != 0)
		return wh_fail(WH_EXIT_OTHER, "cannot create a key");

	int rc = wh_identity_save(identity, path, replace);

	if (rc == 0)
		return -1;
	wh_identity_free(identity);
	if (rc == -EEXIST)
		wh_complain(
			"%s already exists; --replace makes a new key, which no peer trusts yet",
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
	return wh_fail(WH_EXIT_NO_FILE, "cannot use the key %s: %s", path, why(rc));
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
		wh_say("created the key %s, by which peers know this end: %s", path,
			wh_fingerprint_text(identity->id, text));
	return status;
}

void wh_id_print(const uint8_t id[WH_IDENTITY_BYTES], FILE *to)
{
	char text[WH_FINGERPRINT_BYTES];

	fprintf(to, "  %s\n", wh_fingerprint_text(id, text));
}
