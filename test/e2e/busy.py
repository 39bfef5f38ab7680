#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Two servers in namespaces of the network, each with a queue that is full of mixed jobs.

    busy.py [--quick] [-k PATTERN] [--binary PATH]

Small files and trees go both ways, with priorities, timetables, dependencies, pauses, changes of
rate, cancels, and restarts of either server, by SIGTERM and by SIGKILL. Each job ends as it must,
every byte is right, and what the queue, the other server's audit, the control socket, telemetry,
metrics and `wavehaul report` count is the same. BUSY_JOBS=200 in the environment hands over so many
(40), BUSY_SEED=N others.
"""

import collections
import contextlib
import dataclasses
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import Case, Failed, expect, expect_between, expect_equal, run_cases
from lab import Lab
from metrics import scrape, told
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
PATIENCE_S = 40 + JOBS

NETWORK, PARTIAL = 5, 23
AT_ONCE = 4
KIB, MIB = 1 << 10, 1 << 20
TREE_FILES = 5


@dataclasses.dataclass(eq=False)
class Job:
    """`house` owns the job, `other` is the other end; `files` are the transferred paths."""

    house: object
    other: object
    number: int
    sends: bool
    here: str
    there: str
    files: dict
    kind: str
    after: int | None
    lanes: int


class Site(House):
    """A server in its own network namespace, with an audit of what it served."""

    lab_host = None

    @property
    def audit(self):
        return self.rendezvous / f'audit{self.number}'

    def place(self):
        return self.lab_host.under, 'af_packet:eth0'

    def connect(self):
        return wavehaul.connect(self.path, timeout=10)

    def served(self):
        """Lines of the audit: jobs of this server's clients that ended."""
        lines = self.audit.read_text().splitlines() if self.audit.exists() else []
        return [line for line in map(json.loads, lines)
                if line['event'] == 'job' and line['outcome'] == 'ok']

    def lines_of(self, jobs):
        """{job: the lines of its last try}, of those that have them all: one for each lane."""
        lines = collections.defaultdict(list)
        for line in self.served():
            lines[line['path']].append(line)
        return {job: lines[job.there][-job.lanes:] for job in jobs
                if len(lines[job.there]) >= job.lanes}


@contextlib.contextmanager
def sites(program):
    """Both with an audit, at most four jobs at once, three of a peer."""
    with Lab() as lab:
        hosts = [lab.host(name) for name in ('one', 'two')]
        lab.wire((hosts[0], 'eth0'), (hosts[1], 'eth0'), 9000)

        def make(program, rendezvous, number):
            site = Site(program, rendezvous, number, '--mtu', '9000', '--audit',
                        rendezvous / f'audit{number}', '--queue-jobs', AT_ONCE,
                        '--queue-peer-jobs', AT_ONCE - 1,
                        '--peer-timeout', '3s', '--metrics', '0')
            site.lab_host = hosts[number]
            (site.root / 'in').mkdir()
            return site

        with houses(program, kind=make) as two:
            yield two


