#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Captures of a server: what is in the files, who may, and what ends one.

    capture.py [--quick] [-k PATTERN] [--binary PATH]
"""

import contextlib
import json
import os
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

from control import Control
from dissector import tshark
from harness import Case, Skip, expect, expect_equal, expect_status, run_cases
from orders import CLIENT, houses
from pair import wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OTHER, USAGE = 1, 2
NOBODY = 65534
KEPT = 32  # captures that are remembered
PACKET_BLOCK = 6
DATA = 1
UDP_BYTES = 14 + 20 + 8


def frames(path):
    """Of a pcapng file, each as (leaves, bytes on the way, what was kept); all blocks are whole."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, size = struct.unpack_from('=II', data, at)
        expect(size % 4 == 0 and at + size <= len(data), f'a block is cut at {at} of {path}')
        expect_equal('the size at its end', struct.unpack_from('=I', data, at + size - 4), (size,))
        if kind == PACKET_BLOCK:
            kept, whole = struct.unpack_from('=II', data, at + 20)
            flags = struct.unpack_from('=I', data, at + 28 + (kept + 3 & ~3) + 4)[0]
            yield flags == 2, whole, data[at + 28:at + 28 + kept]
        at += size


def cid(frame):
    return struct.unpack_from('<I', frame, UDP_BYTES + 4)[0]


def is_ip(frame):
    return frame[12:14] == b'\x08\0'


def console(program, path, commands, *options):
    return program.run('console', '--control', str(path), '-c', commands, *options)


def captures(control):
    return {row['capture']: row for row in control.told('capture.list')['captures']}


def await_over(control, number):
    wait_until(lambda: captures(control)[number]['state'] == 'over', 10, 'the end of a capture')
    row = captures(control)[number]
    kept = len(list(frames(Path(row['file']))))
    expect_equal('packets in the file', kept, row['written_pkts'])
    expect_equal('bytes of the file', Path(row['file']).stat().st_size, row['bytes'])
    return row


def session_of(control):
    def rows():
        return [row for row in control.told('jobs')['jobs'] if row['moved_bytes'] > 0]
    wait_until(rows, 10, 'a job that moves bytes')
    return rows()[0]['session']


def of_a_session(program, folder):
    """Two captures of one session, each on its own; all opens with the keys that were logged."""
    keys = folder / 'keys'
    with houses(program, '--keylog', keys) as (one, _), Control(one.path) as control:
        one.make('file', 3_000_000)
        before = control.told('totals')['totals']
        whole = control.told('capture.start', port=True, file='all.pcapng')['capture']
        job = one.add('send', one.root / 'file', f'{CLIENT}:came', '--rate', '24M',
                      '--profile', 'fixed')
        session = session_of(control)
        expect_status(console(program, one.path, f'capture session {session} to a packets 50'), 0)
        # A console that starts one and is gone at once, however it ends: the capture goes on.
        with Control(one.path) as killed:
            own = killed.told('capture.start', session=session, file='b.pcapng')['capture']
        said = console(program, one.path, 'show captures')
        expect(f'session  {session}' in ' '.join(said.out.split(' ')), said.out)
        one.await_state(job, 'done')
        short = await_over(control, own - 1)
        expect_equal('the short one', (short['written_pkts'], short['why']),
                     (50, 'as many packets as were wanted'))
        row = await_over(control, own)
        expect_equal('the other one', (row['why'], row['missed_pkts'], row['written_pkts']),
                     ('the session is over', 0, row['seen_pkts']))
        both = {True: set(), False: set()}
        for leaves, size, frame in frames(Path(row['file'])):
            expect_equal('what is kept of a frame', len(frame), size)
            both[leaves].add(cid(frame))
        expect_equal('identifiers', [len(both[leaves]) for leaves in (True, False)], [1, 1])
        expect_equal('ours', both[False], {session & 0xffffffff})
        control.told('capture.stop', capture=whole)
        row = await_over(control, whole)
        expect_equal('why', (row['why'], row['missed_pkts']), ('it was stopped', 0))
        kinds = Counter((leaves, frame[UDP_BYTES + 1])
                        for leaves, _, frame in frames(Path(row['file'])) if is_ip(frame))
        after = control.told('totals')['totals']
        expect_equal('data packets', kinds[True, DATA], sent(after) - sent(before))
        opened = tshark('-r', short['file'], '-T', 'fields', '-e', '_ws.col.Info', '-o',
                        f'wavehaul.keylog:{keys}', '-o', 'wavehaul.open_data:TRUE').splitlines()
        shut = [line for line in opened if line.endswith(': sealed')]
        expect_equal('packets, and those that do not open', (len(opened), shut), (50, []))


def sent(totals):
    return totals['transmitter']['sent_pkts']


