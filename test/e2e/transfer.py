#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul send` and `get` against `wavehaul serve` over shared memory: real files, both ways.

    transfer.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import filecmp
import functools
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

from harness import (NOBODY, Case, Skip, as_nobody, decode_object, expect, expect_between,
                     expect_equal, expect_fields, expect_said, expect_status, run_cases)
from pair import SERVER, Pair, expect_running, killed, remote, wait_until
from stream_lines import check_intervals, events_of
from trees import (KIB, MIB, content, count_files, expect_names, expect_same_tree,
                   fill, make_small_files, make_tree)

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, USAGE, NO_FILE, NETWORK, INTERRUPTED, PARTIAL = 0, 1, 2, 3, 5, 20, 23

# No UTF-8, and what would end a line.
BAD_NAME = b'bad\xff\n'

# Slow enough that a test comes in between, over some seconds.
SLOW = ('--rate', '200M')

NUMBER = (int, float)
FIELDS = {'verb': str, 'ok': bool, 'exit_status': int, 'host': str, 'files': int, 'skipped': int,
          'failed': int, 'bytes': int, 'seconds': NUMBER, 'goodput_bps': NUMBER, 'packets': dict,
          'rtt_ms': NUMBER, 'failures': list, 'repair': dict}


def decode(result):
    """Stdout as exactly one JSON object, and exit_status as the process has it."""
    report = decode_object(result)
    expect_fields(report, FIELDS)
    expect_equal('exit_status', report['exit_status'], result.status)
    expect_equal('ok', report['ok'], result.status == OK)
    return report


def expect_totals(report, **wanted):
    found = {name: report[name] for name in wanted}
    expect(found == wanted, f'totals are {found}, not {wanted}; {report["failures"]}')


def expect_failures(report, wanted):
    """Path -> what the error says, of every file that failed and of no other."""
    found = {failure['path']: failure['error'] for failure in report['failures']}
    expect_equal('the paths that failed', sorted(found), sorted(wanted))
    for path, pattern in wanted.items():
        expect(re.search(pattern, found[path]), f'{path} failed of {found[path]!r}')


def run(pair, status, verb, *args):
    result = pair.run(verb, '--json', *args)
    expect_status(result, status)
    return decode(result)


def send(pair, source, path='', *args, status=OK):
    return run(pair, status, 'send', *args, source, remote(path))


def get(pair, path, dest, *args, status=OK):
    return run(pair, status, 'get', *args, remote(path), dest)


# Trees and files that arrive


def tree(program, folder, verb, args=(), **link):
    """All of it, with modes and times; a second time nothing; then what has changed."""
    here, there = folder / 'here', folder / 'served'
    for path in (here, there):
        path.mkdir()
    source, target = (here, there) if verb == 'send' else (there, here)
    made = make_tree(source / 'tree')
    files, size = count_regular(made)
    with Pair(program, folder, **link) as pair:
        def move(**wanted):
            if verb == 'send':
                report = send(pair, made, '', '-r', *args)
            else:
                report = get(pair, 'tree', here, '-r', *args)
            expect_totals(report, failed=0, **wanted)
            expect_same_tree(target / 'tree', made)
            expect_names(target, 'tree')

        move(files=files, skipped=0, bytes=size)
        move(files=0, bytes=0)
        change_byte(made / f'size-{MIB + 1}', MIB)
        change_byte(made / 'size-1', 0)
        move(files=2, bytes=MIB + 2)
        (target / 'tree' / 'mode-600').chmod(0o777)
        (made / 'size-4096').touch()
        move(files=0, bytes=0)
        pair.stop_server()


def count_regular(top):
    """Files and their bytes, links apart."""
    files = [p for p in top.rglob('*') if p.is_file() and not p.is_symlink()]
    return len(files), sum(p.stat().st_size for p in files)


def change_byte(path, at):
    """Changes a file without changing its size or time."""
    status = path.stat()
    with open(path, 'r+b') as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def counted_twice(program, folder):
    with Pair(program, folder) as pair:
        source = folder / 'file'
        for size in (5 * KIB, 3 * MIB + 1):
            source.write_bytes(content(size))
            expect_totals(send(pair, source), files=1, skipped=0, failed=0, bytes=size)
            expect_totals(send(pair, source), files=0, skipped=1, failed=0, bytes=0)
            dest = folder / f'dest-{size}'
            expect_totals(get(pair, 'file', dest), files=1, skipped=0, failed=0, bytes=size)
            expect_totals(get(pair, 'file', dest), files=0, skipped=1, failed=0, bytes=0)
            expect(filecmp.cmp(source, dest, shallow=False), 'the file arrived changed')
        pair.stop_server()


