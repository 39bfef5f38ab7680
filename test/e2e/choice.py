#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What of a tree goes over, and what becomes of what is there: options of `send` and `get`.

    choice.py [--quick] [-k PATTERN] [--binary PATH]
"""

import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from harness import (Case, Result, Skip, decode_object, expect, expect_equal, expect_said,
                     expect_status, run_cases)
from pair import Pair, killed, remote, wait_until
from trees import MIB, content

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE, PARTIAL = 0, 2, 23
OLD, NEW = 10**9, 10**9 + 5


def write(path, text, seconds=OLD):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (seconds, seconds))


def files_below(top):
    """Path -> content of all files."""
    return {str(path.relative_to(top)): path.read_text()
            for path in sorted(top.rglob('*')) if path.is_file()}


def make(top):
    for name in ('a.dat', 'a.tmp', 'deep/b.dat', 'deep/keep.tmp', 'deep/b.tmp', 'skip/c.dat'):
        write(top / name, name)
    write(top / 'large', 'x' * 300000)
    write(top / 'fresh', 'fresh', NEW + 10)
    return top


PATTERNS = ('--include', 'keep.tmp', '--exclude', '*.tmp', '--exclude', '/tree/skip/')
CHOSEN = ['a.dat', 'deep/b.dat', 'deep/keep.tmp', 'fresh', 'large']


def run_json(pair, *args):
    result = pair.run(*args, '--json')
    expect_status(result, OK)
    return decode_object(result)


def filters(program, folder):
    """Selection by patterns, size and time, with send and with get."""
    tree = make(folder / 'tree')
    with Pair(program, folder) as pair:
        report = run_json(pair, 'send', '-r', *PATTERNS, tree, remote('one/'))
        expect_equal('files', report['files'], len(CHOSEN))
        expect_equal('what came', sorted(files_below(pair.served / 'one/tree')), CHOSEN)
        expect(not (pair.served / 'one/tree/skip').exists(), 'a folder that is left out came')
        expect_status(pair.run('send', '--max-size', '0', tree, remote('two/')), USAGE)
        run_json(pair, 'send', '-r', '--max-size', '100K', '--min-size', '6', tree, remote('two/'))
        expect_equal('by size', sorted(files_below(pair.served / 'two/tree')),
                     ['deep/b.dat', 'deep/b.tmp', 'deep/keep.tmp', 'skip/c.dat'])
        run_json(pair, 'send', '-r', '--newer', '2001-09-10', tree, remote('three/'))
        expect_equal('by time', sorted(files_below(pair.served / 'three/tree')), [])
        make(pair.served / 'tree')
        run_json(pair, 'get', '-r', *PATTERNS, '--max-size', '1K', remote('tree'),
                 f'{folder}/back/')
        expect_equal('what was got', sorted(files_below(folder / 'back/tree')),
                     [name for name in CHOSEN if name != 'large'])
        result = pair.run('get', '--exclude', '[a', remote('tree'), f'{folder}/back/')
        expect_status(result, USAGE)
        expect_said(result, r"--exclude '\[a' has a \[ that is not closed")
        pair.stop_server()


def wildcards(program, folder):
    """Matching names at the server are fetched into a folder; no match is an error."""
    with Pair(program, folder) as pair:
        for name in ('data/a.h5', 'data/b.h5', 'data/b.txt', 'data/.c.h5', 'data/in/d.h5'):
            write(pair.served / name, name)
        report = run_json(pair, 'get', remote('data/*.h5'), f'{folder}/one')
        expect_equal('files', report['files'], 2)
        expect_equal('one', sorted(files_below(folder / 'one')), ['a.h5', 'b.h5'])
        run_json(pair, 'get', '-r', remote('d*/[i]*'), f'{folder}/two')
        expect_equal('two', sorted(files_below(folder / 'two')), ['in/d.h5'])
        # What is there under the very name is that one file, and may get a new name.
        for name in ('data/[ab].h5', 'data/q?/x'):
            write(pair.served / name, name)
        run_json(pair, 'get', remote('data/[ab].h5'), f'{folder}/three')
        expect_equal('three', (folder / 'three').read_text(), 'data/[ab].h5')
        run_json(pair, 'get', remote('data/[ab].h5'), f'{folder}/four/')
        expect_equal('four', sorted(files_below(folder / 'four')), ['[ab].h5'])
        run_json(pair, 'get', '-r', '--parallel', '2', '--move', remote('data/q?'),
                 f'{folder}/five')
        expect_equal('five', sorted(files_below(folder / 'five')), ['x'])
        run_json(pair, 'get', remote('data/[ab].h5'), f'{folder}/two')
        expect_equal('two', sorted(files_below(folder / 'two')), ['[ab].h5', 'in/d.h5'])
        result = pair.run('get', remote('data/*.png'), f'{folder}/one')
        expect_said(result, r'data/\*\.png: .*opening failed: No such file')
        expect(result.status != OK, 'nothing came, and all was well')
        pair.stop_server()


def backups(program, folder):
    """Replaced files are kept as backups, small and large; a second run replaces the backups."""
    with Pair(program, folder) as pair:
        for round, text in enumerate(('one', 'two', 'two', 'three')):
            write(folder / 'tree/small', text, OLD + round)
            write(folder / 'tree/large', text * 200000, OLD + round)
            run_json(pair, 'send', '-r', '--backup', '--suffix', '.old', folder / 'tree',
                     remote('in/'))
        found = {name: text[:5] for name, text in files_below(pair.served / 'in/tree').items()}
        expect_equal('what is there', found, {'small': 'three', 'small.old': 'two',
                                              'large': 'three', 'large.old': 'twotw'})
        result = pair.run('send', '--backup', '--suffix', 'a/b', folder / 'tree/small',
                          remote('in/'))
        expect_status(result, USAGE)
        expect_said(result, "--suffix 'a/b' has a character")
        result = pair.run('send', '--quiet', '--backup', folder / 'tree/small', remote('in/'))
        expect_equal('quiet', (result.status, result.out, result.err), (OK, '', ''))
        pair.stop_server()


def removed(text, words):
    """The paths that lines with these words name."""
    return sorted(line.removeprefix(words) for line in text.splitlines() if line.startswith(words))


def deletes(program, folder):
    """--delete removes extra files: only after success, up to --max-delete, none excluded."""
    tree, there, audit = folder / 'tree', folder / 'served/in/tree', folder / 'audit'
    with Pair(program, folder, server=('--audit', audit)) as pair:
        for name in ('a', 'sub/b', 'gone/c', 'gone/d/e'):
            write(tree / name, name)
        send = ('send', '-r', '--exclude', '*.keep')
        run_json(pair, *send, tree, remote('in/'))
        for name in ('old', 'sub/old', 'sub/x.keep', 'older/y.keep', 'older/z'):
            write(there / name, name)
        (there / 'link').symlink_to('/etc')
        write(there.parent / 'beside', 'not below a folder that was sent')
        shutil.rmtree(tree / 'gone')
        before = files_below(there)
        result = pair.run(*send, '--delete', '--max-delete', '7', tree, remote('in/'))
        expect(result.status != OK, 'more was removed than may be')
        expect_said(result, r'more extra files than --max-delete allows')
        expect_equal('spared', files_below(there), before)
        result = pair.run(*send, '--delete', tree, folder / 'not there', remote('in/'))
        expect_status(result, PARTIAL)
        expect_equal('spared where something failed', files_below(there), before)
        gone = sorted(f'tree/{name}' for name in ('gone', 'gone/c', 'gone/d', 'gone/d/e', 'link',
                                                  'old', 'older/z', 'sub/old'))
        result = pair.run(*send, '--delete', '--dry-run', tree, remote('in/'))
        expect_equal('would be removed', removed(result.out, 'would be removed: '), gone)
        report = run_json(pair, *send, '--delete', '--dry-run', tree, remote('in/'))
        expect_equal('named by the report', sorted(one['path'] for one in report['removed_names']),
                     gone)
        expect_equal('counted', (report['removed'], report['unnamed']['removed']), (len(gone), 0))
        expect_equal('spared by a dry run', files_below(there), before)
        result = pair.run(*send, '-v', '--delete', '--max-delete', '8', tree, remote('in/'))
        expect_status(result, OK)
        expect_equal('named', removed(result.out, 'removed: '), gone)
        # As many lines as a peer may cause: those of the dry runs count, too.
        logged = re.findall(r': (?:would be )?removed: (\S+)', pair.said())
        expect(logged and set(logged) <= set(gone), f'logged: {logged}')
        wait_until(lambda: audit.read_text().count('"event":"removed"') >= len(gone), 5,
                   'the audit')
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        expect_equal('the audit', sorted((line['path'], line['file']) for line in lines
                                         if line['event'] == 'removed'),
                     [('in/', name) for name in gone])
        expect_equal('what is left', sorted(files_below(there)),
                     ['a', 'older/y.keep', 'sub/b', 'sub/x.keep'])
        expect(not (there / 'link').is_symlink() and (there.parent / 'beside').exists(),
               'a link is left, or what is beside is gone')
        expect_equal('again', run_json(pair, *send, '--delete', tree, remote('in/'))['removed'], 0)
        write(folder / 'back/tree/old', 'old')
        write(folder / 'back/old', 'old')
        result = pair.run('get', '-r', '--json-stream', '--delete', remote('in/tree/.'),
                          f'{folder}/back')
        events = [json.loads(line) for line in result.out.splitlines()]
        expect_equal('told', sorted(e['path'] for e in events if e.get('status') == 'removed'),
                     ['old', 'tree', 'tree/old'])
        expect_equal('got', sorted(files_below(folder / 'back')),
                     ['a', 'older/y.keep', 'sub/b', 'sub/x.keep'])
        expect_status(pair.run(*send, '--delete', '--parallel', '2', tree, remote('in/')), USAGE)
        pair.stop_server()


def moves(program, folder):
    """--move removes transferred files at the source: small, large, links, those already there."""
    tree = folder / 'tree'
    with Pair(program, folder) as pair:
        write(tree / 'small', 'small')
        write(tree / 'sub/large', 'x' * 3 * MIB)
        write(tree / 'same', 'same')
        write(tree / 'empty', '')
        write(tree / 'other', 'newer there')
        (tree / 'link').symlink_to('small')
        write(pair.served / 'in/tree/same', 'same')
        report = run_json(pair, 'send', '-r', '--move', '--exclude', 'other', tree, remote('in/'))
        expect_equal('files', (report['files'], report['skipped']), (3, 1))
        expect_equal('left here', sorted(p.name for p in tree.rglob('*')), ['other', 'sub'])
        expect_equal('there', sorted(files_below(pair.served / 'in/tree')),
                     ['empty', 'link', 'same', 'small', 'sub/large'])
        write(pair.served / 'in/tree/other', 'other bytes', NEW)
        run_json(pair, 'send', '-r', '--move', '--update', tree, remote('in/'))
        expect((tree / 'other').exists(), 'what was not compared is gone')
        run_json(pair, 'get', '--move', remote('in/./tree/same'), f'{folder}/back/')
        run_json(pair, 'get', '-r', '--move', remote('in/tree/.'), f'{folder}/back')
        expect_equal('left there', [p.name for p in (pair.served / 'in').rglob('*')
                                    if not p.is_dir()], [])
        expect_equal('back', sorted(files_below(folder / 'back')),
                     ['empty', 'link', 'other', 'same', 'small', 'sub/large'])
        expect_status(pair.run('send', '--move', '--delete', tree, remote('x')), USAGE)
        pair.stop_server()


def lists(program, folder):
    """Names from a file and from standard input, with NULs; none at all; one that is not there.

    They keep their folders.
    """
    tree = make(folder / 'tree')
    with Pair(program, folder) as pair:
        names = folder / 'names'
        names.write_text(f'{tree}/./a.dat\n\n{tree}/./deep/b.dat')
        report = run_json(pair, 'send', '--files-from', names, f'{folder}/./tree/fresh',
                          remote('one'))
        expect_equal('files', report['files'], 3)
        expect_equal('one', sorted(files_below(pair.served / 'one')),
                     ['a.dat', 'deep/b.dat', 'tree/fresh'])
        expect_equal('mode', (pair.served / 'one/deep').stat().st_mode,
                     (tree / 'deep').stat().st_mode)
        (tree / 'gone').symlink_to('nowhere')
        names.write_text(f'{tree}/./gone')
        run_json(pair, 'send', '--files-from', names, remote('one'))
        expect_equal('link', os.readlink(pair.served / 'one/gone'), 'nowhere')
        names.write_text('../tree/a.dat')
        expect_status(pair.run('send', '--files-from', names, remote('one')), USAGE)
        strange = tree / 'two\nlines'
        write(strange, 'strange')
        command = [program.binary, *map(str, pair.command(
            'send', '--files-from', '-', '-0', remote('two/')))]
        done = subprocess.run(command, input=b'./two\nlines\0large\0', timeout=30, cwd=tree,
                              capture_output=True, check=False)
        expect_equal('status', (done.returncode, done.stderr[-300:] * (done.returncode != 0)),
                     (OK, b''))
        expect_equal('two', sorted(files_below(pair.served / 'two')), ['large', 'two\nlines'])
        names.write_text(f'{remote("one/./tree/fresh")}\n{remote("two/large")}\n')
        run_json(pair, 'get', '--files-from', names, f'{folder}/back')
        expect_equal('back', sorted(files_below(folder / 'back')), ['tree/fresh', 'two/large'])
        names.write_text('\n')
        expect_status(pair.run('send', '--files-from', names, remote('x')), USAGE)
        result = pair.run('send', '--files-from', folder / 'none', remote('x'))
        expect_status(result, 3)
        pair.stop_server()


def moved_by_list(program, folder):
    """README's own line, with --move: files of one name in several folders."""
    paths = [f'gw/{place}/{name}' for place in 'abc' for name in ('same.csv', 'more.csv')]
    with Pair(program, folder) as pair:
        for path in paths:
            write(folder / 'here' / path, path)
        command = [program.binary, *map(str, pair.command(
            'send', '--move', '--parallel', '2', '--files-from', '-', '-0', remote('in/')))]
        done = subprocess.run(
            f"find . -name '*.csv' -print0 | {shlex.join(command)}", shell=True, timeout=60,
            cwd=folder / 'here', capture_output=True, check=False)
        expect_equal('status', (done.returncode, done.stderr[-300:] * (done.returncode != 0)),
                     (OK, b''))
        expect_equal('there', {path: (pair.served / 'in' / path).read_text() for path in paths},
                     {path: path for path in paths})
        expect_equal('left here', files_below(folder / 'here'), {})
        pair.stop_server()


