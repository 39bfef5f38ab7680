#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Large files that `wavehaul send` and `get` split over the lanes of --parallel.

    lanes.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import filecmp
import functools
import os
import sys

from harness import Case, expect, expect_status, run_cases
from pair import Pair, remote, wait_until
from telemetry import Telemetry
from transfer import (BINARY, OK, PARTIAL, decode, expect_failures, expect_names, expect_totals,
                      get, send)
from trees import MIB, fill


def split_file(program, folder, verb, size):
    """A large file goes by all lanes, a good part by each; the second time it is there."""
    lanes = 4
    source, back = folder / 'one', folder / 'back'
    fill(source, size)
    with Pair(program, folder) as pair:
        served = pair.served / 'one'
        if verb == 'get':
            source.rename(served)
        operands = (remote('one'), back) if verb == 'get' else (source, remote())
        args = ('--json', '--parallel', lanes, *operands)
        moved = {}
        with pair.running(verb, '--rate', '1G', *args) as process, \
                Telemetry(pair.process.pid) as server:
            role = 'transmitter' if verb == 'get' else 'receiver'
            while process.poll() is None:
                moved |= {n: told['moved_bytes'] for n, told in server.sessions().items()
                          if told['role'] == role and told['moved_bytes'] > MIB}
            result = pair.finish(process)
        expect_status(result, OK)
        expect_totals(decode(result), files=1, failed=0, skipped=0, bytes=size)
        expect(len(moved) == lanes and min(moved.values()) > size / lanes / 4,
               f'the lanes moved {sorted(moved.values())}')
        expect(filecmp.cmp(*((served, back) if verb == 'get' else (source, served)),
                           shallow=False), 'it is another')
        report = decode(pair.run(verb, *args))
        expect_totals(report, files=0, failed=0, skipped=1, bytes=0)
        pair.stop_server()


def split_sparse(program, folder, verb):
    """Holes stay holes in every lane."""
    size = 100 * MIB + 5
    source, back = folder / 'one', folder / 'back'
    with Pair(program, folder) as pair:
        here, there = ((pair.served / 'one', back) if verb == 'get'
                       else (source, pair.served / 'one'))
        with open(here, 'wb') as file:
            for at in range(0, size, 10 * MIB):
                file.seek(at)
                file.write(b'x')
            file.truncate(size)
        args = ('--parallel', '4')
        report = get(pair, 'one', back, *args) if verb == 'get' else send(pair, source, '', *args)
        expect_totals(report, files=1, failed=0, bytes=size)
        expect(filecmp.cmp(here, there, shallow=False), 'it is another')
        expect(there.stat().st_blocks * 512 < 2 * MIB, f'{there.stat().st_blocks} blocks')
        pair.stop_server()


def split_truncated(program, folder, verb):
    """It fails once, whichever lane sees it, and nothing of it is left."""
    size = 320 * MIB  # more than all lanes may have read ahead when the first bytes are there
    with Pair(program, folder) as pair:
        here = folder / 'here'
        here.mkdir()
        source, target = (here, pair.served) if verb == 'send' else (pair.served, here)
        fill(source / 'one', 32 * MIB)
        os.truncate(source / 'one', size)  # what a hole is written to takes no blocks
        with pair.running(verb, '--json', '--rate', '1G', '--parallel', '4',
                          *((source / 'one', remote()) if verb == 'send'
                            else (remote('one'), here))) as process:
            wait_until(lambda: any(f.stat().st_size for f in target.glob('.wavehaul*/*')), 10,
                       'bytes of it')
            os.truncate(source / 'one', size // 3)
            result = pair.finish(process)
        expect_status(result, PARTIAL)
        report = decode(result)
        expect_totals(report, files=0, failed=1, bytes=0)
        expect_failures(report, {'one': 'changed'})
        expect_names(target)
        pair.stop_server()


def rate_of_all_lanes(program, folder, verb, lanes, least, args):
    """One lane has the file, and the rate of those that have none: more than its own part, and all
    lanes together no more than the whole."""
    rate_bps, size = 80e6, 8 * MIB
    source, back = folder / 'one', folder / 'back'
    fill(source, size)
    with Pair(program, folder) as pair:
        if verb == 'get':
            source.rename(pair.served / 'one')
        args = ('--parallel', lanes, '--rate', '80M', *args)
        report = get(pair, 'one', back, *args) if verb == 'get' else send(pair, source, '', *args)
        pair.stop_server()
    expect_totals(report, files=1, failed=0, bytes=size)
    expect(least * rate_bps < report['goodput_bps'] < rate_bps, f'{report["goodput_bps"]:.0f} b/s')


def cases():
    partial = functools.partial
    for verb in ('send', 'get'):
        size = (300 if verb == 'get' else 70) * 10**6
        yield Case(f'split file {verb}', verb == 'send',
                   partial(split_file, verb=verb, size=size), memory=True)
        yield Case(f'split sparse file {verb}', False, partial(split_sparse, verb=verb))
        yield Case(f'split file truncated {verb}', False, partial(split_truncated, verb=verb))
        yield Case(f'rate of all lanes, {verb}', False,
                   partial(rate_of_all_lanes, verb=verb, lanes=4, least=0.5,
                           args=('--profile', 'fixed')), judges_time=True)
    yield Case('found rate of all lanes', False,
               partial(rate_of_all_lanes, verb='send', lanes=8, least=1.2 / 8, args=()),
               judges_time=True)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
