/* SPDX-License-Identifier: BSD-3-Clause */

/* The rights of an identified peer: checked when HELLO is read, and while a job runs. */

#include "job/rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bundle/beneath.h"
#include "job/jobs.h"
#include "trust/trust_store.h"

/* Moved bytes are charged to the peer in steps of this. */
#define CHARGE_BYTES (UINT64_C(4) << 20)

const char *wh_rights_below(const char *folder, const char *path)
{
	size_t chars = strlen(folder);

	if (strncmp(path, folder, chars) != 0 || (path[chars] != '/' && path[chars] != '\0'))
		return NULL;
	path += chars;
	path += strspn(path, "/");
	return path[0] == '\0' ? "." : path;
}

static bool all_below(const char *folder, const char *const *path, uint32_t paths)
{
	for (uint32_t i = 0; i < paths; i++)
		if (wh_rights_below(folder, path[i]) == NULL)
			return false;
	return true;
}

/*
 * What each verb needs of a peer's rights. A verb without a row is refused. Only what moves bytes
 * of files, or of a measurement, needs bytes left of the day: a peer without any may still look,
 * make room, and steer orders, which are checked and charged when they run.
 */
struct need {
	bool read;
	bool write;
	bool measure;
	bool orders;
	bool moves;
	bool has_paths;
	const char *refusal; /* told if write or measure is missing */
	const char *unread;  /* told if read is missing */
};

static const char may_not_see[] = "you may not see what is here";
static const char may_not_get[] = "you may not get files from here";
static const char may_not_change[] = "you may not change what is here";
static const char may_not_measure[] = "you may not run measurements here";

static const struct need needs[WH_JOB_VERBS] = {
	[WH_JOB_SEND] = {.write = true,
		.moves = true,
		.has_paths = true,
		.refusal = "you may not send files here"},
	[WH_JOB_GET] = {.read = true,
		.moves = true,
		.has_paths = true,
		.refusal = "",
		.unread = may_not_get},
	[WH_JOB_BENCH] = {.measure = true, .moves = true, .refusal = may_not_measure},
	[WH_JOB_IDLE] = {.measure = true, .refusal = may_not_measure},
	[WH_JOB_LIST] = {.read = true, .has_paths = true, .refusal = "", .unread = may_not_see},
	[WH_JOB_USAGE] = {.read = true, .has_paths = true, .refusal = "", .unread = may_not_see},
	[WH_JOB_REMOVE] = {.read = true,
		.write = true,
		.has_paths = true,
		.refusal = may_not_change,
		.unread = may_not_see},
	[WH_JOB_MAKE] = {.read = true,
		.write = true,
		.has_paths = true,
		.refusal = may_not_change,
		.unread = may_not_see},
	[WH_JOB_MOVE] = {.read = true,
		.write = true,
		.has_paths = true,
		.refusal = may_not_change,
		.unread = may_not_see},
	[WH_JOB_PING] = {.refusal = ""},
	[WH_JOB_ORDER] = {.read = true,
		.orders = true,
		.has_paths = true,
		.refusal = "",
		.unread = may_not_get},
};

static const struct need *need_of(enum wh_job_verb verb)
{
	const struct need *need = (uint32_t)verb < WH_JOB_VERBS ? &needs[verb] : NULL;

	return need != NULL && need->refusal != NULL ? need : NULL;
}

bool wh_rights_moves(enum wh_job_verb verb)
{
	const struct need *need = need_of(verb);

	return need == NULL || need->moves;
}

/* What removes files needs a right of its own, at each end from which it removes them. */
static const char *removal_wrong(
	const struct wh_rights *rights, enum wh_job_verb verb, uint32_t wishes)
{
	bool from_here = verb == WH_JOB_GET || verb == WH_JOB_ORDER;

	if (from_here && (wishes & WH_CHOICE_MOVE) != 0 && !rights->write)
		return "you may not remove files from here (--move)";
	if (verb == WH_JOB_ORDER && (wishes & WH_CHOICE_DELETE) != 0 && !rights->orders_delete)
		return "your orders may not remove files from other hosts (--delete)";
	return NULL;
}

static const char *verb_wrong(
	const struct wh_rights *rights, enum wh_job_verb verb, uint32_t wishes)
{
	const struct need *need = need_of(verb);

	if (need == NULL)
		return "you may not do that here";
	if (need->orders && !rights->orders)
		return "you may not give orders to the queue here";
	if ((need->write && !rights->write) || (need->measure && !rights->measure))
		return need->refusal;
	if (need->read && !rights->read)
		return need->unread;
	if (verb == WH_JOB_SEND && !rights->read && (wishes & WH_CHOICES_TELL) != 0)
		return "you may not see what is here: send without --update, --ignore-existing, "
		       "--quick-check, --dry-run, --delete and --blocks";
	return removal_wrong(rights, verb, wishes);
}

