#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What of a large file was durable when an end died is not sent again.

    resume.py [--quick] [-k PATTERN] [--binary PATH]

RESUME_MIB in the environment is the size of the file (256); RESUME_KILLS and RESUME_SEED how often
an end is killed at any moment (2) and when. A line for each case, then 'N passed, N failed, N
skipped'.
"""

import functools
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import time

from harness import Case, end_group, expect, expect_equal, expect_status, run_cases
from pair import Pair, remote, wait_until
from telemetry import Telemetry
from transfer import BINARY, OK

MIB = 1 << 20
SIZE = int(os.environ.get('RESUME_MIB', '256')) * MIB
BATCH = 64 * MIB
FEW = 2
KILLS = int(os.environ.get('RESUME_KILLS', FEW))
SEED = int(os.environ.get('RESUME_SEED', '1'))
STEADY = ('--profile', 'fixed', '--rate', '1500M')
SLOW = ('--profile', 'fixed', '--rate', '8M')
PATIENCE = ('--peer-timeout', '1s')


def plant(folder):
    block = random.Random(7).randbytes(MIB)
    with open(folder, 'wb') as file:
        for number in range(SIZE // MIB):
            file.write(number.to_bytes(8, 'big') + block[8:])


def parts(program, state):
    said = subprocess.run([program.binary, 'parts', '--json', '--state', str(state)],
                          capture_output=True, check=True).stdout
    return json.loads(said)['parts']


def expect_same(one, other):
    expect_equal('cmp', subprocess.run(['cmp', str(one), str(other)], check=False).returncode, 0)


def operands(folder, verb):
    if verb == 'send':
        return (folder / 'here' / 'large', remote())
    return (remote('large'), folder / 'back/')


def await_rest(pair):
    """The server has noticed that its client is gone, and a moment later lets its parts go."""
    with Telemetry(pair.process.pid) as server:
        wait_until(lambda: server.ask('/wavehaul/sessions') == [], 20, 'the end of sessions')
    time.sleep(0.3)


class Run:
    """A pair whose ends keep parts, in folders of the case's own."""

    def __init__(self, program, folder, verb, patience=PATIENCE):
        for name in ('here', 'served', 'back'):
            (folder / name).mkdir()
        self.program, self.folder, self.verb = program, folder, verb
        self.state = folder / 'state'
        self.source = folder / ('here' if verb == 'send' else 'served') / 'large'
        self.target = folder / ('served' if verb == 'send' else 'back') / 'large'
        plant(self.source)
        self.pair = Pair(program, folder, both=patience, server=('--state', self.state))

    def options(self, rate=STEADY):
        return rate if self.verb == 'send' else (*rate, '--state', self.state)

    def durable(self):
        rows = parts(self.program, self.state) if self.state.exists() else []
        return rows[0]['durable_bytes'] if rows else 0

    def begin(self, least, *more, rate=STEADY):
        """A client whose receiver knows so much to be durable."""
        client = self.pair.start(self.verb, *self.options(rate), *more,
                                 *operands(self.folder, self.verb))
        wait_until(lambda: self.durable() >= least, 20, 'a part that is noted')
        return client

    def again(self, *more):
        result = self.pair.run(self.verb, '--json', *self.options(), *more,
                               *operands(self.folder, self.verb))
        expect_status(result, OK)
        expect_same(self.source, self.target)
        expect_equal('names', os.listdir(self.target.parent), ['large'])
        expect_equal('parts', parts(self.program, self.state), [])
        return json.loads(result.out)


def killed(program, folder, verb, end, more=()):
    """kill -9 of an end: the next run sends less than what was not durable, and a batch."""
    run = Run(program, folder, verb)
    with run.pair as pair:
        client = run.begin(BATCH, *more)
        if end == 'client':
            client.kill()
        else:
            pair.kill_server()
        end_group(client)
        durable = run.durable()
        if end == 'server':
            pair.start_server()
        elif verb == 'send':
            await_rest(pair)
        report = run.again(*more)
        expect(report['resumed_bytes'] >= durable - 4 * MIB,
               f"{durable} were durable, {report['resumed_bytes']} not sent again")
        expect(report['moved_bytes'] < SIZE - durable + BATCH, f"sent {report['moved_bytes']}")
        pair.stop_server()


def slow(program, folder):
    """kill -9 of the sender on a slow path: of a few MiB, half were not sent in vain."""
    run = Run(program, folder, 'send')
    with run.pair as pair:
        end_group(run.begin(3 * MIB, rate=SLOW))
        await_rest(pair)
        durable = run.durable()
        report = run.again()
        expect(report['resumed_bytes'] >= 3 * MIB,
               f"{durable} were durable, {report['resumed_bytes']} not sent again")
        pair.stop_server()


def hasty(program, folder):
    """
    kill -9 of the sender, then the up arrow and Enter: the server still waits for the first run,
    and the second one goes on where that was all the same.
    """
    run = Run(program, folder, 'send', patience=())
    with run.pair as pair:
        for pause in (0.2, 3):
            client = run.begin(BATCH)
            end_group(client)
            time.sleep(pause)
            durable = run.durable()
            report = run.again()
            expect(report['resumed_bytes'] >= durable - 4 * MIB,
                   f"after {pause} s: {durable} were durable, {report['resumed_bytes']} not sent "
                   'again')
            run.target.unlink()
        pair.stop_server()


