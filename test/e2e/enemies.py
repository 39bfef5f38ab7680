#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Who has rights on the machine of a server, or on its sockets, and uses them badly.

    enemies.py [--quick] [-k PATTERN] [--binary PATH]

The database of the queue and of the history is locked, taken away, replaced, or its disk is full; a
second server wants its folder. What was acknowledged is there after that, transfers go on, and one
sentence says what is to be done.
"""

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import sys
import threading
import time
import urllib.request
from pathlib import Path

from control import Control
from faults import mounted
from harness import Case, end_group, expect, expect_equal, program_beside, run_cases
from orders import BINARY, OVER, House, houses
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
    """Adds a job and waits for its end."""
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
                         f'memif:{house.rendezvous}/other,role=server', '--addr', '192.0.2.9/24',
                         '--root', house.root, '--no-huge', '--buffers', '64M', '--state',
                         house.state, '--control', house.rendezvous / 'other-control')
    expect_equal('the exit status of a second server', result.status, OTHER)
    expect(f'another server uses {house.state}' in result.err, result.err)


def lock(one, two):
    """Serving continues, jobs that cannot be stored are refused, and results are recorded later."""
    before = noted(one)
    with locked(one.state / 'service.db'), Control(one.path) as control:
        send(two, one, 'while-locked')
        answer = in_time(control, 'job.add', verb='send', host=CLIENT, here=['x'], there=['x'])
        expect(not answer['ok'] and 'another process holds it locked' in answer['error'],
               f'{answer}')
        expect(in_time(control, 'status')['ok'], 'no status')
        await_said(one, 'transfers are not recorded: another process holds it locked')
    await_said(one, 'transfers are recorded again')
    expect_equal('what is noted', noted(one), before + 1)


def remove(one, two):
    """A removed database is written again with its full content."""
    one.make('x', 10)
    later = one.add('send', one.root / 'x', f'{CLIENT}:x', '--not-before', '2099-01-01 00:00')
    for path in one.state.glob('service.db*'):
        path.unlink()
    last = one.add('send', one.root / 'x', f'{CLIENT}:y', '--not-before', '2099-01-01 00:00')
    await_said(one, 'another program has removed')
    send(two, one, 'after-removal')
    count = noted(one)
    one.stop(signal.SIGKILL)
    one.start()
    expect_equal('orders', [one.state_of(number) for number in (later, last)], ['waiting'] * 2)
    expect_equal('what is noted', noted(one), count)
    return last


def empty(one, order):
    """A database overwritten by an empty file counts as removed."""
    os.truncate(one.state / 'service.db', 0)
    await_said(one, 'has emptied')
    expect_equal('the order', one.state_of(order), 'waiting')
    expect((one.state / 'service.db').stat().st_size > 4096, 'it is not written again')


def replace(one, order):
    """Replaced by another program's file: jobs are refused, and the file stays."""
    database = one.state / 'service.db'
    with contextlib.closing(sqlite3.connect(one.state / 'other')) as other:
        other.execute('CREATE TABLE job(x)')
    (one.state / 'other').replace(database)
    await_said(one, 'was replaced by another file')
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
        order = remove(one, two)
        empty(one, order)
        replace(one, order)


def wait_for_2099(house, name):
    house.make('x', 10)
    return house.add('send', house.root / 'x', f'{SERVER}:{name}', '--not-before',
                     '2099-01-01 00:00')


def cut_short(program, folder):
    """The index of the database's log, which is mapped, under a server."""
    with houses(program) as (two, one):
        order = wait_for_2099(one, 'first')
        os.truncate(one.state / 'service.db-shm', 0)
        one.run('list')
        expect_equal('the exit status', one.process.wait(10), OTHER)
        await_said(one, 'a memory page is no longer available (SIGBUS)')
        one.start()
        expect_equal('the order', one.state_of(order), 'waiting')
        send(one, two, 'after')


