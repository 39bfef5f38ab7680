#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What sealing costs two hosts over memif, memory to memory: with and without a seal, in turns.

    sealed.py [--binary PATH] [--seconds N] [--rounds N]

max     as fast as it goes, at 1500 and at 9000: one core for each end
10G     what of a paced 10 Gb/s arrives in time, at 9000 and, where the machine can, at 1500
Wants two CPUs with nothing else to do. It judges nothing; medians stand in the last lines.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Program, decode_object, expect_status  # noqa: E402
from pair import SERVER, Pair  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
KINDS = {'sealed': (), 'unsealed': ('--unsealed',)}


def measure(pair, seconds, rate, seal):
    result = pair.run('bench', '--json', '--profile', 'fixed', '--rate', rate, '--time',
                      f'{seconds}s', *seal, SERVER)
    expect_status(result, 0)
    return decode_object(result)


def take():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--seconds', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--mtu', type=int, nargs='*', default=[1500, 9000])
    parser.add_argument('--rate', nargs='*', default=['max', '10G'])
    return parser.parse_args()


def main():
    args = take()
    program = Program(args.binary)
    seen = {}
    for number in range(args.rounds):
        for mtu in args.mtu:
            for kind, seal in KINDS.items():
                with tempfile.TemporaryDirectory() as folder, \
                        Pair(program, Path(folder), server=seal, both=('--mtu', mtu)) as pair:
                    for rate in args.rate:
                        report = measure(pair, args.seconds, rate, seal)
                        gbps = report['receiver']['bps'] / 1e9
                        cycles = report['cycles_per_packet']
                        most = sorted(cycles['here'].items(), key=lambda item: -item[1])[:3]
                        print(f'{number}: {rate:4} {mtu} {kind:8} {gbps:6.2f} Gb/s, cycles/packet '
                              f'{sum(cycles["here"].values()):.0f} here '
                              f'({", ".join(f"{name} {value:.0f}" for name, value in most)}), '
                              f'{cycles["receiver"]:.0f} at the receiver', flush=True)
                        seen.setdefault((rate, mtu, kind), []).append(gbps)
                    pair.stop_server()
    for rate in args.rate:
        for mtu in args.mtu:
            sealed, plain = (statistics.median(seen[rate, mtu, kind]) for kind in KINDS)
            print(f'{rate:4} {mtu}: {sealed:.2f} Gb/s sealed, {plain:.2f} unsealed: '
                  f'{100 * sealed / plain:.0f} %')


if __name__ == '__main__':
    main()
