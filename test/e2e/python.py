#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package against a real server: jobs, events, refusals.

    python.py [--quick] [-k PATTERN] [--binary PATH]
"""

import asyncio
import datetime
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import Case, Failed, Skip, expect, expect_between, expect_equal, run_cases
from orders import houses
from pair import CLIENT, SERVER, Pair, on_cpu, wait_until

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'python'))

import wavehaul  # noqa: E402
from wavehaul import State  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

USAGE, OTHER, INTERRUPTED = 2, 1, 20


def expect_raised(kind, function, *args, **named):
    try:
        function(*args, **named)
    except kind as error:
        return error
    raise Failed(f'{function.__name__}{args} raises no {kind.__name__}')


def both_ways(program, folder):
    """Jobs are submitted, watched and listed; the files arrive unchanged."""
    with houses(program) as (one, two), wavehaul.connect(one.path) as server:
        digest = one.make('a/data', 3_000_000)
        sent = server.send(one.root / 'a/data', CLIENT, 'came')
        events = list(server.watch(sent))
        expect_equal('the last event', (events[-1].name, events[-1].state), ('job', State.DONE))
        end = next(event for event in events if event.name == 'end')
        expect_equal('bytes of the end', (end['bytes'], end.job), (3_000_000, sent))
        expect_equal('what was sent', two.digest('came'), digest)
        got = server.get(CLIENT, 'came', 'again', after=sent, priority=7, rate='500M',
                         options=['--profile=fixed'])
        job = server.wait(got, timeout=30)
        expect_equal('what was got', one.digest('again'), digest)
        expect_equal('the job', (job.verb, job.host, job.here, job.there, job.state, job.after,
                                 job.priority, job.rate, job.options, job.bytes, job.files,
                                 job.exit_status, job.error),
                     ('get', CLIENT, ('again',), ('came',), State.DONE, sent, 7, '500M',
                      ('--profile=fixed',), 3_000_000, 1, 0, None))
        expect(job.began and job.ended and job.added <= job.began <= job.ended, f'{job}')
        now = datetime.datetime.now(datetime.timezone.utc)
        expect_between('its age', (now - job.added).total_seconds(), 0, 60)
        expect_equal('how far it is', (job.percent, job.now_bps, job.eta_s), (None, None, None))
        expect_equal('those over', [job.number for job in server.jobs(over=True)], [sent, got])
        expect_equal('those not over', list(server.jobs()), [])
        # To a third host, which may be this one; both have one key, and need no right.
        copied = server.copy(CLIENT, 'came', f'{one.address}:copied', rate='500M')
        expect_equal('what was copied', (server.wait(copied, timeout=30).bytes,
                                         one.digest('copied')), (3_000_000, digest))
        expect_equal('counts', server.counts()['done'], 3)
        expect_equal('version', server.version, server.ask('version')['version'])


def steered(program, folder):
    """Pause, resume, rates, places, cancel, retry; and a watch of all of it."""
    with houses(program) as (one, two), wavehaul.connect(one.path) as server:
        digest = one.make('large', 8_000_000)
        seen = []
        watch = server.watch()
        reader = threading.Thread(target=lambda: seen.extend(until_cancelled(watch)), daemon=True)
        reader.start()
        job = server.send('large', CLIENT, 'large', rate='20M')
        wait_until(lambda: server.show(job).moved_bytes > 100_000, 10, 'data')
        expect_equal('now', server.set_rate(job, '10M'), True)
        server.pause(job)
        wait_until(lambda: server.show(job).state is State.PAUSED, 10, 'a pause')
        expect_raised(TimeoutError, server.wait, job, timeout=0.2)
        later = server.send('large', CLIENT, 'later', not_before=datetime.timedelta(hours=1))
        expect_between('the time', server.show(later).due.timestamp(), time.time() + 3590,
                       time.time() + 3601)
        blocked = server.send('large', CLIENT, 'blocked', after=later)
        expect_equal('a follower', server.show(blocked).state, State.BLOCKED)
        server.move(later, priority=8)
        expect_equal('its priority', server.show(later).priority, 8)
        server.move(later, before=job)
        expect_equal('that of whom it stands before', server.show(later).priority, 5)
        server.set_rate(job, 'max')
        server.resume(job)
        server.wait(job, timeout=30)
        expect_equal('the bytes', two.digest('large'), digest)
        server.cancel(later)
        failed = expect_raised(wavehaul.JobFailed, server.wait, later, timeout=10)
        expect_equal('a cancelled job', failed.job.state, State.CANCELLED)
        reader.join(10)
        expect(not reader.is_alive(), 'the watch does not see the end')
        states = [event.state for event in seen
                  if event.job == job and isinstance(event, wavehaul.StateEvent)]
        expect_equal('states', states, [State.RUNNING, State.PAUSED, State.READY, State.RUNNING,
                                        State.DONE])
        server.retry(later)
        expect(server.show(later).state in (State.READY, State.RUNNING, State.DONE), 'no retry')


def until_cancelled(watch):
    with watch:
        for event in watch:
            yield event
            if isinstance(event, wavehaul.StateEvent) and event.state is State.CANCELLED:
                return


def refused(program, folder):
    """Sentences of the server, of a job that fails, and of no server."""
    with houses(program) as (one, two):
        with wavehaul.connect(one.path, timeout=5) as server:
            error = expect_raised(wavehaul.Refused, server.show, 4711)
            expect_equal('the sentence', (str(error), error.status),
                         ('there is no job 4711', OTHER))
            error = expect_raised(wavehaul.Refused, server.send, '../x', CLIENT, 'x')
            expect_equal('the status', error.status, USAGE)
            expect_raised(wavehaul.Error, server.send, '/etc/hostname', CLIENT, 'x')
            error = expect_raised(wavehaul.Refused, server.ask, 'job.show', jub=1)
            expect_equal('the sentence', str(error), "job.show has no argument 'jub'")
            expect_raised(wavehaul.Refused, server.send, ['x' * 1000] * 1100, CLIENT, 'x')
            missing = server.get(CLIENT, 'nothing', 'x')
            error = expect_raised(wavehaul.JobFailed, server.wait, missing, timeout=20)
            expect(error.status == error.job.exit_status > 0, f'status {error.status}')
            expect(str(error) == error.job.error and 'nothing' in str(error), f'{error}')
            later = server.get(CLIENT, 'later', 'x', not_before=datetime.timedelta(hours=1))
            patient, seen = server.watch(later, patience=20), []
            reader = threading.Thread(target=lambda: seen.extend(patient), daemon=True)
            reader.start()
            with server.watch() as events:
                expect_raised(TimeoutError, events.take, 0.1)
                two.stop()
                one.stop(signal.SIGKILL)
                expect_raised(wavehaul.NoServer, events.take, 5)
            expect_raised(wavehaul.NoServer, server.status)
            error = expect_raised(wavehaul.NoServer, wavehaul.connect, one.path)
            expect(str(one.path) in str(error), f'{error}')
            expect_raised(wavehaul.NoServer, server.wait, later, patience=0.1)
            for house in (one, two):
                house.start()
            server.cancel(later)
            reader.join(10)
            expect_equal('what a patient watch has seen',
                         [event.state for event in seen], [State.CANCELLED])
            patient.close()


def debians_fsspec():
    """Of a Python that is not Debian's, too: nothing in it is compiled."""
    sys.path.append('/usr/lib/python3/dist-packages')
    try:
        import fsspec
    except ImportError:
        raise Skip('python3-fsspec is not there') from None
    finally:
        sys.path.pop()
    return fsspec