def often(program, folder):
    """
    kill -9 of either end again and again, at any moment: what is durable becomes more until the
    file is there, and the last run has not to be sent it again.
    """
    run = Run(program, folder, 'send')
    chance = random.Random(SEED)
    before, whole, gained = 0, 0, 0
    with run.pair as pair:
        for _ in range(KILLS):
            client = pair.start('send', *run.options(), *operands(folder, 'send'))
            time.sleep(chance.uniform(0.2, 1 + SIZE * 8 / 1.5e9))
            if chance.random() < 0.5:
                client.kill()
            else:
                pair.kill_server()
            end_group(client)
            if pair.process is None:
                pair.start_server()
            else:
                await_rest(pair)
            if run.target.exists():
                expect_same(run.source, run.target)
                run.target.unlink()
                whole, before = whole + 1, 0
                continue
            durable = run.durable()
            expect(durable >= before, f'{before} bytes were durable, and {durable} are')
            gained, before = gained + (durable > before), durable
        report = run.again()
        expect(report['resumed_bytes'] >= before - 4 * MIB,
               f"{before} were durable, {report['resumed_bytes']} not sent again")
        pair.stop_server()
    if KILLS > FEW:
        print(f'{KILLS} kills, {gained} with more that is durable, {whole} after the end')


def ranges(program, folder):
    """
    kill -9 of the receiver while the middle of three ranges comes, when two are there: the next run
    brings the rest of that range and no more, and the file gets its name. Without --keep-parts
    nothing is joined.
    """
    run = Run(program, folder, 'send')
    third = SIZE // MIB // 3
    here, there = operands(folder, 'send')

    def send(first, count, *more, rate=STEADY):
        return ('send', '--json', '--join', '0123456789abcdef', '--offset', f'{first}M',
                *(('--length', f'{count}M') if count else ()), *rate, *more, here, there)

    def durable():
        """What the notes say of the middle range; each has 16 bytes behind the head."""
        (notes,) = (folder / 'served' / '.wavehaul-parts').glob('*.ranges')
        with open(notes, 'rb') as file:
            file.seek(8192 + 16 * third)
            _, to = struct.unpack('<QQ', file.read(16) or bytes(16))
        return max(to - third * MIB, 0)

    with run.pair as pair:
        expect_status(pair.run(*send(0, third)), OK)
        expect_status(pair.run(*send(2 * third, 0)), OK)
        client = pair.start(*send(third, third, rate=('--profile', 'fixed', '--rate', '100M')))
        wait_until(lambda: durable() >= 16 * MIB, 20, 'a part of the range on the disk')
        pair.kill_server()
        end_group(client)
        expect(not run.target.exists(), 'it has its name too early')
        pair.start_server()
        result = pair.run(*send(third, third))
        expect_status(result, OK)
        report = json.loads(result.out)
        expect(report['resumed_bytes'] >= 16 * MIB, f"{report['resumed_bytes']} not sent again")
        expect(report['moved_bytes'] < (third - 15) * MIB, f"sent {report['moved_bytes']}")
        expect_same(run.source, run.target)
        expect_equal('names', os.listdir(run.target.parent), ['large'])
        pair.stop_server()
        pair.server_options = ('--keep-parts', '0s')
        run.target.unlink()
        pair.start_server()
        result = pair.run(*send(0, third))
        expect(result.status != OK and 'keeps no parts' in result.out + result.err, result.out)
        pair.stop_server()


def changed(program, folder):
    """A file with a changed time starts over, with a message; so does --resume off."""
    run = Run(program, folder, 'send')
    with run.pair as pair:
        end_group(run.begin(BATCH))
        await_rest(pair)
        os.utime(run.source, (1, 1))
        report = run.again()
        expect_equal('resumed', report['resumed_bytes'], 0)
        expect_equal('began again', report['began_again'], 1)
        pair.stop_server()


def damaged(program, folder):
    """A damaged database is reported and set aside; transfers continue. parts rm removes."""
    run = Run(program, folder, 'send')
    with run.pair as pair:
        end_group(run.begin(BATCH))
        pair.stop_server()
        number = parts(program, run.state)[0]['number']
        shutil.copy(run.state / 'service.db', run.state / 'copy')
        (run.state / 'service.db').write_bytes(b'no database' * 1000)
        pair.start_server()
        expect('was damaged' in pair.said(), pair.said())
        expect((run.state / 'service.db.damaged').exists(), 'it is not set aside')
        pair.stop_server()
        shutil.copy(run.state / 'copy', run.state / 'service.db')
        done = subprocess.run([program.binary, 'parts', 'rm', str(number), '--state',
                               str(run.state)], capture_output=True, check=False)
        expect_equal('rm', done.returncode, 0)
        expect_equal('parts', parts(program, run.state), [])
        expect_equal('kept', os.listdir(pair.served / '.wavehaul-parts'), [])


def cases():
    dies = functools.partial(functools.partial, killed)
    yield Case('receiver killed, send', True, dies(verb='send', end='server'))
    yield Case('sender killed, send', False, dies(verb='send', end='client'))
    yield Case('sender killed, slow path', False, slow)
    yield Case('sender killed, again at once', False, hasty)
    yield Case('receiver killed, get', False, dies(verb='get', end='client'))
    yield Case('receiver killed, lanes', False,
               dies(verb='send', end='server', more=('--parallel', '2')))
    yield Case('killed at any moment', False, often)
    yield Case('ranges', True, ranges)
    yield Case('changed', False, changed)
    yield Case('damaged', True, damaged)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
