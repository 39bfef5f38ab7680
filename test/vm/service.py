#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The service on two booted machines with NICs on PCI, from the package to ten power cuts.

    service.py [CUTS [SEED]]     10 power cuts; what $ON and $LAB are, vm.py says

tools/package --vm makes the disk and runs it: docs/operate.md's "As a service" block by block,
reboots, cables, resets, other NICs, boots at which something is missing, power cuts, purge.
A line for each step, then 'N passed, N failed, N skipped'. All machines are emulated, so it takes
an hour of two CPUs, and no figure of it is one of a NIC. QEMU's emulation has neither an invariant
TSC nor, without a backend for it, several queues of virtio.
"""

import random
import re
import sys
import time

import vm
from vm import LAB, both, order
from machine import MIB, be_alone, run
from harness import Failed, expect, expect_equal
from readme import service

EXPOSURE_MAX = 3.0
NIGHT_BYTES, FILE_BYTES = 96 * MIB, 24 * MIB
OTHER_NICS = ('vmxnet3', 'virtio', 'igb')
JOB_S = 120
CONFIG = '/etc/wavehaul/wavehaul.conf'
RATE = '2M'
# One second of it is a batch; as much again is on its way to the disk, which is emulated as well.
BATCH_BYTES = 4 * MIB


def is_serving(machine):
    return machine.of_service('ActiveState') == 'active'


def await_serving(machine):
    try:
        machine.wait_until(lambda: is_serving(machine), 20, 'a service')
    except Failed:
        raise Failed(f'dtn{machine.number} does not serve: {machine.journal()}') from None
    expect_equal('what it serves', machine.of_service('StatusText'),
                 f'serving /srv on {vm.NIC}, UDP 5760')


def add(machine, source, target, *more):
    """Until there is a queue to take it."""
    await_serving(machine)
    said = machine.job('add', 'send', source, target, '-r', '--retries', '1000', *more)
    return int(said.split()[1])


def transferred(here, there, name, happen=None):
    """A file by the queue, so slowly that it is still on its way when that happens."""
    digest = here.plant(f'/srv/outgoing/{name}', FILE_BYTES)
    number = add(here, f'/srv/outgoing/{name}', f'dtn{there.number}:incoming/{name}',
                 '--rate', RATE if happen else 'max')
    if happen:
        here.wait_until(lambda: here.state_of(number) == 'running', 20, 'a job that runs')
        time.sleep(5)
        happen()
        here.job('set', number, 'max')
    here.await_done(number, JOB_S)
    expect_equal(f'{name} there', there.digest_of(f'/srv/incoming/{name}'), digest)


def exposed(machine):
    said = machine.run('systemd-analyze', 'security', '--no-pager', 'wavehaul.service')
    found = float(re.search(r'Overall exposure level.*: ([0-9.]+)', said).group(1))
    expect(found <= EXPOSURE_MAX, f'its exposure is {found}')
    return found


def pull_cable(machine):
    machine.cable('off')
    time.sleep(20)
    machine.cable('on')


def failed_once(machine, status, pattern):
    """It says why, in one sentence, and does not try again."""
    machine.wait_until(lambda: machine.of_service('ActiveState') == 'failed', 30, 'an end')
    time.sleep(10)
    expect_equal('its end', [machine.of_service(name) for name in
                             ('ActiveState', 'ExecMainStatus', 'NRestarts')],
                 ['failed', str(status), '0'])
    expect(re.search(pattern, machine.journal()), f'it says {machine.journal()}')


def boots_lacking(one, two):
    """The NIC is not there; its configuration is wrong; no cable is in."""
    one.cut_power()
    one.boot('none')
    failed_once(one, 7, vm.NIC)
    yield 'booted without the NIC: says so, once'
    kept = one.run('cat', CONFIG)
    one.write(CONFIG, kept.replace('port = 0000', 'prot = 0000') + '\n')
    one.cut_power()
    one.boot()
    failed_once(one, 2, 'prot')
    yield 'booted with a wrong configuration: says so, once'
    one.write(CONFIG, kept + '\n')
    one.cut_power()
    one.start()
    one.wait_until(lambda: one.path('monitor').exists(), 10, 'a monitor')
    one.cable('off')
    one.await_up()
    await_serving(one)
    number = add(one, '/srv/outgoing/first', 'dtn2:incoming/late')
    time.sleep(30)
    expect(one.state_of(number) != 'done', 'it went without a cable')
    one.cable('on')
    one.await_done(number, JOB_S)
    yield 'booted without a cable: serves, and the queue goes on once it is in'


def other_nic(one, two, nic):
    for machine in (one, two):
        machine.cut_power()
        machine.start(nic)
    for machine in (one, two):
        machine.await_up()
        machine.run('wavehaul', 'nic', 'bind', vm.NIC)
        machine.run('systemctl', 'restart', 'wavehaul', timeout=JOB_S)
        await_serving(machine)
    transferred(one, two, f'by-{nic}')
    transferred(two, one, f'back-by-{nic}')


def plant_tree(machine):
    """Files of many sizes. Returns the bytes of all; of those that are sent without a question, up
    to 256 KiB, there is 1 MB."""
    machine.run('sh', '-c', 'mkdir -p /srv/outgoing/tree && cd /srv/outgoing/tree && '
                'for i in $(seq 100); do mkdir -p d$((i % 7)); '
                'head -c $((i * i * 3)) /dev/urandom >d$((i % 7))/f$i; done; '
                'for i in $(seq 30); do head -c $((i * 99999 + 300000)) /dev/urandom >m$i; done; '
                'for i in 1 2 3; do head -c 80000000 /dev/urandom >large$i; done',
                timeout=JOB_S)
    return int(machine.run('sh', '-c', 'cd /srv/outgoing/tree && cat */* m* large* | wc -c'))


def digest_of_tree(machine, path):
    return machine.run('sh', '-c', f'cd {path} && find . -type f -not -path "*/.wavehaul*" '
                       '-print0 | sort -z | xargs -0 sha256sum | sha256sum', timeout=JOB_S)


def payload_of(machine):
    """Bytes that this process has sent, and that were acknowledged."""
    said = machine.run('curl', '-s', 'http://127.0.0.1:9480/metrics')
    return int(re.search(r'^wavehaul_session_payload_bytes_total{role="transmitter"} (\d+)', said,
                         re.MULTILINE).group(1))


def power_cuts(one, two, cuts, seed):
    """At random moments of a transfer, at either end; the queue goes on by itself. Returns how many
    bytes went again for each cut."""
    chance, sent = random.Random(seed), -payload_of(one)
    tree_bytes = plant_tree(one)
    number = add(one, '/srv/outgoing/tree', 'dtn2:incoming/', '--rate', RATE)
    for cut in range(cuts):
        one.wait_until(lambda: one.state_of(number) == 'running', 60, 'a job that runs')
        time.sleep(chance.uniform(1, 25))
        expect(one.state_of(number) != 'done', f'the transfer is over before cut {cut + 1}')
        machine = chance.choice((one, two))
        if machine is one:
            sent += payload_of(one)
        machine.cut_power()
        machine.boot()
        await_serving(machine)
        print(f'        cut {cut + 1}: dtn{machine.number}', flush=True)
    one.job('set', number, 'max')
    one.await_done(number, 3 * JOB_S)
    sent += payload_of(one)
    expect_equal('the tree', digest_of_tree(two, '/srv/incoming/tree'),
                 digest_of_tree(one, '/srv/outgoing/tree'))
    again = (sent - tree_bytes) // cuts
    expect(again <= BATCH_BYTES, f'{again} bytes went again for each cut')
    return again


def purged(machine):
    """With a unit that failed: nothing of it stays but what it has brought."""
    machine.write(CONFIG, '[port]\nport = nothing at all\n')
    machine.run('systemctl', 'restart', 'wavehaul', check=False, timeout=JOB_S)
    failed_once(machine, 2, 'nothing at all')
    machine.run('apt-get', 'purge', '-y', 'wavehaul', 'wavehaul-lab', timeout=JOB_S)
    expect_equal('units that failed', machine.run('systemctl', '--failed', '--plain', '-q'), '')
    left = machine.run('find', '/etc', '/usr', '/var/lib', '/var/log', '/run', '-name',
                       '*wavehaul*', '-not', '-path', '*/dpkg/*', '-not', '-path', '/run/systemd/*',
                       '-not', '-path', '*/deb-systemd-helper-*')
    expect_equal('what is left', left, '/etc/sysctl.d/wavehaul.conf')
    expect('first' in machine.run('ls', '/srv/incoming/outgoing'), 'what it has brought')


def steps(cuts=10, seed=1):
    be_alone()
    with both() as (one, two):
        yield 'two machines are up'
        yield from service(one, two, vm.NIC, 'af_packet', NIGHT_BYTES)
        yield f'exposed by {exposed(one)} of 10'
        for machine in (one, two):
            machine.reboot()
            await_serving(machine)
        transferred(one, two, 'rebooted')
        yield 'rebooted: both serve on the NIC'
        transferred(one, two, 'cable', lambda: pull_cable(one))
        yield 'the cable out and in'
        transferred(one, two, 'reset', two.reset)
        yield 'the other machine reset'
        yield from boots_lacking(one, two)
        for nic in OTHER_NICS:
            if nic not in order('qemu-system-x86_64', '-device', 'help') and nic != 'virtio':
                print(f'        no {nic} in this QEMU')
                continue
            other_nic(one, two, nic)
            yield f'by {nic}'
        again = power_cuts(one, two, int(cuts), int(seed))
        yield f'{cuts} power cuts at random moments; {again} bytes went again for each'
        purged(two)
        yield 'purged: no unit that failed, and no file'


if __name__ == '__main__':
    sys.exit(run(steps(*sys.argv[1:])))
