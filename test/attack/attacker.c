/* SPDX-License-Identifier: BSD-3-Clause */

/* attacker NAME --interface IF --server ADDRESS,MAC [...]: see `attacker --list`. */

#include "attacker.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static const struct wh_attack *const families[] = {
	wh_attacks_packets,
	wh_attacks_neighbours,
	wh_attacks_opens,
	wh_attacks_sessions,
	wh_attacks_jobs,
	wh_attacks_bundles,
	wh_attacks_taps,
	wh_attacks_handshakes,
	wh_attacks_sas,
	wh_attacks_lies,
	wh_attacks_orderer,
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

void wh_attacker_open(struct wh_attacker *attacker);

static void list(void)
{
	for (size_t i = 0; i < FAMILIES; i++)
		for (const struct wh_attack *attack = families[i]; attack->name != NULL; attack++)
			printf("%-22s %2" PRIu32 "  %s\n", attack->name, attack->item,
				attack->does);
}

static const struct wh_attack *find(const char *name)
{
	for (size_t i = 0; i < FAMILIES; i++)
		for (const struct wh_attack *attack = families[i]; attack->name != NULL; attack++)
			if (strcmp(attack->name, name) == 0)
				return attack;
	return NULL;
}

static void usage(const char *why)
{
	fprintf(stderr,
		"attacker: %s\n"
		"usage: attacker --list | attacker NAME --interface IF --own ADDRESS\n"
		"         --server ADDRESS,MAC [--peer ADDRESS,MAC] [--seconds S] [--pps N]\n"
		"         [--count N] [--cid N] [--token N] [--pn N]\n"
		"         [--path PATH] [--key FILE]\n",
		why);
	exit(2);
}

static void take_mac(const char *text, uint8_t mac[6])
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3],
		    &mac[4], &mac[5]) != 6)
		usage("a MAC address is six bytes, as 02:00:00:00:00:01");
}

/* "192.0.2.1", or "192.0.2.1,02:..." where there is to be a MAC. */
static void take_address(const char *text, struct wh_address *address, uint8_t *mac)
{
	char ip[64];
	const char *comma = strchr(text, ',');
	size_t bytes = comma == NULL ? strlen(text) : (size_t)(comma - text);

	snprintf(ip, sizeof(ip), "%.*s", (int)bytes, text);
	*address = (struct wh_address){.family = WH_IPV4, .port = WH_UDP_PORT_DEFAULT};
	if (inet_pton(AF_INET, ip, address->ip) != 1)
		usage("an address is IPv4, as 192.0.2.1");
	if (mac == NULL)
		return;
	if (comma == NULL)
		usage("the MAC address is missing behind a comma");
	take_mac(comma + 1, mac);
}

static const struct option options[] = {
	{"interface", required_argument, NULL, 'i'},
	{"own", required_argument, NULL, 'o'},
	{"server", required_argument, NULL, 's'},
	{"peer", required_argument, NULL, 'p'},
	{"seconds", required_argument, NULL, 't'},
	{"pps", required_argument, NULL, 'r'},
	{"count", required_argument, NULL, 'n'},
	{"cid", required_argument, NULL, 'l'},
	{"token", required_argument, NULL, 'k'},
	{"pn", required_argument, NULL, 'e'},
	{"path", required_argument, NULL, 'f'},
	{"key", required_argument, NULL, 'y'},
	{0},
};

static void take(struct wh_attacker *attacker, int option)
{
	switch (option) {
	case 'i':
		attacker->interface = optarg;
		break;
	case 'o':
		take_address(optarg, &attacker->own, NULL);
		break;
	case 's':
		take_address(optarg, &attacker->server, attacker->server_mac);
		break;
	case 'p':
		take_address(optarg, &attacker->peer, attacker->peer_mac);
		break;
	case 't':
		attacker->seconds_ns = (uint64_t)(strtod(optarg, NULL) * (double)NS_PER_S);
		break;
	case 'r':
		attacker->pps = strtoull(optarg, NULL, 0);
		break;
	case 'n':
		attacker->count = strtoull(optarg, NULL, 0);
		break;
	case 'l':
		attacker->cid = (uint32_t)strtoull(optarg, NULL, 0);
		break;
	case 'k':
		attacker->token = strtoull(optarg, NULL, 0);
		break;
	case 'e':
		attacker->pn = strtoull(optarg, NULL, 0);
		break;
	case 'f':
		attacker->path = optarg;
		break;
	case 'y':
		attacker->key = optarg;
		break;
	default:
		usage("unknown option");
	}
}

bool wh_attack_goes_on(const struct wh_attacker *attacker)
{
	return wh_attack_now_ns() - attacker->began_ns < attacker->seconds_ns;
}

void wh_attack_note(struct wh_attacker *attacker, const char *name, uint64_t value)
{
	uint32_t i = 0;

	while (i < attacker->notes && strcmp(attacker->note[i].name, name) != 0)
		i++;
	if (i == WH_ATTACK_NOTES)
		return;
	attacker->note[i] = (struct wh_attack_note){name, value};
	if (i == attacker->notes)
		attacker->notes++;
}

static void print(const struct wh_attacker *attacker, const struct wh_attack *attack)
{
	printf("{\"attack\": \"%s\", \"item\": %" PRIu32 ", \"sent_pkts\": %" PRIu64
	       ", \"sent_bytes\": %" PRIu64 ", \"seconds\": %.3f",
		attack->name, attack->item, attacker->sent_pkts, attacker->sent_bytes,
		(double)(wh_attack_now_ns() - attacker->began_ns) / (double)NS_PER_S);
	for (uint32_t i = 0; i < attacker->notes; i++)
		printf(", \"%s\": %" PRIu64, attacker->note[i].name, attacker->note[i].value);
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct wh_attacker attacker = {.seconds_ns = NS_PER_S, .path = "."};
	const struct wh_attack *attack;
	int option;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	attack = argc > 1 ? find(argv[1]) : NULL;
	if (attack == NULL)
		usage("name an attack of --list first");
	argc--;
	argv++;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		take(&attacker, option);
	if (attacker.interface == NULL || attacker.own.family == 0 || attacker.server.family == 0)
		usage("--interface, --own and --server are needed");
	wh_prng_init(&attacker.prng, 20260101);
	wh_attacker_open(&attacker);
	if (attacker.key != NULL)
		wh_attack_handshake(&attacker);
	attacker.sent_pkts = attacker.sent_bytes = 0;
	attacker.began_ns = wh_attack_now_ns();
	attack->run(&attacker);
	print(&attacker, attack);
	return 0;
}