def one_name_twice(program, folder):
    """As mv(1): the second one stays, is told, and no bytes are gone; by lanes, too."""
    with Pair(program, folder) as pair:
        for path in ('k3/same', 'k4/same', 'k5/r/both', 'k5/r/five', 'k6/r/both', 'k6/r/six'):
            write(folder / path, path)
        for place in 'abc':
            write(pair.served / f'gw/{place}/summary.csv', place)
        for lanes in ('1', '3'):
            result = pair.run('send', '--move', '--parallel', lanes, folder / 'k3/same',
                              folder / 'k4/same', remote('in/'))
            expect_status(result, PARTIAL)
            expect_said(result, 'another file of this transfer has got that name')
            expect((pair.served / 'in/same').read_text() in ('k3/same', 'k4/same'), 'it is lost')
            expect_equal('here', [(folder / path).read_text() for path in ('k3/same', 'k4/same')],
                         ['k3/same', 'k4/same'])
        result = pair.run('send', '-r', folder / 'k5/r', folder / 'k6/r', remote('in/'))
        expect_status(result, PARTIAL)
        expect_equal('merged', sorted(files_below(pair.served / 'in/r')), ['both', 'five', 'six'])
        expect_equal('the first', (pair.served / 'in/r/both').read_text(), 'k5/r/both')
        (folder / 'got').mkdir()
        result = pair.run('get', '--move', remote('gw/*/summary.csv'), folder / 'got')
        expect_status(result, PARTIAL)
        expect_equal('got', list(files_below(folder / 'got')), ['summary.csv'])
        expect_equal('left there', len(files_below(pair.served / 'gw')), 3)
        run_json(pair, 'get', '--move', '--relative', remote('gw/*/summary.csv'), folder / 'got')
        expect_equal('got', sorted(files_below(folder / 'got')),
                     [f'gw/{place}/summary.csv' for place in 'abc'] + ['summary.csv'])
        expect_equal('left there', files_below(pair.served / 'gw'), {})
        pair.stop_server()


