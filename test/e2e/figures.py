#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""tools/figures: the quick page with its numbers, what is compared with what, and what is refused.

    figures.py [-k PATTERN] [--binary PATH] [--quick]
"""

import configparser
import functools
import importlib
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import Case, Skip, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
SCENARIOS = TOP / 'config/scenarios'
LIMIT_S = 300

sys.path.insert(0, str(TOP / 'tools'))

from figureslib import colours, mutations, page, published, remarks, tolerance
from figureslib.results import Absent, Result
from figureslib.runs import Run

PAPERS = {name: published.load(SCENARIOS / f'published/{name}.json')
          for name in ('udt', 'ttp', 'lambda', 'sttp', 'pxp')}
# Charts on the page of a paper at --quick size, and a few words of the way to read it.
CHARTS = {'udt': 19, 'ttp': 7, 'lambda': 9, 'sttp': 5, 'pxp': 11}
# By a program of its own, no scenario (figureslib/ttp.py, PROGRAMS).
MEASURED = {'ttp-fig03'}
READING = {'udt': 'an entry of a table, or a statement with a number',
           'ttp': 'the paper has no tables; a statement with a number',
           'lambda': 'the paper has no tables; a statement with a number',
           'sttp': 'an entry of a table, or a statement with a number',
           'pxp': 'the paper has no tables; a statement with a number'}

OK, USAGE, MISSING, EXPECTATION = 0, 2, 7, 8


def figures(*args, environment=None):
    return subprocess.run([TOP / 'tools/figures', *map(str, args)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env=os.environ | (environment or {}))


def has_matplotlib():
    """Debian's Python is the one that tools/figures runs in."""
    found = subprocess.run(['/usr/bin/python3', '-c', 'import matplotlib'], check=False,
                           stderr=subprocess.DEVNULL)
    return found.returncode == 0


def need_matplotlib():
    if not has_matplotlib():
        raise Skip('no matplotlib: tools/figures --setup installs it')


@functools.cache
def quick_run(binary, paper):
    """(the run, its folder), once for all cases."""
    need_matplotlib()
    folder = tempfile.TemporaryDirectory(prefix='wavehaul-figures-')
    return figures('--paper', paper, '--quick', '--binary', binary, '--output', folder.name,
                   '--jobs', 2), folder


def page_of(program, paper='udt'):
    ran, folder = quick_run(program.binary, paper)
    expect(ran.returncode in (OK, EXPECTATION), f'exit status {ran.returncode}: {ran.stderr}')
    name = 'index.html' if paper == 'udt' else f'{paper}.html'
    return (Path(folder.name) / name).read_text(encoding='utf-8')


def page_is_whole(program, folder, paper):
    text = page_of(program, paper)
    expect(re.search(r'id="score"><strong>[0-9]+ of [0-9]+ statements', text), 'no score')
    for part in PAPERS[paper]['parts']:
        expect(f'<h2 id="{part["id"]}">' in text, f'no section for {part["name"]}')
    expect_equal('charts', text.count('<svg'), CHARTS[paper])
    expect(READING[paper] in text, 'it is not told how to read this paper\'s page')
    expect('src=' not in text and 'href="http' not in text.replace('href="http://www.w3.org', ''),
           'the page needs something besides itself')
    ids = re.findall(r'\bid="([^"]+)"', text)
    expect_equal('ids that stand twice', sorted({i for i in ids if ids.count(i) > 1}), [])


def page_has_numbers(program, folder):
    """Table 1 at x = 20 Mb/s: AB and AC, published, ours, and the difference of the two."""
    text = page_of(program)
    section = text[text.index('id="table1"'):text.index('id="table3"')]
    cells = re.search(r'<tr><td>20</td>(.*?)</tr>', section).group(1)
    values = re.findall(r'(-?\+?[\d.]+)(?: %)?</', cells)
    expect_equal('cells', len(values), 6)
    for place, value in ((0, 170.9), (3, 19.88)):
        shown, ours, percent = map(float, values[place:place + 3])
        expect(math.isclose(shown, round(value, 1), abs_tol=0.06), f'published: {shown}')
        expect(math.isclose(percent, 100 * (ours / value - 1), abs_tol=0.4),
               f'{ours} of {value} is not {percent} %')
    expect('columns of the table beyond this run' in section, 'what quick leaves out is not told')


