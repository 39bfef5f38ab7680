#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Who is trusted: `wavehaul keygen` and `wavehaul trust`, on files of made-up users; and hosts that
meet for the first time, in network namespaces, which only root makes.

    trust.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import filecmp
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import (Case, Program, Skip, decode_object, end_group, expect, expect_equal,
                     expect_said, expect_status, program_beside, run_cases)
from lab import Lab
from network import CLIENT, SERVER, THIRD, Server, client_command
from pair import wait_until
from telemetry import Telemetry

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

KEY = 'sha256:' + '00112233445566778899aabbccddeeff' * 2

# Runs what follows the host's name as another user of this machine.
FAKE_SSH = '''#!/bin/sh
[ "$1" = "admin@dtn2" ] || { echo "no route to $1" >&2; exit 255; }
shift
WAVEHAUL_CONFIG_DIR=%s
export WAVEHAUL_CONFIG_DIR
exec sh -c "$*"
'''


class User:
    """A user with a folder of settings."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def run(self, *args):
        return self.program.run(*args, under=['env', f'WAVEHAUL_CONFIG_DIR={self.folder}',
                                              f'PATH={self.path()}'])

    def path(self):
        return f'{self.folder.parent / "bin"}:{os.environ["PATH"]}'

    def report(self, *args):
        result = self.run(*args, '--json')
        expect_status(result, 0)
        return decode_object(result)

    def key(self):
        return self.report('trust', 'show')['own']['key']


def bin_folder(program, folder):
    """A folder in PATH with this wavehaul, and an ssh that leads to folder/there."""
    names = folder / 'bin'
    names.mkdir()
    (names / 'wavehaul').symlink_to(Path(program.binary).resolve())
    (names / 'ssh').write_text(FAKE_SSH % (folder / 'there'))
    (names / 'ssh').chmod(0o755)


def made_once(program, folder):
    user = User(program, folder / 'here')
    made = user.report('keygen')
    path = folder / 'here/identity.pem'
    expect_equal('the mode of the key', path.stat().st_mode & 0o7777, 0o600)
    expect_equal('what is in the folder', os.listdir(folder / 'here'), ['identity.pem'])
    expect(re.fullmatch(r'([0-9a-hjkmnp-tv-z]{4}-){4}[0-9a-hjkmnp-tv-z]{4}',
                        made['own']['fingerprint']), made['own']['fingerprint'])
    expect_equal('the key that is shown', user.key(), made['own']['key'])
    again = user.run('keygen')
    expect_status(again, 2)
    expect_said(again, 'already exists; --replace')
    expect_equal('the key after a refusal', user.key(), made['own']['key'])
    expect(user.report('keygen', '--replace')['own']['key'] != made['own']['key'], 'the same key')


def killed(program, folder):
    """At any call that makes the key's file: the next start has one whole key, and nothing else."""
    strace = shutil.which('strace')
    if strace is None:
        raise Skip('strace is not there')
    place = folder / 'here'
    user = User(program, place)
    user.report('trust', 'list')
    for call, left in (('fsync', 1), ('link', 1), ('unlink', 2)):
        for file in place.glob('identity.pem*'):
            file.unlink()
        done = subprocess.run(
            [strace, '-f', '-qq', '-o', '/dev/null', '-e', f'trace={call}', '-e',
             f'inject={call}:signal=SIGKILL', program.binary, 'keygen',
             '--identity', str(place / 'identity.pem')],
            capture_output=True, check=False, timeout=50)
        expect_equal(f'the exit status, killed at {call}', done.returncode, -9)
        names = sorted(file.name for file in place.glob('identity.pem*'))
        expect_equal(f'files after a kill at {call}', len(names), left)
        user.key()
        expect_equal(f'files at the next start after {call}',
                     [file.name for file in place.glob('identity.pem*')], ['identity.pem'])


def key_of_openssl(program, folder):
    """The SHA-256 of the public key, as anybody may work it out."""
    user = User(program, folder / 'here')
    shown = user.key()
    pem = folder / 'here/identity.pem'
    other = Program('/bin/sh').run('-c', f'openssl x509 -in {pem} -pubkey -noout | '
                                   'openssl pkey -pubin -outform der | sha256sum')
    expect_status(other, 0)
    expect_equal('the key', shown, 'sha256:' + other.out.split()[0])


