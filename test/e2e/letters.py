#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What rsync's users type: -v, -q, -n, -a; help; and what is offered for mistyped words.

    letters.py [-k PATTERN] [--binary PATH]
"""

import json
import os
import stat
import sys
from functools import partial
from pathlib import Path

from harness import (Case, Skip, decode_object, expect, expect_equal, expect_said, expect_status,
                     run_cases)
from pair import Pair, remote

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE = 0, 2


def make(top):
    for name in ('a', 'deep/b', 'deep/c\x1b[2J'):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    (top / 'link').symlink_to('a')
    return top


NAMES = ['tree/a', 'tree/deep/b', 'tree/deep/c\\x1b[2J']


def names(program, folder):
    """-v: a name per file that went over, on stdout; none of those that were there."""
    tree = make(folder / 'tree')
    with Pair(program, folder) as pair:
        for words in (('send', '-rv', tree, remote('x/')),
                      ('get', '-r', '--verbose', remote('x/tree'), folder)):
            result = pair.run(*words)
            expect_status(result, OK)
            lines = result.out.splitlines()
            new = NAMES if words[0] == 'send' else []
            expect_equal('the names', sorted(lines[:-1]), new)
            count = f'{len(new)} files, '
            expect(lines[-1].startswith(count), f'the sum: {lines[-1]}')
        # Nothing but the object, the lines or the file itself.
        decode_object(pair.run('send', '-rv', '--json', tree, remote('y/')))
        result = pair.run('send', '-rv', '--json-stream', tree, remote('z/'))
        expect_equal('events', {json.loads(line)['event'] for line in result.out.splitlines()},
                     {'start', 'file', 'end'})
        result = pair.run('get', '-v', remote('x/tree/a'), '-')
        expect_equal('the file', result.out, 'a')
        expect_said(result, 'tree/a\n' if '/' in result.err.split('\n')[0] else 'a\n')
        pair.stop_server()


def quiet(program, folder):
    """-q: nothing but failures; -n: what would go, and nothing went."""
    tree = make(folder / 'tree')
    with Pair(program, folder) as pair:
        result = pair.run('send', '-rn', tree, remote('x/'))
        expect_status(result, OK)
        expect_equal('what would go', sorted(result.out.splitlines()[:-1]),
                     [f'would go: {name}, {size} B' for name, size in zip(NAMES, (1, 6, 10))])
        expect(not (pair.served / 'x').exists(), 'a dry run makes folders')
        expect_equal('quiet and dry', pair.run('send', '-rqn', tree, remote('x/')).out, '')
        expect_equal('quiet', pair.run('send', '-rqv', tree, remote('x/')).out, '')
        expect((pair.served / 'x/tree/a').exists(), 'it did not go')
        result = pair.run('send', '-rq', tree / 'a', tree / 'missing', remote('x/'))
        expect_said(result, 'missing')
        pair.stop_server()


def archive(program, folder, allowed):
    """-a: folders, times, modes and links; owners and set-user-ID where the server keeps them."""
    if os.geteuid() != 0:
        raise Skip('only root may give a file away')
    tree = make(folder / 'tree')
    os.chown(tree / 'a', 12, 34)
    os.chmod(tree / 'a', 0o4751)
    os.utime(tree / 'a', (10**9, 10**9))
    options = ('--owners', '--set-ids', '--user', 'root') if allowed else ('--user', 'root')
    with Pair(program, folder, server=options) as pair:
        result = pair.run('send', '-a', tree, remote('x/'))
        expect_status(result, OK)
        found = (pair.served / 'x/tree/a').stat()
        expect_equal('owner and group', (found.st_uid, found.st_gid),
                     (12, 34) if allowed else (os.geteuid(), os.getegid()))
        expect_equal('mode', stat.S_IMODE(found.st_mode), 0o4751 if allowed else 0o751)
        expect_equal('time', found.st_mtime, 10**9)
        expect_equal('link', os.readlink(pair.served / 'x/tree/link'), 'a')
        expect_equal('what was left out', 'not carried over' in result.err, not allowed)
        # This end receives, and is root.
        os.chown(pair.served / 'x/tree/deep/b', 56, 78)
        expect_status(pair.run('get', '-a', remote('x/tree'), folder / 'back'), OK)
        found = (folder / 'back/deep/b').stat()
        expect_equal('fetched', (found.st_uid, found.st_gid), (56, 78))
        pair.stop_server()


def words(program, folder):
    """Each mistyped word is answered with the one that was meant."""
    for args, said in (
            (('sned',), "no verb 'sned'; did you mean 'send'?"),
            (('help', 'sned'), "no verb 'sned'; did you mean 'send'?"),
            (('bulldoze',), "no verb 'bulldoze'; `wavehaul help` lists them"),
            (('send', '--pr', 'a', 'b:c'), "'--pr' may be --profile, --print-config"),
            (('send', '--dlete', 'a', 'b:c'), "did you mean '--delete'?"),
            (('job', 'lits'), "did you mean 'list'?"),
            (('trust', 'shwo'), "did you mean 'show'?"),
            (('demo', '--set', 'udt.bta=1'), "did you mean 'beta'?")):
        result = program.run(*args)
        expect_status(result, USAGE)
        expect(said in result.err, f'{args}: {result.err!r}')
    config = folder / 'config'
    config.write_text('[transfer]\nprofil = udt\n')
    result = program.run('send', '--config', config, 'a', 'b:c')
    expect_status(result, USAGE)
    expect("did you mean 'profile'?" in result.err, result.err)


def helps(program, folder):
    for one, other in ((('help',), ('--help',)), (('help', 'send'), ('send', '--help')),
                       (('rm', '-h'), ('rm', '--help')), (('-V',), ('--version',))):
        found, same = program.run(*one), program.run(*other)
        expect_status(found, OK)
        expect_equal(f'{one}', found.out, same.out)
        expect(found.out, f'{one} says nothing')


def cases():
    yield Case('names', True, names)
    yield Case('quiet', True, quiet)
    yield Case('archive', True, partial(archive, allowed=True))
    yield Case('archive refused', False, partial(archive, allowed=False))
    yield Case('words', True, words)
    yield Case('helps', True, helps)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