def files(program, folder):
    """Files of the other host, by fsspec, through the server of this one."""
    fsspec = debians_fsspec()
    with houses(program) as (one, two):
        from wavehaul.filesystem import WavehaulFileSystem
        fsspec.register_implementation('wavehaul', WavehaulFileSystem, clobber=True)
        how = {'command': (program.binary,), 'options': ('--config', 'none'),
               'control': str(one.path)}
        digest = two.make('a/data', 1_000_000)
        with fsspec.open(f'wavehaul://{CLIENT}/a/data', **how) as file:
            expect_equal('the size', file.seek(0, 2), 1_000_000)
            file.seek(0)
            expect_equal('what is read', hashlib.sha256(file.read()).hexdigest(), digest)
            expect_equal('a line', len(file.readlines()), 0)
        fs = fsspec.filesystem('wavehaul', host=CLIENT, **how)
        expect_equal('a part', fs.cat_file('a/data', 10, 20),
                     (two.root / 'a/data').read_bytes()[10:20])
        with fs.open('a/new', 'w') as file:
            file.write('one\ntwo\n')
            file.flush()
            expect(not (two.root / 'a/new').exists(), 'it is there before it is whole')
        expect_equal('what is written', (two.root / 'a/new').read_text(), 'one\ntwo\n')
        expect_equal('and read', fs.open('a/new', 'r').readlines(), ['one\n', 'two\n'])
        with fs.transaction:
            with fs.open('a/whole', 'wb') as file:
                file.write(b'x')
            expect(not (two.root / 'a/whole').exists(), 'it is there before the transaction ends')
        expect_equal('after it', fs.cat('a/whole'), b'x')
        try:
            with fs.transaction:
                with fs.open('a/never', 'wb') as file:
                    file.write(b'x')
                raise KeyError
        except KeyError:
            expect(not (two.root / 'a/never').exists(), 'a transaction that failed is there')
        error = expect_raised(FileNotFoundError, fs.open, 'a/nothing')
        expect('a/nothing' in str(error), f'{error}')
        expect_raised(OSError, fs.pipe_file, 'a/new/below', b'x')
        expect_raised(ValueError, fs.open, 'a/new', 'ab')
        expect_equal('what is here of files on their way', one.names(''), [])
        expect_equal('folders, by the server', (fs.ls('a', detail=False), fs.exists('a/nothing')),
                     (['a/data', 'a/new', 'a/whole'], False))
        fs.cp_file('a/data', 'a/copy')
        (two.root / 'a/od[d]*').write_bytes(b'odd')
        expect_equal('a name with signs', fs.cat_file('a/od[d]*'), b'odd')
        expect_equal('a copy', two.digest('a/copy'), digest)
        fs.get_file('a/data', folder / 'data')
        expect_equal('a file here', (folder / 'data').read_bytes(),
                     (two.root / 'a/data').read_bytes())
        ranges(one, two, fs)