def others_may_read(program, folder):
    user = User(program, folder / 'here')
    user.report('keygen')
    (folder / 'here/identity.pem').chmod(0o640)
    result = user.run('trust', 'show')
    expect_status(result, 3)
    expect_said(result, 'other users may read it.*chmod 600')


def swapped(program, folder):
    """Both know each other by one command; once more changes nothing."""
    bin_folder(program, folder)
    here, there = User(program, folder / 'here'), User(program, folder / 'there')
    for _ in range(2):
        result = here.run('trust', 'add', 'dtn2', 'write=no', '--as', 'dtn1', '--via', 'ssh',
                          'admin@dtn2')
        expect_status(result, 0)
        expect_equal('who is known here', here.report('trust', 'show', 'dtn2')['peer']['key'],
                     there.key())
        expect_equal('who is known there', there.report('trust', 'show', 'dtn1')['peer']['key'],
                     here.key())
    peers = here.report('trust', 'list')['peers']
    expect_equal('the peers', [(peer['name'], peer['rights']['write']) for peer in peers],
                 [('dtn2', False)])


def not_swapped(program, folder):
    bin_folder(program, folder)
    here, there = User(program, folder / 'here'), User(program, folder / 'there')
    result = here.run('trust', 'add', 'dtn2', '--via', 'ssh', 'admin@dtn3')
    expect_status(result, 5)
    expect_said(result, 'no route to admin@dtn3')
    expect_said(result, 'ssh exited with status 255')
    result = here.run('trust', 'add', 'dtn2', '--via', 'echo', '{"ok":true}')
    expect_status(result, 5)
    expect_said(result, 'answer is not that of')
    expect_equal('who is known', here.report('trust', 'list')['peers'], [])
    there.report('trust', 'add', 'dtn1', KEY)
    result = here.run('trust', 'add', 'dtn2', '--as', 'dtn1', '--via', 'ssh', 'admin@dtn2')
    expect_status(result, 5)
    expect_said(result, 'the other host says: dtn1 is already known, with a DIFFERENT KEY')
    expect_equal('who is known', here.report('trust', 'list')['peers'], [])
    expect_status(here.run('trust', 'add', 'dtn2', '--as', 'dtn1', '--replace', '--via', 'ssh',
                           'admin@dtn2'), 0)
    expect_equal('who is known there', there.report('trust', 'show', 'dtn1')['peer']['key'],
                 here.key())


def added_and_removed(program, folder):
    user = User(program, folder / 'here')
    words = ('read=no', 'folder=in', 'folder=out/a', 'from=192.0.2.0/24', 'rate=10G',
             'sessions=3', 'bytes=1T', 'address=192.0.2.2')
    user.report('trust', 'add', 'dtn2', KEY, *words)
    peer = user.report('trust', 'list')['peers'][0]
    expect_equal('the rights', peer['rights'],
                 {'read': False, 'write': True, 'measure': True, 'orders': False,
                  'orders_delete': False, 'folder': ['in', 'out/a'],
                  'from': ['192.0.2.0/24'], 'rate_bps': 10**10, 'sessions': 3,
                  'day_bytes': 2**40, 'map_owners': None, 'map_groups': None})
    expect_equal('the address', peer['address'], ['192.0.2.2'])
    other = user.run('trust', 'add', 'dtn2', KEY.replace('0', '1'))
    expect_status(other, 2)
    expect_said(other, 'DIFFERENT KEY')
    twice = user.run('trust', 'add', 'dtn3', KEY)
    expect_status(twice, 2)
    expect_said(twice, "that key already belongs to dtn2")
    user.report('trust', 'remove', 'dtn2')
    expect_equal('who is left', user.report('trust', 'list')['peers'], [])
    expect_status(user.run('trust', 'remove', 'dtn2'), 3)


