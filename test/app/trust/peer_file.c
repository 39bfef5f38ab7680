/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/peer_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "trust/peer_list.h"
#include "unit.h"

const char wh_suite_name[] = "peer_file";

#define KEY "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct wh_peer_file peer;

static int parse(const char *text)
{
	return wh_peer_file_parse(&peer, "dtn2", "dtn2.conf", text, strlen(text));
}

static void test_all(void)
{
	CU_ASSERT_EQUAL_FATAL(
		parse("[peer]\nkey = " KEY "\naddress = 192.0.2.2\naddress = 2001:db8::2\n"
		      "[rights]\nread = no\nwrite = yes\nmeasure = no\norders = yes\n"
		      "folder = in/a\nfolder = b\n"
		      "from = 192.0.2.0/24\nrate = 2.5G\nsessions = 3\nbytes = 1T\n"),
		-1);
	CU_ASSERT_STRING_EQUAL(peer.name, "dtn2");
	CU_ASSERT_TRUE(peer.has_key);
	CU_ASSERT_EQUAL(peer.id[1], 0x11);
	CU_ASSERT_EQUAL(peer.addresses, 2);
	CU_ASSERT_FALSE(peer.rights.read);
	CU_ASSERT_TRUE(peer.rights.write);
	CU_ASSERT_FALSE(peer.rights.measure);
	CU_ASSERT_TRUE(peer.rights.orders);
	CU_ASSERT_FALSE(peer.rights.orders_delete);
	CU_ASSERT_EQUAL(peer.rights.folders, 2);
	CU_ASSERT_STRING_EQUAL(peer.rights.folder[0], "in/a");
	CU_ASSERT_EQUAL(peer.rights.subnets, 1);
	CU_ASSERT_EQUAL(peer.rights.from[0].prefix_bits, 24);
	CU_ASSERT_EQUAL(peer.rights.rate_bps, UINT64_C(2500000000));
	CU_ASSERT_EQUAL(peer.rights.sessions, 3);
	CU_ASSERT_EQUAL(peer.rights.day_bytes, UINT64_C(1) << 40);
}

/* Only the addresses of a family that a port of ours has, in the file's order. */
static void test_reach(void)
{
	static const uint8_t families[][2] = {{WH_IPV4, 0}, {WH_IPV6, 0}, {WH_IPV4, WH_IPV6}};
	static const uint32_t counts[] = {2, 1, 3};
	struct wh_address reach[WH_PEER_ADDRESSES_MAX];

	CU_ASSERT_EQUAL_FATAL(parse("[peer]\nkey = " KEY "\naddress = 192.0.2.2\n"
				    "address = 2001:db8::2\naddress = 198.51.100.2\n"),
		-1);
	for (uint32_t i = 0; i < RTE_DIM(families); i++) {
		struct wh_settings settings = {.ports = 2};

		settings.port[0].ipv4.address.family = families[i][0] == WH_IPV4 ? WH_IPV4 : 0;
		settings.port[1].ipv6.address.family =
			families[i][0] == WH_IPV6 || families[i][1] == WH_IPV6 ? WH_IPV6 : 0;
		CU_ASSERT_EQUAL(wh_peer_file_reach(&peer, &settings, reach), counts[i]);
		CU_ASSERT_EQUAL(reach[0].family, families[i][0]);
	}
	CU_ASSERT_EQUAL(reach[1].family, WH_IPV6);
	CU_ASSERT_EQUAL(reach[2].ip[0], 198);
}

static void test_least(void)
{
	CU_ASSERT_EQUAL_FATAL(parse("[peer]\nkey = " KEY "\n"), -1);
	CU_ASSERT_TRUE(peer.rights.read && peer.rights.write && peer.rights.measure);
	CU_ASSERT_FALSE(peer.rights.orders || peer.rights.orders_delete);
	CU_ASSERT_EQUAL(peer.rights.rate_bps, WH_RATE_MAX);
	CU_ASSERT_EQUAL(peer.rights.day_bytes, UINT64_MAX);
	CU_ASSERT_EQUAL(peer.rights.sessions + peer.rights.folders + peer.rights.subnets, 0);
	CU_ASSERT_EQUAL_FATAL(parse("[peer]\nsubject = *,O=Site\n"), -1);
	CU_ASSERT_STRING_EQUAL(peer.subject, "*,O=Site");
	CU_ASSERT_FALSE(peer.has_key);
}

