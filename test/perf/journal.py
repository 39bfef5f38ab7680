#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What a journal of parts costs a transfer over memif: with and without it, by turns.

    journal.py [--binary PATH] [--folder PATH] [--mib N] [--files N] [--rounds N]

large   one file: bits a second
small   files of 4 KiB, which the journal has nothing of: files a second
In each round either is done twice, in the order off, on, on, off, so that what a disk or other
programs do slowly meets both alike. Wants two CPUs with nothing else to do. It judges nothing;
medians of rounds, and the quartiles of what on has of off, stand in the last lines.
"""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Program, decode_object, expect_status  # noqa: E402
from pair import Pair, remote  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
MIB = 1 << 20
ORDER = ('off', 'sparse', 'sparse', 'off')


def take():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--folder', default='/dev/shm')
    parser.add_argument('--mib', type=int, default=1024)
    parser.add_argument('--files', type=int, default=100_000)
    parser.add_argument('--rounds', type=int, default=3)
    return parser.parse_args()


def plant(folder, args):
    """What is measured, by its name: its path, and how many of what it counts."""
    planted = {}
    if args.mib > 0:
        block = random.Random(7).randbytes(MIB)
        with open(folder / 'large', 'wb') as file:
            for _ in range(args.mib):
                file.write(block)
        planted['large'] = (folder / 'large', args.mib * MIB * 8 / 1e9, 'Gb/s')
    for number in range(args.files):
        path = folder / 'small' / str(number // 1000) / str(number)
        if number % 1000 == 0:
            path.parent.mkdir(parents=True)
        path.write_bytes(block[number % 4096:number % 4096 + 4096] if args.mib else b'x' * 4096)
    if args.files > 0:
        planted['small'] = (folder / 'small', args.files, 'files/s')
    return planted


def measure(pair, path, resume):
    result = pair.run('send', '--json', '-r', '--profile', 'fixed', '--rate', 'max', '--resume',
                      resume, path, remote('in/'), timeout_s=300)
    expect_status(result, 0)
    shutil.rmtree(pair.served / 'in')
    os.sync()
    return decode_object(result)['seconds']


def tell(name, unit, rates):
    off, on = (statistics.median(rates[name, resume]) for resume in ('off', 'sparse'))
    ratios = [one / other for one, other in zip(rates[name, 'sparse'], rates[name, 'off'])]
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    print(f'{name}: {on:.2f} {unit} with a journal, {off:.2f} without: {100 * on / off:.1f} %; '
          f'of neighbours {100 * statistics.median(ratios):.1f} %, quartiles {100 * low:.1f} and '
          f'{100 * high:.1f} %')


def main():
    args = take()
    program, rates, units = Program(args.binary), {}, {}
    with tempfile.TemporaryDirectory(dir=args.folder, prefix='wavehaul-') as name:
        folder = Path(name)
        planted = plant(folder, args)
        with Pair(program, folder, server=('--state', folder / 'state')) as pair:
            for number in range(args.rounds):
                for what, (path, amount, unit) in planted.items():
                    units[what] = unit
                    for resume in ORDER:
                        rate = amount / measure(pair, path, resume)
                        rates.setdefault((what, resume), []).append(rate)
                        print(f'{number}: {what} {resume:6} {rate:.2f} {unit}', flush=True)
            pair.stop_server()
    for what, unit in units.items():
        tell(what, unit, rates)


if __name__ == '__main__':
    main()
