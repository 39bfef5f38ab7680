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
from harness import Case, Failed, expect, expect_between, expect_equal, expect_status, run_cases
from lab import Lab
from orders import House, goes_by
from pair import wait_until
from trust import User

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

ADDRESSES = ('192.0.2.1', '192.0.2.2', '192.0.2.3')

# What an order and its following may take of dtn1's line; the file is many times that.
TALK_BYTES = 1_000_000

# How long a host is away, and how long until it is followed again after that.
AWAY_S = 10
FOLLOWED_S = 5

# A server looks at its files once a second, and what they withdraw needs a new handshake.
NOTICED_S = 3


class Site(House):
    """A server on a host of its own, with a key of its own."""

    def __init__(self, program, rendezvous, number, host, *options):
        self.host, self.user = host, User(program, rendezvous / f'user{number}')
        super().__init__(program, rendezvous, number, *options)

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


def put_away(some, rendezvous):
    """What a case has left, however it went."""
    for site in some:
        if site.process is not None:
            site.process.kill()
            site.process.wait()
    shutil.rmtree(rendezvous, ignore_errors=True)


@contextlib.contextmanager
def sites(program, *options, rights=('orders=yes',), patience=('3s', '3s', '3s')):
    rendezvous = Path(tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp'))
    rendezvous.chmod(0o777)
    three = []
    try:
        with Lab() as lab:
            hosts = [lab.host(name) for name in ('a', 'b', 'c')]
            # With large frames, slow streams are so few packets that loops may nap meanwhile.
            lab.switch(hosts, 9000)
            three = [Site(program, rendezvous, number, host, '--mtu', '9000', '--peer-timeout',
                          patience[number], *options)
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
    except Failed:
        for site in three:
            print(f'{site.name}, at last: {site.said()[-2000:]}')
            for row in site.rows() if site.process else ():
                print({name: row[name] for name in (
                    'job', 'state', 'bytes', 'moved_bytes', 'skipped', 'seconds', 'tries')})
        raise
    finally:
        put_away(three, rendezvous)


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
                               for job in there], [(row['delegated_job'], 'dtn1', 'dtn3', 'done')])
        expect(re.search(r'job \d+ was ordered by dtn1: to dtn3', two.said()), two.said())
        print(f'{talk} bytes went by dtn1')
        said = program.run('console', '--control', one.path, '-c',
                           'job add copy dtn2 runs/b dtn3:again')
        expect_status(said, 0)
        one.await_state(number + 1, 'done')
        expect_equal('what came', three.digest('again'), other)


def refused(program, folder):
    """Jobs for which dtn1 has no right at dtn2 do not start, and a message says why."""
    with sites(program, rights=()) as (one, two, three):
        two.make('public/a', 1000)
        two.make('secret', 1000)
        (two.root / 'public/out').symlink_to('../secret')
        number = one.add('copy', 'dtn2:public/a', 'dtn3:a')
        one.await_failed(number, 'you may not give orders to the queue here')
        for rights, orders in (
                (('orders=yes', 'read=no'),
                 ((('public/a', 'dtn3:a'), 'you may not get files'),)),
                (('orders=yes', 'write=no'),
                 ((('public/a', 'dtn3:a', '--move'), 'may not remove files'),)),
                (('orders=yes', 'folder=public'),
                 ((('secret', 'dtn3:a'), 'outside the folders'),
                  (('public/out', 'dtn3:a'), 'leads out of the served'))),
                (('orders=yes',),
                 ((('public', 'dtn3:', '-r', '--delete'), 'may not remove files from other'),
                  (('public/a', 'dtn9:a'), "knows no peer 'dtn9'"),
                  (('public/a', f'{three.address}:a'), 'none of our peers'),
                  (('public/a', 'dtn2:a'), "knows no peer 'dtn2'")))):
            two.trust(one, *rights)
            time.sleep(NOTICED_S)
            for order, said in orders:
                number = one.add('copy', f'dtn2:{order[0]}', *order[1:])
                one.await_failed(number, said)
        expect_equal('what came', three.names('.'), [])
        for words in (('--manifest', folder / 'm'), ('--files-from', folder / 'f')):
            expect_status(one.run('add', 'copy', 'dtn2:public/a', 'dtn3:a', *words), 2)
        expect_status(one.run('add', 'copy', 'dtn2:../x', 'dtn3:a'), 2)
        expect_status(one.run('add', 'copy', 'dtn2:a', 'dtn4:b', 'dtn3:c'), 2)
        expect_status(one.run('add', 'copy', 'dtn2:a'), 2)
        # It runs there, and may not any more.
        two.make('large', 60_000_000)
        running = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '10M')
        wait_until(lambda: three.names('.') != [] or one.show(running)['moved_bytes'] > 0, 20,
                   'data')
        two.trust(one, 'orders=no')
        one.await_failed(running, 'revoked or changed our rights')
        there = one.show(running)['delegated_job']
        two.await_failed(there, 'dtn1, who gave this order, has other rights here')
        one.job('retry', running)
        one.await_failed(running, 'you may not give orders to the queue here|no longer trusted')
        expect_equal('orders there', two.state_of(there), 'failed')


