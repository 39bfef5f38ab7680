#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Clients behind an address translator (nftables), which forgets them under way.

    nat.py [--quick] [-k PATTERN] [--binary PATH]

Namespaces of the network are the hosts. Only root makes them: all cases are skipped otherwise. A
line for each case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import functools
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from harness import NOBODY, Case, Skip, expect, expect_between, expect_status, run_cases
from lab import Lab, order
from network import NEAR_GATEWAYS, SERVER
from network import Server as PortServer
from udp import BINARY, CLIENT_S, MIB, OK, UDP_PORT, Nobody, Server, key_of

INSIDE = '198.51.100.2'
OTHER_INSIDE = '203.0.113.2'
COPIER = '203.0.113.66'
IPV4 = 0x800  # as an EtherType
# Without a packet for so long a translator forgets.
FORGETS_S = 1
# Less than a peer timeout, by which a session would end that is not found again.
FOUND_S = 15


class Watcher(threading.Thread):
    """Runs beside a case, for the length of a `with`; its sockets are made before it starts."""

    def __init__(self):
        super().__init__(daemon=True)
        self.sockets, self.ended = [], threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()
        for one in self.sockets:
            one.close()

    def listen(self, interface):
        one = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(IPV4))
        self.sockets.append(one)
        one.bind((interface, IPV4))
        return one


class Seen(Watcher):
    """From which addresses and ports datagrams come to a server's port."""

    def __init__(self, host):
        super().__init__()
        self.names = []
        with host.inside():
            self.socket = self.listen('eth0')
        self.socket.settimeout(0.2)

    def run(self):
        while not self.ended.is_set():
            with contextlib.suppress(OSError):
                packet = self.socket.recv(64)
                port, to = struct.unpack_from('>HH', packet, 20)
                name = (socket.inet_ntoa(packet[12:16]), port)
                if packet[9] == 17 and to == UDP_PORT and name not in self.names:
                    self.names.append(name)

class Copier(Watcher):
    """
    Sends the server each packet of the client, those that open included, once more from an address
    of its own; counts what it sends, and what comes back there.
    """

    def __init__(self, router):
        super().__init__()
        self.sent, self.back = 0, 0
        with router.inside():
            self.far, self.near = self.listen('far'), self.listen('near')
            self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.sockets.append(self.raw)

    def copy(self, packet):
        if packet[9] == 17 and packet[16:20] == socket.inet_aton(SERVER):
            length = struct.unpack_from('>H', packet, 2)[0]
            copy = packet[:12] + socket.inet_aton(COPIER) + packet[16:20] + \
                struct.pack('>H', 666) + packet[22:26] + bytes(2) + packet[28:length]
            self.raw.sendto(copy, (SERVER, 0))
            self.sent += len(copy)

    def run(self):
        while not self.ended.is_set():
            ready, _, _ = select.select((self.far, self.near), (), (), 0.2)
            with contextlib.suppress(OSError):
                if self.far in ready:
                    self.copy(self.far.recv(2048))
                if self.near in ready:
                    packet = self.near.recv(2048)
                    if packet[16:20] == socket.inet_aton(COPIER):
                        self.back += len(packet)

class Translator:
    """Between a server at 192.0.2.1 and a client that has two networks, one in use."""

    def __init__(self, lab):
        self.server, self.client = lab.host('server'), lab.host('client')
        self.router = lab.host('router')
        lab.wire((self.server, 'eth0'), (self.router, 'near'), 1500)
        lab.wire((self.client, 'eth0'), (self.router, 'far'), 1500)
        lab.wire((self.client, 'eth1'), (self.router, 'farther'), 1500)
        self.router.set_kernel('ipv4/ip_forward', 1)
        self.router.add_addresses('near', '192.0.2.254/24')
        self.router.add_addresses('far', '198.51.100.254/24')
        self.router.add_addresses('farther', '203.0.113.254/24')
        self.client.add_addresses('eth0', f'{INSIDE}/24')
        self.client.ip('route', 'add', 'default', 'via', '198.51.100.254')
        self.under = self.router.under
        self.order('sysctl', '-qw', f'net.netfilter.nf_conntrack_udp_timeout={FORGETS_S}',
                   f'net.netfilter.nf_conntrack_udp_timeout_stream={FORGETS_S}')
        self.order('nft', 'add table ip nat; add chain ip nat out '
                   '{ type nat hook postrouting priority srcnat; }; '
                   f'add rule ip nat out ip saddr {COPIER} accept; '
                   'add rule ip nat out oifname near masquerade fully-random')

    def order(self, *command):
        order(*self.under, *command)

    def forget(self):
        """What the kernel does when the address of a masquerade goes."""
        self.router.ip('link', 'set', 'near', 'down')
        self.router.ip('link', 'set', 'near', 'up')

    def change_network(self):
        """The client's first network goes, address and all; the second one has it."""
        self.client.ip('link', 'set', 'eth0', 'down')
        self.client.ip('addr', 'flush', 'dev', 'eth0')
        self.client.add_addresses('eth1', f'{OTHER_INSIDE}/24')
        self.client.ip('route', 'replace', 'default', 'via', '203.0.113.254')


