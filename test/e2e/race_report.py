#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What tools/race makes of its runs: table, JSON and picture, from runs that are written here.

    race_report.py [-k PATTERN] [--binary PATH]
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import Case, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
sys.path.insert(0, str(TOP / 'tools'))

from racelib import bars, report  # noqa: E402

TOLD = {'date': '2026-01-01 00:00 UTC', 'rate_bps': 1e9, 'asked_bps': 1e9, 'rtt_s': 0.1,
        'queue_bdp': 1.0, 'seconds': 15, 'losses': [0, 1e-2], 'ends_cpu': 0, 'path_cpu': 1,
        'machine': 'a <machine>'}
SKIPPED = [('SRT', 'srt-tools is not installed (--setup)')]


def run(name, loss, bps, **more):
    return {'name': name, 'loss': loss, 'bps': bps, 'beside': None, 'beside_bps': None,
            'own_dropped_pkts': 0, 'late_pkts': 0, 'failure': None} | more


RUNS = [run('kernel cubic', 0, 912.3e6), run('kernel cubic', 1e-2, 1.734e6),
        run('wavehaul <x>', 0, 45.678e6, own_dropped_pkts=7),
        run('wavehaul <x>', 1e-2, None, failure='it said no'),
        run('wavehaul <x>', 0, 400e6, beside='kernel bbr', beside_bps=511e6)]


def table(_program, _folder):
    lines = [line.split() for line in report.text(TOLD, RUNS, SKIPPED)]
    text = '\n'.join(report.text(TOLD, RUNS, SKIPPED))
    expect(['kernel', 'cubic', '912', '1.73'] in lines, text)
    expect(['wavehaul', '<x>', '45.7*', 'failed'] in lines, text)
    expect(['wavehaul', '<x>', '400', 'kernel', 'bbr', '511'] in lines, text)
    expect('The line carries 941 Mb/s' in text, text)
    expect('Both ends share CPU 0, the path has CPU 1; a <machine>.' in text, text)
    expect('wavehaul <x>, loss 0.01: it said no' in text, text)
    expect('SRT: srt-tools is not installed' in text, text)


def slow_machine(_program, _folder):
    text = '\n'.join(report.text(TOLD | {'asked_bps': 2e9}, RUNS, SKIPPED))
    expect('2000 Mb/s were asked for' in text, text)
    expect('1000 Mb/s, round trip 100 ms' in text, text)


def bar_rows(_program, _folder):
    """Each bar by the runs that it names; what a failed run leaves open is no success."""
    runs = [run(bars.LAMBDA, 1e-4, 0.9 * 915e6), run('kernel cubic', 0, 800e6),
            run(bars.LAMBDA, 0, 300e6, beside='kernel cubic', beside_bps=450e6),
            run('kernel cubic', 0, 500e6, beside='kernel cubic', beside_bps=400e6),
            run(bars.SCAVENGER, 0, 100e6, beside='kernel cubic', beside_bps=780e6)]
    found = list(bars.rows(runs, 1e9))
    reached = {(row.bar, row.what): row.reached for row in found}
    for key, wanted in (((1, 'of the line, loss 0.0001'), 0.9),
                        ((7, 'kernel cubic keeps beside lambda'), 1),
                        ((7, 'of an equal share, beside kernel cubic'), 600 / 915),
                        ((8, 'kernel cubic keeps beside a scavenger'), 0.975)):
        expect(abs(reached[key] - wanted) < 1e-9, f'{key}: {reached[key]}')
    expect_equal('of a failed run', reached[8, 'of the line, a scavenger alone'], None)
    lines = list(bars.text(found))
    expect(lines[3].split()[-3:] == ['0.985', '0.900', 'short'], lines[3])
    expect(lines[-1].split()[-2:] == ['failed', 'short'], lines[-1])
    told = TOLD | {'bars': bars.as_data(found)}
    expect(lines[3] in report.text(told, runs, SKIPPED), 'the table is without its bars')
    planned = {race[:3] for race in bars.plan()}
    expect({(row['name'], row['beside'], row['loss']) for row in runs} <= planned, f'{planned}')


def as_json(_program, _folder):
    told = json.loads(report.as_json(TOLD, RUNS, SKIPPED))
    expect_equal('runs', told['runs'], RUNS)
    expect_equal('rate', told['rate_bps'], 1e9)
    expect_equal('who did not race', told['skipped'], [{'name': name, 'why': why}
                                                       for name, why in SKIPPED])


def picture(_program, _folder):
    found = ElementTree.fromstring(report.svg(TOLD, RUNS))
    name = '{http://www.w3.org/2000/svg}'
    words = [text.text for text in found.iter(f'{name}text')]
    for word in ('kernel cubic', 'wavehaul <x>', '912', '45.7*', 'loss 0.01'):
        expect(word in words, f'{word} is not in {words}')
    widths = {rect.get('width') for rect in found.iter(f'{name}rect')}
    span = report.WIDTH - 2 * report.MARGIN - report.NAME_WIDTH - report.VALUE_WIDTH
    expect(f'{span * 0.9123:.1f}' in widths, f'{widths}')


def cases():
    yield Case('table', True, table)
    yield Case('slow machine', True, slow_machine)
    yield Case('bars', True, bar_rows)
    yield Case('json', True, as_json)
    yield Case('picture', True, picture)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