def wrong_files(program, folder):
    """An invalid file is reported with its line, and trusts nobody."""
    user = User(program, folder / 'here')
    user.report('trust', 'add', 'dtn2', KEY)
    path = folder / 'here/trust.d/dtn2.conf'
    good = path.read_text()
    path.write_text(good.replace('write = yes', 'write = maybe'))
    result = user.run('trust', 'list')
    expect_status(result, 3)
    expect_said(result, r'dtn2.conf:8: write = .maybe. is not yes or no')
    expect('dtn2' not in result.out, result.out)
    path.write_text(good)
    path.chmod(0o666)
    result = user.run('trust', 'list')
    expect_status(result, 3)
    expect_said(result, 'other users may write it')


class Machine:
    """A network host with its own user."""

    def __init__(self, host, user, clock=None):
        self.host, self.user, self.clock = host, user, clock

    @property
    def under(self):
        return (*self.host.under, 'env', f'WAVEHAUL_CONFIG_DIR={self.user.folder}',
                f'PATH={self.user.path()}', *(self.clock.words if self.clock else ()))

    def start(self, *args, address=CLIENT):
        return self.user.program.start(*client_command(*args, addresses=[f'{address}/24']),
                                       under=self.under)

    def run(self, *args, address=CLIENT):
        began = time.monotonic()
        return self.user.program.finish(self.start(*args, address=address), 30, began)


class Clock:
    """A time of day that can be set while programs use it."""

    def __init__(self, program, path):
        self.path = path
        self.words = (f'LD_PRELOAD={program_beside(program, "step_clock.so")}',
                      f'STEP_CLOCK={path}')
        path.write_bytes(bytes(8))

    def set(self, days):
        with open(self.path, 'r+b', buffering=0) as file:
            file.write((days * 86400).to_bytes(8, 'little', signed=True))


@contextlib.contextmanager
def two_machines(program, folder, *options, clock=None):
    """A server that uses that clock, and a host that does not know it yet."""
    bin_folder(program, folder)
    with Lab() as lab:
        hosts = lab.host('here'), lab.host('there')
        lab.wire((hosts[0], 'eth0'), (hosts[1], 'eth0'))
        here, there = (Machine(host, User(program, folder / name), time_of_day)
                       for host, name, time_of_day in zip(hosts, ('here', 'there'), (None, clock)))
        with Server(program, there, folder, *options, addresses=[f'{SERVER}/24']) as server:
            yield here, there, server


def make_file(folder, size=1 << 20):
    path = folder / 'file'
    path.write_bytes(os.urandom(size))
    return path


def first_use(program, folder):
    """As a new user does it: serve there, swap keys, send."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        expect('created the key' in server.said(), server.said())
        expect_status(here.user.run('trust', 'add', 'dtn2', f'address={SERVER}', '--as', 'dtn1',
                                    '--via', 'ssh', 'admin@dtn2'), 0)
        wait_for_look()
        # Into a folder that is not there yet, as the README has it.
        expect_status(here.run('send', path, 'dtn2:runs/'), 0)
        expect(filecmp.cmp(path, folder / 'served/runs/file', shallow=False), 'another file')


def wait_for_look():
    """A server looks at its files once a second."""
    time.sleep(1.1)


def let_in_by_the_log(program, folder):
    """The client is unknown: the log has the command that allows it."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        here.user.report('trust', 'add', 'dtn2', there.user.key())
        refused = here.run('send', path, f'{SERVER}:')
        expect_status(refused, 5)
        expect_said(refused, 'does not trust this end.*trust add')
        said = re.search(r'to allow it, run: wavehaul (trust add \S+ sha256:\S+)', server.said())
        expect(said, f'no command in the log: {server.said()}')
        there.user.report(*said.group(1).split())
        wait_for_look()
        expect_status(here.run('send', path, f'{SERVER}:'), 0)


