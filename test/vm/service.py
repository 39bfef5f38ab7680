#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The service on two booted machines with NICs on PCI, from the package to ten power cuts.

    service.py [GROUP...]    all groups, or those; what $ON, $NICE and $LAB are, vm.py says

tools/package --vm makes the disk and runs it: docs/operate.md's "As a service" block by block, and
a reboot. Both disks are kept as they are then, and each group begins from there: so one alone takes
two boots and its own steps. $CUTS (10) and $SEED (1) are of the power cuts, $NICS the types of
`nics`.
A line for each step, then 'N passed, N failed, N skipped'. All machines are emulated, so all of it
takes two hours of two CPUs, and no figure of it is one of a NIC. QEMU's emulation has neither an
invariant TSC nor, without a backend for it, several queues of virtio.
"""

import contextlib
import itertools
import json
import os
import random
import re
import socket
import sys
import threading
import time

import vm
from vm import both, device, order
from machine import MIB, be_alone, run
from flood import Maker
from harness import Failed, expect, expect_equal
from readme import service

EXPOSURE_MAX = 3.0
NIGHT_BYTES, FILE_BYTES = 96 * MIB, 24 * MIB
NICS = os.environ.get('NICS', 'e1000e vmxnet3 virtio igb').split()
STOP_MAX_S, SETTLE_S = 9, 10
JOB_S = 120
CONFIG = '/etc/wavehaul/wavehaul.conf'
PAGES = '/etc/sysctl.d/wavehaul.conf'
RATE = '2M'
BESIDE = ('who_has', 'ping', 'any_frame', 'tagged', 'garbage', 'wrong_ip_sum', 'wrong_udp_sum')
BESIDE_PAUSE_S = 0.005
# One second of it is a batch; as much again is on its way to the disk, which is emulated as well.
BATCH_BYTES = 4 * MIB


def is_serving(machine):
    return machine.of_service('ActiveState') == 'active'


def await_serving(machine, port=vm.NIC):
    try:
        machine.wait_until(lambda: is_serving(machine), 20, 'a service')
    except Failed:
        raise Failed(f'dtn{machine.number} does not serve: {machine.journal()}') from None
    expect_equal('what it serves', machine.of_service('StatusText'),
                 f'serving /srv on {port}, UDP 5760')


def add(machine, source, target, *more):
    """Until there is a queue to take it."""
    machine.wait_until(lambda: is_serving(machine), 20, 'a service')
    said = machine.job('add', 'send', source, target, '-r', '--retries', '1000', *more)
    return int(said.split()[1])


def transferred(here, there, name, happen=None, more=(), size=FILE_BYTES):
    """A file by the queue, so slowly that it is still on its way when that happens."""
    digest = here.plant(f'/srv/outgoing/{name}', size)
    number = add(here, f'/srv/outgoing/{name}', f'dtn{there.number}:incoming/{name}',
                 '--rate', RATE if happen else 'max', *more)
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


def lacks_pages(machine):
    """Without its huge pages from the boot on: it serves from ordinary memory, and says so."""
    kept = machine.run('cat', PAGES)
    machine.write(PAGES, 'vm.nr_hugepages=0\n')
    machine.cut_power()
    machine.boot()
    await_serving(machine)
    said = machine.run('journalctl', '-b', '-u', 'wavehaul', '--no-pager', '-o', 'cat')
    expect('hugepages are not free' in said, f'it says {said}')
    machine.write(PAGES, kept + '\n')


def revived(one, two):
    """The process that is stopped is restarted by systemd, and its queue goes on."""
    restarts = int(one.of_service('NRestarts'))

    def stop():
        one.run('kill', '-STOP', one.of_service('MainPID'))
        one.wait_until(lambda: int(one.of_service('NRestarts')) > restarts, 60, 'a watchdog')
        await_serving(one)
    transferred(one, two, 'stopped', stop)


def idle_share(machine, seconds=60):
    """Of one CPU, that its service takes without a job."""
    time.sleep(SETTLE_S)
    said = machine.run('sh', '-c', 'u() { systemctl show -P CPUUsageNSec wavehaul; '
                       f'cut -d" " -f1 /proc/uptime; }}; u; sleep {seconds}; u', timeout=JOB_S)
    used, at, used_then, then = map(float, said.split())
    return (used_then - used) / 1e9 / (then - at)


def stop_time(machine):
    """By the machine's own clock."""
    said = machine.run('sh', '-c', 'u() { cut -d" " -f1 /proc/uptime; }; u; '
                       'systemctl stop wavehaul; u; systemctl start wavehaul', timeout=JOB_S)
    began, ended = map(float, said.split())
    await_serving(machine)
    return ended - began


