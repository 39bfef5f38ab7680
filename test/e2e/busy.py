#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Two servers in namespaces of the network, each with a queue that is full of mixed jobs.

    busy.py [--quick] [-k PATTERN] [--binary PATH]

Small files and trees go both ways, with priorities, timetables, dependencies, pauses, changes of
rate, cancels, and restarts of either server, by SIGTERM and by SIGKILL. Each job ends as it must,
every byte is right, and what the queue, the other server's audit, the control socket and telemetry
count is the same. BUSY_JOBS=200 in the environment hands over so many (40), BUSY_SEED=N others.
"""

import collections
import contextlib
import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from harness import Case, Failed, expect, expect_equal, run_cases
from lab import Lab
from orders import House, houses
from pair import wait_until
from telemetry import Telemetry

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'python'))

import wavehaul  # noqa: E402
from wavehaul import State  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

JOBS = int(os.environ.get('BUSY_JOBS', '40'))
SEED = int(os.environ.get('BUSY_SEED', '1'))
# What it takes at most; most of it is restarts.
PATIENCE_S = 20 + JOBS

PARTIAL = 23
KIB, MIB = 1 << 10, 1 << 20
TREE_FILES = 5

# Of a job: the house that has it, the house of the other end, names at both, and the bytes.
Job = collections.namedtuple('Job', 'house other number sends here there files kind after')


class Site(House):
    """In a namespace of its own; it notes what it served."""

    lab_host = None

    @property
    def audit(self):
        return self.meeting / f'audit{self.number}'

    def place(self):
        return self.lab_host.under, 'af_packet:eth0'

    def connect(self):
        return wavehaul.connect(self.path, timeout=10)

    def served(self):
        """Lines of the audit: jobs that a client of this one's had."""
        lines = self.audit.read_text().splitlines() if self.audit.exists() else []
        return [line for line in map(json.loads, lines) if line['event'] == 'job']


@contextlib.contextmanager
def sites(program):
    """Both with an audit, at most four jobs at once, three of a peer."""
    with Lab() as lab:
        hosts = [lab.host(name) for name in ('one', 'two')]
        lab.wire((hosts[0], 'eth0'), (hosts[1], 'eth0'), 9000)

        def make(program, meeting, number):
            site = Site(program, meeting, number, '--mtu', '9000', '--audit',
                        meeting / f'audit{number}', '--queue-jobs', '4', '--queue-peer-jobs', '3',
                        '--peer-timeout', '3s')
            site.lab_host = hosts[number]
            (site.root / 'in').mkdir()
            return site

        with houses(program, kind=make) as two:
            yield two


class Day:
    """What is ordered, done to it, and expected of it."""

    def __init__(self, two):
        self.two, self.jobs, self.draw = two, [], random.Random(SEED)
        self.cancelled, self.restarts, self.over = set(), 0, set()
        self.links = {}

    def link(self, house):
        """A connection, another one after a restart."""
        if house not in self.links:
            self.links[house] = house.connect()
        return self.links[house]

    def make(self, house, name, kind):
        """{path below the name: digest and size} of what is written there."""
        names = [f'{name}/f{i}' for i in range(TREE_FILES)] if kind == 'tree' else [name]
        found = {}
        for path in names:
            size = self.draw.choice((0, 1, self.draw.randrange(4 * KIB),
                                     self.draw.randrange(256 * KIB), 4 * KIB)) \
                if kind != 'large' else self.draw.randrange(MIB, 4 * MIB)
            digest = house.make(path, size, self.draw.random())
            found[path.removeprefix(name)] = (digest, size)
        return found

    def order(self, i):
        here, there = self.draw.sample(self.two, 2)
        sends = self.draw.random() < 0.5
        kind = self.draw.choices(('file', 'tree', 'large', 'missing'), (60, 20, 15, 5))[0]
        made = {} if kind == 'missing' else self.make(here, f'out/{i}', kind)
        house, other = (here, there) if sends else (there, here)
        if kind == 'missing':
            sends = False
        paths = (f'out/{i}', f'in/{i}') if sends else (f'in/{i}', f'out/{i}')
        mine = [job.number for job in self.jobs if job.house is house]
        after = self.draw.choice(mine) if mine and self.draw.random() < 0.1 else None
        number = self.link(house).submit(
            'send' if sends else 'get', other.address, *paths, after=after,
            rate=self.draw.choice(('max', '200M', 'daily 0:00-24:00 150M, else 1M',
                                   'weekdays 100M, weekends 100M, else 1M')),
            priority=self.draw.randrange(10), retries=0 if kind == 'missing' else 100,
            not_before=time.time() + 2 if self.draw.random() < 0.05 else None,
            options=[*(['--recursive'] if kind == 'tree' else []),
                     *self.draw.choice(([], [], ['--profile=fixed'], ['--parallel=2']))])
        self.jobs.append(Job(house, other, number, sends, *paths, made, kind, after))

    def act(self):
        """Something that an operator does; what comes too late is refused, and may be."""
        job = self.draw.choice(self.jobs)
        link = self.link(job.house)
        what = self.draw.choices(('pause', 'resume', 'rate', 'move', 'cancel'),
                                 (20, 20, 40, 15, 5))[0]
        with contextlib.suppress(wavehaul.Refused):
            if what == 'rate':
                link.set_rate(job.number, self.draw.choice(('100M', '300M', 'max')))
            elif what == 'move':
                link.move(job.number, priority=self.draw.randrange(10))
            else:
                getattr(link, what)(job.number)
            if what == 'cancel':
                self.cancelled.add(job)

    def goad(self):
        """Nothing rests: what is paused goes on, what waits after a failure begins at once."""
        for house in self.two:
            for job in self.link(house).jobs():
                with contextlib.suppress(wavehaul.Refused):
                    if job.state is State.PAUSED:
                        self.link(house).resume(job)
                    elif job.state is State.WAITING and job.tries > 0:
                        self.link(house).retry(job)

    def restart(self, house, how):
        """A killed one takes its queue up again, and the other's jobs try once more."""
        self.links.pop(house, None)
        status = house.stop(how)
        expect(status == (0 if how == signal.SIGTERM else -how), f'exit status {status}')
        house.start()
        self.restarts += 1

    def left(self):
        left = 0
        for house in self.two:
            counts = self.link(house).counts()
            left += sum(n for state, n in counts.items() if not State(state).is_over)
        return left


