#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The package on two machines with a systemd of their own: tools/package --try runs it.

    machines.py ROOT NEW...

ROOT is a Debian that has systemd and a package of before; NEW are those to come after it. Two
machines are made of it (systemd-nspawn), which a veth joins. The service runs there as it is
installed: ready, watched, drained, upgraded while it has a queue, and purged. A line for each case,
then 'N passed, N failed, N skipped'.
"""

import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Failed, Skip, expect, expect_equal  # noqa: E402
from lab import Lab, order  # noqa: E402
from pair import wait_until  # noqa: E402

BOOT_S, STOP_S = 60, 30
MIB = 1 << 20
CONFIGURATION = 2
ENVIRONMENT = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C.UTF-8'}

# Beside the example's: memory stays where it is where no limit can be raised, and less patience.
EXAMPLE = TOP / 'system/af_packet.conf'
DROP_IN = """[Service]
AmbientCapabilities=CAP_IPC_LOCK
CapabilityBoundingSet=CAP_IPC_LOCK
WatchdogSec=3
"""

# What a machine of its own has, and one that is a container has not.
CALLS = '@io-event @memlock io_uring_setup io_uring_enter io_uring_register mbind set_mempolicy ' \
        'get_mempolicy move_pages openat2 landlock_create_ruleset landlock_add_rule ' \
        'landlock_restrict_self'

UNIT = '/etc/systemd/system/wavehaul.service.d'

CONFIG = """[port]
port = af_packet:eth0
mtu = 9000
[address]
address = 192.0.2.{}/24
[memory]
buffers = 256M
no_huge = yes
[serve]
root = /srv
"""


class Machine:
    """A copy of ROOT that is forgotten at the end."""

    def __init__(self, root, number, host):
        self.number, self.host, self.process = number, host, None
        self.scratch = Path(tempfile.mkdtemp(prefix='wavehaul-machine-', dir='/dev/shm'))
        self.root = self.scratch / 'root'
        for name in ('root', 'upper', 'work'):
            (self.scratch / name).mkdir()
        order('mount', '-t', 'overlay', 'overlay', '-o',
              f'lowerdir={root},upperdir={self.scratch}/upper,workdir={self.scratch}/work',
              self.root)

    @property
    def address(self):
        return f'192.0.2.{self.number}'

    def boot(self):
        command = ['systemd-nspawn', '--quiet', '--directory', self.root, '--machine',
                   f'dtn{self.number}', '--register=no', '--keep-unit', '--boot',
                   '--console=pipe', f'--network-namespace-path=/run/netns/{self.host.netns}',
                   '--capability=CAP_NET_ADMIN,CAP_NET_RAW,CAP_IPC_LOCK',
                   f'--system-call-filter={CALLS}']
        log = open(self.scratch / 'log', 'wb')
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                        stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until(self.is_up, BOOT_S, 'a machine that is up')
        except (Failed, OSError):
            said = (self.scratch / 'log').read_text(errors='replace').strip()
            raise Skip(f'systemd-nspawn boots no machine here: {said[-300:]}') from None

    def leader(self):
        children = Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children')
        return children.read_text().split()[0]

    def is_up(self):
        expect(self.process.poll() is None, 'it ends at once')
        with contextlib.suppress(IndexError, OSError):
            return self.run('systemctl', 'is-system-running', check=False) in (
                'running', 'degraded')
        return False

    def run(self, *command, check=True, timeout=40):
        """What it prints; with `check` it has to succeed."""
        done = subprocess.run(
            ['nsenter', '-t', self.leader(), '-m', '-u', '-i', '-n', '-p', '--',
             *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout, check=False, env=ENVIRONMENT)
        expect(done.returncode == 0 or not check,
               f'dtn{self.number}: {" ".join(map(str, command))}: {done.stdout}{done.stderr}')
        return done.stdout.strip()

    def of_service(self, name):
        return self.run('systemctl', 'show', '-P', name, 'wavehaul')

    def write(self, path, text):
        self.run('mkdir', '-p', os.path.dirname(path))
        self.run('sh', '-c', f"cat >{path} <<'END'\n{text}END")

    def job(self, *words):
        return self.run('wavehaul', 'job', *words)

    def state_of(self, number):
        return next((line.split()[1] for line in self.job('list', '--all').splitlines()
                     if line.split()[0] == str(number)), None)

    def await_done(self, number, seconds=STOP_S):
        with contextlib.suppress(Failed):
            wait_until(lambda: self.state_of(number) == 'done', seconds, 'an end')
        expect(self.state_of(number) == 'done',
               f'job {number}: {self.job("show", number)}; {self.journal()}')

    def journal(self):
        return self.run('journalctl', '-u', 'wavehaul', '--no-pager', '-n', '12', '-o', 'cat')

    def end(self):
        if self.process is not None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_S)
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        subprocess.run(['umount', '-l', self.root], check=False)
        shutil.rmtree(self.scratch, ignore_errors=True)


@contextlib.contextmanager
def machines(root):
    """Two that are up, with the service configured and not started."""
    with Lab() as lab, contextlib.ExitStack() as stack:
        hosts = [lab.host(f'machine{i}') for i in (1, 2)]
        lab.wire((hosts[0], 'eth0'), (hosts[1], 'eth0'), 9000)
        two = []
        for i, host in enumerate(hosts):
            two.append(Machine(root, i + 1, host))
            stack.callback(two[-1].end)
        for machine in two:
            machine.boot()
            machine.write('/etc/wavehaul/wavehaul.conf', CONFIG.format(machine.number))
            machine.write(f'{UNIT}/zz.conf', DROP_IN)
            machine.write(f'{UNIT}/af_packet.conf', EXAMPLE.read_text())
            machine.run('systemctl', 'daemon-reload')
            machine.run('chgrp', 'wavehaul', '/srv')
            machine.run('chmod', '2775', '/srv')
        yield two


def started(one, two):
    """`systemctl start` comes back when the server is ready, and says what it serves."""
    for machine in (one, two):
        try:
            machine.run('systemctl', 'enable', '--now', 'wavehaul')
        except Failed:
            raise Failed(f'it does not start: {machine.journal()}') from None
        expect_equal('its state', (machine.of_service('ActiveState'), machine.of_service('Type')),
                     ('active', 'notify'))
        expect_equal('its words', machine.of_service('StatusText'),
                     'serving /srv on af_packet:eth0, UDP 5760')
        expect_equal('its user', machine.run('ps', '-o', 'user=', '-p',
                                             machine.of_service('MainPID')), 'wavehaul')
    keys = {machine: machine.run('runuser', '-u', 'wavehaul', '--', 'env',
                                 'HOME=/var/lib/wavehaul', 'wavehaul', 'trust', 'show')
            for machine in (one, two)}
    for machine, other in ((one, two), (two, one)):
        key = next(word for word in keys[other].split() if word.startswith('sha256:'))
        machine.run('runuser', '-u', 'wavehaul', '--', 'env', 'HOME=/var/lib/wavehaul', 'wavehaul',
                    'trust', 'add', f'dtn{other.number}', key, f'address={other.address}')
        machine.run('systemctl', 'reload', 'wavehaul')


def plant(machine, name, size):
    data = random.Random(name).randbytes(size)
    (machine.scratch / 'data').write_bytes(data)
    with open(machine.scratch / 'data', 'rb') as file:
        subprocess.run(['nsenter', '-t', machine.leader(), '-m', '--', 'sh', '-c',
                        f'umask 022; cat >/srv/{name}'], stdin=file, check=True)
    return hashlib.sha256(data).hexdigest()


def expect_there(machine, name, digest):
    expect_equal(f'{name} of dtn{machine.number}',
                 machine.run('sha256sum', f'/srv/{name}').split()[0], digest)


def number_of(answer):
    return int(answer.split()[1])


def install(machine, new):
    for package in new:
        order('cp', package, machine.root)
    machine.run('dpkg', '-i', *(f'/{Path(package).name}' for package in new))


def upgraded(one, two, new):
    """One of two with the version before: what runs ends, what waits is the new one's, and the two
    versions go on with each other, or say why not."""
    digest = plant(one, 'large', 24 * MIB)
    first = number_of(one.job('add', 'send', '/srv/large', 'dtn2:first', '--rate', '40M'))
    second = number_of(one.job('add', 'send', '/srv/large', 'dtn2:second', '--after', first))
    wait_until(lambda: one.state_of(first) == 'running', 20, 'a job that runs')
    pid = one.of_service('MainPID')
    install(one, new)
    expect(one.of_service('MainPID') not in (pid, '0'), 'the old process is still there')
    one.await_done(first, 0)
    wait_until(lambda: one.state_of(second) in ('done', 'failed'), STOP_S, 'the end of the second')
    talk = one.state_of(second) == 'done'
    expect(talk or 'install the same wavehaul at both ends' in one.job('show', second),
           f'two versions: {one.job("show", second)}')
    install(two, new)
    if not talk:
        one.job('retry', second)
        one.await_done(second)
    for name in ('first', 'second'):
        expect_there(two, name, digest)
    third = number_of(two.job('add', 'send', '/srv/first', 'dtn1:back'))
    two.await_done(third)
    expect_there(one, 'back', digest)
    said = one.run('python3', '-c', 'import wavehaul; print(wavehaul.connect().version)')
    expect(said, 'no version')


def watched(one, two):
    """A server that stands still is killed and started anew; its queue goes on."""
    digest = plant(one, 'again', 4 * MIB)
    pid = one.of_service('MainPID')
    one.run('kill', '-STOP', pid)
    later = time.monotonic()
    wait_until(lambda: one.of_service('NRestarts') == '1' and
               one.of_service('ActiveState') == 'active', 20, 'another process')
    expect(time.monotonic() - later > 1.5, 'it was killed at once')
    number = number_of(one.job('add', 'send', '/srv/again', 'dtn2:again', '--retries', '3'))
    one.await_done(number, 60)
    expect_there(two, 'again', digest)


def misconfigured(one, two):
    """What another try would not mend has none; the next one that is right runs."""
    two.run('systemctl', 'stop', 'wavehaul')
    expect_equal('the result', two.of_service('Result'), 'success')
    two.write('/etc/wavehaul/wavehaul.conf', '[port]\nport = nothing at all\n')
    two.run('systemctl', 'start', 'wavehaul', check=False)
    time.sleep(3)
    expect_equal('its end', [two.of_service(name) for name in
                             ('ActiveState', 'ExecMainStatus', 'NRestarts')],
                 ['failed', str(CONFIGURATION), '0'])
    two.write('/etc/wavehaul/wavehaul.conf', CONFIG.format(2))
    two.run('systemctl', 'start', 'wavehaul')
    two.run('systemctl', 'reload', 'wavehaul')
    expect_equal('its state', two.of_service('ActiveState'), 'active')


def purged(one, two):
    """Stopped and gone, with its key and its queue; what it has brought stays."""
    one.run('dpkg', '--remove', 'wavehaul')
    expect_equal('processes', one.run('pgrep', '-x', 'wavehaul', check=False), '')
    expect('identity.pem' in one.run('ls', '/var/lib/wavehaul/.config/wavehaul'), 'its key')
    one.run('dpkg', '--purge', 'wavehaul', 'python3-wavehaul')
    left = one.run('find', '/etc', '/usr', '/var/lib', '/run', '-name', '*wavehaul*',
                   '-not', '-path', '*/dpkg/*', '-not', '-path', '/run/systemd/*',
                   '-not', '-path', '*/deb-systemd-helper-*', '-not', '-path',
                   '/etc/systemd/system/wavehaul.service.d*')
    expect_equal('what is left', left, '')
    expect('back' in one.run('ls', '/srv'), 'what it has brought')


def run(root, new):
    """(name, seconds, what went wrong) of each case; those behind one that failed are not run."""
    with machines(root) as (one, two):
        for name, case in (('ready', started),
                           ('upgraded', lambda one, two: upgraded(one, two, new)),
                           ('watched', watched), ('misconfigured', misconfigured),
                           ('purged', purged)):
            began = time.monotonic()
            case(one, two)
            print(f'ok      machines: {name} ({time.monotonic() - began:.1f} s)', flush=True)


def main():
    root, *new = sys.argv[1:]
    try:
        run(root, new)
    except Skip as skip:
        print(f'skipped machines: {skip}\n0 passed, 0 failed, 1 skipped')
        return 0
    except (Failed, OSError, subprocess.SubprocessError) as failed:
        print(f'FAILED  machines: {failed}\n0 passed, 1 failed, 0 skipped')
        return 1
    print('5 passed, 0 failed, 0 skipped')
    return 0


if __name__ == '__main__':
    sys.exit(main())
