# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of test/attack: a server, its honest client, and who means them harm."""

import contextlib
import filecmp
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from control import Control
from harness import Failed, decode_object, end_group, expect, expect_equal, expect_status
from lab import Lab, order
from network import CLIENT, FAR, OK, SERVER, THIRD, Server, SERVER6, in_brackets, is_ours, \
    run_client, running_client
from telemetry import Telemetry

KIB, MIB = 1 << 10, 1 << 20
SEED = 20260101

# What strangers forge has checksums, which they can work out: it is to be met without a seal.
UNSEALED = '--unsealed'

# What a peer does, with a key that the server trusts where sessions are sealed.
BY_PEERS = {'hellos', 'complaints', 'list', 'into', 'by-link', 'folders', 'claim', 'forged',
            'parts', 'given-up', 'period', 'places', 'windows', 'graphs', 'lies', 'records',
            'stalls', 'disorder', 'orders-wrong', 'orders-damaged', 'orders-many', 'orders-steered'}

# An honest client is served within so long, its start of about a second counted.
SERVED_S = 8
# What a transfer may take longer on a busy machine.
BUSY_S = 12
UNTOUCHED_BYTES = 64 << 20  # windows of as many jobs as a server has: 42 MiB were seen
LOOK_S = 0.05

DATA, RCV_REPORT = 1, 3

GATEWAY, FAR_GATEWAY = '192.0.2.254', '198.51.100.254'
IPV4_AT, IPV6_AT, HEAD_BYTES = 14 + 20 + 8, 14 + 40 + 8, 64
CID_AT, DATA_PN_AT, REPORT_LOWER_AT, TOKEN_AT = 4, 8, 16, 56


