/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/trust_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <openssl/pem.h>

#include "cli/address_text.h"
#include "site.h"
#include "trust/fingerprint.h"
#include "unit.h"

const char wh_suite_name[] = "trust_store";

static char folder[] = "/tmp/wh-store-XXXXXX";
static struct wh_trust_place place;
static struct wh_identity own;
static struct wh_identity server;
static struct wh_identity other;
static struct wh_store store;

static void write_peer(const char *name, const struct wh_identity *identity, const char *more)
{
	char path[PATH_MAX];
	char id[WH_ID_TEXT_BYTES];

	CU_ASSERT_TRUE(wh_peer_file_path(place.peers, name, path));

	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, "[peer]\nkey = %s\n%s", wh_id_text(identity->id, id), more);
	fclose(file);
	chmod(path, 0600);
}

static void remove_peer(const char *name)
{
	char path[PATH_MAX];

	wh_peer_file_path(place.peers, name, path);
	unlink(path);
}

void wh_set_up(void)
{
	strcpy(folder, "/tmp/wh-store-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	setenv("WAVEHAUL_CONFIG_DIR", folder, 1);
	CU_ASSERT_TRUE_FATAL(wh_trust_place_find(&place, "", ""));
	mkdir(place.peers, 0700);
	if (own.key == NULL) {
		CU_ASSERT_EQUAL_FATAL(wh_identity_make(&own), 0);
		CU_ASSERT_EQUAL_FATAL(wh_identity_make(&server), 0);
		CU_ASSERT_EQUAL_FATAL(wh_identity_make(&other), 0);
	}
	CU_ASSERT_EQUAL_FATAL(wh_store_open(&store, &place, own.id), -1);
}

void wh_take_down(void)
{
	char command[64];

	wh_store_close(&store);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

static enum wh_authorization authorize(
	const struct wh_identity *identity, const char *from, bool we_asked, uint64_t *rights)
{
	struct wh_stranger stranger = {
		.id = identity->id,
		.certificate = identity->certificate,
		.we_asked = we_asked,
	};
	struct wh_authorizer authorizer = wh_store_authorizer(&store);

	struct wh_granted granted = {0};

	CU_ASSERT_TRUE(wh_address_parse(from, &stranger.address));

	enum wh_authorization authorization =
		authorizer.authorize(authorizer.context, &stranger, &granted);

	CU_ASSERT_EQUAL(authorization == WH_AUTHORIZED, granted.rights != 0);
	CU_ASSERT(authorization != WH_AUTHORIZED ||
		  memcmp(granted.owner, identity->id, WH_IDENTITY_BYTES) == 0);
	*rights = granted.rights;
	return authorization;
}

static bool holds(uint64_t rights)
{
	struct wh_authorizer authorizer = wh_store_authorizer(&store);

	return authorizer.holds(authorizer.context, rights);
}

static bool refusal_says(const char *what)
{
	char text[WH_REFUSAL_BYTES];

	wh_store_refusal(&store, text);
	if (strstr(text, what) == NULL)
		printf("it says: %s\n", text);
	return strstr(text, what) != NULL;
}

static void test_unknown(void)
{
	char command[128 + WH_ID_TEXT_BYTES];
	char id[WH_ID_TEXT_BYTES];
	uint64_t rights;

	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.9", false, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.9", true, &rights), WH_UNAUTHORIZED);
	snprintf(command, sizeof(command), "wavehaul trust add peer-192.0.2.9 %s address=192.0.2.9",
		wh_id_text(other.id, id));
	CU_ASSERT_TRUE(refusal_says("192.0.2.9 presents the key "));
	CU_ASSERT_TRUE(refusal_says(command));
	CU_ASSERT_EQUAL(authorize(&own, "192.0.2.9", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(rights, WH_RIGHTS_OWN);
	CU_ASSERT_TRUE(holds(rights));
}

static void test_known(void)
{
	struct wh_rights rights;
	char name[WH_PEER_NAME_BYTES];
	uint64_t number;
	uint64_t again;

	write_peer("dtn2", &server, "[rights]\nwrite = no\nfolder = a\n");
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &number), WH_UNAUTHORIZED);
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &number), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.3", false, &again), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(number, again);
	CU_ASSERT_TRUE(holds(number));
	CU_ASSERT_FALSE(holds(number + 1));
	CU_ASSERT_FALSE(holds(0));
	CU_ASSERT_TRUE(wh_store_rights(&store, number, &rights, name));
	CU_ASSERT_STRING_EQUAL(name, "dtn2");
	CU_ASSERT_FALSE(rights.write);
	CU_ASSERT_TRUE(rights.read);
	CU_ASSERT_STRING_EQUAL(rights.folder[0], "a");
	CU_ASSERT_TRUE(wh_store_rights(&store, WH_RIGHTS_OWN, &rights, name));
	CU_ASSERT_TRUE(rights.write);
	CU_ASSERT_FALSE(wh_store_rights(&store, 0, &rights, name));
}