def many_files(program, folder, count, args=()):
    source = make_small_files(folder / 'many', count)
    with Pair(program, folder) as pair:
        expect_totals(send(pair, source, '', '-r', *args), files=count, failed=0, skipped=0)
        expect_same_tree(pair.served / 'many', source)
        expect_totals(get(pair, 'many', folder / 'back', '-r', *args), files=count, failed=0,
                      skipped=0)
        expect_same_tree(folder / 'back', source)
        expect_totals(send(pair, source, '', '-r', *args), files=0, failed=0, skipped=count)
        pair.stop_server()


def big_file(program, folder, size, args=(), **link):
    source, back = folder / 'big', folder / 'back'
    fill(source, size)
    with Pair(program, folder, **link) as pair:
        report = send(pair, source, '', *args)
        expect_totals(report, files=1, failed=0, bytes=size)
        cycles = sum(report['cost']['cycles_per_byte'].values())
        expect(args or 0.01 < cycles < 1000, f'{cycles} cycles a byte')
        expect(filecmp.cmp(source, pair.served / 'big', shallow=False), 'sent, it is another')
        expect_totals(get(pair, 'big', back, *args), files=1, failed=0, bytes=size)
        expect(filecmp.cmp(source, back, shallow=False), 'got, it is another')
        pair.stop_server()


def repaired(program, folder, args, overhead):
    """Both ways: the sender makes repair packets, as the client requests."""
    source, back, size = folder / 'big', folder / 'back', 32 * MIB + 12345
    fill(source, size)
    with Pair(program, folder) as pair:
        sent, got = send(pair, source, '', *args), get(pair, 'big', back, *args)
        for report in (sent, got):
            expect_totals(report, files=1, failed=0, bytes=size)
            expect_equal('undecodable_blocks', report['repair']['undecodable_blocks'], 0)
            expect_between('overhead', report['repair']['overhead'], *overhead)
        expect_equal('used', sent['repair']['used'], 0)
        expect(filecmp.cmp(source, pair.served / 'big', shallow=False), 'sent, it is another')
        expect(filecmp.cmp(source, back, shallow=False), 'got, it is another')
        plain = send(pair, source, 'plain')
        expect_equal('off', plain['repair'],
                     {'sent': 0, 'used': 0, 'undecodable_blocks': 0, 'overhead': 0})
        pair.stop_server()


def ttp(program, folder):
    """No repair option, but ttp needs it: the client announces as many as data packets."""
    source, back, size = folder / 'big', folder / 'back', 8 * MIB + 12345
    fill(source, size)
    with Pair(program, folder) as pair:
        result = pair.run('send', '--json-stream', '--profile', 'ttp', source, remote())
        expect_status(result, OK)
        events = events_of(result.out)
        told = events['start'][0]['settings']
        for key, value in (('profile', 'ttp'), ('fec', 'auto'), ('code', 'tornado'),
                           ('fec_ceiling', '0.5')):
            expect_equal(key, told.get(f'transfer.{key}'), value)
        sent, got = events['end'][0], get(pair, 'big', back, '--profile', 'ttp')
        for report in (sent, got):
            expect_totals(report, files=1, failed=0, bytes=size)
            # Above what any ceiling of 0.25 allows.
            expect_between('overhead', report['repair']['overhead'], 0.35, 1.02)
        expect_equal('ok', sent['ok'], True)
        expect(filecmp.cmp(source, pair.served / 'big', shallow=False), 'sent, it is another')
        expect(filecmp.cmp(source, back, shallow=False), 'got, it is another')
        plain = get(pair, 'big', folder / 'plain', '--profile', 'ttp', '--fec', 'off')
        expect_equal('repair, off', plain['repair']['sent'], 0)
        pair.stop_server()


def ttp_told_by_server(program, folder):
    size = 8 * MIB + 12345
    with Pair(program, folder, server=('--fec-ceiling', '10%')) as pair:
        fill(pair.served / 'big', size)
        report = get(pair, 'big', folder / 'back', '--profile', 'ttp')
        expect_totals(report, files=1, failed=0, bytes=size)
        expect_between('overhead', report['repair']['overhead'], 0.01, 0.12)
        pair.stop_server()


