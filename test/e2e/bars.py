#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""tools/bars: its rows and JSON, another profile in place, what is refused.

    bars.py [-k PATTERN] [--binary PATH]
"""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

from harness import Case, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
OK, FAILED, USAGE, MISSING, EXPECTATION = 0, 1, 2, 7, 8


def bars(program, *args, status):
    ended = subprocess.run([TOP / 'tools/bars', '--binary', program.binary, *map(str, args)],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                           check=False)
    expect_equal(f'exit status of {args} ({ended.stderr[-300:]})', ended.returncode, status)
    return ended


def told(program, folder):
    """Who is told the rate reaches the first bar."""
    ended = bars(program, '--quick', '--only', '1', '--profile', 'fixed', '--json',
                 folder / 'rows.json', status=OK)
    rows = json.loads((folder / 'rows.json').read_text())['rows']
    expect_equal('rows', [(row['bar'], row['what'], row['wanted'], row['ok']) for row in rows],
                 [(1, 'first 15 s', 0.985, True), (1, 'first 15 s', 0.965, True)])
    for row in rows:
        expect(abs(row['margin'] - (row['reached'] / row['wanted'] - 1)) < 1e-9, row)
    expect_equal('rows shown', len(re.findall(r'^ok     bar01-line ', ended.stdout, re.M)), 2)
    expect(ended.stdout.endswith('bar  1: 2 of 2 reached\nfixed: 2 of 2 reached\n'), ended.stdout)


def missed(program, folder):
    """A file in three round trips and a half, by who wants ten."""
    path = folder / 'rows.json'
    ended = bars(program, '--quick', '--only', 'bar03-unknown', '--profile', 'udt', '--json', path,
                 '--failed', status=EXPECTATION)
    rows = [row for row in json.loads(path.read_text())['rows'] if not row['ok']]
    expect_equal('rows', {row['what'] for row in rows}, {'round trips beside its own'})
    expect_equal('lines', re.findall(r'^(\w+) +bar03-unknown ', ended.stdout, re.M),
                 ['FAILED'] * len(rows))
    never = [row for row in rows if row['reached'] is None]
    expect(never and all(row['margin'] is None for row in never), never)


def wrong(program, folder, args, status, said):
    ended = bars(program, *(arg.format(folder=folder) for arg in args), status=status)
    expect(re.search(said, ended.stderr), ended.stderr)
    expect_equal('stdout', ended.stdout, '')


def cases():
    yield Case('who is told', True, told)
    yield Case('who misses', True, missed)
    for args, status, said in (
            (('--only', '99'), USAGE, "'99' is no bar of bar01-line, "),
            (('--jobs', '0'), USAGE, "'0' is no positive number"),
            (('--only', '1', '--profile', 'no'), FAILED, "agent = 'no' is none of"),
            (('--only', '1', '--set', 'x'), FAILED, 'SECTION.KEY=VALUE'),
            (('--binary', '{folder}/none'), MISSING, 'none is not there: tools/setup')):
        yield Case('wrong ' + ' '.join(args), True,
                   partial(wrong, args=args, status=status, said=said))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
