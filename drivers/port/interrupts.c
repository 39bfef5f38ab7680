/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_intr_instance_alloc, since DPDK 21.11 */
#include "port/interrupts.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_interrupts.h>

#define LOOKS        10000
#define LOOK_WAIT_US 100

static atomic_bool parked;

/* Called with none of the thread's locks held. */
static void park(void *unused)
{
	(void)unused;
	atomic_store(&parked, true);
	for (;;)
		pause();
}

int wh_interrupts_add(void (*callback)(void *unused))
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	int fd = eventfd(0, EFD_CLOEXEC);
	bool added = handle != NULL && fd >= 0 && rte_intr_fd_set(handle, fd) == 0 &&
		     rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
		     rte_intr_callback_register(handle, callback, NULL) == 0;

	if (handle != NULL)
		rte_intr_instance_free(handle);
	if (!added && fd >= 0)
		close(fd);
	return added ? fd : -1;
}

static bool call_to_park(void)
{
	int fd = wh_interrupts_add(park);

	return fd >= 0 && eventfd_write(fd, 1) == 0;
}

bool wh_interrupts_park(void)
{
	if (!atomic_load(&parked) && !call_to_park())
		return false;
	for (int i = 0; i < LOOKS && !atomic_load(&parked); i++)
		usleep(LOOK_WAIT_US);
	return atomic_load(&parked);
}