/* What changes nothing withdraws nothing; another right, or none, does, and is not got back. */
static void test_withdrawn(void)
{
	struct wh_rights rights;
	char name[WH_PEER_NAME_BYTES];
	uint64_t before;
	uint64_t after;
	uint32_t changes;

	write_peer("dtn2", &server, "");
	write_peer("dtn3", &other, "");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &before), WH_AUTHORIZED);
	changes = atomic_load(&store.changes);
	write_peer("dtn2", &server, "# a remark\naddress = 192.0.2.2\n");
	remove_peer("dtn3");
	wh_store_reload(&store);
	CU_ASSERT_TRUE(holds(before));
	CU_ASSERT_EQUAL(atomic_load(&store.changes), changes);

	write_peer("dtn2", &server, "[rights]\nread = no\n");
	wh_store_reload(&store);
	CU_ASSERT_FALSE(holds(before));
	CU_ASSERT_NOT_EQUAL(atomic_load(&store.changes), changes);
	CU_ASSERT_FALSE(wh_store_rights(&store, before, &rights, name));
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &after), WH_AUTHORIZED);
	CU_ASSERT_NOT_EQUAL(before, after);
	CU_ASSERT_FALSE(holds(before));

	/* What is wrong counts for what it was, until it is right or gone. */
	write_peer("dtn2", &server, "[rights]\nread = perhaps\n");
	write_peer("dtn3", &other, "[rights]\nread = perhaps\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(store.list.wrong, 2);
	CU_ASSERT_TRUE(holds(after));
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &before), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(before, after);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.3", false, &before), WH_UNAUTHORIZED);
	remove_peer("dtn2");
	wh_store_reload(&store);
	CU_ASSERT_FALSE(holds(after));
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &after), WH_UNAUTHORIZED);
}

/* Within a second, by itself. */
static void test_looks(void)
{
	uint64_t rights;

	write_peer("dtn2", &server, "");
	for (uint32_t tenth = 0; tenth < 12; tenth++) {
		wh_store_look(&store);
		if (authorize(&server, "192.0.2.2", false, &rights) == WH_AUTHORIZED)
			break;
		usleep(100000);
	}
	CU_ASSERT_NOT_EQUAL(rights, 0);
	remove_peer("dtn2");
	for (uint32_t tenth = 0; tenth < 12 && holds(rights); tenth++) {
		wh_store_look(&store);
		usleep(100000);
	}
	CU_ASSERT_FALSE(holds(rights));
}

static void test_from(void)
{
	uint64_t rights;

	write_peer("dtn2", &server, "[rights]\nfrom = 192.0.2.0/24\nfrom = 2001:db8::/32\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.77", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&server, "2001:db8::1", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&server, "198.51.100.1", false, &rights), WH_UNAUTHORIZED);
	/* A server is where we look for it. */
	CU_ASSERT_EQUAL(authorize(&server, "198.51.100.1", true, &rights), WH_AUTHORIZED);
}

static void test_changed_key(void)
{
	uint64_t rights;

	write_peer("dtn2", &server, "address = 192.0.2.2\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.2", true, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_TRUE(refusal_says("NOT THE KEY of dtn2"));
	CU_ASSERT_TRUE(refusal_says("wavehaul trust remove dtn2"));
	/* Nor somebody else who is trusted. */
	write_peer("dtn3", &other, "address = 192.0.2.3\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.3", true, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.2", true, &rights), WH_UNAUTHORIZED);
	/* By name: wherever it is. */
	strcpy(store.expected, "dtn2");
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.3", true, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.3", true, &rights), WH_AUTHORIZED);
}

