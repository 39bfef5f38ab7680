#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The package on two machines with a systemd of their own: tools/package --try runs it.

    machines.py ROOT BEFORE NEW...

ROOT is a Debian that has systemd, BEFORE a package of before, NEW those to come after it. The
service runs there as it is installed: ready, upgraded while it has a queue, watched, misconfigured,
and purged. A line for each case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import glob
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from machine import MIB, STOP_S, TOP, UNIT, WIRES, be_alone, booted, run
from harness import Failed, expect, expect_equal
from lab import order
from pair import wait_until

USAGE, HARDWARE = 2, 7
INSTALL_S = 300
GONE_S = 10

# What is a machine's by its name: its folder, its networks, its processes, its groups of them.
MACHINES = re.compile(r'wavehaul-machine-|-machine[12]|nspawn|/dtn[12](?!\.)|'
                      '/(payload|supervisor)|/init')

EXAMPLE = TOP / 'system/af_packet.conf'
IMPATIENT = """[Service]
WatchdogSec=3
"""

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


def installed(machine, before):
    """From apt's cache, for a machine of the test's has no network."""
    order('cp', before, machine.root / 'before.deb')
    machine.run('apt-get', 'install', '-y', '--no-install-recommends', '/before.deb',
                timeout=INSTALL_S)
    machine.write('/etc/wavehaul/wavehaul.conf', CONFIG.format(machine.number))
    machine.write(f'{UNIT}/zz.conf', IMPATIENT)
    machine.write(f'{UNIT}/af_packet.conf', EXAMPLE.read_text())
    machine.run('systemctl', 'daemon-reload')
    machine.run('chgrp', 'wavehaul', '/srv')
    machine.run('chmod', '2775', '/srv')


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


def expect_there(machine, name, digest):
    expect_equal(f'{name} of dtn{machine.number}',
                 machine.digest_of(f'/srv/{name}'), digest)


def number_of(answer):
    return int(answer.split()[1])


def install(machine, new):
    for package in new:
        order('cp', package, machine.root)
    machine.run('apt-get', 'install', '-y', '--no-install-recommends',
                *(f'/{Path(package).name}' for package in new), timeout=INSTALL_S)


