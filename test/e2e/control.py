#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The control socket of `wavehaul serve`: who may, what is answered, what is borne.

    control.py [--quick] [-k PATTERN] [--binary PATH]
"""

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import sys
import time
from pathlib import Path

from harness import Case, Failed, Skip, expect, expect_equal, run_cases
from pair import Pair, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

MAN = Path(__file__).resolve().parents[2] / 'man/wavehaul-control.7'

USAGE, OTHER, NETWORK = 2, 1, 5
LINE_BYTES = 1 << 20


class Control:
    """One connection; a line each way."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile('rb')
        self.hello = self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def read(self):
        line = self.lines.readline()
        expect(line, 'the connection ends')
        return json.loads(line)

    def send(self, line):
        self.socket.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b'\n')

    def ask(self, command, **arguments):
        self.send({'id': 7, 'do': command} | arguments)
        answer = self.read()
        while 'event' in answer:
            answer = self.read()
        expect_equal(f'the id of {command}', answer.get('id'), 7)
        return answer

    def told(self, command, **arguments):
        answer = self.ask(command, **arguments)
        expect(answer['ok'], f'{command}: {answer}')
        return answer


@contextlib.contextmanager
def steered(program, folder, *server, name='control'):
    path = folder / name
    if len(str(path)) > 100:
        raise Skip('the path of a socket is too long here')
    with Pair(program, folder, huge=False, server=('--control', path, *server)) as pair:
        yield pair, path


def answers(program, folder):
    with steered(program, folder) as (pair, path):
        with Control(path) as control:
            expect_equal('the protocol', control.hello['control'], 1)
            status = control.told('status')
            expect_equal('pid', status['pid'], pair.process.pid)
            expect_equal('jobs', status['live'], 0)
            expect_equal('root', status['root'], str(pair.served))
            expect_equal('version', control.told('version')['version'],
                         control.hello['wavehaul'])
            expect_equal('port', control.told('ports')['ports']['port'], 'net_memif0')
            expect(control.told('cores')['cores'], 'no cores')
            expect_equal('sessions', control.told('sessions')['sessions'], [])
            names = [command['name'] for command in control.told('commands')['commands']]
            expect('drain' in names and len(set(names)) == len(names), f'{names}')
            for line, status in (({'do': 'nothing'}, USAGE), ({}, USAGE), (b'[1]\n', USAGE),
                                 (b'\xff\n', USAGE), ({'do': 'session'}, USAGE),
                                 ({'do': 'session', 'number': -1}, USAGE),
                                 ({'do': 'session', 'number': 1}, OTHER),
                                 ({'do': 'status', 'x': 1}, USAGE)):
                control.send(line)
                answer = control.read()
                expect(answer['ok'] is False and answer['error'], f'{line}: {answer}')
                expect_equal(f'the status of {line}', answer['status'], status)
        expect_equal('its mode', os.stat(path).st_mode & 0o777, 0o660)
        pair.stop_server()
        expect(not path.exists(), 'the socket is left')


def documented():
    """Parses the man page: each command, and its required and optional arguments."""
    page = MAN.read_text().split('.SH COMMANDS')[1].split('.SH EXAMPLES')[0]
    found = {}
    for head in re.findall(r'^\.TP\n\.BR? (.*)$', page, re.M):
        *others, last = ''.join(shlex.split(head)).split(', ')
        name, *arguments = re.findall(r'\[[^]]*\]|[^ ]+', last)
        listed = {word: not part.startswith('[') for part in arguments
                  for word in part.strip('[]').split()}
        found |= {command: listed for command in (*others, name)}
    return found


def as_documented(program, folder):
    """The man page lists the server's commands and arguments, and which are required."""
    with steered(program, folder) as (pair, path):
        with Control(path) as control:
            told = {command['name']: {argument['name']: argument['needed']
                                      for argument in command['arguments']}
                    for command in control.told('commands')['commands']}
        page = documented()
        page.pop('commands')
        expect_equal('commands', sorted(page), sorted(told))
        for name, arguments in told.items():
            expect_equal(f'arguments of {name}', page[name], arguments)
        pair.stop_server()


