#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`--port udp`: the kernel's sockets, for any user account and without a configuration.

    udp.py [--quick] [-k PATTERN] [--binary PATH]

Namespaces of the network are the hosts. The programs on UDP sockets run as nobody, without rights,
hugepages or a device. Only root makes namespaces: all cases are skipped otherwise. A line for each
case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import functools
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import (NOBODY, Case, Skip, as_nobody, decode_object, end_group, expect,
                     expect_between, expect_equal, expect_said, expect_status, run_cases)
from lab import ETH_P_ALL, Lab, order
from network import (ALLOW_ALL, CLIENT, CLIENT6, FAR, FAR6, SERVER, SERVER6, exchange,
                     expect_same, in_brackets, make_load, router_between, run_client)
from network import Server as PortServer
from pair import wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

KIB, MIB = 1 << 10, 1 << 20
OK, USAGE, NETWORK, HARDWARE = 0, 2, 5, 7
UDP_PORT = 5760
CLIENT_S, STARTING_S = 60, 20
BUFFERS = ('--buffers', '128M')
NO_BUFFERS = ('ls', 'du', 'rm', 'mkdir', 'mv', 'ping', 'probe')


class Nobody:
    """The program as a user without rights, who has a key and trusts it."""

    def __init__(self, program, folder):
        self.program, under = as_nobody(program)
        self.under = (*under, f'HOME={folder}', f'XDG_STATE_HOME={folder}')
        self.folder = folder
        os.chown(folder, int(NOBODY), int(NOBODY))
        folder.chmod(0o755)

    def command(self, host, verb, *args):
        """Hugepages and a configuration might be there: they are not used."""
        room = () if verb in NO_BUFFERS else BUFFERS
        return (*host.under, *self.under, self.program.binary, verb, '--config', 'none', *room,
                *map(str, args))

    def start(self, host, verb, *args):
        under = self.command(host, verb, *args)
        return subprocess.Popen(under, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def run(self, host, verb, *args, timeout_s=CLIENT_S):
        return self.program.finish(self.start(host, verb, *args), timeout_s, time.monotonic())

    def owns(self, path):
        for one in (path, *path.rglob('*')):
            os.chown(one, int(NOBODY), int(NOBODY), follow_symlinks=False)


class Server(PortServer):
    """`wavehaul serve` of a user without rights, for the length of a `with`."""

    ready = 'accepted are'

    def __init__(self, user, host, *options):
        self.folder, self.log = user.folder / 'served', user.folder / 'server.log'
        self.folder.mkdir(exist_ok=True)
        user.owns(self.folder)
        self.command = user.command(host, 'serve', '--root', self.folder, '--state',
                                    user.folder / 'state', *options)


@contextlib.contextmanager
def two_hosts(mtu=1500):
    """Their kernels have the addresses."""
    with Lab() as lab:
        server, client = lab.host('server'), lab.host('client')
        lab.wire((server, 'eth0'), (client, 'eth0'), mtu)
        server.add_addresses('eth0', f'{SERVER}/24', f'{SERVER6}/64')
        client.add_addresses('eth0', f'{CLIENT}/24', f'{CLIENT6}/64')
        yield server, client


def both_ways(user, client, to, served, *args):
    """A tree and a file to the server and back; the bytes are the same."""
    load, got = user.folder / 'load', user.folder / 'got'
    if not load.exists():
        make_load(load)
        user.owns(load)
    got.mkdir()
    user.owns(got)
    at = in_brackets(to)
    expect_status(user.run(client, 'send', '-r', load / 'tree', load / 'big.bin', f'{at}:in/',
                           *args), OK)
    expect_same('what was sent', served / 'in', load)
    expect_status(user.run(client, 'get', '-r', f'{at}:in/tree', f'{at}:in/big.bin', f'{got}/',
                           *args), OK)
    expect_same('what was got', got, load)
    shutil.rmtree(got)
    shutil.rmtree(served / 'in')


def no_configuration(program, folder):
    """All verbs on one host that has nothing but loopback, without any option for the port."""
    user = Nobody(program, folder)
    with Lab() as lab:
        host = lab.host('alone')
        with Server(user, host) as server:
            expect('on udp, 127.0.0.1 and ::1 UDP 5760, MTU 1500' in server.said(), server.said())
            maps = Path(f'/proc/{server.process.pid}/maps').read_text(encoding='ascii')
            expect('/dpdk/pmds' not in maps, 'it has loaded the drivers of DPDK')
            for to in ('127.0.0.1', '::1'):
                both_ways(user, host, to, server.folder)
            (server.folder / 'here').write_bytes(b'1234')
            user.owns(server.folder)
            expect(' here' in user.run(host, 'ls', '127.0.0.1:').out, 'ls does not show it')
            pings = user.run(host, 'ping', '127.0.0.1', '--count', '3')
            expect('3 of 3 came back' in pings.out, pings.out + pings.err)
            expect_status(user.run(host, 'bench', '127.0.0.1', '--size', '16M'), OK)
            expect_status(user.run(host, 'probe', '127.0.0.1', '--time', '1s'), OK)
            expect_status(user.run(host, 'rm', '127.0.0.1:here'), OK)
            expect(not (server.folder / 'here').exists(), 'it is still there')


def transfer(program, folder, mtu, options=()):
    """Two hosts, over IPv4 and IPv6, from the kernel's main addresses."""
    user = Nobody(program, folder)
    with two_hosts(mtu) as (host, client), Server(user, host, '--mtu', mtu) as server:
        expect(f'{SERVER} and {SERVER6} UDP 5760, MTU {mtu}' in server.said(), server.said())
        for to in (SERVER, SERVER6):
            both_ways(user, client, to, server.folder, '--mtu', mtu, *options)


def one_wire(program, folder, port, mtu):
    """Against an end on another kind of port. Its veth takes whole packets, as a cable does."""
    user = Nobody(program, folder)
    with Lab() as lab:
        server, client = lab.host('server'), lab.host('client')
        lab.wire((server, 'eth0'), (client, 'eth0'), mtu)
        client.add_addresses('eth0', f'{CLIENT}/24', f'{CLIENT6}/64')
        client.complete_packets()
        with PortServer(program, server, folder, '--identity', key_of(user), port=port,
                        mtu=mtu) as serving:
            for to in (SERVER, SERVER6):
                both_ways(user, client, to, serving.folder, '--mtu', mtu)


def key_of(user):
    """For root's end, whose key it must be: each accepts an end with its own."""
    config = next(word for word in user.under if word.startswith('WAVEHAUL_CONFIG_DIR='))
    key = user.folder / 'key.pem'
    shutil.copy(Path(config.partition('=')[2], 'identity.pem'), key)
    os.chown(key, 0, 0)
    key.chmod(0o600)
    return key


def other_end(program, folder, port, mtu):
    """The same, with the client on that port."""
    user = Nobody(program, folder)
    with Lab() as lab:
        server, client = lab.host('server'), lab.host('client')
        lab.wire((server, 'eth0'), (client, 'eth0'), mtu)
        server.add_addresses('eth0', f'{SERVER}/24', f'{SERVER6}/64')
        server.complete_packets()
        with Server(user, server, '--mtu', mtu):
            for to in (SERVER, SERVER6):
                exchange(program, client, folder, to, '--identity', key_of(user), port=port,
                         mtu=mtu)


# First a user namespace that may bring up its loopback, then one in it that may nothing.
CONTAINER = ('unshare', '--user', '--map-root-user', '--net', 'sh', '-c',
             'ip link set lo up && exec unshare --user --map-user=1000 --map-group=1000 "$@"',
             'sh')
IN_CONTAINER = """
    grep Cap /proc/self/status | grep -v CapBnd
    "$1" serve --config none --buffers 128M --root served --state state >server.log 2>&1 &
    until grep -q 'accepted are' server.log; do kill -0 $!; sleep 0.05; done
    "$1" send --config none --buffers 128M -r load/tree load/big.bin 127.0.0.1:in/
    "$1" get --config none --buffers 128M -r 127.0.0.1:in/tree 127.0.0.1:in/big.bin got/
    kill $!
    wait $!
"""


def container(program, folder):
    """As in an unprivileged pod: a user and network namespace, and not one capability."""
    user = Nobody(program, folder)
    if subprocess.run([*user.under, *CONTAINER, 'true'], capture_output=True,
                      check=False).returncode != 0:
        raise Skip('users may make no namespaces here')
    load, served, got = (folder / name for name in ('load', 'served', 'got'))
    make_load(load)
    served.mkdir()
    got.mkdir()
    user.owns(folder)
    result = subprocess.run(
        [*user.under, *CONTAINER, 'sh', '-e', '-c', IN_CONTAINER, 'sh', user.program.binary],
        cwd=folder, capture_output=True, text=True, timeout=CLIENT_S, check=False)
    log = folder / 'server.log'
    expect(result.returncode == 0, result.stderr + log.read_text(encoding='utf-8'))
    sets = [int(line.split()[1], 16) for line in result.stdout.splitlines() if 'Cap' in line]
    expect_equal('capabilities inherited, permitted, effective and ambient', sets, [0] * 4)
    expect_same('what was sent', served / 'in', load)
    expect_same('what was got', got, load)


def manifests(program, _):
    """What the pods of config/container run is understood."""
    for path in sorted((TOP / 'config/container').glob('*.yaml')):
        args = re.search(r'args: \[(.*?)\]', path.read_text(encoding='utf-8'), re.DOTALL)[1]
        words = [word.strip().strip('"') for word in args.split(',')]
        port = () if '--port' in words else ('--port', '0000:3b:00.0')
        expect_status(program.run(*words, *port, '--print-config'), OK)


def refusals(program, folder):
    """What the world does wrong is one sentence."""
    user = Nobody(program, folder)
    with two_hosts() as (host, client):
        key = 'sha256:' + '0' * 64
        expect_status(program.run('trust', 'add', 'far', key, 'address=203.0.113.9',
                                  under=user.under), 0)
        for args, status, sentence in (
                (('probe', 'far'), NETWORK, r'no route to far \(203\.0\.113\.9\): '),
                (('probe', 'nowhere.invalid'), NETWORK,
                 'and no peer of that name has an address in /.*/trust.d'),
                (('serve', '--port', 'udp:203.0.113.9'), HARDWARE, 'no such address'),
                (('serve', '--port', f'udp:{SERVER}:80'), HARDWARE, 'only root may use UDP port'),
                (('serve', '--addr', '192.0.2.9/24'), USAGE, '--addr is for ports with an address'),
                (('serve', '--eal=-m 64'), USAGE, '--eal is for ports of DPDK'),
                (('serve', '--port', 'udp:nonsense'), USAGE, 'write udp, or udp: and an address'),
                (('send', folder, '203.0.113.9:'), NETWORK, 'no route to 203.0.113.9')):
            result = user.run(host, *args)
            expect_status(result, status)
            expect_said(result, sentence)
        with Server(user, host):
            result = user.run(host, 'serve', '--state', 'none', '--root', folder)
            expect_status(result, HARDWARE)
            expect_said(result, f'UDP port {UDP_PORT} of {SERVER} is in use')
        user.under = (*user.under, 'prlimit', f'--data={100 * MIB}')
        result = user.run(client, 'bench', SERVER)
        expect_status(result, HARDWARE)
        expect_said(result, r'out of memory for --buffers; .* \(ulimit -v, ulimit -d\)')
        user.under = user.under[:-2]
        result = user.run(client, 'bench', SERVER, '--peer-timeout', '2s')
        expect_status(result, NETWORK)
        expect_said(result, rf'{SERVER} refuses UDP port {UDP_PORT} \(ICMP port unreachable\)')


# As a kernel before Linux 5.0 does, setsockopt refuses all options of UDP.
WITHOUT_UDP_OPTIONS = '''
import ctypes, os, struct, sys
code = ((0x20, 0, 0, 0), (0x15, 0, 3, 54), (0x20, 0, 0, 24), (0x15, 0, 1, 17),
        (0x06, 0, 0, 0x5005c), (0x06, 0, 0, 0x7fff0000))  # ENOPROTOOPT; allow
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *one) for one in code))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 6, ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program) != 0:
    sys.exit(f'no filter: {ctypes.get_errno()}')
os.execvp(sys.argv[1], sys.argv[1:])
'''


def old_kernel(program, folder):
    """A kernel that has neither UDP_SEGMENT nor UDP_GRO: told once at each end, works."""
    user = Nobody(program, folder)
    python = shutil.which('python3', path=os.defpath)  # which nobody may run
    user.under = (*user.under, python, '-c', WITHOUT_UDP_OPTIONS)
    told = 'this kernel does not cut messages into packets'
    with two_hosts() as (host, client), Server(user, host) as server:
        both_ways(user, client, SERVER, server.folder)
        result = user.run(client, 'ping', SERVER, '--count', '1')
        expect_status(result, OK)
        for said in (result.err, server.said()):
            expect(said.count(told) == 1, f'told {said.count(told)} times: {said}')


def classes_of(tap):
    """What came by and went from there: {(source address, DSCP)} of the UDP packets."""
    seen = set()
    with contextlib.suppress(BlockingIOError):
        while frame := tap.recv(65536):
            kind, ip = frame[12:14], frame[14:]
            if kind == b'\x08\x00' and ip[9] == socket.IPPROTO_UDP:
                seen.add((socket.inet_ntop(socket.AF_INET, ip[12:16]), ip[1] >> 2))
            elif kind == b'\x86\xdd' and ip[6] == socket.IPPROTO_UDP:
                seen.add((socket.inet_ntop(socket.AF_INET6, ip[8:24]),
                          (ip[0] << 8 | ip[1]) >> 6 & 0x3f))
    return seen


def classes(program, folder):
    """Each end's packets have its own DSCP, on sockets and on an ethdev."""
    user = Nobody(program, folder)
    with two_hosts() as (host, client), Server(user, host, '--dscp', '46'):
        with host.inside():
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        with tap:
            tap.setblocking(False)
            for to in (SERVER, SERVER6):
                expect_status(user.run(client, 'ping', to, '--dscp', '8', '--count', '1'), OK)
            expect_equal('classes', classes_of(tap),
                         {(CLIENT, 8), (SERVER, 46), (CLIENT6, 8), (SERVER6, 46)})
            host.complete_packets()
            client.ip('address', 'flush', 'dev', 'eth0')
            for to in (SERVER, SERVER6):
                result = run_client(program, client, 'ping', to, '--dscp', '11', '--count', '1',
                                    '--identity', key_of(user))
                expect_status(result, OK)
            expect_equal('classes', classes_of(tap),
                         {(CLIENT, 11), (SERVER, 46), (CLIENT6, 11), (SERVER6, 46)})


def unknown_key(program, folder):
    """A stranger learns which key is missing, and the command that adds it."""
    known, stranger = Nobody(program, folder), Nobody(program, folder)
    with two_hosts() as (host, client), Server(known, host):
        result = stranger.run(client, 'send', folder / 'server.log', f'{SERVER}:')
        expect_status(result, NETWORK, 6)
        expect_said(result, 'wavehaul trust add')


def wakes(pid):
    """How often each of its threads has slept and gone on."""
    return {task.name: int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)',
                                     (task / 'status').read_text(), re.MULTILINE)[1])
            for task in Path(f'/proc/{pid}/task').iterdir()}