def as_service(machine, *words, check=True):
    """By hand, and with the service's key."""
    return machine.run('systemd-run', '--quiet', '--pipe', '--wait', '-p', 'User=wavehaul',
                       '-p', 'LimitMEMLOCK=infinity', '-p', 'StandardError=inherit',
                       '-E', 'HOME=/var/lib/wavehaul', 'wavehaul', *words, check=check,
                       timeout=JOB_S)


def is_there(machine):
    return machine.run('ls', '/sys/bus/pci/devices').find(vm.NIC) >= 0


def advised(machine, address=vm.NIC):
    """What the doctor says of the NIC is done, to the letter."""
    found = json.loads(machine.run('wavehaul', 'doctor', '--json', check=False))
    nic = next(one for one in found['checks'] if one['name'] == f'nic {address}')
    if nic['repair']:
        machine.run('sh', '-c', nic['repair'], timeout=JOB_S)
    return nic


def alter(machine, old, new):
    """The configuration, and the service begins anew with it."""
    kept = machine.run('cat', CONFIG)
    expect(old in kept, f'no {old} in {kept}')
    machine.write(CONFIG, kept.replace(old, new) + '\n')
    machine.run('systemctl', 'restart', 'wavehaul', timeout=JOB_S)
    await_serving(machine)


@contextlib.contextmanager
def traffic_beside(machine):
    """A stranger's frames on its line: for the host, for others, and with wrong checksums."""
    number, end = machine.number, threading.Event()
    maker = Maker(bytes.fromhex('525400000302'), socket.inet_aton('192.0.2.77'),
                  socket.inet_aton(f'192.0.2.{number}'), bytes.fromhex(f'525400000{number}02'),
                  socket.inet_aton(f'192.0.2.{3 - number}'))
    frames = [getattr(maker, kind)() for kind in BESIDE * 8]

    def send():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            for frame in itertools.cycle(frames):
                if end.wait(BESIDE_PAUSE_S):
                    return
                with contextlib.suppress(OSError):  # its queue is full
                    line.sendto(frame, str(machine.path('link')))
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        end.set()
        sender.join()


def dropped(machine):
    """Frames by cause, since its service began."""
    said = machine.run('curl', '-s', 'http://127.0.0.1:9480/metrics')
    return {cause: int(count) for cause, count in re.findall(
        r'^wavehaul_port_dropped_packets_total{cause="(\w+)"} (\d+)', said, re.MULTILINE)}


def received(machine):
    """Packets by each of its queues, those of the first port first."""
    said = machine.run('wavehaul', 'console', '--json', '-c', 'show queues')
    return [queue['rx_pkts'] for queue in json.loads(said)['queues']]


def spread(one, two, nic):
    """With two queues at both ends each receives one of two sessions."""
    for machine in (one, two):
        alter(machine, 'mtu = 9000', 'mtu = 9000\nqueues = 2')
    transferred(one, two, f'lanes-{nic}', more=('--parallel', '2'), size=4 * FILE_BYTES)
    counts = received(two)
    for machine in (one, two):
        alter(machine, 'queues = 2\n', '')
    print(f'        {nic}: received by its queues: {counts}', flush=True)
    expect_equal('queues', len(counts), 2)
    expect(min(counts) > 500, f'they received {counts}')