def manifests(program, folder):
    """Checksums equal md5sum's at both ends; a changed byte or a missing file is detected."""
    tree = make(folder / 'tree')
    write(tree / 'two\nlines', 'strange')
    with Pair(program, folder) as pair:
        sums = folder / 'sums'
        report = run_json(pair, 'send', '-r', '--digest', 'md5', '--manifest', sums, tree,
                          remote('in/'))
        expect_equal('checksums', report['checksums'],
                     {'by': 'md5', 'files': 9, 'compared': 0, 'wrong': 0})
        checked = subprocess.run(['md5sum', '-c', '--quiet', sums], cwd=pair.served / 'in',
                                 capture_output=True, text=True, check=False)
        expect_equal('md5sum', (checked.returncode, checked.stdout), (0, ''))
        get = ('get', '-r', '--digest', 'md5', '--expect', sums, remote('in/tree'))
        report = run_json(pair, *get, f'{folder}/back')
        expect_equal('compared', report['checksums'],
                     {'by': 'md5', 'files': 9, 'compared': 9, 'wrong': 0})
        write(pair.served / 'in/tree/large', 'y' * 300000)
        (pair.served / 'in/tree/fresh').unlink()
        shutil.rmtree(folder / 'back')
        result = pair.run(*get, f'{folder}/back')
        expect_status(result, 6)
        expect_said(result, 'tree/large: its checksum differs from the one')
        expect_said(result, 'tree/fresh: it is listed in --expect, but was not transferred')
        expect_status(pair.run('send', '--digest', 'sha1', tree / 'fresh', remote('x')), USAGE)
        whole_or_as_before(pair, folder, tree)
        pair.stop_server()


