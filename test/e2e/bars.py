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
sys.path.insert(0, str(TOP / 'tools'))

from barslib import papers, short

BARS = TOP / 'config/scenarios/bars'
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
OK, FAILED, USAGE, MISSING, EXPECTATION = 0, 1, 2, 7, 8


def bars(program, *args, status):
    ended = subprocess.run([TOP / 'tools/bars', '--binary', program.binary, *map(str, args)],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                           check=False)
    expect_equal(f'exit status of {args} ({ended.stderr[-300:]})', ended.returncode, status)
    return ended


def told(program, folder):
    """A profile that is given the rate reaches the first bar."""
    ended = bars(program, '--quick', '--only', 'bar01-line', '--profile', 'fixed', '--json',
                 folder / 'rows.json', status=OK)
    rows = json.loads((folder / 'rows.json').read_text())['rows']
    expect_equal('rows', [(row['bar'], row['what'], row['wanted'], row['ok']) for row in rows],
                 [(1, 'first 15 s', 0.985, True), (1, 'first 15 s', 0.965, True)])
    for row in rows:
        expect(abs(row['margin'] - (row['reached'] / row['wanted'] - 1)) < 1e-9, row)
    expect_equal('rows shown', len(re.findall(r'^ok     bar01-line ', ended.stdout, re.M)), 2)
    expect(ended.stdout.endswith('bar  1: 2 of 2 reached\nfixed: 2 of 2 reached\n'), ended.stdout)


def missed(program, folder):
    """A file takes three and a half round trips; the bound is ten."""
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


def worse(program, folder):
    """A row below its bound fails the run; a row that is as good as recorded does not."""
    allowed = short.Short('bar03-known', 'lost at the start', -0.2, 'a reason')
    row = {'scenario': allowed.scenario, 'what': allowed.what}
    for margin, fails in ((-0.1, False), (-0.3, True), (None, True)):
        expect_equal(f'{margin} is short', short.comes_as_far(row | {'margin': margin}, (allowed,)),
                     not fails)
    row = {'scenario': 'bar03-known', 'what': 'another', 'margin': -0.1}
    expect_equal('what has no bound is short', short.comes_as_far(row, (allowed,)), False)
    never = allowed._replace(margin=None)
    expect_equal('what never comes', short.comes_as_far(
        {'scenario': never.scenario, 'what': never.what, 'margin': None}, (never,)), True)


def table(program, folder):
    """Each bound names an existing row, once, and gives a reason."""
    rows = [(one.scenario, one.what) for one in short.ALL]
    expect_equal('rows that stand twice', [row for row in rows if rows.count(row) > 1], [])
    known = {paper.scenario for paper in papers.ALL}
    for one in short.ALL:
        if one.scenario == 'bar12-papers':
            expect(one.what in known, f'{one.what} is no scenario of a paper')
        else:
            text = (BARS / f'{one.scenario}.ini').read_text()
            expect(f'\n{one.what} = ' in text, f'{one.scenario} has no {one.what}')
        expect(len(one.why) > 20, f'{one.scenario}, {one.what}: no reason')


def quick(program, folder):
    """Nothing has become worse than the table allows."""
    ended = bars(program, '--quick', '--json', folder / 'rows.json', status=OK)
    rows = json.loads((folder / 'rows.json').read_text())['rows']
    expect_equal('bars', sorted({row['bar'] for row in rows}), list(range(1, 13)))
    expect(len(rows) > 80, len(rows))
    expect('FAILED' not in ended.stdout, ended.stdout)


def cases():
    yield Case('who is told', True, told)
    yield Case('who misses', True, missed)
    yield Case('bounds', True, worse)
    yield Case('the table of bounds', True, table)
    yield Case('every bar, quickly', True, quick)
    for args, status, said in (
            (('--only', '99'), USAGE, "'99' is no bar of bar01-hosts, bar01-line, "),
            (('--jobs', '0'), USAGE, "'0' is no positive number"),
            (('--only', '1', '--profile', 'no'), FAILED, "agent = 'no' is not one of"),
            (('--only', '1', '--set', 'x'), FAILED, 'SECTION.KEY=VALUE'),
            (('--binary', '{folder}/none'), MISSING, 'none is not there: tools/setup')):
        yield Case('wrong ' + ' '.join(args), True,
                   partial(wrong, args=args, status=status, said=said))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
