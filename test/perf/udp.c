/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The bare loop of port `udp`, without a protocol: messages that the kernel cuts (UDP_SEGMENT) from
 * one thread to another over loopback, which takes them joined (UDP_GRO). It limits what the port
 * can do. Each end by sendmmsg and recvmmsg, or by io_uring (zero-copy sends, multishot receives
 * into provided buffers); what counts is the CPU time that a byte costs, which a busy machine
 * changes little.
 *
 *   perf_udp [SECONDS]
 *   perf_udp receive PORT SECONDS     from the first message on; what arrived as JSON
 *   perf_udp send ADDRESS PORT MTU    for ever
 *
 * The last two are the loop by calls alone between two processes: the least that a mover of files
 * does by such calls, whose bytes come from memory that no cache holds, and go to such memory.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADS_BYTES   28 /* IPv4 and UDP */
#define LONGEST_BYTES (65535 - HEADS_BYTES)
#define MESSAGES      8
#define ROOM_BYTES    (65536 + 512)
#define BUFFERS       16 /* a power of two */
#define COLD_BYTES    (256u << 20)

static atomic_bool stop;
static double seconds = 3;
static uint16_t segment_bytes;
static size_t message_bytes;
static uint8_t *cold; /* NULL: messages are made where the one before was, and arrive there */

struct end {
	int fd;
	bool uring;
	bool zero_copy;
	uint64_t bytes;
	double cpu_s;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double cpu_of_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

union control {
	char bytes[CMSG_SPACE(sizeof(uint16_t))];
	struct cmsghdr align;
};

static void make_message(
	struct msghdr *message, struct iovec *part, union control *control, uint8_t *bytes)
{
	*part = (struct iovec){.iov_base = bytes, .iov_len = message_bytes};
	*message = (struct msghdr){.msg_iov = part,
		.msg_iovlen = 1,
		.msg_control = control->bytes,
		.msg_controllen = sizeof(control->bytes)};
	*CMSG_FIRSTHDR(message) = (struct cmsghdr){.cmsg_level = IPPROTO_UDP,
		.cmsg_type = UDP_SEGMENT,
		.cmsg_len = CMSG_LEN(sizeof(segment_bytes))};
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(message)), &segment_bytes, sizeof(segment_bytes));
}

/* Each message is filled before, as sealing does. */
static void fill(uint8_t *bytes)
{
	memset(bytes, 7, message_bytes);
}

static uint8_t *next_cold(size_t *at, size_t bytes)
{
	if (*at + bytes > COLD_BYTES)
		*at = 0;
	*at += bytes;
	return cold + *at - bytes;
}