def another_key(program, folder):
    """The server's key has changed: nothing is sent, with a loud warning."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        here.user.report('trust', 'add', 'dtn2', KEY, f'address={SERVER}')
        there.user.report('trust', 'add', 'dtn1', here.user.key())
        refused = here.run('send', path, f'{SERVER}:')
        expect_status(refused, 5)
        expect_said(refused, 'NOT THE KEY of dtn2')
        expect(not (folder / 'served/file').exists(), 'something was sent')


def places_of_a_key(program, folder):
    """A key at two addresses is one peer; another key at one of them is another peer."""
    path = make_file(folder)
    limits = ('--peer-jobs', '3', '--sessions', '20')
    with two_machines(program, folder, *limits) as (here, there, server):
        other = Machine(here.host, User(program, folder / 'other'))
        for name, machine in (('dtn1', here), ('dtn3', other)):
            machine.user.report('trust', 'add', 'dtn2', there.user.key())
            there.user.report('trust', 'add', name, machine.user.key())
        wait_for_look()
        holder = here.start('bench', '--idle', '2', '--time', '20s', SERVER)
        with Telemetry(server.process.pid) as telemetry:
            # Of two that idle one each, of the bench one each way.
            wait_until(lambda: len(telemetry.ask('/wavehaul/sessions')) >= 4, 20, 'its sessions')
        expect(holder.poll() is None, 'it has ended before')
        end_group(holder)  # its places stay taken until the server's patience ends
        expect_status(other.run('send', path, f'{SERVER}:'), 0)
        refused = here.run('send', path, f'{SERVER}:', address=THIRD)
        expect_status(refused, 5)
        expect_said(refused, 'no room for another session')
        server.kill()


def read_again(program, folder):
    """SIGHUP: reloads at once; an invalid file keeps its previous content."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        here.user.report('trust', 'add', 'dtn2', there.user.key())
        there.user.report('trust', 'add', 'dtn1', here.user.key())
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: 'trusted peers reloaded: 1 peer in' in server.said(), 10, 'a line')
        expect_status(here.run('send', path, f'{SERVER}:'), 0)
        known = folder / 'there/trust.d/dtn1.conf'
        known.write_text(known.read_text().replace('write = yes', 'write = perhaps'))
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: 'keep their previous content' in server.said(), 10, 'a line')
        expect(re.search(r"dtn1.conf:\d+: write = 'perhaps' is not yes or no", server.said()),
               server.said())
        expect_status(here.run('send', path, f'{SERVER}:again'), 0)
        there.user.run('trust', 'remove', 'dtn1')
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: 'trusted peers reloaded: 0 peers' in server.said(), 10, 'a line')
        expect_status(here.run('send', path, f'{SERVER}:no'), 5)


AUTHORITY = """[ca]
default_ca = site
[site]
new_certs_dir = {0}
database = {0}/index
serial = {0}/serial
certificate = {0}/ca.crt
private_key = {0}/ca.key
default_md = default
default_crl_days = 2
policy = any
[any]
O = supplied
CN = supplied
[host]
basicConstraints = CA:FALSE
keyUsage = digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[proxy]
keyUsage = digitalSignature
authorityKeyIdentifier = keyid
proxyCertInfo = critical,language:id-ppl-anyLanguage,pathlen:0
"""


