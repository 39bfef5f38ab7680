/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "bundle/record.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/own/own_addresses.h"
#include "cli/profile_set.h"
#include "neighbour/neighbour.h"

/*
 * One busy lcore per CPU: a CPU receives and sends for the same queues, or does only one of them.
 */
static bool check_cpus(const struct wh_settings *settings)
{
	const struct wh_cpu_list *rx = &settings->rx_cpus;
	const struct wh_cpu_list *tx = &settings->tx_cpus;

	if (rx->count == tx->count && memcmp(rx->cpu, tx->cpu, rx->count * sizeof(*rx->cpu)) == 0)
		return true;
	for (uint32_t i = 0; i < rx->count; i++) {
		if (!wh_cpu_list_has(tx, rx->cpu[i]))
			continue;
		return wh_fail(false,
			"CPU %u is in both --rx-cpus and --tx-cpus, but the two lists differ; make "
			"them identical, or give them no CPU in common",
			rx->cpu[i]);
	}
	return true;
}

static bool check_gateway(
	const struct wh_address *gateway, const struct wh_subnet *subnet, const char *example)
{
	if (gateway->family == 0 || subnet->address.family != 0)
		return true;
	return wh_fail(false,
		"--gateway needs a local address of the same family; add --addr, for example "
		"--addr %s",
		example);
}

static struct wh_neighbour_subnet neighbour_subnet(
	const struct wh_subnet *subnet, const struct wh_address *gateway)
{
	struct wh_neighbour_subnet result = {.prefix_bits = subnet->prefix_bits};

	memcpy(result.ip, subnet->address.ip, sizeof(result.ip));
	memcpy(result.gateway, gateway->ip, sizeof(result.gateway));
	return result;
}

/* Checks the addresses by the rules that the netif will apply, with an arbitrary MAC address. */
static bool check_port(const struct wh_settings *settings, const struct wh_own_port *port)
{
	const struct wh_neighbour_config config = {
		.mtu = (uint16_t)settings->mtu_bytes,
		.vlan = (uint16_t)settings->vlan,
		.mac = {0x02, 0, 0, 0, 0, 0x01},
		.ipv4 = neighbour_subnet(&port->ipv4, &port->gateway4),
		.ipv6 = neighbour_subnet(&port->ipv6, &port->gateway6),
	};
	const char *wrong = wh_neighbour_config_wrong(&config);

	if (config.ipv4.prefix_bits == 0 && config.ipv6.prefix_bits == 0)
		return true;
	if (wrong == NULL)
		return true;
	return wh_fail(false,
		"%s; see --addr, --gateway and --mtu, for example --addr 192.0.2.1/24 --gateway "
		"192.0.2.254 --mtu 1500",
		wrong);
}

static bool check_addresses(const struct wh_settings *settings)
{
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
		if (!check_port(settings, &settings->port[i]))
			return false;
	return true;
}

static bool check_udp_ports(const struct wh_settings *settings)
{
	if (settings->udp_port + settings->queues - 1 <= UINT16_MAX)
		return true;
	return wh_fail(false,
		"%u queues starting at --udp-port %u would pass port %u; write for example "
		"--udp-port %u",
		settings->queues, settings->udp_port, UINT16_MAX, WH_UDP_PORT_DEFAULT);
}

static bool check_repair(const struct wh_settings *settings)
{
	const char *wrong = wh_repair_wrong(&settings->repair);

	if (wrong != NULL)
		wh_complain("%s", wrong);
	return wrong == NULL;
}

/* Only profiles that find the rate use such values. */
static bool check_known(const struct wh_settings *settings)
{
	if (settings->known.by != WH_KNOWN_TOLD || settings->profile->found != NULL)
		return true;
	return wh_fail(false,
		"--known has no effect with profile %s, which does not use prior knowledge of the "
		"path; leave it out",
		settings->profile->name);
}

