#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's TCPs over `wavehaul wan`, beside the simulator's of the same name on the same path.

    kernel.py [--tcp bbr,cubic] [-k PATTERN] [--seconds N] [--runs N] [--binary PATH] [--json FILE]

A row for each setting: goodput of both over the first seconds, what each sent again, how far the
simulator's is from the kernel's, and how late the machine itself was: a packet in a hundred is
later than the median by this, or more. What that is worth in packets of the line, a queue needs
beside what it has. Wants root, iperf3, a kernel with that TCP, and two CPUs with nothing else to
do: the ends share one, the path has the other. It measures and judges nothing.
"""

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Failed, Program, Skip, expect  # noqa: E402
from lab import Pinger  # noqa: E402
from wan import RIGHT, Wan, own_drops, sites  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

# What a frame of 1500 bytes has on the line, and its payload: TCP with its option of timestamps.
LINE_BYTES = 1500 + 38
PAYLOAD_BYTES = 1500 - 52
BUFFER_BYTES = 64 << 20

PINGS = 200

Place = namedtuple('Place', 'under')  # what a program of a host runs under
Setting = namedtuple('Setting', 'rate_mbps rtt_ms loss queue')

# CUBIC's are slow ones: a machine that is busy for milliseconds breaks the trains of HyStart, and a
# short path fills a queue meanwhile. So many seeds are run of the simulator where chance decides.
SETTINGS = {
    'bbr': [Setting(100, 10, 0, 1), Setting(100, 10, 0, 0.25), Setting(100, 10, 0.001, 1),
            Setting(100, 10, 0.01, 1), Setting(100, 100, 0, 1), Setting(100, 100, 0, 0.1),
            Setting(100, 100, 0.001, 1), Setting(100, 100, 0.01, 1), Setting(10, 100, 0, 0.1)],
    'cubic': [Setting(20, 40, 0, 1), Setting(20, 40, 0, 0.25), Setting(20, 40, 0.001, 1),
              Setting(20, 40, 0.01, 1), Setting(20, 100, 0, 1), Setting(20, 100, 0, 0.25),
              Setting(20, 100, 0.01, 1), Setting(100, 100, 0, 1)],
}
SEEDS = 40


def name_of(setting):
    return f'{setting.rate_mbps} Mb/s, {setting.rtt_ms} ms, loss {setting.loss}, ' \
           f'queue {setting.queue} BDP'


def queue_pkts(setting):
    product = setting.rate_mbps * 1e3 * setting.rtt_ms / 8 / LINE_BYTES
    return max(round(setting.queue * product), 4)


def first(host):
    """A place on the host where a program waits for little else on this machine."""
    return Place((*host.under, 'nice', '-n', '-20'))


def tell_kernel(host):
    """Buffers that are no limit, and nothing remembered of the connection before."""
    for way in ('rmem', 'wmem'):
        host.set_kernel(f'ipv4/tcp_{way}', f'4096 1048576 {BUFFER_BYTES}')
    with contextlib.suppress(OSError):
        host.set_kernel('ipv4/tcp_no_metrics_save', 1)


@contextlib.contextmanager
def iperf_server(place):
    server = subprocess.Popen([*place.under, 'iperf3', '-s', '-1'], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        yield
    finally:
        server.kill()
        server.wait()


def late_ms(host):
    """By how much the machine delays a packet in a hundred more than the median one."""
    with Pinger(host, RIGHT) as pinger:
        pinger.ping()
        times = sorted(filter(None, (pinger.ping() for _ in range(PINGS))))
    return 1e3 * (times[-1 - len(times) // 100] - times[len(times) // 2])


def run_kernel(program, tcp, setting, seconds, seed):
    """(goodput in b/s, segments sent again, what the machine dropped, how late it was in ms)"""
    with sites() as (left, middle, right):
        for host in (left, right):
            tell_kernel(host)
        options = ('--rate', f'{setting.rate_mbps}M', '--rtt', f'{setting.rtt_ms}ms', '--loss',
                   setting.loss, '--queue', f'{queue_pkts(setting)}p', '--seed', seed)
        with Wan(program, first(middle), *options) as wan, \
                iperf_server(first(right)):
            late = late_ms(left)
            said = subprocess.run(
                [*first(left).under, 'iperf3', '-c', RIGHT, '-C', tcp, '-t', str(seconds),
                 '-J'], capture_output=True, text=True, timeout=seconds + 30, check=False)
            expect(said.returncode == 0, f'iperf3: {said.stdout[-300:]}')
            end = json.loads(said.stdout)['end']
            wan.stop()
        dropped = sum(own_drops(wan.report[way]) for way in ('there', 'back'))
    received = end['sum_received']
    # What is still under way at the end is told of by the receiver only.
    return received['bytes'] * 8 / seconds, end['sum_sent']['retransmits'], dropped, late


def mean_of_kernel(program, tcp, setting, chosen):
    """The same, means over runs with losses of their own; of the lateness the most."""
    runs = chosen.runs if setting.loss else 1
    found = [run_kernel(program, tcp, setting, chosen.seconds, seed + 1) for seed in range(runs)]
    goodput, again, dropped, late = zip(*found)
    return sum(goodput) / runs, sum(again) / runs, sum(dropped), max(late)


def run_simulator(binary, tcp, setting, seconds):
    """(goodput in b/s, segments sent again), means over seeds"""
    seeds = SEEDS if setting.loss else 1
    with tempfile.NamedTemporaryFile('w', suffix='.ini') as file:
        file.write(f"""