class Authority:
    """A site's: certificates by openssl, and a list of those that are revoked."""

    def __init__(self, folder, trusted_by, clock=None):
        self.folder, self.clock = folder, clock
        folder.mkdir()
        (folder / 'index').touch()
        (folder / 'index.attr').write_text('unique_subject = no')
        (folder / 'serial').write_text('07')
        (folder / 'settings').write_text(AUTHORITY.format(folder))
        self.call('req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', 'ca.key', '-out',
                  'ca.crt', '-subj', '/O=Site/CN=CA', '-addext', 'keyUsage=keyCertSign,cRLSign')
        self.place = trusted_by / 'trust.d/ca'
        self.place.mkdir()
        (self.place / 'site.pem').write_text((folder / 'ca.crt').read_text())
        self.publish()

    def call(self, *words):
        subprocess.run(['env', *(self.clock.words if self.clock else ()), 'openssl', *words],
                       cwd=self.folder, check=True, capture_output=True)

    def publish(self, days=2):
        self.call('ca', '-config', 'settings', '-gencrl', '-crldays', str(days), '-out', 'crl')
        # In one step: who looks meanwhile would find a part of it.
        (self.folder / 'crl').rename(self.place / 'site.crl')

    def ask(self, name, subject):
        self.call('req', '-new', '-newkey', 'ed25519', '-nodes', '-keyout', f'{name}.key', '-out',
                  f'{name}.csr', '-subj', subject)

    def identity(self, name, *behind):
        path = self.folder / f'{name}.pem'
        path.write_text(''.join((self.folder / part).read_text() for part in
                                (f'{name}.key', f'{name}.crt', *behind)))
        path.chmod(0o600)
        return path

    def host(self, name, subject, *times):
        self.ask(name, subject)
        self.call('ca', '-config', 'settings', '-batch', '-notext', '-extensions', 'host', '-in',
                  f'{name}.csr', '-out', f'{name}.crt', *(times or ('-days', '1')))
        return self.identity(name)

    def renew(self, name, of, *times):
        """Another certificate of the same key and subject."""
        self.call('ca', '-config', 'settings', '-batch', '-notext', '-extensions', 'host', '-in',
                  f'{of}.csr', '-out', f'{name}.crt', *times)
        (self.folder / f'{name}.key').write_text((self.folder / f'{of}.key').read_text())
        return self.identity(name)

    def proxy(self, name, of, subject, *behind):
        self.ask(name, subject)
        self.call('x509', '-req', '-in', f'{name}.csr', '-CA', f'{of}.crt', '-CAkey', f'{of}.key',
                  '-set_serial', '99', '-days', '1', '-extfile', 'settings', '-extensions', 'proxy',
                  '-out', f'{name}.crt')
        return self.identity(name, f'{of}.crt', *behind)

    def revoke(self, name):
        self.call('ca', '-config', 'settings', '-revoke', f'{name}.crt')
        self.publish()


def authority_of_a_site(program, folder):
    """Trust by subject: a host and its proxy only, until the certificate expires or is revoked."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        here.user.report('trust', 'add', 'dtn2', there.user.key())
        site = Authority(folder / 'site', folder / 'there')
        (folder / 'there/trust.d/dtn1.conf').write_text('[peer]\nsubject = CN=dtn1,O=Site\n')
        host = site.host('dtn1', '/O=Site/CN=dtn1')
        proxy = site.proxy('proxy', 'dtn1', '/O=Site/CN=dtn1/CN=4711')
        refused = {
            site.host('dtn9', '/O=Site/CN=dtn9'): 'file here has its subject, CN=dtn9,O=Site',
            site.host('old', '/O=Site/CN=dtn1', '-startdate', '20200101000000Z', '-enddate',
                      '20200102000000Z'): 'not valid: certificate has expired',
            site.proxy('far', 'proxy', '/O=Site/CN=dtn1/CN=4711/CN=1', 'dtn1.crt'):
                'not valid: proxy path length constraint exceeded'}
        wait_for_look()
        for identity in (host, proxy):
            result = here.run('send', path, f'{SERVER}:{identity.stem}', '--identity', identity)
            expect_status(result, 0)
            expect(filecmp.cmp(path, folder / 'served' / identity.stem, shallow=False), identity)
        for identity, why in refused.items():
            result = here.run('send', path, f'{SERVER}:no', '--identity', identity)
            expect_status(result, 5)
            expect_said(result, 'does not trust this end')
            wait_until(lambda why=why: why in server.said(), 10, why)
        there_before = len(os.listdir(folder / 'served'))
        began = time.monotonic()
        process = here.start('send', make_file(folder, 40 << 20), f'{SERVER}:no', '--rate', '20M',
                             '--identity', proxy)
        try:
            wait_until(lambda: len(os.listdir(folder / 'served')) > there_before, 10, 'a stage')
            expect(process.poll() is None, 'it has ended before')
            site.revoke('dtn1')
            revoked = time.monotonic()
            result = program.finish(process, 10, began)
        finally:
            end_group(process)
        expect(time.monotonic() - revoked < 4, 'it went on for long')
        expect_status(result, 5)
        expect_said(result, 'revoked or changed')
        expect_status(here.run('send', path, f'{SERVER}:no', '--identity', host), 5)
        wait_until(lambda: 'certificate revoked' in server.said(), 10, 'a line of the server')
        expect(not (folder / 'served/no').exists(), 'a file that must not have come')


@contextlib.contextmanager
def dated_site(program, folder, list_days):
    """A server whose clock is set, one that knows it, and a site whose authority began ten days ago
    with a host's certificate of 15 days; its list of those revoked is new."""
    clock = Clock(program, folder / 'clock')
    with two_machines(program, folder, clock=clock) as (here, there, server):
        here.user.report('trust', 'add', 'dtn2', there.user.key())
        (folder / 'there/trust.d/dtn1.conf').write_text('[peer]\nsubject = CN=dtn1,O=Site\n')
        of_site = Clock(program, folder / 'clock of the site')
        of_site.set(-10)
        site = Authority(folder / 'site', folder / 'there', of_site)
        host = site.host('dtn1', '/O=Site/CN=dtn1', '-days', '15')
        of_site.set(0)
        site.publish(list_days)
        wait_for_look()

        def one(name, status=0, identity=host):
            result = here.run('send', make_file(folder, 1 << 10), f'{SERVER}:{name}', '--identity',
                              identity)
            expect_status(result, status)
            expect_equal(f'{name} has come', (folder / 'served' / name).exists(), status == 0)
            if status:
                expect_said(result, 'does not trust this end')

        yield here, server, site, clock, host, one