def newer(program, folder):
    """A database that a newer wavehaul has made is refused, whole, and what is served goes on."""
    with houses(program) as (two, one):
        order = wait_for_2099(one, 'first')
        database = one.state / 'service.db'
        for room, said in (
                ('queue', 'there is no queue: cannot use'),
                ('history', 'transfers are not recorded'),
                ('journal', 'what is durable of files that are not whole')):
            one.stop()
            with contextlib.closing(sqlite3.connect(database)) as file, file:
                changed = file.execute('UPDATE room SET version=version+1 WHERE name=?', (room,))
                expect_equal('rooms', changed.rowcount, 1)
            before = len(one.said())
            one.start()
            wait_until(lambda said=said, before=before: re.search(
                f'{said}.*a newer wavehaul has made the file: run that one, or move the file',
                one.said()[before:]), 10, f'{said}')
            if room == 'queue':
                expect('this server has no queue; its log says why' in one.run('list').err,
                       'list says nothing')
            send(two, one, f'by-{room}')
            one.stop()
            with contextlib.closing(sqlite3.connect(database)) as file, file:
                file.execute('UPDATE room SET version=version-1 WHERE name=?', (room,))
            one.start()
            expect_equal('the order', one.state_of(order), 'waiting')


def taken(house):
    """Descriptors, and bytes of memory."""
    process = Path('/proc', str(house.process.pid))
    return (len(list((process / 'fd').iterdir())),
            int((process / 'statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE'))


def is_let_in(house, user):
    """Whether that user, who is in no group, can speak to it."""
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(5)
                client.connect(str(house.path))
                status = 0 if client.recv(1) else 1
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def crowd(house, many):
    """Clients that send nothing, or half a line, do not lock out others."""
    for i in range(80):
        client = many.enter_context(socket.socket(socket.AF_UNIX))
        client.connect(str(house.path))
        client.setblocking(False)
        with contextlib.suppress(OSError):
            client.send(b'{"do": "sta' if i % 2 else b'')
    time.sleep(1.2)  # they might still be about to ask
    with Control(house.path) as control:
        expect(in_time(control, 'status')['ok'], 'no status')


def flood(port, until):
    """Connections to the metrics port that send little and read nothing, as fast as possible."""
    count = 0
    while not until.is_set():
        with contextlib.suppress(OSError):
            client = socket.create_connection(('127.0.0.1', port), timeout=1)
            client.send(b'GET /metrics HTTP/1.1\r\n' + (b'\r\n' if count % 2 else b''))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes(8))
            if count % 3:
                client.close()
        count += 1
    return count


def beset(program, folder):
    """Crowds at both sockets and a thousand signals, while a transfer goes on."""
    with houses(program, '--metrics', '0') as (one, two), contextlib.ExitStack() as many:
        port = int(re.findall(r'metrics at http://127\.0\.0\.1:(\d+)/', one.said())[0])
        send(two, one, 'before')
        before = taken(one)
        digest = two.make('large', 12_000_000)
        number = two.add('send', two.root / 'large', f'{SERVER}:large', '--rate', '40M')
        two.await_state(number, 'running')
        over = threading.Event()
        flooders = [threading.Thread(target=flood, args=(port, over)) for _ in range(2)]
        for flooder in flooders:
            flooder.start()
        try:
            for _ in range(1000):
                one.process.send_signal(signal.SIGHUP)
                time.sleep(0.0005)
            if os.geteuid() == 0:
                expect(not is_let_in(one, 65534), 'nobody is let in')
            crowd(one, many)
            began = time.monotonic()
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics', timeout=10) as page:
                expect(b'wavehaul_port_up' in page.read(), 'no figures')
            expect(time.monotonic() - began < 5, 'figures took their time')
            two.await_state(number, 'done')
        finally:
            over.set()
            for flooder in flooders:
                flooder.join()
        expect_equal('large', one.digest('large'), digest)
        expect('configuration reloaded: no changes' in one.said(), 'SIGHUP was not heard')
        after = taken(one)
        expect(after[0] < before[0] + 64 + 32 + 8, f'descriptors: {before[0]}, then {after[0]}')
        expect(after[1] < before[1] + (32 << 20), f'memory: {before[1]}, then {after[1]}')


def fill(path):
    with open(path, 'wb', buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(4096))