def without_root(program, folder):
    """Both ends as nobody, in ordinary memory."""
    program, under = as_nobody(program)
    here, served = folder / 'here', folder / 'served'
    here.mkdir()
    served.mkdir()
    source = make_tree(here / 'tree')
    for path in (here, *here.rglob('*'), served) if under else ():
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    folder.chmod(0o755)
    with Pair(program, folder, under=under) as pair:
        send(pair, source, '', '-r')
        expect_same_tree(served / 'tree', source)
        get(pair, 'tree', here / 'back', '-r')
        expect_same_tree(here / 'back', source)
        pair.stop_server()


# Where they go

# Sources, the target, options -> paths at the target afterwards. A folder 'there' and a file
# 'file' are at the target before; 'one', 'two' and the folder 'tree' with 'leaf' are the sources.
TARGETS = {
    'existing folder': (('one',), 'there', (), {'there/one': 'one'}),
    'existing folder /': (('one',), 'there/', (), {'there/one': 'one'}),
    'root': (('one',), '', (), {'one': 'one'}),
    'new name': (('one',), 'new', (), {'new': 'one'}),
    'new name below': (('one',), 'there/new', (), {'there/new': 'one'}),
    'new folder /': (('one',), 'new/', (), {'new/one': 'one'}),
    'over a file': (('one',), 'file', (), {'file': 'one'}),
    'two': (('one', 'two'), 'there', (), {'there/one': 'one', 'there/two': 'two'}),
    'two, new': (('one', 'two'), 'new', (), {'new/one': 'one', 'new/two': 'two'}),
    'tree, existing': (('tree',), 'there', ('-r',), {'there/tree/leaf': 'leaf'}),
    'tree, new name': (('tree',), 'new', ('-r',), {'new/leaf': 'leaf'}),
    'tree, new /': (('tree',), 'new/', ('-r',), {'new/tree/leaf': 'leaf'}),
    'tree/': (('tree/',), 'there', ('-r',), {'there/tree/leaf': 'leaf'}),
    'tree/.': (('tree/.',), 'there', ('-r',), {'there/leaf': 'leaf'}),
    'tree and file': (('tree', 'one'), 'new', ('-r',), {'new/tree/leaf': 'leaf',
                                                        'new/one': 'one'}),
    'lanes, new name': (('tree',), 'new', ('-r', '--parallel', '4'), {'new/leaf': 'leaf'}),
}


def make_sources(folder):
    (folder / 'tree').mkdir(parents=True)
    for path in ('one', 'two', 'tree/leaf'):
        (folder / path).write_text(Path(path).name)


def make_targets(folder):
    (folder / 'there').mkdir(parents=True)
    (folder / 'file').write_text('older')


def texts(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob('*') if p.is_file()}


def targets(program, folder, verb, which):
    """The rules of scp."""
    served, here = folder / 'served', folder / 'here'
    source, base = (here, served) if verb == 'send' else (served, here)
    make_sources(source)
    with Pair(program, folder) as pair:
        for i, name in enumerate(which):
            paths, target, args, wanted = TARGETS[name]
            make_targets(base / f'{i}')
            if verb == 'send':
                operands = [f'{here}/{p}' for p in paths] + [remote(f'{i}/{target}')]
            else:
                operands = [remote(p) for p in paths] + [f'{base}/{i}/{target}']
            expect_status(pair.run(verb, *args, *operands), OK)
            expect_equal(f'{name}: what is there', texts(base / f'{i}'),
                         {'file': 'older', **wanted})
        pair.stop_server()


