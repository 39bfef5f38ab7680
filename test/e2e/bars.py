#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""tools/bars: its rows and JSON, another profile in place, drawn paths, what is refused.

    bars.py [-k PATTERN] [--binary PATH]
"""

import hashlib
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

from harness import Case, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tools'))

from barslib import drawn, judge, papers, short
from barslib.draw import Agent, Draws
from barslib.draw import Case as Drawn

BARS = TOP / 'config/scenarios/bars'
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
OK, FAILED, USAGE, MISSING, EXPECTATION = 0, 1, 2, 7, 8

# SHA-256 of the scenarios of offset 0: what was measured with them can be measured again.
TEXTS = '22fb5d77e256481af0b9888fdc37b63ccc2d4b0a9f02231b96553b02fd48aec3'


def bars(program, *args, status):
    ended = subprocess.run([TOP / 'tools/bars', '--binary', program.binary, *map(str, args)],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
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
    expect_equal('bars', sorted({row['bar'] for row in rows}), list(range(1, 16)))
    expect(len(rows) > 80, len(rows))
    expect('FAILED' not in ended.stdout, ended.stdout)


def draws(program, folder):
    """The same cases for the same offset, for ever; no case of one offset is of another."""
    found = {name: family(Draws()) for name, family in drawn.FAMILIES.items()}
    expect_equal('cases', {name: len(cases) for name, cases in found.items()},
                 {'single': 64, 'flows': 22, 'tcps': 24, 'changes': 14, 'aqm': 9, 'short': 20,
                  'scavenger': 8, 'class': 25})
    for name, rate, rtt in (
            ('single', 7363895054, 69.553), ('flows', 27221768, 173.021),
            ('tcps', 67165318, 41.786), ('changes', 199496311, 24.283), ('aqm', 135856902, 57.368),
            ('short', 144928897, 76.498), ('scavenger', 78821157, 13.827)):
        case = found[name][0]
        expect_equal(name, (round(case.rate_bps), round(case.rtt_s * 1e3, 3)), (rate, rtt))
    texts = ''.join(case.text for cases in found.values() for case in cases)
    expect_equal('all texts', hashlib.sha256(texts.encode()).hexdigest(), TEXTS)
    for name, cases in found.items():
        if name != 'class':
            others = {case.rate_bps for offset in range(1, 20)
                      for case in drawn.FAMILIES[name](Draws(offset))}
            expect_equal(f'{name} that are drawn twice',
                         [case.name for case in cases if case.rate_bps in others], [])


def ports(program, folder):
    """The port is faster than the bottleneck, but in a quarter of single flows and of files."""
    for name, family in drawn.FAMILIES.items():
        cases = [case for offset in range(10) for case in family(Draws(offset))]
        same = [case for case in cases if '[link A>B]' in case.text]
        share = len(same) / len(cases)
        if name in ('single', 'short'):
            expect(0.2 < share < 0.3, (name, share))
        else:
            expect_equal(f'{name} with the port as bottleneck',
                         [case.facts['kind'] for case in same],
                         ['jitter-start-1ms-sameport'] * 10 if name == 'class' else [])
        for case in cases:
            fast = re.search(r'^\[link A-R\]\nrate = (\d+)', case.text, re.M)
            expect(fast is None or int(fast[1]) > 1.4 * case.rate_bps, case.name)
        if name in drawn.ALONE:
            expect_equal(f'{name} with a faster port and --port1',
                         [case.name for case in family(Draws(same_port=True))
                          if '[link A-R]' in case.text], [])


def in_our_place(program, folder):
    """A TCP gets no line that only a profile understands, and ours stays what it was."""
    for name, family in drawn.FAMILIES.items():
        ours = ''.join(case.text for case in family(Draws()))
        tcp = ''.join(case.text for case in family(Draws(agent=Agent('newreno', None))))
        expect('agent = lambda' in ours and 'agent = lambda' not in tcp, name)
        expect(not re.search('^(share|known_rate|sender_skew|burst) = ', tcp, re.M), name)
    fixed = Draws(agent=Agent('fixed', frozenset()))
    told = ''.join(case.text for case in drawn.FAMILIES['aqm'](fixed))
    expect_equal('rates', len(re.findall('^agent = fixed\nwindow = .*\nrate = ', told, re.M)), 9)


def judged(program, folder):
    """Each way to fall short, and the score of a case that is halfway."""
    def case(family, **facts):
        return Drawn(family, 0, 0, '', 1e8, 0.1, facts)

    single = {'steady': 0.98, 'queue p99': 0.01, 'bdps lost': 0.5, 'caused': 0.01}
    flows = {'jain': 0.96, 'used': 0.96, 'least': 0.6}
    tcps = {'ours': 0.5, 'cubic in our place': 0.8, 'least tcp': 0.5}
    changes = {'whole': 0.85, 'queue p99': 0.01, 'queue is': 0.1}
    aqm = {'steady': 0.95, 'caused late': 0.001}
    file = {'round trips more': 2.2, 'bdps lost': 0.1}
    scavenger = {'as long as alone': 1.0, 'of what is left': 0.7}
    for of, got, more, score, words in (
            (case('single', loss=0), single, {}, 1, []),
            (case('single', loss=0), single, {'steady': 0.485}, 0.5, ['rate']),
            (case('single', loss=0.02), single, {'steady': 0.95}, 1, []),
            (case('single', loss=0), single, {'queue p99': 0.026}, 1, ['queue']),
            (case('single', loss=0), single, {'bdps lost': 0.61}, 1, ['loss']),
            (case('single', loss=0), single, {'bdps lost': 0.61, 'caused': 0.001}, 1, []),
            (case('flows'), flows, {}, 1, []),
            (case('flows'), flows, {'jain': 0.475, 'least': 0.3}, 0.5, ['jain', 'starved']),
            (case('flows'), flows, {'used': 0.855}, 0.9, ['used']),
            (case('tcps'), tcps, {}, 1, []),
            (case('tcps'), tcps, {'ours': 0.2, 'cubic in our place': 0.2}, 1, []),
            (case('tcps'), tcps, {'ours': 0.25}, 0.5, ['ours']),
            (case('tcps'), tcps, {'least tcp': 0.2}, 0.4, ['tcp']),
            (case('changes', kind='wifi'), changes, {}, 1, []),
            (case('changes', kind='down'), changes, {'whole': 0.45}, 0.5, ['rate']),
            (case('changes', kind='wifi'), changes, {'after': 0.475}, 0.5, ['after']),
            (case('changes', kind='wifi'), changes, {'queue p99': 0.095}, 1, ['queue']),
            (case('aqm'), aqm, {}, 1, []),
            (case('aqm'), aqm, {'steady': 0.45}, 0.5, ['rate']),
            (case('aqm'), aqm, {'caused late': 0.02}, 0.5, ['loss']),
            (case('short', known='no'), file, {}, 1, []),
            (case('short', known='yes'), file, {}, 2 / 2.2, ['slow']),
            (case('short', known='no'), file, {'round trips more': None}, 0, ['slow']),
            (case('short', known='no'), file, {'bdps lost': 0.6}, 1, ['loss']),
            (case('scavenger'), scavenger, {}, 1, []),
            (case('scavenger'), scavenger, {'as long as alone': 2.1}, 0.5, ['harms']),
            (case('scavenger'), scavenger, {'of what is left': 0.3}, 0.5, ['little']),
            (case('class', want=0.9), {'value': 0.9}, {}, 1, []),
            (case('class', want=0.9), {'value': 0.45}, {}, 0.5, ['value']),
            (case('class', want=0.9), {'value': 0.9}, {'bdps lost': 2}, 0.25, ['loss']),
            (case('class', want=0.9), {'value': 0.9}, {'queue p50': 0.03}, 1, ['queue'])):
        found = judge.judged(of, got | more)
        expect(abs(found[0] - score) < 1e-9 and found[1] == words, (of.family, more, found))


def distributions(program, folder):
    """Of a hundred values the worst, the worst twentieth and the median, by the good end."""
    values = [i / 100 for i in range(100)]
    for high, wanted in ((True, [0, 0.05, 0.5]), (False, [0.99, 0.94, 0.49])):
        found = [judge.at_share(values, share, high) for share in (0, 0.05, 0.5)]
        expect_equal(f'high {high}', found, wanted)
    expect_equal('of one offset', judge.interval([values], 0.5, True), None)
    low, high = judge.interval([[0.1] * 10, [0.2] * 10, [0.3] * 10], 0.5, True)
    expect_equal('of three', (low, high), (0.1, 0.3))
    expect_equal('of equals', judge.interval([values, values], 0.5, True), (0.5, 0.5))
    for wanted in judge.WANTED:
        expect(wanted.figure in [one.name for one in judge.FIGURES[wanted.group]], wanted)
        expect(judge.is_reached(wanted, wanted.value), wanted)


def chance(program, folder):
    """Told the rate, a file is there after its time on the wire and two round trips."""
    texts = []
    for jobs in (1, 2):
        path = folder / f'{jobs}.json'
        ended = bars(program, '--drawn', '3-4', '--only', 'short', '--profile', 'fixed', '--jobs',
                     jobs, '--json', path, status=OK)
        texts.append(ended.stdout)
        rows = json.loads(path.read_text())['cases']
        expect_equal('cases', [row['case'] for row in rows],
                     [f'short-{i:02}@{offset}' for offset in (3, 4) for i in range(20)])
        expect(all(0 < row['figures']['round trips more'] < 1 for row in rows), rows)
    expect_equal('with two jobs', texts[1], texts[0])
    expect(re.search(r'^short known: 20 of 20 reach$', texts[0], re.M), texts[0])
    expect(re.search(r'^  round trips more +0.\d+ \(0.\d+\.\.0.\d+\) ', texts[0], re.M),
           texts[0])
    expect_equal('what is wanted', re.findall(r'^(\w+) +short ', texts[0], re.M), ['ok'] * 4)


def class_once(program, folder):
    """A question has no chance in it and is asked once, whatever the offsets."""
    first, second = (drawn.cases_of(Draws(offset, first=offset == 5), 'class')
                     for offset in (5, 6))
    expect_equal('of the first and second offset', (len(first), len(second)), (25, 0))


def cases():
    yield Case('who is told', True, told)
    yield Case('who misses', True, missed)
    yield Case('bounds', True, worse)
    yield Case('the table of bounds', True, table)
    yield Case('every bar, quickly', True, quick)
    for name, function in (('draws', draws), ('ports', ports), ('in our place', in_our_place),
                           ('judged', judged), ('distributions', distributions),
                           ('questions once', class_once), ('the program', chance)):
        yield Case(f'drawn: {name}', True, function)
    for args, status, said in (
            (('--only', '99'), USAGE, "'99' is no bar of bar01-hosts, bar01-line, "),
            (('--drawn', '3-2'), USAGE, "'3-2' is no offset, as 7, or offsets, as 0-9"),
            (('--drawn', '0', '--only', 'b'), USAGE, "'b' is no family of single, flows, "),
            (('--drawn', '0', '--only', 'tcps', '--port1'), USAGE, 'has several senders'),
            (('--drawn', '0', '--only', 'short', '--profile', 'bbr'), USAGE, 'a TCP has none'),
            (('--drawn', '0', '--quick'), USAGE, '--quick is of the bars'),
            (('--port1',), USAGE, '--port1 is of --drawn'),
            (('--jobs', '0'), USAGE, "'0' is no positive number"),
            (('--only', '1', '--profile', 'no'), FAILED, "agent = 'no' is not one of"),
            (('--only', '1', '--set', 'x'), FAILED, 'SECTION.KEY=VALUE'),
            (('--binary', '{folder}/none'), MISSING, 'none is not there: tools/setup')):
        yield Case('wrong ' + ' '.join(args), True,
                   partial(wrong, args=args, status=status, said=said))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