def idle(program, folder):
    """A server without sessions: its loops nap for 20 ms, and no thread wakes more often."""
    user = Nobody(program, folder)
    with two_hosts() as (host, client), Server(user, host) as server:
        expect_status(user.run(client, 'ping', SERVER, '--count', '1'), OK)
        time.sleep(2)
        before, began = wakes(server.process.pid), time.monotonic()
        time.sleep(4)
        after, seconds = wakes(server.process.pid), time.monotonic() - began
        for thread, count in after.items():
            rate = (count - before.get(thread, 0)) / seconds
            expect(rate < 55, f'thread {thread} wakes {rate:.0f} times a second')


def killed(program, folder):
    """A client dies in the midst; the next one resumes."""
    user = Nobody(program, folder)
    source = folder / 'big'
    source.write_bytes(random.Random(1).randbytes(96 * MIB))
    with two_hosts() as (host, client), Server(user, host) as server:
        process = user.start(client, 'send', source, f'{SERVER}:', '--rate', '200M')
        time.sleep(3)
        end_group(process)
        result = user.run(client, 'send', source, f'{SERVER}:')
        expect_status(result, OK)
        expect((server.folder / 'big').read_bytes() == source.read_bytes(), 'other bytes')
        expect(re.search(r'\d+\.\d MiB of it had come before', result.out), result.out)
        server.kill()  # which would wait for the dead client