def wrong_targets(program, folder):
    """Each gives a message and a status, and nothing is created."""
    file = folder / 'one'
    file.write_text('one')
    (folder / 'dir').mkdir()
    with Pair(program, folder) as pair:
        (pair.served / 'taken').mkdir()
        (pair.served / 'taken' / 'one').mkdir()
        (pair.served / 'file').write_text('older')
        result = pair.run('send', file, remote('missing/parent/'))
        expect_status(result, NO_FILE)
        expect_said(result, 'missing/parent.*no such file')
        report = send(pair, file, 'taken', status=PARTIAL)
        expect_failures(report, {'one': 'a folder already has'})
        result = pair.run('get', remote('file'), folder / 'missing' / 'dest')
        expect_status(result, NO_FILE)
        expect_said(result, 'missing: no such file')
        report = send(pair, folder / 'dir', '', status=PARTIAL)
        expect_failures(report, {str(folder / 'dir'): '^is a folder; add -r'})
        report = get(pair, 'taken', folder, status=PARTIAL)
        expect_failures(report, {'taken': '^at the other end: is a folder; add -r'})
        expect_equal('the files there', texts(pair.served), {'file': 'older'})
        expect_names(folder, 'one', 'dir', 'served')
        pair.stop_server()


def not_writable(program, folder):
    """Nothing can be made in the root; then one file of several cannot be replaced."""
    program, under = as_nobody(program)
    here, served = folder / 'here', folder / 'served'
    here.mkdir()
    served.mkdir(mode=0o555)
    folder.chmod(0o755)
    source = here / 'file'
    source.write_bytes(content(300 * KIB))
    with Pair(program, folder, under=under) as pair:
        result = pair.run('send', source, remote())
        expect_status(result, OTHER, PARTIAL)
        expect_said(result, 'permission denied')
        expect_names(served)
        pair.stop_server()


def outside(program, folder):
    """Nothing leads out of the root: no '..', no absolute path, no link."""
    here, secret = folder / 'here', folder / 'secret'
    here.mkdir()
    secret.mkdir()
    (secret / 'file').write_text('secret')
    (here / 'file').write_text('sent')
    with Pair(program, folder) as pair:
        (pair.served / 'out').symlink_to(secret)
        (pair.served / 'out-file').symlink_to(secret / 'file')
        (pair.served / 'dir').mkdir()
        (pair.served / 'dir' / 'file').write_text('served')
        (pair.served / 'in').symlink_to('dir')
        for path in ('../secret', 'dir/../../secret', '/../secret', 'out', 'out/', 'out/x'):
            result = pair.run('send', here / 'file', remote(path))
            expect(result.status in (OTHER, NO_FILE), f'send to {path}: {result.status}')
        for path in ('../secret/file', 'out/file', 'out-file', str(secret / 'file')):
            result = pair.run('get', remote(path), here / 'got')
            expect(result.status in (OTHER, NO_FILE, PARTIAL), f'get {path}: {result.status}')
            expect(not (here / 'got').exists(), f'{path} was given')
        expect_equal('outside', texts(secret), {'file': 'secret'})
        # A link that stays below the root leads there; one in a tree is sent as a link.
        send(pair, here / 'file', 'in/new')
        get(pair, 'in/file', here / 'within')
        expect_equal('behind a link', (here / 'within').read_text(), 'served')
        expect_equal('sent behind a link', (pair.served / 'dir/new').read_text(), 'sent')
        # A peer's link is no way out either, neither there nor here.
        (here / 'tree').mkdir()
        (here / 'tree' / 'out').symlink_to(secret)
        send(pair, here / 'tree', '', '-r')
        (here / 'tree' / 'out').unlink()
        (here / 'tree' / 'out').mkdir()
        (here / 'tree' / 'out' / 'file').write_text('no')
        report = send(pair, here / 'tree', '', '-r', status=PARTIAL)
        expect_failures(report, {'tree/out': '.', 'tree/out/file': '.'})
        (here / 'dest' / 'dir').mkdir(parents=True)
        (here / 'dest' / 'dir' / 'file').symlink_to(secret / 'file')
        get(pair, 'dir', here / 'dest', '-r')
        expect_equal('what replaced a link', (here / 'dest/dir/file').read_text(), 'served')
        expect_equal('outside', texts(secret), {'file': 'secret'})
        pair.stop_server()


# Who may, and what is not there


def not_allowed(program, folder):
    file = folder / 'file'
    file.write_text('x')
    with Pair(program, folder, server=('--allow', '203.0.113.0/24')) as pair:
        result = pair.run('send', file, remote(), '--peer-timeout', '1s', timeout_s=20)
        expect_status(result, NETWORK)
        expect_said(result, r'does its --allow include this host')
        expect_names(pair.served)
        pair.stop_server()


