/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main() of a fuzz target where there is no libFuzzer: feeds it files, for example a crash to be
 * looked at, or random ones: what the target makes, and mutations of its seeds and of a corpus. The
 * input of a crash is left in a file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"

#define INPUT_BYTES_MAX 16384
#define SEEDS_MAX       256

/* What is being fed, for whoever dies of it. */
static struct {
	const uint8_t *bytes;
	size_t length;
	char path[64];
} fed;

/* Of a sanitizer, where there is one: called before it ends the program. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

/* Of another sanitizer, where there is one: what it finds ends the program, too. */
const char *__ubsan_default_options(void);

const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}

/* Runs in a signal's handler: system calls only. */
static void keep_input(void)
{
	static const char text[] = "the input is in ";
	int fd = open(fed.path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	bool kept = fd >= 0 && write(fd, fed.bytes, fed.length) == (ssize_t)fed.length;

	if (kept && write(STDERR_FILENO, text, sizeof(text) - 1) > 0 &&
		write(STDERR_FILENO, fed.path, strlen(fed.path)) > 0)
		kept = write(STDERR_FILENO, "\n", 1) == 1;
	if (fd >= 0)
		close(fd);
}

/* Once: the default action ends the program then. */
static void on_abort(int signal_number)
{
	signal(signal_number, SIG_DFL);
	keep_input();
	raise(signal_number);
}

static void keep_input_of_crash(uint64_t seed)
{
	snprintf(fed.path, sizeof(fed.path), "crash-%" PRIu64 "-%d", seed, (int)getpid());
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(keep_input);
}

/* In a block of exactly its size, so that a sanitizer sees any byte read beyond. */
static void feed(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length);

	WH_ASSERT(copy != NULL || length == 0);
	if (length > 0)
		memcpy(copy, bytes, length);
	fed.bytes = bytes;
	fed.length = length;
	LLVMFuzzerTestOneInput(copy, length);
	free(copy);
}

/* Its length, or a negative errno after a complaint. */
static ssize_t read_input(const char *path, uint8_t bytes[INPUT_BYTES_MAX])
{
	FILE *file = fopen(path, "rb");

	if (file == NULL) {
		int error = errno;

		fprintf(stderr, "%s: %s\n", path, strerror(error));
		return -error;
	}

	size_t length = fread(bytes, 1, INPUT_BYTES_MAX, file);
	bool all = feof(file) != 0 || fgetc(file) == EOF;

	fclose(file);
	if (!all) {
		fprintf(stderr, "%s: longer than %d bytes\n", path, INPUT_BYTES_MAX);
		return -EFBIG;
	}
	return (ssize_t)length;
}

static int feed_file(const char *path)
{
	static uint8_t bytes[INPUT_BYTES_MAX];
	ssize_t length = read_input(path, bytes);

	if (length < 0)
		return (int)length;
	feed(bytes, (size_t)length);
	return 0;
}

struct seeds {
	uint32_t count;
	size_t length[SEEDS_MAX];
	uint8_t bytes[SEEDS_MAX][INPUT_BYTES_MAX];
};