/* Each is refused in a sentence that names file and line. */
static void test_refused(void)
{
	static const struct {
		const char *text;
		const char *said;
	} cases[] = {
		{"", "dtn2.conf: a peer needs either a key or"},
		{"[peer]\nkey = " KEY "\nsubject = CN=a\n", "dtn2.conf: a peer needs either"},
		{"[peer]\nkey = sha256:0\n", "dtn2.conf:2: key = 'sha256:0' is not sha256:"},
		{"[peer]\nkey = " KEY "\nkey = " KEY "\n",
			"dtn2.conf:3: key is already set at dtn2.conf:2"},
		{"[peer]\nkay = 1\n", "dtn2.conf:2: [peer] has no key 'kay'; did you mean 'key'?"},
		{"[peer]\nread = yes\n", "dtn2.conf:2: [peer] has no key 'read'"},
		{"[right]\nread = yes\n",
			"dtn2.conf:1: there is no section [right]; did you mean 'rights'?"},
		{"[rights]\nread = true\n", "dtn2.conf:2: read = 'true' is not yes or no"},
		{"[rights]\nfolder = /etc\n",
			"dtn2.conf:2: folder = '/etc' must be a relative path such as a/b"},
		{"[rights]\nfolder = a/../b\n", "must be a relative path such as a/b"},
		{"[rights]\nfolder = a/\n", "must be a relative path such as a/b"},
		{"[rights]\nfolder = .\n", "must be a relative path such as a/b"},
		{"[rights]\nfrom = 192.0.2.0\n", "is not a subnet"},
		{"[rights]\nfrom = 192.0.2.0/33\n", "is not a subnet"},
		{"[rights]\nrate = 10\n", "is below 1M"},
		{"[rights]\nrate = fast\n", "is not a rate"},
		{"[rights]\nsessions = 0\n", "is not from 1 to 4096"},
		{"[rights]\nsessions = 4097\n", "is not from 1 to 4096"},
		{"[rights]\nbytes = 1GB\n", "is not a size"},
		{"[rights]\nmap-owners = 1\n", "dtn2.conf:2: map-owners = '1' is not FROM=TO"},
		{"[rights]\nmap-owners = 1=2,1=3\n",
			"has two rules for the same owner, or more than 32 rules"},
		{"[rights]\nmap-groups = 4294967295=1\n", "must begin with a number, a name"},
		{"[rights]\nmap-owners = root=1\n", "`wavehaul trust add` converts names"},
		{"[peer]\naddress = 192.0.2\n", "is not an address"},
		{"[peer]\naddress = ::1\naddress = ::1\n", "dtn2.conf:3: address = '::1' is given"},
		{"[peer]\nsubject = CN=*\n", "has a * that is not its first"},
		{"key = " KEY "\n", "dtn2.conf:1: a [section] must come before"},
		{"[peer]\nkey = a\x01\n", "dtn2.conf:2: it contains a control character"},
		{"[peer]\nsubject = \xff\n", "dtn2.conf:2: not valid UTF-8"},
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(parse(cases[i].text), WH_EXIT_USAGE);
		CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), cases[i].said));
		if (strstr(wh_last_complaint(), cases[i].said) == NULL)
			printf("%s\n", wh_last_complaint());
	}
}

static void test_bounds(void)
{
	char text[4096] = "[peer]\nkey = " KEY "\n[rights]\n";

	for (uint32_t i = 0; i < WH_PEER_FOLDERS_MAX; i++)
		sprintf(text + strlen(text), "folder = f%u\n", i);
	CU_ASSERT_EQUAL(parse(text), -1);
	strcat(text, "folder = one\n");
	CU_ASSERT_EQUAL(parse(text), WH_EXIT_USAGE);
	sprintf(text, "[peer]\nkey = " KEY "\n[rights]\nfolder = %0255d\n", 1);
	CU_ASSERT_EQUAL(parse(text), -1);
	sprintf(text, "[peer]\nkey = " KEY "\n[rights]\nfolder = %0256d\n", 1);
	CU_ASSERT_EQUAL(parse(text), WH_EXIT_USAGE);
}

/* Names become numbers on the command line, and what is printed says the same again. */
static void test_owners(void)
{
	char text[WH_OWNER_MAP_TEXT_BYTES];
	char rights[WH_RIGHTS_TEXT_BYTES];
	struct wh_peer_file written;
	char *file;
	size_t bytes;

	CU_ASSERT_EQUAL(parse("[peer]\nkey = " KEY "\n"), -1);
	CU_ASSERT_FALSE(wh_owners_change(&peer.rights.owners));
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "map-owners=7=root,8=9,*=4294967294"), -1);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "map-groups=root=5"), -1);
	CU_ASSERT_STRING_EQUAL(
		wh_owner_map_text(&peer.rights.owners.users, text), "7=0,8=9,*=4294967294");
	CU_ASSERT_STRING_EQUAL(wh_owner_map_text(&peer.rights.owners.groups, text), "0=5");
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_rights_text(&peer.rights, rights), "; owners by rule"));
	written = peer;

	FILE *to = open_memstream(&file, &bytes);

	wh_peer_file_print(&peer, to);
	fclose(to);
	CU_ASSERT_EQUAL(parse(file), -1);
	CU_ASSERT_EQUAL(memcmp(&peer.rights, &written.rights, sizeof(peer.rights)), 0);
	free(file);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "map-owners=7=no-such-user"), WH_EXIT_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "not exist on this host"));
}

