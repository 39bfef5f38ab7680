#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Two machines in QEMU, dtn1 and dtn2, each with a NIC on PCI, an IOMMU and a systemd of its own.

    vm.py image ROOT [DEB...]   a disk for both of that Debian; the packages lie in admin's home
    vm.py start N [NIC]         e1000e (default), vmxnet3, virtio, igb (QEMU 8), none
    vm.py on N [COMMAND]        a command of root's there; without: waits until it is up
    vm.py monitor N COMMAND     QEMU's monitor: `set_link nic off`, `system_reset`, `quit`
    vm.py swap N NIC            another NIC in its place; nobody may use it under vfio then

All of it lies in $LAB (/var/tmp/wavehaul-vm), and a machine keeps its disk: `rm $LAB/dtn1.qcow2`
makes a new one. QEMU emulates (TCG): no /dev/kvm, no NIC and no network of the host is wanted, and
none is reached. $ON is what it runs under (`taskset -c 1`), $NICE how nice it is (15; -10 on a host
that has other work), $CPUS how many each has (2), IOMMU=no leaves that out.

A machine has `mgmt0`, by which this script comes (ssh on 127.0.0.1), `eth0` (198.51.100.N, between
the two), and on 0000:01:00.0 the NIC for data, joined to the other's; a test may give both another
on 0000:02:00.0.
"""

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'tools/packagelib'))

from machine import Operated  # noqa: E402
from harness import Failed, Skip, expect  # noqa: E402
from pair import wait_until  # noqa: E402

LAB = Path(os.environ.get('LAB', '/var/tmp/wavehaul-vm'))
KEY, DISK, DISK_SIZE = LAB / 'key', LAB / 'debian.img', '6G'
NIC, SECOND = '0000:01:00.0', '0000:02:00.0'
BOOT_S = 600

# Of QEMU's own network for mgmt0, of eth0, and of the NIC for data; N is the machine.
MAC = '52:54:00:00:{}:{}'

# On a busy host the kernel finds a timer dead, and panics. With the HPET the time of two CPUs once
# differed by 21 s, about 2^31 of its ticks, and all watchdogs barked; without it that was not seen.
KERNEL = 'root=/dev/vda rw console=ttyS0 no_timer_check tsc=reliable'

FILES = {
    'etc/fstab': '/dev/vda / ext4 defaults 0 1\n',
    'etc/hosts': '127.0.0.1 localhost\n198.51.100.1 dtn1\n198.51.100.2 dtn2\n',
    'etc/sudoers.d/admin': 'admin ALL=(ALL) NOPASSWD: ALL\n',
    'etc/apt/apt.conf.d/yes': 'APT::Get::Assume-Yes "true";\n',  # a reader says y
    'etc/machine-id': '',
    'etc/resolv.conf': '',
} | {f'etc/systemd/network/10-{name}.link':
     f'[Match]\nMACAddress={MAC.format("01", end)} {MAC.format("02", end)}\n[Link]\nName={name}\n'
     for name, end in (('mgmt0', '00'), ('eth0', '01'))
} | {f'etc/systemd/network/20-eth0-{n}.network':
     f'[Match]\nName=eth0\nHost=dtn{n}\n[Network]\nAddress=198.51.100.{n}/24\n' for n in (1, 2)
} | {'etc/systemd/network/20-mgmt0.network':
     '[Match]\nName=mgmt0\n[Network]\nAddress=10.0.2.15/24\nLinkLocalAddressing=no\n'}


def order(*command, **how):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, **how)
    expect(done.returncode == 0, f'{" ".join(map(str, command))}: {done.stdout}{done.stderr}')
    return done.stdout


def make_image(root, packages):
    """As a machine is handed to an operator: a user with sudo, who may come to the other by ssh."""
    root = Path(root)
    LAB.mkdir(parents=True, exist_ok=True)
    if not KEY.exists():
        order('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', KEY)
    (root / 'etc/hostname').unlink(missing_ok=True)
    (root / 'etc/resolv.conf').unlink(missing_ok=True)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if 'admin:' not in (root / 'etc/passwd').read_text():
        order('chroot', root, '/usr/sbin/useradd', '-m', '-s', '/bin/bash', '-G', 'sudo', 'admin')
    for home in ('root', 'home/admin'):
        folder = root / home / '.ssh'
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(KEY, folder / 'id_ed25519')
        shutil.copy(f'{KEY}.pub', folder / 'authorized_keys')
        (folder / 'config').write_text('Host *\n\tStrictHostKeyChecking accept-new\n')
    (root / 'var/log/journal').mkdir(exist_ok=True)  # it outlives a boot
    for package in packages:
        shutil.copy(package, root / 'home/admin')
    order('chroot', root, '/bin/chown', '-R', 'admin:', '/home/admin')
    order('chroot', root, '/bin/systemctl', '-q', 'enable', 'systemd-networkd', 'ssh')
    for name, kept in (('vmlinuz', 'vmlinuz-*'), ('initrd', 'initrd.img-*')):
        shutil.copy(max((root / 'boot').glob(kept)), LAB / name)
    for old in (DISK, *LAB.glob('dtn?.*qcow2')):
        old.unlink(missing_ok=True)
    order('truncate', '-s', DISK_SIZE, DISK)
    order('mkfs.ext4', '-q', '-F', '-d', root, DISK)


def device(nic, iommu):
    """QEMU's words for it."""
    if nic == 'virtio':
        return 'virtio-net-pci' + (',iommu_platform=on,disable-legacy=on,ats=on' if iommu else '')
    return nic