def upgraded(one, two, new):
    """One of two with the version before: what runs ends, what waits is the new one's, and the two
    versions go on with each other, or say why not."""
    digest = one.plant('/srv/large', 24 * MIB)
    first = number_of(one.job('add', 'send', '/srv/large', 'dtn2:first', '--rate', '40M'))
    second = number_of(one.job('add', 'send', '/srv/large', 'dtn2:second', '--after', first))
    wait_until(lambda: one.state_of(first) == 'running', 20, 'a job that runs')
    pid = one.of_service('MainPID')
    install(one, new)
    expect(one.of_service('MainPID') not in (pid, '0'), 'the old process is still there')
    one.await_done(first, 0)
    wait_until(lambda: one.state_of(second) in ('done', 'failed'), STOP_S, 'the end of the second')
    talk = one.state_of(second) == 'done'
    expect(talk or 'install the same wavehaul' in one.job('show', second),
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
    digest = one.plant('/srv/again', 4 * MIB)
    pid = one.of_service('MainPID')
    one.run('kill', '-STOP', pid)
    later = time.monotonic()
    wait_until(lambda: one.of_service('NRestarts') == '1' and
               one.of_service('ActiveState') == 'active', 20, 'another process')
    expect(time.monotonic() - later > 1.5, 'it was killed at once')
    number = number_of(one.job('add', 'send', '/srv/again', 'dtn2:again', '--retries', '3'))
    one.await_done(number, 60)
    expect_there(two, 'again', digest)


def lines_of(machine, path):
    """The paths of jobs that it noted there."""
    noted = map(json.loads, machine.run('cat', path).splitlines())
    return [line['path'] for line in noted if line['event'] == 'job']


def rotated(one, two):
    """What a server notes in a file is turned over, and no line is lost."""
    path = '/var/log/wavehaul/audit.log'
    two.write('/etc/wavehaul/wavehaul.conf', f'{CONFIG.format(2)}audit = {path}\n')
    two.run('systemctl', 'restart', 'wavehaul')
    for name in ('before', 'behind'):
        one.plant(f'/srv/{name}', MIB)
        one.await_done(number_of(one.job('add', 'send', f'/srv/{name}', f'dtn2:{name}')))
        if name == 'before':
            two.run('logrotate', '--force', '/etc/logrotate.d/wavehaul')
    expect_equal('noted', [lines_of(two, f'{path}.1'), lines_of(two, path)],
                 [['before'], ['behind']])


def misconfigured(one, two):
    """What another try would not mend has none; the next one that is right runs."""
    two.run('systemctl', 'stop', 'wavehaul')
    expect_equal('the result', two.of_service('Result'), 'success')
    for text, status in (('[port]\nport = nothing at all\n', USAGE),
                         (CONFIG.format(2).replace('eth0', 'eth9'), HARDWARE)):
        two.write('/etc/wavehaul/wavehaul.conf', text)
        two.run('systemctl', 'start', 'wavehaul', check=False)
        time.sleep(3)
        expect_equal('its end', [two.of_service(name) for name in
                                 ('ActiveState', 'ExecMainStatus', 'NRestarts')],
                     ['failed', str(status), '0'])
    two.write('/etc/wavehaul/wavehaul.conf', CONFIG.format(2))
    two.run('systemctl', 'start', 'wavehaul')
    two.run('systemctl', 'reload', 'wavehaul')
    expect_equal('its state', two.of_service('ActiveState'), 'active')


def purged(one, two):
    """Stopped and gone, with its key and its queue; what it has brought stays."""
    one.run('dpkg', '--remove', 'wavehaul', 'wavehaul-lab', 'gfal2-plugin-wavehaul')
    expect_equal('processes', one.run('pgrep', '-x', 'wavehaul', check=False), '')
    expect('identity.pem' in one.run('ls', '/var/lib/wavehaul/.config/wavehaul'), 'its key')
    one.run('dpkg', '--purge', 'wavehaul', 'wavehaul-lab', 'gfal2-plugin-wavehaul',
            'python3-wavehaul')
    left = one.run('find', '/etc', '/usr', '/var/lib', '/var/log', '/run', '-name', '*wavehaul*',
                   '-not', '-path', '*/dpkg/*', '-not', '-path', '/run/systemd/*',
                   '-not', '-path', '*/deb-systemd-helper-*', '-not', '-path',
                   '/etc/systemd/system/wavehaul.service.d*')
    expect_equal('what is left', left, '')
    expect('back' in one.run('ls', '/srv'), 'what it has brought')


def left_on_host():
    """All here that could be a machine's."""
    found = set(Path('/proc/mounts').read_text().splitlines())
    for pattern in ('/dev/shm/*', '/run/*', '/run/netns/*', '/run/systemd/nspawn/*',
                    '/sys/fs/cgroup/**/'):
        found |= set(glob.glob(pattern, recursive=True))
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        with contextlib.suppress(OSError):
            found.add(f'{path}: {Path(path).read_bytes()}')
    return {name for name in found if MACHINES.search(name)}


def killed(root):
    """Nothing of its machines outlives a script, not even when it is killed."""
    before = left_on_host()
    for number in (signal.SIGKILL, signal.SIGINT):
        script = subprocess.Popen([TOP / 'tools/packagelib/machine.py', root],
                                  stdout=subprocess.PIPE, text=True)
        expect_equal('a word', script.stdout.readline(), 'up\n')
        expect(left_on_host() > before, 'no machine is to be seen')
        script.send_signal(number)
        script.wait()
        with contextlib.suppress(Failed):
            wait_until(lambda: left_on_host() == before, GONE_S, 'an end of all')
        expect_equal(f'what is left by {number.name}', left_on_host() - before, set())


def steps(root, before, new):
    killed(root)
    yield 'machines: nothing outlives its script'
    be_alone()
    with booted(root, WIRES) as (one, two):
        for machine in (one, two):
            installed(machine, before)
        yield 'machines: installed'
        started(one, two)
        yield 'machines: ready'
        upgraded(one, two, new)
        yield 'machines: upgraded'
        watched(one, two)
        yield 'machines: watched'
        rotated(one, two)
        yield 'machines: rotated'
        misconfigured(one, two)
        yield 'machines: misconfigured'
        purged(one, two)
        yield 'machines: purged'


if __name__ == '__main__':
    sys.exit(run(steps(sys.argv[1], sys.argv[2], sys.argv[3:])))
