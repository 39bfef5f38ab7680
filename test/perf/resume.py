#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""How soon new data flow of a file of 1 TB that is half there.

    resume.py [--binary PATH] [--folder PATH] [--size-gib N] [--rounds N]

The file is holes but for its beginning and what comes behind its middle, and only its beginning
has been sent: its part is made longer by a hole, and the journal is told that it is durable up to
the middle. Then the rest goes, which is timed: from the start of the program, DPDK's included,
until new data lie in the part at the receiver. It measures and judges nothing; 2 s are wanted.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Program, end_group, expect  # noqa: E402
from pair import Pair, remote, wait_until  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
MIB, GIB = 1 << 20, 1 << 30
HEAD_BYTES, TAIL_BYTES = 192 * MIB, 256 * MIB
BATCH = 64 * MIB
PATIENCE_S = 300


def take():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--folder', help='where both ends are: a file system with sparse files')
    parser.add_argument('--size-gib', type=int, default=1024)
    parser.add_argument('--rounds', type=int, default=3)
    return parser.parse_args()


def plant(path, size):
    block = random.Random(7).randbytes(MIB)
    with open(path, 'wb') as file:
        file.truncate(size)
        for first, many in ((0, HEAD_BYTES), (size // 2, TAIL_BYTES)):
            file.seek(first)
            for number in range(many // MIB):
                file.write(number.to_bytes(8, 'big') + block[8:])


def durable(program, state):
    said = subprocess.run([program.binary, 'parts', '--json', '--state', str(state)],
                          capture_output=True, check=True).stdout
    rows = json.loads(said)['parts']
    return rows[0]['durable_bytes'] if rows else 0


def send(pair, path, *more):
    return pair.start('send', '--profile', 'fixed', '--rate', '4G', '--peer-timeout', '2s',
                      path, remote(), *more)


def room_of(folder):
    """Of all files there, what they have of the disk."""
    return sum(path.stat().st_blocks for path in folder.rglob('*') if path.is_file())


def pretend(state, served, middle):
    """That it came up to the middle."""
    with contextlib.closing(sqlite3.connect(state / 'service.db')) as database:
        changed = database.execute('UPDATE span SET ends=? WHERE begins=0', (middle,)).rowcount
        database.commit()
    expect(changed == 1, f'{changed} spans of the journal')
    for path in served.rglob('*'):
        if path.is_file():
            os.truncate(path, max(path.stat().st_size, middle))


def measure(program, pair, path, state, middle):
    process = send(pair, path)
    wait_until(lambda: durable(program, state) >= BATCH, PATIENCE_S, 'a batch of it')
    process.kill()
    end_group(process)
    pair.kill_server()
    pretend(state, pair.served, middle)
    pair.start_server()
    there, began = room_of(pair.served), time.monotonic()
    process = send(pair, path)
    wait_until(lambda: room_of(pair.served) > there, PATIENCE_S, 'new data')
    spent = time.monotonic() - began
    resumed = durable(program, state)
    process.kill()
    end_group(process)
    expect(resumed >= middle, 'it began again')
    return spent


def main():
    args = take()
    program, size = Program(args.binary), args.size_gib * GIB
    with tempfile.TemporaryDirectory(dir=args.folder, prefix='wavehaul-') as name:
        folder = Path(name)
        state, path = folder / 'state', folder / 'large'
        plant(path, size)
        for number in range(args.rounds):
            with Pair(program, folder, server=('--state', state)) as pair:
                spent = measure(program, pair, path, state, size // 2)
                print(f'{number}: new data {spent:.2f} s after the start', flush=True)
                pair.kill_server()
            for place in (state, folder / 'served'):
                shutil.rmtree(place)


if __name__ == '__main__':
    main()