class Field:
    """The three hosts, the same for all cases, and the server of one."""

    def __init__(self, attacker):
        self.attack_program = attacker
        self.stack = contextlib.ExitStack()
        self.server = self.folder = self.hosts = None
        self.on_sockets = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def set_up(self):
        lab = self.stack.enter_context(Lab())
        names = ('server', 'client', 'stranger', 'router', 'far')
        self.hosts = [lab.host(name) for name in names]
        lab.switch(self.hosts[:4])
        self.victim, self.client, self.stranger, self.router, self.far = self.hosts
        lab.wire((self.far, 'eth0'), (self.router, 'far'))
        self.router.set_kernel('ipv4/ip_forward', 1)
        self.router.add_addresses('eth0', f'{GATEWAY}/24')
        self.router.add_addresses('far', f'{FAR_GATEWAY}/24')
        self.stranger.add_addresses('eth0', f'{THIRD}/24')
        self.macs = [host.mac() for host in self.hosts]
        self.have_liar()

    def have_liar(self):
        """A peer with a key and with rights of its own."""
        self.key, self.liar = self.make_key()
        self.trust('liar', self.liar)

    def make_key(self):
        """(file, public key)."""
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix='wavehaul-liar-'))
        made = self.program.run('keygen', '--json', under=['env', f'WAVEHAUL_CONFIG_DIR={folder}'])
        expect_status(made, OK)
        return Path(folder) / 'identity.pem', decode_object(made)['own']['key']

    def trust(self, name, key, *words):
        expect_status(self.program.run('trust', 'add', name, key, *words), OK)

    @contextlib.contextmanager
    def trusted(self, name, key, *words):
        self.trust(name, key, *words)
        try:
            yield
        finally:
            expect_status(self.program.run('trust', 'remove', name), OK)

    def sockets(self, program, folder, attack):
        """The attack, while the server's port is its kernel's sockets."""
        self.program = program
        if self.hosts is None:
            self.set_up()
        self.victim.complete_packets()
        self.victim.add_addresses('eth0', f'{SERVER}/24', f'{SERVER6}/64')
        self.on_sockets = True
        try:
            attack(self, program, folder)
            self.end_server()
        finally:
            self.on_sockets = False
            self.victim.ip('address', 'flush', 'dev', 'eth0', 'scope', 'global')

    def run(self, function, program, folder):
        try:
            function(self, program, folder)
            self.end_server()
        finally:
            if self.server is not None:
                end_group(self.server.process)
                self.server = None

    def end_server(self):
        """Asked once it awaits the end of its sessions, asked twice it ends."""
        server, self.server = self.server, None
        if server is None:
            return
        for _ in range(2):
            server.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.process.wait(0.5)
        server.__exit__(None, None, None)

    def serve(self, program, folder, *options, root=None, env=None, sealed=True):
        """A server with these options, on a root of its own."""
        self.folder, self.program = folder, program
        if self.hosts is None:
            self.set_up()
        self.end_server()
        self.seal = () if sealed else (UNSEALED,)
        how = {}
        if self.on_sockets:
            how = {'port': 'udp', 'addresses': ()}
            options = (*options, '--control', folder / 'control')
        server = Server(program, self.victim, folder, *self.seal, *options, **how)
        if self.on_sockets:
            server.ready = 'sessions are'
        if root is not None:
            server.folder = root
            server.command[server.command.index('--root') + 1] = root
        if env is not None:
            server.command = ['env', *(f'{key}={value}' for key, value in env.items()),
                              *server.command]
        self.server = server.__enter__()
        self.pid = server.process.pid
        return server

    def attacker(self, name, *options):
        server, client, *_ = self.macs
        return [*self.stranger.under, self.attack_program, name, '--interface', 'eth0',
                '--own', THIRD, '--server', f'{SERVER},{server}',
                '--peer', f'{CLIENT},{client}', *(('--key', self.key) if name in BY_PEERS and
                                                 not self.seal else ()), *map(str, options)]

    @contextlib.contextmanager
    def attack(self, name, *options):
        """In the background: yields a function that awaits what it tells."""
        process = subprocess.Popen(self.attacker(name, *options), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)

        def told(timeout_s=30):
            out, err = process.communicate(timeout=timeout_s)
            expect_equal(f'the exit status of the attacker {name} ({err.strip()})',
                         process.returncode, 0)
            return json.loads(out)

        try:
            yield told
        finally:
            if process.returncode is None:
                end_group(process)

    def attack_now(self, name, *options):
        with self.attack(name, *options) as told:
            return told()

    def expect_alive(self, what='the attack'):
        status = self.server.process.poll()
        if status is not None:
            said, self.server = self.server.said()[-400:], None
            raise Failed(f'the server is dead after {what}, status {status}: {said!r}')

    def rss_bytes(self):
        text = Path(f'/proc/{self.pid}/status').read_text()
        return int(re.search(r'VmRSS:\s+(\d+)', text)[1]) * KIB

    @contextlib.contextmanager
    def growth(self, bytes_max):
        """
        The server's memory does not grow by more than this, at any time. What it may hold is there
        from the start on a NIC; without one a page of it is there once it is written.
        """
        bytes_max += UNTOUCHED_BYTES if self.on_sockets else 0
        before, most, over = self.rss_bytes(), [0], threading.Event()

        def look():
            while not over.wait(LOOK_S):
                with contextlib.suppress(OSError, TypeError):  # it ends
                    most[0] = max(most[0], self.rss_bytes())

        with watching(look, over):
            yield
        grown = max(most[0] - before, 0)
        expect(grown < bytes_max, f'{grown >> 20} MiB more')

    @contextlib.contextmanager
    def silence(self, seconds_max):
        """The server, which has something to say all the time, is never silent for so long."""
        over, longest = threading.Event(), [0.0]

        def look():
            last, since = None, time.monotonic()
            while not over.wait(LOOK_S):
                sent, now = self.victim.packets('tx'), time.monotonic()
                if sent != last:
                    last, since = sent, now
                longest[0] = max(longest[0], now - since)

        with watching(look, over):
            yield
        expect(longest[0] < seconds_max, f'the server was silent for {longest[0]:.1f} s')

    def counters(self):
        if self.on_sockets:  # where DPDK's telemetry is not
            with Control(self.folder / 'control') as control:
                return control.told('ports')['ports']
        with Telemetry(self.pid) as telemetry:
            return telemetry.ask('/wavehaul/ports')

    def small_send(self, seconds=SERVED_S, name='small'):
        """An honest client is served, and soon."""
        file = self.folder / name
        file.write_bytes(os.urandom(3000))
        result = run_client(self.program, self.client, 'send', *self.seal, file, f'{SERVER}:in/',
                            timeout_s=max(40, seconds))
        self.expect_alive()
        expect_status(result, OK)
        expect(result.seconds < seconds, f'served after {result.seconds:.1f} s')
        expect(filecmp.cmp(file, self.server.folder / 'in' / name, shallow=False), 'other bytes')

    @contextlib.contextmanager
    def transfer(self, mib, mbps, verb='send', to=SERVER, late_s=BUSY_S, far=False,
                 options=()):
        """
        An honest file on its way; yields when it goes, and expects it to end right, and not much
        later than at that rate.
        """
        file = self.folder / 'file'
        if verb == 'send':
            source, target = file, self.server.folder / 'in/file'
            words = ('send', source, f'{in_brackets(to)}:in/')
        else:
            source, target = self.server.folder / 'offered', self.folder / 'got'
            words = ('get', f'{in_brackets(to)}:offered', target)
        source.write_bytes(random.Random(SEED).randbytes(mib * MIB))
        host, how = self.client, {}
        if far:
            host, how = self.far, {'addresses': (f'{FAR}/24',)}
            words = (*words, '--gateway', FAR_GATEWAY)
        words = (*words, '--rate', f'{mbps}M', *options)
        words = (words[0], *self.seal, *words[1:])
        with running_client(self.program, host, *words, **how) as await_end:
            overheard(host if verb == 'get' else self.victim, DATA)
            began = time.monotonic()
            yield
            result = await_end(120)
            took = self.took = time.monotonic() - began
        self.expect_alive()
        expect_status(result, OK)
        due = mib * MIB * 8 / mbps / 1e6
        expect(took < due + late_s, f'{verb} at {mbps} Mb/s took {took:.1f} s, not {due:.1f}')
        expect(filecmp.cmp(source, target, shallow=False), f'other bytes after {verb}')
        target.unlink()