def as_nobody(path, *asked):
    """The answers to another user of the host."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with Control(path) as control:
                answers = [control.ask(command, **arguments) for command, arguments in asked]
            os.write(write, json.dumps(answers).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, 'rb') as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


def remembered(control):
    """The list of captures is full: a refused one does not displace any."""
    for number in range(len(captures(control)) + 1, KEPT + 1):
        control.told('capture.start', queue=0, file=f'q{number}')
        control.told('capture.stop', capture=number)
        await_over(control, number)
    expect(not control.ask('capture.start', queue=9, file='x')['ok'], 'a queue 9')
    expect(not control.ask('capture.start', queue=0, file='there')['ok'], 'a file twice')
    expect_equal('what is remembered', sorted(captures(control)), [*range(1, KEPT + 1)])


def refused(program, folder):
    """Invalid captures; names with a path; another user's session, and the user's own."""
    with houses(program) as (one, _), Control(one.path) as control:
        one.make('file', 20_000_000)
        job = one.add('send', one.root / 'file', f'{CLIENT}:came', '--rate', '8M')
        session = session_of(control)
        (one.state / 'captures').mkdir()
        there = one.state / 'captures' / 'there'
        there.write_text('precious')
        (one.state / 'captures' / 'link').symlink_to(one.state / 'elsewhere')
        for status, said, arguments in (
                (USAGE, 'of a session, of a queue', {'file': 'x'}),
                (USAGE, 'of a session, of a queue', {'file': 'x', 'port': True, 'queue': 0}),
                (OTHER, 'no session 5', {'file': 'x', 'session': 5}),
                (OTHER, 'no queue 9', {'file': 'x', 'queue': 9}),
                (USAGE, 'no name', {'file': '../x', 'port': True}),
                (USAGE, 'no name', {'file': '.x', 'port': True}),
                (USAGE, 'no name', {'file': 'x' * 65, 'port': True}),
                (USAGE, 'packets', {'file': 'x', 'port': True, 'packets': 0}),
                (USAGE, 'not a size', {'file': 'x', 'port': True, 'bytes': '1K'}),
                (USAGE, 'snap', {'file': 'x', 'port': True, 'snap': 63}),
                (OTHER, 'already exists', {'file': 'there', 'port': True}),
                (OTHER, 'already exists', {'file': 'link', 'port': True})):
            answer = control.ask('capture.start', **arguments)
            expect_equal(f'the status of {arguments}', answer.get('status'), status)
            expect(said in answer['error'],
                   f'{arguments}: {answer}')
        expect_equal('what was there', there.read_text(), 'precious')
        expect_equal('captures', captures(control), {})
        for number in range(4):
            control.told('capture.start', queue=0, file=f'q{number}', bytes='64K', snap=64)
        answer = control.ask('capture.start', queue=0, file='q4')
        expect('4 captures run' in answer.get('error', ''), f'{answer}')
        expect(not (one.state / 'captures' / 'q4').exists(), 'a file is left of a refusal')
        for number in range(1, 5):
            row = await_over(control, number)
            expect_equal('why', row['why'], 'as many bytes as were wanted')
            expect(row['bytes'] <= 65536, f'{row}')
        remembered(control)
        if os.geteuid() != 0:
            raise Skip('other users than this one are not to be had')
        one.path.chmod(0o666)
        own = control.told('capture.start', session=session, file='own')['capture']
        asked = [(command, arguments) for command, arguments in (
            ('capture.start', {'session': session, 'file': 'theirs'}),
            ('capture.start', {'port': True, 'file': 'theirs'}),
            ('capture.stop', {'capture': own}), ('capture.list', {}))]
        answers = as_nobody(one.path, *asked)
        expect_equal('what another may', [answer['ok'] for answer in answers],
                     [False, False, False, True])
        for answer, said in zip(answers, ('no job of yours', 'a queue or the port', 'to user 0')):
            expect(said in answer['error'], f'{answer}')
        one.job('cancel', job)
        mine = as_nobody(one.path, ('job.add', {
            'verb': 'send', 'host': CLIENT, 'here': ['file'], 'there': ['y'], 'rate': '8M'}))[0]
        one.await_state(job, 'cancelled')
        one.await_state(mine['job'], 'running')
        session = session_of(control)
        answer = as_nobody(one.path, ('capture.start', {
            'session': session, 'file': 'theirs', 'packets': 20, 'snap': 128}))[0]
        expect(answer['ok'], f'{answer}')
        row = await_over(control, answer['capture'])
        expect_equal('whose', (row['owner'], row['written_pkts']), (NOBODY, 20))
        expect_equal('kept', max(len(f) for *_, f in frames(Path(row['file']))), 128)
        one.job('cancel', mine['job'])
        one.await_state(mine['job'], 'cancelled')


def full(program, folder):
    """A nearly full disk ends a capture, with a message; the server continues."""
    if os.geteuid() != 0:
        raise Skip('no right to mount a disk')
    with houses(program) as (one, _), Control(one.path) as control:
        (one.state / 'captures').mkdir()
        mount = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1M', 'none',
                                one.state / 'captures'], check=False)
        if mount.returncode != 0:
            raise Skip('a disk cannot be mounted here')
        try:
            number = control.told('capture.start', port=True, file='x')['capture']
            wait_until(lambda: captures(control)[number]['state'] == 'over', 5, 'its end')
            expect('nearly full' in captures(control)[number]['why'],
                   f'{captures(control)}')
            expect('nearly full' in one.said(), one.said()[-300:])
        finally:
            subprocess.run(['umount', one.state / 'captures'], check=True)


CASES = [
    Case('capture: of a session, twice, and of the port', True, of_a_session),
    Case('capture: what is refused, and to whom', True, refused),
    Case('capture: a full disk', True, full),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
