/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: the files of those who are trusted, which an operator's tools write. Whatever is
 * taken, written again and read again, says the same, and stays within its bounds.
 */

#include "trust/peer_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"
#include "text_seed.h"

static uint64_t taken;
static uint64_t refused;

static const char *const seeds[] = {
	"[peer]\nkey = "
	"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
	"address = 192.0.2.2\naddress = 2001:db8::2\n\n[rights]\nread = yes\nwrite = no\n"
	"measure = yes\nfolder = a/b\nfolder = c\\#d\nfrom = 192.0.2.0/24\nfrom = 2001:db8::/64\n"
	"rate = 10G\nsessions = 4\nbytes = 10T\n"
	"map-owners = 7=1000,8=0,*=65534\nmap-groups = *=100\n",
	"# a comment\n[peer]\nsubject = *,O=Site,C=NL # and another\n",
	"[rights]\r\nread=no\r\n[peer]\r\n\tkey=sha256:"
	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\r\n",
};

static void check(const struct wh_peer_file *peer)
{
	const struct wh_rights *rights = &peer->rights;

	WH_ASSERT(peer->has_key == (peer->subject[0] == '\0'));
	WH_ASSERT(memchr(peer->subject, '\0', sizeof(peer->subject)) != NULL);
	WH_ASSERT(peer->addresses <= WH_PEER_ADDRESSES_MAX);
	WH_ASSERT(rights->folders <= WH_PEER_FOLDERS_MAX);
	WH_ASSERT(rights->subnets <= WH_PEER_SUBNETS_MAX);
	WH_ASSERT(rights->rate_bps >= WH_RATE_MIN);
	WH_ASSERT(rights->owners.users.rules <= WH_OWNER_RULES_MAX);
	WH_ASSERT(rights->owners.groups.rules <= WH_OWNER_RULES_MAX);
	for (uint32_t i = 0; i < rights->folders; i++) {
		const char *folder = rights->folder[i];

		WH_ASSERT(folder[0] != '/' && folder[0] != '\0' && strstr(folder, "//") == NULL);
		WH_ASSERT(strcmp(folder, "..") != 0 && strstr(folder, "/../") == NULL);
		WH_ASSERT(strncmp(folder, "../", 3) != 0);
	}
}

static void write_and_read(const struct wh_peer_file *peer)
{
	static char written[1 << 16];
	FILE *memory = fmemopen(written, sizeof(written), "w");
	struct wh_peer_file again;
	char text[WH_RIGHTS_TEXT_BYTES];

	WH_ASSERT(memory != NULL);
	wh_peer_file_print(peer, memory);

	long bytes = ftell(memory);

	fclose(memory);
	WH_ASSERT(bytes > 0 && (size_t)bytes < sizeof(written));
	WH_ASSERT(wh_peer_file_parse(&again, "dtn2", "again", written, (size_t)bytes) == -1);
	WH_ASSERT(memcmp(peer, &again, sizeof(again)) == 0);
	WH_ASSERT(strlen(wh_rights_text(&peer->rights, text)) < sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct wh_peer_file peer;

	if (wh_peer_file_parse(&peer, "dtn2", "fuzz", (const char *)bytes, length) != -1) {
		refused++;
		return 0;
	}
	taken++;
	check(&peer);
	write_and_read(&peer);
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	return wh_fuzz_text_seed(seeds, sizeof(seeds) / sizeof(seeds[0]), number, bytes, room);
}

/* Lines of the words there are, with values that are near to good ones. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const words[] = {"key", "subject", "address", "read", "write", "measure",
		"folder", "from", "rate", "sessions", "bytes", "map-owners", "map-groups", "[peer]",
		"[rights]", "#"};
	static const char *const values[] = {
		"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		"CN=a,O=b", "*", "yes", "no", "a/b", "..", "a/../b", "/", "a//b", "a/.", "\\#",
		"a b", "192.0.2.1", "::", "10.0.0.0/8", "::/0", "0.0.0.0/33", "1G", "1", "0",
		"4096", "4097", "1=2,*=3", "*=0", "1=2,1=3", "4294967294=1", "4294967295=1",
		"1=", "=1,", "1=2,", "root=1", "1=2=3", "16E", "18446744073709551615", "x"};
	/* Most begin well, and go on with rights. */
	bool begun = wh_prng_below(prng, 4) > 0;
	uint64_t first = begun ? 3 : 0;
	uint64_t last = begun ? 13 : sizeof(words) / sizeof(words[0]);
	size_t used = begun ? (size_t)snprintf((char *)bytes, room, "%s\n",
				      "[peer]\nkey = "
				      "sha256:"
				      "00112233445566778899aabbccddeeff00112233445566778899aabbccdd"
				      "eeff\n[rights]")
			    : 0;

	for (uint64_t line = 1 + wh_prng_below(prng, begun ? 5 : 20); line > 0; line--) {
		char text[200];
		const char *word = words[first + wh_prng_below(prng, last - first)];
		const char *value = values[wh_prng_below(prng, sizeof(values) / sizeof(values[0]))];
		size_t chars = (size_t)snprintf(
			text, sizeof(text), word[0] == '[' ? "%s\n" : "%s = %s\n", word, value);

		if (used + chars > room)
			break;
		memcpy(bytes + used, text, chars);
		used += chars;
	}
	return used;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " files taken, %" PRIu64 " refused\n", taken, refused);
}