def whole_or_as_before(pair, folder, tree):
    """After a kill or failure the previous manifest remains; a device is written to directly."""
    kept = folder / 'kept'
    kept.write_text('as before\n')
    write(folder / 'great', 'z' * (48 * MIB))
    send = ('send', '--manifest', kept, '--rate', '40M', folder / 'great', remote('great'))
    with pair.running(*send) as sending:
        wait_until(lambda: list(pair.served.glob('.wavehaul-*')), 10, 'it to go')
        killed(sending)
    expect_equal('after a kill', kept.read_text(), 'as before\n')
    expect_status(pair.run('send', '--manifest', kept, tree / 'none', remote('x')), 3)
    expect_equal('after a failure', kept.read_text(), 'as before\n')
    result = pair.run('send', '--manifest', '/dev/stderr', tree / 'fresh', remote('x'))
    expect_status(result, OK)
    expect(re.search(r'^[0-9a-f]{32}  fresh$', result.err, re.M), result.err)
    expect_status(pair.run('send', '--manifest', kept, tree / 'fresh', remote('x')), OK)
    expect(re.fullmatch(r'[0-9a-f]{32}  fresh\n', kept.read_text()), kept.read_text())
    expect_equal('left over', [p.name for p in folder.glob('kept*')], ['kept'])