def missing(program, folder):
    with Pair(program, folder) as pair:
        result = pair.run('send', folder / 'not-there', remote())
        expect_status(result, NO_FILE)
        expect_said(result, 'not-there: no such file')
        result = pair.run('get', remote('not-there'), folder / 'dest')
        expect_status(result, NO_FILE, PARTIAL)
        expect_said(result, 'not-there.*no such file')
        expect_names(pair.served)
        expect_names(folder, 'served')
        pair.stop_server()


def one_of_several(program, folder):
    (folder / 'good').write_bytes(content(MIB))
    (folder / 'well').write_bytes(content(10))
    os.mkfifo(folder / 'pipe')
    names = ('good', 'gone', 'pipe', 'well')
    with Pair(program, folder) as pair:
        report = run(pair, PARTIAL, 'send', *(folder / n for n in names), remote())
        expect_totals(report, files=2, failed=2, bytes=MIB + 10)
        expect_failures(report, {str(folder / 'gone'): 'No such file',
                                 str(folder / 'pipe'): 'is a pipe, a socket or a device'})
        expect_names(pair.served, 'good', 'well')
        (folder / 'back').mkdir()
        (pair.served / 'big').write_bytes(content(2 * MIB))
        (folder / 'back' / 'big').mkdir()
        report = run(pair, PARTIAL, 'get', *map(remote, ('good', 'gone', 'big', 'well')),
                     folder / 'back')
        expect_totals(report, files=2, failed=2, bytes=MIB + 10)
        expect_failures(report, {'gone': 'No such file', 'big': 'a folder already has'})
        expect_names(folder / 'back', 'big', 'good', 'well')
        result = pair.run('get', *map(remote, names), folder / 'back')
        expect_status(result, PARTIAL)
        expect_said(result, r'gone: .*at the other end: .*No such file or directory')
        expect('2 were there already; 2 failed' in result.out, f'it says {result.out!r}')
        pair.stop_server()


def too_many_paths(program, folder):
    """HELLO is one chunk of 16 KiB; and the operator is told what to do instead."""
    with Pair(program, folder) as pair:
        paths = [remote(f'{i:03}' + 'x' * 60) for i in range(1000)]
        result = pair.run('get', *paths, folder)
        expect_status(result, USAGE)
        expect_said(result, 'too many paths.*-r')
        pair.stop_server()


def busy(program, folder):
    """Places for two jobs, and four lanes."""
    for i in range(4):
        with open(folder / f'{i}', 'wb') as file:
            file.truncate(256 * MIB)
    with Pair(program, folder, server=('--sessions', '2')) as pair:
        files = [folder / f'{i}' for i in range(4)]
        result = pair.run('send', *SLOW, '--parallel', '4', *files, remote(), timeout_s=10)
        expect_status(result, NETWORK)
        expect_said(result, 'no room for another session')
        expect_names(pair.served)
        expect_status(pair.run('send', '--parallel', '2', files[0], remote()), OK)
        expect_names(pair.served, '0')
        pair.stop_server()


# What happens meanwhile


def changing(program, folder, verb):
    """A file that is written to while it is sent must not arrive."""
    over = threading.Event()
    with Pair(program, folder) as pair:
        here = folder / 'here'
        here.mkdir()
        source, target = (here, pair.served) if verb == 'send' else (pair.served, here)
        fill(source / 'changing', 64 * MIB)
        (source / 'still').write_bytes(content(MIB))

        def write():
            with open(source / 'changing', 'r+b', buffering=0) as file:
                at = 0
                while not over.wait(0.005):
                    file.seek(at % (64 * MIB))
                    file.write(b'new bytes')
                    at += MIB + 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            report = run(pair, PARTIAL, verb, '--rate', '1G',
                         *(source / n if verb == 'send' else remote(n)
                           for n in ('changing', 'still')),
                         remote() if verb == 'send' else here)
        finally:
            over.set()
            writer.join()
        expect_totals(report, files=1, failed=1, bytes=MIB)
        expect_failures(report, {'changing': 'changed'})
        expect_names(target, 'still')
        pair.stop_server()


# Mounts a small disk over $1 for the server alone.
SMALL_DISK = 'mount -t tmpfs -o size=16m wavehaul-e2e "$1" && shift && exec "$@"'


