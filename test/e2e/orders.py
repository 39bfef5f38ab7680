#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The queue of a server: jobs both ways between two servers, steered while they run.

    orders.py [--quick] [-k PATTERN] [--binary PATH]

QUEUE_JOBS=200 hands that many jobs over in the mixed case, in place of 20.
"""

import contextlib
import functools
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from control import Control
from harness import Case, Failed, expect, expect_between, expect_equal, run_cases
from pair import CLIENT, SERVER, on_cpu, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

JOBS = int(os.environ.get('QUEUE_JOBS', '20'))
OVER = ('done', 'failed', 'cancelled')


class House:
    """A server with a queue, at one end of a link."""

    has_address = True  # of its own: the kernel of its host does not know it

    def __init__(self, program, rendezvous, number, *options):
        self.program, self.number, self.options = program, number, options
        self.rendezvous, self.process = rendezvous, None
        self.root, self.state = rendezvous / f'root{number}', rendezvous / f'state{number}'
        self.path = rendezvous / f'control{number}'
        self.log = rendezvous / f'log{number}'
        for folder in (self.root, self.state):
            folder.mkdir()

    @property
    def address(self):
        return (SERVER, CLIENT)[self.number]

    def place(self):
        """What it runs under, and its port."""
        role = ',role=server' if self.number == 0 else ''
        return on_cpu(self.number), f'memif:{self.rendezvous}/socket{role}'

    def start(self):
        under, port = self.place()
        address = ('--addr', f'{self.address}/24') if self.has_address else ()
        command = [*under, self.program.binary, 'serve', '--config', 'none', '--port', port,
                   *address, '--root', self.root, '--state', self.state, '--control', self.path,
                   '--buffers', '256M', '--no-huge', *self.options]
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        wait_until(self.answers, 20, 'a server that answers')

    def answers(self):
        expect(self.process.poll() is None, f'the server ends: {self.said()[-400:]!r}')
        with contextlib.suppress(OSError, Failed, KeyError, ValueError), \
                Control(self.path) as control:
            return control.ask('status')['ok']
        return False

    def said(self):
        return self.log.read_text(errors='replace')

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        status = self.process.wait(20)
        self.process = None
        return status

    def run(self, *args):
        return self.program.run('job', *args, '--control', str(self.path))

    def job(self, *args):
        result = self.run(*args)
        expect(result.status == 0, f'job {args}: {result.err}')
        return result.out

    def add(self, *args):
        return int(json.loads(self.job('add', *args, '--json'))['job'])

    def show(self, number):
        return json.loads(self.job('show', number, '--json'))

    def state_of(self, number):
        with Control(self.path) as control:
            return control.told('job.show', job=number)['job']['state']

    def make(self, name, size, seed=1):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(seed).randbytes(size))
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def names(self, below):
        top = self.root / below
        return sorted(str(path.relative_to(top)) for path in top.rglob('*'))

    def digest(self, name):
        path = self.root / name
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None

    def await_state(self, number, *states, seconds=30):
        def there():
            self.last = self.state_of(number)
            expect(self.last != 'done' or 'done' in states, 'nothing follows')
            return self.last in states
        try:
            wait_until(there, seconds, f'job {number} to be {states}')
        except Failed as failed:
            raise Failed(f'{failed}: {self.last}; {self.said()[-300:]!r}') from None


@contextlib.contextmanager
def houses(program, *options, kind=House):
    rendezvous = Path(tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp'))
    rendezvous.chmod(0o777)
    two = [kind(program, rendezvous, number, *options) for number in (0, 1)]
    try:
        for house in two:
            house.start()
        yield two
        for house in two:
            expect_equal('the exit status of a server', house.stop(), 0)
    finally:
        for house in two:
            if house.process is not None:
                house.process.kill()
                house.process.wait()
        shutil.rmtree(rendezvous, ignore_errors=True)


def both_ways(program, folder):
    with houses(program) as (one, two):
        sent, got = one.make('a/data', 3_000_000), two.make('b/data', 2_000_000, 2)
        first = one.add('send', one.root / 'a/data', f'{CLIENT}:came')
        second = one.add('get', f'{CLIENT}:b', one.root / 'into', '-r', '--after', first)
        with Control(one.path) as control:
            third = control.told('job.add', verb='send', host=CLIENT, here=['nothing'],
                                 there=['x'], retries=0)['job']
        for number, state in ((first, 'done'), (second, 'done'), (third, 'failed')):
            one.await_state(number, *OVER)
            expect_equal(f'the state of {number}', one.state_of(number), state)
        expect_equal('what was sent', two.digest('came'), sent)
        expect_equal('what was got', one.digest('into/b/data') or one.digest('into/data'), got)
        expect_equal('bytes', one.show(first)['bytes'], 3_000_000)
        expect_equal('the exit status', one.show(third)['exit_status'], 23)
        # What is not below the root is nobody's through the server, nor are others' jobs.
        expect(one.run('add', 'send', '/etc/passwd', f'{CLIENT}:x').status == 2, 'passwd goes')
        with Control(one.path) as control:
            for paths in (['../x'], ['/etc/passwd'], ['a/../../x'], ['']):
                answer = control.ask('job.add', verb='send', host=CLIENT, here=paths, there=['x'])
                expect(not answer['ok'], f'{paths}: {answer}')


def steered(program, folder):
    """A rate that changes while it runs, a pause, and a cancel."""
    with houses(program) as (one, two):
        digest = one.make('large', 60_000_000)
        number = one.add('send', one.root / 'large', f'{CLIENT}:large', '--rate', '40M',
                         '--profile', 'fixed')
        one.await_state(number, 'running')
        with Control(one.path) as control:
            rate_changes(control, number)
        one.job('pause', number)
        one.await_state(number, 'paused')
        expect_equal('what came', two.digest('large'), None)
        one.job('set', number, 'max')
        one.job('resume', number)
        one.await_state(number, 'done')
        expect_equal('the bytes', two.digest('large'), digest)
        number = one.add('send', one.root / 'large', f'{CLIENT}:other', '--rate', '10M')
        one.await_state(number, 'running')
        one.job('cancel', number)
        one.await_state(number, 'cancelled')
        expect_equal('what came', two.digest('other'), None)


def schema_of(values):
    """{path of a member: names of the types that it has}, of objects, lists and what is in them."""
    found = {}

    def look(value, at):
        found.setdefault(at, set()).add(type(value).__name__)
        if isinstance(value, dict):
            for name, member in value.items():
                look(member, f'{at}.{name}')
        for member in value if isinstance(value, list) else ():
            look(member, f'{at}[]')
    for value in values:
        look(value, value['event'])
    return found


def same_schema(here, there):
    """Differences, but for what is null at one of them, or a setting or cause it has not."""
    wrong = []
    for at in sorted(here | there):
        one, two = (types.get(at, set()) - {'NoneType'} for types in (here, there))
        parent = at.rsplit('.', 1)[0].removesuffix('[]')
        if one == two or (not one and at in here) or (not two and at in there):
            continue
        if ('.settings.' in at or '.waits.' in at) and (not one or not two):
            continue
        # What a list or an object that is not there would have had.
        if at not in here and not here.get(parent, set()) - {'NoneType', 'list'} or \
                at not in there and not there.get(parent, set()) - {'NoneType', 'list'}:
            continue
        wrong.append(f'{at}: {sorted(one)}, {sorted(two)}')
    return wrong


def schemas(program, folder, verb):
    """What --json-stream has and the events of the same job have the same members and types."""
    with houses(program) as (two, one):
        source, target = (one, two) if verb == 'send' else (two, one)
        source.make('set/large', 16_000_000)
        source.make('set/small', 10)
        source.make('set/clash', 10)
        (source.root / 'set' / os.fsdecode(b'\xff')).write_text('x')
        for name in ('direct', 'queued', 'handed'):
            (target.root / name / 'set/clash/full').mkdir(parents=True)
        words = ('-r', '--rate', '40M')

        def operands(name):
            return (one.root / 'set', f'{two.address}:{name}') if verb == 'send' else \
                (f'{two.address}:set', one.root / name)
        with Control(one.path) as control:
            control.told('watch')
            number = one.add(verb, *operands('queued'), *words)
            queued = [control.read()]
            while queued[-1]['event'] != 'end':
                expect(queued[-1].get('state') != 'failed', queued[-1])
                queued.append(control.read())
        one.await_state(number, 'failed')
        handed = program.run(verb, *words, '--json-stream', '--control', one.path, '--daemon',
                             'always', *operands('handed'))
        expect_equal('the exit status of what is handed over', handed.status, 23)
        expect_equal('the exit status of a server', one.stop(), 0)
        under, port = one.place()
        direct = program.run(verb, *words, '--json-stream', '--config', 'none', '--port', port,
                             '--addr', f'{one.address}/24', '--buffers', '256M', '--no-huge',
                             '--daemon', 'never', *operands('direct'), under=under)
        expect_equal('the exit status', direct.status, 23)
        one.start()
        direct = schema_of(map(json.loads, direct.out.splitlines()))
        handed = schema_of(event for event in map(json.loads, handed.out.splitlines())
                           if event['event'] != 'job')
        queued = schema_of(event for event in queued if event['event'] != 'job')
        for event in ('start', 'file', 'interval', 'end'):
            for types in (direct, handed, queued):
                expect(event in types, f'no {event}: {sorted(types)}')
        for name, types in (('job.watch', queued), ('handed over', handed)):
            expect_equal(f'jobs of {name}', {types.pop(f'{event}.job', None) == {'int'}
                                             for event in ('start', 'file', 'interval', 'end')},
                         {True})
            types.pop('stall.job', None)
            expect_equal(f'differences of {name}', same_schema(direct, types), [])
        settings = [at for at in queued if at.startswith('start.settings.')]
        expect('start.settings.transfer.rate' in settings and len(settings) > 10, settings)


def moved(control, number):
    return control.told('job.show', job=number)['job']['moved_bytes'], time.monotonic()


def rate_over(control, number, seconds):
    bytes_before, before = moved(control, number)
    time.sleep(seconds)
    bytes_after, after = moved(control, number)
    return (bytes_after - bytes_before) * 8 / (after - before)


def paces_bps(control):
    """All transmitters: of data, and of answers to a host that follows an order."""
    sessions = [control.told('session', number=number)['session']
                for number in control.told('sessions')['sessions']]
    return [s['paced_bps'] for s in sessions if s['role'] == 'transmitter']


def goes_by(control, bps):
    """Whether anything here sends by that rate, within a hundredth."""
    return any(abs(pace - bps) < bps / 100 for pace in paces_bps(control))


def await_pace(control, bps, rate):
    wait_until(lambda: goes_by(control, bps), 10, f'the pace by {rate}')


def rate_changes(control, number):
    wait_until(lambda: moved(control, number)[0] > 500_000, 10, 'data')
    await_pace(control, 40e6, '40M')
    expect_equal('now', control.told('job.set', job=number, rate='8M')['now'], True)
    await_pace(control, 8e6, '8M')
    # What was sent before is told of as late as a busy machine has it.
    wait_until(lambda: 1e6 < rate_over(control, number, 0.4) < 10e6, 10, 'the rate by 8M')
    for rate, bps in (('60M', 60e6), ('weekdays 20M, weekends 20M, else 10M', 20e6)):
        control.told('job.set', job=number, rate=rate)
        await_pace(control, bps, rate)


def got_steered(program, folder):
    """What is got goes by another rate, though the other end sends, and no faster than that lets.
    How soon is what test/jobs holds to 100 ms; here it is said."""
    with houses(program, '--rate', '80M') as (one, two):
        digest = two.make('large', 20_000_000)
        number = one.add('get', f'{CLIENT}:large', one.root / 'got', '--rate', '40M')
        one.await_state(number, 'running')
        with Control(one.path) as here, Control(two.path) as there:
            wait_until(lambda: moved(here, number)[0] > 500_000, 10, 'data')
            for rate, bps in (('8M', 8e6), ('60M', 60e6), ('20M', 20e6), ('90M', 80e6)):
                began = time.monotonic()
                expect_equal('now', here.told('job.set', job=number, rate=rate)['now'], True)
                await_pace(there, bps, rate)
                print(f'the pace by {rate} after {time.monotonic() - began:.3f} s')
        one.await_state(number, 'done')
        expect_equal('the bytes', one.digest('got'), digest)


def told(program, folder):
    """A running job for people: how far it is, how fast, and how long it will take."""
    with houses(program) as (one, two):
        one.make('large', 20_000_000)
        before = time.strftime('%Y-%m-%d ')
        number = one.add('send', one.root / 'large', f'{CLIENT}:in/', '--rate', '40M')
        line = (rf'^{number} +running +send +(\d+\.\d) +(\S+ \S+) +(\S+) Mb/s +0:00:0(\d)'
                rf'  {before}\d\d:\d\d:\d\d  large  {CLIENT}:in/ +-$')
        found = []

        def is_amid():
            found.append(re.search(line, one.job('list'), re.M))
            return found[-1] is not None and float(found[-1].group(1)) > 30

        wait_until(is_amid, 10, 'what is told of a running job')
        percent, _, rate, left = found[-1].groups()
        # Of 4.1 s, counted on the wire; both are of the last second.
        expect_between('rate', float(rate), 20, 45)
        expect_between('left', int(left), 4.1 * (1 - float(percent) / 100) - 1.5, 4)
        shown = one.job('show', number)
        expect(re.search(r'^percent +\d+\.\d\n', shown, re.M) and 'error' not in shown, shown)
        one.await_state(number, 'done')
        listed = one.job('list', '--all')
        expect(re.search(rf'^{number} +done +send +100\.0 ', listed, re.M), listed)
        shown = one.job('show', number)
        expect(re.search(rf'^ended +{before}\d\d:\d\d:\d\d$', shown, re.M), shown)
        expect('null' not in shown and 'time left' not in shown, shown)


def reread(program, folder):
    """SIGHUP: more jobs run at once; fixed settings are reported; invalid files change nothing."""
    rendezvous = Path(tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp'))
    rendezvous.chmod(0o777)
    config = rendezvous / 'site.conf'
    config.write_text('[queue]\njobs = 1\n[limits]\njob_depth = 8\n')
    house = House(program, rendezvous, 0, '--config', config)

    def reload(text, said):
        config.with_suffix('.new').write_text(text)
        config.with_suffix('.new').rename(config)
        house.process.send_signal(signal.SIGHUP)
        wait_until(lambda: said in house.said(), 10, f'the log to say {said!r}')

    try:
        house.start()
        house.make('file', 1000)
        with Control(house.path) as control:
            jobs = [house.add('send', house.root / 'file', f'{host}:x', '--retries', '9')
                    for host in ('198.51.100.8', '198.51.100.9')]
            house.await_state(jobs[0], 'running')
            expect_equal('the second', house.state_of(jobs[1]), 'ready')
            reload('[queue]\njobs = many\n', 'configuration is unchanged')
            reload('[queue]\njobs = 2\n[limits]\njob_depth = 9\n', 'queue.jobs is now 2')
            expect('limits.job_depth needs a restart; it stays 8' in house.said(),
                   house.said())
            house.await_state(jobs[1], 'running')
            control.told('drain', now=True)
        expect_equal('the exit status', house.process.wait(20), 0)
    finally:
        if house.process is not None:
            house.process.kill()
            house.process.wait()
        shutil.rmtree(rendezvous, ignore_errors=True)


def restarted(program, folder):
    """kill -9 of the server in the middle of a job: the next one goes on."""
    with houses(program, '--peer-timeout', '5s') as (two, one):
        digest = one.make('large', 20_000_000)
        first = one.add('send', one.root / 'large', f'{SERVER}:large', '--rate', '50M')
        later = one.add('send', one.root / 'large', f'{SERVER}:later', '--after', first)
        one.await_state(first, 'running')
        time.sleep(0.5)
        one.stop(signal.SIGKILL)
        one.start()
        one.job('set', first, 'max')
        one.await_state(first, 'done', seconds=60)
        one.await_state(later, 'done')
        expect_equal('the bytes', (two.digest('large'), two.digest('later')), (digest, digest))


def mixed(program, folder):
    """Many at once: both ways, with pauses, cancels and changes of rate; all bytes are right."""
    draw = random.Random(7)
    with houses(program, '--queue-jobs', '4', '--queue-peer-jobs', '3') as (one, two):
        jobs = []
        for i in range(JOBS):
            here, there = (one, two) if draw.random() < 0.5 else (two, one)
            digest = here.make(f'send{i}', draw.randrange(1, 2_000_000), i)
            sends = draw.random() < 0.6
            asker, other = (here, there) if sends else (there, here)
            with Control(asker.path) as control:
                paths = {'here': [f'send{i}' if sends else f'came{i}'],
                         'there': [f'came{i}' if sends else f'send{i}']}
                jobs.append((asker, control.told(
                    'job.add', verb='send' if sends else 'get', host=other.address,
                    rate=draw.choice(('max', '50M', 'daily 0:00-24:00 80M, else 1G')),
                    priority=draw.randrange(10), options=['--parallel=2'] if i % 5 == 0 else
                    ['--profile=fixed'], **paths)['job'], there, f'came{i}', digest))
        for _ in range(JOBS):
            asker, number, *_ = draw.choice(jobs)
            with Control(asker.path) as control:
                command = draw.choice(('pause', 'set', 'move', 'resume'))
                rate = {'rate': draw.choice(('100M', '1G'))} if command == 'set' else {}
                control.ask(f'job.{command}', job=number, **rate)
        for asker, number, *_ in jobs:
            with Control(asker.path) as control:
                if control.told('job.show', job=number)['job']['state'] != 'running':
                    control.ask('job.resume', job=number)
        for asker, number, *_ in jobs:
            def there(asker=asker, number=number):
                with Control(asker.path) as control:
                    control.ask('job.resume', job=number)
                return asker.state_of(number) in OVER
            wait_until(there, 60, f'the end of job {number}')
            expect_equal(f'job {number}', asker.show(number)['error'], None)
        for asker, number, there, name, digest in jobs:
            expect_equal(f'the bytes of job {number}', there.digest(name), digest)


def crowded(program, folder):
    """Hosts that serve one job of a peer at a time: those for which there is no room say so, and
    come later, without another try being allowed."""
    with houses(program, '--peer-jobs', '1', '--queue-jobs', '8', '--queue-peer-jobs', '8') as (
            one, two):
        long = one.make('long', 10_000_000)
        digests = [one.make(f'short{i}', 1000, i) for i in range(8)]
        first = one.add('send', one.root / 'long', f'{CLIENT}:long', '--rate', '8M')
        wait_until(lambda: one.show(first)['moved_bytes'], 10, 'the first one has the room')
        jobs = [one.add('send', one.root / f'short{i}', f'{CLIENT}:short{i}') for i in range(8)]
        wait_until(lambda: one.show(jobs[0])['error'] is not None, 10, 'one without room')
        expect('no room for another session' in one.show(jobs[0])['error'], one.show(jobs[0]))
        one.job('set', first, '1G')
        for job in (first, *jobs):
            wait_until(lambda job=job: one.state_of(job) in OVER, 60, f'the end of job {job}')
            expect_equal(f'job {job}', (one.state_of(job), one.show(job)['error']),
                         ('done', None))
        expect_equal('the first', two.digest('long'), long)
        for i, digest in enumerate(digests):
            expect_equal(f'short{i}', two.digest(f'short{i}'), digest)


def handed(program, folder):
    """send and get by the server that has the port."""
    with houses(program) as (one, two):
        digest = one.make('a/data', 3_000_000)
        options = ('--config', 'none', '--control', one.path)
        result = program.run('send', one.root / 'a/data', f'{CLIENT}:came', '--json', *options)
        expect_equal('the exit status of send', result.status, 0)
        report = json.loads(result.out)
        expect_equal('bytes', report['bytes'], 3_000_000)
        expect_equal('what was sent', two.digest('came'), digest)
        result = program.run('get', f'{CLIENT}:came', one.root / 'again', '--daemon', 'always',
                             *options)
        expect_equal('the exit status of get', result.status, 0)
        expect_equal('what was got', one.digest('again'), digest)
        expect("this host's server" in result.out, result.out)
        with Control(one.path) as control:
            jobs = control.told('job.list', all=True)['jobs']
        expect_equal('jobs', [job['state'] for job in jobs], ['done', 'done'])
        for part, status in ((('--offset', '2M'), 'kept'), (('--length', '2M'), 'done')):
            result = program.run('send', one.root / 'a/data', f'{CLIENT}:joined', '--daemon',
                                 'always', '--join', '0123456789abcdef', *part, '-v', *options)
            expect_equal('the exit status of a range', result.status, 0)
            expect(status == 'done' or 'kept: ' in result.out, result.out)
            expect_equal('there', (two.root / 'joined').exists(), status == 'done')
        expect_equal('ranges joined', two.digest('joined'), digest)
        result = program.run('send', '/etc/hostname', f'{CLIENT}:x', *options)
        expect_equal('outside of the root', result.status, 2)
        result = program.run('get', f'{CLIENT}:nothing', one.root / 'x', *options)
        expect(result.status not in (0, 2), f'what is not there: {result.status}')
        for own in (('--keylog', folder / 'keys'), ('--unsealed',), ('--udp-port', '5761'),
                    ('--mtu', '1400'), ('--dscp', '8'), ('--buffers', '128M'), ('--user', 'x'),
                    ('--details',), ('--state', folder / 'own')):
            words = ('send', one.root / 'a', f'{CLIENT}:x', '-r', *own, *options)
            for result in (program.run(*words, '--daemon', 'always'),
                           program.run(*words, '--port', one.place()[1], '--addr',
                                       f'{SERVER}/24')):
                expect_equal(f'{own[0]}, of a port of our own', result.status, 5)
                expect(f'does not take {own[0]}' in result.err, result.err)
        result = program.run('get', f'{CLIENT}:came', one.root / 'third', '--port', one.place()[1],
                             '--addr', f'{SERVER}/24', '--udp-port', '5760', *options)
        expect_equal('as the server has it', result.status, 0)
        interrupted(program, one, options)


def untrusted(program, folder):
    """The job says that it is so, the log why, and what to run if that is the right host."""
    with houses(program) as (one, two):
        two.stop()
        two.options = (*two.options, '--identity', folder / 'other.pem')
        two.start()
        one.make('data', 1000)
        number = one.add('send', one.root / 'data', f'{CLIENT}:')
        wait_until(lambda: one.state_of(number) == 'failed', 30, 'a job that failed')
        error = one.show(number)['error']
        expect(re.search(r'the server [-0-9a-z]+ is not trusted here$', error), error)
        expect(re.search(rf'{CLIENT} presents the key .* is not known here; if this is the right '
                         rf'host, run: wavehaul trust add .* address={CLIENT}', one.said()),
               one.said()[-600:])


def countless(program, folder):
    """More files fail than a report names: the first ones are, and all are counted."""
    count = 2000
    with houses(program) as (one, two):
        (two.root / 'set').mkdir()
        for i in range(count):
            (two.root / 'set' / f'{i:0200}').write_text('x')
            (one.root / 'to/set' / f'{i:0200}' / 'full').mkdir(parents=True)
        words = ('get', '-r', f'{CLIENT}:set', one.root / 'to', '--config', 'none', '--control',
                 one.path, '--daemon', 'always')
        result = program.run(*words)
        expect_equal('the exit status', result.status, 23)
        expect(result.out.endswith(f"; {count} failed, by this host's server\n"), result.out)
        more = re.search(r'^wavehaul: (\d+) more failed, not named here;', result.err, re.M)
        named = re.findall(r'^wavehaul: set/\d{200}: a folder', result.err, re.M)
        expect_between('how many are named', len(named), 500, count - 1)
        expect_equal('all of them', len(named) + int(more[1]), count)
        report = json.loads(program.run(*words, '--json').out)
        expect_equal('in JSON', (report['failed'], report['unnamed']),
                     (count, {'failures': count - len(report['failures']), 'passed_over': 0,
                              'removed': 0}))
        expect(len(set(map(str, report['failures']))) == len(named), len(report['failures']))
        expect(one.show(1)['error'].startswith('set/0'), one.show(1))


def senseless(program, folder):
    """job add refuses what the verbs refuse of their options, in the same words."""
    with houses(program) as (one, two):
        one.make('a', 10)
        options = ('--config', 'none', '--control', one.path, '--daemon', 'never', '--port',
                   'memif:/nowhere', '--addr', f'{SERVER}/24')
        send, get = ('send', one.root / 'a', f'{CLIENT}:a'), ('get', f'{CLIENT}:a', one.root / 'b')
        many = [f'{CLIENT}:{i:0100}' for i in range(200)]
        for words, more, said in (
                (send, ('--digest', 'md5'), '--digest needs'),
                (get, ('--digest', 'crc32c'), '--digest needs'),
                (send, ('--digest', 'md6', '--manifest', one.root / 'm'), 'is one of'),
                (send, ('--move', '--manifest', one.root / 'm'), '--move has removed'),
                (send, ('--dry-run', '--expect', one.root / 'm'), '--dry-run'),
                (send, ('--delete', '-r', '--parallel', '2'), 'one lane'),
                (get, ('--case-clash', 'no'), '--case-clash'),
                (send, ('--backup', '--suffix', 'a/b'), '--suffix'),
                (send, ('--case-clash', 'refuse'), 'is not an option of send'),
                (get, ('--map-owners', '1=2'), 'need --owners'),
                (('send', one.root / 'a', f'ann@{CLIENT}:a'), (), 'starts no server by ssh'),
                (('get', *many, one.root / 'b'), (), 'too many paths and patterns')):
            queued = one.run('add', *words, *more)
            expect_equal(f'the exit status of {more}', queued.status, 2)
            expect(said in queued.err, f'{more}: {queued.err}')
            if words in (send, get):
                direct = program.run(*words, *more, *options)
                expect_equal(f'what the verb says of {more}', direct.err, queued.err)
        result = one.run('add', 'copy', f'{CLIENT}:a', 'dtn3:a', '--digest', 'md5')
        expect('--digest needs' in result.err, f'copy: {result.err}')
        with Control(one.path) as control:
            for words in (['--digest=md5'], ['--move', '--expect=a']):
                answer = control.ask('job.add', verb='send', host=CLIENT, here=['a'], there=['a'],
                                     options=words)
                expect(not answer['ok'] and answer['status'] == 2, f'{words}: {answer}')
            expect_equal('jobs', control.told('job.list', all=True)['jobs'], [])
        for words in (('resume', 1, '--not-before', '22:00'), ('list', '--priority', 1)):
            expect(f'no option of `wavehaul job {words[0]}' in one.run(*words).err, words)
        expect_equal('an empty list', one.job('list'),
                     'no jobs in the queue; --all lists those that are over, too\n')
        expect_equal('an empty list of all', one.job('list', '--all'), 'no jobs\n')


def chosen(program, folder):
    """What send and get choose of trees, by an order and by the server for them."""
    with houses(program) as (one, two):
        for name in ('tree/a.dat', 'tree/b.tmp', 'tree/in/c.dat', 'd.dat'):
            one.make(name, 5000, len(name))
        two.make('to/tree/gone', 10)
        (one.root / 'names').write_text(f'{one.root}/./d.dat\n')
        odd = one.root / 'tree' / os.fsdecode(b'\xff.tmp')
        odd.write_text('x')
        (one.root / 'sums').mkdir()
        options = ('--config', 'none', '--control', one.path)

        def sent(*args):
            result = program.run('send', *args, f'{CLIENT}:to/', '--daemon', 'always', *options)
            expect_equal(f'{args[1:]}', result.status, 0)
            return result.out

        said = sent(one.root / 'tree', '-r', '--exclude', '*.tmp', '--delete', '--dry-run')
        expect('would go: tree/a.dat, 5000 B' in said and 'b.tmp' not in said, said)
        said = sent(one.root / 'tree', '-r', '--dry-run')
        expect(re.search(r'^would go: tree/\S+tmp, 1 B$', said, re.M), f'not UTF-8: {said}')
        expect_equal('after a dry run', two.names('to'), ['tree', 'tree/gone'])
        said = sent(f'{one.root}/./tree', '-av', '--exclude', '*.tmp', '--delete', '--files-from',
                    one.root / 'names', '--manifest', one.root / 'sums/run', '--digest', 'md5')
        expect_equal('the names', sorted(said.splitlines()[:-1]),
                     ['d.dat', 'removed: tree/gone', 'tree/a.dat', 'tree/in/c.dat'])
        expect_equal('what came', two.names('to'),
                     ['d.dat', 'tree', 'tree/a.dat', 'tree/in', 'tree/in/c.dat'])
        sums = (one.root / 'sums/run').read_text().split('\n')
        for name in ('tree/in/c.dat', 'd.dat'):
            digest = hashlib.md5((one.root / name).read_bytes()).hexdigest()
            expect(f'{digest}  {name}' in sums, f'{name}: {sums}')
        # Contents that differ, a copy of what was there, and what is expected.
        kept = two.digest('to/d.dat')
        one.make('d.dat', 4000, 9)
        number = one.add('send', one.root / 'd.dat', f'{CLIENT}:to/', '--backup', '--suffix',
                         '.old', '--digest', 'md5', '--expect', one.root / 'sums/run')
        one.await_state(number, *OVER)
        shown = one.show(number)
        expect_equal('the exit status', (shown['state'], shown['exit_status']), ('failed', 6))
        expect_equal('the copy', two.digest('to/d.dat.old'), kept)
        number = one.add('get', f'{CLIENT}:to/tree/*.dat', one.root / 'into/', '--max-size', '6K',
                         '--expect', one.root / 'names', '--digest', 'md5')
        one.await_state(number, 'failed')
        expect('no line of the form' in one.show(number)['error'], one.show(number)['error'])
        number = one.add('get', f'{CLIENT}:to/tree/*.dat', one.root / 'into/', '--newer', '1d')
        one.await_state(number, 'done')
        expect_equal('what was got', one.digest('into/a.dat'), one.digest('tree/a.dat'))
        for words, why in ((['--owners'], 'restart it with --owners'),
                           (['--expect=/etc/x'], '--expect'),
                           (['--files-from=x'], 'no option of an order')):
            with Control(one.path) as control:
                answer = control.ask('job.add', verb='get', host=CLIENT, here=['x'], there=['y'],
                                     options=words)
            expect(not answer['ok'] and why in answer['error'], f'{words}: {answer}')
        many_names(one, two)


def many_names(one, two):
    """More than a line of the control socket used to bear; a list tells of their beginning."""
    names = [f'many/{i:04}-{"n" * 120}' for i in range(600)]
    for name in names:
        path = one.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b'x')
    with Control(one.path) as control:
        number = control.told('job.add', verb='send', host=CLIENT, here=names,
                              there=['many/'])['job']
        shown = control.told('job.show', job=number)['job']
        expect_equal('paths told', (len(shown['here']), shown['untold']), (16, 584))
    one.await_state(number, 'done')
    expect_equal('files', len(two.names('many')), 600)


def rpcs(program, folder):
    """ls, du, rm, mkdir, mv and ping by the server that has the port, as by one of their own."""
    with houses(program) as (one, two):
        two.make('runs/a', 5000)
        odd = b'x\xff\x1b'
        (two.root / 'runs' / os.fsdecode(odd)).write_bytes(b'')
        (two.root / 'runs/link').symlink_to('a')
        options = ('--daemon', 'always', '--config', 'none', '--control', one.path)

        def run(verb, *paths, status=0):
            words = [path if path == '-r' else f'{CLIENT}:{path}' for path in paths if path]
            words = words or [CLIENT]
            result = program.run(verb, *words, *options)
            expect_equal(f'{verb} {paths}', (result.status, result.err != ''),
                         (status, status != 0))
            return result.out

        result = json.loads(program.run('ls', f'{CLIENT}:runs', '--json', *options).out)
        found = {e.get('path', e.get('path_hex')): e for e in result['entries']}
        expect_equal('names', sorted(found),
                     sorted(['runs/a', 'runs/link', (b'runs/' + odd).hex()]))
        expect_equal('a file', (found['runs/a']['bytes'], found['runs/a']['kind'],
                                found['runs/link']['link']), (5000, 'file', 'a'))
        expect_equal('the end', (result['verb'], result['exit_status'], result['failed']),
                     ('ls', 0, 0))
        result = json.loads(program.run('ls', f'{CLIENT}:r*/[al]*', '--json', *options).out)
        expect_equal('what matches', [e['path'] for e in result['entries']],
                     ['runs/a', 'runs/link'])
        expect('3 entries' in run('du', 'runs'), 'du')
        run('mkdir', 'new')
        run('mv', 'runs/a', 'runs/link', 'new')
        expect_equal('moved', two.names('new'), ['a', 'link'])
        for own in ('--udp-port', '5761'), ('--dscp', '8'), ('--verbose',):
            result = program.run('ls', f'{CLIENT}:runs', *own, *options)
            expect_equal(f'{own[0]}, of a port of our own', result.status, 5)
            expect(f'does not take {own[0]}' in result.err, result.err)
        run('ls', 'nothing', status=3)
        run('ls', 'nothing', 'new', status=23)
        run('rm', 'new', status=1)
        run('rm', 'new', '-r')
        expect(not (two.root / 'new').exists(), 'it is there yet')
        said = run('ping', None)
        expect('10 of 10 came back' in said, said)
        expect_equal('their numbers', re.findall(r'^(\d+): ', said, re.MULTILINE),
                     [str(i) for i in range(1, 11)])
        many = two.root / 'many'
        many.mkdir()
        for i in range(3000):
            (many / f'{i:05}').touch()
        expect_equal('lines', len(run('ls', 'many').splitlines()), 3000)
        # Nobody reads: the remote operation ends with its client, and the server goes on.
        process = program.start('ping', CLIENT, '--count', '100000', *options)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        expect_equal('the exit status', process.returncode, 20)
        with Control(one.path) as control:
            wait_until(lambda: not control.told('status')['live'], 10, 'no job')


def interrupted(program, one, options):
    """Ctrl-C ends the order, and so does the end of the client."""
    one.make('large', 20_000_000)
    for how, status in ((signal.SIGINT, 20), (signal.SIGKILL, -signal.SIGKILL)):
        process = program.start('send', one.root / 'large', f'{CLIENT}:y', '--rate', '4M', *options)
        with Control(one.path) as control:
            def running(control=control):
                return [job['job'] for job in control.told('job.list')['jobs']
                        if job['state'] == 'running']
            wait_until(running, 10, 'a job that runs')
            number = running()[0]
        process.send_signal(how)
        process.communicate(timeout=10)
        expect_equal('the exit status', process.returncode, status)
        one.await_state(number, 'cancelled')


def troubled(program, folder):
    """Without a folder to write in, and with a damaged database, it serves, and says so."""
    with houses(program) as (two, one):
        one.stop()
        database = one.state / 'service.db'
        database.write_bytes(b'x' * 8192)
        one.start()
        expect('damaged' in one.said(), 'nothing is said of the damage')
        one.make('a', 1000)
        number = one.add('send', one.root / 'a', f'{SERVER}:a')
        one.await_state(number, 'done')
        one.stop()
        shutil.rmtree(one.state)
        one.state.write_text('')
        one.start()
        with Control(one.path) as control:
            answer = control.ask('job.list')
            expect(not answer['ok'] and 'no queue' in answer['error'], f'{answer}')
        two.make('b', 1000)
        number = two.add('send', two.root / 'b', f'{CLIENT}:b')
        two.await_state(number, 'done')


CASES = [
    Case('queue: both ways, dependencies, paths', True, both_ways),
    Case('queue: rate, pause and cancel of what runs', True, steered),
    Case('queue: the rate of what is got', True, got_steered),
    Case('queue: events of a job are those of --json-stream: send', True,
         functools.partial(schemas, verb='send')),
    Case('queue: events of a job are those of --json-stream: get', False,
         functools.partial(schemas, verb='get')),
    Case('queue: what is told of a running job', True, told),
    Case('queue: SIGHUP reads the configuration again', True, reread),
    Case('queue: goes on after kill -9', True, restarted),
    Case('queue: mixed jobs', True, mixed),
    Case('queue: hosts without room', True, crowded),
    Case('queue: send and get by the server', True, handed),
    Case('queue: a server that is not trusted', True, untrusted),
    Case('queue: options that the verbs refuse', True, senseless),
    Case('queue: more failures than a report names', False, countless),
    Case('queue: what is chosen of trees', True, chosen),
    Case('queue: remote operations by the server', True, rpcs),
    Case('queue: no folder, damaged database', True, troubled),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