def sections_of(text):
    """{id: HTML without charts}, of the parts of a page."""
    plain = re.sub(r'<svg.*?</svg>', '', text, flags=re.S)
    pieces = re.split(r'<h2 id="([^"]+)">', plain)
    return dict(zip(pieces[1::2], pieces[2::2]))


def no_row_of_dashes(program, folder, paper):
    text = re.sub(r'<svg.*?</svg>', '', page_of(program, paper), flags=re.S)
    for row in re.findall(r'<tr>(.*?)</tr>', text, re.S):
        cells = [re.sub('<.*?>', '', cell) for cell in re.findall(r'<td>(.*?)</td>', row, re.S)]
        expect(cells.count('-') < 2 and (not cells or any(cells[1:])),
               f'a row that says nothing: {cells}')


def red_is_explained(program, folder, paper):
    """Beside whatever is not as the paper has it a paragraph says why."""
    for part, text in sections_of(page_of(program, paper)).items():
        red = re.findall(r'<span class="bad">(.*?)</span>', text)
        expect(not red or 'class="remark"' in text, f'{part} has {red} and no word about it')


def expectations_hold(program, folder, paper):
    ran, _ = quick_run(program.binary, paper)
    expect_equal('exit status', (ran.returncode, ran.stderr if ran.returncode else ''), (OK, ''))


def drawn_with(program, folder, name, change, *how):
    """The page drawn again of one scenario's results, in which something was changed."""
    _, made = quick_run(program.binary, 'udt')
    (folder / 'udt').mkdir()
    data = json.loads((Path(made.name) / f'udt/{name}.json').read_text(encoding='utf-8'))
    change(data['points'][0])
    (folder / f'udt/{name}.json').write_text(json.dumps(data), encoding='utf-8')
    ran = figures('--draw', *how, '--output', folder)
    return ran, (folder / 'index.html').read_text(encoding='utf-8')


def broken_is_told(program, folder):
    def break_one(point):
        point['expect'][0]['ok'] = False

    ran, text = drawn_with(program, folder, 'udt-fig16', break_one, '--quick')
    expect_equal('exit status', ran.returncode, EXPECTATION)
    expect('udt-fig16 at' in ran.stderr and 'efficient' in ran.stderr, ran.stderr)
    expect('Not as it should be' in text and 'udt-fig16 at' in text, 'the page is silent')


def unexplained_is_told(program, folder):
    """
    Table 2: no paragraph covers 2 instead of 4.78 Mb/s for flow 6. That of flow 5 says why it has
    more than the paper's 50.8, and nothing of 20.
    """
    def slow_down(point):
        point['report'] |= {'5': 20e6, '6': 2e6}

    ran, text = drawn_with(program, folder, 'udt-fig08', slow_down)
    expect_equal('exit status', ran.returncode, EXPECTATION)
    for told in ('throughput at 6 is not as printed, and no remark says why',
                 'throughput at 5 is not as printed, and is worse than its remark says: 20, held '
                 'to 50.8 to 60'):
        expect(told in ran.stderr, ran.stderr)
    expect('-60.6 %' in text, 'the difference of 20 to 50.8')
    expect('nobody has found out why: throughput at 5; throughput at 6' in text, 'the paragraph')
    expect('what flow 4 leaves' not in text, 'a paragraph on flow 5 that is not true of 20 Mb/s')


def without_matplotlib(program, folder):
    (folder / 'matplotlib.py').write_text('raise ImportError\n', encoding='utf-8')
    ran = figures('--draw', '--output', folder, environment={'PYTHONPATH': str(folder)})
    expect_equal('exit status', ran.returncode, MISSING)
    expect('--setup' in ran.stderr, ran.stderr)


def wrong_arguments(program, folder):
    need_matplotlib()
    for words in (('--only', 'udt-fig99', '--draw'), ('--jobs', '0'), ('--paper', 'psst'), ('x',)):
        ran = figures(*words, '--output', folder)
        expect_equal(f'exit status of {words}', ran.returncode, USAGE)


def result(*points):
    return Result({'title': '', 'ok': True, 'points': [
        {'sweep': sweep, 'report': report, 'ok': True, 'expect': expect_, 'runs': []}
        for sweep, report, expect_ in points]})