static bool check_keylog(const struct wh_settings *settings)
{
	if (settings->keylog[0] == '\0' || !settings->unsealed)
		return true;
	return wh_fail(
		false, "--keylog has no keys to write with --unsealed; leave out one of them");
}

/* A lane does not know the names that other lanes send. */
static bool check_choice(const struct wh_settings *settings)
{
	char term[WH_SETTINGS_TEXT_BYTES + 1];
	const char *wrong;

	snprintf(term, sizeof(term), "~%s", settings->suffix);
	wrong = settings->backup ? wh_term_wrong(term) : NULL;
	if (wrong != NULL)
		return wh_fail(false, "--suffix '%s' %s; write for example --suffix .before",
			settings->suffix, wrong);
	if (settings->dry_run &&
		(settings->parallel > 1 || settings->hard_links || settings->manifest[0] != '\0' ||
			settings->expect[0] != '\0'))
		return wh_fail(false, "--dry-run uses one lane and reads no files; leave out "
				      "--parallel, --hard-links, --manifest and --expect");
	if (settings->move && (settings->hard_links || settings->remove))
		return wh_fail(false,
			"--move removes the files that %s needs to compare with; leave out one of "
			"them",
			settings->hard_links ? "--hard-links" : "--delete");
	if ((!settings->hard_links && !settings->remove) || settings->parallel <= 1)
		return true;
	return wh_fail(false, "%s works with one lane only; leave out --parallel",
		settings->hard_links ? "--hard-links" : "--delete");
}

static bool find_owner(const char *name, bool groups, uint32_t *id)
{
	const struct passwd *user = groups ? NULL : getpwnam(name);
	const struct group *group = groups ? getgrnam(name) : NULL;
	uint64_t number;

	if (wh_parse_count(name, &number) == 0 && number < WH_OWNER_UNTOLD)
		*id = (uint32_t)number;
	else if (user != NULL)
		*id = user->pw_uid;
	else if (group != NULL)
		*id = group->gr_gid;
	else
		return false;
	return true;
}

const char *wh_settings_owners(const char *text, bool groups, struct wh_owner_map *map)
{
	char copy[WH_SETTINGS_TEXT_BYTES];
	char *rest = copy;
	char *rule;

	*map = (struct wh_owner_map){0};
	snprintf(copy, sizeof(copy), "%s", text);
	while (text[0] != '\0' && (rule = strsep(&rest, ",")) != NULL) {
		const char *from = strsep(&rule, "=");
		bool others = strcmp(from, "*") == 0;
		uint32_t from_id, to_id;

		if (rule == NULL)
			return "is not FROM=TO, or a comma-separated list of them";
		if (!others && !find_owner(from, groups, &from_id))
			return "must begin with a number, a name known on this host, or *";
		if (!find_owner(rule, groups, &to_id))
			return groups ? "names a group that does not exist on this host"
				      : "names a user who does not exist on this host";
		if (!wh_owner_map_add(map, others ? NULL : &from_id, to_id))
			return "has two rules for the same owner, or more than 32 rules";
	}
	return NULL;
}

static_assert(WH_OWNER_RULES_MAX == 32, "the sentence in wh_settings_owners says so");

/* A server keeps its peers' ACLs regardless of --owners. */
static bool check_owners(const struct wh_settings *settings, enum wh_verb verb)
{
	struct wh_owner_map map;
	const char *users = wh_settings_owners(settings->map_owners, false, &map);
	const char *groups = wh_settings_owners(settings->map_groups, true, &map);
	bool maps = settings->map_owners[0] != '\0' || settings->map_groups[0] != '\0';

	if (users != NULL)
		wh_complain("--map-owners '%s' %s; write for example --map-owners "
			    "1000=alice,*=archive",
			settings->map_owners, users);
	else if (groups != NULL)
		wh_complain("--map-groups '%s' %s; write for example --map-groups "
			    "100=users,*=archive",
			settings->map_groups, groups);
	else if (maps && verb != WH_VERB_SERVE && !settings->owners && !settings->archive &&
		 !settings->acls)
		wh_complain("--map-owners and --map-groups need --owners; add it");
	else
		return true;
	return false;
}

