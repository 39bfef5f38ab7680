#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Cost against size: files of a tree, jobs of a queue, peers that are trusted.

    size.py [--files N] [--jobs N] [--peers N] [--step N] [--folder F] [--svg F] [--csv F]
            [--binary PATH]

Each grows from ten by tens (--step) up to N (10^6, 10^4, 10^3); a row for each size has time and
memory for one more.
They are flat where nothing grows by more than what is there: time within chance, memory towards
what one costs. It measures and judges nothing; the picture has a panel for each.
"""

import argparse
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from functools import partial
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'test/e2e'), str(TOP / 'python')]

import wavehaul  # noqa: E402
import pair as ends  # noqa: E402
from harness import Program, expect, expect_status  # noqa: E402
from orders import houses  # noqa: E402
from pair import Pair, remote  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

FILE_BYTES = 100
FOLDER_FILES = 1000
LONG_S = 3600
COLOURS = ('#1f77b4', '#d62728', '#2ca02c', '#9467bd')

# Of `size` things: what one cost in us, and what all cost in KiB over a process that has none.
Row = namedtuple('Row', 'size what us kib')


def sizes(most, step):
    size = 10
    while size <= most:
        yield size
        size *= step


def peak_kib(pid):
    """The most that a process had of its own: the pools of packets are reserved at its start."""
    text = Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+)', text).group(1))


def now_kib(pid):
    text = Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'VmRSS:\s+(\d+)', text).group(1))


def stop(pair):
    """Beside other work it takes its time."""
    pair.process.send_signal(signal.SIGTERM)
    expect(pair.await_server(LONG_S) == 0, 'the server does not end well')


def plant(folder, files):
    for first in range(0, files, FOLDER_FILES):
        below = folder / str(first // FOLDER_FILES)
        below.mkdir(parents=True)
        for i in range(first, min(files, first + FOLDER_FILES)):
            (below / str(i)).write_bytes(b'%0*d' % (FILE_BYTES, i))


def watch_peak(process):
    peak = 0
    while process.poll() is None:
        try:
            peak = peak_kib(process.pid)
        except (OSError, AttributeError):
            break
        time.sleep(0.02)
    return peak


def measure_files(program, folder, steps):
    """A tree is sent to a server: both ends."""
    base = {}
    for files in steps:
        place = folder / f'{files}'
        plant(place / 'tree', files)
        with Pair(program, place, huge=False) as pair:
            began = time.monotonic()
            with pair.running('send', '-r', place / 'tree', remote('came'), '--stall-timeout',
                              '1h') as process:
                mine = watch_peak(process)
                expect_status(pair.finish(process, LONG_S), 0)
            us = (time.monotonic() - began) * 1e6
            theirs = peak_kib(pair.process.pid)
            count = sum(len(names) for _, _, names in os.walk(pair.served))
            expect(count == files, f'{count} files came of {files}')
            stop(pair)
        shutil.rmtree(place)
        for what, kib in (('file, sender', mine), ('file, receiver', theirs)):
            yield Row(files, what, us / files, kib - base.setdefault(what, kib))


def measure_jobs(program, steps):
    """Jobs to a thousand hosts, not yet due: each is added, all are listed, one is shown; and the
    server begins anew."""
    with houses(program) as (one, _):
        base, there = now_kib(one.process.pid), 0
        (one.root / 'a').write_text('a')
        due = time.time() + 86400
        for size in steps:
            with wavehaul.connect(one.path) as server:
                began = time.monotonic()
                for i in range(there, size):
                    server.send('a', f'203.0.{i // 250 % 4}.{i % 250 + 1}', f'a{i}',
                                not_before=due, priority=i % 10)
                added, there = (time.monotonic() - began) * 1e6 / (size - there), size
                yield Row(size, 'job, added', added, now_kib(one.process.pid) - base)
                began = time.monotonic()
                expect(sum(1 for _ in server.jobs()) == size, 'not all are listed')
                yield Row(size, 'job, listed', (time.monotonic() - began) * 1e6 / size,
                          now_kib(one.process.pid) - base)
                began = time.monotonic()
                for i in range(100):
                    server.show(1 + i * size // 100)
                yield Row(size, 'job, shown', (time.monotonic() - began) * 1e4,
                          now_kib(one.process.pid) - base)
            one.stop()
            began = time.monotonic()
            one.start()
            yield Row(size, 'job, restart', (time.monotonic() - began) * 1e6 / size,
                      now_kib(one.process.pid) - base)


def measure_peers(program, folder, steps):
    """A server that trusts so many: until it serves, and until it has read a change of one."""
    trust = folder / 'trust.d'
    trust.mkdir()
    base = None
    for size in steps:
        for i in range(size):
            (trust / f'peer{i}.conf').write_text(
                f'[peer]\nkey = sha256:{i:064x}\naddress = 203.0.{i // 250}.{i % 250 + 1}\n')
        place = folder / f'peers{size}'
        place.mkdir()
        began = time.monotonic()
        with Pair(program, place, huge=False, server=('--trust', trust)) as pair:
            us = (time.monotonic() - began) * 1e6
            expect(f', {size} so far' in pair.said(), pair.said())
            kib = now_kib(pair.process.pid)
            base = kib if base is None else base
            yield Row(size, 'peer, at start', us / size, kib - base)
            (trust / 'peer0.conf').write_text('[peer]\nkey = nonsense\n')
            began = time.monotonic()
            pair.process.send_signal(signal.SIGHUP)
            while 'peer0' not in pair.said():
                expect(time.monotonic() - began < 20, 'a change is not read')
                time.sleep(0.001)
            yield Row(size, 'peer, read again', (time.monotonic() - began) * 1e6 / size,
                      now_kib(pair.process.pid) - base)
            stop(pair)


def panel(rows, key, title, x):
    """Curves of one panel of the picture, log-log: who grows with size rises in us or KiB."""
    import math
    left, top, width, height = x, 40, 260, 200
    kinds = list(dict.fromkeys(row.what for row in rows))
    values = [max(key(row), 0.01) for row in rows]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 0.01)
    decades = math.log10(max(row.size for row in rows)) - 1 or 1
    yield f'<text x="{left}" y="{top - 12}" font-weight="bold">{title}</text>'
    yield (f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" '
           'stroke="#888"/>')
    for power in range(low, high + 1):
        y = top + height * (high - power) / (high - low)
        yield f'<line x1="{left}" x2="{left + width}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        yield f'<text x="{left - 4}" y="{y + 4}" text-anchor="end">1e{power}</text>'
    for power in range(1, round(decades) + 2):
        place = left + width * (power - 1) / decades
        yield f'<text x="{place}" y="{top + height + 14}" text-anchor="middle">1e{power}</text>'
    for i, kind in enumerate(kinds):
        colour = COLOURS[i % len(COLOURS)]
        points = [(left + width * (math.log10(row.size) - 1) / decades,
                   top + height * (high - math.log10(max(key(row), 0.01))) / (high - low))
                  for row in rows if row.what == kind]
        line = ' '.join(f'{a:.1f},{b:.1f}' for a, b in points)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield (f'<text x="{left + 6}" y="{top + 16 + 14 * i}" fill="{colour}">{kind}</text>')


def draw(tables, path):
    parts = []
    for row, (key, unit) in enumerate(((lambda r: r.us, 'us for one'),
                                       (lambda r: r.kib * 1024 / r.size, 'bytes for one'))):
        parts.append(f'<g transform="translate(0,{row * 270})">')
        for i, (name, rows) in enumerate(tables.items()):
            parts += panel(rows, key, f'{name}: {unit}', 60 + 340 * i)
        parts.append('</g>')
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="1060" height="560" '
                    'font-family="sans-serif" font-size="11">'
                    '<rect width="1060" height="560" fill="white"/>' + '\n'.join(parts) + '</svg>')


def write(tables, path):
    with open(path, 'w', newline='', encoding='ascii') as file:
        lines = csv.writer(file)
        lines.writerow(('what', 'size', 'us_for_one', 'kib_more'))
        for rows in tables.values():
            lines.writerows((row.what, row.size, f'{row.us:.1f}', row.kib) for row in rows)


def main():
    parser = argparse.ArgumentParser(description='Cost against size.')
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--files', type=int, default=10**6)
    parser.add_argument('--jobs', type=int, default=10**4)
    parser.add_argument('--peers', type=int, default=10**3)
    parser.add_argument('--step', type=int, default=10, help='how many times more each')
    parser.add_argument('--folder', type=Path, help='where the files are, both ends')
    parser.add_argument('--svg', type=Path, default=TOP / 'build/size.svg')
    parser.add_argument('--csv', type=Path, default=TOP / 'build/size.csv')
    chosen = parser.parse_args()
    program, tables = Program(chosen.binary), {}
    ends.STARTING_S = LONG_S  # beside other work, too
    print(f'{"":18} {"size":>9} {"us for one":>12} {"KiB more":>10}')
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        for title, most, measure in (
                ('peers', chosen.peers, partial(measure_peers, program, folder)),
                ('jobs', chosen.jobs, partial(measure_jobs, program)),
                ('files', chosen.files, partial(measure_files, program, folder))):
            for row in measure(list(sizes(most, chosen.step))) if most else ():
                tables.setdefault(title, []).append(row)
                print(f'{row.what:18} {row.size:9} {row.us:12.1f} {row.kib:10}', flush=True)
                draw(tables, chosen.svg)
                write(tables, chosen.csv)


if __name__ == '__main__':
    try:
        main()
    except (OSError, subprocess.SubprocessError) as failed:
        sys.exit(str(failed))