def dry_runs(program, folder):
    """A dry run reports what would be sent and changes neither end; then it is sent."""
    tree = make(folder / 'tree')
    with Pair(program, folder) as pair:
        send = ('send', '-r', '--exclude', '*.tmp', '--delete', tree, remote('in/'))
        result = pair.run(*send, '--dry-run')
        expect_status(result, OK)
        expect_equal('lines', sorted(line.split()[2] for line in result.out.splitlines()[:-1]),
                     ['tree/a.dat,', 'tree/deep/b.dat,', 'tree/fresh,', 'tree/large,',
                      'tree/skip/c.dat,'])
        expect_equal('nothing went', list(pair.served.iterdir()), [])
        run_json(pair, *send)
        write(tree / 'a.dat', 'another')
        write(tree / 'large', 'y' * 300000, NEW)
        write(pair.served / 'in/tree/stray', 'stray')
        before = files_below(pair.served)
        report = run_json(pair, *send, '--dry-run')
        expect_equal('would', (report['files'], report['skipped'], report['removed']), (2, 3, 1))
        expect_equal('as before', files_below(pair.served), before)
        report = run_json(pair, 'get', '-r', '--move', '--dry-run', remote('in/tree'),
                          f'{folder}/back')
        expect_equal('would be got', report['files'], 6)
        expect(not (folder / 'back').exists(), 'a dry run makes folders')
        expect_equal('as before', files_below(pair.served), before)
        expect_equal('went', run_json(pair, *send)['removed'], 1)
        expect_status(pair.run(*send, '--dry-run', '--manifest', folder / 'm'), USAGE)
        pair.stop_server()