@contextlib.contextmanager
def translated(program, folder, port):
    if shutil.which('nft') is None:
        raise Skip('nft is not installed')
    user = Nobody(program, folder)
    with Lab() as lab:
        net = Translator(lab)
        if port == 'udp':
            net.server.add_addresses('eth0', f'{SERVER}/24')
            net.server.ip('route', 'add', 'default', 'via', '192.0.2.254')
            server = Server(user, net.server, '--allow', '0.0.0.0/0')
        else:
            for interface in ('near', 'far', 'farther'):
                net.router.complete_packets(interface)
            net.client.complete_packets()
            server = PortServer(program, net.server, folder, '--identity', key_of(user), '--allow',
                                '0.0.0.0/0', *NEAR_GATEWAYS[:2], addresses=(f'{SERVER}/24',))
        with server, Seen(net.server) as seen:
            yield user, net, server, seen


def moved(program, folder, port, verb, change):
    """A file of some seconds; the client is at another port, or in another network, meanwhile."""
    with translated(program, folder, port) as (user, net, server, seen):
        here, there = user.folder / 'here', server.folder / 'there'
        first, second = (here, there) if verb == 'send' else (there, here)
        first.write_bytes(random.Random(1).randbytes(24 * MIB))
        user.owns(user.folder)
        ends = (here, f'{SERVER}:there') if verb == 'send' else (f'{SERVER}:there', here)
        began = time.monotonic()
        process = user.start(net.client, verb, *ends, '--rate', '50M')
        time.sleep(2)
        before = list(seen.names)
        getattr(net, change)()
        expect_status(user.program.finish(process, CLIENT_S, began), OK)
        expect(second.read_bytes() == first.read_bytes(), 'other bytes')
        expect_between('seconds for 4 s of data', time.monotonic() - began, 4, 4 + FOUND_S)
        expect(set(seen.names) - set(before), f'no other port than {before}')


def suspended(program, folder, port):
    """A host sleeps, several times in a stream that idles, until it is forgotten; and goes on."""
    with translated(program, folder, port) as (user, net, server, seen):
        process = subprocess.Popen(user.command(net.client, 'send', '-', f'{SERVER}:piped'),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        os.fchown(process.stdin.fileno(), int(NOBODY), int(NOBODY))  # it is opened by name
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            for _ in range(3):
                stdin.write(b'x' * MIB)
                stdin.flush()
                time.sleep(1)
                os.killpg(process.pid, signal.SIGSTOP)
                net.forget()
                time.sleep(2 * FORGETS_S)
                os.killpg(process.pid, signal.SIGCONT)
        process.stdin = None
        expect_status(program.finish(process, CLIENT_S, time.monotonic()), OK)
        expect((server.folder / 'piped').read_bytes() == b'x' * 3 * MIB, 'other bytes')
        expect(len(seen.names) > 2, f'hardly ever at another port: {seen.names}')


def copied(program, folder, port):
    """Who copies packets from another address takes no session over, and gets nothing there."""
    with translated(program, folder, port) as (user, net, server, _), Copier(net.router) as copier:
        (user.folder / 'file').write_bytes(random.Random(2).randbytes(8 * MIB))
        user.owns(user.folder)
        for ends in ((user.folder / 'file', f'{SERVER}:there'),
                     (f'{SERVER}:there', user.folder / 'again')):
            verb = 'send' if ends[0] == user.folder / 'file' else 'get'
            expect_status(user.run(net.client, verb, *ends, '--rate', '30M'), OK)
        expect((user.folder / 'again').read_bytes() == (user.folder / 'file').read_bytes(),
               'other bytes')
    expect(copier.sent > MIB, f'{copier.sent} bytes copied')
    expect(copier.back <= copier.sent // 100, f'{copier.back} bytes back for {copier.sent}')


def cases():
    for port in ('udp', 'af_packet'):
        for verb in ('send', 'get'):
            yield Case(f'{verb} by another port to {port}', (port, verb) != ('udp', 'get'),
                       functools.partial(moved, port=port, verb=verb, change='forget'))
        yield Case(f'copied to {port}', port == 'udp', functools.partial(copied, port=port))
        yield Case(f'suspended at {port}', False, functools.partial(suspended, port=port))
    for verb in ('send', 'get'):
        yield Case(f'{verb} from another network', verb == 'get',
                   functools.partial(moved, port='udp', verb=verb, change='change_network'))


if __name__ == '__main__':
    sys.exit(run_cases([case._replace(memory=True) for case in cases()], BINARY))
