#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What looks at a server's tree or changes it: ls, du, rm, mkdir, mv, ping.

    rpcs.py [--quick] [-k PATTERN] [--binary PATH]
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from harness import (Case, decode_object, end_group, expect, expect_between, expect_equal,
                     expect_said, expect_status, run_cases)
from pair import SERVER, Pair, on_cpu, remote

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, USAGE, NO_FILE, PARTIAL = 0, 1, 2, 3, 23
MANY = 20000


def make(top):
    (top / 'runs/41/raw').mkdir(parents=True)
    (top / 'runs/41/raw/a.h5').write_bytes(b'x' * 5000)
    (top / 'runs/41/log').write_bytes(b'y' * 70)
    (top / 'runs/b\x1b[31mad').write_bytes(b'')
    (top / 'runs/link').symlink_to('41/log')
    (top / 'runs/out').symlink_to('/etc')
    os.utime(top / 'runs/41/log', (10**9, 10**9))
    return top


def entries(pair, *args, status=OK):
    result = pair.run(*args, '--json')
    expect_status(result, status)
    report = decode_object(result)
    expect_equal('exit_status', report['exit_status'], status)
    return report['entries']


def look(program, folder):
    """Existing entries are listed exactly, whatever their names; missing ones are reported."""
    with Pair(program, folder) as pair:
        make(pair.served)
        found = {e['path']: e for e in entries(pair, 'ls', remote('runs'))}
        expect_equal('names', sorted(found),
                     ['runs/41', 'runs/b\x1b[31mad', 'runs/link', 'runs/out'])
        expect_equal('link', found['runs/link']['link'], '41/log')
        found = {e['path']: e for e in entries(pair, 'ls', '-r', remote('runs/41/'))}
        expect_equal('all names', sorted(found),
                     ['runs/41/log', 'runs/41/raw', 'runs/41/raw/a.h5'])
        expect_equal('bytes', found['runs/41/raw/a.h5']['bytes'], 5000)
        expect_equal('time', found['runs/41/log']['mtime_s'], 10**9)
        lines = pair.run('ls', remote('runs')).out.splitlines()
        expect_equal('sorted lines', [line.split()[-1] for line in lines if '->' not in line],
                     ['41/', r'b\x1b[31mad'])
        used, = entries(pair, 'du', remote('runs'))
        expect_equal('du', (used['bytes'], used['entries']), (5070, 7))
        expect(used['used_bytes'] >= 8192, f'used_bytes is {used["used_bytes"]}')
        result = pair.run('ls', remote('none'), remote('runs/out'))
        expect_status(result, NO_FILE)
        expect_said(result, r'none: opening failed: No such file')
        expect_said(result, r'runs/out: leads out of the served')
        expect_equal('not there', len(entries(pair, 'ls', remote('runs/41'), remote('none'),
                                              status=PARTIAL)), 3)
        pair.stop_server()


def change(program, folder):
    """Folders are made, names changed, trees removed, and no link is followed."""
    with Pair(program, folder) as pair:
        top = make(pair.served)
        outside = folder / 'outside'
        outside.mkdir()
        (outside / 'kept').write_text('kept')
        (top / 'runs/away').symlink_to(outside)
        expect_status(pair.run('mkdir', remote('new/er')), NO_FILE)
        expect_status(pair.run('mkdir', '-p', remote('new/er'), remote('new/er')), OK)
        for taken in ('new', 'runs/41/log'):
            result = pair.run('mkdir', remote(taken))
            expect_status(result, OTHER)
            expect_said(result, f'{taken}: something already has this name')
        expect_status(pair.run('mv', remote('runs/41/log'), remote('new/er')), OK)
        expect_equal('moved', (top / 'new/er/log').read_bytes(), b'y' * 70)
        result = pair.run('rm', remote('runs'))
        expect_status(result, OTHER)
        expect_said(result, 'runs: is a folder; add -r to remove it')
        expect_status(pair.run('rm', '-r', remote('runs'), remote('new/er/log')), OK)
        expect_equal('left', sorted(p.name for p in top.rglob('*')), ['er', 'new'])
        expect_equal('outside', os.listdir(outside), ['kept'])
        result = pair.run('rm', '-r', remote('.'), remote('/'), remote('../outside/kept'))
        expect_status(result, OTHER)
        expect((outside / 'kept').exists() and (top / 'new').exists(), 'too much was removed')
        expect_status(pair.run('mv', remote('new')), USAGE)
        expect_status(pair.run('rm', 'new'), USAGE)
        pair.stop_server()