def ranges(one, two, fs):
    """Of a large file only what is read is moved, and more at once while reading goes on."""
    def moved():
        with wavehaul.connect(one.path) as server:
            return sum(job.moved_bytes for job in server.jobs(over=True))
    with open(two.root / 'large', 'wb') as file:
        file.truncate(800 << 20)
        file.seek(600 << 20)
        file.write(b'0123456789')
    before, began = moved(), time.monotonic()
    expect_equal('ten bytes', fs.cat_file('large', 600 << 20, (600 << 20) + 10), b'0123456789')
    expect_between('the seconds for ten bytes', time.monotonic() - began, 0, 3)
    expect_between('what is moved for them', moved() - before, 10, 1000)
    expect_equal('from the end', fs.cat_file('large', -5, -3), b'\0\0')
    before = moved()
    with fs.open('large') as file:
        expect_equal('the size', file.size, 800 << 20)
        file.seek((600 << 20) + 5)
        expect_equal('from the middle', file.read(5), b'56789')
        file.seek(-1, 2)
        expect_equal('the last one', file.read(), b'\0')
    expect_between('what is moved for these', moved() - before, 128 << 10, 300 << 10)
    digest = two.make('random', 30 << 20)
    with wavehaul.connect(one.path) as server:
        before = len(list(server.jobs(over=True)))
        with fs.open('random') as file:
            found = hashlib.sha256()
            while piece := file.read(1 << 20):
                found.update(piece)
        expect_equal('all of it', found.hexdigest(), digest)
        expect_between('how many ranges', len(list(server.jobs(over=True))) - before, 2, 6)
    with fs.open('random') as file:
        file.read(10)
        os.truncate(two.root / 'random', 1 << 20)
        expect_raised(OSError, file.read)


def trees(program, folder):
    """Folders of the other host, by fsspec, through a port of our own."""
    debians_fsspec()
    from wavehaul.filesystem import WavehaulFileSystem
    with Pair(program, folder, huge=False) as pair:
        fs = WavehaulFileSystem(SERVER, command=(*on_cpu(1), program.binary),
                                options=['--config', 'none', '--port', pair.port(1), '--addr',
                                         f'{CLIENT}/24', '--no-huge'])
        with fs.open('a', 'wb') as file:
            file.write(b'12345')
        expect_equal('a file, listed', fs.ls('a', detail=False), ['a'])
        fs.makedirs('one/two')
        fs.mv('a', 'one/two/b')
        fs.copy('one/two/b', 'one/two/c')
        expect_equal('names', sorted(fs.find('')), ['one/two/b', 'one/two/c'])
        expect_equal('names by pattern', fs.glob('one/*/c'), ['one/two/c'])
        expect_equal('bytes', (fs.du('one'), fs.du('one/two', total=False)['one/two/c']), (10, 5))
        expect_raised(OSError, fs.rm_file, 'on*')  # a name, and no wildcard
        expect_equal('what is there', (fs.exists('one'), fs.exists('nothing')), (True, False))
        found = fs.info('one/two/b')
        expect_equal('a file', (found['type'], found['size'], found['mtime']),
                     ('file', 5, int((pair.served / 'one/two/b').stat().st_mtime)))
        expect_equal('what is read', fs.cat('one/two/b'), b'12345')
        expect_raised(FileNotFoundError, fs.ls, 'nothing')
        expect_raised(FileExistsError, fs.mkdir, 'one')
        expect_raised(OSError, fs.rmdir, 'one')
        fs.rm('one', recursive=True)
        expect_equal('what is left', list(pair.served.iterdir()), [])
        pair.stop_server()
        fs.command = ('false',)
        expect_raised(OSError, fs.exists, 'one')  # nobody knows