/* Who has our own key is one of us, but nobody else: whom we look for by name or address is he. */
static void test_own_key(void)
{
	struct wh_address address;
	uint8_t id[WH_IDENTITY_BYTES];
	uint64_t rights;

	write_peer("dtn2", &server, "address = 192.0.2.2\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&own, "192.0.2.2", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&own, "192.0.2.3", true, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&own, "192.0.2.2", true, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_TRUE(refusal_says("NOT THE KEY of dtn2"));
	CU_ASSERT_TRUE(wh_address_parse("192.0.2.2", &address));
	CU_ASSERT_TRUE(wh_store_meant(&store, &address, id));
	CU_ASSERT_EQUAL(memcmp(id, server.id, WH_IDENTITY_BYTES), 0);
	/* By name: wherever it is. */
	CU_ASSERT_TRUE(wh_address_parse("192.0.2.3", &address));
	CU_ASSERT_FALSE(wh_store_meant(&store, &address, id));
	strcpy(store.expected, "dtn2");
	CU_ASSERT_EQUAL(authorize(&own, "192.0.2.3", true, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_TRUE(wh_store_meant(&store, &address, id));
	/* Unless the peer has our key. */
	write_peer("dtn3", &own, "address = 192.0.2.4\n");
	wh_store_reload(&store);
	store.expected[0] = '\0';
	CU_ASSERT_EQUAL(authorize(&own, "192.0.2.4", true, &rights), WH_AUTHORIZED);
}

/* Where peers are, as a handshake server asks that is flooded: of thousands, at any port. */
static void test_knows(void)
{
	struct wh_authorizer authorizer = wh_store_authorizer(&store);
	struct wh_address address;
	uint32_t known = 0;

	write_peer("dtn2", &server,
		"address = 192.0.2.2\naddress = 2001:db8::2\naddress = 10.0.0.1\n");
	write_peer("dtn3", &other, "address = 192.0.2.3\naddress = 192.0.2.255\n");
	wh_store_reload(&store);
	CU_ASSERT_TRUE(wh_address_parse("2001:db8::2", &address));
	address.port = 77;
	CU_ASSERT_TRUE(authorizer.knows(authorizer.context, &address));
	CU_ASSERT_TRUE(wh_address_parse("2001:db8::3", &address));
	CU_ASSERT_FALSE(authorizer.knows(authorizer.context, &address));
	for (uint32_t i = 0; i < 256; i++) {
		address = (struct wh_address){.family = WH_IPV4, .ip = {192, 0, 2, (uint8_t)i}};
		known += authorizer.knows(authorizer.context, &address);
	}
	CU_ASSERT_EQUAL(known, 3);
	remove_peer("dtn2");
	wh_store_reload(&store);
	address.ip[3] = 2;
	CU_ASSERT_FALSE(authorizer.knows(authorizer.context, &address));
}

/* Where a peer was met first it is known from then on. */
static void test_bound(void)
{
	uint64_t rights;

	write_peer("dtn2", &server, "");
	write_peer("dtn3", &other, "");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZED);
	store.looked_s--;
	wh_store_look(&store);
	CU_ASSERT_TRUE(holds(rights));
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.2", true, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_TRUE(refusal_says("NOT THE KEY of dtn2"));
}

/* Two clients of a user that meet a peer at the same time both want to add its address. */
static void test_bound_at_once(void)
{
	char path[PATH_MAX];
	struct wh_peer_file peer;
	uint64_t rights;

	write_peer("dtn2", &server, "");
	CU_ASSERT_TRUE(wh_peer_file_path(place.peers, "dtn2", path));
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZED);
	write_peer("dtn2", &server, "address = 192.0.2.2\n");
	store.looked_s--;
	wh_store_look(&store);
	CU_ASSERT_EQUAL(store.list.wrong, 0);
	CU_ASSERT_EQUAL_FATAL(wh_peer_file_read(&peer, "dtn2", path), -1);
	CU_ASSERT_EQUAL(peer.addresses, 1);
	CU_ASSERT_TRUE(holds(rights));
}

/* So many jobs at once, so many bytes in a day; the day goes on where rights change. */
static void test_limits(void)
{
	uint64_t rights;
	uint64_t after;

	write_peer("dtn2", &server, "[rights]\nsessions = 2\nbytes = 10K\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_EQUAL(wh_store_enter(&store, rights), 0);
	CU_ASSERT_EQUAL(wh_store_enter(&store, rights), 0);
	CU_ASSERT_EQUAL(wh_store_enter(&store, rights), -EBUSY);
	wh_store_leave(&store, rights);
	CU_ASSERT_EQUAL(wh_store_enter(&store, rights), 0);
	CU_ASSERT_TRUE(wh_store_spend(&store, rights, 0));
	CU_ASSERT_TRUE(wh_store_spend(&store, rights, 10239));
	CU_ASSERT_FALSE(wh_store_spend(&store, rights, 1));
	CU_ASSERT_TRUE(wh_store_spend(&store, WH_RIGHTS_OWN, UINT64_C(1) << 60));
	CU_ASSERT_EQUAL(wh_store_enter(&store, WH_RIGHTS_OWN), 0);

	write_peer("dtn2", &server, "[rights]\nbytes = 11K\n");
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(wh_store_enter(&store, rights), -ENOENT);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &after), WH_AUTHORIZED);
	CU_ASSERT_TRUE(wh_store_spend(&store, after, 1023));
	CU_ASSERT_FALSE(wh_store_spend(&store, after, 1));
	wh_store_leave(&store, rights);
	wh_store_leave(&store, rights);
}