def deleted(program, folder):
    """--delete removes files of dtn3 only with a right of its own."""
    with sites(program) as (one, two, three):
        two.make('runs/a', 1000)
        three.make('came/runs/old', 1000)
        order = ('copy', 'dtn2:/runs', 'dtn3:came/', '-r')
        one.await_failed(one.add(*order, '--delete'), 'may not remove files from other')
        one.await_state(one.add(*order), 'done')
        expect_equal('what is there', three.names('came/runs'), ['a', 'old'])
        two.trust(one, 'orders=yes', 'orders-delete=yes')
        time.sleep(NOTICED_S)
        one.await_state(one.add(*order, '--delete'), 'done')
        expect_equal('what is there', three.names('came/runs'), ['a'])


def state_there(one, two, number):
    there = one.show(number)['delegated_job']
    return two.state_of(there) if there else None


def steered(program, folder):
    """Pause, resume and cancel are passed on, whether it runs or waits."""
    with sites(program) as (one, two, three):
        digest = two.make('large', 30_000_000)
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '40M')
        one.await_state(number, 'running')
        wait_until(lambda: one.show(number)['moved_bytes'] > 1_000_000, 20, 'data')
        one.job('pause', number)
        one.await_state(number, 'paused')
        expect_equal('there', state_there(one, two, number), 'paused')
        one.job('resume', number)
        wait_until(lambda: state_there(one, two, number) == 'running', 10, 'it to run there')
        one.job('cancel', number)
        one.await_state(number, 'cancelled')
        expect_equal('there', [job['state'] for job in two.rows()], ['cancelled'])
        # Once more is another order, which goes on with what is there.
        one.job('retry', number)
        wait_until(lambda: state_there(one, two, number) == 'running', 10, 'it to run there')
        one.job('pause', number)
        one.await_state(number, 'paused')
        one.job('cancel', number)
        one.await_state(number, 'cancelled')
        expect_equal('there', [job['state'] for job in two.rows()], ['cancelled'] * 2)
        expect_equal('what came', three.digest('large'), None)
        # What dtn2's operator does is told, and not undone.
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '40M')
        wait_until(lambda: state_there(one, two, number) == 'running', 10, 'it to run there')
        two.job('pause', one.show(number)['delegated_job'])
        time.sleep(2.5)
        expect_equal('there', state_there(one, two, number), 'paused')
        two.job('set', one.show(number)['delegated_job'], 'max')
        two.job('resume', one.show(number)['delegated_job'])
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
        # Pauses that grow would begin in the middle of that.
        time.sleep(AWAY_S)
        two.start()
        began = time.monotonic()
        wait_until(lambda: state_there(one, two, number) == 'running', 20, 'it to run there')
        wait_until(lambda: one.show(number)['state'] == 'running' and
                   one.show(number)['moved_bytes'] > 1_000_000, 20, 'it to be followed')
        took_s = time.monotonic() - began
        print(f'followed again after {took_s:.2f} s')
        expect_between('seconds until it is followed', took_s, 0, FOLLOWED_S)
        one.stop(signal.SIGKILL)
        # As if it had died before it noted what it was told.
        with contextlib.closing(sqlite3.connect(one.state / 'service.db')) as database, database:
            expect_equal('rows', database.execute('UPDATE job SET delegated=0').rowcount, 1)
        one.start()
        wait_until(lambda: state_there(one, two, number) == 'running', 20, 'it to be followed')
        one.job('set', number, 'max')
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
        expect_equal('the number there', one.show(number)['delegated_job'], 1)
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
        one.await_failed(number, r'its job 1 may continue there, and a retry follows it')
        # Its line was down there, too.
        two.await_state(1, 'failed', seconds=60)
        two.host.ip('link', 'set', 'eth0', 'up')
        two.job('retry', 1)
        one.job('retry', number)
        one.await_state(number, 'done', seconds=60)
        expect_equal('orders there', len(two.rows()), 1)
        expect_equal('what came', three.digest('large'), digest)