/* On the command line: the same words, and no line more than was meant. */
static void test_set(void)
{
	memset(&peer, 0, sizeof(peer));
	wh_rights_init(&peer.rights);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "write=no"), -1);
	CU_ASSERT_FALSE(peer.rights.write);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "folder=a#b"), -1);
	CU_ASSERT_STRING_EQUAL(peer.rights.folder[0], "a#b");
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "folder=a\nread = yes"), WH_EXIT_USAGE);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "write"), WH_EXIT_USAGE);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "right=no"), WH_EXIT_USAGE);
	CU_ASSERT_EQUAL(wh_peer_file_set(&peer, "=no"), WH_EXIT_USAGE);
}

static void test_names(void)
{
	static const char *const good[] = {"dtn2", "a", "192.0.2.1", "a_b-c.d"};
	static const char *const bad[] = {"", ".", "..", "-a", "a/b", "a b", "\xc3\xa4",
		"0123456789012345678901234567890123456789012345678901234567890123"};

	for (uint32_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_TRUE(wh_peer_name_is_good(good[i]));
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(wh_peer_name_is_good(bad[i]));
}

/* Written, read and listed; who may be another's, and who has two names, does not count. */
static void test_folder(void)
{
	char folder[] = "/tmp/wh-peers-XXXXXX";
	char path[PATH_MAX];
	char other[PATH_MAX];
	struct wh_peer_file again;
	struct wh_peer_list list, later;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	CU_ASSERT_EQUAL_FATAL(
		parse("[peer]\nkey = " KEY "\n[rights]\nfolder = a\\#b\nrate = 1G\n"), -1);
	CU_ASSERT_TRUE(wh_peer_file_path(folder, "dtn2", path));
	CU_ASSERT_TRUE(wh_peer_file_path(folder, "dtn3", other));
	CU_ASSERT_EQUAL(wh_peer_file_write(&peer, path), -1);
	CU_ASSERT_EQUAL(wh_peer_file_read(&again, "dtn2", path), -1);
	CU_ASSERT_EQUAL(memcmp(&peer, &again, sizeof(peer)), 0);
	CU_ASSERT_TRUE(wh_peer_list_read(&list, folder, NULL));
	CU_ASSERT_EQUAL(list.peers, 1);
	CU_ASSERT_PTR_NOT_NULL(wh_peer_list_with(&list, peer.id));
	CU_ASSERT_PTR_NULL(wh_peer_list_named(&list, "dtn3"));
	/* A folder that cannot be looked at (here: it is none) withdraws nobody's rights. */
	CU_ASSERT_FALSE(wh_peer_list_read(&later, path, &list));
	CU_ASSERT_EQUAL(later.peers, 1);
	CU_ASSERT_EQUAL(later.wrong, 1);
	CU_ASSERT_PTR_NOT_NULL(wh_peer_list_named(&later, "dtn2"));
	wh_peer_list_free(&later);
	CU_ASSERT_FALSE(wh_peer_list_read(&later, path, NULL));
	CU_ASSERT_EQUAL(later.peers, 0);
	wh_peer_list_free(&later);
	wh_peer_list_free(&list);

	CU_ASSERT_EQUAL(wh_peer_file_write(&peer, other), -1);
	CU_ASSERT_TRUE(wh_peer_list_read(&list, folder, NULL));
	CU_ASSERT_EQUAL(list.peers, 1);
	CU_ASSERT_EQUAL(list.wrong, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "dtn3 has the same key as dtn2"));
	wh_peer_list_free(&list);
	unlink(other);

	chmod(path, 0666);
	CU_ASSERT_TRUE(wh_peer_list_read(&list, folder, NULL));
	CU_ASSERT_EQUAL(list.peers, 0);
	CU_ASSERT_EQUAL(list.wrong, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "other users may write it"));
	wh_peer_list_free(&list);
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

CU_TestInfo wh_tests[] = {
	{"all that a file may say", test_all},
	{"those of our families", test_reach},
	{"the least", test_least},
	{"what is refused", test_refused},
	{"bounds", test_bounds},
	{"on the command line", test_set},
	{"owners", test_owners},
	{"names", test_names},
	{"a folder", test_folder},
	CU_TEST_INFO_NULL,
};
