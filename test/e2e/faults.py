#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Ends that die or stand still at any moment; disks: full, broken, frozen, read-only.

    faults.py [--quick] [-k PATTERN] [--binary PATH]

Nothing wrong and nothing half is ever under a final name, and what a dead process has left goes
with the next start. FAULTS_KILLS and FAULTS_SEED in the environment say how often an end is killed
(5) and when, FAULTS_STOP_S for how long one stands still (2.5). A line for each case, then
'N passed, N failed, N skipped'.
"""

import collections
import contextlib
import functools
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from harness import (Case, Skip, end_group, expect, expect_equal, expect_said, expect_status,
                     program_beside, run_cases)
from pair import Pair, remote, wait_until
from transfer import BINARY, NETWORK, OK, PARTIAL

FEW = 5
KILLS = int(os.environ.get('FAULTS_KILLS', FEW))
SEED = int(os.environ.get('FAULTS_SEED', '1'))
MIB = 1 << 20
LEFT_BEHIND = '.wavehaul-'
STOP_S = float(os.environ.get('FAULTS_STOP_S', '2.5'))
IN_A_SECOND = ('--peer-timeout', '1s', '--stall-timeout', '1s')


def plant(folder, files=60, large=48 * MIB):
    """A tree of small files, and two large ones; what is in each, by its path."""
    chance = random.Random(SEED)
    contents = {f'tree/{i % 7}/{i}': chance.randbytes(chance.randrange(40000))
                for i in range(files)}
    contents['tree/large'] = chance.randbytes(large)
    contents['tree/0/larger'] = chance.randbytes(large // 3 + 4711)
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return contents


def found_below(folder):
    """Paths of files, and of staging folders."""
    files, left = [], []
    for path, names, inside in os.walk(folder):
        for name in [name for name in names if name.startswith(LEFT_BEHIND)]:
            names.remove(name)
            left.append(name)
        files += [os.path.relpath(os.path.join(path, name), folder) for name in inside]
    return files, left


def expect_whole(folder, contents, all_of_them=False):
    """Files under their final names are complete; returns what else is there."""
    files, left = found_below(folder)
    for path in files:
        expect(path in contents, f'{path} is of nobody')
        expect((folder / path).read_bytes() == contents[path], f'{path} is wrong or half')
    if all_of_them:
        expect_equal('files', len(files), len(contents))
    return left


def operands(folder, verb):
    if verb == 'send':
        return ('-r', folder / 'here' / 'tree', remote())
    return ('-r', remote('tree'), folder / 'back')


# The sweep leaves the CPU to all others: of one that several want it has a hundredth.
SWEPT_S = 30

# Both ends of a run that takes about a second, its start counted; and no more memory than it needs.
SMALL = ('--peer-timeout', '2s', '--buffers', '64M', '--rate', '500M')


def killed(program, folder, verb):
    """
    kill -9 of either end, again and again, at any moment from its start to its end: what has a name
    is whole, and who starts next clears away what was left. Then a run that is left alone.
    """
    chance = random.Random(SEED)
    source, target = ((folder / 'here', folder / 'served') if verb == 'send' else
                      (folder / 'served', folder / 'back'))
    for path in (folder / 'here', folder / 'served', folder / 'back'):
        path.mkdir()
    contents = plant(source, large=12 * MIB)
    seen = collections.Counter()
    with Pair(program, folder, huge=False, both=SMALL) as pair:
        whole_s = pair.run(verb, *operands(folder, verb)).seconds
        shutil.rmtree(target / 'tree')
        for _ in range(KILLS):
            client = pair.start(verb, *operands(folder, verb))
            time.sleep(chance.uniform(0, 1.1 * whole_s))
            seen['after its end' if client.poll() is not None else 'before'] += 1
            if chance.random() < 0.5:
                end_group(client)
            else:
                pair.kill_server()
                end_group(client)
                seen['leftovers'] += bool(expect_whole(target, contents))
                pair.start_server()
                if verb == 'send':
                    wait_until(lambda: not found_below(target)[1], SWEPT_S, 'no leftovers')
            seen['leftovers'] += bool(expect_whole(target, contents))
            if chance.random() < 0.5:
                shutil.rmtree(target / 'tree', ignore_errors=True)
        result = pair.run(verb, *operands(folder, verb))
        expect_status(result, OK)
        wait_until(lambda: not expect_whole(target, contents, True), 5, 'no leftovers')
        pair.stop_server()
    if KILLS > FEW:
        print(f'{KILLS} kills, {seen["before"]} before the end, {seen["leftovers"]} with leftovers')


def stopped(program, folder, end):
    """An end is stopped for longer than the other's timeout; then it continues."""
    (folder / 'here').mkdir()
    contents = plant(folder / 'here')
    with Pair(program, folder, both=(*IN_A_SECOND, '--rate', '200M')) as pair:
        client = pair.start('send', *operands(folder, 'send'))
        wait_until(lambda: found_below(pair.served)[1], 20, 'a transfer under way')
        sleeper = client.pid if end == 'client' else pair.process.pid
        os.kill(sleeper, signal.SIGSTOP)
        time.sleep(STOP_S)
        expect_whole(pair.served, contents)
        os.kill(sleeper, signal.SIGCONT)
        said = client.communicate(timeout=30)[1].decode()
        expect(client.returncode != OK,
               f'a client that heard nothing for {STOP_S} s ends well: {said}')
        wait_until(lambda: not expect_whole(pair.served, contents), 10, 'nothing half stays')
        expect_status(pair.run('send', '-r', '--rate', 'max', folder / 'here' / 'tree', remote()),
                      OK)
        expect_equal('left', expect_whole(pair.served, contents, True), [])
        pair.stop_server()


