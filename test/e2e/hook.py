#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The operator's command at the end of a job: what it is told, and what it may cost.

    hook.py [--quick] [-k PATTERN] [--binary PATH]
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from control import Control
from harness import Case, expect, expect_between, expect_equal, run_cases
from orders import House, houses
from pair import CLIENT, SERVER, Pair, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE, NO_FILE, INTERRUPTED = 0, 2, 3, 20
MIB = 1 << 20


def script(folder, body):
    """Its standard output is not that of the transfer."""
    path = folder / 'command'
    path.write_text('#!/bin/sh\n' + body)
    path.chmod(0o755)
    folder.chmod(0o777)
    return path


def note(folder):
    """A file for each of its runs, with what it was told."""
    told = folder / 'told'
    told.mkdir()
    told.chmod(0o777)
    return script(folder, f'echo out; echo "$@" >{told}/$$.words\n'
                  f'env -0 >{told}/$$.part && mv {told}/$$.part {told}/$$.env\n'), told


def runs(told):
    """Each as a dictionary, in their order."""
    found = []
    for path in sorted(told.glob('*.env'), key=lambda path: path.stat().st_mtime_ns):
        values = [text.partition(b'=') for text in path.read_bytes().split(b'\0')]
        found.append({name.removeprefix(b'WAVEHAUL_').decode(): os.fsdecode(value)
                      for name, _, value in values if name.startswith(b'WAVEHAUL_')})
    return found


def await_runs(told, count):
    wait_until(lambda: len(runs(told)) >= count, 10, f'{count} runs')
    time.sleep(0.2)
    expect_equal('runs', len(runs(told)), count)
    return runs(told)


def told(program, folder):
    """Of orders and of peers' transfers what ended and how; a peer's text is a value, no more."""
    command, place = note(folder)
    with houses(program, '--on-end', f'{command} one  two') as (one, two):
        odd = '$(touch pwned);`touch pwned`\n"x'
        one.make(odd, 3000)
        first = one.add('send', one.root / odd, f'{CLIENT}:came', '--parallel', '3')
        here, there = sorted(await_runs(place, 2), key=lambda run: run['SIDE'])
        expect_equal('the order', {name: here[name] for name in (
            'JOB', 'SIDE', 'STATE', 'STATUS', 'VERB', 'PEER', 'PATH', 'FILES', 'FAILED', 'BYTES',
            'ERROR')}, {
                'JOB': str(first), 'SIDE': 'order', 'STATE': 'done', 'STATUS': '0',
                'VERB': 'send', 'PEER': CLIENT, 'PATH': odd, 'FILES': '1', 'FAILED': '0',
                'BYTES': '3000', 'ERROR': ''})
        expect_equal('at the other end', {name: there[name] for name in (
            'JOB', 'SIDE', 'STATE', 'VERB', 'FILES', 'BYTES')}, {
                'JOB': '0', 'SIDE': 'served', 'STATE': 'done', 'VERB': 'send', 'FILES': '1',
                'BYTES': '3000'})
        expect_equal('its words', next(place.glob('*.words')).read_text(), 'one two\n')
        # Of all lanes of a transfer one, with all of it.
        for i in range(40):
            one.make(f'many/{i}', 50_000, i)
        second = one.add('send', one.root / 'many', f'{CLIENT}:to/', '-r', '--parallel', '3')
        one.await_state(second, 'done')
        bytes_of = [run['BYTES'] for run in await_runs(place, 4)[2:]]
        expect_equal('bytes of many files', bytes_of, ['2000000'] * 2)
        third = one.add('get', f'{CLIENT}:nothing', one.root / 'x')
        one.await_state(third, 'failed')
        failed = [run for run in await_runs(place, 6)[4:] if run['SIDE'] == 'order'][0]
        expect_equal('a failure', (failed['STATE'], failed['FAILED'] != '0' or
                                   failed['STATUS'] != '0'), ('failed', True))
        expect('nothing' in failed['ERROR'], failed)
        slow = one.add('send', one.root / 'many', f'{CLIENT}:slow/', '-r', '--rate', '1M')
        one.await_state(slow, 'running')
        one.job('cancel', slow)
        one.await_state(slow, 'cancelled')
        states = {(run['SIDE'], run['STATE']) for run in await_runs(place, 8)[6:]}
        expect(('order', 'cancelled') in states, states)
        for house in one, two:
            expect('on_end: job' in house.said() and ': out' in house.said(), house.said()[-300:])
            expect(not list(house.root.glob('**/pwned')), 'a name was run')
        expect(not Path('pwned').exists() and not (folder / 'pwned').exists(), 'a name was run')