def disk_full(program, folder):
    """A file that does not fit fails alone; a full disk ends a tree. What is complete stays."""
    if os.geteuid() != 0:
        raise Skip('only root mounts a small disk')
    (folder / 'large').write_bytes(content(40 * MIB))
    (folder / 'small').write_bytes(content(2 * MIB))
    make_small_files(folder / 'many', 12000)
    (folder / 'served').mkdir()
    under = ('unshare', '-m', 'sh', '-c', SMALL_DISK, 'sh', folder / 'served')
    with Pair(program, folder, server_under=under) as pair:
        disk = Path(f'/proc/{pair.process.pid}/root{pair.served}')
        report = run(pair, PARTIAL, 'send', folder / 'large', folder / 'small', remote())
        expect_totals(report, files=1, failed=1, bytes=2 * MIB)
        expect_failures(report, {'large': 'No space'})
        expect_names(disk, 'small')
        result = pair.run('send', '-r', folder / 'many', remote())
        expect_status(result, OTHER)
        expect_said(result, 'the disk is full .*; make room there, and the same command transfers')
        expect(len(result.err.splitlines()) < 20, f'{len(result.err.splitlines())} lines')
        expect_names(disk, 'small', 'many')
        for path in (disk / 'many').rglob('*'):
            if path.is_file():
                source = folder / 'many' / path.relative_to(disk / 'many')
                expect(path.read_bytes() == source.read_bytes(), f'{path} is not whole')
        expect(count_files(disk / 'many') > 100, 'nothing that was whole has stayed')
        pair.stop_server()


def slow_file(pair, folder, verb):
    """A file of a minute or two, and a client that moves it; for `with`."""
    source = folder / 'slow' if verb == 'send' else pair.served / 'slow'
    if not source.exists():
        fill(source, 16 * MIB)  # what a hole is written to takes no blocks
        os.truncate(source, 2048 * MIB)
    operands = (source, remote('dest')) if verb == 'send' else (remote('slow'), folder / 'dest')
    return pair.running(verb, *SLOW, '--peer-timeout', '1s', *operands)


def await_staging(place):
    """Bytes are arriving in the folder."""
    def arriving():
        with contextlib.suppress(FileNotFoundError):  # it has its name by now
            return any(p.stat().st_blocks > 0 for p in place.glob('.wavehaul-*.part/*'))
        return False

    wait_until(arriving, 20, 'bytes that arrive')


def receiving_folder(pair, folder, verb):
    return pair.served if verb == 'send' else folder


def server_killed(program, folder, verb):
    """The client exits within its timeout; a new server accepts the rest, and cleans up."""
    with Pair(program, folder) as pair:
        place = receiving_folder(pair, folder, verb)
        with slow_file(pair, folder, verb) as client:
            await_staging(place)
            expect_running(client)
            began = time.monotonic()
            pair.kill_server()
            result = pair.finish(client)
            expect_between('seconds until the client ends', time.monotonic() - began, 0, 10)
            expect_status(result, NETWORK)
            expect_said(result, f'nothing received from {SERVER} for 1 s')
        expect(not (place / 'dest').exists(), 'a part of the file has its name')
        if verb == 'get':
            expect_names(folder, 'served')
        pair.start_server()
        if verb == 'send':
            wait_until(lambda: not list(place.glob('.wavehaul-*')), 3, 'serve sweeps as it starts')
        (folder / 'file').write_bytes(content(2 * MIB))
        send(pair, folder / 'file')
        get(pair, 'file', folder / 'back')
        expect(filecmp.cmp(folder / 'file', folder / 'back', shallow=False), 'another file')
        expect(not list(place.glob('.wavehaul-*')), 'what the dead one had begun is still there')
        pair.stop_server()


def client_killed(program, folder, verb):
    """The server notices, cleans up, and accepts the same files from the next client."""
    with Pair(program, folder, server=('--peer-timeout', '1s')) as pair:
        place = receiving_folder(pair, folder, verb)
        with slow_file(pair, folder, verb) as client:
            await_staging(place)
            expect_running(client)
            killed(client)
        expect(not (place / 'dest').exists(), 'a part of the file has its name')
        (folder / 'file').write_bytes(content(2 * MIB))
        for _ in range(2):
            send(pair, folder / 'file')
            get(pair, 'file', folder / 'back')
        wait_until(lambda: not list(place.glob('.wavehaul-*')), 10, 'no staging folder is left')
        pair.stop_server()