TWO = {'s': result(({'x': 1e6, 'w': 'on'}, {'AB': 9e6}, [{'label': 'l', 'ok': True}]),
                   ({'x': 2e6, 'w': 'on'}, {'AB': 33e6}, [{'label': 'l', 'ok': False}]),
                   ({'x': 1e6, 'w': 'off'}, {'AB': 3e6}, []),
                   ({'x': 2e6, 'w': 'off'}, {'AB': 6e6}, []))}


def numbers_are_compared(program, folder):
    ours = {'scenario': 's', 'report': 'AB', 'at': {'x': 1e6, 'w': 'on'}, 'factor': 1e-6}
    for sense, value, holds in (('about', 10, True), ('about', 8, False), ('at least', 9, True),
                                ('at least', 9.1, False), ('at most', 9, True),
                                ('at most', 8.9, False)):
        verdict = published.verdict(TOP, TWO, {'value': value, 'sense': sense, 'ours': ours})
        expect_equal(f'{sense} {value}', verdict.holds, holds)
        expect(math.isclose(verdict.difference, 9 / value - 1), str(verdict))
    # on over off is 3 at x = 1 and 5.5 at x = 2.
    over = {'scenario': 's', 'report': 'AB', 'at': {'w': 'on'}, 'over': {'w': 'off'}}
    for pick, value in (('least', 3.0), ('most', 5.5)):
        expect_equal(pick, published.ours_of(TOP, TWO, over | {'pick': pick}), [value])
    verdict = published.verdict(TOP, TWO, {'expect': {'s': ['l']}})
    expect_equal('an expectation that fails once', (verdict.holds, verdict.note),
                 (False, 'holds at 1 of 2 points'))


def each_point_counts(program, folder):
    """3 and 5.5: no mean hides one of them, and "mostly" is more than half."""
    ours = {'scenario': 's', 'report': 'AB', 'at': {'w': 'on'}, 'over': {'w': 'off'}}
    note = 'holds at 1 of 2 points: 3, 5.5'
    for more, shown, holds in (({}, 3.0, False), ({'mostly': True}, 4.25, False),
                               ({'bound': 3}, 3.0, True), ({'sense': 'at most'}, 5.5, False)):
        claim = {'bound': 4, 'sense': 'at least', 'ours': ours} | more
        verdict = published.verdict(TOP, TWO, claim)
        expect_equal(f'{more}', (verdict.ours, verdict.holds), (shown, holds))
        expect('bound' in more or note in verdict.note, verdict.note)
    expect('mean' not in published.PICKS, 'a mean is counted')


def as_printed(program, folder):
    """By the kind of figure; two flows at 2:1 or 3:2 are not as fair as 0.99."""
    for kind, ours, wanted, holds in (
            ('measured', 109, 100, True), ('measured', 111, 100, False),
            ('computed', 102, 100, True), ('computed', 103, 100, False),
            ('index', 0.97, 0.99, True), ('index', 25 / 26, 0.99, False),
            ('index', 9 / 10, 0.99, False), ('measured', math.nan, 100, False),
            ('measured', 0, 0, True), ('measured', 1, 0, False)):
        expect_equal(f'{kind}, {ours} of {wanted}',
                     tolerance.as_printed(tolerance.KINDS[kind], ours, wanted), holds)


def what_is_absent_is_unknown(program, folder):
    for more in ({'at': {'x': 3e6}}, {'at': {'w': 'on'}, 'over': {'w': 'half'}}):
        ours = {'scenario': 's', 'report': 'AB'} | more
        verdict = published.verdict(TOP, TWO, {'value': 1, 'ours': ours})
        expect_equal(f'with {more}', (verdict.holds, verdict.ours), (None, None))
    try:
        TWO['s'].points[0].number('CD')
    except Absent:
        return
    expect(False, 'a report that is not there has a number')