static bool check_word(const char *flag, const char *value, const char *const words[3])
{
	for (size_t i = 0; i < 3; i++)
		if (value[0] == '\0' || strcmp(value, words[i]) == 0)
			return true;
	return wh_fail(false, "--%s '%s' is not one of %s, %s and %s", flag, value, words[0],
		words[1], words[2]);
}

static bool check_words(const struct wh_settings *settings)
{
	static const char *const clashes[] = {"auto", "refuse", "allow"};
	static const char *const daemons[] = {"auto", "never", "always"};

	return check_word("daemon", settings->daemon, daemons) &&
	       check_word("case-clash", settings->case_clash, clashes);
}

static bool check_retries(const struct wh_settings *settings)
{
	if (settings->retries == 0 || settings->plot[0] == '\0')
		return true;
	return wh_fail(false, "--plot draws a single attempt; leave out --retries");
}

static bool check_quiet(const struct wh_settings *settings)
{
	if (!settings->quiet || !(settings->verbose || settings->json || settings->json_stream))
		return true;
	return wh_fail(false,
		"--quiet contradicts --verbose, --json and --json-stream; leave out one of them");
}

int wh_settings_check(const struct wh_settings *settings, enum wh_verb verb)
{
	bool good =
		(verb & WH_VERBS_CONFIGURED) == 0 ||
		(check_cpus(settings) && check_udp_ports(settings) && check_addresses(settings));

	return good && check_repair(settings) && check_known(settings) && check_choice(settings) &&
			       check_words(settings) && check_keylog(settings) &&
			       check_quiet(settings) && check_owners(settings, verb) &&
			       check_retries(settings) && wh_profile_set_check(settings)
		       ? -1
		       : WH_EXIT_USAGE;
}

/* Asserts what the table's limits and defaults, and the checks above, ensure. */
static void assert_bounds(const struct wh_settings *settings)
{
	WH_ASSERT(settings->queues > 0 && settings->queues <= WH_QUEUES_MAX);
	WH_ASSERT(settings->mtu_bytes >= WH_MTU_MIN && settings->vlan <= WH_VLAN_MAX);
	WH_ASSERT(
		settings->udp_port > 0 && settings->udp_port + settings->queues - 1 <= UINT16_MAX);
	WH_ASSERT(settings->rx_cpus.count <= WH_SETTINGS_CPUS_MAX);
	WH_ASSERT(settings->tx_cpus.count <= WH_SETTINGS_CPUS_MAX);
	WH_ASSERT(settings->worker_cpus.count <= WH_SETTINGS_CPUS_MAX);
	WH_ASSERT(settings->books_cpus.count <= WH_SETTINGS_CPUS_MAX);
	WH_ASSERT(settings->allows <= WH_SETTINGS_ALLOWS_MAX);
	WH_ASSERT(settings->profile != NULL && settings->rate_bps >= WH_RATE_MIN);
	WH_ASSERT(settings->parallel > 0 && settings->parallel <= WH_LANES_MAX);
	WH_ASSERT(settings->peer_timeout_ns >= WH_NS_PER_S);
	WH_ASSERT(settings->stall_timeout_ns >= WH_NS_PER_S);
	WH_ASSERT(settings->sessions > 0);
	WH_ASSERT(settings->peer_openings_s > 0 && settings->peer_lines_s > 0); /* divisors */
}

static bool has_address(const struct wh_own_port *port)
{
	return port->ipv4.address.family != 0 || port->ipv6.address.family != 0;
}