def interrupted(program, folder, verb, number=signal.SIGINT):
    """Once is enough: the client says so to the server, and nothing half stays anywhere."""
    with Pair(program, folder) as pair:
        place = receiving_folder(pair, folder, verb)
        with slow_file(pair, folder, verb) as client:
            await_staging(place)
            expect_running(client)
            client.send_signal(number)
            result = pair.finish(client, 5)
        expect_status(result, INTERRUPTED)
        expect_said(result, 'interrupted')
        wait_until(lambda: not list(place.glob('.wavehaul-*')), 2, 'no staging folder is left')
        expect(not (place / 'dest').exists(), 'a part of the file has its name')
        (folder / 'file').write_bytes(content(2 * MIB))
        send(pair, folder / 'file')
        pair.stop_server()


def drained(program, folder, verb):
    """SIGTERM: running jobs finish, no new ones start; then the server stops."""
    with Pair(program, folder) as pair:
        source = folder / 'file' if verb == 'send' else pair.served / 'file'
        fill(source, 20 * MIB)
        operands = (source, remote('dest')) if verb == 'send' else (remote('file'), folder / 'dest')
        place = receiving_folder(pair, folder, verb)
        # Two seconds, in which the signal comes.
        with pair.running(verb, '--rate', '80M', '--json', *operands) as client:
            await_staging(place)
            pair.process.send_signal(signal.SIGTERM)
            report = decode(pair.finish(client))
        expect_totals(report, files=1, failed=0, bytes=20 * MIB)
        expect_equal('the exit status of the server', pair.await_server(), 0)
        expect('may finish' in pair.said(), f'the server says {pair.said()!r}')
        expect(filecmp.cmp(source, place / 'dest', shallow=False), 'the file arrived changed')


def stopped_twice(program, folder):
    """A second SIGTERM ends running jobs: the client is told, and does not wait for a timeout."""
    with Pair(program, folder) as pair:
        with slow_file(pair, folder, 'send') as client:
            await_staging(pair.served)
            # Of two signals at once only one may be heard.
            pair.process.send_signal(signal.SIGTERM)
            wait_until(lambda: 'stopping: ' in pair.said(), 10, 'the first signal')
            pair.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            expect_equal('the exit status of the server', pair.await_server(), 0)
            # The client has a while to hear it; the memory of buffers is not written once more.
            expect_between('seconds to the end', time.monotonic() - began, 0, 3)
            result = pair.finish(client, 5)
        expect_status(result, NETWORK)
        expect_said(result, 'its server was stopped')
        expect_names(pair.served)


# What it says


def json_stream(program, folder, verb):
    with Pair(program, folder) as pair:
        source = folder / 'set' if verb == 'send' else pair.served / 'set'
        source.mkdir()
        fill(source / 'a', 30 * MIB)
        (source / os.fsdecode(BAD_NAME)).write_text('x')
        operands = (source, remote()) if verb == 'send' else (remote('set'), folder)
        result = pair.run(verb, '-r', '--json-stream', '--profile', 'fixed', '--rate', '100M',
                          *operands)
        expect_status(result, OK)
        events = events_of(result.out)
        expect_equal('lines of start and end', (len(events['start']), len(events['end'])), (1, 1))
        settings, end = events['start'][0]['settings'], events['end'][0]
        for key, value in (('transfer.rate', '100M'), ('transfer.recursive', 'yes'),
                           ('memory.buffers', '128M'), ('port.mtu', '1500')):
            expect_equal(key, settings.get(key), value)
        asked = pair.run(verb, '--print-config').out
        keys = re.findall(r'^(?:# )?(\w+) = ', asked, re.MULTILINE)
        expect_equal('settings of start', sorted(k.split('.')[1] for k in settings), sorted(keys))
        files = {f.get('path', f.get('path_hex')): (f['status'], f['bytes'])
                 for f in events['file']}
        expect_equal('files', files, {'set/a': ('done', 30 * MIB),
                                      (b'set/' + BAD_NAME).hex(): ('done', 1)})
        check_intervals(events['interval'], end)
        expect_totals(end, files=2, failed=0, bytes=30 * MIB + 1)
        pair.stop_server()