def what_stays(program, folder):
    """Existing files: newer, any, or equal by size, time and mode; small and large ones."""
    here, there = folder / 'tree', folder / 'served/tree'
    for name, size in (('small', 9), ('large', 300000)):
        write(here / f'{name}-new', 'n' * size, NEW)
        write(there / f'{name}-new', 'o' * size, OLD)
        write(here / f'{name}-old', 'n' * size, OLD)
        write(there / f'{name}-old', 'o' * size, NEW)
        write(here / f'{name}-alike', 'n' * size, OLD)
        write(there / f'{name}-alike', 'o' * size, OLD)
        write(here / f'{name}-absent', 'n' * size, OLD)

    def kept():
        return sorted(name for name, text in files_below(there).items() if text[0] == 'o')

    with Pair(program, folder) as pair:
        report = run_json(pair, 'send', '-r', '--ignore-existing', here, remote())
        expect_equal('files', (report['files'], report['skipped']), (2, 6))
        expect_equal('kept', len(kept()), 6)
        report = run_json(pair, 'send', '-r', '--update', '--quick-check', here, remote())
        expect_equal('files', (report['files'], report['skipped']), (2, 6))
        expect_equal('kept', kept(), ['large-alike', 'large-old', 'small-alike', 'small-old'])
        lanes = ('--parallel', '3')
        report = run_json(pair, 'send', '-r', '--update', *lanes, here, remote())
        expect_equal('kept by lanes', kept(), ['large-old', 'small-old'])
        run_json(pair, 'send', '-r', here, remote())
        expect_equal('kept', kept(), [])
        pair.stop_server()


def blocks(program, folder):
    """One byte of a large file costs a block, both ways."""
    here, there = folder / 'here', folder / 'served/there'
    there.parent.mkdir()
    size, block = 8 * MIB + 77, 128 << 10
    text = bytearray(content(size))
    there.write_bytes(text)

    def change(*where):
        for at in where:
            text[at] ^= 1
        here.write_bytes(text)

    with Pair(program, folder) as pair:
        change(5 * MIB)
        report = run_json(pair, 'send', '--blocks', here, remote('there'))
        expect_equal('bytes', (report['bytes'], report['resumed_bytes']), (size, size - block))
        expect(report['moved_bytes'] < 2 * block, f"{report['moved_bytes']} bytes moved")
        expect(there.read_bytes() == text, 'it is another')
        change(MIB, MIB + 1)
        report = run_json(pair, 'get', '--blocks', '--parallel', '2', remote('there'), here)
        expect_equal('got', report['resumed_bytes'], size - block)
        expect(here.read_bytes() == there.read_bytes(), 'it is another')
        pair.stop_server()


def attributes(path):
    status = os.lstat(path)
    names = sorted(os.listxattr(path, follow_symlinks=False))
    return (status.st_uid, status.st_gid, oct(status.st_mode),
            [(name, os.getxattr(path, name)) for name in names if name.startswith('user.')])