def tables_are_compared(program, folder):
    table = {'scenario': 's', 'at': {'w': 'on'}, 'column': 'x', 'factor': 1e-6, 'unit': 'Mb/s',
             'columns': [1, 2, 3], 'rows': {'AB': [10, 29, 1]}}
    found = list(published.entries(TWO, table))
    expect_equal('entries', [(e.column, e.ours, e.within) for e in found],
                 [(1, 9.0, True), (2, 33.0, False)])
    expect('+13.8 %' in page.entries_table(table, found), 'the difference of 33 to 29')
    for value, text in ((0.0752, '0.0752'), (170.93, '170.9'), (5, '5'), (0, '0'), (1500, '1500'),
                        (float('nan'), '-'), (1.5e-6, '1.50e-06')):
        expect_equal(f'{value} in words', page.number(value), text)


def statements_are_counted(program, folder):
    """Those that hold, of those that were judged; what was put in, or is beyond a run, apart."""
    ours = {'scenario': 's', 'report': 'AB', 'at': {'x': 1e6, 'w': 'on'}, 'factor': 1e-6}
    source = {'constant': 'SYN_US', 'file': 'lib/profile/udt.c'}
    claims = [{'value': 9, 'ours': ours}, {'value': 12, 'ours': ours},
              {'value': 9, 'ours': ours | {'scenario': 'other'}},
              {'value': 10000, 'ours': source}, {'expect': {'s': ['l']}},
              {'value': 9, 'given': 'the scenario has it', 'ours': ours},
              {'value': 1, 'why not': 'nobody knows'}]
    verdicts = [(claim, published.verdict(TOP, TWO, claim)) for claim in claims]
    expect_equal('score', published.score(verdicts).in_words(),
                 '1 of 3 statements of the paper hold as printed (33 %), and 2 were put in and are '
                 'not counted; 1 more are beyond this run; 1 are beyond any simulation.')


def what_held_is_kept(program, folder):
    """A statement that holds no more is a fault, unless this machine's speed decides on it."""
    ours = {'scenario': 's', 'report': 'AB', 'at': {'x': 1e6, 'w': 'on'}, 'factor': 1e-6}
    verdicts = [(claim, published.verdict(TOP, TWO, claim))
                for claim in ({'value': 9, 'ours': ours}, {'value': 12, 'ours': ours})]
    for whole, quick, size, measured, faults in (
            (1, 0, False, (), 0), (2, 0, False, (), 1), (0, 1, True, (), 0), (0, 2, True, (), 1),
            (1, 0, False, ('s',), 1), (0, 0, False, ('s',), 0)):
        described = {'holds': {'whole': whole, 'quick': quick}}
        found = list(published.too_few(described, verdicts, measured, size))
        expect_equal(f'{whole}, {quick}, {size}, {measured}', len(found), faults)


def docs_have_the_counts(program, folder):
    """docs/papers.md: what held in whole runs, of how many, and what was put in."""
    text = (TOP / 'docs/papers.md').read_text(encoding='utf-8')
    total = [0, 0, 0]
    for name, described in PAPERS.items():
        claims = [claim for part in described['parts'] for claim in part['claims']
                  if claim.get('ours', {}).get('scenario') not in MEASURED]
        given = sum(published.why_given(claim) is not None for claim in claims)
        beyond = sum('why not' in claim for claim in claims)
        counts = described['holds']['whole'], len(claims) - given - beyond, given
        total = [one + more for one, more in zip(total, counts)]
        row = '| `{}` | {} of {} | {} |'.format(described['paper'], *counts)
        expect(row in text, f'{name}: no row {row}')
    expect('| all | {} of {} | {} |'.format(*total) in text, f'no row of all: {total}')
    expect(total[0] >= 200, f'{total[0]} statements hold')


def green_rows_are_told(program, folder):
    """A row that a rule does not decide, and one that does not hold with it."""
    ours = {'scenario': 's', 'report': 'AB', 'at': {'x': 1e6, 'w': 'on'}, 'factor': 1e-6}
    described = {'parts': [{'id': 'p', 'claims': [
        {'says': 'nine', 'value': 9, 'ours': ours}, {'says': 'three', 'value': 3, 'ours': ours},
        {'says': 'any', 'bound': 0, 'sense': 'at least', 'ours': ours}]}]}
    one = mutations.Mutation('r', 's', (), ('off',), 'p', ('nine', 'three', 'any', 'gone'))
    slow = {'s': result(({'x': 1e6, 'w': 'on'}, {'AB': 3e6}, []))}
    runs = {Run('s', 1, ()): TWO['s'], Run('s', 1, ('off',)): slow['s']}
    (_, faults), = mutations.judged(TOP, described, (one,), runs)
    expect_equal('faults', sorted(faults), [
        '"any" holds without the rule', '"gone" does not hold with the rule',
        '"three" does not hold with the rule', '"three" holds without the rule'])


