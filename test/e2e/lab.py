# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces joined by veth, for the length of a `with`; and what their kernels are asked.

Nothing of it is left: the interfaces go with their namespaces, and those with the `with`.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from harness import Failed, Skip, expect

ORDER_S = 20

CLONE_NEWNET = 0x40000000  # setns(2)
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17  # linux/ethtool.h
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, PMTUDISC_DO = 10, 23, 2
ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 0x10
AUXDATA = struct.Struct('=IIIHHHH')  # struct tpacket_auxdata
SO_RCVBUFFORCE, RECEIVE_BYTES = 33, 64 << 20
POLL_MS = 50

# Of a capture file: its head, and the head of a record.
PCAP_HEAD = struct.pack('=IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
PCAP_RECORD = struct.Struct('=IIII')

libc = ctypes.CDLL(None, use_errno=True)


def order(*command):
    """Runs a command that must succeed, and returns what it prints."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=ORDER_S, check=False)
    expect(done.returncode == 0, f'{" ".join(map(str, command))}: {done.stderr.strip()}')
    return done.stdout


class Host:
    """A namespace: a machine of its own as far as the network goes."""

    def __init__(self, netns, cpu):
        self.netns, self.cpu = netns, cpu

    @property
    def under(self):
        """What a program of this host runs under."""
        return ('ip', 'netns', 'exec', self.netns, 'taskset', '-c', str(self.cpu))

    def ip(self, *args):
        return order('ip', '-n', self.netns, *args)

    def ip_json(self, *args):
        return json.loads(order('ip', '-n', self.netns, '-j', *args) or '[]')

    def add_addresses(self, interface, *addresses):
        """For the kernel; at once, without a search for another host that has them."""
        for address in addresses:
            extra = ('nodad',) if ':' in address else ()
            self.ip('address', 'add', address, 'dev', interface, *extra)

    def mac(self, interface='eth0'):
        return self.ip_json('link', 'show', 'dev', interface)[0]['address']

    def packets(self, way, interface='eth0'):
        """Of the kernel's interface, 'rx' or 'tx'."""
        return self.ip_json('-s', 'link', 'show', 'dev', interface)[0]['stats64'][way]['packets']

    def neighbours(self):
        """What the kernel has resolved: {address: MAC}."""
        return {entry['dst']: entry['lladdr'] for entry in self.ip_json('neigh', 'show')
                if 'lladdr' in entry}

    @contextlib.contextmanager
    def inside(self):
        """This thread's sockets and /proc/sys/net are the host's; sockets made so remain so."""
        with open('/proc/thread-self/ns/net', 'rb') as home, \
                open(f'/run/netns/{self.netns}', 'rb') as there:
            enter(there)
            try:
                yield
            finally:
                enter(home)

    def complete_packets(self, interface='eth0'):
        """The kernel cuts and sums packets itself, as for a cable: a veth takes them without."""
        request = ctypes.create_string_buffer(struct.pack('=II', ETHTOOL_STXCSUM, 0))
        order_of = struct.pack('16sP', interface.encode(), ctypes.addressof(request))
        with self.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, order_of.ljust(40, b'\0'))

    def set_kernel(self, name, value):
        with self.inside():
            Path('/proc/sys/net', name).write_text(str(value))


def enter(namespace):
    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), 'setns')


class Lab:
    """Each host has its CPU, as far as they go; in a `second` lab beside another the last first."""

    def __init__(self, second=False):
        self.hosts, self.second = [], second

    def __enter__(self):
        if os.geteuid() != 0:
            raise Skip('only root makes network namespaces')
        for tool in ('ip', 'taskset'):
            if not shutil.which(tool):
                raise Skip(f'{tool} is not there')
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            subprocess.run(['ip', 'netns', 'del', host.netns], stderr=subprocess.DEVNULL,
                           timeout=ORDER_S, check=False)

    def host(self, name):
        cpus = sorted(os.sched_getaffinity(0), reverse=self.second)
        host = Host(f'wavehaul-{os.getpid()}-{int(self.second)}-{name}',
                    cpus[min(len(self.hosts), len(cpus) - 1)])
        self.hosts.append(host)
        try:
            order('ip', 'netns', 'add', host.netns)
            host.ip('link', 'set', 'lo', 'up')
        except Failed as failed:
            raise Skip(f'no network namespace: {failed}') from None
        return host

    def wire(self, near, far, mtu=1500):
        """A veth between two ends, each (host, interface); an end may get another MTU later."""
        (near_host, near_name), (far_host, far_name) = near, far
        order('ip', 'link', 'add', near_name, 'netns', near_host.netns, 'mtu', mtu, 'type', 'veth',
              'peer', 'name', far_name, 'netns', far_host.netns, 'mtu', mtu)
        for host, name in (near, far):
            host.ip('link', 'set', name, 'up')

    def switch(self, hosts, mtu=1500):
        """A kernel's bridge, a veth to the eth0 of each of the hosts."""
        switch = self.host('switch')
        switch.ip('link', 'add', 'bridge', 'mtu', mtu, 'type', 'bridge', 'forward_delay', 0,
                  'mcast_snooping', 0)
        switch.ip('link', 'set', 'bridge', 'up')
        # A switch that is none looks into IP, and drops what is wrong with it.
        if Path('/proc/sys/net/bridge').exists():
            switch.set_kernel('bridge/bridge-nf-call-iptables', 0)
        for i, host in enumerate(hosts):
            self.wire((host, 'eth0'), (switch, f'port{i}'), mtu)
            switch.ip('link', 'set', f'port{i}', 'master', 'bridge')
        return switch


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f'>{len(data) // 2}H', data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