def retuned(program, folder):
    """Another rate is passed on, within what dtn1 may have there; dtn2's operator has his own."""
    with sites(program, rights=('orders=yes', 'rate=30M')) as (one, two, three):
        digest = two.make('large', 40_000_000)
        # `fixed` goes by what it is told, whatever else the machine has to do.
        number = one.add('copy', 'dtn2:large', 'dtn3:large', '--rate', '8M', '--profile', 'fixed')
        wait_until(lambda: one.show(number)['moved_bytes'] > 500_000, 20, 'data')
        there = one.show(number)['delegated_job']
        with Control(one.path) as here, Control(two.path) as control:
            def await_rate(rate, bps):
                began = time.monotonic()

                def goes():
                    row = control.told('job.show', job=there)['job']
                    return row['rate'] == rate and row['rate_bps'] == bps and \
                        goes_by(control, bps)
                wait_until(goes, 20, f'{rate} there')
                print(f'{rate} at dtn2 after {time.monotonic() - began:.2f} s')
            await_rate('8M', 8e6)
            answer = here.told('job.set', job=number, rate='20M')
            expect_equal('now', answer['now'], False)
            await_rate('20M', 20e6)
            expect_equal('here', (one.show(number)['rate'], one.show(number)['rate_bps']),
                         ('20M', 20_000_000))
            one.job('set', number, '90M')
            await_rate('90M', 30e6)
            two.job('set', there, '4M')
            time.sleep(2.5)
            await_rate('4M', 4e6)
            for words in (('no rate',), ('12X',), ('x' * 600,)):
                expect_status(one.run('set', number, *words), 2)
            answer = here.ask('job.set', job=number, option='gain', value='1')
            expect(not answer['ok'] and 'changes' in answer['error'], answer)
            one.job('set', number, 'weekdays 25M, weekends 25M, else 1M')
            await_rate('weekdays 25M, weekends 25M, else 1M', 25e6)
            # dtn2 has it in its database.
            two.stop(signal.SIGKILL)
        two.start()
        expect_equal('after kill -9', two.show(there)['rate'],
                     'weekdays 25M, weekends 25M, else 1M')
        # What is set while nothing runs is said by the next try.
        one.await_state(number, 'failed')
        one.job('set', number, 'max')
        one.job('retry', number)
        one.await_state(number, 'done', seconds=60)
        expect_equal('there', two.show(there)['rate'], 'max')
        expect_equal('what came', three.digest('large'), digest)


def await_unheard(site, number, what):
    wait_until(lambda: site.state_of(number) == 'waiting' and
               f'not know yet that the job is {what}' in (site.show(number)['error'] or ''), 20,
               f'that it is {what} to wait for dtn2')


def unheard(program, folder):
    """A cancel or a pause that dtn2 does not hear, away or down, is told when it is back."""
    with sites(program, '--queue-peer-jobs', 4,
               patience=('3s', '3s', '60s')) as (one, two, three):
        digest = two.make('large', 30_000_000)
        name = ('copy', 'dtn2:large')

        def begun(target):
            number = one.add(*name, f'dtn3:{target}', '--rate', '4M', '--peer-timeout', '60s',
                             '--stall-timeout', '60s')
            wait_until(lambda: state_there(one, two, number) == 'running', 20, 'it to run there')
            return number, one.show(number)['delegated_job']
        number, there = begun('cut')
        # As long as nobody says anything, dtn2 takes it up again.
        two.host.ip('link', 'set', 'eth0', 'down')
        down = time.monotonic()
        one.job('cancel', number)
        await_unheard(one, number, 'cancelled')
        expect('does not know yet' in one.job('list'), one.job('list'))
        expect(two.state_of(there) in ('running', 'waiting'), two.state_of(there))
        one.stop(signal.SIGKILL)
        one.start()
        # Less than the stall timeout of dtn3, which else ends the job there by itself.
        time.sleep(max(0, down + 8 - time.monotonic()))
        two.host.ip('link', 'set', 'eth0', 'up')
        one.await_state(number, 'cancelled', seconds=90)
        print(f'it has heard {time.monotonic() - down:.1f} s after it went away')
        expect_equal('there', two.state_of(there), 'cancelled')
        # dtn2 dies, and would go on with what it was at; so would what is paused or given up.
        cancelled, paused, given_up = begun('a'), begun('b'), begun('c')
        two.stop(signal.SIGKILL)
        for (number, _), word in ((cancelled, 'cancel'), (paused, 'pause'), (given_up, 'cancel')):
            one.job(word, number)
        for (number, _), what in ((cancelled, 'cancelled'), (paused, 'paused'),
                                  (given_up, 'cancelled')):
            await_unheard(one, number, what)
        one.job('cancel', given_up[0])
        one.await_state(given_up[0], 'cancelled', seconds=5)
        two.start()
        one.await_state(cancelled[0], 'cancelled', seconds=90)
        one.await_state(paused[0], 'paused', seconds=90)
        expect_equal('there', [two.state_of(there) for _, there in (cancelled, paused)],
                     ['cancelled', 'paused'])
        two.await_state(given_up[1], 'running')
        # A retry follows what was given up, and what is resumed ends as it should.
        one.job('retry', given_up[0])
        one.await_state(given_up[0], 'running')
        expect_equal('the same job', one.show(given_up[0])['delegated_job'], given_up[1])
        for number in (paused[0], given_up[0]):
            one.job('set', number, 'max')
        one.job('resume', paused[0])
        for (number, _), name in ((paused, 'b'), (given_up, 'c')):
            one.await_state(number, 'done', seconds=60)
            expect_equal('what came', three.digest(name), digest)
        expect_equal('what came', (three.digest('cut'), three.digest('a')), (None, None))


