#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What is noted of transfers, at both ends, and what `wavehaul report` makes of it.

    report.py [--quick] [-k PATTERN] [--binary PATH]
"""

import csv
import io
import json
import re
import sys
import time
from pathlib import Path

from harness import (Case, expect, expect_between, expect_equal, expect_said, expect_status,
                     run_cases)
from pair import CLIENT, Pair, remote, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE, PARTIAL = 0, 2, 23

SUMS = ('transfers', 'failed', 'files', 'bytes', 'moved_bytes', 'pkts', 'lost_pkts')
HOSTILE = '=esc\x1b[2J"<b>'


def report(program, state, *options):
    result = program.run('report', '--json', '--state', state, *options)
    expect_status(result, OK)
    return json.loads(result.out)


def transfers(program, state, *options):
    """The oldest first."""
    return report(program, state, '--by', 'transfer', *options)['transfers'][::-1]


def noted(program, folder):
    """Both ends and the client's report tell the same, with and without a server."""
    here, there = folder / 'here', folder / 'there'
    (folder / 'a').write_bytes(b'x' * 3_000_001)
    (folder / 'b').write_bytes(b'y' * 1_000)
    (folder / HOSTILE).write_bytes(b'z' * 10)
    began = time.time()
    with Pair(program, folder, server=('--state', there)) as pair:
        runs = [pair.run('send', folder / 'a', folder / 'b', remote('in/'), '--json', '--state',
                         here),
                pair.run('send', '--parallel', '2', folder / 'a', folder / 'b', remote('more/'),
                         '--json', '--state', here),
                pair.run('get', remote('in/a'), folder / 'back', '--json', '--state', here),
                pair.run('send', folder / HOSTILE, remote(HOSTILE), '--json', '--state', here),
                pair.run('get', remote('nothing'), folder / 'none', '--json', '--state', here)]
        reports = [json.loads(result.out) for result in runs]
        wait_until(lambda: len(transfers(program, there)) == 5, 5, 'five transfers')
        served, own = transfers(program, there), transfers(program, here)
        agree(program, there, served)
        check_log(pair.said())
        pair.stop_server()
    expect_equal('without a server', transfers(program, there), served)
    for run, mine, theirs in zip(reports, own, served, strict=True):
        expect_equal('bytes', (mine['bytes'], theirs['bytes']), (run['bytes'], run['bytes']))
        expect_equal('files', (mine['files'], theirs['files']), (run['files'], run['files']))
        expect_equal('exit status', mine['exit_status'], run['exit_status'])
        expect_equal('verb', (mine['verb'], theirs['verb']), (run['verb'], run['verb']))
        expect_equal('sides', (mine['side'], theirs['side']), ('client', 'served'))
        expect_equal('lanes', mine['lanes'], theirs['lanes'])
        expect_equal('peer', theirs['peer'], CLIENT)
        expect(re.fullmatch('sha256:[0-9a-f]{64}', theirs['identity']), theirs['identity'])
        expect_equal('who', mine['fingerprint'], run['sealed']['fingerprint'])
        expect_equal('moved', mine['moved_bytes'], run['moved_bytes'])
        expect_between('when', time_of(mine['ended']), int(began), time.time() + 1)
    expect_equal('bytes of all', [run['bytes'] for run in reports[:4]],
                 [3_001_001, 3_001_001, 3_000_001, 10])
    digests = [entry['digest'] for entry in own]
    expect(re.fullmatch('[0-9a-f]{32}', digests[2]), f'of one large file: {digests}')
    expect_equal('digests', (digests, digests[:2]),
                 ([entry['digest'] for entry in served], [None, None]))
    expect(own[4]['outcome'] != 'ok' and served[4]['failed'] + len(served[4]['why'] or '') > 0,
           f'{own[4]} {served[4]}')
    expect_equal('a name', served[3]['path'], HOSTILE)
    expect_equal('limits', [entry['limited_by'] is None for entry in own[:3]],
                 [False, False, True])


