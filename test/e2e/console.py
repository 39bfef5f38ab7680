#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul console`: typed at a terminal, as -c, as a script; with a server, and with one that
behaves badly.

    console.py [--quick] [-k PATTERN] [--binary PATH]
"""

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness import Case, expect, expect_equal, expect_said, expect_status, run_cases
from orders import CLIENT, houses
from pair import wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OTHER, USAGE, NETWORK = 1, 2, 5
TIMEOUT_S = 20


def count(name, needed=True):
    return {'name': name, 'type': 'count', 'needed': needed, 'help': ''}


COMMANDS = [
    {'name': 'things', 'words': 'show things [from <first>]', 'help': 'all of them',
     'arguments': [count('first', False)]},
    {'name': 'pause', 'words': 'pause <job...> | job pause <job...>', 'help': 'they stop',
     'arguments': [count('job')]},
    {'name': 'set', 'words': 'set rate <job> <rate...>', 'help': 'another rate',
     'arguments': [count('job'), {'name': 'rate', 'type': 'text', 'needed': True, 'help': ''}]},
    {'name': 'name', 'words': 'name <text> [loud]', 'help': 'a text, perhaps loud',
     'arguments': [{'name': 'text', 'type': 'text', 'needed': True, 'help': ''},
                   {'name': 'loud', 'type': 'switch', 'needed': False, 'help': ''}]},
    {'name': 'die', 'words': 'die', 'help': 'the server ends', 'arguments': []},
    {'name': 'refuse', 'words': 'refuse', 'help': '', 'arguments': []},
    {'name': 'sessions', 'help': '', 'arguments': []},
    {'name': 'job.list', 'help': '', 'arguments': []},
]


class Server:
    """A fake server of the control protocol, without a port, which records requests."""

    def __init__(self, folder):
        self.path = str(folder / 'control')
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.asked, self.things = [], [{'name': 'one', 'moved_bytes': 1000}]
        threading.Thread(target=self.serve, daemon=True).start()

    def answer(self, request):
        do = request['do']
        if do == 'commands':
            return {'ok': True, 'commands': COMMANDS}
        self.asked.append(request)
        if do == 'things':
            for thing in self.things:
                thing['moved_bytes'] += 1 << 20
            return {'ok': True, 'things': self.things}
        if do == 'job.list':
            return {'ok': True, 'jobs': [{'job': 4711}]}
        if do == 'refuse':
            return {'ok': False, 'error': 'not \x1b[31mtoday', 'status': 1}
        return None if do == 'die' else {'ok': True}

    def serve_client(self, client):
        with client, client.makefile('rb') as lines, contextlib.suppress(OSError):
            client.sendall(b'{"wavehaul": "0", "control": 1}\n')
            for line in lines:
                answer = self.answer(json.loads(line))
                if answer is None:
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(json.dumps(answer).encode() + b'\n')

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve_client, args=(self.listener.accept()[0],),
                                 daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@contextlib.contextmanager
def served():
    with tempfile.TemporaryDirectory(prefix='wavehaul-', dir='/tmp') as folder, \
            Server(Path(folder)) as server:
        yield server


def say(program, path, commands, *options):
    return program.run('console', '--control', path, '-c', commands, *options)


def script(program, path, text):
    command = [program.binary, 'console', '--control', path]
    return subprocess.run(command, input=text, capture_output=True, timeout=TIMEOUT_S, check=False)


class Terminal:
    """A console at a terminal."""

    def __init__(self, program, path):
        self.master, end = pty.openpty()
        environment = os.environ | {'TERM': 'xterm'}
        self.process = subprocess.Popen(
            [program.binary, 'console', '--control', str(path)], stdin=end, stdout=end, stderr=end,
            start_new_session=True, env=environment)
        os.close(end)
        self.said = ''
        self.read('wavehaul> ')

    def read(self, until):
        """What it says until the pattern is in it: that, and all before."""
        began = time.monotonic()
        while not (found := re.search(until, self.said, re.S)):
            expect(time.monotonic() - began < TIMEOUT_S,
                   f'nothing like {until!r} but {self.said[-400:]!r}')
            if select.select([self.master], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self.said += os.read(self.master, 1 << 16).decode()
        text, self.said = self.said[:found.end()], self.said[found.end():]
        return text

    def type(self, keys, until='wavehaul> '):
        os.write(self.master, keys.encode())
        return self.read(until)

    def finish(self):
        return self.process.wait(TIMEOUT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)


def spoken(program, folder):
    """Which requests words become, and which words are refused."""
    with served() as server:
        for commands, requests in (
                ('pause 17', [{'do': 'pause', 'job': 17}]),
                ('job pause 1 2', [{'do': 'pause', 'job': 1}, {'do': 'pause', 'job': 2}]),
                ('set rate 3 weekdays 8:00-18:00 2G, else 9G # so', [
                    {'do': 'set', 'job': 3, 'rate': 'weekdays 8:00-18:00 2G, else 9G'}]),
                ('''name 'a b;'"c\\"d" loud''', [
                    {'do': 'name', 'text': 'a b;c"d', 'loud': True}]),
                ('name x; pause 5', [{'do': 'name', 'text': 'x'}, {'do': 'pause', 'job': 5}]),
                ('name ' + 'y' * 4000, [{'do': 'name', 'text': 'y' * 4000}])):
            server.asked.clear()
            expect_status(say(program, server.path, commands), 0)
            expect_equal(f'asked by {commands[:60]!r}', server.asked, requests)
        server.asked.clear()
        for commands, status, said in (
                ('nothing', USAGE, "no command 'nothing'"), ('paus', USAGE, "mean 'pause'"),
                ('pause', USAGE, "'pause' is not complete: JOB... must follow"),
                ('pause x', USAGE, "'x' cannot follow 'pause'; JOB... can"),
                ('pause 1 x', USAGE, "'x' cannot follow 'pause 1'; JOB... can"),
                ('show thigns', USAGE, "'thigns' cannot follow 'show'; did you mean 'things'?"),
                ('show things now', USAGE, "'now' cannot follow 'show things'; "),
                ('quit 1', USAGE, "'1' cannot follow 'quit'; nothing can"),
                ("name 'x", USAGE, 'quote'),
                ('refuse', OTHER, r'not \\x1b\[31mtoday'),
                ('show things live', USAGE, 'number of times'),
                ('refuse; pause 1', OTHER, 'not'), ('die; pause 1', NETWORK, 'gone')):
            result = say(program, server.path, commands)
            expect_status(result, status)
            expect_said(result, said)
        expect(all(r['do'] in ('refuse', 'die') for r in server.asked), f'{server.asked}')
        result = script(program, server.path, b'# words\nname one\n\nrefuse\nname two\n')
        expect_equal('the status of a script', result.returncode, OTHER)
        expect_equal('its last words', server.asked[-2:], [
            {'do': 'name', 'text': 'one'}, {'do': 'refuse'}])
        expect_equal('no text', script(program, server.path, b'name \xff\n').returncode, USAGE)
        result = script(program, server.path, b'name ' + b'y' * 40000)
        expect_equal('a giant', result.returncode, USAGE)
        expect(b'bytes at most' in result.stderr, f'of a giant: {result.stderr[:200]!r}')
        script(program, server.path, b'name ' + b'y' * 20000)
        expect_equal('a long one', server.asked[-1], {'do': 'name', 'text': 'y' * 20000})
        expect_equal('a NUL', script(program, server.path, b'name a\0b\n').returncode, USAGE)
    result = say(program, server.path, 'help')
    expect_status(result, NETWORK)


def shown(program, folder):
    """Tables with names that contain terminal control codes; and live tables."""
    with served() as server:
        server.things = [{'name': 'a\x1b[2J\n\u202eb', 'moved_bytes': 1}, {'name': 'é'}]
        server.things[1]['moved_bytes'] = 5 << 30
        out = say(program, server.path, 'show things').out
        expect(not re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]', out), f'escapes: {out!r}')
        expect(re.search(r'^name +moved\n.*1\.00 MiB\né +5\.00 GiB\n$', out, re.S), f'{out!r}')
        out = say(program, server.path, 'show things live 2').out
        expect(re.search(r'moved/s.*8\.\d\d Mb/s', out, re.S), f'no rate: {out!r}')
        found = json.loads(say(program, server.path, 'show things', '--json').out)
        expect_equal('as JSON', found['things'][1]['name'], 'é')
        out = say(program, server.path, 'help show').out
        expect_equal('help', out.split(), ['show', 'things', 'from', 'FIRST', 'all', 'of', 'them'])


def typed(program, folder):
    """Completion, history, help, a live table to a key, a server that dies and comes back."""
    with served() as server, Terminal(program, server.path) as terminal:
        terminal.type('sho\t', 'show ')
        terminal.type('things\r', 'one .*wavehaul> ')
        terminal.type('\x1b[A\r', 'one .*wavehaul> ')
        expect_equal('asked', [r['do'] for r in server.asked], ['things', 'things'])
        terminal.type('pause 4\t', '4711')
        terminal.type('\r')
        expect_equal('asked', server.asked[-1], {'do': 'pause', 'job': 4711})
        expect('name' in terminal.type('?', 'wavehaul> '), '? tells nothing')
        terminal.type('show things live\r', 'moved/s.*moved/s')
        terminal.type(' ', 'wavehaul> ')
        asked = len(server.asked)
        terminal.type('die\r', 'gone.*wavehaul> ')
        terminal.type('name back\r')
        expect_equal('asked again', server.asked[asked + 1], {'do': 'name', 'text': 'back'})
        # Each choice once, and no more of it; a line that is taken back; words that are none.
        said = terminal.type('\t')
        words = said.split()
        expect(words.count('show') == words.count('pause') == 1, f'Tab: {said!r}')
        expect('JOB' not in said and len(said) < 200, f'Tab tells the manual: {said!r}')
        asked = len(server.asked)
        terminal.type('name no\x15name yes\r')
        expect_equal('after Ctrl-U', server.asked[asked:], [{'do': 'name', 'text': 'yes'}])
        terminal.type('shwo\r', "there is no command 'shwo'; did you mean 'show'.*wavehaul> ")
        terminal.type('pause x\r', "'x' cannot follow 'pause'; JOB... can.*wavehaul> ")
        expect_equal('what was asked', len(server.asked), asked + 1)
        terminal.type('x\x03')
        os.write(terminal.master, b'quit\r')
        expect_equal('the exit status', terminal.finish(), 0)


def expect_said_out(result, pattern):
    expect_status(result, 0)
    expect(re.search(pattern, result.out), f'nothing like {pattern!r} in {result.out!r}')


def options_change(program, path, job, session):
    """Profile options set by job and by session; options that cannot change during a run."""
    def shown():
        found = say(program, path, f'show session {session}', '--json').out
        return json.loads(found)['session']['options']
    expect_equal('share', shown()['share'], 'fair')
    for commands, share in ((f'set job {job} profile share scavenger', 'scavenger'),
                            (f'set session {session} profile share dedicated', 'dedicated')):
        expect_status(say(program, path, commands), 0)
        expect_equal(f'after {commands}', shown()['share'], share)
    for commands, status, said in (
            (f'set job {job} profile train 8', OTHER, 'settled when a session begins'),
            (f'set job {job} profile nothing 8', USAGE, 'no option .* alpha, share'),
            (f'set session {session} profile alpha 1', USAGE, 'from 100 to'),
            (f'set session {session + 1} profile alpha 500', OTHER, 'no session')):
        result = say(program, path, commands)
        expect_status(result, status)
        expect_said(result, said)
    expect_equal('share', shown()['share'], 'dedicated')


def shares(program, folder):
    """--share of an order is that of its session."""
    with houses(program) as (one, _):
        one.make('big', 200_000_000)
        for how in ('dedicated', 'fair', 'scavenger'):
            job = one.add('send', one.root / 'big', f'{CLIENT}:{how}', '--rate', '20M', '--share',
                          how)
            one.await_state(job, 'running')
            # The queue says so before there is a session.
            def jobs():
                return json.loads(say(program, one.path, 'show jobs', '--json').out)['jobs']

            wait_until(jobs, 10, 'its session')
            session = jobs()[0]['session']
            found = say(program, one.path, f'show session {session}', '--json').out
            expect_equal('share', json.loads(found)['session']['options']['share'], how)
            expect_status(say(program, one.path, f'cancel {job}'), 0)
            one.await_state(job, 'cancelled')


def steers(program, folder):
    """A busy server: everything that can be shown, and a job's whole life."""
    with houses(program) as (one, _), Terminal(program, one.path) as terminal:
        one.make('big', 200_000_000)
        job = one.add('send', one.root / 'big', f'{CLIENT}:big', '--rate', '100M', '--profile',
                      'lambda')
        one.await_state(job, 'running')
        wait_until(lambda: one.show(job)['moved_bytes'] > 1_000_000, 10, 'bytes')
        for what, pattern in (
                ('ports', 'rx_pkts'), ('queues', 'queue'), ('cores', 'cpu_'),
                ('sessions', 'transmitter'), ('jobs', f'send.*{CLIENT}'), ('orders', 'running'),
                ('peers', ''), ('neighbours', f'{CLIENT}.*reachable'), ('status', 'root'),
                (f'order {job}', 'big')):
            result = say(program, one.path, f'show {what}')
            expect_status(result, 0)
            expect(re.search(pattern, result.out), f'show {what}: {result.out!r}')
        terminal.type(f'set rate {job} 50M\r')
        rows = json.loads(say(program, one.path, 'show jobs', '--json').out)['jobs']
        expect_equal('the rate', rows[0]['rate_bps'], 50_000_000)
        session = rows[0]['session']
        expect_status(say(program, one.path, f'set session {session} rate 60M'), 0)
        rows = json.loads(say(program, one.path, 'show jobs', '--json').out)['jobs']
        expect_equal('the rate', rows[0]['rate_bps'], 60_000_000)
        options_change(program, one.path, job, session)
        terminal.type(f'pause {job}\r')
        one.await_state(job, 'paused')
        terminal.type(f'resume {job}\r')
        one.await_state(job, 'running')
        expect_status(say(program, one.path, f'cancel {job}'), 0)
        one.await_state(job, 'cancelled')
        expect_status(say(program, one.path, f'pause {job}'), OTHER)
        added = say(program, one.path, f'job add send {CLIENT} big "a copy" rate 4M priority 7 '
                    'options --profile=fixed --parallel=2', '--json')
        expect_status(added, 0)
        job = json.loads(added.out)['job']
        found = json.loads(say(program, one.path, f'job show {job}', '--json').out)['job']
        expect_equal('the order', [found[key] for key in (
            'verb', 'host', 'here', 'there', 'rate', 'priority', 'options')],
            ['send', CLIENT, ['big'], ['a copy'], '4M', 7, ['--profile=fixed', '--parallel=2']])
        expect_said_out(say(program, one.path, 'job list'), f'{job} .*send')
        terminal.type('job add s\t', 'send ')
        terminal.type('\x03')
        expect_status(say(program, one.path, f'job cancel {job}'), 0)
        one.await_state(job, 'cancelled')


CASES = [
    Case('console: words, and what is none', True, spoken),
    Case('console: tables, live ones, names with escapes', True, shown),
    Case('console: typed, with completion and history', True, typed),
    Case('console: steers a server', True, steers),
    Case('console: shares of orders', False, shares),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
