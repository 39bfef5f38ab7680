#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The laboratory, a program of its own: `wavehaul` becomes it, and says so where it is missing.

    laboratory.py [-k PATTERN] [--binary PATH]
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

from harness import (Case, Program, end_group, expect, expect_equal, expect_said, expect_status,
                     neighbour_of, run_cases)

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'
OK, OTHER, USAGE, EXPECTATION, INTERRUPTED = 0, 1, 2, 8, 20
VERBS = ('demo', 'sim', 'wan', 'plan')
MISSING = ('wavehaul: wavehaul {} is of the laboratory, which is not installed: install the '
           'package wavehaul-lab\n')
BECOMES_S = 10

# A second of nothing but packets; the expectation cannot hold.
SCENARIO = '''
[scenario]
duration = {}

[link A-B]
rate = {}
queue = 100

[flow cbr]
agent = cbr
rate = {}
from = A
to = B

[expect]
more than there is = goodput(cbr) >= 20M
'''


def write_scenario(folder, duration='1s', rate='10M'):
    path = Path(folder) / 'given.ini'
    path.write_text(SCENARIO.format(duration, rate, rate))
    return path


def statuses_are_its_own(program, folder):
    """What the laboratory ends with is what the program that people type ends with."""
    result = program.run('sim', write_scenario(folder))
    expect_status(result, EXPECTATION)
    expect('more than there is' in result.out, f'the expectation in {result.out!r}')
    expect_status(program.run('plan', '--rate', '10G', '--rate-of-what'), USAGE)
    for verb in VERBS:
        result = program.run(verb, '--help')
        expect_status(result, OK)
        expect_equal(f'--help of {verb}', result.out, program.run('help', verb).out)


def becomes_it(program, folder):
    """No second process stands between it and its signals."""
    for number, status in ((signal.SIGINT, INTERRUPTED), (signal.SIGKILL, -signal.SIGKILL)):
        process = program.start('sim', write_scenario(folder, '3600s', '10G'))
        try:
            began = time.monotonic()
            while Path(os.readlink(f'/proc/{process.pid}/exe')).name != 'wavehaul-lab':
                expect(time.monotonic() - began < BECOMES_S, 'it has not become wavehaul-lab')
                time.sleep(0.01)
            children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text()
            time.sleep(0.5)  # until it listens to signals
            process.send_signal(number)
            process.communicate(timeout=BECOMES_S)
        except BaseException:
            end_group(process)
            raise
        expect_equal(f'exit status after signal {number}, children {children}',
                     process.returncode, status)


def alone(program, folder):
    return Program(shutil.copy(program.binary, folder))


def says_what_is_missing(program, folder):
    """Without the package one sentence names it; help is there all the same."""
    single = alone(program, folder)
    for verb in VERBS:
        result = single.run(verb)
        expect_status(result, OTHER)
        expect_equal(f'of {verb}', result.err, MISSING.format(verb))
        expect_equal(f'stdout of {verb}', result.out, '')
        expect_equal(f'help on {verb}', single.run('help', verb).out,
                     program.run('help', verb).out)
    expect_status(single.run('profiles'), OK)


def found_beside_it(program, folder):
    """The neighbour in its own folder comes first; one that cannot run is named."""
    single = alone(program, folder)
    shutil.copy(neighbour_of(program.binary), folder)
    expect_status(single.run('sim', '--list'), OK)
    broken = Path(folder) / 'wavehaul-lab'
    broken.write_text('no program')
    broken.chmod(0o755)
    result = single.run('sim', '--list')
    expect_status(result, OTHER)
    expect_said(result, f'cannot run {broken}: Exec format error')


def knows_its_verbs(program, _folder):
    """Typed itself it has these verbs, and the same version."""
    lab = Program(neighbour_of(program.binary))
    version = program.run('--version').out
    expect_equal('its version', lab.run('-V').out, version.replace('wavehaul', 'wavehaul-lab', 1))
    told = lab.run('--help').out
    for verb in VERBS:
        expect(f'\n  {verb} ' in told, f'{verb} in {told!r}')
    result = lab.run('send')
    expect_status(result, USAGE)
    expect_said(result, "no verb 'send' in the laboratory")


CASES = [
    Case('statuses are its own', True, statuses_are_its_own),
    Case('becomes it', True, becomes_it),
    Case('says what is missing', True, says_what_is_missing),
    Case('found beside it', True, found_beside_it),
    Case('knows its verbs', True, knows_its_verbs),
]


if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
