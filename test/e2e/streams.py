#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Pipes and pictures of clients whose transfers the server of their host runs.

    streams.py [--quick] [-k PATTERN] [--binary PATH]
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from control import Control
from harness import Case, expect, expect_between, expect_equal, run_cases
from orders import houses
from pair import CLIENT, SERVER, Pair, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, USAGE, NETWORK, INTERRUPTED = 0, 1, 2, 5, 20
MIB = 1 << 20
KILLS = 12


def content(size, seed=1):
    return random.Random(seed).randbytes(size)


def by_server(one, *args):
    return [str(word) for word in (one.program.binary, *args, '--daemon', 'always', '--config',
                                   'none', '--control', one.path)]


def through(one, text, *args):
    return subprocess.run(by_server(one, *args), input=text, capture_output=True, timeout=60,
                          check=False)


def started(one, *args):
    return subprocess.Popen(by_server(one, *args), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def last_job(one):
    with Control(one.path) as control:
        jobs = control.told('job.list', all=True)['jobs']
    return jobs[-1] if jobs else None


def both_ways(program, folder):
    """Bytes of any number, and the report where the file is not."""
    text = content(5 * MIB + 4321)
    with houses(program) as (one, two):
        for what in (b'', b'few', text):
            done = through(one, what, 'send', '-', f'{CLIENT}:deep.bin')
            expect_equal('the exit status of send', (done.returncode, done.stderr), (OK, b''))
            expect((two.root / 'deep.bin').read_bytes() == what, 'other bytes are there')
            expect(b"by this host's server" in done.stdout, f'it says {done.stdout}')
            done = through(one, b'', 'get', f'{CLIENT}:deep.bin', '-')
            expect_equal('the exit status of get', done.returncode, OK)
            expect(done.stdout == what, f'{len(done.stdout)} bytes came, of {len(what)}')
            expect(b"by this host's server" in done.stderr, f'it says {done.stderr}')
        expect_equal('what is here', one.names(''), [])
        job = last_job(one)
        expect_equal('the job', (job['state'], job['stream'], job['here'], job['bytes']),
                     ('done', True, ['-'], len(text)))
        done = through(one, b'12', 'send', '-', f'{CLIENT}:deep.bin', '--json')
        expect_equal('in JSON', json.loads(done.stdout)['bytes'], 2)
        # A file of that name is a file.
        (one.root / '-').write_bytes(b'file')
        done = through(one, b'pipe', 'send', one.root / '-', f'{CLIENT}:file')
        expect_equal('a file of that name', (two.root / 'file').read_bytes(), b'file')
        done = through(one, b'', 'get', f'{CLIENT}:nothing', '-')
        expect(done.returncode not in (OK, USAGE) and done.stdout == b'', f'{done}')
        # A file as standard output, which cannot take all of it.
        reader = started(one, 'get', f'{CLIENT}:big', '-')
        reader.communicate()
        two.make('big', 8 * MIB)
        reader = started(one, 'get', f'{CLIENT}:big', '-')
        expect_equal('the first bytes', len(reader.stdout.read(10)), 10)
        reader.stdout.close()
        said = reader.stderr.read().decode()
        expect(reader.wait(20) not in (OK, USAGE), 'a broken pipe is no failure')
        expect('cannot write standard output: Broken pipe' in said, f'it says {said[-300:]!r}')


def killed(program, folder):
    """What a client had sent when it was killed is no file, however few bytes it was."""
    with houses(program, '--peer-timeout', '3s') as (one, two):
        text = content(3 * MIB)
        for i in range(KILLS):
            size = (1, 70_000, len(text))[i % 3]
            writer = started(one, 'send', '-', f'{CLIENT}:half{i}')
            writer.stdin.write(text[:size])
            writer.stdin.flush()
            wait_until(lambda: (last_job(one) or {}).get('state') == 'running', 10, 'a job')
            time.sleep(0.05 * (i % 4))
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
            one.await_state(last_job(one)['job'], 'cancelled', 'failed')
        expect_equal('files', [name for name in two.names('') if name.startswith('half')], [])
        # As many times well.
        writer = started(one, 'send', '-', f'{CLIENT}:whole')
        expect_equal('the end of one that ends well', writer.communicate(text)[1], b'')
        expect((two.root / 'whole').read_bytes() == text, 'other bytes are there')
        writer = started(one, 'send', '-', f'{CLIENT}:stopped')
        writer.stdin.write(text)
        writer.stdin.flush()
        wait_until(lambda: last_job(one)['state'] == 'running', 10, 'a job')
        writer.send_signal(signal.SIGINT)
        writer.wait(timeout=20)  # the end of its input comes after it
        writer.communicate()
        expect_equal('of one that is interrupted', writer.returncode, INTERRUPTED)
        expect(not (two.root / 'stopped').exists(), 'half a file has its name')
        # The server goes: its client says so, and the next server has no half of it.
        writer = started(one, 'send', '-', f'{CLIENT}:gone')
        writer.stdin.write(text)
        writer.stdin.flush()
        wait_until(lambda: last_job(one)['state'] == 'running', 10, 'a job')
        one.stop(signal.SIGKILL)
        said = writer.communicate(timeout=20)[1]
        expect_equal('of one whose server goes', writer.returncode, NETWORK)
        expect(b'server has exited' in said, f'it says {said}')
        one.start()
        expect_equal('its job', last_job(one)['state'], 'cancelled')
        refusal = one.run('retry', last_job(one)['job'])
        one.await_state(last_job(one)['job'], 'failed')
        expect('stream is gone' in last_job(one)['error'], f'{refusal}: {last_job(one)}')


def stopped(program, folder):
    """A pipe has no end that a server could await: a second signal is one, and its client hears."""
    with houses(program) as (one, two):
        for house, says in ((one, b"this host's server has exited"),
                            (two, b'its server was stopped')):
            writer = started(one, 'send', '-', f'{CLIENT}:endless')
            writer.stdin.write(content(MIB))
            writer.stdin.flush()
            wait_until(lambda: last_job(one)['state'] == 'running', 10, 'a job')
            house.process.send_signal(signal.SIGTERM)
            wait_until(lambda: 'a second signal ends it' in house.said(), 10, 'what it waits for')
            time.sleep(0.5)
            expect_equal('whether it runs', house.process.poll(), None)
            began = time.monotonic()
            expect_equal('its exit status', house.stop(), OK)
            expect_between('the seconds of its end', time.monotonic() - began, 0, 5)
            writer.wait(10)
            said = writer.stderr.read()
            expect_equal('the exit status', writer.returncode, NETWORK)
            expect(says in said, f'it says {said}')
            writer.stdin.close()
            house.start()
        expect(not (two.root / 'endless').exists(), 'half of it has its name')


def refused(program, folder):
    """Streams that are nobody's, somebody else's, or not alone."""
    with houses(program) as (one, two), Control(one.path) as control:
        def add(**more):
            return control.ask('job.add', **{'verb': 'send', 'host': CLIENT, 'here': ['-'],
                                             'there': ['x'], 'attached': True} | more)
        own = control.told('version')
        for more, why in (({'stream': 99}, 'no connection'),
                          ({'stream': 1}, 'no connection'),
                          ({'stream': 99, 'attached': False}, 'attached'),
                          ({'stream': 99, 'here': ['a']}, 'here is ["-"]'),
                          ({'stream': 99, 'here': ['-', '-']}, 'here is ["-"]'),
                          ({'stream': 99, 'there': ['a', 'b']}, 'one file'),
                          ({'stream': 99, 'there': ['a/']}, 'no file name'),
                          ({'stream': 99, 'options': ['--parallel=2']}, 'one file'),
                          ({'stream': 99, 'options': ['--move']}, '--move'),
                          ({'stream': 99, 'verb': 'copy', 'there': ['b:x']}, 'sent or got'),
                          ({'attached': False, 'plot': True}, 'picture')):
            answer = add(**more)
            expect(not answer['ok'] and why in answer['error'], f'{more}: {answer}')
        expect(own['ok'], own)
        with Control(one.path) as early:
            early.send(b'{"do": "stream"}\nbytes')
            try:
                expect_equal('what comes after bytes without leave', early.lines.read(), b'')
            except ConnectionResetError:
                pass
        with Control(one.path) as stream:
            number = stream.told('stream')['stream']
            answer = add(stream=number, verb='get', there=['nothing'])
            expect(answer['ok'], answer)
            again = add(stream=number)
            expect('no connection' in again['error'], again)
            expect_equal('the stream of a job that failed', stream.lines.read(), b'')
        # Its end is a shutdown; a writer that has only gone has not said all.
        for state in 'done', 'failed':
            with Control(one.path) as stream:
                number = stream.told('stream')['stream']
                job = add(stream=number, there=[state])['job']
                stream.send(b'bytes')
                if state == 'done':
                    stream.socket.shutdown(socket.SHUT_WR)
                    one.await_state(job, state)
            one.await_state(job, state)
            expect_equal('its file', (two.root / state).exists(), state == 'done')
        # It does not pause; and a reader that never reads is in nobody's way.
        two.make('large', 20 * MIB)
        with Control(one.path) as stream:
            number = stream.told('stream')['stream']
            job = add(stream=number, verb='get', there=['large'])['job']
            one.await_state(job, 'running')
            answer = control.ask('job.pause', job=job)
            expect('not paused' in answer['error'], answer)
            one.make('other', MIB)
            other = one.add('send', one.root / 'other', f'{CLIENT}:other')
            one.await_state(other, 'done', seconds=10)
            expect_equal('the one that waits', one.state_of(job), 'running')
        one.await_state(job, 'failed', 'cancelled')
        with Control(one.path) as stream:  # which ends before anybody has wanted it
            stream.told('stream')
        with Control(one.path) as last:
            expect(last.told('status')['ok'], 'no answer')


def pictures(program, folder):
    """--plot is the client's file, of the server's transfer."""
    with houses(program) as (one, two):
        one.make('a', 20_000_000)
        for words, title in (
                (('send', one.root / 'a', f'{CLIENT}:a', '--rate', '400M'), 'send to'),
                (('get', f'{CLIENT}:a', one.root / 'b'), 'get from')):
            done = through(one, b'', *words, '--plot', folder / 'p.svg')
            expect_equal('the exit status', (done.returncode, done.stderr), (OK, b''))
            drawn = (folder / 'p.svg').read_text()
            expect(f'wavehaul {title} {CLIENT}' in drawn and drawn.endswith('</svg>\n'),
                   f'it is no picture: {drawn[:200]}')
            expect_between('its size', len(drawn), 5000, 500_000)
        done = through(one, b'', 'get', f'{CLIENT}:nothing', one.root / 'b', '--plot',
                       folder / 'f.svg')
        expect(done.returncode not in (OK, USAGE), f'{done}')
        expect('failed: ' in (folder / 'f.svg').read_text(), 'a picture without the failure')
        done = through(one, b'', 'send', one.root / 'a', f'{CLIENT}:a', '--plot', '/no/p.svg')
        expect(done.returncode == OTHER and b'no picture can be written' in done.stderr, f'{done}')


def ranges(program, folder):
    """Of a file the bytes that are wanted, and only these are moved."""
    text = content(9 * MIB + 77)
    at = ((0, 10), (1, 1), (4095, 2), (4096, 8192), (3 * MIB + 1, 2 * MIB + 3),
          (len(text) - 5, 100), (len(text), 1), (len(text) + 7, 7), (8 * MIB, None))
    with houses(program) as (one, two):
        for name in 'deep', 'small':
            (two.root / name).write_bytes(text if name == 'deep' else text[:5000])
        os.truncate(two.root / 'small', 90_000)  # a hole at its end
        for name in 'deep', 'small':
            whole = (two.root / name).read_bytes()
            for offset, length in at:
                words = ('--offset', offset, *(('--length', length) if length else ()))
                done = through(one, b'', 'get', f'{CLIENT}:{name}', '-', *words)
                end = offset + length if length else len(whole)
                expect_equal(f'the exit status of {name} {offset} {length}',
                             done.returncode, OK)
                expect(done.stdout == whole[offset:end],
                       f'{name} {offset} {length}: {len(done.stdout)} bytes, others')
                job = last_job(one)
                expect_between('bytes that moved, and what tells of them',
                               job['moved_bytes'], len(done.stdout), len(done.stdout) + 1000)
        for words, why in ((('--length', 0), b'--length'), (('--length', 1, '--move'), b'--move'),
                           (('--length', 1, '--parallel', 2), b'--parallel'),
                           (('--offset', 1, '--update'), b'--offset and --length')):
            done = through(one, b'', 'get', f'{CLIENT}:deep', '-', *words)
            expect(done.returncode == USAGE and why in done.stderr, f'{words}: {done}')
        for done in (through(one, b'', 'get', f'{CLIENT}:deep', one.root / 'x', '--length', 1),
                     through(one, b'x', 'send', '-', f'{CLIENT}:x', '--length', 1)):
            expect_equal('the exit status', done.returncode, USAGE)
        result = one.run('add', 'get', f'{CLIENT}:deep', one.root / 'x', '--length', '1')
        expect(result.status == USAGE and 'DEST is -' in result.err, f'{result}')
        # By the source that a sparse, large file is, too; and how long ten bytes take.
        with open(two.root / 'large', 'wb') as file:
            file.truncate(800 * MIB)
            file.seek(600 * MIB)
            file.write(b'0123456789')
        began = time.monotonic()
        done = through(one, b'', 'get', f'{CLIENT}:large', '-', '--offset', 600 * MIB, '--length',
                       10)
        expect_equal('ten bytes', done.stdout, b'0123456789')
        expect_between('the seconds that they take', time.monotonic() - began, 0, 3)
    with Pair(program, folder) as pair:
        (pair.served / 'deep').write_bytes(text)
        command = [program.binary, *map(str, pair.command(
            'get', f'{SERVER}:deep', '-', '--offset', 5, '--length', MIB + 1))]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        expect(done.stdout == text[5:MIB + 6], f'by a port of our own: {done.stderr}')
        pair.stop_server()


def odd_names(program, folder):
    """What is told to a server is UTF-8: another name is refused, and nothing is left out."""
    odd = os.fsdecode(b'\xe9t\xe9.tmp')
    with houses(program) as (one, two):
        for root, name in ((one.root, 'tree/a'), (one.root, f'tree/{odd}'), (two.root, 'there/b'),
                           (two.root, f'there/{odd}')):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(b'x')
        given = f'{one.root}/./tree/a', f'{one.root}/./tree/{odd}'
        names = folder / 'names'
        names.write_bytes(b'\0'.join(map(os.fsencode, given)))
        for words in (('send', *given, f'{CLIENT}:to/'),
                      ('send', '--null', '--files-from', names, f'{CLIENT}:to/'),
                      ('send', '-r', one.root / 'tree', '--exclude', odd, f'{CLIENT}:to/'),
                      ('get', f'{CLIENT}:there/b', f'{CLIENT}:there/{odd}', one.root),
                      ('rm', f'{CLIENT}:there/b', f'{CLIENT}:there/{odd}')):
            done = through(one, b'', *words)
            expect_equal(f'the exit status of {words}', done.returncode, USAGE)
            expect(b"\\xe9t\\xe9.tmp' is not UTF-8" in done.stderr, f'{words}: {done.stderr}')
        for words in (('send', *given, f'{CLIENT}:to/'),
                      ('copy', f'{CLIENT}:there/b', f'{CLIENT}:there/{odd}', f'{SERVER}:x'),
                      ('copy', f'{CLIENT}:there/b', f'{SERVER}:{odd}')):
            done = one.run('add', *words)
            expect_equal(f'the exit status of job add {words}', done.status, USAGE)
            expect("is not UTF-8, as all" in done.err, done.err)
        expect_equal('jobs', last_job(one), None)
        expect_equal('what is there', two.names(''), ['there', 'there/b', f'there/{odd}'])
        expect_equal('in a folder', through(one, b'', 'send', '-r', one.root / 'tree',
                                            f'{CLIENT}:').returncode, OK)
        expect_equal('its names', two.names('tree'), ['a', odd])


def later(program, folder):
    """A host that is not up yet has cost no byte: the pipe is kept for the next try."""
    text = content(2 * MIB)
    with houses(program, '--peer-timeout', '2s') as (one, two):
        two.stop()
        writer = started(one, 'send', '-', f'{CLIENT}:late', '--retries', '5', '--peer-timeout',
                         '2s')
        feeder = threading.Thread(target=lambda: writer.communicate(text), daemon=True)
        feeder.start()
        wait_until(lambda: (last_job(one) or {}).get('state') == 'waiting', 20, 'a failed try')
        two.start()
        feeder.join(40)
        expect_equal('the exit status', writer.returncode, OK)
        expect((two.root / 'late').read_bytes() == text, 'other bytes are there')
        expect_between('tries', last_job(one)['tries'], 2, 4)


def not_twice(program, folder):
    """A pipe of which bytes were read is not sent again, with or without a server."""
    text = content(2 * MIB)
    with Pair(program, folder) as pair:
        writer = subprocess.Popen(
            [program.binary, *map(str, pair.command('send', '-', f'{SERVER}:half', '--retries',
                                                    '5', '--peer-timeout', '2s'))],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        writer.stdin.write(text)
        writer.stdin.flush()
        wait_until(lambda: any(name.startswith('.') for name in os.listdir(pair.served)), 10,
                   'something of it')
        pair.process.kill()
        pair.process.wait()
        began = time.monotonic()
        said = writer.communicate(timeout=30)[1].decode()
        expect(writer.returncode not in (OK, USAGE), f'it ends well: {said}')
        expect('retrying' not in said and time.monotonic() - began < 10, f'it says {said}')


CASES = [
    Case('streams: both ways by the server', True, both_ways),
    Case('streams: killed in the middle', True, killed),
    Case('streams: a server that is told to stop', True, stopped),
    Case('streams: refused', True, refused),
    Case('streams: pictures by the server', True, pictures),
    Case('streams: ranges', True, ranges),
    Case('streams: names that are not UTF-8', True, odd_names),
    Case('streams: kept until the host is up', False, later),
    Case('streams: never a second time', False, not_twice),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