@contextlib.contextmanager
def small_disk(folder, mib):
    """A file system of its own for the server's root."""
    root = folder / 'disk'
    root.mkdir()
    order('mount', '-t', 'tmpfs', '-o', f'size={mib}m', 'none', root)
    try:
        yield root
    finally:
        order('umount', '-l', root)


@contextlib.contextmanager
def watching(look, over):
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def overheard(host, kind, seconds=15):
    """
    Of the connection whose packet of that type next arrives at a host, as options of the attacker:
    identifier, token, and how far its data are.
    """
    with host.inside():
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        tap.bind(('eth0', 3))
    end = time.monotonic() + seconds
    with tap:
        tap.settimeout(0.2)
        while time.monotonic() < end:
            try:
                frame, source = tap.recvfrom(2048)
            except TimeoutError:
                continue
            if source[2] == socket.PACKET_OUTGOING or not is_ours(frame):
                continue
            packet = frame[IPV4_AT if frame[12:14] == b'\x08\x00' else IPV6_AT:]
            if len(packet) >= HEAD_BYTES and packet[1] == kind:
                pn_at = DATA_PN_AT if kind == DATA else REPORT_LOWER_AT
                return ('--cid', struct.unpack_from('<I', packet, CID_AT)[0],
                        '--token', struct.unpack_from('<Q', packet, TOKEN_AT)[0],
                        '--pn', struct.unpack_from('<Q', packet, pn_at)[0])
    raise Failed(f'no packet of type {kind} within {seconds} s')


def recorded(host, seconds, most=400):
    """Frames of ours that arrive at a host meanwhile, as the attacker reads them."""
    with host.inside():
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        tap.bind(('eth0', 3))
    end, frames = time.monotonic() + seconds, []
    with tap:
        tap.settimeout(0.05)
        while time.monotonic() < end and len(frames) < most:
            with contextlib.suppress(TimeoutError):
                frame, source = tap.recvfrom(2048)
                if source[2] != socket.PACKET_OUTGOING and frame[12:14] == b'\x08\x00' and \
                        is_ours(frame) and len(frame) >= IPV4_AT + HEAD_BYTES:
                    frames.append(struct.pack('<I', len(frame)) + frame)
    return b''.join(frames)


@contextlib.contextmanager
def recording(*wanted):
    """So many frames of ours for each of (host, most), from now on; yields what waits for them."""
    heard = []
    threads = [threading.Thread(
        target=lambda host, most: heard.append(recorded(host, BUSY_S, most)), args=one)
        for one in wanted]
    for thread in threads:
        thread.start()

    def await_all():
        for thread in threads:
            thread.join()
        return b''.join(heard)

    try:
        yield await_all
    finally:
        await_all()


def link_bytes(host):
    stats = host.ip_json('-s', 'link', 'show', 'dev', 'eth0')[0]['stats64']
    return stats['rx']['bytes'], stats['tx']['bytes']
