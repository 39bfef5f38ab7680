#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul serve` and its clients as hosts among others: over kernels, switches and routers.

    network.py [--quick] [-k PATTERN] [--binary PATH]

Namespaces of the network are the hosts; AF_PACKET and AF_XDP on veth are their ports. Only root
makes them: all cases are skipped otherwise. A line for each case, then
'N passed, N failed, N skipped'.
"""

import contextlib
import filecmp
import functools
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from dissector import CHECKSUM_ABSENT, CHECKSUM_GOOD, TYPES, dissect, lines
from harness import (Case, Failed, Skip, end_group, expect, expect_between, expect_equal,
                     expect_said, expect_status, run_cases)
from lab import Lab, Pinger, Tap
from pair import RPCS, cpu_seconds, telemetry, wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
FLOOD = TOP / 'test/e2e/flood.py'

KIB, MIB = 1 << 10, 1 << 20
SEED = 20260101
OK, NETWORK, CONFIGURATION = 0, 5, 7
WIRE_VERSION = 7

UDP_PORT = 5760
SO_NO_CHECK = 11  # socket(7)
STARTING_S, STOPPING_S, CLIENT_S = 20, 15, 60

SERVER, CLIENT, THIRD, FOURTH = (f'192.0.2.{i}' for i in range(1, 5))
SERVER6, CLIENT6 = '2001:db8::1', '2001:db8::2'
FAR, FAR6 = '198.51.100.2', '2001:db8:1::2'  # beyond the router
NOBODY = '192.0.2.77'

# A host answers a hundred echoes a second of one other, ten of them at once: with this between them
# none is one too many, however fast the machine is.
PINGS, PING_GAP_S = 10, 0.011

# Hosts have told their addresses twice by then, and do so no more: that would end an error early.
ANNOUNCED_S = 3

# Kinds of frames of flood.py that honest hosts must bear, and the reasons that a port gives for
# refusing them. Fragments have none: the kernel puts them together for AF_PACKET, or keeps them.
FLOOD_KINDS = ('garbage', 'likeness', 'forgery', 'cut', 'wrong_ip_sum', 'wrong_udp_sum', 'fragment',
               'tagged', 'any_frame', 'ping', 'who_has', 'conflict')
FLOOD_REASONS = {'vlan', 'bad-ip', 'bad-udp', 'short', 'long', 'version-unknown', 'key'}
FLOOD_DROPS = {'drop_frame_vlan', 'drop_frame_bad_ip', 'drop_frame_bad_udp', 'drop_packet_short',
               'drop_packet_long', 'drop_packet_version_unknown', 'drop_packet_key'}


class Server:
    """`wavehaul serve` on a host's eth0, for the length of a `with`."""

    ready = 'is up'  # what it says then

    def __init__(self, program, host, folder, *options, port='af_packet', mtu=1500,
                 addresses=(f'{SERVER}/24', f'{SERVER6}/64')):
        self.folder = folder / 'served'
        self.log = folder / 'server.log'
        self.command = [*host.under, program.binary, 'serve', *settings(port, mtu, addresses),
                        '--buffers', '128M', '--root', self.folder,
                        '--state', folder / 'state', *options]

    def said(self):
        return self.log.read_text(errors='replace')

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(
                list(map(str, self.command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        try:
            wait_until(lambda: self.ready in self.said() or self.process.poll() is not None,
                       STARTING_S, 'a server with a link')
            expect(self.process.poll() is None, f'the server ends at once: {self.said()}')
        except BaseException:
            end_group(self.process)
            raise
        return self

    def __exit__(self, kind, error, _):
        try:
            if kind is None and self.process.returncode is None:
                self.stop()
        finally:
            end_group(self.process)
        if kind is Failed:
            raise Failed(f'{error}; the server: {self.said()[-400:]!r}') from None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(STOPPING_S)
        except subprocess.TimeoutExpired:
            raise Failed(f'the server does not stop: {self.said()[-400:]!r}') from None
        expect(status == OK, f'exit status of the server: {status}; {self.said()[-400:]!r}')


def settings(port, mtu, addresses):
    """Hugepages are for those beside us who have need of them: pair.py asks how many are free."""
    port = port if port == 'udp' else f'{port}:eth0'
    return ['--config', 'none', '--port', port, '--mtu', mtu, '--no-huge',
            *(word for address in addresses for word in ('--addr', address))]


def client_command(verb, *args, port='af_packet', mtu=1500,
                   addresses=(f'{CLIENT}/24', f'{CLIENT6}/64')):
    room = () if verb in RPCS else ('--buffers', '128M')
    return (verb, *settings(port, mtu, addresses), *room, *args)


def run_client(program, host, *args, timeout_s=CLIENT_S, **how):
    return program.run(*client_command(*args, **how), timeout_s=timeout_s, under=host.under)


@contextlib.contextmanager
def running_client(program, host, *args, **how):
    """In the background: yields a function that awaits the end, and returns the result."""
    began = time.monotonic()
    process = program.start(*client_command(*args, **how), under=host.under)
    try:
        yield lambda timeout_s=CLIENT_S: program.finish(process, timeout_s, began)
    finally:
        if process.returncode is None:
            end_group(process)


def in_brackets(address):
    return f'[{address}]' if ':' in address else address


def make_load(folder, big_bytes=16 * MIB):
    """A folder of what trees are made of, and one large file."""
    draw = random.Random(SEED)
    tree = folder / 'tree'
    (tree / 'deep/er').mkdir(parents=True)
    (tree / 'empty').mkdir()
    for number, size in enumerate((0, 1, 1407, 1408, 4 * KIB, 256 * KIB + 1, MIB, MIB + 1)):
        (tree / ('deep/er' if number % 2 else '.') / f'file {number}').write_bytes(
            draw.randbytes(size))
    (tree / 'link').symlink_to('deep/er')
    (folder / 'big.bin').write_bytes(draw.randbytes(big_bytes))


def listing(folder):
    """{path: what it is}"""
    found = {}
    for path in sorted(folder.rglob('*')):
        kind = ('link', os.readlink(path)) if path.is_symlink() else \
            ('folder',) if path.is_dir() else ('file', path.stat().st_size)
        found[str(path.relative_to(folder))] = kind
    return found


def expect_same(what, folder, original):
    expect_equal(what, listing(folder), listing(original))
    for name, kind in listing(original).items():
        expect(kind[0] != 'file' or filecmp.cmp(folder / name, original / name, shallow=False),
               f'{what}: {name} has other bytes')


def send_load(program, host, folder, to, *args, **how):
    source = folder / 'load'
    if not source.exists():
        make_load(source)
    result = run_client(program, host, 'send', '-r', source / 'tree', source / 'big.bin',
                        f'{in_brackets(to)}:in/', *args, **how)
    expect_status(result, OK)


def exchange(program, host, folder, to, *args, **how):
    """A tree and a large file to the server, and back from it; the bytes are the same."""
    send_load(program, host, folder, to, *args, **how)
    expect_same('what was sent', folder / 'served/in', folder / 'load')
    got = folder / 'got'
    got.mkdir()
    result = run_client(program, host, 'get', '-r', f'{in_brackets(to)}:in/tree',
                        f'{in_brackets(to)}:in/big.bin', f'{got}/', *args, **how)
    expect_status(result, OK)
    expect_same('what was got', got, folder / 'load')
    shutil.rmtree(got)
    shutil.rmtree(folder / 'served/in')


@contextlib.contextmanager
def two_hosts(mtu=1500):
    with Lab() as lab:
        server, client = lab.host('server'), lab.host('client')
        lab.wire((server, 'eth0'), (client, 'eth0'), mtu)
        yield server, client


def transfer(program, folder, port, mtu):
    """Over IPv4 and over IPv6."""
    how = {'port': port, 'mtu': mtu}
    with two_hosts(mtu) as (server, client):
        with Server(program, server, folder, **how) as serving:
            for address in (SERVER, SERVER6):
                exchange(program, client, folder, address, **how)
        # At the end AF_XDP's library takes its program back, and needs a file for that.
        expect('denied' not in serving.said(), serving.said())
        for host in (server, client):
            expect('prog/xdp' not in host.ip('-d', 'link', 'show', 'eth0'), 'a program stays')


def killed_and_again(program, folder):
    """A server that could not clean up (AF_XDP's program stays on the interface) comes again."""
    with two_hosts() as (server, client):
        make_load(folder / 'load', MIB)
        with Server(program, server, folder, port='af_xdp') as first:
            first.kill()
        with Server(program, server, folder, port='af_xdp'):
            exchange(program, client, folder, SERVER, port='af_xdp')


def vlan(program, folder):
    """All our frames have the VLAN tag; requests without it are ignored."""
    with two_hosts() as (server, client), Tap(server, client) as tap, \
            Server(program, server, folder, '--vlan', '42'):
        make_load(folder / 'load', 8 * MIB)
        for address in (SERVER, SERVER6):
            exchange(program, client, folder, address, '--vlan', '42')
        ours = [tag for tag, frame in tap.frames if is_ours(frame)]
        expect(len(ours) > 1000, f'the tap saw {len(ours)} packets of UDP port {UDP_PORT}')
        expect_equal('VLANs on the line', set(ours), {42})
        # The one that is answered is the last: by then the others would have been.
        expect_equal('VLANs of the answers to ARP', ask_arp(tap, client, (0, 7, 42)), {42})


def is_ours(frame):
    ipv4, ipv6 = frame[12:14] == b'\x08\x00', frame[12:14] == b'\x86\xdd'
    at = 14 + (20 if ipv4 else 40)
    ports = struct.unpack('>HH', frame[at:at + 4]) if len(frame) >= at + 4 else ()
    return (ipv4 and frame[23] == 17 or ipv6 and frame[20] == 17) and UDP_PORT in ports


def ask_arp(tap, host, tags):
    """Asks for the server's MAC address with each tag, and returns the tags of the answers."""
    mac = bytes.fromhex(host.mac().replace(':', ''))
    asker = socket.inet_aton(THIRD)
    question = struct.pack('>HHBBH6s4s6s4s', 1, 0x0800, 6, 4, 1, mac, asker, bytes(6),
                           socket.inet_aton(SERVER))
    before = len(tap.frames)
    with host.inside(), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
        raw.bind(('eth0', 0))
        for tag in tags:
            tagged = struct.pack('>HH', 0x8100, tag) if tag else b''
            raw.send((b'\xff' * 6 + mac + tagged + b'\x08\x06' + question).ljust(64, b'\0'))

    def answers():
        return {tag for tag, frame in tap.frames[before:] if frame[12:14] == b'\x08\x06'
                and frame[20:22] == b'\0\2' and frame[38:42] == asker}
    wait_until(answers, 10, 'an answer to ARP')
    return answers()


@contextlib.contextmanager
def router_between(near_mtu, far_mtu, second=False):
    """Server and client on two subnets, a kernel between them. Its address ends in 254."""
    with Lab(second) as lab:
        server, client, router = lab.host('server'), lab.host('client'), lab.host('router')
        lab.wire((server, 'eth0'), (router, 'near'), near_mtu)
        lab.wire((client, 'eth0'), (router, 'far'), far_mtu)
        router.set_kernel('ipv4/ip_forward', 1)
        router.set_kernel('ipv6/conf/all/forwarding', 1)
        router.add_addresses('near', '192.0.2.254/24', '2001:db8::254/64')
        router.add_addresses('far', '198.51.100.254/24', '2001:db8:1::254/64')
        yield server, client, router


NEAR_GATEWAYS = ('--gateway', '192.0.2.254', '--gateway', '2001:db8::254')
FAR_GATEWAYS = ('--gateway', '198.51.100.254', '--gateway', '2001:db8:1::254')
FAR_ADDRESSES = (f'{FAR}/24', f'{FAR6}/64')
ALLOW_ALL = ('--allow', '0.0.0.0/0', '--allow', '::/0')


def routed(program, folder):
    with router_between(1500, 1500) as (server, client, _), \
            Server(program, server, folder, *NEAR_GATEWAYS, *ALLOW_ALL):
        for address in (SERVER, SERVER6):
            exchange(program, client, folder, address, *FAR_GATEWAYS, addresses=FAR_ADDRESSES)


def no_gateway(program, folder):
    with two_hosts() as (_, client):
        result = run_client(program, client, 'send', '-r', folder, f'{FAR}:in/', timeout_s=15)
        expect_status(result, NETWORK)
        expect_said(result, r'no route to 198\.51\.100\.2: .*gateway')


def narrow(program, folder, address):
    """The client's line carries 9000, the server's no more than 1500, which only echo finds out."""
    with router_between(9000, 9000) as (server, client, router), \
            Server(program, server, folder, *NEAR_GATEWAYS, *ALLOW_ALL, mtu=9000):
        router.ip('link', 'set', 'near', 'mtu', 1500)
        (folder / 'file').write_bytes(b'x')
        result = run_client(program, client, 'send', folder / 'file',
                            f'{in_brackets(address)}:in/', *FAR_GATEWAYS, timeout_s=40, mtu=9000,
                            addresses=FAR_ADDRESSES)
        expect_status(result, NETWORK)
        expect_said(result, '9000 bytes do not get through to .* 1500 bytes do; set --mtu 1500')
        expect(not (folder / 'served/in').exists(), 'something was sent all the same')


def ping(program, folder, port, mtu):
    """A kernel asks, for the MAC address first, and the largest packets come back, too."""
    with two_hosts(mtu) as (server, kernel):
        kernel.add_addresses('eth0', f'{THIRD}/24', '2001:db8::3/64')
        with Server(program, server, folder, port=port, mtu=mtu):
            for address, heads in ((SERVER, 28), (SERVER6, 48)):
                with Pinger(kernel, address) as pinger:
                    for size in (0, 56, mtu - heads):
                        lost = pinger.ping_often(PINGS, PING_GAP_S, size).count(None)
                        expect(lost <= 1, f'{address}: {lost} of {PINGS} echoes of {size} lost')
            known = kernel.neighbours()
            for address in (SERVER, SERVER6):
                expect_equal(f'the MAC address of {address}', known.get(address), server.mac())


def conflict(program, folder):
    """Another host claims the server's address: the server defends it, and logs that."""
    with two_hosts() as (server, stranger), Tap(stranger) as tap, \
            Server(program, server, folder) as serving:
        time.sleep(ANNOUNCED_S)
        mac = bytes.fromhex(stranger.mac().replace(':', ''))
        claim = struct.pack('>HHBBH6s4s6s4s', 1, 0x0800, 6, 4, 2, mac, socket.inet_aton(SERVER),
                            b'\xff' * 6, socket.inet_aton(SERVER))
        expect('uses our address' not in serving.said(), 'a conflict before there is one')
        before = len(tap.frames)
        with stranger.inside(), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
            raw.bind(('eth0', 0))
            raw.send((b'\xff' * 6 + mac + b'\x08\x06' + claim).ljust(60, b'\0'))
        sentence = f'another host, {stranger.mac()}, uses our address {SERVER}: set --addr'
        wait_until(lambda: sentence in serving.said(), 3, 'a word about the conflict')
        ours = bytes.fromhex(server.mac().replace(':', '')) + socket.inet_aton(SERVER)
        wait_until(lambda: any(frame[12:14] == b'\x08\x06' and frame[22:32] == ours
                               for _, frame in tap.frames[before:]), 3, 'an answer to the claim')


def nobody(program, folder):
    """No host has the address: reported long before the peer timeout, to each of two hosts."""
    ways = (NOBODY, ()), ('2001:db8::77', (f'{THIRD}/24', '2001:db8::3/64'))
    with two_hosts() as hosts, contextlib.ExitStack() as stack:
        ends = [stack.enter_context(running_client(
            program, host, 'send', '-r', folder, f'{in_brackets(address)}:in/',
            **({'addresses': own} if own else {}))) for host, (address, own) in zip(hosts, ways)]
        for await_end, (address, _) in zip(ends, ways):
            result = await_end(15)
            expect_status(result, NETWORK)
            expect_said(result, rf'no route to {address}: no host answers (ARP|neighbour) .*--addr')


def no_server(program, folder):
    """The host is up and answers ping, but no server runs on it."""
    with two_hosts() as (kernel, client):
        kernel.add_addresses('eth0', f'{SERVER}/24')
        result = run_client(program, client, 'bench', SERVER, '--peer-timeout', '2s', timeout_s=15)
        expect_status(result, NETWORK)
        expect_said(result, f'{SERVER} did not answer on UDP port {UDP_PORT} within 2 s')
        expect_said(result, rf'{SERVER} refuses UDP port {UDP_PORT} \(ICMP port unreachable\)')


@contextlib.contextmanager
def hindered_client(program, word, second):
    """A router drops what goes to the server's port, or refuses all that goes to the server."""
    with router_between(1500, 1500, second) as (server, client, router):
        server.add_addresses('eth0', f'{SERVER}/24')
        server.ip('route', 'add', 'default', 'via', '192.0.2.254')
        if word == 'blackhole':
            # by number: names of protocols are another package's
            router.ip('rule', 'add', 'ipproto', int(socket.IPPROTO_UDP), 'dport', UDP_PORT,
                      'blackhole')
        else:
            router.ip('route', 'add', word, f'{SERVER}/32')
        with running_client(program, client, 'bench', SERVER, '--peer-timeout', '2s',
                            *FAR_GATEWAYS, addresses=FAR_ADDRESSES) as await_end:
            yield await_end


def hindered(program, _folder, ways):
    """{how: what the client says of it}, each in a lab and on a CPU of its own, at once."""
    with contextlib.ExitStack() as stack:
        ends = [stack.enter_context(hindered_client(program, word, second=i > 0))
                for i, word in enumerate(ways)]
        for await_end, sentence in zip(ends, ways.values()):
            result = await_end(15)
            expect_status(result, NETWORK)
            expect_said(result, f'{SERVER} did not answer')
            expect_said(result, sentence)


def late_server(program, folder):
    """Behind a router a server comes up 3 s after the client: no word about sizes."""
    with router_between(1500, 1500) as (server, client, _):
        with running_client(program, client, 'bench', SERVER, '--size', '1M', *FAR_GATEWAYS,
                            addresses=FAR_ADDRESSES) as await_end:
            time.sleep(2.5)
            with Server(program, server, folder, *NEAR_GATEWAYS, *ALLOW_ALL):
                result = await_end(20)
        expect_status(result, OK)


def narrowed(program, folder):
    """The path takes 9000 bytes at first, and 1500 from the midst of a transfer on."""
    with router_between(9000, 9000) as (server, client, router), \
            Server(program, server, folder, *NEAR_GATEWAYS, *ALLOW_ALL, mtu=9000):
        with running_client(program, client, 'bench', SERVER, '--time', '30s', '--rate', '20M',
                            '--stall-timeout', '5s', *FAR_GATEWAYS, mtu=9000,
                            addresses=FAR_ADDRESSES) as await_end:
            wait_until(lambda: client.packets('tx') > 100, 10, 'a transfer')
            router.ip('link', 'set', 'near', 'mtu', 1500)
            result = await_end(20)
        expect(result.status != OK, 'the transfer went on')
        expect_said(result, 'packets of 9000 bytes no longer get through, those of 1500 bytes do')
        expect_said(result, 'the MTU may be the cause')


def answer_as_other(listener, version):
    """What a server that speaks nothing but another version answers to an OPEN: versions.h."""
    packet, source = listener.recvfrom(2048)
    expect_equal('version and type of an OPEN', packet[:2], bytes((version - 1, 9)))
    listener.sendto(bytes((0, 1, version, version, 0, 0, 0, 0)) + packet[:88], source)


def other_version(program, folder):
    """Ends of different versions, from both sides, and how soon it is reported."""
    with two_hosts() as (kernel, client), contextlib.ExitStack() as stack:
        kernel.add_addresses('eth0', f'{SERVER}/24')
        with kernel.inside():
            listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stack.enter_context(listener)
        listener.settimeout(CLIENT_S)
        # On veth the kernel leaves sums to hardware that is not there.
        listener.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
        listener.bind((SERVER, UDP_PORT))
        told = threading.Thread(target=answer_as_other, args=(listener, WIRE_VERSION + 1))
        told.start()
        result = run_client(program, client, 'bench', '--unsealed', SERVER, timeout_s=15)
        told.join()
        expect_status(result, CONFIGURATION)
        expect_said(result, f'{SERVER} uses packet format {WIRE_VERSION + 1}, '
                            f'this end format {WIRE_VERSION}: install')
    with two_hosts() as (server, kernel), Server(program, server, folder):
        kernel.add_addresses('eth0', f'{CLIENT}/24')
        with kernel.inside():
            asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with asker:
            asker.settimeout(3)
            asker.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
            asked = bytes((WIRE_VERSION + 1, 9)) + random.Random(SEED).randbytes(102)
            asker.sendto(asked, (SERVER, UDP_PORT))
            expect_equal('the answer', asker.recv(2048),
                         bytes((0, 1, WIRE_VERSION, WIRE_VERSION, 0, 0, 0, 0)) + asked[:88])


def allow(program, folder):
    with two_hosts() as (server, client), \
            Server(program, server, folder, '--allow', '192.0.2.128/25,2001:db8::/112'):
        for own, to, allowed in (('192.0.2.127', SERVER, False), ('192.0.2.128', SERVER, True),
                                 (CLIENT6, SERVER6, True), ('2001:db8::1:2', SERVER6, False)):
            result = run_client(program, client, 'bench', to, '--size', '1M', '--json',
                                '--peer-timeout', '3s' if allowed else '1s',
                                addresses=(f'{own}/{64 if ":" in own else 24}',), timeout_s=20)
            expect_status(result, OK if allowed else NETWORK)
            expect(allowed or 'does its --allow include this host' in result.err,
                   f'{own}: {result.err}')


def link_lost(program, folder, losing):
    """An interface is set down for a second in the midst of a transfer, at either end."""
    with two_hosts() as hosts, Server(program, hosts[0], folder):
        source = folder / 'big.bin'
        source.write_bytes(random.Random(SEED).randbytes(16 * MIB))
        with running_client(program, hosts[1], 'send', source, f'{SERVER}:in/', '--rate',
                            '50M') as await_end:
            # Of some 12,000 packets.
            wait_until(lambda: hosts[0].packets('rx') > 1000, STARTING_S, 'a transfer')
            hosts[losing].ip('link', 'set', 'eth0', 'down')
            came = hosts[0].packets('rx')
            time.sleep(1)
            hosts[losing].ip('link', 'set', 'eth0', 'up')
            result = await_end()
        expect_status(result, OK)
        expect(came < 10_000, f'down after {came} packets: not in its midst')
        expect(filecmp.cmp(source, folder / 'served/in/big.bin', shallow=False), 'other bytes')


def several_clients(program, folder):
    """Two at once at one server, across a switch, each both ways."""
    with Lab() as lab:
        hosts = [lab.host(name) for name in ('server', 'one', 'two')]
        lab.switch(hosts)
        source = folder / 'load'
        make_load(source, 16 * MIB)
        with Server(program, hosts[0], folder) as server:
            server.folder.joinpath('there').mkdir()
            shutil.copy(source / 'big.bin', server.folder / 'there')
            for direction in ('send', 'get'):
                with contextlib.ExitStack() as stack:
                    ends = [stack.enter_context(running_client(
                        program, host, direction, '-r', *operands(direction, folder, number),
                        addresses=(f'192.0.2.{10 + number}/24',)))
                        for number, host in enumerate(hosts[1:])]
                    for await_end in ends:
                        expect_status(await_end(), OK)
        for number in range(2):
            expect_same(f'from client {number}', server.folder / f'in{number}', source)
            expect(filecmp.cmp(folder / f'got{number}/there/big.bin', source / 'big.bin',
                               shallow=False), f'client {number} has got other bytes')


def operands(direction, folder, number):
    if direction == 'send':
        return folder / 'load/tree', folder / 'load/big.bin', f'{SERVER}:in{number}/'
    folder.joinpath(f'got{number}').mkdir()
    return f'{SERVER}:there', f'{folder}/got{number}/'


def least_share(pid):
    """Of a CPU, in 2 s; of several times where the first is unlucky: the kernel counts by ticks."""
    shares = []
    while not shares or (shares[-1] >= 0.05 and len(shares) < 4):
        before, began = cpu_seconds(pid), time.monotonic()
        time.sleep(2)
        shares.append((cpu_seconds(pid) - before) / (time.monotonic() - began))
    return min(shares)


def idle(program, folder):
    """An idle server uses no CPU, and wakes at the first packet."""
    with two_hosts() as (host, kernel):
        kernel.add_addresses('eth0', f'{THIRD}/24')
        with Server(program, host, folder) as server, Pinger(kernel, SERVER) as pinger:
            expect(pinger.ping() is not None, 'no answer')
            time.sleep(ANNOUNCED_S)
            share = least_share(server.process.pid)
            expect(share < 0.05, f'idle, the server takes {share:.1%} of a CPU')
            times = pinger.ping_often(PINGS, 0.05)
            expect(None not in times, 'an echo was lost')
            # Of several, for others may have the CPU; who slept for long would do so each time.
            expect_between('ms until an answer, the least', min(times) * 1e3, 0, 5)


@contextlib.contextmanager
def flood_from(host, kinds, after_s, *victims):
    """Each victim (host, its address, its peer's)."""
    words = [f'{address},{victim.mac()},{peer}' for victim, address, peer in victims]
    process = subprocess.Popen([*host.under, sys.executable, '-B', FLOOD, 'eth0', str(after_s),
                                str(CLIENT_S), ','.join(kinds), THIRD, *words],
                               stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        end_group(process)


@contextlib.contextmanager
def stranger_at_the_switch():
    with Lab() as lab:
        hosts = [lab.host(name) for name in ('server', 'client', 'stranger')]
        lab.switch(hosts)
        yield hosts


def flooded(program, folder):
    """Garbage, forgeries and storms at both ends: a transfer succeeds, and drops are counted."""
    with stranger_at_the_switch() as (server, client, stranger), telemetry() as (prefix, ask), \
            Server(program, server, folder, '--eal', f'--file-prefix={prefix}'), flood_from(
                stranger, FLOOD_KINDS, 0, (server, SERVER, CLIENT),
                (client, CLIENT, SERVER)) as flood:
        make_load(folder / 'load', 16 * MIB)
        exchange(program, client, folder, SERVER)
        result = run_client(program, client, 'bench', SERVER, '--time', '1s', '--json')
        expect_status(result, OK)
        expect(flood.poll() is None, 'the flood has ended before its time')
        dropped = {name for name, pkts in ask('/wavehaul/ports').items()
                   if name.startswith('drop_') and pkts > 0}
    report = json.loads(result.out)
    refused = set(report['refused_packets'])
    expect(FLOOD_REASONS <= refused, f'the client refuses {refused}')
    expect(FLOOD_DROPS <= dropped, f'the server counts {dropped}')
    expect(report['receiver']['bad'] > 100, f'at the server: {report["receiver"]}')


def spoofed(program, folder):
    """Constant false claims of the peers' addresses: both keep what answers, and log it."""
    with stranger_at_the_switch() as (server, client, stranger), \
            Server(program, server, folder) as serving, \
            flood_from(stranger, ('moved',), 0, (server, SERVER, CLIENT),
                       (client, CLIENT, SERVER)) as flood:
        source = folder / 'file'
        source.write_bytes(random.Random(SEED).randbytes(16 * MIB))
        wait_until(lambda: stranger.packets('tx') > 100, STARTING_S, 'a flood')
        # Known from its answer, which the first lie follows.
        result = run_client(program, client, 'send', source, f'{SERVER}:in/', '--rate', '60M')
        expect_status(result, OK)
        expect(flood.poll() is None, 'the flood has ended before its time')
        expect_between('s', result.seconds, 2, 8)
        expect(filecmp.cmp(source, folder / 'served/in/file', shallow=False), 'other bytes')
        for said, address, mac in ((result.err, SERVER, server.mac()),
                                   (serving.said(), CLIENT, client.mac())):
            expect(re.search(f'{stranger.mac()} claims to be {address}, which we know as {mac}',
                             said), f'not told: {said[-400:]!r}')


def testpmd_command(host, victim):
    """txonly of one size to the victim's UDP port, as fast as DPDK goes; ends with its stdin."""
    return [*host.under, 'dpdk-testpmd', '--lcores', '(0,1)', '--no-huge', '-m', '128', '--no-pci',
            '--no-telemetry', '--no-shconf', '--iova-mode=va', '--vdev',
            'net_af_packet0,iface=eth0', '--', '--interactive', '--auto-start', '--nb-cores=1',
            '--total-num-mbufs=8192', '--forward-mode=txonly', '--txpkts=600',
            f'--eth-peer=0,{victim.mac()}', f'--tx-ip={THIRD},{SERVER}',
            f'--tx-udp={UDP_PORT},{UDP_PORT}']


def volume(program, folder):
    """A foreign DPDK program sends to the server all that it can."""
    if not shutil.which('dpdk-testpmd'):
        raise Skip('dpdk-testpmd is not there')
    with stranger_at_the_switch() as (server, client, stranger), Server(program, server, folder):
        with subprocess.Popen(testpmd_command(stranger, server), stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as foreign:
            try:
                wait_until(lambda: server.packets('rx') > 100_000, STARTING_S, 'a flood')
                make_load(folder / 'load', 16 * MIB)
                exchange(program, client, folder, SERVER)
                expect(foreign.poll() is None, 'testpmd has ended before its time')
            finally:
                end_group(foreign)


def decoded(program, folder, to):
    """What Wireshark reads of a transfer: every packet of ours, whole and right."""
    with two_hosts() as (server, client), Tap(server, client) as tap, \
            Server(program, server, folder):
        (folder / 'file').write_bytes(random.Random(SEED).randbytes(300_000))
        # The handshake offers the first session each way; an idle one is opened by itself.
        for verb in (('send', folder / 'file', f'{in_brackets(to)}:in/'),
                     ('get', f'{in_brackets(to)}:in/file', folder / 'back'),
                     ('bench', to, '--idle', '1', '--size', '1K')):
            expect_status(run_client(program, client, *verb, '--rate', '50M', '--keylog',
                                     folder / 'keys'), OK)
    tap.frames = [frame for frame in tap.frames if is_ours(frame[1])]
    tap.write(folder / 'capture.pcap')
    packets = dissect(folder / 'capture.pcap', '-o', 'udp.check_checksum:TRUE')
    expect_equal('packets read', len(packets), len(tap.frames))
    for packet in packets:
        expect_equal('wavehaul.version', packet['wavehaul.version'], [str(WIRE_VERSION)])
        expect_equal('udp.checksum.status', packet['udp.checksum.status'],
                     [CHECKSUM_GOOD if ':' in to else CHECKSUM_ABSENT])
        wrong = [name for name in packet if name.startswith(('_ws.malformed', '_ws.expert'))]
        expect(not wrong, f'{wrong} in {dict(packet)}')
    seen = {TYPES[int(packet['wavehaul.type'][0]) - 1] for packet in packets}
    expect({'ask', 'cookie', 'crypto', 'open', 'accept', 'confirm', 'data', 'rcv-report',
            'trans-report', 'release'} <= seen, f'types of packets seen: {seen}')
    expect_data(packets, to, 300_000)
    expect_opened(folder)


def expect_opened(folder):
    """By the keys that the client wrote: all but data, which take long."""
    keys = folder / 'keys'
    expect_equal('mode', keys.stat().st_mode & 0o777, 0o600)
    with_keys = '-o', f'wavehaul.keylog:{keys}', '-Y', 'wavehaul.type != 1'
    shut = {line.split()[0] for line in lines(folder / 'capture.pcap', *with_keys)
            if line.endswith(': sealed')}
    expect(not shut, f'{shut} are not opened')


def expect_data(packets, to, file_bytes):
    """The data packets, placed by their headers, contain the file, once each way."""
    source = 'ipv6.src' if ':' in to else 'ip.src'
    for address in (SERVER6, CLIENT6) if ':' in to else (SERVER, CLIENT):
        places = {(packet['wavehaul.cid'][0], packet['wavehaul.pn'][0]):
                  int(packet['wavehaul.data.payload_bytes'][0]) for packet in packets
                  if packet['wavehaul.type'] == ['1'] and packet[source] == [address]}
        expect_between(f'bytes of data from {address}', sum(places.values()), file_bytes,
                       file_bytes + 64 * KIB)


def cases():
    partial = functools.partial
    for port, mtu in (('af_packet', 1500), ('af_packet', 9000), ('af_xdp', 1500)):
        yield Case(f'{port} {mtu}', mtu == 1500, partial(transfer, port=port, mtu=mtu))
    yield Case('killed and again', False, killed_and_again)
    yield Case('vlan', True, vlan)
    yield Case('router', False, routed)
    yield Case('no gateway', True, no_gateway)
    for address in (SERVER, SERVER6):
        yield Case(f'narrow path {address}', False, partial(narrow, address=address))
    yield Case('ping af_packet 1500', True, partial(ping, port='af_packet', mtu=1500),
               judges_time=True)
    yield Case('ping af_xdp 1500', False, partial(ping, port='af_xdp', mtu=1500),
               judges_time=True)
    yield Case('conflict', True, conflict)
    yield Case('nobody there', False, nobody)
    yield Case('no server there', True, no_server)
    yield Case('other version', True, other_version)
    yield Case('hindered by a firewall', True, partial(hindered, ways={
        'blackhole': f'answers ping: .* a firewall drops UDP port {UDP_PORT}'}))
    yield Case('hindered by a router', False, partial(hindered, ways={
        'prohibit': 'packets to 192.0.2.1 are prohibited: a firewall',
        'unreachable': 'no route to 192.0.2.1: check the routes'}))
    yield Case('late server', False, late_server)
    yield Case('narrowed under way', False, narrowed)
    yield Case('allow', False, allow)
    for losing, end in enumerate(('server', 'client')):
        yield Case(f'link of the {end} lost', False, partial(link_lost, losing=losing))
    yield Case('several clients', False, several_clients)
    yield Case('idle', False, idle, judges_time=True)
    yield Case('flood', False, flooded, judges_time=True)
    yield Case('flood by testpmd', False, volume, judges_time=True)
    yield Case('spoofed', False, spoofed, judges_time=True)
    for address in (SERVER, SERVER6):
        yield Case(f'wireshark {address}', address == SERVER6, partial(decoded, to=address))


if __name__ == '__main__':
    sys.exit(run_cases([case._replace(memory=True) for case in cases()], BINARY))