def rules_turn_rows_red(program, folder):
    ran = figures('--mutate', '--binary', program.binary, '--jobs', 2)
    expect_equal('exit status', (ran.returncode, ran.stderr), (OK, ''))
    for paper in PAPERS:
        expect(ran.stdout.count(f'{paper} ') >= 2, f'no two rules of {paper}: {ran.stdout}')


def remarks_are_held(program, folder):
    """What is off is a fault without a remark, and with one that says it is nearer than that."""
    held = {('AC', 1): (0.8, None), 'words': (2, 3), 'many': (None, 9)}
    mine = [remarks.Remark('p', held, ('s',), None)]
    for what, ours, fault in ((('AC', 1), 0.8, None),
                              (('AC', 1), 0.79, '0.79, held to at least 0.8'),
                              ('words', 2.5, None), ('words', 3.5, '3.5, held to 2 to 3'),
                              ('words', None, 'nothing, held to 2 to 3'), ('many', 9, None),
                              ('many', 9.1, '9.1, held to at most 9'),
                              ('others', 1, 'no remark says why')):
        found = list(remarks.faults_of({what: ours}, mine))
        expect_equal(f'faults of {what} with {ours}', len(found), 0 if fault is None else 1)
        expect(fault is None or fault in found[0], f'{what} with {ours}: {found}')


def remarks_are_whole(program, folder, paper):
    """Each is on something of its part, with a bound, and by scenarios that are run for it."""
    module = importlib.import_module(f'figureslib.{paper}_remarks')
    parts = {part['id']: part for part in PAPERS[paper]['parts']}
    for remark in module.REMARKS:
        part = parts[remark.part]
        table = part.get('table', {'rows': {}, 'columns': ()})
        known = {claim['says'] for claim in part['claims']} | set(
            itertools.product(table['rows'], table['columns']))
        expect_equal(f'{part["name"]}: what is not there', set(remark.held) - known, set())
        expect(remark.experiments, f'{part["name"]}: a remark without an experiment')
        expect_equal(f'{part["name"]}: experiments of other parts',
                     set(remark.experiments) - set(part['scenarios']), set())
        for what, bounds in remark.held.items():
            expect(any(one is not None for one in bounds), f'{what} is not held')


def expected_labels(name):
    text = (SCENARIOS / f'{name}.ini').read_text(encoding='utf-8')
    body = re.search(r'^\[expect\]\n(.*?)(?=^\[|\Z)', text, re.M | re.S)
    return {line.split('=')[0].strip() for line in body.group(1).splitlines() if '=' in line}


def ten_colours(program, folder):
    """Any two of ten flows are told apart, by eyes of every kind, and seen on white."""
    expect_equal('colours', len(set(colours.COLOURS)), 10)
    for eyes in colours.EYES:
        for one, other in itertools.combinations(colours.COLOURS, 2):
            distance = colours.apart(one, other, eyes)
            expect(distance > (45 if eyes == 'usual' else 30),
                   f'{one} and {other} are {distance:.1f} apart for {eyes} eyes')
    for colour in colours.COLOURS:
        expect(colours.contrast_to_white(colour) > 2.4, f'{colour} is faint on white')
    # Known from elsewhere: CIE values of sRGB's green, and red like green to who has no M cones.
    for ours, known in zip(colours.lab('#00ff00', 'usual'), (87.73, -86.18, 83.18)):
        expect(math.isclose(ours, known, abs_tol=0.05), f'{ours} is not {known}')
    expect(colours.apart('#b08000', '#70a000', 'usual') > 40, 'ochre and green are no pair')
    expect(colours.apart('#b08000', '#70a000', 'deuteranopia') < 15, 'ochre and green are apart')


