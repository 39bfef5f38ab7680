#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of transfers and scenarios (--plot): what is drawn is what the report says.

    plot.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

from harness import (Case, decode_object, expect, expect_between, expect_equal, expect_said,
                     expect_status, run_cases)
from pair import SERVER, Pair, remote, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, USAGE, NETWORK = 0, 1, 2, 5
MIB = 1 << 20
PANELS = ['rate', 'rtt', 'loss', 'limit']


class Picture:
    """Its curves by panel and name, in values: [(time, value), ...]."""

    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        expect(root.tag.endswith('}svg'), f'{path} is {root.tag}')
        self.texts = [''.join(text.itertext()) for text in root.iter()
                      if text.tag.endswith('}text')]
        self.panels = {group.get('data-panel'): dict(map(self.curve, self.paths_of(group)))
                       for group in root.iter() if group.get('data-panel')}

    @staticmethod
    def paths_of(group):
        return [path for path in group.iter() if path.get('data-name')]

    @staticmethod
    def curve(path):
        """M x y, L x y; of steps V y and H x by turns, from M on."""
        scales = [[float(number) for number in path.get(name).split()]
                  for name in ('data-x', 'data-y')]

        def value(pixel, scale):
            from_px, to_px, low, high = scale
            return low + (pixel - from_px) / (to_px - from_px) * (high - low)
        words = re.findall(r'([MLVHhZ])([^MLVHhZ]*)', path.get('d'))
        numbers = [(letter, [float(number) for number in text.split()]) for letter, text in words]
        points = [(value(at[0], scales[0]), value(at[1], scales[1]))
                  for letter, at in numbers if letter in 'ML']
        if any(letter == 'V' for letter, _ in numbers):
            ends = [value(at[0], scales[0]) for letter, at in numbers if letter == 'H']
            tops = [value(at[0], scales[1]) for letter, at in numbers if letter == 'V']
            points = list(zip(ends, tops))  # the last V goes back to the base
        return path.get('data-name'), points

    def integral(self, panel, name):
        """Of values that are means of the time since the point before."""
        area, before = 0, 0
        for at, value in self.panels[panel][name]:
            area += (at - before) * value
            before = at
        return area

    def total(self, panel, name):
        return sum(value for _, value in self.panels[panel][name])


def expect_near(what, actual, wanted, share=0.01, least=0):
    expect_between(what, actual, wanted - share * wanted - least, wanted + share * wanted + least)


def demo(program, folder):
    """Bytes, packets, the round trip and the whole time, read back from the curves."""
    svg = folder / 'demo.svg'
    result = program.run('demo', '--json', '--size', '64M', '--rate', '1G', '--rtt', '20ms',
                         '--loss', '0.5%', '--mtu', '1500', '--profile', 'fixed', '--plot', svg)
    expect_status(result, OK)
    report, picture = decode_object(result), Picture(svg)
    expect_equal('panels', list(picture.panels), PANELS)
    expect_near('bytes', picture.integral('rate', 'payload arrived') / 8, 64 * MIB, least=10000)
    sent_bits = report['packets']['sent'] * 1530 * 8
    expect_near('sent on the wire', picture.integral('rate', 'sent on the wire'), sent_bits, 0.02)
    expect_near('sent again', picture.total('loss', 'retransmitted'),
                report['packets']['retransmitted'], 0.02, 2)
    expect_near('lost', picture.total('loss', 'lost'), report['packets']['dropped_by_path'], 0.15,
                5)
    expect_near('the end', picture.panels['rate']['payload arrived'][-1][0], report['seconds'],
                0.1, 0.2)
    # Never less; how much more is for the machine.
    expect_between('least round trip', picture.panels['rtt']['least'][-1][1], 0.0195, 0.1)
    for _, allowed in picture.panels['rate']['allowed on the wire']:
        expect_near('allowed', allowed, 1e9)
    end_s = picture.panels['rate']['payload arrived'][-1][0]
    limits = {name: picture.integral('limit', name) / end_s for name in picture.panels['limit']}
    expect_between('what is known of limits', sum(limits.values()), 0.5, 1.001)
    expect(limits['rate'] > 0.1, f'of a rate of 1 Gb/s: {limits}')
    expect_equal('files', os.listdir(folder), ['demo.svg'])


def lanes(program, folder):
    """Lanes are summed, a server's data is seen from here, and what was there is replaced."""
    (folder / 'one').write_bytes(os.urandom(48 * MIB))
    (folder / 'send.svg').write_text('older')
    with Pair(program, folder) as pair:
        for verb, operands in (('send', [folder / 'one', remote()]),
                               ('get', [remote('one'), folder / 'back'])):
            svg = folder / f'{verb}.svg'
            result = pair.run(verb, *operands, '--json', '--rate', '500M', '--parallel', '2',
                              '--plot', svg)
            expect_status(result, OK)
            report, picture = json.loads(result.out), Picture(svg)
            expect_near(verb, picture.integral('rate', 'payload arrived') / 8,
                        report['moved_bytes'], least=10000)
            expect('wavehaul ' + verb in picture.texts[0], picture.texts[0])
            known = ['sent on the wire'] if verb == 'send' else []
            drawn = [name for name in ('sent on the wire',)
                     if picture.panels['rate'][name]]
            expect_equal('known of what is sent', drawn, known)
        bench = folder / 'bench.svg'
        result = pair.run('bench', SERVER, '--json', '--size', '32M', '--rate', '500M',
                          '--plot', bench)
        expect_status(result, OK)
        # The last chunk may come after the last row.
        expect_near('bench', Picture(bench).integral('rate', 'payload arrived') / 8, 32 * MIB,
                    least=MIB)
        pair.stop_server()