def bounded(program, folder):
    """In time, in number and in what it writes; and the server goes on meanwhile."""
    counter = folder / 'begun'
    counter.mkdir()
    counter.chmod(0o777)
    command = script(folder, f'touch {counter}/$$\nhead -c 100000 /dev/zero | tr "\\0" x | fold\n'
                     'exec sleep 100\n')
    with houses(program, '--peer-timeout', '3s') as (one, two):
        one.stop()
        one.options = ('--on-end', str(command), '--on-end-timeout', '2s')
        one.start()
        one.make('a', 100)
        began = time.monotonic()
        numbers = [one.add('send', one.root / 'a', f'{CLIENT}:a{i}') for i in range(12)]
        for number in numbers:
            one.await_state(number, 'done')
        expect_between('the seconds of the jobs', time.monotonic() - began, 0, 10)
        expect_between('commands at once', len(list(counter.iterdir())), 1, 8)
        wait_until(lambda: one.said().count('is killed, for it takes too long') == 12, 20,
                   'an end of all')
        expect_equal('commands', len(list(counter.iterdir())), 12)
        expect_between('the seconds of all', time.monotonic() - began, 5.5, 20)
        expect_equal('how often something is left out',
                     one.said().count('more output is left out'), 12)
        expect_between('bytes of the log', len(one.said()), 12 * 4000, 12 * 9000)
        # It ends at once, whatever runs.
        one.add('send', one.root / 'a', f'{CLIENT}:last')
        wait_until(lambda: len(list(counter.iterdir())) == 13, 10, 'another command')
        began = time.monotonic()
        expect_equal('the exit status', one.stop(), 0)
        expect_between('the seconds to its end', time.monotonic() - began, 0, 3)
        one.start()
    for words, why in ((('relative',), b'whole path'), ((folder / 'no',), b'cannot run')):
        house = House(program, folder, 0, '--on-end', *words)
        done = subprocess.run(
            [program.binary, 'serve', '--config', 'none', '--port', f'memif:{folder}/socket',
             '--addr', f'{SERVER}/24', '--no-huge', '--root', house.root, '--on-end',
             str(words[0])], capture_output=True, timeout=20, check=False)
        expect(done.returncode == USAGE and why in done.stderr, f'{words}: {done}')
        for path in house.root, house.state:
            path.rmdir()


def client(program, folder):
    """--then-run, after a transfer of the server's or of our own."""
    command, place = note(folder)
    with houses(program) as (one, two):
        one.make('a', 5000)
        options = ('--daemon', 'always', '--config', 'none', '--control', one.path, '--then-run',
                   f'{command} word')
        result = program.run('send', one.root / 'a', f'{CLIENT}:a', *options)
        expect_equal('the exit status', (result.status, result.err), (OK, 'out\n'))
        run = await_runs(place, 1)[0]
        expect_equal('what is told', (run['SIDE'], run['STATE'], run['JOB'], run['BYTES'],
                                      run['PEER'], run['PATH']),
                     ('client', 'done', '1', '5000', CLIENT, str(one.root / 'a')))
        done = subprocess.run([str(word) for word in (
            program.binary, 'get', f'{CLIENT}:a', '-', *options)], capture_output=True,
            timeout=30, check=False)
        expect_equal('the file alone', len(done.stdout), 5000)
        result = program.run('get', f'{CLIENT}:nothing', one.root / 'b', *options)
        run = await_runs(place, 3)[-1]
        expect_equal('a failure', (run['STATE'], run['STATUS']), ('failed', str(result.status)))
        result = program.run('send', one.root / 'a', 'nothing', *options)
        expect_equal('wrong words', (result.status, len(runs(place))), (USAGE, 3))
        result = program.run('send', one.root / 'a', f'{CLIENT}:a', *options[:-1], 'false')
        expect_equal('the exit status is that of the transfer', result.status, OK)
        expect('--then-run ended with exit status 1' in result.err, result.err)
        result = program.run('send', one.root / 'a', f'{CLIENT}:a', *options[:-1], '/no/program')
        expect_equal('no program', result.status, USAGE)
        with Control(one.path) as control:
            answer = control.ask('job.add', verb='send', host=CLIENT, here=['a'], there=['a'],
                                 options=['--then-run=/bin/true'])
            expect(not answer['ok'], f'an order has a command: {answer}')
        for place_of in place.iterdir():
            place_of.unlink()
    with Pair(program, folder) as pair:
        (pair.folder / 'file').write_bytes(b'x' * 1000)
        command_of = pair.command('send', pair.folder / 'file', f'{SERVER}:file', '--then-run',
                                  str(command))
        done = subprocess.run([program.binary, *map(str, command_of)], capture_output=True,
                              timeout=60, check=False)
        expect_equal('the exit status by a port of our own', done.returncode, OK)
        run = await_runs(place, 1)[0]
        expect_equal('what is told', (run['JOB'], run['STATE'], run['BYTES']),
                     ('0', 'done', '1000'))
        process = subprocess.Popen([program.binary, *map(str, pair.command(
            'send', pair.folder / 'file', f'{SERVER}:file', '--then-run', 'sleep 100'))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_until(lambda: sleeps(process.pid), 10, 'its command')
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=10)[1]
        expect(b'did not come to its end' in said, f'it says {said}')
        pair.stop_server()


def sleeps(pid):
    found = subprocess.run(['ps', '-eo', 'pid,ppid,args'], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    rows = [line.split(None, 2) for line in found[1:]]
    hooks = {row[0] for row in rows if row[1] == str(pid)}
    return any(row[1] in hooks and row[2] == 'sleep 100' for row in rows)


CASES = [
    Case('hook: what it is told', True, told),
    Case('hook: in time, in number, in words', True, bounded),
    Case('hook: --then-run', True, client),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
