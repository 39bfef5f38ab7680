#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""BBR and CUBIC of lib/lab/tcp against ns-3's: the same line and queue, means over seeds.

    ns3.py TCP_RUN [-k PATTERN]    exit status 1 when a pair differs too much

Goodput must agree within a tenth. Where there is no ns-3 (Debian packages libns3-dev and g++) it
says so and ends with 77.

ns-3.37 has no recovery by time, and its BBR looks for no policer. What is lost twice costs it a
timeout, and after one its BBR sends a segment a timeout for ever. So losses are few here.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).with_name('ns3_tcp.cc')
LIBRARIES = ('core', 'network', 'internet', 'point-to-point', 'applications', 'traffic-control')
GOODPUT_SHARE = 0.1
SEEDS = 2
TIMEOUT_S = 300
JOBS = 2
# IP, TCP with timestamps, and the framing of a point-to-point line.
HEAD_BYTES = 20 + 32 + 2

VARIETIES = {'bbr': 'TcpBbr', 'cubic': 'TcpCubic'}

# What tcp_run is told.
SCENARIOS = {
    'bbr, 10 Mb/s, 40 ms': 'variety=bbr rate=10M delay=20ms queue=150 seconds=20',
    'bbr, 50 Mb/s, 20 ms': 'variety=bbr rate=50M delay=10ms queue=400 seconds=10',
    'bbr, 50 Mb/s, 40 ms, short queue': 'variety=bbr rate=50M delay=20ms queue=33 seconds=12',
    'bbr, 10 Mb/s, 40 ms, 0.1 %': 'variety=bbr rate=10M delay=20ms queue=150 loss=0.1% seconds=20',
    'cubic, 10 Mb/s, 40 ms': 'variety=cubic linux=1 rate=10M delay=20ms queue=40 seconds=30',
    'cubic, 50 Mb/s, 40 ms': 'variety=cubic linux=1 rate=50M delay=20ms queue=200 seconds=15',
    'cubic, 20 Mb/s, 100 ms, short queue': 'variety=cubic linux=1 rate=20M delay=50ms queue=60 '
                                           'seconds=30',
}
DEFAULTS = {'loss': '0%', 'window': '0', 'initial-cwnd': '10', 'initial-rto': '1s',
            'access-rate': '100G', 'access-delay': '1ns', 'payload': '1000',
            'head': str(HEAD_BYTES)}


def settings_of(scenario):
    return DEFAULTS | dict(word.split('=') for word in scenario.split())


def build(folder):
    """Makes ns-3's program: pkg-config names libraries that Debian's package does not bring."""
    program = Path(folder) / 'ns3_tcp'
    flags = subprocess.run(['pkg-config', '--cflags', 'ns3-internet', 'ns3-applications'],
                           check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    subprocess.run(['g++', '-O1', '-std=c++17', *flags, SOURCE, '-o', program,
                    *(f'-l:libns3-{name}.so' for name in LIBRARIES)], check=True,
                   timeout=TIMEOUT_S)
    return program


def ours(program, settings, seed):
    words = [f'{name}={value}' for name, value in settings.items()]
    done = subprocess.run([program, *words, f'seed={seed}'], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=TIMEOUT_S)
    found = json.loads(done.stdout)
    return found['goodput_bytes'], found['drops']


def theirs(program, settings, seed):
    rate = int(settings['rate'][:-1]) * 1000000
    delay_s = float(settings['delay'][:-2]) / 1000
    loss = float(settings['loss'][:-1]) / 100
    done = subprocess.run([program, VARIETIES[settings['variety']], *map(str, (
        rate, delay_s, settings['queue'], loss, settings['seconds'], seed))], check=True,
        text=True, stdout=subprocess.PIPE, timeout=TIMEOUT_S)
    return tuple(map(int, done.stdout.split()))


def compare(programs, scenario):
    """([goodput of ours, of ns-3] in b/s, [drops of ours, of ns-3]), means over the seeds."""
    settings = settings_of(scenario)
    seeds = SEEDS if 'loss=' in scenario else 1
    totals = [[0, 0], [0, 0]]
    for seed in range(1, seeds + 1):
        for i, found in enumerate((ours(programs[0], settings, seed),
                                   theirs(programs[1], settings, seed))):
            totals[0][i] += 8 * found[0] / int(settings['seconds']) / seeds
            totals[1][i] += found[1] / seeds
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('program', help='tcp_run, built')
    parser.add_argument('-k', metavar='PATTERN', default='', help='only scenarios that match')
    arguments = parser.parse_args()
    if not shutil.which('g++') or not Path('/usr/include/ns3/core-module.h').exists():
        print('skipped: ns-3 is not installed (Debian: libns3-dev, g++), nothing to compare with')
        return 77
    names = [name for name in SCENARIOS if re.search(arguments.k, name)]
    bad = 0
    print(f'{"":36} {"ours":>8} {"ns-3":>8}{"":17}{"ours":>8} {"ns-3":>8}')
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(JOBS) as pool:
        programs = (Path(arguments.program).resolve(), build(folder))
        results = pool.map(lambda name: compare(programs, SCENARIOS[name]), names)
        for name, (goodput, drops) in zip(names, results):
            off = goodput[0] / goodput[1] - 1
            wrong = abs(off) > GOODPUT_SHARE
            bad += wrong
            print(f'{name:36} {goodput[0] / 1e6:8.3f} {goodput[1] / 1e6:8.3f} Mb/s '
                  f'{100 * off:+6.2f} %   {drops[0]:8.1f} {drops[1]:8.1f} drops'
                  + ('   GOODPUT' if wrong else ''), flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