/* What was moved in a day is known to the next process, and no reason for one to say so. */
static void test_days_go_on(void)
{
	char path[PATH_MAX];
	uint64_t rights;

	write_peer("dtn2", &server, "[rights]\nbytes = 10K\n");
	snprintf(path, sizeof(path), "%s/days", folder);
	wh_store_reload(&store);
	wh_store_keep_days(&store, path);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_TRUE(wh_store_spend(&store, rights, 10239));
	wh_store_close(&store);
	CU_ASSERT_EQUAL_FATAL(wh_store_open(&store, &place, own.id), -1);
	wh_store_keep_days(&store, path);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_AUTHORIZED);
	CU_ASSERT_TRUE(wh_store_spend(&store, rights, 0));
	CU_ASSERT_FALSE(wh_store_spend(&store, rights, 1));
}

/* A person says yes, and only then; the server may ask nothing of us. */
static void test_question(void)
{
	struct wh_rights granted;
	char name[WH_PEER_NAME_BYTES];
	char shown[WH_FINGERPRINT_BYTES];
	uint64_t rights;
	int terminal[2];

	CU_ASSERT_EQUAL_FATAL(pipe(terminal), 0);
	dup2(terminal[0], STDIN_FILENO);
	store.may_ask = true;
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_UNAUTHORIZED);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZATION_PENDING);
	wh_store_look(&store);
	wh_store_look(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZATION_PENDING);
	dprintf(terminal[1], "what?\n");
	wh_store_look(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZATION_PENDING);
	dprintf(terminal[1], "%s\n", wh_fingerprint_text(server.id, shown));
	wh_store_look(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", true, &rights), WH_AUTHORIZED);
	CU_ASSERT_TRUE(wh_store_rights(&store, rights, &granted, name));
	CU_ASSERT_STRING_EQUAL(name, "peer-192.0.2.2");
	CU_ASSERT_FALSE(granted.read || granted.write || granted.measure);

	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.3", true, &rights), WH_AUTHORIZATION_PENDING);
	wh_store_look(&store);
	dprintf(terminal[1], "no\n");
	wh_store_look(&store);
	CU_ASSERT_EQUAL(authorize(&other, "192.0.2.3", true, &rights), WH_UNAUTHORIZED);
	close(terminal[0]);
	close(terminal[1]);
}

/* Rights that change again and again: what was withdrawn makes room at once. */
static void test_withdrawn_make_room(void)
{
	uint64_t rights;

	for (uint32_t i = 0; i < WH_ANSWERS_MAX + 10; i++) {
		write_peer("dtn2", &server, i % 2 == 0 ? "" : "[rights]\nwrite = no\n");
		wh_store_reload(&store);
		CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_AUTHORIZED);
		CU_ASSERT_TRUE(holds(rights));
	}
}