def borne(program, folder):
    """Endless lines, hundreds of clients, and one that never reads."""
    with steered(program, folder) as (pair, path):
        with Control(path) as endless, Control(path) as deaf:
            endless.send(b'x' * LINE_BYTES)
            expect_equal('an endless line', endless.read()['status'], USAGE)
            expect_equal('then', endless.lines.readline(), b'')
            deaf.socket.settimeout(0.2)
            question = json.dumps({'do': 'commands'}).encode() + b'\n'
            with contextlib.suppress(OSError):
                for _ in range(20000):
                    deaf.socket.sendall(question)
            with contextlib.ExitStack() as many:
                turned = 0
                for _ in range(80):
                    client = many.enter_context(Control(path))
                    turned += 'error' in client.hello
                    if 'error' not in client.hello:
                        client.told('version')  # or he would have to make room
                expect(10 < turned < 40, f'{turned} of 80 were turned away')
            wait_until(lambda: answered(path), 10, 'an answer when all is over')
        rss = Path(f'/proc/{pair.process.pid}/statm').read_text().split()[1]
        expect(int(rss) << 12 < 2 << 30, f'{rss} pages')
        pair.stop_server()


def in_turn(program, folder):
    """A client that sends many lines at once delays no others: a few are answered at a time."""
    order = {'do': 'job.add', 'verb': 'send', 'host': '198.51.100.9', 'here': ['x'],
             'there': ['y'], 'not_before': int(time.time()) + 3600}
    with steered(program, folder, '--state', folder / 'state') as (pair, path):
        with Control(path) as one, Control(path) as many:
            pair.process.send_signal(signal.SIGSTOP)
            many.send((json.dumps(order) + '\n').encode() * 200)
            one.send({'do': 'job.list'})
            pair.process.send_signal(signal.SIGCONT)
            counts = one.read()['counts']
            expect(sum(counts.values()) <= 8, f'orders before it: {counts}')
            for _ in range(200):
                answer = many.read()
                expect(answer['ok'], f'{answer}')
            one.send({'do': 'job.list'})
            expect_equal('orders', sum(one.read()['counts'].values()), 200)
        pair.stop_server()


def answered(path):
    try:
        with Control(path) as control:
            return control.ask('version')['ok']
    except (Failed, OSError, KeyError):
        return False


def drained(program, folder):
    with steered(program, folder) as (pair, path):
        with Control(path) as control:
            expect_equal('jobs', control.told('drain')['live'], 0)
        expect_equal('the exit status', pair.await_server(), 0)
        pair.start_server()
        # What a killed server leaves is no hindrance to the next.
        pair.process.send_signal(signal.SIGKILL)
        pair.await_server()
        expect(path.exists(), 'no socket is left to be replaced')
        pair.start_server()
        expect(answered(path), 'the second server does not answer')
        pair.stop_server()


def taken_by_nobody(program, folder):
    """A full socket, and a socket path that is too long, are reported."""
    path = folder / 'stopped'
    if len(str(path)) > 100:
        raise Skip('the path of a socket is too long here')
    with contextlib.ExitStack() as held:
        stopped = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        stopped.bind(str(path))
        stopped.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waits = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                waits.setblocking(False)
                waits.connect(str(path))
        result = program.run('job', 'list', '--control', path, timeout_s=30)
    expect_equal('the exit status', result.status, NETWORK)
    expect('no server of this host answers on its control socket: Connection timed out' in
           result.err, result.err)
    long = folder / ('x' * 108)
    result = program.run('job', 'list', '--control', long)
    expect_equal('the exit status of a long path', result.status, NETWORK)
    expect('File name too long' in result.err, result.err)
    (folder / 'root').mkdir()
    result = program.run('serve', '--config', 'none', '--port',
                         f'memif:{folder}/m,role=server', '--addr', '192.0.2.9/24', '--root',
                         folder / 'root', '--no-huge', '--buffers', '64M', '--state', 'none',
                         '--control', long, timeout_s=30)
    expect_equal('the exit status of its server', result.status, OTHER)
    expect('no control socket ' in result.err and 'File name too long' in result.err, result.err)


CASES = [
    Case('control: answers, and what is no request', True, answers),
    Case('control: the page has every command and argument', True, as_documented),
    Case('control: what a client can do to it is bounded', True, borne),
    Case('control: lines of many clients are answered in turn', True, in_turn),
    Case('control: a socket that takes nobody, and one that cannot be', True, taken_by_nobody),
    Case('control: drain ends the server; a new one takes the socket over', True, drained),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
