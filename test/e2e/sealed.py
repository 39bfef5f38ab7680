#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What is sealed and between whom: by default, by one end alone, by strangers to each other.

    sealed.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import os
import sys
from pathlib import Path

from harness import Case, expect, expect_equal, expect_said, expect_status, run_cases
from pair import Pair, remote
from transfer import BINARY, send

NETWORK = 5


def make_file(folder):
    path = folder / 'one'
    path.write_bytes(os.urandom(300_000))
    return path


def by_default(program, folder):
    file = make_file(folder)
    with Pair(program, folder) as pair:
        sealed = send(pair, file, 'one')['sealed']
        expect_equal('cipher', sealed['cipher'], 'aes-128-gcm')
        expect(sealed['identity'].startswith('sha256:'), sealed)
        sealed = send(pair, file, 'two', '--cipher', 'aes-256-gcm')['sealed']
        expect_equal('cipher', sealed['cipher'], 'aes-256-gcm')
        expect_said(pair.run('send', file, remote('three')),
                    rf'sealed by aes-128-gcm \(.*\); the server is {sealed["fingerprint"]}')
        result = pair.run('send', '--unsealed', file, remote('four'))
        expect_status(result, NETWORK)
        expect_said(result, 'accepts only sealed sessions: leave out --unsealed')
        pair.stop_server()
    for name in ('one', 'two', 'three'):
        expect_equal(name, Path(pair.served, name).read_bytes(), file.read_bytes())
    expect(not Path(pair.served, 'four').exists(), 'a file without a seal')


def unsealed(program, folder):
    file = make_file(folder)
    with Pair(program, folder, server=('--unsealed',)) as pair:
        expect('not sealed, because of --unsealed' in pair.said(), pair.said())
        expect_equal('sealed', send(pair, file, 'one', '--unsealed')['sealed'], None)
        result = pair.run('send', file, remote('two'))
        expect_status(result, NETWORK)
        expect_said(result, 'the server runs unsealed: add --unsealed here')
        pair.stop_server()


def strangers(program, folder):
    file = make_file(folder)
    other = folder / 'config'
    other.mkdir(mode=0o700)
    with Pair(program, folder, server_under=('env', f'WAVEHAUL_CONFIG_DIR={other}')) as pair:
        result = pair.run('send', file, remote('one'))
        expect_status(result, NETWORK)
        expect_said(result, 'trust')
        pair.stop_server()
    expect(not Path(pair.served, 'one').exists(), 'a file of a stranger')


def cases():
    yield Case('by default', True, by_default)
    yield Case('unsealed', False, unsealed)
    yield Case('strangers', True, strangers)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