class Day:
    """The jobs that are added, what is done to them, and the expected results."""

    def __init__(self, two):
        self.two, self.jobs, self.draw = two, [], random.Random(SEED)
        self.cancelled, self.excused = set(), set()
        self.killed = {}
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
        options = self.draw.choice(([], [], ['--profile=fixed'], ['--parallel=2']))
        number = self.link(house).submit(
            'send' if sends else 'get', other.address, *paths, after=after,
            rate=self.draw.choice(('max', '200M', 'daily 0:00-24:00 150M, else 1M',
                                   'weekdays 100M, weekends 100M, else 1M')),
            priority=self.draw.randrange(10), retries=0 if kind == 'missing' else 100,
            not_before=time.time() + 2 if self.draw.random() < 0.05 else None,
            # A peer that was killed is waited for as long.
            options=['--peer-timeout=2s', *(['--recursive'] if kind == 'tree' else []),
                     *options])
        self.jobs.append(Job(house, other, number, sends, *paths, made, kind, after,
                             2 if '--parallel=2' in options else 1))

    def act(self):
        """An operator's action; it may be refused if it comes too late."""
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
        """Resumes paused jobs, and starts those that wait after a failure at once."""
        for house in self.two:
            for job in self.link(house).jobs():
                with contextlib.suppress(wavehaul.Refused):
                    if job.state is State.PAUSED:
                        self.link(house).resume(job)
                    elif job.state is State.WAITING and job.tries > 0:
                        self.link(house).retry(job)

    def served_by(self, house, *states):
        """Jobs that it serves, and that are so for who has them."""
        found = {client: {job.number: job for job in self.link(client).jobs(over=True)}
                 for client in self.two if client is not house}
        return {job for job in self.jobs if job.other is house
                and found[job.house][job.number].state in states
                and found[job.house][job.number].skipped == 0}

    def restart(self, house, how):
        """After a kill, a server continues its queue, and the other server's jobs are retried."""
        told = self.served_by(house, State.DONE)
        if how == signal.SIGKILL:
            expect_told(house, told)
        link = self.links.pop(house)
        try:
            status = house.stop(how)
        except subprocess.TimeoutExpired:
            raise Failed(f'a server that was told to stop goes on: {held_up_by(house)}') from None
        link.close()
        expect(status == (0 if how == signal.SIGTERM else -how), f'exit status {status}')
        if how == signal.SIGKILL:
            # Their lines may be what it had still to write.
            self.excused |= self.served_by(house, State.DONE, State.RUNNING) - told
            self.killed[house] = time.time()
        house.start()

    def left(self):
        left = 0
        for house in self.two:
            counts = self.link(house).counts()
            left += sum(n for state, n in counts.items() if not State(state).is_over)
        return left


def held_up_by(house):
    """What delays a server's exit."""
    with house.connect() as link:
        sessions = [link.ask('session', number=number)['session']
                    for number in link.ask('sessions')['sessions']]
        return (link.status()['live'], rest_of(link), [(one['name'], one['role'], one['phase'],
                one['stalled'], one.get('limited_by')) for one in sessions], house.said()[-600:])


def run_day(day, jobs):
    """Runs all actions until none are left."""
    for i in range(jobs):
        day.order(i)
    one, two = day.two
    due = [(0.75, two, signal.SIGKILL), (0.4, one, signal.SIGTERM)]
    if jobs >= 100:
        due += [(0.9, two, signal.SIGTERM), (0.6, one, signal.SIGKILL), (0.2, two, signal.SIGKILL)]
    due.sort(key=lambda one: one[0])
    began, acts = time.monotonic(), 2 * jobs
    while left := day.left():
        expect(time.monotonic() - began < PATIENCE_S, f'{left} jobs are not over: '
               f'{[rest_of(day.link(house)) for house in day.two]}')
        if due and left < due[-1][0] * jobs:
            day.restart(*due.pop()[1:])
        if acts > 0:
            day.act()
            acts -= 1
        else:
            day.goad()
            time.sleep(0.05)
    expect(not due, f'{len(due)} restarts are still to come')


def rest_of(link):
    return [(job.number, str(job.state), job.error) for job in link.jobs()][:5]


def expect_ends(day):
    """Checks that each job's state is allowed; returns {job: its row in the queue}."""
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
            # It has no other try where the other server was away.
            expect(told.exit_status in (PARTIAL, NETWORK), f'job {job.number}: {told.exit_status}')
    return found


def expect_bytes(found):
    """Finished files are complete, no partial ones exist; returns the sum of all bytes."""
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
        # What an earlier try has brought is skipped, and not counted where that try was killed.
        count = len(job.files)
        expect(told.files <= count <= told.files + told.skipped,
               f'job {job.number}: {told.files} files and {told.skipped} skipped of {count}')
        expect(told.bytes == sizes if told.files == count else told.bytes <= sizes,
               f'job {job.number}: {told.bytes} bytes of {sizes}')
        total += sizes
    return total


def expect_told(site, jobs):
    """Waits for the audit's lines of these jobs; it is written a moment after clients are told."""
    def owed():
        return [job.number for job in jobs - site.lines_of(jobs).keys()]
    try:
        wait_until(lambda: not owed(), 5, 'the audit')
    except Failed:
        raise Failed(f'the audit of {site.number} owes lines of jobs {owed()}') from None


