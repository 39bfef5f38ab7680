/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t wh_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	syscall(SYS_capget, &head, data);
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

int wh_capabilities_keep(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct data[2] = {
		{.effective = (uint32_t)keep, .permitted = (uint32_t)keep},
		{.effective = (uint32_t)(keep >> 32), .permitted = (uint32_t)(keep >> 32)},
	};

	return syscall(SYS_capset, &head, data) != 0 ? -errno : 0;
}
