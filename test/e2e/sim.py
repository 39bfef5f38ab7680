#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios through the program itself: tables, JSON, CSV, exit status; and plans for a link.

    sim.py [--quick] [-k PATTERN] [--binary PATH] [--other PATH]

--other names a second build, whose CSV files must have the same bytes.
"""

import argparse
import csv
import functools
import json
import re
import signal
import sys
import textwrap
from pathlib import Path

from harness import (Case, Program, Skip, expect, expect_between, expect_equal, expect_said,
                     expect_status, run_cases)

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
OTHER = TOP / 'build/asan/app/wavehaul/wavehaul'
OK, USAGE, NO_SUCH_FILE, EXPECTATION, INTERRUPTED = 0, 2, 3, 8, 20

# 10 Mb/s are 833.3 packets of 1500 bytes a second.
SWEPT = '''
[scenario]
title = Constant bit rate into a link
duration = 4s
warmup = 2s
interval = 1s

[sweep]
rate = 5M, 10M, 20M
word : delay = near : 1ms, far : 100ms

[link A-B]
rate = 10M
delay = delay
queue = 100

[flow cbr]
agent = cbr
rate = rate
from = A
to = B

[report]
offered = rate / 10M
arrived = goodput(cbr, 3s, 4s)

[expect]
used = 0.999 * min(rate / 10M, 1) <= utilisation(A-B) <= 1.001 * min(rate / 10M, 1)
full = queue_max(A-B) == 99 when rate == 20M
far only = lost(A-B) == 0 when word == far
'''

# Twice what the link bears, and beside it two sources whose rates are 1 Mb/s and 3 Mb/s.
ASKED = '''
[scenario]
duration = 4s
warmup = 2s

[link A-B]
rate = 10M
queue = 100

[link C-D]
rate = 100M
delay = 10ms
queue = 100

[flow cbr]
agent = cbr
rate = 20M
from = A
to = B

[flow slow]
agent = cbr
rate = 1M
from = C
to = D

[flow quick]
agent = cbr
rate = 3M
from = C
to = D

[flow file]
agent = reno
count = 2
stagger = 1s
size = 14600
from = C
to = D

[flow endless]
agent = reno
window = 5
start = 3s
from = C
to = D

[flow coded]
agent = fixed
rate = 10M
fec = 32,4
chunk = 90112
size = 180224
from = C
to = D

[report]
'''

# Links that change, police, reorder and lose; and files one after the other.
CHANGING = '''
[scenario]
duration = 10s

[link A-B]
rate = 10M
rate_steps = 5M at 4s, 10M at 8s
delay = 1ms
delay_steps = 21ms at 6s
queue = 50
outage = 500ms at 9s

[link C-D]
rate = 100M
queue = 50
police = 20M
police_bucket = 150K

[link E-F]
rate = 100M
queue = 50
loss = 1%
loss_burst = 20

[link G-H]
rate = 100M
delay = 10ms
queue = 50
reorder = 3%
reorder_delay = 1ms

[flow step]
agent = cbr
rate = 20M
from = A
to = B

[flow policed]
agent = cbr
rate = 40M
from = C
to = D

[flow bursts]
agent = cbr
rate = 99M
from = E
to = F

[flow file]
agent = sack
size = 14600
count = 58
stagger = 150ms
stop = 9s
from = G
to = H

[flow fixed]
agent = fixed
rate = 50M
starts = 1s, 5s
stops = 3s, 7s
sender_skew = 100e-6
receiver_skew = -100e-6
from = G
to = H

[flow traced]
agent = newreno
trace = flows.txt
from = I
to = J

[link I-J]
rate = 10M
delay = 10ms
queue = 50

[report]
'''

# 12000 bits take 1.2 ms at 10 Mb/s; the queue is full, so that its rate is what arrives.
CHANGED = {
    'goodput(step, 1s, 4s)': (9.9e6, 10.1e6), 'goodput(step, 5s, 8s)': (4.9e6, 5.1e6),
    'goodput(step, 8.2s, 9s)': (9.9e6, 10.1e6), 'lost(A-B)': (415, 418),
    'holds(step, 9.8M, 400ms, 5s, 9s) / 1s': (2.9, 3.15),
    # Half of 40 Mb/s and, once, the bucket's 100 packets.
    'goodput(policed, 1s, 10s)': (19.9e6, 20.1e6), 'policed(C-D)': (16560, 16570),
    'drops(C-D)': (16560, 16570), 'queue_max(C-D)': (0, 1), 'lost(C-D)': (0, 0),
    # Some 41 bursts of 20, so that a third more or less is well within chance.
    'lost(E-F) / entered(E-F)': (0.005, 0.015),
    # Handshake and three round trips of 20 ms; each 150 ms one begins.
    'took(file) / 1ms': (60, 140), 'finished(file)': (58, 58), 'finish(file.1) / 1ms': (60, 140),
    'goodput(fixed.1, 1.5s, 3s)': (45e6, 47.5e6), 'goodput(fixed.2, 5.5s, 7s)': (45e6, 47.5e6),
    'goodput(fixed.1, 4s, 10s)': (0, 0), 'goodput(fixed.2, 0s, 5s)': (0, 0),
    # 3 % are overtaken, and sent again at once.
    'lost(G-H)': (0, 0), 'needless(fixed) / sent(fixed)': (0.024, 0.036),
    'finished(traced)': (2, 2), 'finish(traced.1) / 1s': (1.8, 2.6),
    'goodput(traced.2, 3s, 4s)': (8.5e6, 9.8e6), 'goodput(traced.2, 4.2s, 10s)': (0, 0),
    'goodput(traced.3, 0s, 5s)': (0, 0), 'goodput(traced.3, 6s, 10s)': (9.5e6, 9.8e6),
}

TRACE = """# start, size, stop
1s 1M -
2500ms - 4s  # its queue empties behind that