def expect_served(day, found):
    """The other server's audit has the same bytes for jobs done at the first attempt."""
    compared = 0
    for site in day.two:
        jobs = {job for job, told in found.items() if job.other is site and told.skipped == 0
                and told.state is State.DONE and job not in day.excused}
        expect_told(site, jobs)
        for job, lines in site.lines_of(jobs).items():
            for count in ('bytes', 'files'):
                expect_equal(f'{count} of job {job.number} by the audit of {site.number}',
                             sum(line[count] for line in lines), getattr(found[job], count))
        compared += len(jobs)
    expect(compared > len(found) / 2, f'only {compared} jobs were done at once')


def reported(site):
    """What `wavehaul report` has of all transfers of a server, the newest first."""
    result = site.program.run('report', '--by', 'transfer', '--json', '--state', site.state)
    expect_equal('the exit status of report', result.status, 0)
    return json.loads(result.out)['transfers']


def began_s(told):
    return told.began.timestamp() if told.began is not None else 0


def expect_reported(day, found):
    """`wavehaul report` has the bytes of each job, at the end that had it in its queue, and of
    what was served; and it says of each transfer what the control socket says."""
    compared = 0
    for site in day.two:
        # Rows of what came before a kill may be what was still to be written then.
        def same(site=site):
            rows = reported(site)
            return rows[:100] == day.link(site).ask('transfers', count=100)['transfers'] and rows
        wait_until(same, 5, 'the same by report and the control socket')
        rows, tries, served = reported(site), collections.defaultdict(list), {}
        for row in rows:
            if row['side'] == 'queue':
                tries[row['job']].append(row)
            elif row['outcome'] == 'ok':
                served.setdefault(row['path'], row)
        for job, told in found.items():
            if job.house is not site or job in day.excused:
                continue
            if began_s(told) <= day.killed.get(site, -1) + 1:
                continue
            for count in ('bytes', 'moved_bytes'):
                expect_equal(f'{count} of job {job.number} of {site.number} by report',
                             sum(row[count] for row in tries[job.number]), getattr(told, count))
            compared += 1
        for job, lines in site.lines_of(found).items():
            told = found[job]
            if job in day.excused or told.skipped > 0 or told.state is not State.DONE or \
                    began_s(told) <= day.killed.get(site, -1) + 1:
                continue
            for count in ('bytes', 'files', 'moved_bytes'):
                expect_equal(f'{count} served of job {job.number} by report and audit',
                             served[job.there][count], sum(line[count] for line in lines))
    expect(compared > len(found) / 3, f'only {compared} jobs were compared')


def scraped(site):
    with site.lab_host.inside():
        return scrape(int(re.findall(r'metrics at http://127\.0\.0\.1:(\d+)/', site.said())[-1]))


def expect_counted(site):
    """An idle process reports the same by every interface: {role: counters of its sessions}."""
    with Telemetry(site.process.pid) as telemetry, site.connect() as server:
        def same():
            before = telemetry.ask('/wavehaul/ports')
            figures, wanted = scraped(site), told(site.path)
            return before == server.ask('ports')['ports'] == telemetry.ask('/wavehaul/ports') \
                and all(figures[name] == value for name, value in wanted.items())
        wait_until(same, 10, 'the same by telemetry, control socket and metrics')
        # A session whose client was killed lasts for its peer timeout.
        wait_until(lambda: server.ask('sessions')['sessions'] == [], 10, 'sessions to end')
        return server.ask('totals')['totals']


def ended_bytes(site):
    """Of files, by all that ended, as metrics and the control socket have them."""
    with site.connect() as server:
        ended = server.ask('transfers', count=0)['ended']
    figures = scraped(site)
    found = {verb: ended[verb]['bytes'] for verb in ('send', 'get')}
    expect_equal('bytes of what ended', {
        verb: figures['wavehaul_jobs_ended_bytes_total', (('verb', verb),)] for verb in found},
        found)
    return found