def gap(program, folder):
    """While the client is stopped nobody looks: there is no line across that time, and no 0."""
    (folder / 'one').write_bytes(os.urandom(16 * MIB))
    svg = folder / 'send.svg'
    with Pair(program, folder) as pair:
        client = subprocess.Popen(
            [program.binary, *map(str, pair.command(
                'send', folder / 'one', remote(), '--rate', '50M', '--profile', 'fixed', '--plot',
                svg))], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: any(path.stat().st_blocks > 4000 for path in
                                   pair.served.rglob('*') if path.is_file()), 20, 'data')
            client.send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            client.send_signal(signal.SIGCONT)
            expect_equal('its exit status', client.wait(30), OK)
        finally:
            client.kill()
            client.wait()
        pair.stop_server()
    text, picture = svg.read_text(), Picture(svg)
    times = [at for at, _ in picture.panels['rate']['payload arrived']]
    apart = max(after - before for before, after in zip(times, times[1:]))
    expect_between('the gap', apart, 2.3, 4)
    arrived, = re.findall('data-name="payload arrived"[^>]* d="([^"]*)"', text)
    expect_equal('lines', arrived.count('M'), 2)
    steps, = re.findall('data-name="lost"[^>]* d="([^"]*)"', text)
    expect_equal('areas', (steps.count('M'), steps.count('Z')), (2, 2))


def told_nothing(program, folder):
    """Of few packets lambda learns no rate: none is drawn, and the others can be seen."""
    (folder / 'one').write_bytes(os.urandom(30000))
    svg = folder / 'send.svg'
    with Pair(program, folder) as pair:
        result = pair.run('send', folder / 'one', remote(), '--json', '--plot', svg)
        expect_status(result, OK)
        pair.stop_server()
    picture = Picture(svg)
    allowed = [value for _, value in picture.panels['rate']['allowed on the wire']]
    expect(max(allowed, default=0) < 2e12, f'{allowed} b/s are allowed')
    expect_near('bytes', picture.integral('rate', 'payload arrived') / 8,
                json.loads(result.out)['moved_bytes'], 0.1)


def failed(program, folder):
    """The picture of a failed transfer, with its reason."""
    svg = folder / 'lost.svg'
    result = program.run('demo', '--json', '--size', '64M', '--rate', '1G', '--rtt', '10ms',
                         '--loss', '100%', '--peer-timeout', '1s', '--plot', svg)
    expect_status(result, NETWORK)
    error, picture = decode_object(result)['error'], Picture(svg)
    expect_equal('panels', list(picture.panels), PANELS)
    expect(f'failed: {error}' in picture.texts, f'{error!r} is none of {picture.texts}')


def refused(program, folder):
    """Before anything is sent; what is there stays."""
    (folder / 'there.svg').mkdir()
    for path, words in ((folder / 'no/way.svg', 'No such file'), ('/dev/null', 'no regular file'),
                        (folder / 'there.svg', 'is a folder')):
        for args in (('demo', '--size', '1G'), ('sim', 'ttp-fig21')):
            result = program.run(*args, '--plot', path)
            expect_status(result, OTHER)
            expect_said(result, f'{path}: .*{words}')
            expect(result.seconds < 2, f'{result.seconds} s until it was refused')
    expect_equal('files', os.listdir(folder), ['there.svg'])


SCENARIO = '''
[scenario]
duration = 5s
[link A-B]
rate = 10M
delay = 10ms
queue = 50
[flow one]
agent = newreno
from = A
to = B
count = 2
[flow two]
agent = fixed
rate = 4M
from = A
to = B
[report]
x = goodput(*, 0s, 5s)
'''


def sim(program, folder):
    """A curve for each flow and each queue; no sweep."""
    path, svg = folder / 'two.ini', folder / 'two.svg'
    path.write_text(SCENARIO, encoding='utf-8')
    result = program.run('sim', path, '--json', '--plot', svg)
    expect_status(result, OK)
    plain = program.run('sim', path, '--json')
    expect_equal('the report', result.out, plain.out)
    picture, point = Picture(svg), json.loads(result.out)['points'][0]
    expect_equal('flows', sorted(picture.panels['goodput']), ['one.1', 'one.2', 'two'])
    arrived = sum(picture.integral('goodput', name) for name in picture.panels['goodput'])
    expect_near('payload', arrived, point['report']['x'] * 5, 0.005)
    expect_near('two is paced', picture.panels['rate']['two'][-1][1], 4e6)
    expect_between('queue', max(value for _, value in picture.panels['queue']['A-B']), 45, 51)
    dropped = sum(link['overflow_pkts'] for link in point['runs'][0]['links'])
    expect_near('dropped', picture.total('dropped', 'A-B'), dropped, least=2)
    path.write_text('[sweep]\nx = 1M, 2M\n' + SCENARIO.replace('4M', 'x'), encoding='utf-8')
    result = program.run('sim', path, '--plot', svg)
    expect_status(result, USAGE)
    expect_said(result, r'one point, and .* has 2; .*--set sweep\.x=VALUE')
    expect_status(program.run('sim', path, '--set', 'sweep.x=1M', '--plot', svg), OK)


def cases():
    return [
        Case('demo', True, demo),
        Case('lanes, get and bench', False, lanes),
        Case('a gap', True, gap),
        Case('told nothing', True, told_nothing),
        Case('failed', True, failed),
        Case('refused', True, refused),
        Case('sim', True, sim),
    ]


if __name__ == '__main__':
    sys.exit(run_cases(cases(), BINARY))