class Vm(Operated):
    """A machine that keeps its disk."""

    slowness = 6  # of TCG on a CPU that it shares

    def __init__(self, number):
        self.number, self.process = number, None
        self.iommu = os.environ.get('IOMMU') != 'no'

    def path(self, name):
        return LAB / f'dtn{self.number}.{name}'

    def pid(self):
        """0: it does not run."""
        with contextlib.suppress(OSError, ValueError):
            pid = int(self.path('pid').read_text())
            if f'dtn{self.number}' in Path(f'/proc/{pid}/cmdline').read_text():
                return pid
        return 0

    def socket_to(self, name):
        """A datagram socket, and the other machine's of that name."""
        other = Vm(3 - self.number).path(name)
        return (f'dgram,id={name},local.type=unix,local.path={self.path(name)},'
                f'remote.type=unix,remote.path={other}')

    def arguments(self, nic, second):
        def mac(end):
            return f'mac={MAC.format(f"0{self.number}", end)}'
        kernel = f'{KERNEL} systemd.hostname=dtn{self.number}'
        said = ['-machine', 'q35,hpet=off', '-accel', 'tcg,thread=multi', '-cpu', 'max',
                '-smp', os.environ.get('CPUS', '2'), '-m', '3G', '-name', f'dtn{self.number}',
                '-display', 'none', '-vga', 'none',
                '-nodefaults', '-no-user-config', '-kernel', LAB / 'vmlinuz',
                '-initrd', LAB / 'initrd',
                '-drive', f'file={self.path("qcow2")},if=virtio,cache=writeback,discard=unmap',
                '-serial', f'file:{self.path("console")}',
                '-monitor', f'unix:{self.path("monitor")},server,nowait',
                '-pidfile', self.path('pid'), '-device', 'virtio-rng-pci',
                '-netdev', f'user,id=mgmt,restrict=on,hostfwd=tcp:127.0.0.1:{self.port()}-:22',
                '-device', f'e1000,netdev=mgmt,{mac("00")}',
                '-netdev', self.socket_to('between'),
                '-device', f'virtio-net-pci,netdev=between,{mac("01")}',
                '-device', 'pcie-root-port,id=slot1,slot=1,chassis=1,addr=8',
                '-netdev', self.socket_to('link')]
        if nic != 'none':
            said += ['-device', f'{device(nic, self.iommu)},id=nic,netdev=link,bus=slot1,'
                     f'{mac("02")}']
        if second:
            said += ['-device', 'pcie-root-port,id=slot2,slot=2,chassis=2,addr=9',
                     '-netdev', self.socket_to('link2'),
                     '-device', f'{device(second, self.iommu)},id=nic2,netdev=link2,'
                     f'bus=slot2,{mac("03")}']
        if self.iommu:
            said += ['-device', 'intel-iommu,intremap=on,caching-mode=on,device-iotlb=on']
            kernel += ' intel_iommu=on'
        return list(map(str, [*said, '-append', kernel]))

    def start(self, nic='e1000e', second=None):
        expect(not self.pid(), f'dtn{self.number} runs')
        if not self.path('qcow2').exists():
            order('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', DISK, '-F', 'raw',
                  self.path('qcow2'))
        for name in ('link', 'link2', 'between', 'monitor', 'pid'):
            self.path(name).unlink(missing_ok=True)
        self.hang_up()
        log = open(self.path('qemu'), 'wb')
        self.process = subprocess.Popen(
            [*shlex.split(os.environ.get('ON', '')), 'nice', '-n', os.environ.get('NICE', '15'),
             'qemu-system-x86_64', *self.arguments(nic, second)], stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True)

    def ready(self):
        return self.path('ready.qcow2')

    def freeze(self):
        """It goes down in peace, and what its disk has is what renew() begins from."""
        self.run('systemctl', 'poweroff', check=False)
        wait_until(lambda: not self.pid(), BOOT_S, 'a machine that is off')
        self.cut_power()
        self.path('qcow2').rename(self.ready())

    def renew(self):
        self.cut_power()
        self.path('qcow2').unlink(missing_ok=True)
        order('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', self.ready(), '-F', 'qcow2',
              self.path('qcow2'))

    def boot(self, nic='e1000e'):
        self.start(nic)
        self.await_up()

    def await_up(self):
        wait_until(self.is_up, BOOT_S, f'dtn{self.number} that is up, see {self.path("console")}')

    def is_up(self):
        expect(self.process is None or self.process.poll() is None,
               f'QEMU ends: {self.path("qemu").read_text()}')
        with contextlib.suppress(Failed, subprocess.TimeoutExpired):
            return self.run('systemctl', 'is-system-running', check=False, timeout=10) in (
                'running', 'degraded')
        return False

    def monitor(self, *command):
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.path('monitor')))
            monitor.settimeout(5)
            answers = []
            with contextlib.suppress(ConnectionResetError, TimeoutError):
                for said in ('', ' '.join(command) + '\n'):
                    monitor.sendall(said.encode())
                    answers.append('')
                    while not answers[-1].endswith('(qemu) '):
                        part = monitor.recv(65536).decode(errors='replace')
                        if not part:
                            break
                        answers[-1] += part
        return answers[-1]

    def cable(self, state, nic='nic'):
        self.monitor('set_link', nic, state)

    def swap(self, nic):
        self.monitor('device_del', 'nic')
        wait_until(lambda: 'id "nic"' not in self.monitor('info', 'qtree'), 60, 'an empty slot')
        self.monitor('device_add', f'{device(nic, self.iommu)},id=nic,netdev=link,bus=slot1,'
                                   f'mac={MAC.format(f"0{self.number}", "02")}')

    def cut_power(self):
        """Its kernel hears nothing of it, and what that has not written is lost."""
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
        wait_until(lambda: not self.pid(), 10, 'an end of QEMU')
        self.hang_up()

    def reset(self):
        """As by its button."""
        self.monitor('system_reset')
        self.hang_up()
        self.await_up()

    def reboot(self):
        self.run('systemctl', 'reboot', check=False)
        self.hang_up()
        wait_until(lambda: not self.is_up(), BOOT_S, 'a machine that goes down')
        self.await_up()

    def port(self):
        return 22220 + self.number

    def hang_up(self):
        subprocess.run(['ssh', '-O', 'exit', '-o', f'ControlPath={self.path("ssh")}', 'lab'],
                       capture_output=True, check=False)
        self.path('ssh').unlink(missing_ok=True)

    def inside(self, *command):
        """One connection carries all: its handshake takes an emulated CPU seconds."""
        return ['ssh', '-q', '-i', str(KEY), '-p', str(self.port()), '-o', 'LogLevel=ERROR',
                '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null',
                '-o', 'ConnectTimeout=20', '-o', 'ServerAliveInterval=20',
                '-o', 'ControlMaster=auto', '-o', f'ControlPath={self.path("ssh")}',
                '-o', 'ControlPersist=600', 'root@127.0.0.1',
                shlex.join(map(str, command))]


@contextlib.contextmanager
def both():
    """They end with it."""
    if not shutil.which('qemu-system-x86_64') or not DISK.exists():
        raise Skip('no QEMU, or no disk of vm.py image')
    two = [Vm(1), Vm(2)]
    try:
        yield two
    finally:
        for vm in two:
            vm.cut_power()


def main(verb, *words):
    if verb == 'image':
        make_image(words[0], words[1:])
        return 0
    vm, rest = Vm(int(words[0])), words[1:]
    if verb == 'on' and rest:
        return subprocess.run(vm.inside('sh', '-c', ' '.join(rest)), check=False).returncode
    if verb == 'monitor':
        print(vm.monitor(*rest))
        return 0
    {'on': vm.await_up, 'start': vm.start, 'swap': vm.swap}[verb](*rest)
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main(*sys.argv[1:]))
    except Failed as failed:
        sys.exit(str(failed))
