#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul nic` before made-up machines, whose files a thread answers as the kernel does.

    nic.py [-k PATTERN] [--binary PATH]
"""

import contextlib
import functools
import os
import sys
import threading
from pathlib import Path

from doctor import (BINARY, CONNECTX, DATA, DEFAULT_ROUTE, HARDWARE, IXGBE, MODULES, NO_IOMMU,
                    NO_SUCH_FILE, OFFICE, OK, OTHER_DATA, PCI, ROUTED, USAGE, Link, bare_nic,
                    connected, group, nic, perfect, routes, write_tree)
from harness import Case, Skip, expect, expect_equal, expect_said, expect_status, run_cases

DRIVERS = '/sys/bus/pci/drivers'
RULES = '/etc/udev/rules.d'
GROUP = group(7, DATA)
STAY = f"{DATA} .ens1f0. stays the system's: "


class Kernel:
    """The PCI bus below a folder: unbind and drivers_probe are pipes that it reads.

    A NIC gets the driver of its driver_override, or else its own; `refused` takes none."""

    def __init__(self, root, own, refused=()):
        self.root, self.own, self.refused = root, own, refused
        self.log, self.ends = [], threading.Event()
        for address in own:
            self.path(f'{PCI}/{address}/driver_override').write_text('(null)\n')
        self.probe = self.pipe('/sys/bus/pci/drivers_probe')
        self.unbind = {driver: self.pipe(f'{DRIVERS}/{driver}/unbind')
                       for driver in ('ixgbe', 'vfio-pci', 'uio_pci_generic')}
        self.path(RULES).mkdir(parents=True)

    def path(self, name):
        return self.root / name.lstrip('/')

    def pipe(self, name):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        # With a writer of its own it never ends.
        return os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def driver(self, address):
        link = self.path(f'{PCI}/{address}/driver')
        return link.readlink().name if link.is_symlink() else None

    def set_driver(self, address, driver):
        link = self.path(f'{PCI}/{address}/driver')
        link.unlink(missing_ok=True)
        if driver:
            link.symlink_to(f'../../drivers/{driver}')

    def override(self, address):
        return self.path(f'{PCI}/{address}/driver_override').read_text().strip()

    def read(self, pipe):
        try:
            return os.read(pipe, 100).decode()
        except BlockingIOError:
            return ''

    def turn(self):
        """What came by drivers_probe came after what came by unbind."""
        probed = self.read(self.probe)
        for driver, pipe in self.unbind.items():
            if address := self.read(pipe):
                self.log.append(f'unbind {driver} {address}')
                self.set_driver(address, None)
        if probed:
            driver = self.override(probed) or self.own[probed]
            self.log.append(f'probe {probed} {driver}')
            if driver not in self.refused and not self.driver(probed):
                self.set_driver(probed, driver)

    def serve(self):
        while not self.ends.wait(0.002):
            self.turn()

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self.serve)
        thread.start()
        try:
            yield self
        finally:
            self.ends.set()
            thread.join(10)


@contextlib.contextmanager
def machine(folder, *changes, refused=()):
    files = perfect()
    for one in changes:
        files |= one
    write_tree(folder, files)
    own = {address: 'ixgbe' for address in (DATA, OTHER_DATA)
           if files.get(f'{PCI}/{address}/class')}
    with Kernel(folder, own, refused).running() as kernel:
        yield kernel


def rule_of(kernel, address):
    path = kernel.path(f'{RULES}/71-wavehaul-{address}.rules')
    return path.read_text() if path.exists() else None


def expect_rule(kernel, address, driver):
    rule = rule_of(kernel, address)
    expect(rule, f'no rule for {address}')
    line = rule.splitlines()[1]
    for part in ('ACTION=="add"', 'SUBSYSTEM=="pci"', f'KERNEL=="{address}"',
                 'ATTR{vendor}=="0x8086"', 'ATTR{device}=="0x10fb"', f'DRIVER!="{driver}"',
                 f'ATTR{{driver_override}}="{driver}"', f'RUN{{builtin}}+="kmod load {driver}"'):
        expect(part in line.split(', '), f'{part} is not in the rule: {rule}')


def there_and_back(program, folder, changes, driver, said):
    with machine(folder, bare_nic(IXGBE), *changes) as kernel:
        result = program.run('nic', 'bind', DATA.removeprefix('0000:'), '--root', folder)
        expect_status(result, OK)
        expect_equal('the driver', kernel.driver(DATA), driver)
        expect_rule(kernel, DATA, driver)
        for text in (f'{DATA} (8086:10fb) has the driver {driver}', 'ens1f0', f'port = {DATA}',
                     *said):
            expect(text in result.out, f'{text!r} is not said: {result.out}')
        expect_equal('what the kernel was told', kernel.log,
                     [f'unbind ixgbe {DATA}', f'probe {DATA} {driver}'])

        again = program.run('nic', 'bind', DATA, '--root', folder)
        expect_status(again, OK)
        expect_equal('what the kernel was told again', len(kernel.log), 2)

        result = program.run('nic', 'release', DATA, '--root', folder)
        expect_status(result, OK)
        expect_equal('the driver', kernel.driver(DATA), 'ixgbe')
        expect_equal('the rule', rule_of(kernel, DATA), None)
        expect_equal('what overrides', kernel.override(DATA), '')
        expect("is the kernel's, by ixgbe" in result.out, result.out)


def refusal(program, folder, changes, said, status=HARDWARE, words=('bind', DATA)):
    with machine(folder, *changes) as kernel:
        result = program.run('nic', *words, '--root', folder)
        expect_status(result, status)
        expect_said(result, said)
        expect_equal('what the kernel was told', kernel.log, [])
        expect_equal('rules', os.listdir(kernel.path(RULES)), [])


def of_a_group(program, folder):
    """The NICs of a group change hands together."""
    with machine(folder, bare_nic(IXGBE, nic(OTHER_DATA, 'ixgbe'),
                                  group(7, DATA, OTHER_DATA))) as kernel:
        alone = program.run('nic', 'bind', DATA, '--root', folder)
        expect_status(alone, HARDWARE)
        expect_said(alone, f'shares IOMMU group 7 with {OTHER_DATA}.*name both')
        expect_equal('what the kernel was told', kernel.log, [])
        expect_status(program.run('nic', 'bind', DATA, OTHER_DATA, '--root', folder), OK)
        for address in (DATA, OTHER_DATA):
            expect_equal('the driver', kernel.driver(address), 'vfio-pci')
            expect_rule(kernel, address, 'vfio-pci')


def refused_by_the_driver(program, folder):
    """The NIC has its driver again, and no rule."""
    with machine(folder, bare_nic(IXGBE), GROUP, refused=('vfio-pci',)) as kernel:
        result = program.run('nic', 'bind', DATA, '--root', folder)
        expect_status(result, HARDWARE)
        expect_said(result, f"vfio-pci does not take {DATA}.*is the kernel's as before")
        expect_equal('the driver', kernel.driver(DATA), 'ixgbe')
        expect_equal('the rule', rule_of(kernel, DATA), None)


def not_root(program, folder):
    if os.geteuid() == 0:
        result = program.run('nic', 'bind', DATA, under=('setpriv', '--reuid', '65534'))
        expect_status(result, HARDWARE)
        expect_said(result, 'only root.*sudo wavehaul nic bind')


def serve_it(program, folder, *options):
    """A server of the NIC, before that bus."""
    return program.run(
        'serve', '--verbose', '--port', DATA, '--addr', '192.0.2.1/24', '--root', folder,
        '--unsealed', '--buffers', '64M', *options,
        under=('unshare', '-m', 'sh', '-c',
               f'mount --bind {folder}/sys/bus/pci /sys/bus/pci && exec "$@"', 'sh'))


def served_without_iommu(program, folder):
    """EAL is told that addresses are physical, and only hugepages have such."""
    if os.geteuid() != 0:
        raise Skip('only root mounts')
    write_tree(folder, bare_nic(nic(DATA, 'uio_pci_generic'), NO_IOMMU))
    result = serve_it(program, folder, '--no-huge')
    expect_status(result, HARDWARE)
    expect_said(result, 'wants hugepages: sysctl -w vm.nr_hugepages=')
    result = serve_it(program, folder)
    expect_status(result, HARDWARE)  # there is nothing behind the files
    if 'wants hugepages' not in result.err:
        expect_said(result, r'no IOMMU: memory is addressed physically \(--iova-mode=pa\)')
        expect('--iova-mode=pa -a' in result.err, result.err)


def served_of_the_kernel(program, folder):
    if os.geteuid() != 0:
        raise Skip('only root mounts')
    write_tree(folder, bare_nic(IXGBE))
    result = serve_it(program, folder)
    expect_status(result, HARDWARE)
    expect_said(result, "has the driver ixgbe, not DPDK's: `sudo wavehaul nic bind")


USED = {'/proc/812/comm': 'wavehaul', '/proc/812/fd/9': Link('/dev/vfio/7')}
REFUSALS = {
    'default route': ((bare_nic(IXGBE), GROUP, routes(('ens1f0',) + DEFAULT_ROUTE[1:])),
                      STAY + 'it has the default route'),
    'ssh': ((bare_nic(IXGBE), GROUP, ROUTED, connected(22, '0902A8C0')),
            STAY + '192.168.2.9 is connected to TCP port 22 through it'),
    'bond': ((bare_nic(IXGBE), GROUP, {f'{PCI}/{DATA}/net/ens1f0/upper_bond0': Link('../bond0')}),
             STAY + 'it is part of bond0'),
    'in place': ((CONNECTX,), 'DPDK works beside mlx5_core'),
    'unknown to DPDK': ((nic(DATA, 'r8169', 'enp3s0'),), 'DPDK 22.11 has no driver'),
    'group with a disk': ((bare_nic(IXGBE), group(7, DATA, '0000:00:1f.2'),
                           {f'{PCI}/0000:00:1f.2/driver': Link('../../bus/pci/drivers/ahci')}),
                          r'shares IOMMU group 7 with 0000:00:1f.2 \(ahci\)'),
    'group with the office': ((bare_nic(IXGBE), group(7, DATA, OFFICE)),
                              rf'shares IOMMU group 7 with {OFFICE} \(igb\)'),
    'in use': ((GROUP, USED), r'in use by wavehaul \(process 812\): stop that first', HARDWARE,
               ('release', DATA)),
    'no such NIC': ((), 'there is no NIC 0000:99:00.0', NO_SUCH_FILE, ('bind', '0000:99:00.0')),
    'no such act': ((), 'nic takes bind NIC', USAGE, ('bnid', DATA)),
    'no NIC named': ((), 'nic takes bind NIC', USAGE, ('bind',)),
}

CASES = [
    Case('vfio', True, functools.partial(there_and_back, changes=(GROUP,), driver='vfio-pci',
                                         said=())),
    Case('uio', True, functools.partial(
        there_and_back, changes=(NO_IOMMU,), driver='uio_pci_generic', said=('only root',))),
    Case('group', True, of_a_group),
    Case('refused by the driver', True, refused_by_the_driver),
    Case('not root', True, not_root),
    Case('served without an IOMMU', True, served_without_iommu),
    Case("served of the kernel's", True, served_of_the_kernel),
] + [Case(f'refused: {name}', True, functools.partial(
    refusal, changes=row[0], said=row[1], **dict(zip(('status', 'words'), row[2:]))))
    for name, row in REFUSALS.items()]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
