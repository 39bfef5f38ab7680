#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reference TCPs of lib/lab/sim against ns-2: the same scenarios, means over seeds, side by side.

    ns2.py TCP_RUN [--full] [-k PATTERN]    exit status 1 when a pair differs too much

Goodput must agree within 5 %, drops at the bottleneck within 20 %. Start times are drawn by
tcp_run and given to ns-2. Where there is no ns-2 (Debian package ns2) it says so and ends with 77.
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

SEEDS, SEEDS_FULL = 2, 5
GOODPUT_SHARE = 0.05
DROPS_SHARE = 0.20
# So few drops, over all seeds, that one of them more or less says nothing.
DROPS_FEW = 3
TIMEOUT_S = 300
HEAD_BYTES = 40
PAYLOAD_BYTES = 1000
JOBS = 2

# What tcp_run is told. Windows are large enough for the path, so that losses decide.
SCENARIOS = {
    'reno, long RTT': 'variety=reno rate=10M delay=48ms queue=50 window=400 seconds=60',
    'reno, 2 % loss, 10 flows': 'variety=reno flows=10 rate=20M delay=20ms queue=50 window=50 '
                                'loss=2% spread=1s seconds=60',
    'reno, 10 flows': 'variety=reno flows=10 rate=10M delay=10ms queue=40 window=100 spread=2s '
                      'seconds=40',
    'reno, 50 flows': 'variety=reno flows=50 rate=20M delay=20ms queue=100 spread=2s seconds=30',
    'reno, delayed ACK': 'variety=reno rate=10M delay=20ms queue=30 window=200 delayed-ack=1 '
                         'seconds=60',
    'newreno, long RTT, short queue': 'variety=newreno rate=10M delay=48ms queue=15 window=400 '
                                      'seconds=60',
    'newreno, 20 flows, 0.5 % loss': 'variety=newreno flows=20 rate=20M delay=5ms queue=40 '
                                     'window=100 loss=0.5% spread=2s seconds=30',
    'newreno, 10 flows, RED': 'variety=newreno flows=10 rate=10M delay=20ms queue=100 '
                              'discipline=red window=100 spread=2s seconds=40',
    'sack, long RTT, 0.1 % loss, 8 flows': 'variety=sack flows=8 rate=60M delay=48ms queue=200 '
                                           'window=100 loss=0.1% spread=1s seconds=60',
    'sack, short RTT, 2 % loss, 4 flows': 'variety=sack flows=4 rate=60M delay=1ms queue=50 '
                                          'window=50 loss=2% spread=1s seconds=30',
    'sack, 50 flows, RED': 'variety=sack flows=50 rate=20M delay=10ms queue=150 discipline=red '
                           'window=50 spread=2s seconds=30',
    'vegas, 1 flow': 'variety=vegas rate=10M delay=20ms queue=50 window=200 seconds=40',
    'vegas, 30 flows': 'variety=vegas flows=30 rate=20M delay=20ms queue=60 window=100 spread=2s '
                       'seconds=30',
    'vegas, 1 % loss, 5 flows': 'variety=vegas flows=5 rate=20M delay=20ms queue=50 window=100 '
                                'loss=1% spread=1s seconds=60',
    'highspeed, long RTT': 'variety=highspeed rate=100M delay=48ms queue=300 window=4000 '
                           'access-rate=970M seconds=40',
    'highspeed, 4 flows, 0.01 % loss': 'variety=highspeed flows=4 rate=100M delay=30ms queue=200 '
                                       'access-rate=970M window=4000 loss=0.01% spread=1s '
                                       'seconds=20',
    'highspeed, limited slow start': 'variety=highspeed rate=100M delay=48ms queue=300 '
                                     'window=4000 access-rate=970M max-ssthresh=100 seconds=30',
}

AGENTS = {
    'reno': ('Reno', 'TCPSink'),
    'newreno': ('Newreno', 'TCPSink'),
    'sack': ('Sack1', 'TCPSink/Sack1'),
    'vegas': ('Vegas', 'TCPSink'),
    'highspeed': ('Sack1', 'TCPSink/Sack1'),
}

DEFAULTS = {'flows': '1', 'queue': '50', 'seconds': '10', 'window': '20', 'loss': '0',
            'discipline': 'droptail', 'access-rate': '97M', 'access-delay': '1ms',
            'max-ssthresh': '0', 'delayed-ack': '0'}

TCL = '''
ns-random {seed}
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right {rate} {delay} {queue_class}
$ns queue-limit $left $right {queue}
$ns queue-limit $right $left {queue}
if {{{loss} > 0}} {{
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ {loss}
    $errors ranvar [new RandomVariable/Uniform]
    $ns link-lossmodel $errors $left $right
}}
set monitor [$ns monitor-queue $left $right [open /dev/null w]]
Agent/TCP set window_ {window}
Agent/TCP set packetSize_ {packet_bytes}
Agent/TCP set windowOption_ {window_option}
Agent/TCP set max_ssthresh_ {max_ssthresh}
set starts {{{starts}}}
for {{set i 0}} {{$i < {flows}}} {{incr i}} {{
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left {access_rate} {access_delay} DropTail
    $ns duplex-link $right $to {access_rate} {access_delay} DropTail
    $ns queue-limit $from $left {queue}
    $ns queue-limit $right $to {queue}
    set tcp($i) [new Agent/TCP/{agent}]
    set sink($i) [new Agent/{sink}]
    $ns attach-agent $from $tcp($i)
    $ns attach-agent $to $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [lindex $starts $i] "$ftp start"
}}
$ns at {seconds} {{
    set bytes 0
    for {{set i 0}} {{$i < {flows}}} {{incr i}} {{
        set delivered [$sink($i) set bytes_]
        if {{$delivered < 0}} {{ incr delivered 4294967296 }}
        incr bytes $delivered
    }}
    puts "$bytes [$monitor set pdrops_]"
    exit 0
}}
$ns run
'''


