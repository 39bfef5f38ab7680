#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles between `wavehaul send`, `get` and `serve`: two processes with real ports.

    profiles.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import filecmp
import functools
import sys

from harness import Case, expect, run_cases
from pair import Pair, remote
from transfer import BINARY, expect_totals, get, send
from trees import MIB, fill


def both_ways(program, folder, told):
    """A file there and back, by options of which the server hears by OPEN and in HELLO."""
    source, back, size = folder / 'big', folder / 'back', 8 * MIB + 12345
    fill(source, size)
    with Pair(program, folder) as pair:
        expect_totals(send(pair, source, '', *told), files=1, failed=0, bytes=size)
        expect_totals(get(pair, 'big', back, *told), files=1, failed=0, bytes=size)
        expect(filecmp.cmp(source, pair.served / 'big', shallow=False), 'sent, it is another')
        expect(filecmp.cmp(source, back, shallow=False), 'got, it is another')
        pair.stop_server()


def cases():
    for profile, options in (('pxp', ('timeout=40ms', 'period=2ms')), ('pack', ('timeout=40ms',))):
        told = ['--profile', profile]
        for option in options:
            told += ['--set', f'{profile}.{option}']
        yield Case(profile, profile == 'pxp', functools.partial(both_ways, told=told))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
