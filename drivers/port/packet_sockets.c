/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/packet_sockets.h"

#include "base/units.h"

#include <dirent.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <sys/socket.h>

static bool is_bound_to(int fd, uint32_t if_index)
{
	struct sockaddr_ll address = {0};
	socklen_t bytes = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 &&
	       address.sll_family == AF_PACKET && address.sll_ifindex == (int)if_index;
}

void wh_packet_sockets_find(struct wh_packet_sockets *sockets, uint32_t if_index)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	*sockets = (struct wh_packet_sockets){0};
	while (folder != NULL && (entry = readdir(folder)) != NULL &&
		sockets->count < WH_PACKET_SOCKETS_MAX) {
		uint64_t fd;

		if (wh_parse_count(entry->d_name, &fd) == 0 && is_bound_to((int)fd, if_index))
			sockets->fd[sockets->count++] = (int)fd;
	}
	if (folder != NULL)
		closedir(folder);
}

/* Reading the count resets it, so each drop is reported to only one caller. */
uint64_t wh_packet_sockets_dropped(struct wh_packet_sockets *sockets)
{
	for (uint32_t i = 0; i < sockets->count; i++) {
		struct tpacket_stats stats;
		socklen_t bytes = sizeof(stats);

		if (getsockopt(sockets->fd[i], SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0)
			__atomic_fetch_add(
				&sockets->dropped_pkts, stats.tp_drops, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&sockets->dropped_pkts, __ATOMIC_RELAXED);
}