def settings_of(scenario):
    return DEFAULTS | dict(word.split('=') for word in scenario.split())


def tcl_rate(rate):
    """10M, as tcp_run has it, is 10Mb to ns-2."""
    return rate + 'b'


def share(text):
    return float(text[:-1]) / 100 if text.endswith('%') else float(text)


def seeds_of(scenario, full):
    """One is as good as many where nothing is drawn but the phase of a clock."""
    if full:
        return range(1, SEEDS_FULL + 1)
    drawn = any(word in scenario for word in ('loss=', 'spread=', 'discipline='))
    return range(1, SEEDS + 1) if drawn else range(1, 2)


def ours(program, scenario, seed):
    done = subprocess.run([program, *scenario.split(), f'seed={seed}'], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=TIMEOUT_S)
    return json.loads(done.stdout)


def tcl_of(scenario, seed, starts):
    settings = settings_of(scenario)
    agent, sink = AGENTS[settings['variety']]
    # ns-2's Vegas sends packets without a head.
    extra = HEAD_BYTES if settings['variety'] == 'vegas' else 0
    return TCL.format(
        seed=seed, rate=tcl_rate(settings['rate']), delay=settings['delay'],
        queue_class='RED' if settings['discipline'] == 'red' else 'DropTail',
        queue=settings['queue'], loss=share(settings['loss']), window=settings['window'],
        packet_bytes=PAYLOAD_BYTES + extra,
        window_option=8 if settings['variety'] == 'highspeed' else 1,
        max_ssthresh=settings['max-ssthresh'], flows=settings['flows'],
        access_rate=tcl_rate(settings['access-rate']), access_delay=settings['access-delay'],
        agent=agent, sink=sink + '/DelAck' * (settings['delayed-ack'] == '1'),
        seconds=settings['seconds'], starts=' '.join(f'{start:.9f}' for start in starts))


def theirs(folder, scenario, seed, starts):
    with tempfile.NamedTemporaryFile('w', suffix='.tcl', dir=folder) as script:
        script.write(tcl_of(scenario, seed, starts))
        script.flush()
        done = subprocess.run(['ns', script.name], check=True, text=True, stdout=subprocess.PIPE,
                              timeout=TIMEOUT_S, cwd=folder)
    delivered, drops = done.stdout.split()[-2:]
    packets = int(delivered) / (PAYLOAD_BYTES + HEAD_BYTES)
    return packets * PAYLOAD_BYTES, int(drops)


def compare(program, folder, scenario, seeds):
    """([goodput of ours, of ns-2], [drops of ours, of ns-2]), sums over the seeds."""
    goodput, drops = [0, 0], [0, 0]
    for seed in seeds:
        mine = ours(program, scenario, seed)
        goodput[0] += mine['goodput_bytes']
        drops[0] += mine['drops']
        ns_goodput, ns_drops = theirs(folder, scenario, seed, [f['start_s'] for f in mine['flows']])
        goodput[1] += ns_goodput
        drops[1] += ns_drops
    return goodput, drops


def differs(pair, most):
    return abs(pair[0] - pair[1]) > most * max(pair[1], 1)


def report(name, seconds, seeds, goodput, drops):
    """Prints the pair; True: it agrees."""
    rates = [8 * total / seeds / seconds / 1e6 for total in goodput]
    wrong = []
    if differs(goodput, GOODPUT_SHARE):
        wrong.append('goodput')
    if differs(drops, DROPS_SHARE) and abs(drops[0] - drops[1]) > DROPS_FEW:
        wrong.append('drops')
    apart = [100 * (pair[0] / pair[1] - 1) if pair[1] else 0.0 for pair in (goodput, drops)]
    print(f'{name:34} {rates[0]:8.3f} {rates[1]:8.3f} Mb/s {apart[0]:+6.2f} %   '
          f'{drops[0] / seeds:8.1f} {drops[1] / seeds:8.1f} drops {apart[1]:+7.2f} %'
          + ''.join(f'   {what.upper()}' for what in wrong), flush=True)
    return not wrong


def lengthened(scenario):
    return re.sub(r'seconds=(\d+)', lambda found: f'seconds={5 * int(found[1])}', scenario)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('program', help='tcp_run, built')
    parser.add_argument('-k', metavar='PATTERN', default='', help='only scenarios that match')
    parser.add_argument('--full', action='store_true', help='five times as long, and all seeds')
    arguments = parser.parse_args()
    if shutil.which('ns') is None:
        print('skipped: ns-2 is not installed (Debian: ns2), nothing to compare with')
        return 77
    names = [name for name in SCENARIOS if re.search(arguments.k, name)]
    program = Path(arguments.program).resolve()
    bad = []
    print(f'{"means over seeds":34} {"ours":>8} {"ns-2":>8}'
          f'{"":18}{"ours":>8} {"ns-2":>8}')
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(JOBS) as pool:
        scenarios = [lengthened(SCENARIOS[n]) if arguments.full else SCENARIOS[n] for n in names]
        seeds = [seeds_of(scenario, arguments.full) for scenario in scenarios]
        results = pool.map(lambda pair: compare(program, folder, *pair), zip(scenarios, seeds))
        for name, scenario, n, (goodput, drops) in zip(names, scenarios, seeds, results):
            if not report(name, int(settings_of(scenario)['seconds']), len(n), goodput, drops):
                bad.append(name)
    if bad:
        print(f'{len(bad)} of {len(names)} differ too much: {", ".join(bad)}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
