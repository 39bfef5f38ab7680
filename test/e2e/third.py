#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Orders between two other hosts: `wavehaul job add copy dtn2:PATH dtn3:PATH`, given on dtn1.

    third.py [--quick] [-k PATTERN] [--binary PATH]

Three servers in network namespaces, which only root makes: all cases are skipped otherwise. dtn1
and dtn2 know each other, and so do dtn2 and dtn3; dtn1 and dtn3 do not.
"""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from control import Control
from harness import Case, expect, expect_equal, expect_status, run_cases
from lab import Lab
from orders import House
from pair import wait_until
from trust import User

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

ADDRESSES = ('192.0.2.1', '192.0.2.2', '192.0.2.3')

# What an order and its following may take of dtn1's line; the file is many times that.
TALK_BYTES = 1_000_000

# A server looks at its files once a second, and what they withdraw is greeted anew.
NOTICED_S = 3


class Site(House):
    """A server on a host of its own, with a key of its own."""

    def __init__(self, program, meeting, number, host, *options):
        self.host, self.user = host, User(program, meeting / f'user{number}')
        super().__init__(program, meeting, number, *options)

    @property
    def name(self):
        return f'dtn{self.number + 1}'

    @property
    def address(self):
        return ADDRESSES[self.number]

    def place(self):
        return ((*self.host.under, 'env', f'WAVEHAUL_CONFIG_DIR={self.user.folder}'),
                'af_packet:eth0')

    def trust(self, other, *words):
        self.user.report('trust', 'add', other.name, other.user.key(),
                         f'address={other.address}', *words)

    def rows(self):
        with Control(self.path) as control:
            return control.told('job.list', all=True)['jobs']

    def line_bytes(self):
        link = self.host.ip_json('-s', 'link', 'show', 'dev', 'eth0')[0]['stats64']
        return link['rx']['bytes'] + link['tx']['bytes']

    def await_failed(self, number, said):
        self.await_state(number, 'failed')
        error = self.show(number)['error']
        expect(re.search(said, error), f'job {number} says {error!r}, nothing like /{said}/')


@contextlib.contextmanager
def sites(program, *options, rights=('orders=yes',)):
    meeting = Path(tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp'))
    meeting.chmod(0o777)
    three = []
    try:
        with Lab() as lab:
            hosts = [lab.host(name) for name in ('a', 'b', 'c')]
            lab.switch(hosts)
            three = [Site(program, meeting, number, host, '--peer-timeout', '3s', *options)
                     for number, host in enumerate(hosts)]
            one, two, three_ = three
            one.trust(two)
            two.trust(one, *rights)
            two.trust(three_)
            three_.trust(two)
            for site in three:
                site.start()
            yield three
            for site in three:
                expect_equal(f'the exit status of {site.name}', site.stop(), 0)
    finally:
        for site in three:
            if site.process is not None:
                site.process.kill()
                site.process.wait()
        shutil.rmtree(meeting, ignore_errors=True)


def copied(program, folder):
    """The bytes go from dtn2 to dtn3, and nothing of them by dtn1."""
    with sites(program) as (one, two, three):
        digest = two.make('runs/a', 20_000_000)
        other = two.make('runs/b', 1000, 2)
        before = one.line_bytes()
        number = one.add('copy', 'dtn2:/runs', 'dtn3:came/', '-r')
        one.await_state(number, 'done')
        talk = one.line_bytes() - before
        expect(talk < TALK_BYTES, f'{talk} bytes went by dtn1')
        expect_equal('what came', (three.digest('came/runs/a'), three.digest('came/runs/b')),
                     (digest, other))
        row, there = one.show(number), two.rows()
        expect_equal('the row', (row['verb'], row['host'], row['bytes'], row['files'],
                                 row['exit_status'], row['error']),
                     ('copy', 'dtn2', 20_001_000, 2, 0, None))
        expect_equal('there', [(job['job'], job['ordered_by'], job['host'], job['state'])
                               for job in there], [(row['far_job'], 'dtn1', 'dtn3', 'done')])
        expect(re.search(r'job \d+ was ordered by dtn1: to dtn3', two.said()), two.said())
        print(f'{talk} bytes went by dtn1')
        said = program.run('console', '--control', one.path, '-c',
                           'job add copy dtn2 runs/b dtn3:again')
        expect_status(said, 0)
        one.await_state(number + 1, 'done')
        expect_equal('what came', three.digest('again'), other)


def refused(program, folder):
    """What dtn2 does not let dtn1 have does not begin, and a sentence says why."""
    with sites(program, rights=()) as (one, two, three):
        two.make('public/a', 1000)
        two.make('secret', 1000)
        (two.root / 'public/out').symlink_to('../secret')
        number = one.add('copy', 'dtn2:public/a', 'dtn3:a')
        one.await_failed(number, 'you may not give orders to the queue here')
        for rights, order, said in (
                (('orders=yes', 'read=no'), ('public/a', 'dtn3:a'), 'you may not get files'),
                (('orders=yes', 'folder=public'), ('secret', 'dtn3:a'), 'none of the folders'),
                (('orders=yes', 'folder=public'), ('public/out', 'dtn3:a'),
                 'leads out of the folder'),
                (('orders=yes',), ('public/a', 'dtn9:a'), "knows no peer 'dtn9'"),
                (('orders=yes',), ('public/a', f'{three.address}:a'), 'none of our peers'),
                (('orders=yes', 'write=no'), ('public/a', 'dtn3:a', '--move'),
                 'may not take files away')):
            two.trust(one, *rights)
            time.sleep(NOTICED_S)
            number = one.add('copy', f'dtn2:{order[0]}', *order[1:])
            one.await_failed(number, said)
        expect_equal('what came', three.names('.'), [])
        for words in (('--manifest', folder / 'm'), ('--files-from', folder / 'f')):
            expect_status(one.run('add', 'copy', 'dtn2:public/a', 'dtn3:a', *words), 2)
        expect_status(one.run('add', 'copy', 'dtn2:../x', 'dtn3:a'), 2)
        expect_status(one.run('add', 'copy', 'dtn2:a', 'dtn4:b', 'dtn3:c'), 2)
        expect_status(one.run('add', 'copy', 'dtn2:a'), 2)
        # It waits there, and may not any more when its turn has come.
        two.trust(one, 'orders=yes')
        time.sleep(NOTICED_S)
        two.make('large', 60_000_000)
        running = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '10M')
        wait_until(lambda: three.names('.') != [] or one.show(running)['moved_bytes'] > 0, 20,
                   'data')
        two.trust(one, 'orders=no')
        one.await_failed(running, 'withdrawn what it let us do')
        far = one.show(running)['far_job']
        two.await_failed(far, 'dtn1, who gave this order, has other rights here')
        one.job('retry', running)
        one.await_failed(running, 'you may not give orders to the queue here|not trusted')
        expect_equal('orders there', two.state_of(far), 'failed')


def far_state(one, two, number):
    far = one.show(number)['far_job']
    return two.state_of(far) if far else None


def steered(program, folder):
    """Pause, resume and cancel are passed on, whether it runs or waits."""
    with sites(program) as (one, two, three):
        digest = two.make('large', 30_000_000)
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '40M')
        one.await_state(number, 'running')
        wait_until(lambda: one.show(number)['moved_bytes'] > 1_000_000, 20, 'data')
        one.job('pause', number)
        one.await_state(number, 'paused')
        expect_equal('there', far_state(one, two, number), 'paused')
        one.job('resume', number)
        wait_until(lambda: far_state(one, two, number) == 'running', 10, 'it to run there')
        one.job('cancel', number)
        one.await_state(number, 'cancelled')
        expect_equal('there', [job['state'] for job in two.rows()], ['cancelled'])
        # Once more is another order, which goes on with what is there.
        one.job('retry', number)
        wait_until(lambda: far_state(one, two, number) == 'running', 10, 'it to run there')
        one.job('pause', number)
        one.await_state(number, 'paused')
        one.job('cancel', number)
        one.await_state(number, 'cancelled')
        expect_equal('there', [job['state'] for job in two.rows()], ['cancelled'] * 2)
        expect_equal('what came', three.digest('large'), None)
        # What dtn2's operator does is told, and not undone.
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '40M')
        wait_until(lambda: far_state(one, two, number) == 'running', 10, 'it to run there')
        two.job('pause', one.show(number)['far_job'])
        time.sleep(2.5)
        expect_equal('there', far_state(one, two, number), 'paused')
        two.job('set', one.show(number)['far_job'], 'max')
        two.job('resume', one.show(number)['far_job'])
        one.await_state(number, 'done')
        expect_equal('what came', three.digest('large'), digest)


def restarted(program, folder):
    """kill -9 of the one that sends, then of the one that ordered: it is ordered once."""
    with sites(program) as (one, two, three):
        digest = two.make('large', 25_000_000)
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '20M', '--retries', '9',
                         '--peer-timeout', '3s')
        wait_until(lambda: one.show(number)['moved_bytes'] > 1_000_000, 20, 'data')
        two.stop(signal.SIGKILL)
        one.await_state(number, 'waiting')
        two.start()
        wait_until(lambda: far_state(one, two, number) == 'running', 20, 'it to run there')
        one.await_state(number, 'running')
        one.stop(signal.SIGKILL)
        # As if it had died before it noted what it was told.
        with contextlib.closing(sqlite3.connect(one.state / 'service.db')) as database, database:
            expect_equal('rows', database.execute('UPDATE job SET far=0').rowcount, 1)
        one.start()
        one.await_state(number, 'done', seconds=60)
        expect_equal('what came', three.digest('large'), digest)
        expect_equal('orders there', [job['state'] for job in two.rows()], ['done'])
        row = one.show(number)
        expect_equal('bytes', (row['bytes'], row['files']), (25_000_000, 1))


def stopped(program, folder):
    """SIGTERM: the one that ordered does not wait for it, and follows it when it is back."""
    with sites(program) as (one, two, three):
        digest = two.make('large', 50_000_000)
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '20M')
        wait_until(lambda: one.show(number)['moved_bytes'] > 500_000, 20, 'data')
        began = time.monotonic()
        expect_equal('the exit status of dtn1', one.stop(), 0)
        print(f'dtn1 stops in {time.monotonic() - began:.2f} s')
        expect_equal('meanwhile there', two.state_of(1), 'running')
        two.job('set', 1, 'max')
        one.start()
        one.await_state(number, 'done')
        expect_equal('the number there', one.show(number)['far_job'], 1)
        expect_equal('what came', three.digest('large'), digest)
        expect_equal('orders there', [job['state'] for job in two.rows()], ['done'])


def unreachable(program, folder):
    """Without retries it fails, says that it goes on there, and a retry follows it to its end."""
    with sites(program) as (one, two, three):
        digest = two.make('large', 15_000_000)
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '20M', '--peer-timeout',
                         '3s')
        wait_until(lambda: one.show(number)['moved_bytes'] > 500_000, 20, 'data')
        two.host.ip('link', 'set', 'eth0', 'down')
        one.await_failed(number, r'its job 1 may go on there, and a retry follows it')
        # Its line was down there, too.
        two.await_state(1, 'failed', seconds=60)
        two.host.ip('link', 'set', 'eth0', 'up')
        two.job('retry', 1)
        one.job('retry', number)
        one.await_state(number, 'done', seconds=60)
        expect_equal('orders there', len(two.rows()), 1)
        expect_equal('what came', three.digest('large'), digest)


CASES = [
    Case('third: the bytes go between the two others', True, copied),
    Case('third: what is not let is refused', True, refused),
    Case('third: pause, resume and cancel', True, steered),
    Case('third: goes on after kill -9, ordered once', True, restarted),
    Case('third: the one that ordered is told to stop', True, stopped),
    Case('third: out of reach, and a retry', True, unreachable),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
