/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

#define ID_PREFIX       "sha256:"
#define GROUP_CHARS     4
#define CHAR_BITS       5
#define WORD_BITS       6
#define WORDS_PER_PLACE (1 << WORD_BITS)
#define SCENES_FROM_BIT 128

/* Crockford's Base32: without i, l, o and u, which look like another letter or a digit. */
static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* Adjective, animal, verb, object. Within a place no two words have the same first four letters. */
static const char *const words[WH_SCENE_WORDS][WORDS_PER_PLACE] = {
	{
		"amber",
		"angry",
		"ashen",
		"black",
		"blue",
		"bold",
		"brave",
		"bright",
		"brown",
		"calm",
		"careful",
		"cheerful",
		"clever",
		"cold",
		"crooked",
		"curious",
		"dizzy",
		"drowsy",
		"dusty",
		"eager",
		"elegant",
		"fancy",
		"fierce",
		"frozen",
		"gentle",
		"giant",
		"golden",
		"grateful",
		"green",
		"grumpy",
		"happy",
		"hollow",
		"honest",
		"humble",
		"hungry",
		"icy",
		"jolly",
		"lazy",
		"lonely",
		"lucky",
		"merry",
		"mighty",
		"muddy",
		"noisy",
		"old",
		"orange",
		"patient",
		"pink",
		"polite",
		"proud",
		"purple",
		"quiet",
		"rusty",
		"shiny",
		"silver",
		"sleepy",
		"solemn",
		"striped",
		"tiny",
		"velvet",
		"weary",
		"wild",
		"wooden",
		"yellow",
	},
	{
		"ant",
		"badger",
		"bear",
		"beaver",
		"bison",
		"camel",
		"cat",
		"cobra",
		"condor",
		"cow",
		"crab",
		"crane",
		"dolphin",
		"donkey",
		"dragon",
		"eagle",
		"elephant",
		"falcon",
		"ferret",
		"fox",
		"frog",
		"gecko",
		"giraffe",
		"goat",
		"goose",
		"hamster",
		"hedgehog",
		"heron",
		"horse",
		"hyena",
		"jackal",
		"kangaroo",
		"koala",
		"lemur",
		"lion",
		"lizard",
		"llama",
		"lobster",
		"lynx",
		"magpie",
		"mole",
		"monkey",
		"moose",
		"mouse",
		"octopus",
		"ostrich",
		"otter",
		"owl",
		"panda",
		"parrot",
		"penguin",
		"pigeon",
		"rabbit",
		"raven",
		"salmon",
		"seal",
		"snail",
		"spider",
		"squirrel",
		"tiger",
		"turtle",
		"walrus",
		"wolf",
		"zebra",
	},
	{
		"admires",
		"bakes",
		"balances",
		"borrows",
		"breaks",
		"brings",
		"builds",
		"buries",
		"buys",
		"carries",
		"carves",
		"catches",
		"chases",
		"cleans",
		"climbs",
		"collects",
		"counts",
		"covers",
		"dries",
		"eats",
		"empties",
		"fears",
		"fills",
		"finds",
		"folds",
		"forgets",
		"gathers",
		"guards",
		"hides",
		"hugs",
		"imagines",
		"invents",
		"juggles",
		"kicks",
		"kisses",
		"lifts",
		"loses",
		"melts",
		"mends",
		"moves",
		"needs",
		"opens",
		"orders",
		"packs",
		"paints",
		"peels",
		"plants",
		"polishes",
		"pulls",
		"pushes",
		"repairs",
		"rolls",
		"sells",
		"sews",
		"shakes",
		"smells",
		"steals",
		"sweeps",
		"throws",
		"tickles",
		"trades",
		"turns",
		"washes",
		"weighs",
	},
	{
		"anchors",
		"apples",
		"arrows",
		"balloons",
		"baskets",
		"bells",
		"bicycles",
		"blankets",
		"books",
		"boots",
		"bottles",
		"bridges",
		"buttons",
		"cakes",
		"candles",
		"carpets",
		"castles",
		"chairs",
		"cherries",
		"clocks",
		"clouds",
		"coins",
		"crowns",
		"diamonds",
		"doors",
		"drums",
		"feathers",
		"flags",
		"flutes",
		"gloves",
		"guitars",
		"hammers",
		"hats",
		"islands",
		"kettles",
		"keys",
		"kites",
		"ladders",
		"lanterns",
		"lemons",
		"letters",
		"maps",
		"melons",
		"mirrors",
		"mushrooms",
		"needles",
		"onions",
		"pebbles",
		"pianos",
		"pillows",
		"planets",
		"puzzles",
		"ribbons",
		"ropes",
		"saddles",
		"shells",
		"spoons",
		"tables",
		"teapots",
		"trumpets",
		"tulips",
		"umbrellas",
		"wheels",
		"windows",
	},
};

/* Bits are counted from the most significant one of the first byte. */
static uint32_t bits_at(const uint8_t *bytes, uint32_t from, uint32_t count)
{
	uint32_t value = 0;

	WH_ASSERT(from + count <= 8 * WH_IDENTITY_BYTES);
	for (uint32_t bit = from; bit < from + count; bit++)
		value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

const char *wh_fingerprint_text(
	const uint8_t id[WH_IDENTITY_BYTES], char text[WH_FINGERPRINT_BYTES])
{
	char *to = text;

	for (uint32_t i = 0; i < WH_FINGERPRINT_BITS / CHAR_BITS; i++) {
		if (i > 0 && i % GROUP_CHARS == 0)
			*to++ = '-';
		*to++ = letters[bits_at(id, i * CHAR_BITS, CHAR_BITS)];
	}
	*to = '\0';
	WH_ASSERT(to - text == WH_FINGERPRINT_BYTES - 1);
	return text;
}

const char *wh_fingerprint_scene(
	const uint8_t id[WH_IDENTITY_BYTES], uint32_t scene, char text[WH_SCENE_BYTES])
{
	uint32_t bit = SCENES_FROM_BIT + scene * WH_SCENE_WORDS * WORD_BITS;
	size_t used = 0;

	WH_ASSERT(scene < WH_SCENES);
	for (uint32_t place = 0; place < WH_SCENE_WORDS; place++, bit += WORD_BITS)
		used += (size_t)snprintf(text + used, WH_SCENE_BYTES - used, "%s%s",
			place > 0 ? " " : "", words[place][bits_at(id, bit, WORD_BITS)]);
	WH_ASSERT(used < WH_SCENE_BYTES);
	return text;
}

const char *wh_id_text(const uint8_t id[WH_IDENTITY_BYTES], char text[WH_ID_TEXT_BYTES])
{
	char *to = stpcpy(text, ID_PREFIX);

	for (uint32_t i = 0; i < WH_IDENTITY_BYTES; i++)
		to += sprintf(to, "%02x", id[i]);
	return text;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool wh_id_read(const char *text, uint8_t id[WH_IDENTITY_BYTES])
{
	if (strncmp(text, ID_PREFIX, strlen(ID_PREFIX)) != 0)
		return false;
	text += strlen(ID_PREFIX);
	if (strlen(text) != 2 * WH_IDENTITY_BYTES)
		return false;
	for (uint32_t i = 0; i < WH_IDENTITY_BYTES; i++) {
		int high = digit_of(text[2 * i]);
		int low = digit_of(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		id[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