def run_day(day, jobs):
    """All that happens, until nothing is left to do."""
    for i in range(jobs):
        day.order(i)
    one, two = day.two
    due = [(0.75, two, signal.SIGKILL), (0.4, one, signal.SIGTERM)]
    if jobs >= 100:
        due += [(0.9, two, signal.SIGTERM), (0.6, one, signal.SIGKILL), (0.2, two, signal.SIGKILL)]
    due.sort(key=lambda one: one[0])
    began, acts = time.monotonic(), 2 * jobs
    while left := day.left():
        expect(time.monotonic() - began < PATIENCE_S, f'{left} jobs are not over: {rest(day)}')
        if due and left < due[-1][0] * jobs:
            day.restart(*due.pop()[1:])
        if acts > 0:
            day.act()
            acts -= 1
        else:
            day.goad()
            time.sleep(0.05)
    expect(not due, f'{len(due)} restarts are still to come')


def rest(day):
    return [(house.number, job.number, str(job.state), job.error)
            for house in day.two for job in day.link(house).jobs()][:5]


def expect_ends(day):
    """Each job's state is one that it may have; {job: what the queue has of it}."""
    found = {}
    for job in day.jobs:
        told = found[job] = day.link(job.house).show(job.number)
        first = next((f for j, f in found.items()
                      if j.house is job.house and j.number == job.after), None)
        dead = first is not None and first.state is not State.DONE
        if dead:
            allowed = (State.FAILED, State.CANCELLED)
        elif job.kind == 'missing':
            allowed = (State.FAILED, *([State.CANCELLED] if job in day.cancelled else []))
        elif job in day.cancelled:
            allowed = (State.CANCELLED, State.DONE)
        else:
            allowed = (State.DONE,)
        expect(told.state in allowed, f'job {job.number} ({job.kind}) of {job.house.number} is '
               f'{told.state}, not {[str(s) for s in allowed]}: {told.error}')
        if told.state is State.FAILED and not dead:
            expect_equal(f'the status of {job.number}', told.exit_status, PARTIAL)
    return found


def expect_bytes(found):
    """What is done is there, what is not is not there by half; the sum of all bytes."""
    total = 0
    for job, told in found.items():
        goal = (job.other if job.sends else job.house).root / (job.there if job.sends else job.here)
        for path, (digest, size) in job.files.items():
            file = goal.parent / (goal.name + path)
            if told.state is State.DONE or file.exists():
                expect(file.is_file(), f'{file} of job {job.number} is not there')
                expect_equal(f'{file} of job {job.number}',
                             hashlib.sha256(file.read_bytes()).hexdigest(), digest)
        if told.state is not State.DONE:
            continue
        sizes = sum(size for _, size in job.files.values())
        expect_equal(f'files of job {job.number}', told.files + told.skipped, len(job.files))
        # What an earlier try has brought is skipped.
        expect(told.bytes == sizes or (told.skipped and told.bytes < sizes),
               f'job {job.number}: {told.bytes} bytes of {sizes}, {told.skipped} files skipped')
        total += sizes
    return total


def expect_served(day, found):
    """The other server's audit has the same bytes for the last try of each job."""
    for site in day.two:
        lines = collections.defaultdict(list)
        for line in site.served():
            lines[line['path']].append(line)
        for job, told in found.items():
            if job.other is not site or told.state is not State.DONE:
                continue
            wanted = 2 if '--parallel=2' in told.options else 1
            last = lines[job.there][-wanted:]
            expect_equal(f'bytes of job {job.number} by the audit',
                         sum(line['bytes'] for line in last), told.bytes)


def expect_counted(site):
    """A process at rest tells the same by both of its sockets."""
    with Telemetry(site.process.pid) as telemetry, site.connect() as server:
        def same():
            by_telemetry = telemetry.ask('/wavehaul/ports')
            by_control = server.ask('ports')['ports']
            return by_telemetry == by_control == telemetry.ask('/wavehaul/ports')
        wait_until(same, 10, 'the same counts by telemetry and control socket')
        expect_equal('sessions', server.ask('sessions')['sessions'], [])


def whole(program, folder):
    with sites(program) as two:
        day = Day(two)
        try:
            run_day(day, JOBS)
        except wavehaul.Error as error:
            raise Failed(f'{type(error).__name__}: {error}') from None
        found = expect_ends(day)
        states = collections.Counter(str(told.state) for told in found.values())
        total = expect_bytes(found)
        expect(total > JOBS * 10 * KIB and states['done'] > JOBS * 0.6, f'{total} bytes, {states}')
        expect_served(day, found)
        for site in two:
            expect_counted(site)


CASES = [
    Case(f'busy: {JOBS} mixed jobs, restarts of either server', False, whole),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
