/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/spool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/all_bytes.h"

#define FULL_BYTES ((size_t)1 << 20)

/* False: no more will come. */
static bool take(struct wh_spool *spool, char **bytes, size_t *count)
{
	pthread_mutex_lock(&spool->lock);
	while (spool->used == 0 && !spool->closing)
		pthread_cond_wait(&spool->more, &spool->lock);
	*bytes = spool->bytes;
	*count = spool->used;
	spool->bytes = NULL;
	spool->used = spool->room = 0;
	pthread_mutex_unlock(&spool->lock);
	return *count > 0;
}

static void *run(void *state)
{
	struct wh_spool *spool = state;
	char *bytes;
	size_t count;

	while (take(spool, &bytes, &count)) {
		if (spool->error == 0)
			spool->error = wh_write_all(STDOUT_FILENO, bytes, count);
		if (spool->error != 0)
			atomic_store(&spool->broken, true);
		atomic_fetch_sub(&spool->waiting, count);
		free(bytes);
	}
	return NULL;
}

int wh_spool_open(struct wh_spool *spool)
{
	*spool = (struct wh_spool){.bytes = NULL};
	pthread_mutex_init(&spool->lock, NULL);
	pthread_cond_init(&spool->more, NULL);
	return -pthread_create(&spool->thread, NULL, run, spool);
}

void wh_spool_put(struct wh_spool *spool, const char *text, size_t bytes)
{
	pthread_mutex_lock(&spool->lock);
	if (spool->used + bytes > spool->room) {
		size_t room = 2 * (spool->used + bytes);
		char *more = realloc(spool->bytes, room);

		WH_ASSERT(more != NULL);
		spool->bytes = more;
		spool->room = room;
	}
	memcpy(spool->bytes + spool->used, text, bytes);
	spool->used += bytes;
	atomic_fetch_add(&spool->waiting, bytes);
	pthread_cond_signal(&spool->more);
	pthread_mutex_unlock(&spool->lock);
}

bool wh_spool_has_room(const struct wh_spool *spool)
{
	return atomic_load(&spool->waiting) < FULL_BYTES || atomic_load(&spool->broken);
}

int wh_spool_close(struct wh_spool *spool)
{
	pthread_mutex_lock(&spool->lock);
	spool->closing = true;
	pthread_cond_signal(&spool->more);
	pthread_mutex_unlock(&spool->lock);
	pthread_join(spool->thread, NULL);
	pthread_mutex_destroy(&spool->lock);
	pthread_cond_destroy(&spool->more);
	return spool->error;
}