class Pinger:
    """Echo from a host's kernel, never in fragments, as ping(8) does."""

    def __init__(self, host, target):
        self.target, self.sequence = target, 0
        self.ipv6 = ':' in target
        family, protocol = ((socket.AF_INET6, socket.IPPROTO_ICMPV6) if self.ipv6 else
                            (socket.AF_INET, socket.IPPROTO_ICMP))
        with host.inside():
            self.socket = socket.socket(family, socket.SOCK_RAW, protocol)
        if self.ipv6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_DO)
        else:
            self.socket.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def is_answer(self, packet, question):
        body = packet if self.ipv6 else packet[(packet[0] & 15) * 4:]
        answer_type = 129 if self.ipv6 else 0
        return body[:2] == bytes((answer_type, 0)) and body[4:] == question[4:]

    def ping(self, payload_bytes=56, timeout_s=1.0):
        """Seconds until the same bytes are back, None: they are not."""
        self.sequence += 1
        question = struct.pack('>BBHHH', 128 if self.ipv6 else 8, 0, 0, os.getpid() & 0xffff,
                               self.sequence) + os.urandom(payload_bytes)
        if not self.ipv6:  # of IPv6 the kernel adds it
            question = question[:2] + struct.pack('>H', checksum(question)) + question[4:]
        began = time.perf_counter()
        self.socket.sendto(question, (self.target, 0))
        while (left := began + timeout_s - time.perf_counter()) > 0:
            self.socket.settimeout(left)
            try:
                packet = self.socket.recv(65536)
            except TimeoutError:
                break
            if self.is_answer(packet, question):
                return time.perf_counter() - began
        return None

    def ping_often(self, count, gap_s, payload_bytes=56):
        """What ping() says of each, with a pause before."""
        times = []
        for _ in range(count):
            time.sleep(gap_s)
            times.append(self.ping(payload_bytes))
        return times


class Background:
    """What goes on in a thread while a `with` lasts, until `over` is set."""

    def __init__(self, work):
        self.over = False
        self.thread = threading.Thread(target=work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


class Carrier(Background):
    """Carries frames between the eth0 of two hosts, interfaces that processes there make and end:
    by packet(7), some ten thousand a second."""

    def __init__(self, near, far):
        super().__init__(self.carry)
        self.hosts, self.sockets = (near, far), [None, None]

    def open(self, end):
        with contextlib.suppress(OSError), self.hosts[end].inside():  # not there yet
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            try:
                opened.bind(('eth0', ETH_P_ALL))
                opened.setblocking(False)
                self.sockets[end] = opened
            except OSError:
                opened.close()

    def close(self, end):
        if self.sockets[end] is not None:
            self.sockets[end].close()
        self.sockets[end] = None

    def carry(self):
        while not self.over:
            for end in (0, 1):
                if self.sockets[end] is None:
                    self.open(end)
            there = [opened for opened in self.sockets if opened is not None]
            for opened in select.select(there, [], [], POLL_MS / 1000)[0]:
                self.pass_on(self.sockets.index(opened))
        self.close(0)
        self.close(1)

    def pass_on(self, end):
        try:
            frame, source = self.sockets[end].recvfrom(1 << 16)
        except OSError:  # the interface is gone
            self.close(end)
            return
        if source[2] == socket.PACKET_OUTGOING or self.sockets[1 - end] is None:
            return
        try:
            self.sockets[1 - end].send(frame)
        except BlockingIOError:
            pass
        except OSError:
            self.close(1 - end)


class Tap(Background):
    """What arrives at interfaces, [(VLAN, frame)], while a `with` lasts.

    The kernel takes a tag off before it shows the frame, and tells it beside: VLAN 0 is none. What
    a host sends is seen where it arrives: DPDK's port goes past the places where a tap would be.
    """

    def __init__(self, *hosts):
        super().__init__(self.listen)
        self.frames = []
        self.poll = select.poll()
        self.sockets = {}
        for host in hosts:
            with host.inside():
                tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
                tap.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
                tap.bind(('eth0', ETH_P_ALL))
            tap.setblocking(False)
            self.sockets[tap.fileno()] = tap
            self.poll.register(tap, select.POLLIN)

    def __exit__(self, *_):
        super().__exit__()
        for tap in self.sockets.values():
            tap.close()

    def listen(self):
        while (ready := self.poll.poll(POLL_MS)) or not self.over:
            for number, _ in ready:
                with contextlib.suppress(OSError):  # the interface is set down
                    self.take(*self.sockets[number].recvmsg(1 << 16, 256))

    def take(self, frame, told, _flags, source):
        if source[2] == socket.PACKET_OUTGOING:
            return
        vlan = 0
        for level, kind, data in told:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, *_, tci, _ = AUXDATA.unpack(data[:AUXDATA.size])
                vlan = tci & 0xfff if status & TP_STATUS_VLAN_VALID else 0
        self.frames.append((vlan, frame))

    def write(self, path):
        with open(path, 'wb') as file:
            file.write(PCAP_HEAD)
            for _, frame in self.frames:
                file.write(PCAP_RECORD.pack(0, 0, len(frame), len(frame)) + frame)