[scenario]
title = {tcp}
duration = {seconds}s
seed = seed

[sweep]
seed = {', '.join(str(i + 1) for i in range(seeds))}

[link A-B]
rate = {setting.rate_mbps}M
delay = {setting.rtt_ms / 2}ms
queue = {queue_pkts(setting)}
loss = {setting.loss}

[flow f]
agent = {tcp}
from = A
to = B
packet = {LINE_BYTES}
head = {LINE_BYTES - PAYLOAD_BYTES}
delayed_ack = on
{OPTIONS[tcp]}
[report]
goodput = goodput(f)
again = retransmitted(f)
""")
        file.flush()
        said = subprocess.run([binary, 'sim', '--json', file.name], capture_output=True, text=True,
                              timeout=300, check=False)
    expect(said.returncode == 0, f'sim: {said.stderr}')
    reports = [point['report'] for point in json.loads(said.stdout)['points']]
    return (sum(report['goodput'] for report in reports) / seeds,
            sum(report['again'] for report in reports) / seeds)


OPTIONS = {'bbr': '', 'cubic': 'linux = on\n'}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tcp', default='bbr,cubic')
    parser.add_argument('-k', default='', metavar='PATTERN')
    parser.add_argument('--seconds', type=int, default=12)
    parser.add_argument('--runs', type=int, default=1, help='of the kernel, where there is loss')
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--json', type=Path)
    chosen = parser.parse_args()
    rows = []
    print(f'{"Mb/s":50} {"kernel":>8} {"again":>7} {"ours":>8} {"again":>7} {"off":>8} {"late":>9}')
    for tcp in chosen.tcp.split(','):
        for setting in SETTINGS[tcp]:
            name = f'{tcp}: {name_of(setting)}'
            if not re.search(chosen.k, name):
                continue
            theirs, again, dropped, late = mean_of_kernel(Program(chosen.binary), tcp, setting,
                                                          chosen)
            ours, ours_again = run_simulator(chosen.binary, tcp, setting, chosen.seconds)
            off = ours / theirs - 1
            rows.append({'name': name, 'kernel_bps': theirs, 'kernel_retransmitted_pkts': again,
                         'simulator_bps': ours, 'simulator_retransmitted_pkts': ours_again,
                         'machine_dropped_pkts': dropped, 'machine_late_ms': late, 'off': off})
            print(f'{name:50} {theirs / 1e6:8.2f} {again:7.0f} {ours / 1e6:8.2f} {ours_again:7.0f} '
                  f'{100 * off:+6.1f} % {late:6.1f} ms'
                  + (f'; the machine dropped {dropped}' if dropped else ''),
                  flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding='utf-8')


if __name__ == '__main__':
    try:
        main()
    except (Failed, Skip) as ended:
        sys.exit(f'kernel.py: {ended}')