@contextlib.contextmanager
def slow_send(here, folder, name, identity):
    """A job that would take a quarter of a minute, once its data come."""
    path = folder / 'slow'
    path.write_bytes(os.urandom(40 << 20))
    before = set(os.listdir(folder / 'served'))
    process = here.start('send', path, f'{SERVER}:{name}', '--rate', '20M', '--identity', identity)
    try:
        wait_until(lambda: set(os.listdir(folder / 'served')) > before, 10, 'a stage')
        expect(process.poll() is None, 'it has ended before')
        yield process
    finally:
        end_group(process)


def expect_withdrawn(program, process, server, why):
    """A session ends because of the new time of day; both ends report it."""
    began = time.monotonic()
    result = program.finish(process, 10, began)
    expect(time.monotonic() - began < 4, 'it went on for long')
    expect_status(result, 5)
    expect_said(result, 'revoked or changed')
    wait_until(lambda: why in server.said(), 10, why)


def clock_of_certificates(program, folder):
    """A server's clock is set back, and ahead, while a session of a certified host runs and others
    come: who comes is judged by the clock then, who is here only by one that goes ahead."""
    with dated_site(program, folder, 9) as (here, server, _, clock, host, one):
        one('now')
        with slow_send(here, folder, 'slowly', host) as process:
            clock.set(-11)
            one('too early', 5)
            wait_until(lambda: 'certificate is not yet valid, by the clock of this host; check '
                       'the clock' in server.said(), 10, 'why it was too early')
            wait_for_look()
            wait_for_look()
            expect(process.poll() is None, 'a session ended by a clock that was set back')
            clock.set(0)
            one('again')
            expect(process.poll() is None, 'a session ended by a clock that was set right')
            clock.set(6)
            expect_withdrawn(program, process, server,
                             'certificate has expired, by the clock of this host')
        one('too late', 5)
        expect(not (folder / 'served/slowly').exists(), 'a file that was not whole')
        clock.set(0)
        one('at last')


def renewed(program, folder):
    """A host has a new certificate of its key before the old one ends, and uses it: a session under
    it is not the old one's."""
    with dated_site(program, folder, 9) as (here, server, site, clock, host, one):
        one('by the old one')
        new = site.renew('renewed', 'dtn1', '-days', '30')
        with slow_send(here, folder, 'slowly', new) as process:
            clock.set(6)
            one('too late', 5)
            wait_for_look()
            wait_for_look()
            one('by the new one', identity=new)
            expect(process.poll() is None, f'ended with the old certificate: {server.said()}')
            clock.set(10)
            expect_withdrawn(program, process, server, "its authority's revocation list has "
                             'expired')