5s - -
"""

# 20 Mb/s are 1666.7 packets a second, half of which are dropped; a file is ten segments.
ANSWERS = {
    'goodput(slow)': (0.996e6, 1.002e6), 'goodput(slow, quick)': (3.984e6, 4.008e6),
    'goodput(file, 0s, 4s)': (2 * 14600 * 2, 2 * 14600 * 2),
    'throughput(file, 0s, 4s)': (2 * 10 * 1500 * 2, 2 * 10 * 1500 * 2),
    'throughput(file.2, 0s, 2s)': (60000, 60000), 'throughput(file.2, 0s, 1s)': (0, 0),
    'mean(slow, quick)': (1.992e6, 2.004e6), 'stddev(slow, quick)': (0.99e6, 1.01e6),
    'least(slow, quick)': (0.996e6, 1.002e6), 'most(slow, quick)': (2.988e6, 3.006e6),
    'jain(slow, quick)': (0.798, 0.802), 'jain(cbr)': (1, 1),
    'sent(cbr)': (3332, 3334), 'sent(cbr, 3s, 4s)': (1666, 1667), 'retransmitted(file)': (0, 0),
    'dropped(cbr)': (1666, 1668), 'drops(A-B)': (1666, 1668), 'entered(A-B)': (3332, 3334),
    'lost(A-B)': (0, 0), 'utilisation(A-B)': (1, 1), 'utilisation(B-A)': (0, 0),
    'utilisation(C-D, 2s, 3s)': (0.0398, 0.0402), 'queue_max(A-B)': (99, 99),
    'queue_mean(A-B)': (98.4, 99), 'finished(file)': (2, 2), 'finished(*)': (3, 3),
    'finish(file) / 1s': (1.06, 1.2),
    'finish(file.1) / 1s': (0.06, 0.2),
    # The queue is full: 98 or 99 packets of 1.2 ms are before a new one; C-D has none.
    'queue_delay(A-B, 50%) / 1ms': (117.6, 120.7), 'queue_delay(A-B, 100%) / 1ms': (117.6, 120.7),
    'queue_delay(A-B, 0%, 0s, 2s) / 1ms': (0, 0), 'queue_delay(B-A, 99%) / 1ms': (0, 0),
    # From the first packet on; what is offered, and not a tenth more; of both, in steps of 1/8.
    'holds(slow, 0.95M, 200ms, 0s, 4s) / 1ms': (0, 25),
    'holds(slow, quick, 3.8M, 400ms) / 1s': (0, 0),
    'holds(endless, 1M, 100ms, 2s, 4s) / 1s': (0.95, 1.05),
    'took(file.1) / 1s': (0.06, 0.2), 'took(file) / 1s': (0.06, 0.2),
    'took(file, 100%) / 1s': (0.06, 0.2),
    'opened(coded) / 1ms': (20, 21), 'needless(*)': (0, 0),
    # Two chunks of 64 packets, 4 of repair for each 32: 16 more than 128.
    'sent(coded, 0s, 4s)': (144, 144),
    'repair(coded, 0s, 4s)': (16, 16), 'repair(file)': (0, 0),
}

# Everything that draws: losses, starts, random sources, sessions, TCPs, RED.
RANDOM = '''
[scenario]
title = All that draws
duration = 2s
interval = 500ms
repeat = 2

[sweep]
discipline = droptail, red, codel

[link A-B]
rate = 20M
delay = 5ms
queue = 50
discipline = discipline
loss = 0.5%

[link B-C]
rate = 20M
delay = 5ms
queue = 50
gilbert_elliott = 0.1%, 10%
ber = 1e-7

[flow udt]
agent = udt
from = A
to = C
spread = 100ms

[flow tcp]
agent = sack
from = A
to = C
count = 3
spread = 100ms
size = 300000

[flow vegas]
agent = vegas
from = A
to = B

[flow high]
agent = highspeed
from = A
to = B

[flow cubic]
agent = cubic
from = A
to = B

[flow psock]
agent = psock
connections = 3
from = A
to = B

[flow on_off]
agent = pareto
rate = 4M
on = 100ms
off = 100ms
from = A
to = C

[flow exp]
agent = exponential
rate = 4M
on = 100ms
off = 100ms
from = A
to = C
'''


def run_sim(program, folder, text, *options, status=OK):
    path = folder / 'scenario.ini'
    path.write_text(text)
    result = program.run('sim', *options, path, timeout_s=120)
    expect_status(result, status)
    return result


def run_json(program, folder, text, *options, status=OK):
    return json.loads(run_sim(program, folder, text, '--json', *options, status=status).out)


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob('*.csv'))}


def points(program, folder):
    found = run_json(program, folder, SWEPT)
    expect_equal('ok', found['ok'], True)
    expect_equal('title', found['title'], 'Constant bit rate into a link')
    sweeps = [tuple(point['sweep'].values()) for point in found['points']]
    expect_equal('points', sweeps, [(rate, *way) for rate in (5e6, 1e7, 2e7)
                                    for way in (('near', 0.001), ('far', 0.1))])
    for point in found['points']:
        rate = point['sweep']['rate']
        expect_equal('offered', point['report']['offered'], rate / 1e7)
        expect_between('arrived', point['report']['arrived'], 0.998 * min(rate, 1e7),
                       1.002 * min(rate, 1e7))
        labels = ['used'] + ['full'] * (rate == 2e7)
        labels += ['far only'] * (point['sweep']['word'] == 'far')
        expect_equal('expectations', [e['label'] for e in point['expect']], labels)
        run = point['runs'][0]
        expect_equal('flows', [flow['name'] for flow in run['flows']], ['cbr'])
        expect_equal('links', [link['name'] for link in run['links']], ['A-B', 'B-A'])
        expect_equal('moments', run['samples']['seconds'], [1, 2, 3, 4])
        link = run['links'][0]
        drops = max(0, 2 * (rate - 1e7) / 12000)
        expect_between('drops', link['overflow_pkts'], drops - 2, drops + 2)


def answers(program, folder):
    questions = [f'{i} = {question}' for i, question in enumerate(ANSWERS)]
    text = ASKED + '\n'.join([*questions, 'never = finish(file, endless)', ''])
    report = run_json(program, folder, text)['points'][0]['report']
    expect_equal('what is never', report['never'], None)
    for i, (question, bounds) in enumerate(ANSWERS.items()):
        expect_between(question, report[str(i)], *bounds)


def changing(program, folder):
    (folder / 'flows.txt').write_text(TRACE)
    questions = [f'{i} = {question}' for i, question in enumerate(CHANGED)]
    point = run_json(program, folder, CHANGING + '\n'.join([*questions, '']))['points'][0]
    for i, (question, bounds) in enumerate(CHANGED.items()):
        expect_between(question, point['report'][str(i)], *bounds)


def table(program, folder):
    out = run_sim(program, folder, SWEPT).out
    expect_equal('points', re.findall(r'^point (\d of 6), rate = (\w+), ', out, re.M)[::2],
                 [('1 of 6', '5M'), ('3 of 6', '10M'), ('5 of 6', '20M')])
    expect(re.search(r'^  cbr +1 +9\.9\d Mb/s ', out, re.M) or
           re.search(r'^  cbr +1 +10\.0 Mb/s ', out, re.M), out)
    expect_equal('expectations that hold', len(re.findall('^  ok ', out, re.M)), 11)
    expect('FAILED' not in out, out)


def failing(program, folder):
    text = SWEPT + 'too much = utilisation(A-B) > 0.75 when rate == 5M\n'
    result = run_sim(program, folder, text, status=EXPECTATION)
    expect_said(result, '2 expectations of .*scenario.ini do not hold')
    expect_equal('failures', len(re.findall('^  FAILED too much: 0.5', result.out, re.M)), 2)
    found = run_json(program, folder, text, '--set', 'sweep.word : delay=near:1ms',
                     status=EXPECTATION)
    expect_equal('exit_status', found['exit_status'], EXPECTATION)
    expect_equal('ok', [point['ok'] for point in found['points']], [False, True, True])
    expect(found['error'].startswith('1 expectation of '), found['error'])
    wrong = found['points'][0]['expect'][-1]
    expect_equal('sign', wrong['compared'][0]['sign'], '>')
    expect_equal('right', wrong['compared'][0]['right'], 0.75)


def changed(program, folder):
    found = run_json(program, folder, SWEPT, '--set', 'sweep.rate=1M', '--set',
                     'scenario.duration=5s', '--set', 'link A-B.queue=7', '--seed', '9')
    expect_equal('points', len(found['points']), 2)
    run = found['points'][0]['runs'][0]
    expect_equal('seed', run['seed'], 9)
    expect_equal('moments', run['samples']['seconds'], [1, 2, 3, 4, 5])
    expect_between('sent', run['flows'][0]['sent_pkts'], 249, 251)


def same_bytes(program, folder):
    """Whatever the number of jobs; not with another seed."""
    runs = {'one': ('--jobs', '1'), 'two': ('--jobs', '2'), 'seed': ('--seed', '5')}
    for name, options in runs.items():
        run_sim(program, folder, RANDOM, *options, '--csv', folder / name)
    one = files_of(folder / 'one')
    kinds = ('flows', 'links', 'flow_samples', 'link_samples')
    expect_equal('files', sorted(one), sorted(
        ['points.csv'] + [f'{point:03}-{seed}/{kind}.csv' for point in (1, 2, 3)
                          for seed in (1, 2) for kind in kinds]))
    expect_equal('files with two jobs', files_of(folder / 'two'), one)
    expect(one['001-1/flows.csv'] != one['001-2/flows.csv'], 'two seeds, one result')
    expect(files_of(folder / 'seed')['001-5/flows.csv'] != one['001-1/flows.csv'],
           'another seed, the same result')


def same_bytes_elsewhere(program, folder):
    if not OTHER.exists():
        raise Skip(f'{OTHER} is not there: no second build to compare with')
    for name, built in (('here', program), ('there', Program(OTHER))):
        run_sim(built, folder, RANDOM, '--csv', folder / name)
    expect_equal('files of the other build', files_of(folder / 'there'), files_of(folder / 'here'))


def csv_rows(program, folder):
    run_sim(program, folder, SWEPT, '--csv', folder / 'deep')
    with open(folder / 'deep/points.csv', newline='') as file:
        rows = list(csv.DictReader(file))
    expect_equal('columns', list(rows[0]), ['point', 'rate', 'word', 'delay', 'offered', 'arrived',
                                            'used', 'full', 'far only'])
    expect_equal('words', [row['word'] for row in rows], ['near', 'far'] * 3)
    expect_equal('full', [row['full'] for row in rows], [''] * 4 + ['yes'] * 2)
    with open(folder / 'deep/005-1/link_samples.csv', newline='') as file:
        rows = list(csv.DictReader(file))
    expect_equal('samples', [(row['seconds'], row['link']) for row in rows[:3]],
                 [('1', 'A-B'), ('1', 'B-A'), ('2', 'A-B')])
    expect_equal('queue', {row['queue_pkts'] for row in rows if row['link'] == 'A-B'}, {'99'})


def csv_delays(program, folder):
    """Two hundredths of a second of 100 packets wait; the columns are there when asked for."""
    run_sim(program, folder, SWEPT, '--set', 'scenario.queue_delays=on', '--csv', folder / 'deep')
    for name, of_time in (('links.csv', {}), ('link_samples.csv', {'seconds': '4'})):
        with open(folder / f'deep/005-1/{name}', newline='') as file:
            row = [row for row in csv.DictReader(file) if row.get('name', row.get('link')) == 'A-B'
                   and row.items() >= of_time.items()][-1]
        for column in ('delay_p50_s', 'delay_p99_s', 'delay_max_s'):
            expect_between(f'{name} {column}', float(row[column]), 0.1176, 0.1207)


def means(program, folder):
    text = RANDOM + '[report]\nsent = sent(*)\n[expect]\nmany = sent(*) > 100\n'
    found = run_json(program, folder, text, '--set', 'sweep.discipline=red')
    point = found['points'][0]
    expect_equal('seeds', [run['seed'] for run in point['runs']], [1, 2])
    sent = [sum(flow['sent_pkts'] for flow in run['flows']) for run in point['runs']]
    expect_equal('the mean', point['report']['sent'], sum(sent) / 2)
    expect_equal('what is compared', point['expect'][0]['compared'][0]['left'], sum(sent) / 2)


def listed(program, folder):
    (folder / 'b.ini').write_text(SWEPT)
    (folder / 'a.ini').write_text('[scenario]\ntitle = First\nfigure = Fig. 1\n')
    (folder / 'other.txt').write_text('not this')
    result = program.run('sim', '--list', folder)
    expect_status(result, OK)
    expect_equal('the list', [line.split(maxsplit=1)[0] for line in result.out.splitlines()],
                 ['a', 'b'])
    expect(re.search(r'^a +First \(Fig\. 1\)$', result.out, re.M), result.out)
    (folder / 'c.ini').write_text('nonsense\n')
    result = program.run('sim', '--list', folder)
    expect_status(result, USAGE)
    expect_said(result, r'c\.ini:1: ')
    expect_status(program.run('sim', '--list', folder / 'none'), NO_SUCH_FILE)


def plain(program, folder):
    """What a scenario is called moves no terminal: neither as JSON nor as text."""
    text = SWEPT.replace('Constant', 'C\u009b31m').replace('far only', 'far\u202e only')
    said = run_sim(program, folder, text, '--json').out
    expect('C\\u009b31m' in said and 'far\\u202e only' in said, said[:200])
    expect_equal('title', json.loads(said)['title'], 'C\u009b31m bit rate into a link')
    listed = program.run('sim', '--list', folder).out
    shown = run_sim(program, folder, text).out
    expect('C\\u009b31m bit' in listed, listed[:200])
    expect('far\\u202e only:' in shown, shown)
    for what in (said, listed, shown):
        expect('\u009b' not in what and '\u202e' not in what, what[:200])


def wrong(program, folder, args, status, pattern):
    (folder / 'good.ini').write_text(SWEPT)
    (folder / 'bad.ini').write_text(SWEPT.replace('rate = 10M', 'rate = 10ms'))
    (folder / 'file').write_text('')
    result = program.run('sim', *(arg.format(folder=folder) for arg in args))
    expect_status(result, status)
    expect_said(result, pattern)


def example_of_the_manual(program, folder):
    page = (TOP / 'man/wavehaul-scenario.5').read_text()
    text = re.search(r'^\.nf\n(.*?)^\.fi', page, re.M | re.S).group(1).replace('\\-', '-')
    found = run_json(program, folder, textwrap.dedent(text))
    expect_equal('points', len(found['points']), 6)


def interrupted(program, folder):
    (folder / 'long.ini').write_text(
        SWEPT[:SWEPT.index('[report]')].replace('duration = 4s', 'duration = 1s * n')
        .replace('rate = 5M, 10M, 20M', 'n = 4, 90000\nrate = 10M').replace('word : delay', 'word')
        .replace('near : 1ms, far : 100ms', 'near').replace('delay = delay', 'delay = 1ms'))
    first = folder / 'out/001-1/flows.csv'
    result = program.run_and_signal(signal.SIGINT, first.exists, 'sim', '--csv', folder / 'out',
                                    folder / 'long.ini')
    expect_status(result, INTERRUPTED)
    expect_said(result, 'interrupted; 1 of 2 runs were complete')


def pipeline(program, folder):
    """Four cores of an end against two, where several seal and where one does, and against one."""
    path = TOP / 'config/scenarios/pipeline.ini'
    settings = ('sweep.cores=1,2,4', 'sweep.far=1', 'scenario.duration=6ms', 'scenario.warmup=3ms')
    result = program.run('sim', '--json', path,
                         *(word for setting in settings for word in ('--set', setting)))
    expect_status(result, OK)
    pps, busiest = {}, {}
    for point in json.loads(result.out)['points']:
        at = point['sweep']['sealing'], point['sweep']['cores']
        pps[at] = point['report']['sealed_1500_loss']
        busiest[at] = {flow['name']: flow['busiest'] for flow in point['runs'][0]['flows']}
    expect(pps[16, 4] >= 1.6 * pps[16, 2], f'several seal: {pps}')
    expect(pps[16, 4] >= 2.0 * pps[16, 1], f'more than the program does: {pps}')
    expect(pps[1, 4] <= 1.05 * pps[1, 2], f'one seals: {pps}')
    expect_equal('busiest', busiest[1, 4]['sealed_1500_loss'], 'seal')


def plan(program, folder):
    result = program.run('plan', '--rate', '10M', '--rtt', '20ms', '--mtu', '1500', '--file', '2M',
                         '--json', '--jobs', '2')
    expect_status(result, OK)
    found = json.loads(result.out)
    expect_equal('queue', found['queue_pkts'], 17)
    rows = {row['name']: row for row in found['rows']}
    known = json.loads(program.run('profiles', '--json').out)['profiles']
    expect_equal('rows', list(rows), [*(profile['name'] for profile in known), 'reno', 'newreno',
                                      'sack', 'vegas', 'highspeed', 'cubic', 'bbr', 'bbr3',
                                      '8 newreno'])
    # 2 MiB in packets of 1408 bytes of payload, and a round trip.
    expect_between('fixed', rows['fixed']['finish_s'], 1.80, 1.82)
    for row in found['rows']:
        # A rate that is told needs no simulation.
        told = row['name'] in ('fixed', 'pxp', 'pack')
        expect_equal('how', row['how'], 'formula' if told else 'simulation')
        # ttp's first chunk is encoded for half of it to be lost.
        most_s = 5 if row['name'] in ('ttp', 'sttp') else 3.5
        expect_between(row['name'], row['finish_s'], 1.7, most_s)


def plan_formulas(program, folder):
    result = program.run('plan', '--rate', '400M', '--rtt', '100ms', '--loss', '1e-5', '--file',
                         '1T', '--json', '--mtu', '1500', '--jobs', '2', timeout_s=120)
    expect_status(result, OK)
    rows = {row['name']: row for row in json.loads(result.out)['rows']}
    # sqrt(1.5e5) packets of 1460 bytes each round trip.
    expect_between('sack', rows['sack']['goodput_bps'], 45.2e6, 45.3e6)
    expect_equal('highspeed', rows['highspeed']['formula'], 'RFC 3649')
    expect_equal('cubic', rows['cubic']['formula'], 'RFC 9438')
    expect_equal('udt', rows['udt']['how'], 'simulation')
    expect_equal('udt simulated for', rows['udt']['simulated_s'], 60)
    expect_between('the order', rows['highspeed']['goodput_bps'], rows['cubic']['goodput_bps'],
                   rows['fixed']['goodput_bps'])


def plan_wrong(program, folder, args, pattern):
    result = program.run('plan', *args)
    expect_status(result, USAGE)
    expect_said(result, pattern)
    expect_equal('stdout', result.out, '')


def cases():
    partial = functools.partial
    yield Case('points', True, points)
    yield Case('answers', True, answers)
    yield Case('links that change', True, changing)
    yield Case('table', True, table)
    yield Case('expectations that fail', True, failing)
    yield Case('settings', True, changed)
    yield Case('same bytes', True, same_bytes)
    yield Case('same bytes in another build', True, same_bytes_elsewhere)
    yield Case('CSV', True, csv_rows)
    yield Case('CSV of delays', True, csv_delays)
    yield Case('means', True, means)
    yield Case('list', True, listed)
    yield Case('plain text', True, plain)
    for args, status, pattern in (
            ([], USAGE, '--list'), (['{folder}/good.ini', 'x'], USAGE, 'one FILE'),
            (['--jobs', '0', '{folder}/good.ini'], USAGE, "--jobs '0'"),
            (['--set', 'x', '{folder}/good.ini'], USAGE, 'SECTION.KEY=VALUE'),
            (['--seed', 'x', '{folder}/good.ini'], USAGE, "seed = 'x'"),
            (['--csv', '{folder}/file/x', '{folder}/good.ini'], 1, 'cannot write'),
            (['{folder}/bad.ini'], USAGE, r"bad\.ini:13: rate = '10ms' is a time"),
            (['{folder}/none.ini'], NO_SUCH_FILE, 'none.ini: no such'),
            (['no-such-scenario'], NO_SUCH_FILE, 'no-such-scenario: no such'),
            (['{folder}'], NO_SUCH_FILE, 'not a regular file')):
        yield Case('wrong ' + ' '.join(args), True,
                   partial(wrong, args=args, status=status, pattern=pattern))
    yield Case('example of the manual', True, example_of_the_manual)
    yield Case('interrupted', True, interrupted)
    yield Case('probe', True, probe)
    yield Case('reference BBR', True, reference_bbr)
    yield Case('fleet', True, fleet)
    yield Case('sttp', True, sttp)
    yield Case('pipeline', True, pipeline)
    yield Case('plan', True, plan)
    yield Case('plan by formulas', False, plan_formulas)
    for args, pattern in (
            ((), '--rate 10G --rtt'), (('--rate', '10G'), '--rate 10G --rtt'),
            (('--rate', '10X'), "--rate '10X'"), (('--rtt', '5'), "--rtt '5'"),
            (('--loss', '60%'), "--loss '60%'"), (('--mtu', '100'), "--mtu '100'"),
            (('--queue', '0'), "--queue '0'"), (('--file', '0'), "--file '0'")):
        yield Case('wrong plan ' + ' '.join(args), True,
                   partial(plan_wrong, args=args, pattern=pattern))


def probe(program, folder):
    """The lambda of the paper and five like it, and a flow that is no probe."""
    path = TOP / 'config/scenarios/lambda-probe.ini'
    result = program.run('sim', path)
    expect_status(result, OK)
    expect_equal('expectations that hold', len(re.findall(r'^  ok  ', result.out, re.M)), 36)
    result = program.run('sim', path, '--set', 'link S-B.queue=2 * memory')
    expect_status(result, EXPECTATION)
    wrong = path.read_text().replace('agent = probe', 'agent = burst\npackets = 9')
    (folder / 'wrong.ini').write_text(wrong.replace('train = 16384\n', ''))
    result = program.run('sim', folder / 'wrong.ini')
    expect_status(result, USAGE)
    expect_said(result, "probe_capacity.'way'.*, which is no flow with agent probe")


def reference_bbr(program, folder):
    """BBR alone, behind a policer and beside CUBIC; CUBIC behaves differently."""
    for name, holds in (('reference-bbr', 17), ('reference-bbr-policer', 6),
                        ('reference-bbr-share', 12), ('reference-bbr3', 22)):
        result = program.run('sim', TOP / f'config/scenarios/{name}.ini')
        expect_status(result, OK)
        expect_equal(f'expectations of {name} that hold',
                     len(re.findall(r'^  ok  ', result.out, re.M)), holds)
    text = (TOP / 'config/scenarios/reference-bbr-policer.ini').read_text(encoding='utf-8')
    (folder / 'cubic.ini').write_text(text.replace('agent = bbr', 'agent = cubic\nlinux = on'))
    result = program.run('sim', folder / 'cubic.ini')
    expect_status(result, EXPECTATION)


def fleet(program, folder):
    """Fleets hold what they must reach; with one receiver, or with few shards, they do not."""
    for name, holds, options, wrong in (
            ('sides', 3, ('--set', 'sweep.rate=100G'), 'receivers=1'),
            ('deaths', 7, (), 'receivers=1'), ('slow', 6, (), 'shards=8')):
        path = TOP / f'config/scenarios/fleet-{name}.ini'
        options = (path, '--set', 'scenario.repeat=1', *options)
        result = program.run('sim', *options)
        expect_status(result, OK)
        expect_equal(name, len(re.findall(r'^  ok  ', result.out, re.M)), holds)
        expect_status(program.run('sim', *options, '--set', f'fleet.{wrong}'), EXPECTATION)
    slow = (TOP / 'config/scenarios/fleet-slow.ini', '--set', 'sweep.nodes=8', '--set',
            'sweep.rate=10G')
    both = [program.run('sim', *slow, '--json').out for _ in range(2)]
    expect_equal('again', both[0], both[1])
    told = json.loads(both[0])['points'][0]['runs'][0]['fleet'][0]
    shares = ('by_disk', 'by_nic', 'by_lambda', 'by_receiver', 'starting', 'idle', 'dead')
    expect_between('shares', sum(told[share] for share in shares), 0.9999, 1.0001)
    expect_status(program.run('sim', *slow, '--csv', folder / 'out'), OK)
    head, values = (folder / 'out/001-1/fleet.csv').read_text().splitlines()
    expect_equal('CSV', dict(zip(head.split(','), map(float, values.split(',')))), told)


def sttp(program, folder):
    """The cases that sttp.txt has numbers of; what is asked of another agent, more of no size."""
    for name, holds in (('burst', 10), ('pair', 1), ('onoff', 4), ('cbr', 1)):
        result = program.run('sim', TOP / f'config/scenarios/sttp-{name}.ini')
        expect_status(result, OK)
        expect_equal(f'{name}: expectations', len(re.findall(r'^  ok  ', result.out, re.M)), holds)
    for line in ('probe = 0.08', 'first sigma = 16', 'first = 0.2775', 'sigma = 15',
                 'fell at = 3.045', 'from = 1.84', 'to = 1.5625'):
        expect(f'  {line}\n' in result.out, f'{line} is not reported')
    burst = (TOP / 'config/scenarios/sttp-burst.ini').read_text()
    for change, said in ((('last = finish(f)', 'last = sttp_back(f)'),
                          "sttp_back.'f'.*, which is no flow with agent sttp_agent"),
                         (('size = 7680', 'more = 1s'), 'size'),
                         (('size = 7680', 'size = 7680\nmore = 0s'), 'is not after the start'),
                         (('size = 7680', 'size = 7680\nstop = 1s\nmore = 2s'),
                          'is not after the start')):
        (folder / 'wrong.ini').write_text(burst.replace(*change, 1))
        result = program.run('sim', folder / 'wrong.ini')
        expect_status(result, USAGE)
        expect_said(result, said)


def take_other():
    """--other is this program's alone: the harness does not know it."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--other', type=Path, default=OTHER)
    known, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    return known.other


if __name__ == '__main__':
    OTHER = take_other()
    sys.exit(run_cases(list(cases()), BINARY))