static void send_by_calls(struct end *end, struct mmsghdr *message, uint8_t *memory)
{
	size_t at = 0;

	while (!stop) {
		for (int i = 0; i < 2; i++)
			if (cold != NULL)
				message[i].msg_hdr.msg_iov->iov_base =
					next_cold(&at, message_bytes);
			else
				fill(memory + (size_t)i * message_bytes);

		int sent = sendmmsg(end->fd, message, 2, 0);

		if (sent < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
			die("sendmmsg");
		for (int i = 0; i < sent; i++)
			end->bytes += message[i].msg_len;
	}
}

static void send_by_ring(struct end *end, struct mmsghdr *message, uint8_t *memory)
{
	struct io_uring ring;
	struct io_uring_cqe *done;
	unsigned int waits[MESSAGES] = {0};
	int rc = io_uring_queue_init(64, &ring, IORING_SETUP_SINGLE_ISSUER);

	if (rc < 0)
		die("io_uring");
	while (!stop) {
		for (uint64_t i = 0; i < MESSAGES; i++) {
			if (waits[i] > 0)
				continue;

			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

			fill(memory + i * message_bytes);
			if (end->zero_copy)
				io_uring_prep_sendmsg_zc(sqe, end->fd, &message[i].msg_hdr, 0);
			else
				io_uring_prep_sendmsg(sqe, end->fd, &message[i].msg_hdr, 0);
			io_uring_sqe_set_data64(sqe, i);
			waits[i] = end->zero_copy ? 2 : 1;
		}
		io_uring_submit_and_wait(&ring, 1);
		while (io_uring_peek_cqe(&ring, &done) == 0) {
			if ((done->flags & IORING_CQE_F_NOTIF) == 0 && done->res > 0)
				end->bytes += (uint64_t)done->res;
			if ((done->flags & IORING_CQE_F_NOTIF) == 0 &&
				(done->flags & IORING_CQE_F_MORE) == 0 && end->zero_copy)
				waits[done->user_data]--;
			waits[done->user_data]--;
			io_uring_cqe_seen(&ring, done);
		}
	}
	io_uring_queue_exit(&ring);
}

static void *sends(void *argument)
{
	struct end *end = argument;
	static struct mmsghdr message[MESSAGES];
	static struct iovec part[MESSAGES];
	static union control control[MESSAGES];
	uint8_t *memory =
		aligned_alloc(4096, (size_t)MESSAGES * message_bytes / 4096 * 4096 + 8192);

	for (size_t i = 0; i < MESSAGES; i++)
		make_message(
			&message[i].msg_hdr, &part[i], &control[i], memory + i * message_bytes);
	if (end->uring)
		send_by_ring(end, message, memory);
	else
		send_by_calls(end, message, memory);
	end->cpu_s = cpu_of_thread();
	free(memory);
	return NULL;
}

static void receive_by_calls(struct end *end)
{
	static uint8_t room[MESSAGES][ROOM_BYTES];
	static char control[MESSAGES][256];
	struct mmsghdr message[MESSAGES];
	struct iovec part[MESSAGES];
	size_t at = 0;

	while (!stop) {
		for (int i = 0; i < MESSAGES; i++) {
			part[i] = (struct iovec){.iov_base = room[i], .iov_len = ROOM_BYTES};
			message[i].msg_hdr = (struct msghdr){.msg_iov = &part[i],
				.msg_iovlen = 1,
				.msg_control = control[i],
				.msg_controllen = sizeof(control[i])};
		}

		int count = recvmmsg(end->fd, message, MESSAGES, MSG_DONTWAIT, NULL);

		for (int i = 0; i < count; i++) {
			uint32_t bytes = message[i].msg_len;

			if (cold != NULL)
				memcpy(next_cold(&at, bytes), room[i], bytes);
			end->bytes += bytes;
		}
	}
}

static void receive_by_ring(struct end *end)
{
	struct io_uring ring;
	struct io_uring_cqe *done;
	struct msghdr form = {.msg_controllen = 256};
	int rc = io_uring_queue_init(
		64, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
	uint8_t *memory = aligned_alloc(4096, (size_t)BUFFERS * 69632);
	struct io_uring_buf_ring *buffers;
	struct io_uring_buf_reg reg = {.ring_entries = BUFFERS, .bgid = 1};

	if (rc < 0)
		die("io_uring");
	buffers = aligned_alloc(4096, 4096);
	reg.ring_addr = (uint64_t)(uintptr_t)buffers;
	if (io_uring_register_buf_ring(&ring, &reg, 0) != 0)
		die("buffers");
	io_uring_buf_ring_init(buffers);
	for (int i = 0; i < BUFFERS; i++)
		io_uring_buf_ring_add(buffers, memory + (size_t)i * 69632, ROOM_BYTES + 512,
			(unsigned short)i, io_uring_buf_ring_mask(BUFFERS), i);
	io_uring_buf_ring_advance(buffers, BUFFERS);

	bool armed = false;

	while (!stop) {
		if (!armed) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

			io_uring_prep_recvmsg_multishot(sqe, end->fd, &form, 0);
			sqe->flags |= IOSQE_BUFFER_SELECT;
			sqe->buf_group = 1;
			armed = true;
		}
		io_uring_submit_and_get_events(&ring);
		while (io_uring_peek_cqe(&ring, &done) == 0) {
			if ((done->flags & IORING_CQE_F_MORE) == 0)
				armed = false;
			if (done->res > 0) {
				unsigned short id = (unsigned short)(done->flags >> 16);
				struct io_uring_recvmsg_out *out = io_uring_recvmsg_validate(
					memory + (size_t)id * 69632, done->res, &form);

				if (out != NULL)
					end->bytes += out->payloadlen;
				io_uring_buf_ring_add(buffers, memory + (size_t)id * 69632,
					ROOM_BYTES + 512, id, io_uring_buf_ring_mask(BUFFERS), 0);
				io_uring_buf_ring_advance(buffers, 1);
			}
			io_uring_cqe_seen(&ring, done);
		}
	}
	io_uring_queue_exit(&ring);
}

static void *receives(void *argument)
{
	struct end *end = argument;

	if (end->uring)
		receive_by_ring(end);
	else
		receive_by_calls(end);
	end->cpu_s = cpu_of_thread();
	return NULL;
}

static void use_cold(void)
{
	cold = malloc(COLD_BYTES);
	if (cold == NULL)
		die("memory");
	memset(cold, 7, COLD_BYTES);
}

static void use_mtu(int mtu)
{
	segment_bytes = (uint16_t)(mtu - HEADS_BYTES);
	message_bytes = (size_t)(LONGEST_BYTES / segment_bytes * segment_bytes);
}

/* *name becomes where it is. */
static int open_receiver(struct sockaddr_in *name)
{
	socklen_t bytes = sizeof(*name);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int one = 1, buffer = 8 << 20;

	setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)name, bytes) != 0 ||
		getsockname(fd, (struct sockaddr *)name, &bytes) != 0)
		die("bind");
	return fd;
}