def more_of_files(program, folder):
    """Owners, set-user-ID, attributes and hard links are kept if the server allows it."""
    if os.geteuid() != 0:
        raise Skip('owners are root\'s to give')
    tree = folder / 'tree'
    names = ('deep/small', 'large')
    write(tree / 'deep/small', 'small')
    write(tree / 'large', 'x' * 300000)
    for name in (*names, 'deep'):
        os.chown(tree / name, 12, 34)
        os.setxattr(tree / name, 'user.note', name.encode())
    os.chmod(tree / 'deep/small', 0o4755)
    os.link(tree / 'large', tree / 'another')
    os.link(tree / 'deep/small', tree / 'deep/a third')
    keep = ('--hard-links', '--owners', '--set-ids', '--xattrs')
    with Pair(program, folder, server=('--owners', '--set-ids', '--user', 'root')) as pair:
        report = run_json(pair, 'send', '-r', *keep, tree, remote())
        expect_equal('files, left out', (report['files'], set(report['left_out'].values())),
                     (2, {0}))
        there = pair.served / 'tree'
        for name in (*names, 'deep'):
            expect_equal(name, attributes(there / name), attributes(tree / name))
        expect(os.path.samefile(there / 'large', there / 'another'), 'two files of one')
        expect(os.path.samefile(there / 'deep/small', there / 'deep/a third'), 'two files of one')
        run_json(pair, 'get', '-r', *keep, remote('tree'), folder / 'back')
        for name in (*names, 'deep'):
            expect_equal(name, attributes(folder / 'back' / name), attributes(tree / name))
        expect(os.path.samefile(folder / 'back/large', folder / 'back/another'), 'two of one')
        pair.stop_server()
        pair.server_options = ('--user', 'root')
        pair.start_server()
        report = run_json(pair, 'send', '-r', *keep, tree, remote('two/'))
        expect_equal('left out', report['left_out'],
                     {'owners': 3, 'set_ids': 1, 'xattrs': 0, 'hard_links': 0})
        expect_equal('what it has', attributes(pair.served / 'two/tree/deep/small'),
                     (0, 0, oct(0o100755), [('user.note', b'deep/small')]))
        pair.stop_server()


# As the kernel has it: a version, and entries of tag, permissions and owner.
USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHERS, NOBODY = 1, 2, 4, 8, 16, 32, 0xffffffff
ACL = 'system.posix_acl_access'


def acl(*entries):
    return struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in entries)


def owners_by_rule(program, folder):
    """Owners and ACL entries are mapped at either receiving end; other ACL contents stay."""
    if os.geteuid() != 0:
        raise Skip('owners are root\'s to give')
    tree = folder / 'tree'
    ours = acl((USER_OBJ, 6, NOBODY), (USER, 4, 12), (USER, 2, 13), (GROUP_OBJ, 4, NOBODY),
               (GROUP, 4, 34), (MASK, 6, NOBODY), (OTHERS, 0, NOBODY))
    theirs = acl((USER_OBJ, 6, NOBODY), (USER, 2, 0), (USER, 4, 5), (GROUP_OBJ, 4, NOBODY),
                 (GROUP, 4, 100), (MASK, 6, NOBODY), (OTHERS, 0, NOBODY))
    joined = acl((USER_OBJ, 6, NOBODY), (USER, 6, 77), (GROUP_OBJ, 4, NOBODY), (GROUP, 4, 100),
                 (MASK, 6, NOBODY), (OTHERS, 0, NOBODY))
    for name, owner, group in (('named', 12, 34), ('other', 13, 34), ('large', 9, 9)):
        write(tree / name, 'x' * (300000 if name == 'large' else 5))
        os.chown(tree / name, owner, group)
    try:
        os.setxattr(tree / 'named', ACL, ours)
    except OSError as error:
        raise Skip(f'no ACLs: {error}') from error

    def owners(top):
        return {name: (os.stat(top / name).st_uid, os.stat(top / name).st_gid)
                for name in ('named', 'other', 'large')}

    rules = ('--owners', '--user', 'root', '--map-owners', '12=games,*=root', '--map-groups',
             '34=users')
    keep = ('-r', '--owners', '--acls')
    with Pair(program, folder, server=rules) as pair:
        run_json(pair, 'send', *keep, tree, remote())
        expect_equal('at the server', owners(pair.served / 'tree'),
                     {'named': (5, 100), 'other': (0, 100), 'large': (0, 9)})
        expect_equal('its ACL', os.getxattr(pair.served / 'tree/named', ACL), theirs)
        run_json(pair, 'get', *keep, '--map-owners', '*=77', remote('tree'), folder / 'back')
        expect_equal('here', owners(folder / 'back'),
                     {'named': (77, 100), 'other': (77, 100), 'large': (77, 9)})
        expect_equal('what is joined', os.getxattr(folder / 'back/named', ACL), joined)
        for rule, why in (('12', 'is not FROM=TO'), ('12=nobody at all', 'not exist on this host'),
                          ('who=1', 'must begin with'), ('1=2,1=3', 'two rules for the same')):
            result = pair.run('get', *keep, '--map-owners', rule, remote('tree'), folder / 'no')
            expect_status(result, USAGE)
            expect_said(result, why)
        result = pair.run('get', '--map-owners', '1=2', remote('tree'), folder / 'no')
        expect_status(result, USAGE)
        expect_said(result, 'need --owners')
        pair.stop_server()