/* The files of a folder, as far as there is room for them. */
static int collect_files(struct seeds *seeds, const char *folder)
{
	struct dirent **names;
	int count = scandir(folder, &names, NULL, alphasort);
	int status = count < 0 ? -errno : 0;

	if (status != 0)
		fprintf(stderr, "%s: %s\n", folder, strerror(-status));
	for (int i = 0; i < count; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (names[i]->d_type == DT_REG && seeds->count < SEEDS_MAX && status == 0) {
			ssize_t length = read_input(path, seeds->bytes[seeds->count]);

			seeds->length[seeds->count++] = length < 0 ? 0 : (size_t)length;
			status = length < 0 ? (int)length : 0;
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return status;
}

static void collect(struct seeds *seeds)
{
	for (; seeds->count < SEEDS_MAX; seeds->count++) {
		size_t length =
			wh_fuzz_seed(seeds->count, seeds->bytes[seeds->count], INPUT_BYTES_MAX);

		WH_ASSERT(length <= INPUT_BYTES_MAX);
		if (length == 0)
			break;
		seeds->length[seeds->count] = length;
	}
	WH_ASSERT(seeds->count > 0);
}

/* One change: a bit, a byte, a byte at its edge, a stretch copied or drawn anew, another end. */
static size_t mutate(struct wh_prng *prng, uint8_t *bytes, size_t length)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};

	if (length == 0)
		return wh_prng_below(prng, 128);

	/* Fields are in front: every second change goes there. */
	size_t reach = length > 128 && wh_prng_below(prng, 2) == 0 ? 128 : length;
	uint8_t *at = bytes + wh_prng_below(prng, reach);
	size_t left = (size_t)(bytes + length - at);

	switch (wh_prng_below(prng, 6)) {
	case 0:
		*at ^= (uint8_t)(1u << wh_prng_below(prng, 8));
		break;
	case 1:
		*at = (uint8_t)wh_prng_u64(prng);
		break;
	case 2:
		*at = edges[wh_prng_below(prng, sizeof(edges))];
		break;
	case 3:
		left = wh_prng_below(prng, left < 16 ? left + 1 : 17);
		memmove(at, bytes + wh_prng_below(prng, length - left + 1), left);
		break;
	case 4:
		for (left = left < 8 ? left : 8; left > 0; left--)
			*at++ = (uint8_t)wh_prng_u64(prng);
		break;
	default:
		if (wh_prng_below(prng, 2) == 0)
			return (size_t)(at - bytes);
		left = wh_prng_below(prng, 33);
		if (left > INPUT_BYTES_MAX - length)
			left = INPUT_BYTES_MAX - length;
		memset(bytes + length, 0, left);
		return length + left;
	}
	return length;
}

/* Half of the time one that the target makes, else a good one that is changed. */
static size_t draw(struct wh_prng *prng, const struct seeds *seeds, uint8_t *bytes)
{
	uint64_t chosen = wh_prng_below(prng, seeds->count);
	size_t length = 0;

	if (wh_prng_below(prng, 2) == 0)
		length = wh_fuzz_make(prng, bytes, INPUT_BYTES_MAX);
	if (length > 0)
		return length;
	length = seeds->length[chosen];
	memcpy(bytes, seeds->bytes[chosen], length);
	for (uint64_t changes = 1 + wh_prng_below(prng, 4); changes > 0; changes--)
		length = mutate(prng, bytes, length);
	return length;
}

static int feed_random(uint64_t count, uint64_t seed, const char *folder)
{
	static struct seeds seeds;
	static uint8_t bytes[INPUT_BYTES_MAX];
	struct wh_prng prng;

	if (folder != NULL && collect_files(&seeds, folder) != 0)
		return EXIT_FAILURE;
	collect(&seeds);
	keep_input_of_crash(seed);
	wh_prng_init(&prng, seed);
	for (uint64_t i = 0; i < count; i++) {
		/* The seeds themselves come first. */
		if (i < seeds.count)
			feed(seeds.bytes[i], seeds.length[i]);
		else
			feed(bytes, draw(&prng, &seeds, bytes));
	}
	printf("%" PRIu64 " inputs, seed %" PRIu64 "\n", count, seed);
	wh_fuzz_report();
	return EXIT_SUCCESS;
}

static bool parse_u64(const char *text, uint64_t *result)
{
	char *end;

	errno = 0;
	*result = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

int main(int argc, char **argv)
{
	uint64_t count, seed;

	if ((argc == 4 || argc == 5) && strcmp(argv[1], "--random") == 0 &&
		parse_u64(argv[2], &count) && parse_u64(argv[3], &seed))
		return feed_random(count, seed, argv[4]);
	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: %s FILE... | --random COUNT SEED [FOLDER]\n", argv[0]);
		return EXIT_FAILURE;
	}
	for (int i = 1; i < argc; i++)
		if (feed_file(argv[i]) != 0)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