def typed(program, folder):
    """mypy finds nothing, in the package and in a program that uses it; and finds what is wrong."""
    mypy = shutil.which('mypy')
    if mypy is None:
        raise Skip('mypy is not there')
    user = ('import wavehaul\nwith wavehaul.connect() as server:\n'
            '    number: {} = server.wait(server.send("a", "b", "c")).bytes\n'
            '    for event in server.watch():\n'
            '        if isinstance(event, wavehaul.IntervalEvent):\n'
            '            left: {} = event.bytes_left\n')
    for kind, status in (('int', 0), ('str', 1)):
        (folder / 'user.py').write_text(user.format(kind, kind))
        found = subprocess.run(
            [mypy, '--config-file', TOP / 'python/pyproject.toml', '--cache-dir', folder,
             TOP / 'python/wavehaul', folder / 'user.py'], cwd=TOP / 'python',
            env={'PATH': '/usr/bin:/bin', 'MYPYPATH': str(TOP / 'python')},
            capture_output=True, text=True, check=False, timeout=50)
        expect_equal(f'mypy with {kind}', (found.returncode, found.stderr), (status, ''))


def asynchronous(program, folder):
    """The same for asyncio: many jobs at once, watched, waited for, and refused."""
    from wavehaul import aio

    async def all_of_it(one, two):
        digest = one.make('a/data', 3_000_000)
        async with await aio.connect(one.path) as server:
            expect_equal('the version', server.version, (await server.ask('version'))['version'])
            numbers = await asyncio.gather(*(
                server.send(one.root / 'a/data', CLIENT, f'came{i}') for i in range(5)))
            expect_equal('numbers', len(set(numbers)), 5)
            done = await asyncio.gather(*(server.wait(number) for number in numbers))
            expect_equal('bytes', [job.bytes for job in done], [3_000_000] * 5)
            expect_equal('files', {two.digest(f'came{i}') for i in range(5)}, {digest})
            slow = await server.get(CLIENT, 'came0', 'again', rate='8M')
            seen = []

            async def look():
                async for event in server.watch(slow):
                    seen.append(event)
            watch = asyncio.create_task(look())
            while not any(isinstance(event, wavehaul.IntervalEvent) for event in seen):
                await asyncio.sleep(0.05)
            expect_equal('now', await server.set_rate(slow, 'max'), True)
            async with asyncio.timeout(20):
                await watch
            end = next(event for event in seen if isinstance(event, wavehaul.EndEvent))
            expect_equal('the end', (end.bytes, end.exit_status, end.host),
                         (3_000_000, 0, CLIENT))
            expect(isinstance(seen[-1], wavehaul.StateEvent) and
                   seen[-1].state is State.DONE, f'{seen[-1]}')
            expect_equal('those over', len([job async for job in server.jobs(over=True)]), 6)
            try:
                await server.show(4711)
                raise Failed('it shows what is not there')
            except wavehaul.Refused as error:
                expect_equal('the sentence', str(error), 'there is no job 4711')
            later = await server.send(one.root / 'a/data', CLIENT, 'later',
                                      not_before=datetime.timedelta(hours=1))
            try:
                async with asyncio.timeout(0.3):
                    await server.wait(later)
                raise Failed('it waits for nothing')
            except TimeoutError:
                pass
            patient = asyncio.create_task(server.wait(later, check=False, patience=20))
            await asyncio.sleep(0.2)
            one.stop(signal.SIGKILL)
            try:
                await server.status()
                raise Failed('nobody answers')
            except wavehaul.NoServer:
                pass
            await asyncio.to_thread(one.start)
            await server.cancel(later)
            expect_equal('what was waited for', (await patient).state, State.CANCELLED)
            patient = asyncio.create_task(server.wait(later))
            try:
                await patient
                raise Failed('a cancelled job is done')
            except wavehaul.JobFailed as error:
                expect_equal('it', error.job.state, State.CANCELLED)

    with houses(program, '--peer-timeout', '3s') as (one, two):
        asyncio.run(all_of_it(one, two))


CASES = [
    Case('python: both ways, watched and listed', True, both_ways),
    Case('python: steered', True, steered),
    Case('python: refusals, failures, and no server', True, refused),
    Case('python: files by fsspec', True, files),
    Case('python: folders by fsspec', False, trees),
    Case('python: asyncio', True, asynchronous),
    Case('python: typed', False, typed),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