def without_room(program, folder):
    """A full state disk: accepted jobs are stored, and jobs that cannot be stored are refused."""
    with houses(program) as (two, one):
        one.stop()
        with mounted(one.state, '-t', 'tmpfs', '-o', 'size=1m', 'none'):
            one.start()
            digest = one.make('large', 5_000_000)
            first = one.add('send', one.root / 'large', f'{two.address}:large', '--rate', '20M')
            one.await_state(first, 'running')
            fill(one.state / 'filler')
            kept, refused = [], {}
            with Control(one.path) as control:
                while not refused and len(kept) < 300:
                    answer = control.ask('job.add', verb='send', host=two.address, here=['large'],
                                         there=['x'], not_before=2 ** 32)
                    if answer['ok']:
                        kept.append(answer['job'])
                    else:
                        refused = answer
            expect('its disk is full' in refused.get('error', ''), f'{len(kept)}, {refused}')
            send(two, one, 'while-full')
            await_said(one, 'cannot write its database: its disk is full')
            (one.state / 'filler').unlink()
            await_said(one, 'its database is writable again')
            one.stop(signal.SIGKILL)
            one.start()
            one.await_state(first, 'done')
            expect_equal('large', two.digest('large'), digest)
            for number in kept:
                expect_equal(f'order {number}', one.state_of(number), 'waiting')
            expect(noted(one) >= 2, 'what was done is not noted')
            one.stop()
        one.start()


class Unsteady(House):
    """A server whose time of day jumps by up to twenty years, ten times a second."""

    def place(self):
        under, port = super().place()
        return (*under, 'env', f'LD_PRELOAD={program_beside(self.program, "step_clock.so")}'), port


def unsteady(program, folder):
    """Jobs due in fifty years wait, pauses end, and no record expires early."""
    with houses(program, kind=Unsteady) as (one, two):
        one.make('x', 10)
        with Control(one.path) as control:
            later = control.told('job.add', verb='send', host=CLIENT, here=['x'], there=['x'],
                                 not_before=int(time.time()) + 50 * 365 * 86400)['job']
        for name in ('first', 'second'):
            send(one, two, name)
        wait_until(lambda: noted(one) >= 2, 5, 'both in the history')
        count = noted(one)
        lost = one.add('send', one.root / 'x', '198.51.100.9:x', '--retries', '1')
        time.sleep(1.5)  # all steps there are
        send(two, one, 'third')
        wait_until(lambda: noted(one) > count, 5, 'the history to grow')
        expect_equal('what is due later', one.state_of(later), 'waiting')
        one.job('cancel', lost)
        one.await_state(lost, 'cancelled')


def stopped_client(program, _folder):
    """A client that reads nothing for a while misses events of files, and nothing else."""
    with houses(program) as (one, two):
        many = one.root / 'many'
        many.mkdir()
        for number in range(6000):
            (many / f'{number:0200}').write_bytes(b'x')
        began = time.monotonic()
        process = program.start('send', '-r', many, f'{CLIENT}:', '--config', 'none', '--control',
                                one.path, '--daemon', 'always', '--json')

        def told():
            with Control(one.path) as control:
                return control.told('job.list', all=True)['jobs']

        try:
            wait_until(told, 10, 'a job')
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: told()[0]['state'] in OVER, 60, 'its end')
            expect_equal('its state', told()[0]['state'], 'done')
            process.send_signal(signal.SIGCONT)
            result = program.finish(process, 20, began)
        finally:
            end_group(process)
        expect_equal('the exit status of the client', result.status, 0)
        expect_equal('files', json.loads(result.out)['files'], 6000)
        expect_equal('files there', len(list((two.root / 'many').iterdir())), 6000)


CASES = [
    Case('enemies: crowds at the sockets, and signals', True, beset),
    Case('enemies: a client that is stopped', True, stopped_client),
    Case('enemies: files beside the database are cut short', True, cut_short),
    Case('enemies: a database of a newer version', False, newer),
    Case('enemies: no room for the state', False, without_room),
    Case('enemies: a time of day that jumps', False, unsteady),
    Case('enemies: a database that is locked, removed and replaced; a second server', True,
         taken_away),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