static int open_sender(const struct sockaddr_in *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (connect(fd, (const struct sockaddr *)name, sizeof(*name)) != 0)
		die("connect");
	return fd;
}

static void run(bool uring_sends, bool zero_copy, bool uring_receives)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct end to = {.fd = open_receiver(&name), .uring = uring_receives};
	struct end from = {.fd = open_sender(&name), .uring = uring_sends, .zero_copy = zero_copy};
	pthread_t sender, receiver;

	stop = false;
	pthread_create(&receiver, NULL, receives, &to);
	pthread_create(&sender, NULL, sends, &from);
	usleep((useconds_t)(seconds * 1e6));
	stop = true;
	pthread_join(sender, NULL);
	pthread_join(receiver, NULL);
	printf("send %-16s receive %-9s %6.2f Gb/s arrived; CPU per GB: send %.3f s, receive "
	       "(polling) %.3f s\n",
		!uring_sends ? "sendmmsg"
		: zero_copy  ? "io_uring ZC"
			     : "io_uring",
		uring_receives ? "io_uring" : "recvmmsg", (double)to.bytes * 8 / seconds / 1e9,
		from.cpu_s / ((double)from.bytes / 1e9), to.cpu_s / ((double)to.bytes / 1e9));
	close(from.fd);
	close(to.fd);
}

static struct sockaddr_in name_of(const char *address, const char *port)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

	if (inet_pton(AF_INET, address, &name.sin_addr) != 1)
		die(address);
	return name;
}

static int receive_alone(const char *port)
{
	struct sockaddr_in name = name_of("0.0.0.0", port);
	struct end to = {.fd = open_receiver(&name)};
	char byte;
	pthread_t receiver;

	use_cold();
	if (recv(to.fd, &byte, 1, MSG_PEEK) < 0)
		die("recv");
	pthread_create(&receiver, NULL, receives, &to);
	usleep((useconds_t)(seconds * 1e6));
	stop = true;
	pthread_join(receiver, NULL);
	printf("{\"bytes\": %" PRIu64 ", \"seconds\": %.3f}\n", to.bytes, seconds);
	return 0;
}

static int send_alone(const char *address, const char *port)
{
	struct sockaddr_in name = name_of(address, port);
	struct end from = {.fd = open_sender(&name)};

	use_cold();
	sends(&from);
	return 0;
}

int main(int argc, char **argv)
{
	use_mtu(argc == 5 ? atoi(argv[4]) : 1500);
	if (argc == 5 && strcmp(argv[1], "send") == 0)
		return send_alone(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "receive") == 0) {
		seconds = atof(argv[3]);
		return receive_alone(argv[2]);
	}
	if (argc > 1)
		seconds = atof(argv[1]);
	run(false, false, false);
	run(true, false, false);
	run(true, true, false);
	run(false, false, true);
	run(false, false, false);
	return 0;
}