def through(pair, text, *args):
    """What a client says, given that on its standard input: bytes, and a result."""
    command = [pair.program.binary, *map(str, pair.command(*args))]
    done = subprocess.run(command, input=text, capture_output=True, timeout=60, check=False)
    return done.stdout, Result(done.returncode, '', done.stderr.decode(), 0)


def pipes(program, folder):
    """From standard input and to standard output, of unknown sizes."""
    text = content(5 * MIB + 4321)
    with Pair(program, folder) as pair:
        for what in (b'', b'few', text):
            _, result = through(pair, what, 'send', '-', remote('deep.bin'))
            expect_status(result, OK)
            expect((pair.served / 'deep.bin').read_bytes() == what, 'other bytes are there')
            out, result = through(pair, b'', 'get', remote('deep.bin'), '-')
            expect_status(result, OK)
            expect(out == what, f'{len(out)} bytes came, other than {len(what)} there')
        expect_said(result, '1 file, 5.0')
        names = sorted(os.listdir(pair.served))
        expect_equal('what is there', names, ['deep.bin'])
        command = [program.binary, *map(str, pair.command('get', remote('deep.bin'), '-'))]
        reader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect_equal('the first bytes', reader.stdout.read(10), text[:10])
        reader.stdout.close()
        said = reader.stderr.read().decode()
        expect(reader.wait(20) not in (OK, USAGE), 'a broken pipe is no failure')
        expect('Broken pipe' in said, f'it says {said[-300:]!r}')
        writer = subprocess.Popen([program.binary, *map(str, pair.command(
            'send', '-', remote('half')))], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        writer.stdin.write(text[:2 * MIB])
        writer.stdin.flush()
        wait_until(lambda: any(name.startswith('.') for name in os.listdir(pair.served)), 10,
                   'something of it')
        writer.send_signal(signal.SIGINT)
        writer.communicate(timeout=20)
        expect(not (pair.served / 'half').exists(), 'half a file has its name')
        pair.stop_server()


def silent_pipe(program, folder):
    """The server waits for a client's pipe as long as its --pipe-timeout, and no longer."""
    options = ('--stall-timeout', '1s', '--pipe-timeout', '3s')
    with Pair(program, folder, server=options) as pair:
        began = time.monotonic()
        writer = subprocess.Popen([program.binary, *map(str, pair.command(
            'send', '-', remote('never')))], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            said = writer.stderr.read().decode()
            expect(writer.wait(20) not in (OK, USAGE), 'it has ended well')
        finally:
            writer.kill()
            writer.communicate()
        took = time.monotonic() - began
        expect(3 <= took < 8, f'it took {took:.1f} s')
        wait_until(lambda: 'for longer than --pipe-timeout' in pair.said(), 3, 'who waited')
        expect('stall' in said or 'progress' in said, f'the client says {said[-300:]!r}')
        expect(not (pair.served / 'never').exists(), 'a file of nothing')
        pair.stop_server()


def cases():
    yield Case('wildcards', True, wildcards)
    yield Case('backups', True, backups)
    yield Case('deletes', True, deletes)
    yield Case('moves', True, moves)
    yield Case('lists', True, lists)
    yield Case('moved by a list', True, moved_by_list)
    yield Case('one name twice', True, one_name_twice)
    yield Case('manifests', True, manifests)
    yield Case('dry runs', True, dry_runs)
    yield Case('filters', True, filters)
    yield Case('what stays', True, what_stays)
    yield Case('blocks', True, blocks)
    yield Case('more of files', False, more_of_files)
    yield Case('owners by rule', False, owners_by_rule)
    yield Case('pipes', True, pipes)
    yield Case('silent pipe', False, silent_pipe)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