def rows(program, folder):
    """--details: a row a second on stderr, of all that this end knows of the flow."""
    with Pair(program, folder) as pair:
        source = folder / 'file'
        fill(source, 8 * MIB)
        for words, head in (
                (('send', source, remote()),
                 ' +s +Gb/s +paced Gb/s +window +RTT ms +loss % +limited by'),
                (('get', remote('file'), folder / 'back'), ' +s +Gb/s +RTT ms +loss %')):
            result = pair.run(words[0], '--details', '--profile', 'udt', '--rate', '50M',
                              *words[1:])
            expect_status(result, OK)
            found = re.search(rf'^{head}\n +1\.\d\d +0\.0\d\d .*\n', result.err, re.MULTILINE)
            expect(found, f'no rows: {result.err!r}')
            limit = ', limited by (rate|cpu)' if words[0] == 'send' else ''
            expect(re.fullmatch(rf'1 file, .* s: [0-9.]+ Mb/s{limit}\n.*[Cc]ycles.*\n', result.out),
                   f'{result.out!r}')
        pair.stop_server()


def cases():
    partial = functools.partial
    for verb in ('send', 'get'):
        yield Case(f'tree {verb}', True, partial(tree, verb=verb))
        yield Case(f'tree {verb} lanes', verb == 'get',
                   partial(tree, verb=verb, args=('--parallel', '8')))
    yield Case('tree send no hugepages', False, partial(tree, verb='send', huge=False))
    yield Case('tree send two queues', False,
               partial(tree, verb='send', args=('--parallel', '2'), both=('--queues', '2')))
    yield Case('tree get vhost', False, partial(tree, verb='get', link='vhost'))
    yield Case('tree send mtu 9000', False, partial(tree, verb='send', both=('--mtu', '9000')))
    yield Case('counted twice', True, counted_twice)
    yield Case('many files', False, partial(many_files, count=4000), memory=True)
    yield Case('many files lanes', False,
               partial(many_files, count=2000, args=('--parallel', '8')), memory=True)
    big = 64 * MIB + 12345
    yield Case('big file', True, partial(big_file, size=big))
    less = 24 * MIB + 12345
    yield Case('big file vhost', False, partial(big_file, size=less, link='vhost'))
    for by, n in (('udt', less), ('hstcp', 8 * MIB), ('sttp', MIB)):
        yield Case(f'big file {by}', n < less, partial(big_file, size=n, args=('--profile', by)))
    yield Case('big file mtu 9000', False, partial(big_file, size=less, both=('--mtu', '9000')))
    for args, overhead in ((('auto',), (0.005, 0.06)), (('128,4',), (0.015, 0.045)),
                           (('auto', '--parallel', '4'), (0.005, 0.06))):
        yield Case(f'repair {" ".join(args)}', args == ('128,4',),
                   partial(repaired, args=('--profile', 'fixed', '--fec', *args),
                           overhead=overhead))
    yield Case('tree get repair lanes', False,
               partial(tree, verb='get', args=('--parallel', '8', '--fec', '8,2')))
    yield Case('ttp', True, ttp)
    yield Case('ttp told by the server', False, ttp_told_by_server)
    yield Case('without root', False, without_root)
    # The same code decides it at either end.
    yield Case('targets send', False, partial(targets, verb='send', which=TARGETS))
    yield Case('targets get', False, partial(targets, verb='get', which=(
        'existing folder', 'new folder /', 'two, new', 'tree/.', 'lanes, new name')))
    yield Case('wrong targets', True, wrong_targets)
    yield Case('not writable', False, not_writable)
    yield Case('outside', False, outside)
    yield Case('not allowed', True, not_allowed)
    yield Case('missing', True, missing)
    yield Case('one of several', True, one_of_several)
    yield Case('too many paths', False, too_many_paths)
    yield Case('busy', False, busy)
    for verb in ('send', 'get'):
        yield Case(f'changing {verb}', verb == 'send', partial(changing, verb=verb))
        yield Case(f'server killed {verb}', False, partial(server_killed, verb=verb))
        yield Case(f'client killed {verb}', False, partial(client_killed, verb=verb))
        yield Case(f'interrupted {verb}', verb == 'send', partial(interrupted, verb=verb))
        yield Case(f'drained {verb}', False, partial(drained, verb=verb))
        yield Case(f'json stream {verb}', verb == 'send', partial(json_stream, verb=verb))
    yield Case('rows', True, rows)
    yield Case('disk full', False, disk_full, memory=True)
    yield Case('stopped twice', False, stopped_twice)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
