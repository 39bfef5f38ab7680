#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul serve` and an honest client on a link with a stranger who means them harm.

    attack.py [--quick] [-k PATTERN] [--binary PATH]

The attacks are test/attack/attacker.c's, which is looked for where the binary was built. Namespaces
of the network are the hosts; only root makes them: all cases are skipped otherwise. A line for each
case, then 'N passed, N failed, N skipped'.
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
import unicodedata
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import (Case, Failed, Skip, end_group, expect, expect_between, expect_equal,
                     expect_status, run_cases)
from lab import Lab, order
from network import (CLIENT, FAR, OK, SERVER, SERVER6, THIRD, Server, in_brackets, is_ours,
                     run_client, running_client)
from pair import wait_until
from telemetry import Telemetry

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

KIB, MIB = 1 << 10, 1 << 20
SEED = 20260101

# What is forged here has checksums, which strangers can work out: it is to be met without a seal.
UNSEALED = '--unsealed'

# An honest client is served within so long, its start of about a second counted.
SERVED_S = 8
# What one stranger or peer may add to the server's memory, of which its buffers are no part.
GROWTH_BYTES = 32 * MIB
# What a stream's folders may take until its end.
FOLDERS_BYTES = 64 * MIB
# Bytes that come back for each that was sent, and heartbeats of the connections.
AMPLIFICATION, HEARTBEATS_BYTES = 8, 64 * KIB
LOG_LINES_PER_S = 12
# While there is something to say, with the link and the CPUs that others use, too.
SILENT_S = 1
# States that a server tells its client, one every 10 ms: half of them where CPUs are busy.
STATES_PER_S = 60
LOOK_S = 0.05

DATA, RCV_STATE = 1, 3

GATEWAY, FAR_GATEWAY = '192.0.2.254', '198.51.100.254'
IPV4_AT, IPV6_AT, HEAD_BYTES = 14 + 20 + 8, 14 + 40 + 8, 64
LCI_AT, DATA_SERIAL_AT, STATE_LOWER_AT, TOKEN_AT = 4, 8, 16, 56


