#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""How soon a `send` moves that this host's server takes over, and where the time before goes.

    handed.py [--binary PATH] [--rounds N] [--sends N] [--quiet-s S]

Each round has two new servers over memif, which have been idle for S seconds, and sends a small
file N times, again S seconds apart: the first has ARP and a handshake before it, the others find an
SA. A capture of the sender's port tells when what left and came, in ms after the program's start.
It measures and judges nothing.
"""

import argparse
import statistics
import struct
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from capture import PACKET_BLOCK, UDP_BYTES, await_over, frames, is_ip  # noqa: E402
from control import Control  # noqa: E402
from harness import Program, expect_status  # noqa: E402
from orders import CLIENT, houses  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
TYPES = {1: 'DATA', 9: 'OPEN', 10: 'ACCEPT', 11: 'CONFIRM', 12: 'RELEASE', 15: 'ASK',
         16: 'COOKIE', 17: 'CRYPTO'}


def take():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--sends', type=int, default=2)
    parser.add_argument('--quiet-s', type=float, default=6)
    return parser.parse_args()


def times_s(path):
    """Of each packet block, since 1970."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, size = struct.unpack_from('=II', data, at)
        if kind == PACKET_BLOCK:
            high, low = struct.unpack_from('=II', data, at + 12)
            yield ((high << 32) + low) / 1e9
        at += size


def name_of(frame):
    if frame[12:14] == b'\x08\x06':
        return 'ARP'
    return TYPES.get(frame[UDP_BYTES + 1], 'other') if is_ip(frame) else 'other'


def send(program, one, control, name):
    """What left and came: (ms after the start, it leaves, its name), the first of each."""
    capture = control.told('capture.start', port=True, file=f'{name}.pcapng')['capture']
    began, since = time.time(), time.monotonic()
    result = program.run('send', one.root / 'file', f'{CLIENT}:{name}', '--config', 'none',
                         '--control', one.path)
    spent_ms = (time.monotonic() - since) * 1e3
    expect_status(result, 0)
    control.told('capture.stop', capture=capture)
    path = Path(await_over(control, capture)['file'])
    seen = [(1e3 * (at - began), leaves, name_of(frame))
            for at, (leaves, _, frame) in zip(times_s(path), frames(path))]
    return seen, spent_ms


def first_of(seen, name):
    return next((at for at, leaves, what in seen if leaves and what == name), float('nan'))


def tell(seen, spent_ms):
    words = ' '.join(f"{'>' if leaves else '<'}{what} {at:.1f}" for at, leaves, what in seen[:40]
                     if what not in ('other',))
    print(f'  {words}; end {spent_ms:.0f}', flush=True)


def main():
    args = take()
    program = Program(args.binary)
    moves = {number: [] for number in range(args.sends)}
    for _ in range(args.rounds):
        with houses(program) as (one, _), Control(one.path) as control:
            one.make('file', 100_000)
            for number in range(args.sends):
                time.sleep(args.quiet_s)
                seen, spent_ms = send(program, one, control, f'came{number}')
                moves[number].append(first_of(seen, 'DATA'))
                tell(seen, spent_ms)
    for number, values in moves.items():
        print(f'send {number + 1}: first data after {statistics.median(values):.1f} ms '
              f'({min(values):.1f} to {max(values):.1f})')


if __name__ == '__main__':
    main()