def hostile(program, folder):
    """
    Strangers flood the server's and the client's port with datagrams of any size while a transfer
    runs; the interface goes down for a second, and one datagram fails of an ICMP error.
    """
    user = Nobody(program, folder)
    source = folder / 'big'
    source.write_bytes(random.Random(2).randbytes(48 * MIB))
    ended = threading.Event()

    def flood():
        draw = random.Random(3)
        with client.inside():
            stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with stranger:
            while not ended.is_set():
                with contextlib.suppress(OSError):  # while the interface is down
                    for _ in range(200):
                        stranger.sendto(draw.randbytes(draw.choice((0, 1, 63, 64, 65, 1472))),
                                        (SERVER, UDP_PORT))
                time.sleep(0.01)

    with two_hosts() as (host, client), Server(user, host) as server:
        strangers = threading.Thread(target=flood)
        strangers.start()
        try:
            process = user.start(client, 'send', source, f'{SERVER}:', '--rate', '100M')
            time.sleep(2)
            client.ip('link', 'set', 'eth0', 'down')
            time.sleep(1)
            client.ip('link', 'set', 'eth0', 'up')
            client.add_addresses('eth0', f'{CLIENT6}/64')
            result = user.program.finish(process, CLIENT_S, time.monotonic())
        finally:
            ended.set()
            strangers.join()
        expect_status(result, OK)
        expect((server.folder / 'big').read_bytes() == source.read_bytes(), 'other bytes')