class Field:
    """The three hosts, the same for all cases, and the server of one."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.server = self.folder = self.hosts = None

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

    def serve(self, program, folder, *options, root=None, env=None, sealed=False):
        """A server with these options, on a root of its own."""
        if self.hosts is None:
            self.set_up()
        self.end_server()
        self.folder, self.program = folder, program
        self.seal = () if sealed else (UNSEALED,)
        server = Server(program, self.victim, folder, *self.seal, *options)
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
        return [*self.stranger.under, ATTACKER, name, '--interface', 'eth0', '--own', THIRD,
                '--server', f'{SERVER},{server}', '--peer', f'{CLIENT},{client}',
                *map(str, options)]

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
        """The server's memory does not grow by more than this, at any time."""
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
    def transfer(self, mib, mbps, verb='send', to=SERVER, late_s=4, far=False,
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
            took = time.monotonic() - began
        self.expect_alive()
        expect_status(result, OK)
        due = mib * MIB * 8 / mbps / 1e6
        expect(took < due + late_s, f'{verb} at {mbps} Mb/s took {took:.1f} s, not {due:.1f}')
        expect(filecmp.cmp(source, target, shallow=False), f'other bytes after {verb}')
        target.unlink()


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
                serial_at = DATA_SERIAL_AT if kind == DATA else STATE_LOWER_AT
                return ('--lci', struct.unpack_from('<I', packet, LCI_AT)[0],
                        '--token', struct.unpack_from('<Q', packet, TOKEN_AT)[0],
                        '--serial', struct.unpack_from('<Q', packet, serial_at)[0])
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


def link_bytes(host):
    stats = host.ip_json('-s', 'link', 'show', 'dev', 'eth0')[0]['stats64']
    return stats['rx']['bytes'], stats['tx']['bytes']


# Item 1.


def killer(field, program, folder):
    """Packets at and beyond the bounds of every field end no process, and are counted."""
    field.serve(program, folder)
    with field.transfer(8, 60):
        for name in ('holes', 'bounds'):
            field.attack_now(name)
    field.expect_alive()
    counters = field.counters()
    for name in ('drop_packet_short', 'drop_packet_long', 'drop_packet_flags',
                 'drop_packet_reserved', 'drop_packet_length', 'drop_packet_field'):
        expect(counters.get(name, 0) > 0, f'{name} is not counted: {counters}')


# Item 2.


def hellos(field, program, folder, seconds):
    """Whatever a HELLO wishes, it is done or refused."""
    server = field.serve(program, folder)
    (server.folder / 'f').write_bytes(os.urandom(300_000))
    told = field.attack_now('hellos', '--path', 'f', '--seconds', seconds)
    field.expect_alive()
    expect(told.get('heard', 0) > 20, f'HELLOs that were heard: {told}')
    field.small_send()


# Item 3.


def staging_folders(folder):
    return [path for path in folder.rglob('.wavehaul-*')]


def staging(field, program, folder):
    """What is on its way to its name is nobody's else to see or to change."""
    server = field.serve(program, folder)
    (server.folder / 'in').mkdir()
    (server.folder / 'in/seen').write_bytes(b'seen')
    with field.transfer(24, 40):
        wait_until(lambda: staging_folders(server.folder), 3, 'a staging folder')
        names = [str(path.relative_to(server.folder)) for path in staging_folders(server.folder)]
        for path in ('.', 'in'):
            told = field.attack_now('list', '--path', path)
            expect(told['entries'] > 0, f'nothing listed of {path}: {told}')
            expect_equal(f'staging entries listed of {path}', told['staging'], 0)
        for name in names:
            told = field.attack_now('list', '--path', name)
            expect_equal(f'entries listed of {name}', told['entries'], 0)
            told = field.attack_now('into', '--path', name)
            expect(told['want'] == 0 and (told['refused'] or told['failed'] or not told['begun']),
                   f'sent into {name}: {told}')
            field.attack_now('by-link', '--path', name)
        evil = [path for path in server.folder.rglob('*')
                if path.is_file() and path.stat().st_size == 4 and path.read_bytes() == b'EVIL'
                and 'way' not in path.parts]
        expect(not evil, f'a stranger wrote {evil}')
    expect_equal('staging folders in the end', staging_folders(server.folder), [])


# Items 4 and 8.


def neighbours_full(field, program, folder, kind, pps):
    """Who asks, or opens, from many addresses takes no room that others need."""
    field.serve(program, folder, '--gateway', GATEWAY)
    with field.attack(kind, '--pps', pps, '--seconds', 20) as _:
        time.sleep(1)
        field.small_send()


def moved(field, program, folder, kind, to):
    """News of neighbours that nobody asked for stops no transfer, either way."""
    field.serve(program, folder)
    for verb in ('send', 'get'):
        with field.transfer(12, 60, verb, to):
            field.attack_now(kind, '--seconds', 1.5)


def moved_gateway(field, program, folder):
    """Nor does news of the gateway, to peers beyond it."""
    field.serve(program, folder, '--gateway', GATEWAY, '--allow', '0.0.0.0/0')
    lie = ('--peer', f'{GATEWAY},{field.router.mac()}')
    for verb in ('send', 'get'):
        with field.transfer(9, 60, verb, far=True):
            field.attack_now('moved', *lie, '--seconds', 1)


# Item 5.


def opens_flood(field, program, folder):
    """After more OPENs than identifiers have numbers, the next honest one is welcome."""
    field.serve(program, folder, '--sessions', '1000')
    field.attack_now('fills', '--count', 1024)
    field.attack_now('flood', '--count', 1_200_000, '--seconds', 3)
    field.small_send()


# Item 6.


def amplification(field, program, folder):
    """A peer gets no more bytes than a few times what it sends, whatever period it names."""
    field.serve(program, folder)
    before = link_bytes(field.stranger)
    told = field.attack_now('period', '--seconds', 3)
    after = link_bytes(field.stranger)
    field.expect_alive()
    expect(told['opened'] > 0, f'no connection: {told}')
    expect(after[1] > before[1], 'nothing was sent')
    got, sent = (b - a for a, b in zip(before, after))
    expect(got <= AMPLIFICATION * sent + HEARTBEATS_BYTES,
           f'{got} bytes came back for {sent} bytes sent')


def probes(field, program, folder):
    """Who probes without a cookie, or asks for one for ever, gets no more than he sends."""
    field.serve(program, folder)
    before = link_bytes(field.stranger)
    field.attack_now('probes', '--pps', 20000, '--seconds', 1.5)
    after = link_bytes(field.stranger)
    got, sent = (b - a for a, b in zip(before, after))
    expect(got > 0 and got <= sent, f'{got} bytes came back for {sent} bytes sent')
    with field.attack('probes', '--pps', 20000, '--seconds', 20) as _:
        time.sleep(0.5)
        field.small_send()
    field.expect_alive()


def cookies(field, program, folder):
    """A CONFIRM opens one connection, and soon or never."""
    field.serve(program, folder)
    told = field.attack_now('replay', '--seconds', 0.8)
    expect_equal('opened at first', told['opened'], 1)
    expect_equal('states after the CONFIRM came again', told['states_after'], 0)
    with field.attack('late-confirm', '--seconds', 2.5) as await_end:
        time.sleep(0.5)
        field.serve(program, folder)
        told = await_end()
    expect_equal('offered before the server began anew', told['opened'], 1)
    expect_equal('states after a CONFIRM from before', told['states_after'], 0)
    field.expect_alive()


# Item 7.


def refused_gets_nothing(field, program, folder):
    """Who may not connect learns no identifier; who may learns nothing of others'."""
    field.serve(program, folder, '--allow', f'{CLIENT}/32')
    told = field.attack_now('identifiers')
    expect(told['answers'] == 0 or told['refused'] != 0, f'not refused: {told}')
    expect_equal('the identifier told to one who is refused', told['identifier'], 0)
    expect_equal('a cookie for one who is refused', told['cookie'], 0)
    field.serve(program, folder)
    told = [field.attack_now('identifiers') for _ in range(4)]
    for each in told:
        expect(each['answer_bytes'] + IPV4_AT <= each['sent_bytes'], f'an answer is longer: {each}')
    seen = [each['identifier'] for each in told]
    steps = {(b - a) & 0xffffffff for a, b in zip(seen, seen[1:])}
    expect(len(steps) == 3 and min(steps) > 1 << 16 or seen == [0] * 4,
           f'identifiers follow one another: {seen}')


def aborted_by_others(field, program, folder):
    """Releases in the peer's name, around the identifiers that a stranger is given."""
    field.serve(program, folder)
    with field.transfer(12, 60):
        field.attack_now('aborts', '--seconds', 1)


def far_serials(field, program, folder):
    """States that are not plausible, from the right address to the right identifier."""
    little = ('--buffers', '64M')  # a transfer of which no end has room for all
    field.serve(program, folder, *little)
    for verb in ('send', 'get'):
        with field.transfer(80, 250, verb, late_s=8, options=little):
            for host in (field.victim, field.client):
                kind = DATA if (host is field.victim) == (verb == 'send') else RCV_STATE
                heard = overheard(host, kind)
                for name in ('far-serials', 'near-serials'):
                    field.attack_now(name, *heard, '--seconds', 0.2, '--pps', 3000)


# Item 9.


def places(field, program, folder):
    """One peer does not hold all places, however politely."""
    field.serve(program, folder)
    with field.attack('places', '--seconds', 6) as told:
        time.sleep(2)
        field.small_send()
        field.small_send(name='another')
        opened = told()['opened']
    expect_between('places that one peer was given', opened, 1, 63)


def windows(field, program, folder):
    """What a peer's windows take is within what it is allowed."""
    field.serve(program, folder)
    with field.growth(GROWTH_BYTES), field.attack('windows', '--count', 64, '--seconds', 6):
        time.sleep(3)
        field.small_send()


def folders(field, program, folder):
    """A folder that is named again and again costs no more than a stream's folders may."""
    field.serve(program, folder)
    with field.growth(FOLDERS_BYTES + GROWTH_BYTES):
        told = field.attack_now('folders', '--seconds', 6)
    field.expect_alive()
    expect(told['entries'] > 20_000, f'{told}')


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


def claims(field, program, folder):
    """One entry does not take a disk of which it sends nothing."""
    with small_disk(folder, 256) as root:
        field.serve(program, folder, root=root)
        free = shutil.disk_usage(root).free
        with field.attack('claim', '--count', free - MIB, '--seconds', 4) as told:
            time.sleep(1.5)
            expect(free - shutil.disk_usage(root).free < free / 2, 'reserved for nothing sent')
            with field.transfer(8, 60):
                told()
        field.end_server()


# Item 10.


def graphs(field, program, folder):
    """New codes with every packet are no reason for others to wait."""
    field.serve(program, folder)
    with field.transfer(24, 60), field.silence(SILENT_S):
        before = field.victim.packets('tx')
        told = field.attack_now('graphs', '--seconds', 2)
        said = (field.victim.packets('tx') - before) / told['seconds']
    expect(told['shapes'] > 50, f'{told}')
    expect(said > STATES_PER_S, f'{said:.0f} packets a second from a server that should say more')


def slow_sync(field, program, folder):
    """Jobs that are given up while a disk makes things durable stop no other's transfer."""
    slow = folder / 'slow'
    field.serve(program, folder, env={'LD_PRELOAD': SLOW_DISK, 'SLOW_DISK': slow})
    with field.transfer(16, 40), field.silence(SILENT_S):
        slow.write_text('')
        field.attack_now('given-up', '--seconds', 2.5)
        slow.unlink()


# Item 11.


def complaints(field, program, folder):
    """A peer that is refused writes few lines, and rules no terminal."""
    server = field.serve(program, folder)
    before = len(server.said().splitlines())
    told = field.attack_now('complaints', '--seconds', 3)
    field.expect_alive()
    expect(told['heard'] > 8, f'heard: {told}')
    raw = server.log.read_bytes()
    lines = len(raw.splitlines()) - before
    expect(lines > 0, 'nothing is said of jobs that are refused')
    expect(lines / told['seconds'] < LOG_LINES_PER_S,
           f'{lines} lines in {told["seconds"]:.1f} s')
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Failed(f'the log is not UTF-8: {error}') from None
    bad = {f'U+{ord(c):04X}' for c in text if unicodedata.category(c) in ('Cc', 'Cf') and c != '\n'}
    expect(not bad, f'the log has {sorted(bad)}')


# Item 12.


def forged(field, program, folder):
    """Nothing has its name before it is known to be what was sent."""
    server = field.serve(program, folder)
    told = field.attack_now('forged')
    field.expect_alive()
    expect(told.get('begun'), f'{told}')
    found = {path.name for path in server.folder.rglob('*') if path.is_file()}
    expect(found <= {'right'}, f'files with a name, of a stream whose seal is wrong: {found}')


def parts(field, program, folder):
    """Of a file that comes by two lanes no part is anywhere but in its place."""
    server = field.serve(program, folder)
    told = field.attack_now('parts')
    field.expect_alive()
    expect(told.get('begun') == 4 and told.get('strangers') == 1, f'{told}')
    expect(told['ended'] == 4, f'lanes that lie go on: {told}')
    expect(told['wanted'] == 0, f'a part of another transfer is wanted: {told}')
    found = {path.name: path.stat().st_size for path in server.folder.rglob('*') if path.is_file()}
    expect(found == {'right': 2 * MIB}, f'files with a name: {found}')


def leftovers(field, program, folder):
    """What a killed server leaves is gone when the next one serves."""
    server = field.serve(program, folder)
    (server.folder / 'deep/er').mkdir(parents=True)
    file = folder / 'file'
    file.write_bytes(random.Random(SEED).randbytes(8 * MIB))
    with running_client(program, field.client, 'send', UNSEALED, file, f'{SERVER}:deep/er/',
                        '--rate',
                        '20M', '--peer-timeout', '2s'):
        wait_until(lambda: staging_folders(server.folder), 10, 'a staging folder')
        server.kill()
    field.server = None
    end_group(server.process)
    expect(staging_folders(server.folder), 'nothing was left')
    server = field.serve(program, folder)
    wait_until(lambda: not staging_folders(server.folder), 3, 'an end of what was left')


# Item 13.

TAPS = ('replayed', 'reflected', 'borrowed', 'flipped')


def taps(field, program, folder):
    """What was recorded on the way harms neither this session nor the next, whoever says it."""
    field.serve(program, folder, sealed=True)
    tape = folder / 'tape'
    with field.transfer(16, 60, late_s=1 + 16 * MIB * 8 / 60e6 / 4):
        tape.write_bytes(recorded(field.victim, 0.3) + recorded(field.client, 0.3))
        before = field.counters()
        for name in TAPS:
            field.attack_now(name, '--path', tape, '--seconds', 0.2, '--pps', 20000)
        after = field.counters()
    grown = {name for name in after if after[name] > before.get(name, 0)}
    expect({'drop_packet_tag', 'drop_wrong_peer', 'drop_no_session'} <= grown,
           f'these alone were counted: {grown}')
    for verb in ('send', 'get'):
        with field.transfer(8, 60, verb):
            for name in TAPS:
                field.attack_now(name, '--path', tape, '--seconds', 0.2, '--pps', 20000)


# Item 14.

# Of its rate, where the port still takes its packets.
KEPT = 0.8


def flooded(field, program, folder, kind, pps, mib, mbps, options=()):
    """A flood costs a transfer a fifth of its rate at most, and no memory; it is told of."""
    field.serve(program, folder, '--gateway', GATEWAY, '--allow', '0.0.0.0/0', sealed=True)
    late_s = 1 + mib * MIB * 8 / mbps / 1e6 * (1 / KEPT - 1)
    with field.growth(GROWTH_BYTES), field.transfer(mib, mbps, late_s=late_s):
        told = field.attack_now(kind, '--pps', pps, '--seconds', 30, *options)
    expect(told['sent_pkts'] >= pps, f'{told}')
    field.small_send()


# Item 15.


def greetings(field, program, folder, mib=16, mbps=60):
    """Those that begin by the thousand and never go on cost as little, and who is honest is met."""
    field.serve(program, folder, sealed=True)
    late_s = 1 + mib * MIB * 8 / mbps / 1e6 * (1 / KEPT - 1)
    with field.growth(GROWTH_BYTES), field.transfer(mib, mbps, late_s=late_s):
        told = field.attack_now('greets', '--pps', 4000, '--seconds', 1.2)
    expect(told['cookies'] > 1000 and told['answers'] > 100, f'{told}')
    field.small_send()


# All of them, while a file goes.

WAVES = (
    (('holes',), ('bounds',), ('moved', '--seconds', 3), ('many-addresses', '--pps', 200),
     ('flood', '--count', 60_000)),
    (('hellos', '--path', 'offered'), ('moved6', '--seconds', 2), ('far-addresses', '--pps', 200),
     ('list',), ('into', '--path', 'in')),
    (('places',), ('folders',), ('claim',), ('askers', '--pps', 200), ('aborts',)),
    (('graphs',), ('windows', '--count', 4), ('period',), ('complaints',), ('forged',),
     ('parts',), ('given-up',)),
)


def wave(field, attacks):
    with contextlib.ExitStack() as stack:
        told = [(words[0], stack.enter_context(field.attack(*words))) for words in attacks]
        for name, await_end in told:
            await_end(40)
            field.expect_alive(f'{name} among others')


def all_at_once(field, program, folder, mib, mbps):
    """Every attack there is, several at a time, and a transfer that ends right."""
    field.serve(program, folder)
    with field.growth(4 * GROWTH_BYTES), field.transfer(mib, mbps, late_s=30):
        for attacks in WAVES:
            wave(field, attacks)
    field.small_send()


def cases(field):
    def case(name, quick, function, **how):
        return Case(name, quick, functools.partial(field.run, functools.partial(function, **how)),
                    memory=True)

    yield case('1 bounds of packets', True, killer)
    yield case('2 hellos', True, hellos, seconds=3)
    yield case('3 staging', True, staging)
    for kind, pps in (('many-addresses', 12), ('many-addresses', 500), ('far-addresses', 500),
                      ('askers', 500)):
        yield case(f'4 {kind} {pps}/s', (kind, pps) == ('many-addresses', 12), neighbours_full,
                   kind=kind, pps=pps)
    yield case('5 flood of OPENs', False, opens_flood)
    yield case('6 amplification', True, amplification)
    yield case('6 cookies', False, cookies)
    yield case('6 probes', True, probes)
    yield case('7 identifiers', True, refused_gets_nothing)
    yield case('7 aborts', False, aborted_by_others)
    yield case('7 serials', False, far_serials)
    for kind, to in (('moved', SERVER), ('moved6', SERVER6)):
        yield case(f'8 {kind}', False, moved, kind=kind, to=to)
    yield case('8 moved gateway', False, moved_gateway)
    yield case('9 places', False, places)
    yield case('9 windows', False, windows)
    yield case('9 folders', False, folders)
    yield case('9 claims', False, claims)
    yield case('10 graphs', False, graphs)
    yield case('10 slow disk', False, slow_sync)
    yield case('11 complaints', False, complaints)
    yield case('12 forged', True, forged)
    yield case('12 parts', False, parts)
    yield case('12 leftovers', False, leftovers)
    yield case('13 taps', True, taps)
    yield case('14 noise', False, flooded, kind='noise', pps=20_000, mib=24, mbps=60,
               options=('--seconds', 2))
    yield case('14 OPENs from everywhere', False, flooded, kind='million', pps=30_000, mib=24,
               mbps=60, options=('--count', 90_000))
    yield case('15 greetings', True, greetings)
    yield case('all at once', False, all_at_once, mib=200, mbps=500)


def tools_of(arguments):
    """What is built beside the binary: the attacker, and what makes a disk slow."""
    binary = BINARY
    if '--binary' in arguments[:-1]:
        binary = Path(arguments[arguments.index('--binary') + 1])
    built = binary.resolve().parents[2] / 'test'
    return built / 'attacker', built / 'slow_disk.so'


if __name__ == '__main__':
    ATTACKER, SLOW_DISK = tools_of(sys.argv)
    with Field() as FIELD:
        sys.exit(run_cases(list(cases(FIELD)), BINARY))
