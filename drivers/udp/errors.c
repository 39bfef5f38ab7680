/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/errors.h"

#include <time.h> /* linux/errqueue.h needs struct timespec */

#include <linux/errqueue.h>
#include <string.h>

#include "udp/sockaddr.h"

/* The kernel's record, with the address of the host that sent the error behind it. */
struct record {
	struct sock_extended_err error;
	union wh_sockaddr from;
};

static bool read_record(struct msghdr *message, struct record *record)
{
	for (struct cmsghdr *i = CMSG_FIRSTHDR(message); i != NULL; i = CMSG_NXTHDR(message, i)) {
		bool ours = (i->cmsg_level == IPPROTO_IP && i->cmsg_type == IP_RECVERR) ||
			    (i->cmsg_level == IPPROTO_IPV6 && i->cmsg_type == IPV6_RECVERR);
		size_t bytes = i->cmsg_len - CMSG_LEN(0);

		if (!ours || bytes < sizeof(record->error))
			continue;
		memset(record, 0, sizeof(*record));
		memcpy(record, CMSG_DATA(i), bytes < sizeof(*record) ? bytes : sizeof(*record));
		return true;
	}
	return false;
}

static void note(
	struct wh_neighbour_watch *list, const struct wh_address *to, const struct record *record)
{
	struct wh_neighbour_watch *watch = list;
	const struct sock_extended_err *error = &record->error;

	if (error->ee_origin != SO_EE_ORIGIN_ICMP && error->ee_origin != SO_EE_ORIGIN_ICMP6)
		return;
	while (watch != NULL && !wh_address_same_ip(&watch->peer, to))
		watch = watch->next;
	if (watch == NULL)
		return;
	watch->errors++;
	watch->error = (uint8_t)wh_neighbour_error_of(to->family, error->ee_type, error->ee_code);
	(void)wh_sockaddr_read(&record->from, &watch->from);
	watch->from.port = 0;
	watch->mtu_bytes = watch->error == WH_NEIGHBOUR_ERROR_TOO_BIG ? error->ee_info : 0;
}

void wh_udp_errors_read(int fd, struct wh_neighbour_watch *list)
{
	for (uint32_t i = 0; i < WH_UDP_ERRORS_PER_TURN; i++) {
		union wh_sockaddr to;
		union {
			char bytes[CMSG_SPACE(sizeof(struct record)) + 64];
			struct cmsghdr align;
		} control;
		struct msghdr message = {
			.msg_name = &to,
			.msg_namelen = sizeof(to),
			.msg_control = control.bytes,
			.msg_controllen = sizeof(control.bytes),
		};
		struct record record;
		struct wh_address address;

		if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		if (message.msg_namelen > 0 && wh_sockaddr_read(&to, &address) &&
			read_record(&message, &record))
			note(list, &address, &record);
	}
}
