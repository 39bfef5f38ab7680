/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/interface.h"

#include <errno.h>
#include <net/if.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "base/assert.h"

/*
 * A socket for ioctls; any kind will do. It is created by the first question and kept, because a
 * guarded process can create none; it is of a kind that sends nothing before it is connected.
 */
static int asking_socket(void)
{
	static _Atomic int kept = -1;
	int none = -1;

	if (kept >= 0)
		return kept;

	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (!atomic_compare_exchange_strong(&kept, &none, fd))
		close(fd);
	return kept;
}

static int ask(const char *name, unsigned long question, struct ifreq *request)
{
	WH_ASSERT(strlen(name) < sizeof(request->ifr_name));

	int fd = asking_socket();

	if (fd < 0)
		return fd;
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
	return ioctl(fd, question, request) == 0 ? 0 : -errno;
}

int wh_interface_number(const char *name, unsigned int *number)
{
	struct ifreq request = {.ifr_ifindex = 0};
	int error = ask(name, SIOCGIFINDEX, &request);

	if (error == 0)
		*number = (unsigned int)request.ifr_ifindex;
	return error;
}

int wh_interface_name(unsigned int number, char name[IF_NAMESIZE])
{
	struct ifreq request = {.ifr_ifindex = (int)number};
	int error = ask("", SIOCGIFNAME, &request);

	if (error == 0)
		memcpy(name, request.ifr_name, IF_NAMESIZE);
	return error;
}

int wh_interface_mtu(const char *name, uint32_t *mtu)
{
	struct ifreq request = {.ifr_flags = 0};
	int error = ask(name, SIOCGIFMTU, &request);

	if (error == 0)
		*mtu = (uint32_t)request.ifr_mtu;
	return error;
}

int wh_interface_is_up(const char *name, bool *up)
{
	struct ifreq request = {.ifr_flags = 0};
	int error = ask(name, SIOCGIFFLAGS, &request);

	if (error == 0)
		*up = (request.ifr_flags & IFF_UP) != 0;
	return error;
}

int wh_interface_queues(const char *name, uint32_t *queues)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq request = {.ifr_data = (char *)&channels};
	int error = ask(name, SIOCETHTOOL, &request);

	if (error == 0)
		*queues = channels.rx_count + channels.combined_count;
	return error;
}

static int ask_value(const char *name, uint32_t command, uint32_t *value)
{
	struct ethtool_value answer = {.cmd = command};
	struct ifreq request = {.ifr_data = (char *)&answer};
	int error = ask(name, SIOCETHTOOL, &request);

	if (error == 0)
		*value = answer.data;
	return error;
}

int wh_interface_merges(const char *name, bool *merges)
{
	uint32_t gro = 0, flags = 0;
	int error = ask_value(name, ETHTOOL_GGRO, &gro);

	if (error == 0)
		error = ask_value(name, ETHTOOL_GFLAGS, &flags);
	if (error == 0)
		*merges = gro != 0 || (flags & ETH_FLAG_LRO) != 0;
	return error;
}