def claims_are_complete(program, folder, paper):
    """Each has its place and what is to be set beside it, by a scenario and label that exist."""
    for part in PAPERS[paper]['parts']:
        for claim in part['claims']:
            expect(claim['place'] and claim['says'], f'{part["name"]}: {claim}')
            expect_equal(f'{claim["says"]}: ways to judge it',
                         sum(key in claim for key in ('ours', 'expect', 'why not')), 1)
            for name, labels in claim.get('expect', {}).items():
                expect_equal(f'{name}: unknown labels', set(labels) - expected_labels(name), set())
            expect(claim.get('kind', 'measured') in tolerance.KINDS, f'{claim["says"]}: its kind')
            expect_equal(f'{claim["says"]}: an index of fairness is of that kind',
                         claim.get('kind') == 'index',
                         "Jain's index" in claim['says'] and 'value' in claim)
            ours = claim.get('ours', {})
            if ours and 'scenario' not in ours:
                verdict = published.verdict(TOP, {}, claim)
                expect(verdict.holds, f'{claim["says"]}: {verdict}')
            elif ours and ours['scenario'] not in MEASURED:
                text = (SCENARIOS / f'{ours["scenario"]}.ini').read_text(encoding='utf-8')
                wanted = (f'[flow {ours["samples"]["flow"]}]' if 'samples' in ours else
                          f'{ours["report"]} = ')
                expect(re.search(rf'^{re.escape(wanted)}', text, re.M), f'no {wanted}')


def max_min_shares(capacities, ways):
    """By filling: the tightest link fixes its flows' shares, again and again."""
    left, shares = dict(capacities), {}
    while len(shares) < len(ways):
        users = {link: [f for f in ways if f not in shares and link in ways[f]] for link in left}
        share, link = min((left[k] / len(users[k]), k) for k in left if users[k])
        for flow in users[link]:
            shares[flow] = share
            for passed in ways[flow]:
                left[passed] -= share
    return shares


def chain_explains_table_2(program, folder):
    scenario = configparser.ConfigParser()
    scenario.read(SCENARIOS / 'udt-fig08.ini')
    capacities, ways = {}, {}
    for name in scenario.sections():
        kind, _, rest = name.partition(' ')
        if kind == 'link':
            rate = float(scenario[name]['rate'].removesuffix('M'))
            capacities |= {link[0]: rate for link in rest.split(', ')}
        elif kind == 'flow':
            ends = scenario[name]['from'], scenario[name]['to']
            ways[rest] = [node for node in 'ABCDEF' if ends[0] <= node < ends[1]]
    shares = max_min_shares(capacities, ways)
    expect_equal('max-min shares', [shares[f'f{n}'] for n in range(1, 7)], [90, 90, 5, 45, 50, 5])
    table = next(p['table'] for p in PAPERS['udt']['parts'] if p['id'] == 'table2')
    worst = max(abs(table['rows']['throughput'][n] / shares[f'f{n + 1}'] - 1) for n in range(6))
    expect(worst < 0.076, f'{worst:.3f} from the table')


def of_papers():
    for name, quick, function in (('claims are complete', True, claims_are_complete),
                                  ('remarks are whole', True, remarks_are_whole),
                                  ('the page is whole', False, page_is_whole),
                                  ('no row says nothing', False, no_row_of_dashes),
                                  ('what is red is explained', False, red_is_explained),
                                  ('all expectations hold', False, expectations_hold)):
        for paper in PAPERS:
            yield Case(f'{name}, {paper}', quick, functools.partial(function, paper=paper))


CASES = [
    Case('numbers are compared', True, numbers_are_compared),
    Case('each point counts', True, each_point_counts),
    Case('as printed', True, as_printed),
    Case('what is absent is unknown', True, what_is_absent_is_unknown),
    Case('tables are compared', True, tables_are_compared),
    Case('statements are counted', True, statements_are_counted),
    Case('what held is kept', True, what_held_is_kept),
    Case('docs have the counts', True, docs_have_the_counts),
    Case('rows that stay green are told', True, green_rows_are_told),
    Case('rules turn rows red', False, rules_turn_rows_red),
    Case('remarks are held', True, remarks_are_held),
    Case('ten colours', True, ten_colours),
    Case('the chain explains Table 2', True, chain_explains_table_2),
    Case('wrong arguments', True, wrong_arguments),
    Case('without matplotlib', True, without_matplotlib),
    Case('the page has the numbers', False, page_has_numbers),
    Case('a broken expectation is told', False, broken_is_told),
    Case('an unexplained entry is told', False, unexplained_is_told),
    *of_papers(),
]


if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
