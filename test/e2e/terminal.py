#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What a person at a terminal reads, and a program that asks for JSON.

    terminal.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from harness import (Case, end_group, expect, expect_equal, expect_said, expect_status, run_cases)
from pair import Pair, on_cpu, remote

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE, NO_FILE, INTERRUPTED, PARTIAL = 0, 2, 3, 20, 23
MIB = 1 << 20
TIMEOUT_S = 30

# What may go to a terminal that can do it: back to the beginning of the line, and erase the rest.
ERASE = '\r\x1b[K'
ESCAPE = re.compile(r'\x1b(?!\[K)')

SLOW = ('--size', '64M', '--rate', '400M', '--rtt', '2ms', '--loss', '0')


class Terminal:
    """One of so many columns, with a program on it whose stdout goes elsewhere."""

    def __init__(self, program, args, columns=80, kind='xterm'):
        self.master, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k != 'TERM'}
        if kind is not None:
            environment['TERM'] = kind
        self.process = subprocess.Popen(
            [*on_cpu(1), program.binary, *map(str, args)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=end, start_new_session=True, env=environment)
        os.close(end)
        self.said, self.out = '', ''

    def read(self, until=None):
        """What it says, to its end or until a pattern is found in it."""
        began = time.monotonic()
        while until is None or not re.search(until, self.said):
            expect(time.monotonic() - began < TIMEOUT_S,
                   f'nothing like {until!r} but {self.said[-300:]!r}')
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                self.said += os.read(self.master, 1 << 16).decode()
            except OSError:  # the other end is closed
                break
        return self.said

    def finish(self):
        self.read()
        self.out = self.process.communicate(timeout=TIMEOUT_S)[0].decode()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            end_group(self.process)
        os.close(self.master)


def expect_lines_fit(said, columns):
    expect(not ESCAPE.search(said), f'another escape than to erase: {said!r}')
    shown = [line for line in re.split('\r|\n', said.replace('\x1b[K', '')) if ' %' in line]
    expect(shown, f'no progress in {said!r}')
    for line in shown:
        expect(len(line) < columns, f'{len(line)} columns: {line!r}')


def progress_fits(program, folder):
    for columns in (40, 120):
        with Terminal(program, ('demo', *SLOW), columns) as terminal:
            expect_equal('exit status', terminal.finish(), OK)
            expect_lines_fit(terminal.said, columns)
            expect(terminal.said.endswith(ERASE), f'a line stays: {terminal.said[-80:]!r}')
            expect_equal('the mean is shown', 'mean' in terminal.said, columns == 120)


def plain_where_it_must(program, folder):
    """On a terminal that cannot write over a line, or is not known, there is none."""
    for kind in ('dumb', '', None):
        with Terminal(program, ('demo', '--size', '16M', '--rtt', '1ms'), 80, kind) as terminal:
            expect_equal('exit status', terminal.finish(), OK)
            expect('\x1b' not in terminal.said and '%' not in terminal.said,
                   f'TERM={kind}: {terminal.said!r}')


def demo_interrupted(program, folder):
    with Terminal(program, ('demo', '--size', '2G', *SLOW[2:]), 60) as terminal:
        terminal.read(r'[1-9]\.\d %')
        terminal.process.send_signal(signal.SIGINT)
        expect_equal('exit status', terminal.finish(), INTERRUPTED)
        expect(f'{ERASE}wavehaul: interrupted; ' in terminal.said,
               f'glued: {terminal.said[-300:]!r}')


def send_interrupted(program, folder):
    """The outcome has a line of its own, and the transferred bytes are reported."""
    with open(folder / 'big', 'wb') as file:
        file.write(os.urandom(MIB) * 400)
    with Pair(program, folder) as pair:
        for json_wanted in (False, True):
            args = pair.command('send', '--rate', '400M', folder / 'big', remote(),
                                *(('--json',) if json_wanted else ()))
            with Terminal(program, args, 40) as terminal:
                terminal.read(r'[1-9]\.\d %')
                terminal.process.send_signal(signal.SIGINT)
                expect_equal('exit status', terminal.finish(), INTERRUPTED)
                expect_lines_fit(terminal.said.partition('wavehaul: interrupted')[0], 40)
                expect(f'{ERASE}wavehaul: interrupted; ' in terminal.said,
                       f'glued: {terminal.said[-300:]!r}')
                if json_wanted:
                    moved = json.loads(terminal.out)['moved_bytes']
                    expect(moved > MIB, f'{moved} bytes had gone over')
                else:
                    expect(re.search(r'^0 files, 0 B in .*; [1-9].* had gone over', terminal.out),
                           f'it says {terminal.out!r}')
        pair.stop_server()


def one_object(program, status, *args):
    result = program.run(*args)
    expect_status(result, status)
    lines = result.out.splitlines()
    report = json.loads(result.out)
    expect(lines and isinstance(report, dict), f'stdout is {result.out!r}')
    expect_equal('ok', report['ok'], False)
    expect_equal('exit_status', report['exit_status'], status)
    expect(result.err.strip().endswith(report['error']), f'{report["error"]!r}: {result.err!r}')
    return report


def json_of_refusals(program, folder):
    """For any error, and wherever --json stands on the command line."""
    file = folder / 'file'
    file.write_text('x')
    for words in (('--rate', 'x', '--json'), ('--json', '--rate', 'x'), ('--none', '--json'),
                  ('word', '--json'), ('--profile', 'x', '--json'),
                  ('--json', '--file', file, '--size', '1M')):
        expect_equal('verb', one_object(program, USAGE, 'demo', *words)['verb'], 'demo')
    one_object(program, NO_FILE, 'demo', '--json', '--file', folder / 'none')
    for verb in ('send', 'get', 'bench'):
        for words in (('--rate', 'x', '--json'), ('--json', '--rate', 'x'), ('--none', '--json')):
            expect_equal('verb', one_object(program, USAGE, verb, *words)['verb'], verb)
    one_object(program, USAGE, 'send', '--rate', 'x', '--json-stream')
    result = program.run('demo', '--help', '--json')
    expect_status(result, OK)
    expect('Usage' in result.out or 'usage' in result.out, 'no help')


def file_and_size(program, folder):
    (folder / 'file').write_bytes(bytes(MIB))
    result = program.run('demo', '--size', '1K', '--file', folder / 'file')
    expect_status(result, USAGE)
    expect_said(result, '--size creates a file, and --file sends')


def sentences(program, folder):
    """The message names the file, the problem and the fix; one file is counted as one."""
    (folder / 'tree').mkdir()
    (folder / 'tree' / 'file').write_text('x')
    with Pair(program, folder) as pair:
        (pair.served / 'out').symlink_to('/etc')
        (pair.served / 'file').mkdir()
        for args, status, pattern in (
                (('send', folder / 'tree', remote()), PARTIAL, r'tree: is a folder; add -r'),
                (('get', remote('out/passwd'), folder), PARTIAL,
                 r'out/passwd: at the other end: leads out of the served'),
                (('get', remote('out/passwd/'), folder), PARTIAL, 'leads out of|symbolic link'),
                (('send', folder / 'tree' / 'file', remote()), PARTIAL,
                 'file: at the other end: a folder already has')):
            result = pair.run(*args)
            expect_status(result, status)
            expect_said(result, pattern)
        for verb in (('send', '-r', folder / 'tree', remote('there/')),
                     ('get', remote('there/tree/file'), folder / 'back')):
            result = pair.run(*verb)
            expect_status(result, OK)
            expect(re.search(r'^1 file,|^2 files,', result.out), f'it says {result.out!r}')
        expect(result.out.startswith('1 file, 1 B'), f'it says {result.out!r}')
        pair.stop_server()


CASES = [
    Case('JSON of refusals', True, json_of_refusals),
    Case('file and size', True, file_and_size),
    Case('progress fits', True, progress_fits),
    Case('plain where it must', True, plain_where_it_must),
    Case('demo interrupted', True, demo_interrupted),
    Case('send interrupted', False, send_interrupted),
    Case('sentences', True, sentences),
]


if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