def by_nic(one, two, nic):
    """
    As the doctor advises; files both ways, beside other traffic; a VLAN at both ends; the path by
    hand.
    """
    for machine in (one, two):
        machine.run('systemctl', 'stop', 'wavehaul', timeout=JOB_S)
        machine.swap(nic)
        machine.wait_until(lambda: is_there(machine), 10, 'a NIC')
        said = advised(machine)
        print(f'        dtn{machine.number}: {said["text"]}: {said["repair"]}', flush=True)
        machine.run('systemctl', 'start', 'wavehaul', timeout=JOB_S)
        await_serving(machine)
    with traffic_beside(two):
        transferred(one, two, f'by-{nic}')
        drops = dropped(two)
    # Of the NIC, where it looks at checksums, or ours.
    wrong = [drops[cause] for cause in
             ('received_with_a_wrong_checksum', 'frame_bad_ip', 'frame_bad_udp')]
    print(f'        {nic}: wrong checksums by the NIC, of IP, of UDP: {wrong}', flush=True)
    expect(sum(wrong) > 0 and drops['frame_not_ip'] > 0, f'what was dropped: {drops}')
    transferred(two, one, f'back-by-{nic}')
    if nic == 'igb':  # e1000e has one queue, virtio here, too; vmxnet3's are not looked at
        spread(one, two, nic)
    one.run('wavehaul', 'get', f'dtn2:incoming/by-{nic}', f'/srv/incoming/got-by-{nic}',
            timeout=JOB_S)
    expect_equal('what was got', one.digest_of(f'/srv/incoming/got-by-{nic}'),
                 one.digest_of(f'/srv/outgoing/by-{nic}'))
    for machine in (one, two):
        alter(machine, 'mtu = 9000', 'mtu = 9000\nvlan = 7')
    transferred(one, two, f'vlan-{nic}')
    one.run('systemctl', 'stop', 'wavehaul', timeout=JOB_S)
    for words in (('bench', 'dtn2', '--time', '5s'), ('probe', 'dtn2')):
        said = as_service(one, *words)
        print('        ' + ' | '.join(said.splitlines()[-3:]), flush=True)
    one.run('systemctl', 'start', 'wavehaul', timeout=JOB_S)
    for machine in (one, two):
        alter(machine, 'vlan = 7\n', '')


def by_two_ports(one, two, second):
    """The second is handed over as the doctor says; a file goes by both."""
    for machine in (one, two):
        machine.cut_power()
        machine.start(second=second)
    for machine in (one, two):
        machine.await_up()
        said = advised(machine, vm.SECOND)
        print(f'        dtn{machine.number}: {said["text"]}', flush=True)
        expect(f'wavehaul nic bind {vm.SECOND}' in said['text'], 'no word of how to hand it over')
        machine.run('wavehaul', 'nic', 'bind', vm.SECOND)
        kept = machine.run('cat', CONFIG)
        for old, new in ((vm.NIC, f'{vm.NIC}\nport = {vm.SECOND}'),
                         (f'192.0.2.{machine.number}/24',
                          f'192.0.2.{machine.number}/24, 203.0.113.{machine.number}/24')):
            expect(old in kept, f'no {old} in {kept}')
            kept = kept.replace(old, new)
        machine.write(CONFIG, kept + '\n')
        machine.run('systemctl', 'restart', 'wavehaul', check=False, timeout=JOB_S)
        await_serving(machine, f'{vm.NIC}, {vm.SECOND}')
    before = received(two)
    transferred(one, two, 'by-both', size=4 * FILE_BYTES)
    counts = [now - then for now, then in zip(received(two), before)]
    print(f'        received by the two: {counts}', flush=True)
    expect(len(counts) == 2 and min(counts) > 1000, f'they received {counts}')


def pull_second(machine, seconds):
    machine.cable('off', 'nic2')
    time.sleep(seconds)
    machine.cable('on', 'nic2')


def without_iommu(one, two):
    """A bound NIC is root's alone: it serves root, and says so to the service."""
    for machine in (one, two):
        machine.iommu = False
        machine.cut_power()
        machine.start()
    for machine in (one, two):
        machine.await_up()
        said = advised(machine)
        print(f'        dtn{machine.number}: {said["text"]}: {said["repair"]}', flush=True)
        expect_equal('its driver', machine.run(
            'sh', '-c', f'basename $(readlink /sys/bus/pci/devices/{vm.NIC}/driver)'),
            'uio_pci_generic')
        machine.run('systemctl', 'restart', 'wavehaul', check=False, timeout=JOB_S)
        failed_once(machine, 7, 'only root')
    yield 'without an IOMMU: the service says that the NIC is root\'s alone, once'
    digest = one.plant('/srv/outgoing/physical', FILE_BYTES)
    two.run('systemd-run', '--unit=roots', 'wavehaul', 'serve', '--unsealed')
    two.wait_until(lambda: 'serving' in two.run('journalctl', '-u', 'roots'), 30, 'a server')
    one.run('wavehaul', 'send', '/srv/outgoing/physical', '192.0.2.2:incoming/', '--unsealed',
            timeout=JOB_S)
    expect_equal('physical there', two.digest_of('/srv/incoming/physical'), digest)
    yield 'without an IOMMU: root serves and sends by uio_pci_generic'
    for machine in (one, two):
        machine.iommu = True


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
    one.run('systemctl', 'disable', '--now', 'nightly.timer')  # it would send the same
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
    machine.write(CONFIG, '[port]\nport = nothing\n[address]\naddress = 192.0.2.2/24\n')
    machine.run('systemctl', 'restart', 'wavehaul', check=False, timeout=JOB_S)
    failed_once(machine, 7, "'nothing' is no port")
    machine.run('apt-get', 'purge', '-y', 'wavehaul', 'wavehaul-lab', timeout=JOB_S)
    expect_equal('units that failed', machine.run('systemctl', '--failed', '--plain', '-q'), '')
    left = machine.run('find', '/etc', '/usr', '/var/lib', '/var/log', '/run', '-name',
                       '*wavehaul*', '-not', '-path', '*/dpkg/*', '-not', '-path', '/run/systemd/*',
                       '-not', '-path', '*/deb-systemd-helper-*')
    expect_equal('what is left', left, '/etc/sysctl.d/wavehaul.conf')
    expect('first' in machine.run('ls', '/srv/incoming/outgoing'), 'what it has brought')