def expect_newest(site, rows):
    """`wavehaul report` ends with these; a thread writes them a moment after clients are told."""
    def newest():
        return [(row['side'], row['verb'], row['bytes'], row['moved_bytes'], row['files'])
                for row in reported(site)[len(rows) - 1::-1]]
    with contextlib.suppress(Failed):
        wait_until(lambda: newest() == rows, 5, 'the newest rows')
    expect_equal(f'the newest of {site.number} by report', newest(), rows)


def expect_agreement(one, two):
    """A job each way: what one end has moved the other has, and the queue and the audit say so."""
    before = [expect_counted(site) for site in (one, two)]
    ended = [ended_bytes(site) for site in (one, two)]
    one.make('last', 1_000_003)
    with one.connect() as link:
        sent = link.wait(link.send('last', two.address, 'in/sent'), timeout=20)
        got = link.wait(link.get(two.address, 'in/sent', 'in/got'), timeout=20)
    after = [expect_counted(site) for site in (one, two)]
    moved = [{role: after[i][role]['moved_bytes'] - before[i][role]['moved_bytes']
              for role in ('transmitter', 'receiver')} for i in (0, 1)]
    # Who sends counts what was confirmed, and the last words of a stream may not be.
    for near, far in ((0, 1), (1, 0)):
        expect_between(f'bytes to {far}', moved[near]['transmitter'],
                       moved[far]['receiver'] - KIB, moved[far]['receiver'])
    expect_equal('by both jobs', (sent.bytes, got.bytes), (1_000_003, 1_000_003))
    # Its thread writes a moment after the client has heard of the end.
    wait_until(lambda: [(line['verb'], line['bytes']) for line in two.served()[-2:]]
               == [('send', sent.bytes), ('get', got.bytes)], 5, 'the audit of both jobs')
    lines = two.served()[-2:]
    expect_equal('streams by queue and audit', (sent.moved_bytes, got.moved_bytes),
                 tuple(line['moved_bytes'] for line in lines))
    for site, side, was in zip((one, two), ('queue', 'served'), ended, strict=True):
        expect_newest(site, [(side, job.verb, job.bytes, job.moved_bytes, job.files)
                             for job in (sent, got)])
        now = ended_bytes(site)
        expect_equal(f'by metrics, {side}', {verb: now[verb] - was[verb] for verb in now},
                     {job.verb: job.bytes for job in (sent, got)})
    # Answers have streams of their own.
    expect_between('two files and what is said of them', sum(moved[0].values()),
                   sent.moved_bytes + got.moved_bytes,
                   sent.moved_bytes + got.moved_bytes + 2 * KIB)


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
        expect_reported(day, found)
        expect_agreement(*two)


def named(program, folder):
    """A tree that is taken up again goes where its first try began, and not below that."""
    with sites(program) as (one, two):
        for sends in (True, False):
            here, there = (one, two) if sends else (two, one)
            digests = [here.make(f'tree{sends}/f{i}', MIB, i) for i in range(6)]
            with one.connect() as link:
                paths = (f'tree{sends}', f'in/new{sends}')
                number = link.submit('send' if sends else 'get', two.address,
                                     *(paths if sends else paths[::-1]), rate='30M', retries=9,
                                     options=['--recursive', '--peer-timeout=1s',
                                              '--parallel=2'])
                wait_until(lambda: (there.root / f'in/new{sends}').exists()
                           and link.show(number).moved_bytes > MIB, 10, 'a part of the tree')
            one.stop(signal.SIGKILL)
            one.start()
            with one.connect() as link:
                link.set_rate(number, 'max')
                link.wait(number, timeout=30)
            expect_equal('what came', sorted(os.listdir(there.root / f'in/new{sends}')),
                         [f'f{i}' for i in range(6)])
            expect_equal('bytes', [there.digest(f'in/new{sends}/f{i}') for i in range(6)], digests)


CASES = [
    Case('busy: a tree that is taken up again', True, named),
    Case(f'busy: {JOBS} mixed jobs, restarts of either server', False, whole),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