static void write_subject(const char *name, const char *subject, const char *more)
{
	char path[PATH_MAX + 64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.conf", place.peers, name);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, "[peer]\nsubject = %s\n%s", subject, more);
	fclose(file);
}

static void write_site(const struct party *site)
{
	char path[PATH_MAX + 64];
	FILE *file;

	mkdir(place.authorities, 0700);
	snprintf(path, sizeof(path), "%s/site.pem", place.authorities);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	PEM_write_X509(file, site->certificate);
	fclose(file);
	write_subject("site", "*,O=Site", "");
}

static bool takes(const struct party *party, STACK_OF(X509) * chain, uint64_t *rights)
{
	uint8_t id[WH_IDENTITY_BYTES];
	struct wh_stranger stranger = {.id = id, .certificate = party->certificate, .chain = chain};
	struct wh_authorizer authorizer = wh_store_authorizer(&store);
	struct wh_granted granted = {0};

	CU_ASSERT_EQUAL(wh_identity_of(party->certificate, id), 0);
	CU_ASSERT_TRUE(wh_address_parse("192.0.2.2", &stranger.address));

	bool taken = authorizer.authorize(authorizer.context, &stranger, &granted) == WH_AUTHORIZED;

	*rights = granted.rights;
	return taken;
}

/* One of a site makes proxy after proxy: he loses his own, and nobody else his place. */
static void test_many_proxies(void)
{
	STACK_OF(X509) *chain = sk_X509_new_null();
	uint64_t rights, first = 0;

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 50);
	struct party user = issue(&site, "user", OWNER, 2, 50);
	struct party neighbour = issue(&site, "neighbour", OWNER, 3, 50);

	write_site(&site);
	wh_store_reload(&store);
	sk_X509_push(chain, user.certificate);
	for (uint32_t i = 0; i < WH_ANSWERS_MAX + 1; i++) {
		struct party proxy = issue(&user, "proxy", PROXY, 10 + i, 50);

		CU_ASSERT_TRUE(takes(&proxy, chain, &rights));
		CU_ASSERT_TRUE(holds(rights));
		first = i == 0 ? rights : first;
		drop(&proxy);
	}
	CU_ASSERT_FALSE(holds(first));
	CU_ASSERT_TRUE(takes(&neighbour, NULL, &rights));
	CU_ASSERT_TRUE(holds(rights));
	sk_X509_free(chain);
	drop(&site), drop(&user), drop(&neighbour);
}

/* As the process's own clocks, so far ahead. */
static int64_t day_ahead_s;
static int64_t steady_ahead_s;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long rc = syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += clock == CLOCK_REALTIME ? day_ahead_s : steady_ahead_s;
	return (int)rc;
}

/* The time of day is set to that, and a second later somebody looks. */
static void set_day(int64_t day_s)
{
	struct timespec now;

	day_ahead_s = 0;
	clock_gettime(CLOCK_REALTIME, &now);
	day_ahead_s = day_s - now.tv_sec;
	steady_ahead_s++;
	wh_store_look(&store);
}

/*
 * A certificate of a year to both sides of NOW_S: none is taken before and after that, and who came
 * in time goes on when the clock is set back, and no longer when it has ended.
 */
static void test_clock_is_set(void)
{
	uint64_t rights, second;

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 50);
	struct party user = issue(&site, "user", OWNER, 2, 1);

	write_site(&site);
	wh_store_reload(&store);
	set_day(NOW_S - YEAR_S - 60);
	CU_ASSERT_FALSE(takes(&user, NULL, &rights));
	set_day(NOW_S - YEAR_S + 60);
	CU_ASSERT_TRUE(takes(&user, NULL, &rights));
	set_day(NOW_S - YEAR_S - 86400); /* a day back, before it began */
	CU_ASSERT_TRUE(holds(rights));
	set_day(NOW_S + YEAR_S - 60);
	CU_ASSERT_TRUE(holds(rights));
	CU_ASSERT_TRUE(takes(&user, NULL, &second));
	CU_ASSERT_EQUAL(second, rights);
	set_day(NOW_S + YEAR_S + 60);
	CU_ASSERT_FALSE(holds(rights));
	CU_ASSERT_FALSE(takes(&user, NULL, &second));
	/* That clock was wrong: who comes again is let in, what had ended stays so. */
	set_day(NOW_S);
	CU_ASSERT_FALSE(holds(rights));
	CU_ASSERT_TRUE(takes(&user, NULL, &second));
	CU_ASSERT_TRUE(holds(second));
	day_ahead_s = 0;
	drop(&site), drop(&user);
}

/* Of the same key, both from the same site. */
static struct party again(const struct party *party, const struct party *site, const char *name,
	long pn, int64_t years)
{
	EVP_PKEY_up_ref(party->key);
	return issue_for(party->key, site, name, OWNER, pn, years);
}