def wildcards(program, folder):
    """Names that match are listed, added up and removed; no match is an error."""
    with Pair(program, folder) as pair:
        top = make(pair.served)
        for name in ('a.h5', 'b.h5', 'c.txt', '.d.h5', '[a].h5'):
            (top / 'runs/41' / name).write_bytes(b'z' * 3)
        lines = pair.run('ls', remote('r*/4?/*.h5')).out.splitlines()
        expect_equal('names', [line.split()[-1] for line in lines],
                     ['runs/41/[a].h5', 'runs/41/a.h5', 'runs/41/b.h5'])
        found = [e['path'] for e in entries(pair, 'ls', remote('runs/41/r*'), remote('runs/l*'))]
        expect_equal('a folder, and a link', found, ['runs/41/raw/a.h5', 'runs/link'])
        used = [(e['path'], e['bytes']) for e in entries(pair, 'du', remote('runs/41/[ab].h5'))]
        expect_equal('du', sorted(used), [('runs/41/a.h5', 3), ('runs/41/b.h5', 3)])
        result = pair.run('rm', remote('runs/41/*.png'))
        expect_status(result, NO_FILE)
        expect_said(result, r'runs/41/\*\.png: .*No such file')
        result = pair.run('rm', remote('runs/41/*'))
        expect_status(result, PARTIAL)
        expect_said(result, r'runs/41/raw: is a folder; add -r to remove it')
        expect_equal('left', sorted(os.listdir(top / 'runs/41')), ['.d.h5', 'raw'])
        expect_status(pair.run('rm', '-r', remote('*/41/*'), remote('runs/out*')), OK)
        expect_equal('left', (os.listdir(top / 'runs/41'), os.path.exists('/etc/passwd')),
                     (['.d.h5'], True))
        pair.stop_server()


def many(program, folder):
    """A long list for a slow reader is complete, and nothing stalls."""
    with Pair(program, folder) as pair:
        (pair.served / 'many').mkdir()
        for number in range(MANY):
            (pair.served / f'many/{number:06}-{"x" * 40}').touch()
        process = subprocess.Popen(
            [*on_cpu(1), pair.program.binary,
             *map(str, pair.command('ls', '--stall-timeout', '1s', remote('many')))],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        try:
            time.sleep(2.5)
            out, err = process.communicate(timeout=20)
        finally:
            end_group(process)
        expect_equal(f'exit status ({err[-300:]})', process.returncode, OK)
        names = [line.split()[-1] for line in out.decode().splitlines()]
        expect_equal('names', len(names), MANY)
        expect_equal('order', names, sorted(names))
        expect_status(pair.run('rm', '-r', remote('many')), OK)
        expect_equal('left', os.listdir(pair.served), [])
        pair.stop_server()


def ping(program, folder):
    """Each is answered, and the quantiles are in order."""
    with Pair(program, folder) as pair:
        result = pair.run('ping', '--count', '20', '--interval', '1ms', SERVER, '--json')
        expect_status(result, OK)
        rtt = decode_object(result)['rtt']
        expect_equal('answers', (rtt['asked'], rtt['came_back']), (20, 20))
        values = [rtt[key] for key in ('min_ns', 'p50_ns', 'p90_ns', 'p99_ns', 'max_ns')]
        expect(values == sorted(values) and values[0] > 0, f'quantiles are {values}')
        expect_between('the least, in ns', values[0], 1000, 10**9)
        result = pair.run('ping', '--count', '3', SERVER)
        expect(result.out.count(' ms\n') == 4 and '3 of 3 came back' in result.out, result.out)
        pair.stop_server()


def cases():
    yield Case('wildcards', True, wildcards)
    yield Case('look', True, look)
    yield Case('change', True, change)
    yield Case('many', False, many)
    yield Case('ping', True, ping)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