@contextlib.contextmanager
def dropped(host, hook='input'):
    """UDP to that host is dropped where it arrives; or, by `output`, what it sends: EPERM."""
    if not shutil.which('nft'):
        raise Skip('nft is not there: tools/setup --tests')
    order('ip', 'netns', 'exec', host.netns, 'nft', 'add table inet wall; add chain inet wall in '
          f'{{ type filter hook {hook} priority 0; }}; '
          'add rule inet wall in meta l4proto udp drop')
    try:
        yield
    finally:
        order('ip', 'netns', 'exec', host.netns, 'nft', 'delete table inet wall')


def faults(program, folder):
    """
    Under way the client's kernel refuses to send (EPERM), has no room to (ENOBUFS), and loses its
    address, each for a moment; the transfer goes on.
    """
    user = Nobody(program, folder)
    source = folder / 'big'
    source.write_bytes(random.Random(5).randbytes(32 * MIB))
    with two_hosts() as (host, client), Server(user, host) as server:
        process = user.start(client, 'send', source, f'{SERVER}:', '--rate', '80M')
        wait_until(lambda: client.packets('tx') > 2000, STARTING_S, 'a transfer under way')
        with dropped(client, 'output'):
            time.sleep(0.3)
        client.ip('address', 'del', f'{CLIENT}/24', 'dev', 'eth0')
        time.sleep(0.3)
        client.add_addresses('eth0', f'{CLIENT}/24')
        order(*client.under, 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', 'rate', '20mbit',
              'burst', '3000', 'limit', '6000')
        time.sleep(0.3)
        order(*client.under, 'tc', 'qdisc', 'del', 'dev', 'eth0', 'root')
        expect(process.poll() is None, 'it was over before')
        expect_status(user.program.finish(process, CLIENT_S, time.monotonic()), OK)
        expect((server.folder / 'big').read_bytes() == source.read_bytes(), 'other bytes')


