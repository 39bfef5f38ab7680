/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/rings.h"

#include <stdlib.h>

#include "base/assert.h"
#include "file/ring.h"

static bool make(struct io_uring *ring)
{
	if (io_uring_queue_init(WH_RING_DEPTH, ring, IORING_SETUP_R_DISABLED) != 0)
		return false;
	if (wh_ring_restrict(ring) == 0)
		return true;
	io_uring_queue_exit(ring);
	return false;
}

void wh_rings_open(struct wh_rings *rings, uint32_t count)
{
	WH_ASSERT(!rings->opened);
	rings->opened = true;
	while (rings->made < count && rings->made < WH_RINGS_MAX && make(&rings->ring[rings->made]))
		rings->stack[rings->idle++] = &rings->ring[rings->made++];
}

void wh_rings_close(struct wh_rings *rings)
{
	/* The kernel may still write for a lost ring, which stays until the process ends. */
	while (rings->idle > 0)
		io_uring_queue_exit(rings->stack[--rings->idle]);
}

static struct io_uring *make_own(void)
{
	struct io_uring *ring = malloc(sizeof(*ring));

	if (ring == NULL || make(ring))
		return ring;
	free(ring);
	return NULL;
}

struct io_uring *wh_rings_take(struct wh_rings *rings)
{
	struct io_uring *ring = NULL;

	if (rings == NULL || !rings->opened)
		return make_own();
	WH_HOLD(&rings->lock);
	if (rings->idle > 0)
		ring = rings->stack[--rings->idle];
	return ring;
}

/* Removes prepared requests that were not submitted, so that they do not run for the next user. */
static void forget_prepared(struct io_uring *ring)
{
	unsigned int head = *ring->sq.khead;

	if (io_uring_sq_ready(ring) == 0)
		return;
	*ring->sq.ktail = head;
	ring->sq.sqe_head = head;
	ring->sq.sqe_tail = head;
}

void wh_rings_give(struct wh_rings *rings, struct io_uring *ring, uint32_t in_air)
{
	bool quiet = wh_ring_drain(ring, in_air);

	if (rings == NULL || !rings->opened) {
		io_uring_queue_exit(ring);
		free(ring);
		return;
	}
	if (!quiet)
		return;
	forget_prepared(ring);
	WH_HOLD(&rings->lock);
	WH_ASSERT(rings->idle < rings->made);
	rings->stack[rings->idle++] = ring;
}
