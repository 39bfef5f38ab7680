#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What is no plain file, as source and as target, and what of a file is not carried over.

    kinds.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import functools
import os
import shutil
import stat
import sys

from harness import Case, expect, expect_equal, expect_said, expect_status, run_cases
from pair import Pair, remote
from transfer import (BINARY, NO_FILE, OK, OTHER, PARTIAL, USAGE, decode, expect_failures,
                      expect_totals, get, send)
from trees import expect_names

MANY = 40000


def odd_targets(program, folder, verb):
    """Links are followed to files; targets that a file may not replace are refused, and stay."""
    served, here = folder / 'served', folder / 'here'
    source, base = (here, served) if verb == 'send' else (served, here)
    for path in (here, served, base / 'below', source / 'tree'):
        path.mkdir(exist_ok=True)
    (source / 'one').write_text('one')
    for name in ('one', 'pipe', 'socket'):
        (source / 'tree' / name).write_text('sent')
    (base / 'to').symlink_to('below/file')
    (base / 'below' / 'file').write_text('older')
    (base / 'dangling').symlink_to('below/nothing')
    os.mkfifo(base / 'pipe')
    (base / 'to-pipe').symlink_to('pipe')
    with Pair(program, folder) as pair:
        def move(target, *args):
            operands = {'send': (here / 'one', remote(target)),
                        'get': (remote('one'), here / target)}
            return pair.run(verb, *args, *operands[verb])

        expect_status(move('to'), OK)
        expect_equal('what the link leads to', (base / 'below' / 'file').read_text(), 'one')
        expect_equal('the link', os.readlink(base / 'to'), 'below/file')
        for target, status, said in (('dangling', NO_FILE, 'dangling.*link to a missing target'),
                                     ('pipe', OTHER, 'pipe'), ('to-pipe', OTHER, 'to-pipe.*pipe')):
            result = move(target)
            expect_status(result, status)
            expect_said(result, said)
        expect(stat.S_ISFIFO(os.lstat(base / 'pipe').st_mode), 'the pipe was replaced')
        expect_names(base / 'below', 'file')
        there = base / 'set' / 'tree'
        there.mkdir(parents=True)
        os.mkfifo(there / 'pipe')
        os.mknod(there / 'socket', stat.S_IFSOCK | 0o600)
        report = (send(pair, here / 'tree', 'set', '-r', status=PARTIAL) if verb == 'send' else
                  get(pair, 'tree', here / 'set', '-r', status=PARTIAL))
        where = '^at the other end: ' if verb == 'send' else '^'
        said = where + 'a pipe, socket or device already has this name'
        expect_totals(report, files=1, failed=2)
        expect_failures(report, {'tree/pipe': said, 'tree/socket': said})
        expect(stat.S_ISFIFO(os.lstat(there / 'pipe').st_mode), 'the pipe in the way was replaced')
        expect_equal('the rest', (there / 'one').read_text(), 'sent')
        pair.stop_server()


def no_names(program, folder):
    """Refused before there is a port."""
    (folder / 'file').write_text('x')
    for args, status, said in (
            (('get', 'host:f', '-', '--json'), USAGE, r'cannot both use standard output'),
            (('send', '-', 'host:f/'), USAGE, r'has no file name'),
            (('send', '-', folder / 'file', 'host:f'), USAGE, r'cannot be combined'),
            (('send', folder / 'file', '-'), USAGE, 'has no host part'),
            (('get', '192.0.2.1:f', '/dev/null'), OTHER, '/dev/null is a device.*name a file')):
        result = program.run(*args, '--config', 'none', '--port', 'net_null0', '--addr',
                             '192.0.2.2/24')
        expect_status(result, status)
        expect_said(result, said)
    expect(stat.S_ISCHR(os.stat('/dev/null').st_mode), '/dev/null is gone')


def left_out(program, folder, verb):
    """A pipe in a tree is skipped and no failure; what a tree loses is said once, to the client."""
    served, here = folder / 'served', folder / 'here'
    source = (here if verb == 'send' else served) / 'tree'
    for path in (here, served, source):
        path.mkdir(exist_ok=True)
    for name in ('one', 'two', 'set'):
        (source / name).write_text(name)
    os.link(source / 'one', source / 'also one')
    (source / 'set').chmod(0o6755)
    os.mkfifo(source / 'pipe')
    with Pair(program, folder) as pair:
        def move(path, *args):
            return pair.run(verb, '-r', *args, *((here / path, remote('to')) if verb == 'send'
                                                 else (remote(path), here / 'to')))

        result = move('tree')
        expect_status(result, OK)
        expect_said(result, 'tree/pipe: skipped, not a regular file')
        expect_said(result, 'not carried over: setuid or setgid of 1 file, '
                            'hard links of 2 files\n')
        expect('1 skipped, not regular files' in result.out, f'said {result.out!r}')
        report = decode(move('tree', '--json'))
        expect_totals(report, failed=0)
        expect_equal('left out', report['left_out'],
                     {'owners': 0, 'set_ids': 1, 'xattrs': 0, 'hard_links': 2})
        expect_equal('passed over', [p['path'] for p in report['passed_over']], ['tree/pipe'])
        # Named itself, it is a failure.
        expect_status(move('tree/pipe'), PARTIAL)
        pair.stop_server()


def nothing_new(program, folder, count):
    """A tree that already exists, both ways: every file is skipped, and the transfer ends."""
    (folder / 'tree').mkdir()
    for i in range(count):
        if i % 1000 == 0:
            (folder / 'tree' / f'{i}').mkdir()
        os.close(os.open(folder / 'tree' / f'{i - i % 1000}' / f'{i}', os.O_CREAT, 0o644))
    with Pair(program, folder) as pair:
        # Made by one's own hand, which is quicker than a first transfer.
        shutil.copytree(folder / 'tree', pair.served / 'tree')
        expect_totals(send(pair, folder / 'tree', '', '-r'), files=0, skipped=count, failed=0)
        expect_totals(get(pair, 'tree', folder, '-r'), files=0, skipped=count, failed=0)
        pair.stop_server()


def cases():
    partial = functools.partial
    for verb in ('send', 'get'):
        yield Case(f'odd targets {verb}', verb == 'get', partial(odd_targets, verb=verb))
        yield Case(f'left out {verb}', verb == 'send', partial(left_out, verb=verb))
    yield Case('no names', True, no_names)
    yield Case('nothing new', False, partial(nothing_new, count=MANY), memory=True)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