def stopped(program, folder):
    """
    A moment in which an end does not run is nothing. After a longer one, as when a computer is
    suspended, the server has ended the session, which is told truly; and the next attempt goes on.
    """
    user = Nobody(program, folder)
    source = folder / 'big'
    source.write_bytes(random.Random(8).randbytes(16 * MIB))
    with two_hosts() as (host, client), Server(user, host, '--peer-timeout', '2s') as server:
        process = user.start(client, 'send', source, f'{SERVER}:', '--rate', '40M',
                             '--retries', '1')

        def stop(end, seconds):
            os.killpg(end.pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.killpg(end.pid, signal.SIGCONT)

        wait_until(lambda: client.packets('tx') > 60, STARTING_S, 'a transfer under way')
        for end, seconds in (server.process, 1), (process, 1), (process, 4):
            stop(end, seconds)
            time.sleep(0.2)
        result = user.program.finish(process, CLIENT_S, time.monotonic())
        expect_status(result, OK)
        expect_said(result, 'path was down, or this program was stopped\n.*retrying; 0 more')
        expect((server.folder / 'big').read_bytes() == source.read_bytes(), 'other bytes')


def many_sessions(program, folder):
    """64 at once on one socket of the server's, of two clients."""
    user = Nobody(program, folder)
    room = ('--sessions', '96', '--peer-jobs', '96', '--buffers', '1G', '--peer-memory', '1G')
    with two_hosts() as (host, client), Server(user, host, *room):
        began = time.monotonic()
        processes = [user.start(client, 'bench', '--time', '2s', '--parallel', '32', '--json',
                                SERVER) for _ in range(2)]
        for process in processes:
            result = user.program.finish(process, CLIENT_S, began)
            expect_status(result, OK)
            expect_equal('lanes', decode_object(result)['parallel'], 32)


def walled(program, folder):
    """A firewall begins to drop under way: told in time, in one sentence; the next one resumes."""
    user = Nobody(program, folder)
    source = folder / 'big'
    source.write_bytes(random.Random(6).randbytes(24 * MIB))
    with two_hosts() as (host, client), Server(user, host) as server:
        process = user.start(client, 'send', source, f'{SERVER}:', '--rate', '100M',
                             '--peer-timeout', '2s')
        wait_until(lambda: client.packets('tx') > 2000, STARTING_S, 'a transfer under way')
        with dropped(client):
            began = time.monotonic()
            result = user.program.finish(process, CLIENT_S, began)
            expect_status(result, NETWORK)
            expect_between('seconds until it is told', time.monotonic() - began, 1, 2 + 4)
            expect_said(result, f'nothing received from {SERVER} for 2 s')
        expect_status(user.run(client, 'send', source, f'{SERVER}:'), OK)
        expect((server.folder / 'big').read_bytes() == source.read_bytes(), 'other bytes')
        server.kill()  # which would wait for the walled client


def forge_too_big(router, client, mtu):
    """Tells the client's kernel of such an MTU towards the server; it needs to guess one port."""
    with client.inside():
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with router.inside():
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    with asked, raw:
        asked.connect((SERVER, UDP_PORT))
        inner = struct.pack('>BBHHHBBH', 0x45, 0, 1500, 0, 0x4000, 64, 17, 0) + \
            socket.inet_aton(FAR) + socket.inet_aton(SERVER) + \
            struct.pack('>HHHH', asked.getsockname()[1], UDP_PORT, 1480, 0)
        icmp = struct.pack('>BBHHH', 3, 4, 0, 0, mtu) + inner
        total = sum(struct.unpack(f'>{len(icmp) // 2}H', icmp))
        total = (total >> 16) + (total & 0xffff)
        icmp = icmp[:2] + struct.pack('>H', ~(total + (total >> 16)) & 0xffff) + icmp[4:]
        raw.sendto(icmp, (FAR, 0))
    route = client.ip('route', 'get', SERVER)
    expect(f'mtu {mtu}' in route, f'the kernel does not believe it: {route}')


def far_apart(net):
    """Addresses and routes of the kernels at a router's sides; the client's link takes 1500."""
    host, client, _ = net
    client.ip('link', 'set', 'eth0', 'mtu', 1500)
    host.add_addresses('eth0', f'{SERVER}/24', f'{SERVER6}/64')
    client.add_addresses('eth0', f'{FAR}/24', f'{FAR6}/64')
    for gateway in ('192.0.2.254', '2001:db8::254'):
        host.ip('route', 'add', 'default', 'via', gateway)
    for gateway in ('198.51.100.254', '2001:db8:1::254'):
        client.ip('route', 'add', 'default', 'via', gateway)


def mtu_used(user, client, *args):
    result = user.run(client, *args, '--json-stream')
    expect_status(result, OK)
    events = map(json.loads, result.out.splitlines())
    return next(event['mtu'] for event in events if event.get('event') == 'start')


def narrow(program, folder):
    """
    A router drops what is longer than its MTU, and nobody is told: packets have the length that
    passes. What is forged about the path has no effect.
    """
    user = Nobody(program, folder)
    source = folder / 'big'
    source.write_bytes(random.Random(4).randbytes(4 * MIB))
    for mtu, least in ((1400, 1400 - 32), (1500, 1500)):
        with router_between(1500, mtu) as net:
            host, client, router = net
            far_apart(net)
            with Server(user, host, *ALLOW_ALL):
                if mtu == 1500:
                    forge_too_big(router, client, 600)
                expect_between('bytes of a packet sent', mtu_used(
                    user, client, 'send', source, f'{SERVER}:'), least, mtu)
                expect_between('bytes of a packet got', mtu_used(
                    user, client, 'get', f'{SERVER}:big', f'{folder}/again{mtu}'), least, mtu)


def narrower(program, folder, verb, address):
    """
    The path's MTU becomes smaller under way. Routers cut packets of IPv4 that are longer and drop
    those of IPv6, which the sender then lets its kernel cut.
    """
    user = Nobody(program, folder)
    with router_between(1500, 1500) as net:
        host, client, router = net
        far_apart(net)
        with Server(user, host, *ALLOW_ALL) as server:
            got = folder / 'big'
            source = server.folder / 'big' if verb == 'get' else got
            source.write_bytes(random.Random(7).randbytes(8 * MIB))
            far = in_brackets(address)
            words = (f'{far}:big', got) if verb == 'get' else (got, f'{far}:')
            process = user.start(client, verb, *words, '--rate', '40M', '--peer-timeout', '3s',
                                 '--stall-timeout', '5s')
            wait_until(lambda: client.packets('rx' if verb == 'get' else 'tx') > 60, STARTING_S,
                       'a transfer under way')
            router.ip('link', 'set', 'far' if verb == 'get' else 'near', 'mtu', 1400)
            expect(process.poll() is None, 'it was over before')
            expect_status(user.program.finish(process, CLIENT_S, time.monotonic()), OK)
            expect((server.folder / 'big').read_bytes() == got.read_bytes(), 'other bytes')


def cases():
    partial = functools.partial
    yield Case('no configuration', True, no_configuration)
    yield Case('transfer 1500', True, partial(transfer, mtu=1500))
    yield Case('transfer 9000', False, partial(transfer, mtu=9000))
    yield Case('transfer in lanes', False,
               partial(transfer, mtu=1500, options=('--parallel', '2')))
    for port in ('af_packet', 'af_xdp'):
        yield Case(f'one wire with {port}', port == 'af_packet',
                   partial(one_wire, port=port, mtu=1500))
        yield Case(f'one wire from {port}', False, partial(other_end, port=port, mtu=1500))
    yield Case('refusals', True, refusals)
    yield Case('container', True, container)
    yield Case('manifests', True, manifests)
    yield Case('classes', False, classes)
    yield Case('old kernel', False, old_kernel)
    yield Case('unknown key', True, unknown_key)
    yield Case('idle', False, idle)
    yield Case('killed and resumed', False, killed)
    yield Case('hostile', False, hostile)
    yield Case('faults under way', True, faults)
    yield Case('stopped under way', False, stopped)
    yield Case('many sessions', False, many_sessions, judges_time=True)
    yield Case('walled under way', False, walled)
    yield Case('narrow path', False, narrow)
    for verb, address in itertools.product(('send', 'get'), (SERVER, SERVER6)):
        family = 'ipv6' if ':' in address else 'ipv4'
        yield Case(f'narrower path under way, {verb}, {family}', verb == 'send',
                   partial(narrower, verb=verb, address=address))


if __name__ == '__main__':
    sys.exit(run_cases([case._replace(memory=True) for case in cases()], BINARY))
