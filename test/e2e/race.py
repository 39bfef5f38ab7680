#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""tools/race as a program: what it refuses, and what is left of one that is killed.

    race.py [-k PATTERN] [--binary PATH]

Only root makes namespaces: those cases are skipped otherwise.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from harness import (Case, Result, Skip, end_group, expect, expect_equal, expect_said,
                     expect_status, run_cases)
from pair import wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 20
SHORT = ('--as-told', '--rate', '20', '--rtt', '10', '--losses', '0', '--beside', 'none', '--only',
         'kernel cubic')
LIMIT_S, GONE_S = 60, 15


def start(program, *args):
    return subprocess.Popen([TOP / 'tools/race', '--binary', program.binary, *map(str, args)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


def finish(process):
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        end_group(process)
    return Result(process.returncode, out, err, 0)


def race(program, *args):
    return finish(start(program, *args))


def need_race():
    if os.geteuid() != 0:
        raise Skip('only root makes network namespaces')
    if not {0, 1} <= os.sched_getaffinity(0):
        raise Skip('it wants CPUs 0 and 1')
    if not all(map(shutil.which, ('ip', 'iperf3', 'ethtool', 'taskset'))):
        raise Skip('iperf3, ethtool or iproute2 is not there')


def made():
    """Namespaces and folders of races."""
    return {str(path) for place, pattern in (('/run/netns', 'wavehaul-*-race-*'),
                                             ('/dev/shm', 'wavehaul-bench-*'))
            for path in Path(place).glob(pattern)}


def running(words):
    """Programs whose command lines have all of these words, but for the race itself."""
    found = []
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        try:
            command = path.read_bytes().split(b'\0')
        except OSError:  # it is gone
            continue
        if all(word.encode() in command for word in words):
            found.append(int(path.parent.name))
    return found


def script_of(guard):
    """The child that does the work."""
    children = Path(f'/proc/{guard.pid}/task/{guard.pid}/children').read_text().split()
    return int(children[0]) if children else None


def refused(program, folder):
    """Before anything is measured, in one sentence."""
    need_race()
    (folder / 'file').write_text('', encoding='utf-8')
    for args, status, words in (
            (('--time', '-1'), USAGE, "'-1' is no number of seconds"),
            (('--losses', '1e-2,2'), USAGE, 'is no list of shares'),
            (('--only', 'cubic,nobody'), USAGE, "--only 'nobody' is in none of these names: kern"),
            (('--only', 'cubic', '--beside', 'bbr'), USAGE,
             "--beside 'bbr' is none of kernel cubic, kernel bbr"),
            (('--json', folder / 'no/where.json'), FAILED, 'where.json: No such file'),
            (('--svg', folder), FAILED, 'Is a directory'),
            (('--svg', folder / 'file/chart.svg'), FAILED, 'chart.svg: Not a directory')):
        result = race(program, *args)
        expect_status(result, status)
        expect_said(result, words)
        expect('Traceback' not in result.err, result.err)
    expect_equal('files', sorted(os.listdir(folder)), ['file'])


def measures(program, folder):
    """Table, JSON and picture of one contender; nothing is left."""
    need_race()
    before = made()
    result = race(program, *SHORT, '--time', 2, '--json', folder / 'race.json', '--svg',
                  folder / 'race.svg')
    expect_status(result, OK)
    told = json.loads((folder / 'race.json').read_text(encoding='utf-8'))
    expect_equal('runs', [(run['name'], run['failure']) for run in told['runs']],
                 [('kernel cubic', None)])
    expect(re.search(r'^kernel cubic +\d', result.out, re.MULTILINE), result.out)
    expect('Both ends share CPU 0, the path has CPU 1' in result.out, result.out)
    expect('<svg' in (folder / 'race.svg').read_text(encoding='utf-8'), 'no picture')
    expect_equal('left', made() - before, set())


def killed(program, _folder):
    """Whichever of its processes dies by SIGKILL, or Ctrl-C ends it: nothing stays."""
    need_race()
    wan = (program.binary, 'wan', 'af_packet:wa')

    def programs():
        return set(running(wan) + running(('iperf3',)))

    for whom in ('guard', 'script', 'interrupt'):
        before = made()
        process = start(program, *SHORT, '--time', 40)
        try:
            wait_until(lambda: running(wan) and running(('iperf3', '--client')), 30, 'a race')
            began = programs()
            expect(len(made() - before) == 4, f'{made() - before}')
            if whom == 'interrupt':
                process.send_signal(signal.SIGINT)
            else:
                os.kill(process.pid if whom == 'guard' else script_of(process), signal.SIGKILL)
            wait_until(lambda: not made() - before, GONE_S, f'the end of all after {whom}')
            wait_until(lambda: not began & programs(), GONE_S,
                       f'the end of its programs after {whom}')
            status = process.wait(GONE_S)
        finally:
            end_group(process)
        expect_equal(f'status after {whom}', status, {'guard': -9, 'script': 128 + 9,
                                                      'interrupt': INTERRUPTED}[whom])


def swept(program, _folder):
    """What a race left whose processes were all killed at once goes when the next one begins."""
    need_race()
    process = start(program, *SHORT, '--time', 40)
    try:
        wait_until(lambda: running((program.binary, 'wan', 'af_packet:wa')), 30, 'a race')
        script = script_of(process)
        process.send_signal(signal.SIGSTOP)
        os.kill(script, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGKILL)
        os.kill(script, signal.SIGKILL)
    finally:
        end_group(process)
    left = {path for path in made() if f'-{script}-' in path}
    expect(len(left) == 4, f'{left}')
    spins = running((program.binary, 'wan', 'af_packet:wa'))
    expect(spins, 'no wan has outlived the race')
    expect_status(race(program, *SHORT, '--time', 1), OK)
    expect_equal('left', left & made(), set())
    expect_equal('programs left', set(spins) & set(running((program.binary, 'wan'))), set())


def cases():
    yield Case('refused', True, refused)
    yield Case('measures', True, measures, judges_time=True)
    yield Case('killed', False, killed, judges_time=True)
    yield Case('swept', False, swept, judges_time=True)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