/* Addresses belong to ports in the order in which both were given. */
static int check_own_port(const struct wh_settings *settings, uint32_t i)
{
	const struct wh_own_port *port = &settings->port[i];

	for (uint32_t other = 0; other < i && i < settings->ports; other++)
		if (strcmp(settings->port[other].name, port->name) == 0)
			return wh_fail(WH_EXIT_USAGE, "%s is named twice; a port is given once",
				port->name);
	if (i >= settings->ports && has_address(port))
		return wh_fail(WH_EXIT_USAGE,
			"there are more addresses than ports: a port has one of each family, and "
			"the first --addr is for the first --port");
	if (!check_gateway(&port->gateway4, &port->ipv4, "192.0.2.1/24") ||
		!check_gateway(&port->gateway6, &port->ipv6, "2001:db8::1/64"))
		return WH_EXIT_USAGE;
	if (i < settings->ports && !has_address(port))
		return wh_fail(WH_EXIT_USAGE,
			"%s has no address; add --addr 192.0.2.1/24, or --addr 2001:db8::1/64, "
			"with the prefix length of its subnet",
			i > 0 ? port->name : "this end");
	return -1;
}

static int check_whole(struct wh_settings *settings, enum wh_verb verb)
{
	int status = wh_own_is_udp(settings) ? wh_own_take(settings, verb == WH_VERB_SERVE) : -1;

	if (status != -1)
		return status;
	for (uint32_t i = 0; status == -1 && i < WH_PORTS_MAX; i++)
		status = check_own_port(settings, i);
	if (status == -1 && settings->ports * settings->queues > WH_QUEUES_MAX)
		status = wh_fail(WH_EXIT_USAGE,
			"%u ports with %u queues each are more than %u queues; set --queues %u",
			settings->ports, settings->queues, WH_QUEUES_MAX,
			WH_QUEUES_MAX / settings->ports);
	if (status == -1)
		assert_bounds(settings);
	return status;
}

int wh_settings_check_own(struct wh_settings *settings)
{
	return check_whole(settings, WH_VERB_SEND);
}

int wh_settings_check_whole(struct wh_settings *settings, enum wh_verb verb)
{
	if ((verb & WH_VERBS_CONFIGURED) == 0)
		return -1;
	/* A server of this host may have the port for them. */
	if ((verb & (WH_VERB_SEND | WH_VERB_GET | WH_VERBS_RPCS)) != 0 && settings->ports == 0 &&
		strcmp(settings->daemon, "never") != 0)
		return -1;
	return check_whole(settings, verb);
}

static bool is_section(const char *name)
{
	const struct wh_settings_section *section = wh_settings_sections;

	while (section->name != NULL && strcmp(section->name, name) != 0)
		section++;
	return section->name != NULL;
}

void wh_setting_check(const struct wh_setting *setting)
{
	bool valued = setting->type != WH_SETTING_SWITCH;
	bool is_count = setting->type == WH_SETTING_COUNT;

	WH_ASSERT(is_section(setting->section));
	WH_ASSERT(setting->verbs != 0 && setting->flag != NULL && setting->help != NULL);
	WH_ASSERT((setting->key == NULL) == (setting->name == NULL));
	WH_ASSERT(setting->key == NULL || (setting->verbs & WH_VERBS_CONFIGURED) != 0);
	WH_ASSERT(valued == (setting->argument != NULL));
	WH_ASSERT(setting->example != NULL);
	WH_ASSERT(setting->serve_standard == NULL || (setting->verbs & WH_VERB_SERVE) != 0);
	WH_ASSERT(setting->serve_help == NULL || (setting->verbs & WH_VERB_SERVE) != 0);
	WH_ASSERT(!setting->stays || (setting->verbs & WH_VERB_JOB) != 0);
	WH_ASSERT(setting->offset < sizeof(struct wh_settings));
	WH_ASSERT(setting->low <= setting->high);
	WH_ASSERT(!is_count || setting->high <= UINT32_MAX); /* it must fit its field */
}
