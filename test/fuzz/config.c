/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: configuration files, as every verb that reads one does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/prng.h"
#include "cli/settings.h"
#include "cli/settings_table.h"
#include "fuzz.h"

static const enum wh_verb verbs[] = {
	WH_VERB_SERVE, WH_VERB_SEND, WH_VERB_GET, WH_VERB_BENCH, WH_VERB_PROBE};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static uint64_t taken, refused;

/* The file, in memory; /proc names it. */
static int file_of(const uint8_t *bytes, size_t length, char path[32])
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("configuration", MFD_CLOEXEC);
	WH_ASSERT(fd >= 0 && ftruncate(fd, 0) == 0);
	WH_ASSERT(pwrite(fd, bytes, length, 0) == (ssize_t)length);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* The first byte chooses the verb. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct wh_settings settings;
	char path[32], verb[] = "verb", flag[] = "--config";
	char *argv[] = {verb, flag, path, NULL};
	char key[WH_SETTINGS_KEY_BYTES], value[WH_SETTINGS_TEXT_BYTES];

	if (length == 0)
		return 0;
	(void)file_of(bytes + 1, length - 1, path);
	enum wh_verb which = verbs[bytes[0] % VERBS];

	if (wh_settings_read(&settings, which, 3, argv) != -1) {
		refused++;
		return 0;
	}
	taken++;
	/* Each value can be told. */
	for (uint32_t i = 0; wh_settings_at(&settings, which, i, key, value); i++)
		WH_ASSERT(memchr(key, '\0', sizeof(key)) != NULL &&
			  memchr(value, '\0', sizeof(value)) != NULL);
	return 0;
}

static const char *const words[] = {"0", "1", "-1", "18446744073709551616", "1e308", "10G", "100ms",
	"0.01%", "none", "yes", "no", "auto", "nan", "a", ",", "-", "/", ":",
	"::", "255.255.255.255/33", "1-", "1-0", "0-4294967295", "\\#", "#", "%s%n", "\x80", "=",
	"memif:/run/x.sock", "fd00::/8", "udt"};

static size_t append(uint8_t *bytes, size_t used, size_t room, const char *text)
{
	size_t length = strlen(text);

	if (used + length > room)
		return used;
	memcpy(bytes + used, text, length);
	return used + length;
}

/* A file that is fine, to a verb's taste. */
static size_t begin(uint32_t verb, uint8_t *bytes, size_t room)
{
	bytes[0] = (uint8_t)verb;
	return append(bytes, 1, room,
		"[port]\nport = af_packet:eth1 # ours\n[address]\naddress = 192.0.2.1/24\n"
		"[transfer]\nrate = 10G\n[serve]\nroot = /tmp\n");
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	return number < VERBS ? begin(number, bytes, room) : 0;
}

/* A key of the table, with a value that it advises, or with one of another kind, or both. */
static size_t add_key(struct wh_prng *prng, uint8_t *bytes, size_t used, size_t room)
{
	const struct wh_setting *setting =
		&wh_settings_table[wh_prng_below(prng, wh_settings_count)];
	char advice[WH_SETTINGS_TEXT_BYTES], line[2 * WH_SETTINGS_TEXT_BYTES];
	const char *word = words[wh_prng_below(prng, sizeof(words) / sizeof(words[0]))];
	uint64_t how = wh_prng_below(prng, 8);

	if (setting->key == NULL)
		return used;
	wh_setting_advise(setting, advice);
	/* "9000 (from 1228 to 9216)": what explains the value is none of it. */
	advice[strcspn(advice, ",( ")] = '\0';
	snprintf(line, sizeof(line), "[%s]\n%s = %s%s\n", setting->section, setting->key,
		how < 6 ? advice : "", how > 4 ? word : "");
	return append(bytes, used, room, line);
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	size_t length = begin((uint32_t)wh_prng_below(prng, VERBS), bytes, room);

	for (uint64_t left = 1 + wh_prng_below(prng, 3); left > 0; left--)
		length = add_key(prng, bytes, length, room);
	return length;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " files taken, %" PRIu64 " refused\n", taken, refused);
}