def clock_of_lists(program, folder):
    """A list of those revoked that is dated later than now still revokes; one that has ended ends
    what runs, until a new one is there."""
    with dated_site(program, folder, 2) as (here, server, site, clock, host, one):
        other = site.host('bad', '/O=Site/CN=dtn1', '-startdate', '20200101000000Z', '-days',
                          '36500')
        one('bad is good', identity=other)
        clock.set(-5)
        one('by a list of later')
        site.revoke('bad')
        wait_for_look()
        one('revoked by a list of later', 5, identity=other)
        wait_until(lambda: 'certificate revoked' in server.said(), 10, 'why')
        one('not on it')
        clock.set(0)
        with slow_send(here, folder, 'slowly', host) as process:
            clock.set(3)
            expect_withdrawn(program, process, server, "its authority's revocation list has "
                             'expired, by the clock of this host; put a new one into the folder')
        one('no list', 5)
        site.clock.set(3)
        site.publish()
        wait_for_look()
        one('a new list')
        one('still revoked', 5, identity=other)


def withdrawn(program, folder):
    """Jobs of a peer that is no longer trusted end within about a second; both ends say why."""
    path = make_file(folder, 40 << 20)
    with two_machines(program, folder) as (here, there, server):
        here.user.report('trust', 'add', 'dtn2', there.user.key())
        there.user.report('trust', 'add', 'dtn1', here.user.key())
        wait_for_look()
        there_before = len(os.listdir(folder / 'served'))
        began = time.monotonic()
        process = here.start('send', path, f'{SERVER}:', '--rate', '20M')
        try:
            wait_until(lambda: len(os.listdir(folder / 'served')) > there_before, 10, 'a stage')
            expect(process.poll() is None, 'it has ended before')
            there.user.report('trust', 'remove', 'dtn1')
            removed = time.monotonic()
            result = program.finish(process, 10, began)
        finally:
            end_group(process)
        expect(time.monotonic() - removed < 4, 'it went on for long')
        expect_status(result, 5)
        expect_said(result, 'revoked or changed')
        wait_until(lambda: 'revoked or changed' in server.said(), 10, 'a line of the server')
        expect(not (folder / 'served/file').exists(), 'a file that was not whole')


def asked_on_a_terminal(program, folder):
    """As with ssh: the fingerprint is shown, yes is typed, and next time nobody asks."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        there.user.report('trust', 'add', 'dtn1', here.user.key())
        shown = there.user.report('trust', 'show')['own']['fingerprint']
        wait_for_look()
        leader, terminal = pty.openpty()
        process = subprocess.Popen(
            [*here.under, program.binary, *map(str, client_command(
                'send', path, f'{SERVER}:', addresses=[f'{CLIENT}/24']))],
            stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        said = b''
        try:
            while b'Trust it' not in said:
                said += os.read(leader, 4096)
            expect(shown.encode() in said, f'the key of the server is not shown: {said!r}')
            os.write(leader, b'yes\n')
            with contextlib.suppress(OSError):
                while more := os.read(leader, 4096):
                    said += more
            expect_equal('exit status', process.wait(20), 0)
        finally:
            end_group(process)
            os.close(leader)
        expect_equal('who is known', [peer['key'] for peer in
                                      here.user.report('trust', 'list')['peers']],
                     [there.user.key()])
        expect_status(here.run('send', path, f'{SERVER}:again'), 0)


def cases():
    yield Case('a key is made once', True, made_once)
    yield Case('killed while a key is made', False, killed)
    yield Case('its name is what openssl says', False, key_of_openssl)
    yield Case('a key that others may read', True, others_may_read)
    yield Case('keys swapped by ssh', True, swapped)
    yield Case('keys not swapped', False, not_swapped)
    yield Case('a peer added and removed', False, added_and_removed)
    yield Case('wrong files', True, wrong_files)
    yield Case('first use', True, first_use)
    yield Case('let in by the log', False, let_in_by_the_log)
    yield Case('another key', True, another_key)
    yield Case('places of a key', True, places_of_a_key)
    yield Case('read again', True, read_again)
    yield Case('authority of a site', True, authority_of_a_site)
    yield Case('a clock that jumps: certificates', True, clock_of_certificates)
    yield Case('a certificate is renewed', False, renewed)
    yield Case('a clock that jumps: lists', False, clock_of_lists)
    yield Case('withdrawn', True, withdrawn)
    yield Case('asked on a terminal', False, asked_on_a_terminal)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