def clocks(program, folder):
    """The time of day jumps by hours and years, ten times a second: nothing waits by it."""
    preload = program_beside(program, 'step_clock.so')
    (folder / 'here').mkdir()
    contents = plant(folder / 'here', large=12 * MIB)
    with Pair(program, folder, huge=False, under=('env', f'LD_PRELOAD={preload}'),
              both=(*IN_A_SECOND, '--rate', '200M')) as pair:
        result = pair.run('send', '-r', folder / 'here' / 'tree', remote())
        expect_status(result, OK)
        expect_equal('left', expect_whole(pair.served, contents, True), [])
        for path in contents:
            expect_equal(f'the time of {path}', (pair.served / path).stat().st_mtime_ns,
                         (folder / 'here' / path).stat().st_mtime_ns)
        pair.stop_server()


def run_quietly(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skip(f'{words[0]}: {done.stderr.strip() or done.stdout.strip()}')


@contextlib.contextmanager
def mounted(target, *words):
    """Something of mount's at that folder."""
    if os.geteuid() != 0:
        raise Skip('not root')
    target.mkdir(exist_ok=True)
    run_quietly('mount', *words, target)
    try:
        yield
    finally:
        subprocess.run(['umount', '-l', str(target)], check=False)


def full(program, folder):
    """Files that do not fit fail with a message; the rest arrive, and no leftovers remain."""
    (folder / 'here').mkdir()
    contents = plant(folder / 'here')
    with mounted(folder / 'served', '-t', 'tmpfs', '-o', 'size=24m', 'none'), \
            Pair(program, folder) as pair:
        result = pair.run('send', '-r', folder / 'here' / 'tree', remote())
        expect_status(result, PARTIAL)
        expect_said(result, 'tree/large: .*No space left')
        expect_equal('left', expect_whole(pair.served, contents), [])
        expect_equal('files', len(found_below(pair.served)[0]), len(contents) - 1)
        (folder / 'sparse').write_bytes(b'x' * 1_000_000)
        os.truncate(folder / 'sparse', 80_000_000)  # its data have room
        expect_status(pair.run('send', folder / 'sparse', remote()), OK)
        expect((pair.served / 'sparse').stat().st_blocks * 512 < 1_200_000, 'a hole is filled')
        pair.stop_server()


def read_only(program, folder):
    """A read-only file system is served from, and refuses files."""
    (folder / 'here').mkdir()
    with mounted(folder / 'served', '-t', 'tmpfs', 'none'):
        (folder / 'served' / 'one').write_text('one')
        contents = plant(folder / 'here', 3)
        run_quietly('mount', '-o', 'remount,ro', folder / 'served')
        with Pair(program, folder) as pair:
            result = pair.run('send', '-r', folder / 'here' / 'tree', remote())
            expect(result.status not in (OK, None), f'{result.status}')
            expect_said(result, 'Read-only file system')
            expect_equal('files', found_below(pair.served), (['one'], []))
            expect_status(pair.run('get', remote('one'), folder / 'got'), OK)
            expect_equal('got', (folder / 'got').read_text(), 'one')
            pair.stop_server()
    expect(contents, 'nothing was sent')


def broken(program, folder):
    """A disk that loses what it took (a loop device whose file finds no room): no name is given."""
    have_disks()
    (folder / 'here').mkdir()
    contents = plant(folder / 'here', 3)
    with mounted(folder / 'below', '-t', 'tmpfs', '-o', 'size=16m', 'none'), \
            disk_in_a_file(folder / 'below' / 'disk', folder / 'served', 256), \
            Pair(program, folder, both=('--stall-timeout', '5s')) as pair:
        result = pair.run('send', '-r', folder / 'here' / 'tree', remote())
        expect(result.status not in (OK, NETWORK), f'{result.status}')
        expect_said(result, 'Input/output error|No space left')
        files = found_below(pair.served)[0]
        expect('tree/large' not in files, 'a file that the disk has lost has its name')
        expect(all(path in contents for path in files), f'{files}')
        pair.stop_server()


FROZEN_S, PATIENCE_S = 11, 2


def fed(manager, seconds):
    """How often the service manager is fed in that time."""
    times, until = 0, time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        manager.settimeout(left)
        with contextlib.suppress(TimeoutError):
            times += manager.recv(4096) == b'WATCHDOG=1'
    return times


def frozen(program, folder):
    """
    A file system of the server that does not answer for longer than the manager's patience, as
    while another server takes it over: a new start would not help, and there is none.
    """
    have_disks()
    (folder / 'here').mkdir()
    contents = plant(folder / 'here')
    name = f'frozen-{os.getpid()}'
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, \
            mounted(folder / 'below', '-t', 'tmpfs', '-o', 'size=200m', 'none'), \
            disk_in_a_file(folder / 'below' / 'disk', folder / 'served', 192):
        manager.bind(f'\0{name}')
        under = ('env', f'NOTIFY_SOCKET=@{name}', f'WATCHDOG_USEC={PATIENCE_S * 1000000}')
        with Pair(program, folder, under=under, both=('--stall-timeout', '60s')) as pair:
            run_quietly('fsfreeze', '--freeze', pair.served)
            try:
                client = pair.start('send', '-r', folder / 'here' / 'tree', remote())
                times = fed(manager, FROZEN_S + 2)
            finally:
                run_quietly('fsfreeze', '--unfreeze', pair.served)
            expect(times >= 2 * FROZEN_S / PATIENCE_S, f'the manager is fed {times} times')
            expect_status(pair.finish(client), OK)
            expect_whole(pair.served, contents, all_of_them=True)
            fed(manager, PATIENCE_S / 2)  # two looks more
            pair.stop_server()
            for words in ('CPU [0-9]+ has waited 1[0-9] s, for a file system',
                          'CPU [0-9]+ goes on, after 1[0-9] s'):
                expect(re.search(words, pair.last_words), f'{words}: {pair.last_words}')


def is_in_use(disk):
    """Whether a loop device still has it, as for a moment after umount."""
    return bool(subprocess.run(['losetup', '-j', str(disk)], capture_output=True,
                               check=True).stdout)


@contextlib.contextmanager
def disk_in_a_file(file, target, mib):
    """A new file system, its disk a file; gives the file."""
    with open(file, 'wb') as disk:
        disk.truncate(mib * MIB)
    run_quietly('mkfs.ext4', '-q', '-O', '^has_journal', '-E', 'lazy_itable_init=1,nodiscard',
                '-N', '128', file)
    with mounted(target, '-o', 'loop', file):
        yield file
    wait_until(lambda: not is_in_use(file), 10, 'the disk to be given back')


def unreadable(program, folder):
    """A disk that does not give back what it holds: what cannot be read has no name there."""
    have_disks()
    with mounted(folder / 'below', '-t', 'tmpfs', '-o', 'size=64m', 'none'):
        disk = folder / 'below' / 'disk'
        with disk_in_a_file(disk, folder / 'here', 64):
            contents = plant(folder / 'here', 3, large=24 * MIB)
        with mounted(folder / 'here', '-o', 'loop,ro', disk):
            os.truncate(disk, 16 * MIB)
            with Pair(program, folder, both=('--stall-timeout', '5s')) as pair:
                result = pair.run('send', '-r', folder / 'here' / 'tree', remote())
                expect_status(result, PARTIAL)
                expect_said(result, 'Input/output error')
                expect_equal('left', expect_whole(pair.served, contents), [])
                expect(len(found_below(pair.served)[0]) < len(contents), 'all was read')
                pair.stop_server()


def have_disks():
    for tool in ('mkfs.ext4', 'losetup'):
        if not shutil.which(tool):
            raise Skip(f'{tool} is not there')


def cases():
    partial = functools.partial
    for verb in ('send', 'get'):
        yield Case(f'killed {verb}', verb == 'send', partial(killed, verb=verb))
    for end in ('client', 'server'):
        yield Case(f'stopped {end}', False, partial(stopped, end=end))
    yield Case('full disk', True, full)
    yield Case('read-only disk', True, read_only)
    yield Case('broken disk', False, broken)
    yield Case('frozen disk', False, frozen)
    yield Case('unreadable disk', False, unreadable)
    yield Case('clocks that jump', False, clocks)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