/* A renewed certificate counts by itself, and so does one that makes its key somebody else. */
static void test_certificates_of_a_key(void)
{
	uint64_t first, second, reading;
	struct wh_rights rights;
	char name[WH_PEER_NAME_BYTES];

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 50);
	struct party user = issue(&site, "user", OWNER, 2, 1);
	struct party renewed = again(&user, &site, "user", 3, 2);
	struct party reader = again(&user, &site, "reader", 4, 2);

	write_site(&site);
	write_subject("site", "CN=user,O=Site", "");
	write_subject("reader", "CN=reader,O=Site", "[rights]\nwrite = no\n");
	wh_store_reload(&store);
	set_day(NOW_S);
	CU_ASSERT_TRUE(takes(&user, NULL, &first));
	CU_ASSERT_TRUE(takes(&renewed, NULL, &second));
	CU_ASSERT_TRUE(takes(&reader, NULL, &reading));
	CU_ASSERT_TRUE(wh_store_rights(&store, second, &rights, name));
	CU_ASSERT_TRUE(rights.write);
	CU_ASSERT_TRUE(wh_store_rights(&store, reading, &rights, name));
	CU_ASSERT_STRING_EQUAL(name, "reader");
	CU_ASSERT_FALSE(rights.write);
	set_day(NOW_S + YEAR_S + 60);
	CU_ASSERT_FALSE(holds(first));
	CU_ASSERT_TRUE(holds(second));
	CU_ASSERT_TRUE(holds(reading));
	day_ahead_s = 0;
	drop(&site), drop(&user), drop(&renewed), drop(&reader);
}

/*
 * An order runs on while its peer is away, but not beyond the certificate by which it was given,
 * unless there is a later one; of the same file somebody else is not affected.
 */
static void test_orders_of_a_certificate(void)
{
	uint8_t owner[WH_IDENTITY_BYTES], neighbour[WH_IDENTITY_BYTES];
	struct wh_rights rights;
	uint64_t number;

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 50);
	struct party user = issue(&site, "user", OWNER, 2, 1);
	struct party other_user = issue(&site, "other", OWNER, 3, 2);
	struct party renewed = again(&user, &site, "user", 4, 2);

	write_site(&site);
	wh_store_reload(&store);
	set_day(NOW_S);
	CU_ASSERT_TRUE(takes(&user, NULL, &number));
	CU_ASSERT_TRUE(wh_store_owner(&store, number, owner));
	CU_ASSERT_TRUE(takes(&other_user, NULL, &number));
	CU_ASSERT_TRUE(wh_store_owner(&store, number, neighbour));
	CU_ASSERT_TRUE(wh_store_rights_of(&store, "site", owner, &rights));
	/* Rights that changed are another matter, and seen by comparing them. */
	write_subject("site", "*,O=Site", "[rights]\nwrite = no\n");
	wh_store_reload(&store);
	CU_ASSERT_FALSE(holds(number));
	CU_ASSERT_TRUE(wh_store_rights_of(&store, "site", owner, &rights));
	CU_ASSERT_TRUE(takes(&user, NULL, &number));
	CU_ASSERT_TRUE(takes(&other_user, NULL, &number));
	set_day(NOW_S + YEAR_S + 60);
	CU_ASSERT_FALSE(wh_store_rights_of(&store, "site", owner, &rights));
	CU_ASSERT_TRUE(wh_store_rights_of(&store, "site", neighbour, &rights));
	CU_ASSERT_TRUE(takes(&renewed, NULL, &number));
	CU_ASSERT_TRUE(wh_store_rights_of(&store, "site", owner, &rights));
	day_ahead_s = 0;
	drop(&site), drop(&user), drop(&other_user), drop(&renewed);
}

/* Who may write there could bring back a peer that was removed. */
static void test_folder_of_others(void)
{
	uint64_t rights;

	write_peer("dtn2", &server, "");
	chmod(place.peers, 0770);
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_UNAUTHORIZED);
	chmod(place.peers, 0750);
	wh_store_reload(&store);
	CU_ASSERT_EQUAL(authorize(&server, "192.0.2.2", false, &rights), WH_AUTHORIZED);
}

CU_TestInfo wh_tests[] = {
	{"who is not known", test_unknown},
	{"who is known", test_known},
	{"our own key", test_own_key},
	{"where peers are", test_knows},
	{"withdrawn", test_withdrawn},
	{"looked at by itself", test_looks},
	{"from where", test_from},
	{"another key", test_changed_key},
	{"where it was met", test_bound},
	{"met by two at once", test_bound_at_once},
	{"so many, and so much", test_limits},
	{"days go on", test_days_go_on},
	{"a person is asked", test_question},
	{"withdrawn make room", test_withdrawn_make_room},
	{"many proxies", test_many_proxies},
	{"a clock is set", test_clock_is_set},
	{"certificates of a key", test_certificates_of_a_key},
	{"orders of a certificate", test_orders_of_a_certificate},
	{"folder of others", test_folder_of_others},
	CU_TEST_INFO_NULL,
};