const char *wh_rights_wrong(const struct wh_rights *rights, enum wh_job_verb verb, uint32_t wishes,
	const char *const *path, uint32_t paths, uint32_t *folder)
{
	const char *wrong = verb_wrong(rights, verb, wishes);

	*folder = UINT32_MAX;
	if (wrong != NULL || rights->folders == 0 || !needs[verb].has_paths)
		return wrong;
	for (uint32_t i = 0; i < rights->folders && *folder == UINT32_MAX; i++)
		if (all_below(rights->folder[i], path, paths))
			*folder = i;
	if (*folder != UINT32_MAX)
		return NULL;
	return paths > 1 ? "these paths are not all within one of the folders that you may use here"
			 : "that path is outside the folders that you may use here";
}

/* The folder replaces the root: links in it cannot lead elsewhere. */
static const char *enter_folder(struct wh_job *job, const char *folder)
{
	struct wh_request_paths *here = &job->request.here;
	const char **path = (const char **)here->path;
	int fd = wh_beneath_resolve(here->root_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return "the folder that you may use does not exist";
	job->rights.has_folder = true;
	job->rights.folder_fd = fd;
	here->root_fd = fd;
	for (uint32_t i = 0; i < here->count; i++)
		path[i] = wh_rights_below(folder, path[i]);
	return NULL;
}

/* A peer's own rules replace the general ones. */
static void take_owners(struct wh_owners *owners, const struct wh_owners *own)
{
	if (wh_owner_map_changes(&own->users))
		owners->users = own->users;
	if (wh_owner_map_changes(&own->groups))
		owners->groups = own->groups;
}

static const char *claim(struct wh_job *job, struct wh_store *store)
{
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;
	uint32_t folder;
	const char *wrong;

	job->rights.changes = atomic_load(&store->changes);
	if (!wh_store_rights(store, job->rights.number, &rights, name))
		return "you are no longer trusted here";
	wrong = wh_rights_wrong(&rights, job->request.verb, job->request.choice.wishes,
		job->request.here.path, job->request.here.count, &folder);
	if (wrong != NULL)
		return wrong;
	switch (wh_store_enter(store, job->rights.number)) {
	case 0:
		break;
	case -EBUSY:
		return "you have reached your limit of simultaneous jobs here";
	default:
		return "you are no longer trusted here";
	}
	job->rights.entered = true;
	if (wh_rights_moves(job->request.verb) && !wh_store_spend(store, job->rights.number, 0))
		return "you have used your byte quota for today";
	job->rights.rate_bps = rights.rate_bps;
	job->request.rate_bps = wh_min_u64(job->request.rate_bps, rights.rate_bps);
	atomic_store(&job->wishes.rate_bps, job->request.rate_bps);
	job->rights.blind = !rights.read;
	take_owners(&job->request.rules.owners, &rights.owners);
	/* An order's folder is opened by the queue, when the order's turn has come. */
	if (folder == UINT32_MAX || job->request.verb == WH_JOB_ORDER)
		return NULL;
	return enter_folder(job, rights.folder[folder]);
}

static struct wh_store *store_of(const struct wh_job *job)
{
	const struct wh_service *service = job->jobs->service;

	return job->role == WH_AT_SERVER && service != NULL ? service->store : NULL;
}

bool wh_job_claim_rights(struct wh_job *job, char why[WH_RIGHTS_WHY_BYTES])
{
	struct wh_store *store = store_of(job);
	const char *wrong = NULL;

	if (store != NULL && job->rights.number != 0)
		wrong = claim(job, store);
	else if (job->request.verb == WH_JOB_ORDER)
		wrong = "this server runs unsealed, and accepts orders only from authenticated "
			"peers";
	snprintf(why, WH_RIGHTS_WHY_BYTES, "%s", wrong != NULL ? wrong : "");
	return wrong == NULL;
}

static bool charge(struct wh_job *job, struct wh_store *store, uint64_t least_bytes)
{
	uint64_t moved_bytes = atomic_load_explicit(&job->view.moved_bytes, memory_order_relaxed);
	uint64_t more_bytes = moved_bytes - job->rights.counted_bytes;

	if (!job->rights.entered || more_bytes < least_bytes || !wh_rights_moves(job->request.verb))
		return true;
	job->rights.counted_bytes = moved_bytes;
	return wh_store_spend(store, job->rights.number, more_bytes);
}

bool wh_job_see_rights(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_store *store = store_of(job);
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;

	if (store == NULL || job->rights.number == 0)
		return true;
	if (!charge(job, store, CHARGE_BYTES)) {
		wh_job_give_up(job, now_tsc, WH_STATUS_REFUSED,
			"the peer has used its byte quota for today");
		return false;
	}

	uint32_t changes = atomic_load_explicit(&store->changes, memory_order_relaxed);

	if (changes == job->rights.changes)
		return true;
	job->rights.changes = changes;
	if (wh_store_rights(store, job->rights.number, &rights, name))
		return true;
	wh_job_say(job, now_tsc, "ended: this peer's rights here were revoked or changed");
	wh_job_give_up(
		job, now_tsc, WH_STATUS_REVOKED, "the peer's rights here were revoked or changed");
	return false;
}

void wh_job_drop_rights(struct wh_job *job)
{
	struct wh_store *store = store_of(job);

	if (job->rights.entered) {
		(void)charge(job, store, 1);
		wh_store_leave(store, job->rights.number);
	}
	if (job->rights.has_folder)
		close(job->rights.folder_fd);
	job->rights.entered = false;
	job->rights.has_folder = false;
}
