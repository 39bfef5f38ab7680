# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program case by case, one at a time."""

import argparse
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import namedtuple
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / 'tools'))

from benchlib.guarded import MEMORY, STOPPING, be_guarded, sweep  # noqa: E402

# What a stopped program may still take to clean up before it is killed.
GRACE_S = 10
MIDWAY_S = 30

NOBODY = 65534

CONTROL = re.compile(r'[\x00-\x08\x0b-\x1f\x7f]')

Result = namedtuple('Result', 'status out err seconds')
# memory: its folder is no disk's, whose speed says nothing of the case. judges_time: or a rate, or
# losses of a queue that nobody empties meanwhile; so it wants the CPUs for itself.
Case = namedtuple('Case', 'name quick function memory judges_time', defaults=(False, False))


class Failed(Exception):
    pass


class Skip(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failed(message)


def expect_equal(what, actual, expected):
    expect(actual == expected, f'{what} is {actual!r}, not {expected!r}')


def expect_between(what, actual, low, high):
    expect(low <= actual <= high, f'{what} is {actual}, not within [{low}, {high}]')


def quoted(result):
    text = (result.err or result.out).strip()
    return text[-600:] if text else 'not a word'


def expect_status(result, *allowed):
    wanted = ' or '.join(map(str, allowed))
    expect(result.status in allowed, f'exit status {result.status}, not {wanted}: {quoted(result)}')


def expect_said(result, pattern):
    expect(re.search(pattern, result.err, re.IGNORECASE),
           f'stderr says nothing like /{pattern}/: {quoted(result)}')


def decode_object(result):
    """Stdout as exactly one JSON object."""
    try:
        report = json.loads(result.out)
    except json.JSONDecodeError as error:
        raise Failed(f'stdout is not one JSON object ({error}): {result.out[:300]!r}') from None
    expect(isinstance(report, dict), f'stdout is not a JSON object: {result.out[:300]!r}')
    return report


def expect_fields(report, fields, where='report'):
    """{name: its type, or fields of an object}; there may be more."""
    missing = sorted(set(fields) - set(report))
    expect(not missing, f'{where} lacks {missing}')
    for name, kind in fields.items():
        value = report[name]
        if isinstance(kind, dict):
            expect(isinstance(value, dict), f'{where}.{name} is no object')
            expect_fields(value, kind, f'{where}.{name}')
        else:
            right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
            expect(right, f'{where}.{name} is {value!r}')


def program_beside(program, name):
    """What tests need beside a binary."""
    path = Path(program.binary).parents[2] / 'test' / name
    if not path.exists():
        raise Skip(f'{path} is not built')
    return path


def end_group(process):
    """Kills what is left of the program and of what it runs under (setpriv, unshare)."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def have_config_folder():
    """The program's identity and trust must not depend on the machine's configuration."""
    if 'WAVEHAUL_CONFIG_DIR' not in os.environ:
        folder = tempfile.mkdtemp(prefix='wavehaul-config-')
        os.environ['WAVEHAUL_CONFIG_DIR'] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


have_config_folder()

# Nor is its control socket, which a case that wants one names.
os.environ['WAVEHAUL_CONTROL'] = 'off'


def hears(pid, number):
    """Whether the process has a handler for that signal: proc(5), SigCgt."""
    mask = re.search(r'^SigCgt:\s*(\w+)', Path(f'/proc/{pid}/status').read_text(), re.MULTILINE)
    return mask is not None and int(mask[1], 16) >> (number - 1) & 1 == 1


class Program:
    def __init__(self, binary):
        self.binary = str(Path(binary).resolve())

    def start(self, *args, under=()):
        command = [*under, self.binary, *map(str, args)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def finish(self, process, timeout_s, began):
        try:
            out, err = process.communicate(timeout=timeout_s)
        except BaseException as error:
            end_group(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f'still running after {timeout_s} s') from None
            raise
        result = Result(process.returncode, out.decode(), err.decode(errors='backslashreplace'),
                        time.monotonic() - began)
        expect(result.status >= 0, f'died of signal {-result.status}: {quoted(result)}')
        for name, text in (('stdout', result.out), ('stderr', result.err)):
            found = CONTROL.search(text)
            expect(not found, f'{name} has control characters without a terminal: {text[:200]!r}')
        return result

    def run(self, *args, timeout_s=60, under=()):
        began = time.monotonic()
        return self.finish(self.start(*args, under=under), timeout_s, began)

    def run_and_signal(self, number, midway, *args):
        """Sends the signal once it is heard and midway() is true; the program runs yet."""
        began = time.monotonic()
        process = self.start(*args)
        try:
            while process.poll() is None and not (hears(process.pid, number) and midway()):
                expect(time.monotonic() - began < MIDWAY_S, f'not midway after {MIDWAY_S} s')
                time.sleep(0.05)
        except BaseException:
            end_group(process)
            raise
        if process.poll() is not None:
            ended = self.finish(process, GRACE_S, began)
            raise Failed(f'ended before the signal, exit status {ended.status}: {quoted(ended)}')
        process.send_signal(number)
        return self.finish(process, GRACE_S, began)


def neighbour_of(binary):
    """The laboratory's program, which that becomes for its verbs."""
    binary = Path(binary).resolve()
    beside = binary.parent / 'wavehaul-lab'
    return beside if beside.exists() else binary.parents[1] / 'wavehaul-lab/wavehaul-lab'


def as_nobody(program):
    """(program, what to run it under) so that a file's mode counts, root or not."""
    if os.geteuid() != 0:
        return program, ()
    if not shutil.which('setpriv'):
        raise Skip('runs as root, and setpriv is not there')
    known = tempfile.mkdtemp(prefix='wavehaul-config-')
    atexit.register(shutil.rmtree, known, ignore_errors=True)
    os.chown(known, int(NOBODY), int(NOBODY))
    under = ('setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', 'env',
             f'WAVEHAUL_CONFIG_DIR={known}')
    if subprocess.run([*under, 'test', '-x', program.binary], check=False).returncode != 0:
        # The tree is in a folder of root's own.
        folder = tempfile.mkdtemp(prefix='wavehaul-e2e-', dir='/tmp')
        atexit.register(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        shutil.copy(neighbour_of(program.binary), folder)
        program = Program(shutil.copy(program.binary, folder))
    # As on a host that has been used before: no case is told of a key that was made.
    subprocess.run([*under, program.binary, 'keygen'], check=True, capture_output=True)
    return program, under


def options(default_binary):
    parser = argparse.ArgumentParser(description='Runs the built program end to end.')
    parser.add_argument('--binary', type=Path, default=default_binary)
    parser.add_argument('--quick', action='store_true', help='only what takes a moment')
    parser.add_argument('-k', metavar='PATTERN', default='', help='only cases that match')
    parser.add_argument('--cpus', choices=('own', 'shared'),
                        help='only cases that want the CPUs for themselves, or only the others')
    parser.add_argument('--only', metavar='FILE', type=Path,
                        help='only the cases that it names, a line each')
    parser.add_argument('--failed', metavar='FILE', type=Path,
                        help='to which the names of cases that failed are added')
    return parser.parse_args()


def is_chosen(case, chosen, names):
    return (re.search(chosen.k, case.name) and (case.quick or not chosen.quick) and
            (chosen.cpus is None or case.judges_time == (chosen.cpus == 'own')) and
            (names is None or case.name in names))


def run_case(case, program):
    """(word, explanation)"""
    place = MEMORY if case.memory and os.access(MEMORY, os.W_OK) else None
    prefix = f'wavehaul-e2e-{os.getpid()}-'
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as folder:
        try:
            case.function(program, Path(folder))
        except Skip as skip:
            return 'skipped', f': {skip}'
        except Failed as failed:
            return 'FAILED', f': {failed}'
        except Exception as error:  # whatever it is, the next case has its turn
            at = traceback.extract_tb(error.__traceback__)[-1]
            return 'FAILED', (f': {type(error).__name__}: {error} '
                              f'({Path(at.filename).name}:{at.lineno})')
    return 'ok', ''


def run_cases(cases, default_binary):
    chosen = options(default_binary)
    if not os.access(chosen.binary, os.X_OK):
        sys.exit(f'{chosen.binary} is not there: tools/setup builds it, --binary names another')
    be_guarded()
    sweep()
    # As an exception, so that no program is left spinning when the time is up.
    for number in STOPPING:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    program = Program(chosen.binary)
    count = {'ok': 0, 'FAILED': 0, 'skipped': 0}
    names = chosen.only.read_text(encoding='utf-8').splitlines() if chosen.only else None
    cases = [case for case in cases if is_chosen(case, chosen, names)]
    if not cases:
        sys.exit(f'no case matches {" ".join(sys.argv[1:])!r}')
    for case in cases:
        began = time.monotonic()
        word, explanation = run_case(case, program)
        count[word] += 1
        print(f'{word:<7} {case.name} ({time.monotonic() - began:.1f} s){explanation}', flush=True)
        if word == 'FAILED' and chosen.failed:
            with chosen.failed.open('a', encoding='utf-8') as failed:
                print(case.name, file=failed)
    print(f'{count["ok"]} passed, {count["FAILED"]} failed, {count["skipped"]} skipped')
    return 1 if count['FAILED'] else 0