def time_of(text):
    expect(re.fullmatch(r'20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', text), text)
    return time.mktime(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S')) - time.timezone


def check_log(said):
    lines = [line for line in said.splitlines() if re.match(r'wavehaul: 20\d\d-\S+Z ', line)]
    row = rf'{CLIENT} send in/ \(first: [ab]\): 2 files, .* ok$'
    expect(any(re.search(row, line) for line in lines), said)
    expect(any(re.search('get nothing', line) for line in lines), said)
    expect(any(re.search('get in/a: .* xxh3-128 [0-9a-f]{32}: ok$', line) for line in lines), said)
    expect('\x1b' not in said, 'an escape in the log')


def agree(program, state, entries):
    """Sums, CSV, table and picture are of these."""
    for by in ('day', 'peer', 'user', 'verb', 'outcome'):
        told = report(program, state, '--by', by)
        expect_equal(f'transfers by {by}', sum(row['transfers'] for row in told['rows']),
                     len(entries))
        for key in ('bytes', 'files', 'moved_bytes', 'pkts', 'lost_pkts'):
            expect_equal(f'{key} by {by}', sum(row[key] for row in told['rows']),
                         sum(entry[key] for entry in entries))
            expect_equal(f'{key} of all', told['all'][key], sum(e[key] for e in entries))
        text = program.run('report', '--by', by, '--csv', '--state', state).out
        rows = list(csv.DictReader(io.StringIO(text, newline='')))
        expect_equal(f'CSV by {by}', [[row[by], *(int(row[key]) for key in SUMS)] for row in rows],
                     [[row[by], *(row[key] for key in SUMS)] for row in told['rows']])
    verbs = {row['verb']: row for row in report(program, state, '--by', 'verb')['rows']}
    expect_equal('verbs', {name: row['transfers'] for name, row in verbs.items()},
                 {'send': 3, 'get': 2})
    text = program.run('report', '--by', 'transfer', '--csv', '--state', state).out
    rows = list(csv.DictReader(io.StringIO(text, newline='')))
    expect_equal('CSV', [int(row['bytes']) for row in rows],
                 [entry['bytes'] for entry in entries[::-1]])
    expect(rows[1]['path'].startswith("'="), f'a formula: {rows[1]["path"]}')
    drawn = state / 'sums.svg'
    expect_status(program.run('report', '--by', 'peer', '--plot', drawn, '--state', state), OK)
    bars = [int(n) for n in re.findall(r'data-bytes="(\d+)"', drawn.read_text())]
    expect_equal('bars', sum(bars), sum(entry['bytes'] for entry in entries))
    table = program.run('report', '--by', 'transfer', '--state', state).out
    expect_equal('lines', len(table.splitlines()), 1 + len(entries))
    expect_equal('of tomorrow', transfers(program, state, '--until', '1d'), [])
    expect_equal('of the last hour', len(transfers(program, state, '--since', '1h')), 5)


def nothing(program, folder):
    """--keep-records 0s; invalid arguments; an invalid database."""
    state = folder / 'state'
    (folder / 'a').write_bytes(b'x' * 1000)
    with Pair(program, folder, server=('--state', state, '--keep-records', '0s')) as pair:
        expect_status(pair.run('send', folder / 'a', remote('a'), '--state', folder / 'own',
                               '--keep-records', '0s'), OK)
        pair.stop_server()
    for place in (state, folder / 'own', folder / 'nowhere'):
        expect_equal('transfers', transfers(program, place), [])
    for words in (('--by', 'x'), ('--json', '--csv'), ('x',), ('--since', 'x'),
                  ('--by', 'transfer', '--plot', 'x')):
        expect_status(program.run('report', '--state', state, *words), USAGE)
    (folder / 'damaged').mkdir()
    (folder / 'damaged' / 'service.db').write_bytes(b'no database' * 1000)
    result = program.run('report', '--state', folder / 'damaged')
    expect_status(result, 1)
    expect_said(result, 'cannot be read')


CASES = [
    Case('report: what was transferred, at both ends, in each form', True, noted),
    Case('report: nothing is noted, and what cannot be read', True, nothing),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
