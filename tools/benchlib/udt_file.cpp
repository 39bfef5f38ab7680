/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A file over UDT4, the least that a user of libudt would write: tools/bench compiles it.
 *
 *	udt_file receive PORT FILE [MSS]	one file, from one connection
 *	udt_file send HOST PORT FILE [MSS]
 *
 * The length goes first, in network byte order, as UDT::recvfile wants to know it.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <netdb.h>
#include <sys/socket.h>
#include <udt/udt.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

namespace
{

const int block_bytes = 1 << 20;

[[noreturn]] void fail(const char *what)
{
	std::cerr << "udt_file: " << what << ": " << UDT::getlasterror().getErrorMessage() << '\n';
	std::exit(1);
}

UDTSOCKET open_socket(const char *mss)
{
	UDTSOCKET sock = UDT::socket(AF_INET, SOCK_STREAM, 0);
	int bytes = std::atoi(mss);

	if (sock == UDT::INVALID_SOCK)
		fail("socket");
	if (UDT::setsockopt(sock, 0, UDT_MSS, &bytes, sizeof(bytes)) == UDT::ERROR)
		fail("mss");
	return sock;
}

/* 8 bytes either way: UDT, as TCP, may take or give fewer than asked. */
template <typename Transfer> void move_length(UDTSOCKET sock, char *bytes, Transfer transfer)
{
	for (int done = 0; done < 8;) {
		int count = transfer(sock, bytes + done, 8 - done, 0);

		if (count == UDT::ERROR)
			fail("length");
		done += count;
	}
}

int receive(const char *port, const char *path, const char *mss)
{
	UDTSOCKET listener = open_socket(mss);
	sockaddr_in address = {};
	uint64_t length;

	address.sin_family = AF_INET;
	address.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
	if (UDT::bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) ==
		UDT::ERROR)
		fail("bind");
	if (UDT::listen(listener, 1) == UDT::ERROR)
		fail("listen");
	UDTSOCKET sock = UDT::accept(listener, nullptr, nullptr);

	if (sock == UDT::INVALID_SOCK)
		fail("accept");
	move_length(sock, reinterpret_cast<char *>(&length), UDT::recv);
	length = be64toh(length);

	std::fstream file(path, std::ios::out | std::ios::binary | std::ios::trunc);
	int64_t offset = 0;
	int64_t got = UDT::recvfile(sock, file, offset, static_cast<int64_t>(length), block_bytes);

	if (got != static_cast<int64_t>(length))
		fail("recvfile");
	file.close();
	UDT::close(sock);
	UDT::close(listener);
	return file.fail() ? 1 : 0;
}

int send(const char *host, const char *port, const char *path, const char *mss)
{
	UDTSOCKET sock = open_socket(mss);
	sockaddr_in address = {};

	address.sin_family = AF_INET;
	address.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
		std::cerr << "udt_file: '" << host << "' is no IPv4 address\n";
		return 2;
	}
	std::fstream file(path, std::ios::in | std::ios::binary | std::ios::ate);

	if (!file) {
		std::cerr << "udt_file: cannot read " << path << '\n';
		return 3;
	}
	int64_t length = file.tellg(), offset = 0;
	uint64_t wire_length = htobe64(static_cast<uint64_t>(length));

	file.seekg(0);
	if (UDT::connect(sock, reinterpret_cast<sockaddr *>(&address), sizeof(address)) ==
		UDT::ERROR)
		fail("connect");
	move_length(sock, reinterpret_cast<char *>(&wire_length), UDT::send);
	if (UDT::sendfile(sock, file, offset, length, block_bytes) != length)
		fail("sendfile");
	/* Returns when the peer has acknowledged everything: UDT_LINGER is on. */
	UDT::close(sock);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string verb = argc > 1 ? argv[1] : "";
	int status = 2;

	UDT::startup();
	if (verb == "receive" && (argc == 4 || argc == 5))
		status = receive(argv[2], argv[3], argc == 5 ? argv[4] : "1500");
	else if (verb == "send" && (argc == 5 || argc == 6))
		status = send(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "1500");
	else
		std::cerr
			<< "usage: udt_file receive PORT FILE [MSS] | send HOST PORT FILE [MSS]\n";
	UDT::cleanup();
	return status;
}
