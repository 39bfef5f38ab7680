#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Who has rights on the machine of a server, or on its sockets, and uses them badly.

    enemies.py [--quick] [-k PATTERN] [--binary PATH]

The database of the queue and of the book is locked, taken away, replaced, or its disk is full; a
second server wants its folder. What was acknowledged is there after that, transfers go on, and one
sentence says what is to be done.
"""

import contextlib
import signal
import sqlite3
import sys
import time

from control import Control
from faults import mounted
from harness import Case, expect, expect_equal, run_cases
from orders import BINARY, OVER, houses
from pair import CLIENT, SERVER, wait_until

OTHER = 1

# Until a server that waits for its database answers somebody else.
ANSWER_S = 3


@contextlib.contextmanager
def locked(path):
    """Nobody else writes to that database meanwhile."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute('BEGIN EXCLUSIVE')
    try:
        yield
    finally:
        database.execute('ROLLBACK')
        database.close()


def await_said(house, text, seconds=10):
    wait_until(lambda: text in house.said(), seconds, f'the log to say {text!r}')


def in_time(control, command, **arguments):
    began = time.monotonic()
    answer = control.ask(command, **arguments)
    expect(time.monotonic() - began < ANSWER_S, f'{command} took its time')
    return answer


def send(one, two, name):
    """An order of one's, to its end."""
    digest = one.make(name, 200_000)
    number = one.add('send', one.root / name, f'{two.address}:{name}')
    one.await_state(number, *OVER)
    expect_equal(name, two.digest(name), digest)
    return number


def noted(house):
    with Control(house.path) as control:
        return len(control.told('transfers')['transfers'])


def refuse_second(program, house):
    result = program.run('serve', '--config', 'none', '--port',
                         f'memif:{house.meeting}/other,role=server', '--addr', '192.0.2.9/24',
                         '--root', house.root, '--no-huge', '--buffers', '64M', '--state',
                         house.state, '--control', house.meeting / 'other-control')
    expect_equal('the exit status of a second server', result.status, OTHER)
    expect(f'another server keeps its state in {house.state}' in result.err, result.err)


def lock(one, two):
    """What is served goes on, what cannot be kept is refused, and what was done is noted later."""
    before = noted(one)
    with locked(one.state / 'service.db'), Control(one.path) as control:
        send(two, one, 'while-locked')
        answer = in_time(control, 'job.add', verb='send', host=CLIENT, here=['x'], there=['x'])
        expect(not answer['ok'] and 'another process holds it locked' in answer['error'],
               f'{answer}')
        expect(in_time(control, 'status')['ok'], 'no status')
        await_said(one, 'what is transferred is not noted: another process holds it locked')
    await_said(one, 'what is transferred is noted again')
    expect_equal('what is noted', noted(one), before + 1)


def remove(one, two):
    """It is written again, with all that was in it."""
    one.make('x', 10)
    later = one.add('send', one.root / 'x', f'{CLIENT}:x', '--not-before', '2099-01-01 00:00')
    for path in one.state.glob('service.db*'):
        path.unlink()
    last = one.add('send', one.root / 'x', f'{CLIENT}:y', '--not-before', '2099-01-01 00:00')
    await_said(one, 'somebody has removed')
    send(two, one, 'after-removal')
    count = noted(one)
    one.stop(signal.SIGKILL)
    one.start()
    expect_equal('orders', [one.state_of(number) for number in (later, last)], ['waiting'] * 2)
    expect_equal('what is noted', noted(one), count)
    return last


def replace(one, order):
    """By another program's: nothing is taken that would be lost, and what was there is kept."""
    database = one.state / 'service.db'
    with contextlib.closing(sqlite3.connect(one.state / 'other')) as other:
        other.execute('CREATE TABLE job(x)')
    (one.state / 'other').replace(database)
    await_said(one, 'another file has taken the place')
    with Control(one.path) as control:
        answer = control.ask('job.cancel', job=order)
        expect(not answer['ok'] and 'restart this server' in answer['error'], f'{answer}')
    one.stop()
    one.start()
    await_said(one, 'another program has made the file: move it away')
    with contextlib.closing(sqlite3.connect(database)) as other:
        found = other.execute('SELECT name FROM sqlite_schema').fetchall()
    expect_equal('tables of the other', found, [('job',)])
    (one.state / 'service.db.before').replace(database)
    # Without a restart, in a while.
    await_said(one, 'there is a queue from now on', 20)
    expect_equal('the order', one.state_of(order), 'waiting')


def taken_away(program, folder):
    with houses(program) as (one, two):
        refuse_second(program, one)
        lock(one, two)
        replace(one, remove(one, two))


CASES = [
    Case('enemies: a database that is locked, removed and replaced; a second server', True,
         taken_away),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