# Columns of a row of dtn2's, from which it tells dtn1 how it stands.
LIES = (
    {'state': 4, 'moved': 2**63 - 1, 'files': -1, 'tries': -5},
    {'state': 5, 'files': 2**63 - 1, 'skipped': 2**63 - 1, 'failed': 2**63 - 1,
     'bytes': 2**63 - 1, 'moved': 2**63 - 1, 'run_ns': 2**63 - 1, 'status': 255},
    {'state': 6, 'status': 4711, 'why': 'no\x1b[2Jthing\n' + 'x' * 2000, 'bytes': -(2**63)},
    {'state': 6, 'status': 0, 'why': b'\xff\xfe'},
    {'state': 7, 'id': 2**62},
    {'state': 99},
)


def lied(program, folder):
    """Whatever dtn2 reports about its jobs, dtn1's rows stay valid, and dtn1 continues."""
    many = ('--queue-jobs', len(LIES), '--queue-peer-jobs', len(LIES))
    with sites(program, *many) as (one, two, three):
        digest = two.make('large', 40_000_000)
        numbers = [one.add('copy', 'dtn2:large', f'dtn3:{i}', '--rate', '1M', '--peer-timeout',
                           '3s') for i in range(len(LIES))]
        for number in numbers:
            wait_until(lambda number=number: state_there(one, two, number) == 'running', 20,
                       'it to run there')
        there = [one.show(number)['delegated_job'] for number in numbers]
        two.stop(signal.SIGKILL)
        for number in numbers:
            one.await_state(number, 'failed')
        with contextlib.closing(sqlite3.connect(two.state / 'service.db')) as database, database:
            for there, lie in zip(there, LIES):
                names = ','.join(f'{name}=?' for name in lie)
                database.execute(f'UPDATE job SET {names} WHERE id=?', (*lie.values(), there))
        two.start()
        for number in numbers:
            one.job('retry', number)
        for number, lie in zip(numbers, LIES):
            one.await_state(number, {5: 'done', 6: 'failed', 7: 'failed', 99: 'failed'}.get(
                lie['state'], 'running'))
            row = one.show(number)
            print({name: row[name] for name in (
                'state', 'delegated_job', 'exit_status', 'error', 'bytes', 'moved_bytes', 'files')})
            for name in ('bytes', 'moved_bytes', 'files', 'skipped', 'failed'):
                expect_between(name, row[name], 0, 2**63 - 1)
            expect_between('the exit status', row['exit_status'], 0, 255)
        for words in (('list', '--all'), ('list', '--all', '--json')):
            said = one.job(*words)
            expect('\x1b' not in said and '\x07' not in said, 'an escape on the terminal')
        one.job('cancel', numbers[0])
        one.await_state(numbers[0], 'cancelled')
        number = one.add('copy', 'dtn2:large', 'dtn3:large')
        one.await_state(number, 'done')
        expect_equal('what came', three.digest('large'), digest)


CASES = [
    Case('third: the bytes go between the two others', True, copied),
    Case('third: what is not let is refused', True, refused),
    Case('third: --delete by an order has a right of its own', True, deleted),
    Case('third: pause, resume and cancel', True, steered),
    Case('third: another rate', True, retuned),
    Case('third: a cancel that is not heard', False, unheard),
    Case('third: a lying queue', True, lied),
    Case('third: goes on after kill -9, ordered once', True, restarted),
    Case('third: the one that ordered is told to stop', True, stopped),
    Case('third: out of reach, and a retry', True, unreachable),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