def readme(one, two):
    """Two new machines, as an operator makes them."""
    yield from service(one, two, vm.NIC, 'af_packet', NIGHT_BYTES)
    yield f'exposed by {exposed(one)} of 10'
    for machine in (one, two):
        machine.reboot()
        await_serving(machine)
    transferred(one, two, 'rebooted')
    yield 'rebooted: both serve on the NIC'


def link(one, two):
    transferred(one, two, 'cable', lambda: pull_cable(one))
    yield 'the cable out and in'
    transferred(one, two, 'reset', two.reset)
    yield 'the other machine reset'


def process(one, two):
    yield f'idle: {idle_share(one):.2%} of an emulated CPU'
    took = stop_time(one)
    expect(took <= STOP_MAX_S, f'it stops in {took:.1f} s')
    yield f'stops in {took:.1f} s'
    revived(one, two)
    yield 'stopped by SIGSTOP: systemd restarts it, and its queue goes on'


def lacking(one, two):
    yield from boots_lacking(one, two)
    lacks_pages(one)
    yield 'booted without huge pages: says so, and serves'


def nics(one, two):
    known = order('qemu-system-x86_64', '-device', 'help')
    for nic in NICS:
        if f'"{device(nic, False)}"' not in known:
            print(f'        no {nic} in this QEMU')
            continue
        by_nic(one, two, nic)
        yield f'by {nic}: as the doctor advises; send, get, VLAN, bench, probe'


def ports(one, two):
    by_two_ports(one, two, 'vmxnet3')
    yield 'two NICs, of two drivers, carry one file'
    transferred(one, two, 'one-dark', lambda: pull_second(one, 15))
    yield 'the cable of one out and in, under way'
    two.cable('off', 'nic2')
    transferred(one, two, 'one-left')
    two.cable('on', 'nic2')
    yield 'the cable of one out before it begins: by the other'
    key = json.loads(as_service(two, 'trust', 'show', '--json'))['own']['key']
    as_service(one, 'trust', 'add', '--replace', 'dtn2', key, 'address=192.0.2.2',
               'address=203.0.113.2')
    two.cable('off')
    transferred(one, two, 'first-out', more=('--peer-timeout', '5s'))
    yield 'the cable of the first: to the address of the second'


def cuts(one, two):
    count, seed = int(os.environ.get('CUTS', 10)), int(os.environ.get('SEED', 1))
    again = power_cuts(one, two, count, seed)
    yield f'{count} power cuts at random moments; {again} bytes went again for each'


def purge(one, two):
    purged(two)
    yield 'purged: no unit that failed, and no file'


GROUPS = {'link': link, 'process': process, 'lacking': lacking, 'nics': nics,
          'ports': ports, 'bare': without_iommu, 'cuts': cuts, 'purge': purge}


def steps(*groups):
    unknown = set(groups) - set(GROUPS)
    expect(not unknown, f'no group {unknown}; there are {", ".join(GROUPS)}')
    be_alone()
    with both() as two:
        if not groups or not all(machine.ready().exists() for machine in two):
            for machine in two:
                machine.path('qcow2').unlink(missing_ok=True)
                machine.start()
            for machine in two:
                machine.await_up()
            yield 'two machines are up'
            yield from readme(*two)
            for machine in two:
                machine.freeze()
        for group in groups or GROUPS:
            for machine in two:
                machine.renew()
                machine.start()
            for machine in two:
                machine.await_up()
                await_serving(machine)
            yield from GROUPS[group](*two)


if __name__ == '__main__':
    sys.exit(run(steps(*sys.argv[1:])))
