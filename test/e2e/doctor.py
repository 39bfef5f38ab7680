#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul doctor` before made-up machines: trees of the files in which a kernel tells of itself.

    doctor.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import functools
import json
import os
import re
import sys
from pathlib import Path

from harness import (Case, Failed, Skip, expect, expect_equal, expect_said, expect_status,
                     run_cases)

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE, NO_SUCH_FILE, HARDWARE = 0, 2, 3, 7
NOBODY = 65534

CPU, NODE, PCI = '/sys/devices/system/cpu', '/sys/devices/system/node', '/sys/bus/pci/devices'
CLOCK = '/sys/devices/system/clocksource/clocksource0'
PAGES = '/sys/kernel/mm/hugepages/hugepages-2048kB'
KNOB = '/sys/module/vfio/parameters/enable_unsafe_noiommu_mode'
RELEASE = '6.1.0-18-amd64'
MODULES = f'/lib/modules/{RELEASE}'
VFIO_MODULE = 'kernel/drivers/vfio/pci/vfio-pci.ko'

DATA, OTHER_DATA, OFFICE = '0000:3b:00.0', '0000:3b:00.1', '0000:02:00.0'
FLAGS = 'fpu sse sse2 ssse3 sse4_1 sse4_2 avx2 avx512f constant_tsc nonstop_tsc'

# What the doctor may tell anybody to run, and nothing else.
BIND = f'wavehaul nic bind {DATA}'
GOVERNOR = f'echo performance | tee {CPU}/cpu*/cpufreq/scaling_governor'
SET_TSC = f'echo tsc > {CLOCK}/current_clocksource'
TRUST_TSC = ('echo \'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX tsc=reliable"\' '
             '> /etc/default/grub.d/wavehaul-tsc.cfg && update-grub')
INTEL_IOMMU = ('echo \'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX intel_iommu=on iommu=pt"\' '
               '> /etc/default/grub.d/wavehaul-iommu.cfg && update-grub')
MEMLOCK = 'sudo prlimit --pid $$ --memlock=unlimited'
GUEST_CPU = 'virt-xml GUEST --edit --cpu host-passthrough'

ORDER = ['kernel', 'dpdk', 'rights', 'cpu', 'vectors', 'cpus', 'isolation', 'governor', 'smt',
         'clock', 'tsc', 'hugepages', 'placement', 'node 0', 'memlock', 'sockets', 'iommu',
         'vfio-pci', f'nic {OFFICE}', f'nic {DATA}', 'io_uring', 'room']


class Link(str):
    """A symbolic link's target."""


def cpuinfo(flags=FLAGS, vendor='GenuineIntel', model='Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz'):
    one = f'vendor_id\t: {vendor}\nmodel name\t: {model}\nflags\t\t: {flags}\nvmx flags\t: x\n'
    return {'/proc/cpuinfo': ''.join(f'processor\t: {cpu}\n{one}\n' for cpu in range(4))}


def process(uid=0, capabilities='000001ffffffffff', memlock='8388608', cpus='0-3'):
    return {
        '/proc/self/status': f'Name:\twavehaul\nUid:\t1000\t{uid}\t{uid}\t{uid}\n'
                             f'CapEff:\t{capabilities}\nCpus_allowed:\tf\n'
                             f'Cpus_allowed_list:\t{cpus}\n',
        '/proc/self/limits': 'Limit                     Soft Limit           Hard Limit\n'
                             f'Max locked memory         {memlock:<20} 8388608       bytes\n',
    }


def pages(total, free, folder=PAGES):
    return {f'{folder}/nr_hugepages': total, f'{folder}/free_hugepages': free}


def running(pid, name, kib):
    """A program that holds so much of hugepages."""
    return {f'/proc/{pid}/status': f'Name:\t{name}\nHugetlbPages:\t{kib:>8} kB\n'}


def node_pages(node, total, free=None, size='2048kB'):
    return pages(total, total if free is None else free,
                 f'{NODE}/node{node}/hugepages/hugepages-{size}')


def nic(address, driver, interface=None, ids=(0x8086, 0x10fb), code='0x020000', node=0, below=''):
    """A PCI device; None for the driver: it has none."""
    folder = f'{PCI}/{address}'
    files = {f'{folder}/class': code, f'{folder}/numa_node': node,
             f'{folder}/vendor': f'{ids[0]:#06x}', f'{folder}/device': f'{ids[1]:#06x}',
             f'{folder}/driver': driver and Link(f'../../../bus/pci/drivers/{driver}')}
    if interface:
        net = f'{folder}{below}/net/{interface}'
        files |= {f'{net}/carrier': 1, f'{net}/speed': 10000, f'{net}/mtu': 9000}
    return files


def group(number, *addresses):
    """An IOMMU group."""
    files = {}
    for address in addresses:
        files |= {f'{PCI}/{address}/iommu_group': Link(f'../../../kernel/iommu_groups/{number}'),
                  f'/sys/kernel/iommu_groups/{number}/devices/{address}': Link(f'../{address}')}
    return files


def connected(port, peer, listens=None, six=False):
    """TCP connections of this host as /proc/net/tcp has them: that port, by that peer's address."""
    zeros = '0' * (32 if six else 8)
    rows = [f'{zeros}:{port:04X} {peer}:C350 01'] if peer else []
    if listens:
        rows.append(f'{zeros}:{listens:04X} {zeros}:0000 0A')
    head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n'
    return {'/proc/net/tcp6' if six else '/proc/net/tcp': head + ''.join(
        f'{at:4}: {row} 00000000:00000000 00:00000000 00000000 0 0 1\n'
        for at, row in enumerate(rows))}


def routes(*lines, six=()):
    head = 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n'
    four = ''.join(f'{interface}\t{to}\t0100000A\t0003\t0\t0\t0\t{mask}\t0\t0\t0\n'
                   for interface, to, mask in lines)
    zeros = '0' * 32
    six = ''.join(f'{to:0<32} {prefix} {zeros} 00 {zeros} 00000400 00000002 00000000 00000003 '
                  f'{interface:>8}\n' for interface, prefix, to in six)
    return {'/proc/net/route': head + four, '/proc/net/ipv6_route': six}


DEFAULT_ROUTE = ('eno1', '00000000', '00000000')


def perfect():
    """Four CPUs, two of them isolated; one port is DPDK's, the other is the office's."""
    files = cpuinfo() | process() | pages(1024, 1024) | node_pages(0, 1024)
    files |= node_pages(0, 2, 1, '1048576kB')
    files |= nic(DATA, 'vfio-pci') | nic(OFFICE, 'igb', 'eno1', (0x8086, 0x1521))
    files |= routes(DEFAULT_ROUTE)
    files |= {
        '/proc/sys/kernel/osrelease': RELEASE,
        '/proc/sys/kernel/io_uring_disabled': 0,
        '/proc/sys/net/core/rmem_max': 8 << 20,
        f'{CPU}/isolated': '2-3', f'{CPU}/nohz_full': '2-3',
        f'{CLOCK}/current_clocksource': 'tsc', f'{CLOCK}/available_clocksource': 'tsc hpet acpi_pm',
        f'{NODE}/online': '0',
        f'{NODE}/node0/meminfo': 'Node 0 MemTotal:       67108864 kB\n'
                                 'Node 0 MemFree:        33554432 kB\n',
        '/sys/class/iommu/dmar0': Link('../../devices/virtual/iommu/dmar0'),
        '/sys/class/iommu/dmar1': Link('../../devices/virtual/iommu/dmar1'),
        '/sys/module/vfio_pci/refcnt': 1,
        f'{PCI}/0000:00:1f.2/class': '0x010601',
    }
    for cpu in range(4):
        files |= {f'{CPU}/cpu{cpu}/cpufreq/scaling_governor': 'performance',
                  f'{CPU}/cpu{cpu}/topology/thread_siblings_list': cpu}
    return files


def without(*prefixes):
    """A perfect machine, except for these files."""
    return {path: None for path in perfect() if path.startswith(prefixes)}


def bare_nic(*more):
    """Only the office's port, or the given ones, and nothing prepared for DPDK."""
    files = without(f'{PCI}/{DATA}')
    for one in more:
        files |= one
    return files


NO_IOMMU, NO_VFIO = without('/sys/class/iommu'), without('/sys/module/vfio_pci')
AMD = cpuinfo(vendor='AuthenticAMD')
GUEST = cpuinfo(FLAGS + ' hypervisor')
USER = process(1000, '0000000000000000')
IXGBE = nic(DATA, 'ixgbe', 'ens1f0')
CONNECTX = nic(DATA, 'mlx5_core', 'ens1f0np0', (0x15b3, 0x101d))
ROUTED = routes(DEFAULT_ROUTE, ('eno1', '0003A8C0', '00FFFFFF'),
                ('ens1f0', '0002A8C0', '00FFFFFF'))
ROUTED_SIX = routes(DEFAULT_ROUTE, six=[('lo', '80', ''), ('ens1f0', '40', '20010db8')])
VERBS = {f'{PCI}/{DATA}/infiniband_verbs/uverbs0/abi_version': 1}
UIO = {f'{MODULES}/modules.dep': 'kernel/drivers/uio/uio_pci_generic.ko.xz: u\n'}
ON_NODE_1 = {f'{NODE}/online': '0-1', f'{PCI}/{DATA}/numa_node': 1}

# name -> (what differs from the perfect machine,
#          check -> (verdict, what its text must hold[, the command that repairs it])).
# All checks that are not named are good or info, as on the perfect machine.
MACHINES = {
    'perfect': ({}, {
        'kernel': ('info', f'Linux {re.escape(RELEASE)}$'),
        'dpdk': ('info', r'DPDK 2\d\.\d'),
        'rights': ('good', '^root$'),
        'cpu': ('good', r'^Intel\(R\) Xeon\(R\) Gold 6338 CPU @ 2.00GHz, with SSE4.2'),
        'vectors': ('info', 'AVX2 yes, AVX-512 yes'),
        'cpus': ('good', '^4 .*0-3$'),
        'isolation': ('good', 'isolated: 2-3, .*tick: 2-3'),
        'governor': ('good', 'performance'),
        'smt': ('info', '^none'),
        'clock': ('good', 'TSC'),
        'tsc': ('good', '^invariant'),
        'hugepages': ('good', r'^1024 of 2 MiB are free, and the demo takes 5\d\d \(1\.[01]'),
        'placement': ('good', 'one node'),
        'node 0': ('info', '^64.0 GiB, 32.0 GiB free; hugepages of 2 MiB: 1024, 1024 free; '
                           'of 1 GiB: 2, 1 free$'),
        'memlock': ('good', 'no limit'),
        'sockets': ('good', '^8.00 MiB may wait'),
        'iommu': ('good', '2 units'),
        'vfio-pci': ('good', 'there'),
        f'nic {DATA}': ('good', "^8086:10fb, vfio-pci, node 0: DPDK's$"),
        f'nic {OFFICE}': ('info', '^8086:1521, igb, node 0, eno1: link, 10.0 Gb/s, MTU 9000: '
                                  'has the default route'),
        'io_uring': ('good', 'not switched off'),
        'room': ('info', ''),
    }),

    'no hugepages': (pages(0, 0) | node_pages(0, 0), {
        'hugepages': ('bad', 'a line vm.nr_hugepages=800 in /etc/sysctl.d/',
                      'sysctl -w vm.nr_hugepages=800'),
        'node 0': ('bad', f'NIC {DATA} is here',
                   f'echo 800 > {NODE}/node0/hugepages/hugepages-2048kB/nr_hugepages')}),
    'hugepages of others': (pages(1024, 100), {
        'hugepages': ('bad', '^1024 of 2 MiB, 100 free', 'sysctl -w vm.nr_hugepages=1724')}),
    'hugepages of a server': (pages(1024, 100) | running(700, 'wavehaul', 924 * 2048), {
        'hugepages': ('good', '^1024 of 2 MiB, 100 free, 924 in use by 1 running wavehaul;')}),
    'hugepages of a small server': (
        pages(1024, 100) | running(7, 'wavehaul', 200 * 2048) | running(8, 'other', 724 * 2048) |
        running(9, 'wavehaul', 100 * 2048), {
            'hugepages': ('bad', '^1024 of 2 MiB, 100 free, 300 in use by 2 running wavehaul,',
                          'sysctl -w vm.nr_hugepages=1424')}),
    'no pool of hugepages': (without(PAGES), {'hugepages': ('info', 'no pages of 2 MiB')}),
    'NIC on a bare node': (ON_NODE_1 | node_pages(1, 0), {
        'node 0': ('info', '1024 free'),
        'node 1': ('bad', f'NIC {DATA} is here',
                   f'echo 800 > {NODE}/node1/hugepages/hugepages-2048kB/nr_hugepages'),
        'placement': ('info', '2 nodes')}),
    'bare node without NIC': ({f'{NODE}/online': '0-1'} | node_pages(1, 0), {
        'node 1': ('info', 'hugepages of 2 MiB: 0, 0 free')}),
    'NIC on its node': (ON_NODE_1 | node_pages(1, 512), {'node 1': ('info', '512 free')}),

    'no SSE4.2': (cpuinfo('sse sse4_1 constant_tsc nonstop_tsc'), {
        'cpu': ('bad', 'without the SSE4.2', None), 'vectors': ('info', 'AVX2 no, AVX-512 no')}),
    'no SSE4.2 in a guest': (cpuinfo('constant_tsc nonstop_tsc hypervisor'), {
        'cpu': ('bad', 'host of this guest', GUEST_CPU)}),
    'TSC that varies': (cpuinfo('sse4_2 constant_tsc nonstop_tsc_s3'), {
        'tsc': ('bad', 'constant_tsc yes, nonstop_tsc no', None)}),
    'TSC that varies in a guest': (cpuinfo('sse4_2 hypervisor'), {
        'tsc': ('bad', 'constant_tsc no, nonstop_tsc no', GUEST_CPU + ',require=invtsc')}),
    'one CPU': (process(cpus='2'), {'cpus': ('info', r'^1 .*\(2\)')}),
    'CPUs in pieces': (process(cpus='0,2-3'), {'cpus': ('good', '^3 .*: 0,2-3$')}),
    'no CPU is isolated': ({f'{CPU}/isolated': '', f'{CPU}/nohz_full': ' (null)'}, {
        'isolation': ('info', r'isolated \(isolcpus=\): none, .*: none;')}),
    'isolated CPUs are barred': (process(cpus='0-1'), {
        'isolation': ('info', 'taskset -c 2-3 wavehaul')}),
    'powersave on one CPU': ({f'{CPU}/cpu3/cpufreq/scaling_governor': 'powersave'}, {
        'governor': ('bad', 'powersave, not performance, on CPU 3$', GOVERNOR)}),
    'powersave on three CPUs': ({f'{CPU}/cpu{n}/cpufreq/scaling_governor': 'schedutil'
                                 for n in (0, 1, 3)}, {
        'governor': ('bad', 'schedutil, .* on CPU 0-1,3$', GOVERNOR)}),
    "powersave on others' CPU": (process(cpus='0-2')
                                 | {f'{CPU}/cpu3/cpufreq/scaling_governor': 'powersave'}, {
        'governor': ('good', 'performance')}),
    'no governors': ({f'{CPU}/cpu{n}/cpufreq/scaling_governor': None for n in range(4)}, {
        'governor': ('good', 'as in a VM')}),
    'SMT': ({f'{CPU}/cpu{n}/topology/thread_siblings_list': f'{n % 2},{n % 2 + 2}'
             for n in range(4)}, {'smt': ('info', ': 0,2 1,3$')}),

    'clock hpet': ({f'{CLOCK}/current_clocksource': 'hpet'}, {
        'clock': ('bad', 'hpet, not the TSC', SET_TSC)}),
    'clock hpet, TSC refused': ({f'{CLOCK}/current_clocksource': 'hpet',
                                 f'{CLOCK}/available_clocksource': 'hpet acpi_pm tsc-early'}, {
        'clock': ('bad', 'hpet: .*unsteady', TRUST_TSC)}),
    'clock of KVM': ({f'{CLOCK}/current_clocksource': 'kvm-clock'}, {
        'clock': ('info', 'kvm-clock')}),

    'NIC at ixgbe': (bare_nic(IXGBE), {
        f'nic {DATA}': ('bad', "^8086:10fb, ixgbe, node 0, ens1f0: link, 10.0 Gb/s, MTU 9000: the "
                               "kernel's$", BIND)}),
    'NIC at ixgbe, another ready': (IXGBE | nic(OTHER_DATA, 'vfio-pci'), {
        f'nic {OTHER_DATA}': ('good', ''),
        f'nic {DATA}': ('info', f'to hand it over: {BIND}$')}),
    'NIC at ixgbe, routed': (bare_nic(IXGBE, routes(DEFAULT_ROUTE,
                                                    ('ens1f0', '0000A8C0', '00FFFFFF'))), {
        f'nic {DATA}': ('bad', 'routes go', BIND)}),
    'NIC at ixgbe, routed, another free': (
        bare_nic(IXGBE, nic(OTHER_DATA, 'ixgbe'),
                 routes(DEFAULT_ROUTE, ('ens1f0', '0000A8C0', '00FFFFFF'))), {
            f'nic {OTHER_DATA}': ('bad', "the kernel's$", f'wavehaul nic bind {OTHER_DATA}'),
            f'nic {DATA}': ('info', "the kernel's, and in use; to hand it over, and its addresses "
                                    f'and routes go: {BIND}$')}),
    'NIC at ixgbe, half of all routes': (
        bare_nic(IXGBE, routes(DEFAULT_ROUTE, ('ens1f0', '00000000', '00000080'))), {
            f'nic {DATA}': ('bad', 'routes go', BIND)}),
    'NIC at ixgbe, default route': (bare_nic(IXGBE, routes(('ens1f0',) + DEFAULT_ROUTE[1:]),
                                             without(f'{PCI}/{OFFICE}')), {
        f'nic {DATA}': ('info', 'has the default route')}),
    'NIC at ixgbe, default route of IPv6': (
        bare_nic(IXGBE, routes(DEFAULT_ROUTE, six=[('lo', '00', ''), ('ens1f0', '00', '')])), {
            f'nic {DATA}': ('info', 'has the default route')}),
    'NIC at ixgbe, others of IPv6': (
        bare_nic(IXGBE, routes(DEFAULT_ROUTE, six=[('lo', '00', ''), ('ens1f0', '40', '')])), {
            f'nic {DATA}': ('bad', "the kernel's$", BIND)}),
    'NIC at ixgbe, with somebody by ssh': (
        bare_nic(IXGBE, ROUTED, connected(22, '0902A8C0')), {
            f'nic {DATA}': ('info', ': 192.168.2.9 is connected to TCP port 22 through it, so it '
                                    "stays the system's")}),
    'NIC at ixgbe, with somebody by another port': (
        bare_nic(IXGBE, ROUTED, connected(2222, '0902A8C0', listens=2222)), {
            f'nic {DATA}': ('info', '192.168.2.9 is connected to TCP port 2222')}),
    'NIC at ixgbe, with somebody by ssh of IPv6': (
        bare_nic(IXGBE, ROUTED_SIX, connected(22, 'B80D0120000000000000000009000000', six=True)), {
            f'nic {DATA}': ('info', '2001:db8::9 is connected to TCP port 22')}),
    'NIC at ixgbe, with somebody by ssh of mapped IPv4': (
        bare_nic(IXGBE, ROUTED, connected(22, '0000000000000000FFFF00000902A8C0', six=True)), {
            f'nic {DATA}': ('info', '192.168.2.9 is connected to TCP port 22')}),
    'NIC at ixgbe, ssh to elsewhere': (
        bare_nic(IXGBE, ROUTED, connected(40000, '0902A8C0')), {
            f'nic {DATA}': ('bad', 'routes go', BIND)}),
    'NIC at ixgbe, ssh by the office': (
        bare_nic(IXGBE, ROUTED, connected(22, '0903A8C0')), {
            f'nic {DATA}': ('bad', 'routes go', BIND)}),
    'NICs of a group': (
        bare_nic(IXGBE, nic(OTHER_DATA, 'ixgbe'), group(7, DATA, OTHER_DATA)), {
            f'nic {DATA}': ('bad', "kernel's$", f'{BIND} {OTHER_DATA}'),
            f'nic {OTHER_DATA}': ('bad', "kernel's$", f'wavehaul nic bind {OTHER_DATA} {DATA}')}),
    'NICs of a group, one bound': (
        nic(OTHER_DATA, 'ixgbe') | group(7, DATA, OTHER_DATA), {
            f'nic {DATA}': ('bad', f'shares IOMMU group 7 with {OTHER_DATA}, ',
                            f'wavehaul nic bind {OTHER_DATA}'),
            f'nic {OTHER_DATA}': ('info', f'hand it over: wavehaul nic bind {OTHER_DATA}$')}),
    'NIC in a group with a disk': (
        bare_nic(IXGBE, group(7, DATA, '0000:00:1f.2'),
                 {f'{PCI}/0000:00:1f.2/driver': Link('../../bus/pci/drivers/ahci')}), {
            f'nic {DATA}': ('info', r'shares IOMMU group 7 with 0000:00:1f.2 \(ahci\)')}),
    'NIC in a group with the office': (bare_nic(IXGBE, group(7, DATA, OFFICE)), {
        f'nic {DATA}': ('info', rf'shares IOMMU group 7 with {OFFICE} \(igb\)')}),
    'NIC in a bond': (bare_nic(IXGBE, {f'{PCI}/{DATA}/net/ens1f0/upper_bond0': Link('../bond0')}), {
        f'nic {DATA}': ('info', "part of bond0, so it stays the system's")}),
    'NIC without link': (bare_nic(IXGBE, {f'{PCI}/{DATA}/net/ens1f0/carrier': 0,
                                          f'{PCI}/{DATA}/net/ens1f0/speed': -1}), {
        f'nic {DATA}': ('bad', 'ens1f0: no link, unknown speed, MTU 9000', BIND)}),
    'NIC without driver': (nic(DATA, None), {f'nic {DATA}': ('bad', "no driver.*nobody's", BIND)}),
    'NIC at virtio': (bare_nic(nic(DATA, 'virtio-pci', 'eth1', (0x1af4, 0x1041), node=-1,
                                   below='/virtio3')), {
        f'nic {DATA}': ('bad', '^1af4:1041, virtio-pci, eth1: link', BIND)}),
    'NIC at uio': (nic(DATA, 'uio_pci_generic'), {
        f'nic {DATA}': ('info', f"DPDK's, but no IOMMU.* for the service: wavehaul nic release "
                                f'{DATA}, and port = af_packet')}),
    'NIC unknown to DPDK': (nic(DATA, 'r8169', 'enp3s0'), {
        f'nic {DATA}': ('info', 'r8169.*nothing for DPDK')}),
    'wireless': (nic(DATA, None, code='0x028000'), {f'nic {DATA}': ('info', 'nothing for DPDK')}),
    'NIC of Amazon': (nic(DATA, 'vfio-pci', ids=(0x1d0f, 0xec20)), {
        f'nic {DATA}': ('good', "DPDK's; it carries 10 Gb/s a flow at most: .*--queues")}),
    'NIC in place': (CONNECTX | VERBS | NO_IOMMU | NO_VFIO, {
        f'nic {DATA}': ('good', '^15b3:101d, mlx5_core, node 0, ens1f0np0: link, .*beside it'),
        'iommu': ('info', 'no NIC here needs one'), 'vfio-pci': ('info', 'no NIC here needs it')}),
    'NIC in place beside ixgbe': (CONNECTX | VERBS | nic(OTHER_DATA, 'ixgbe') | NO_IOMMU
                                  | NO_VFIO, {
        f'nic {OTHER_DATA}': ('info', 'to hand it over'),
        'iommu': ('info', 'no NIC here needs one'), 'vfio-pci': ('info', 'no NIC here needs it')}),
    'NIC in place of two ports': (CONNECTX | VERBS | {f'{PCI}/{DATA}/net/ens1f9/mtu': 1500}, {
        f'nic {DATA}': ('good', 'node 0, ens1f0np0 and others: link, 10.0 Gb/s, MTU 9000')}),
    'NIC in place, no verbs': (CONNECTX, {
        f'nic {DATA}': ('bad', 'not loaded', 'modprobe -a ib_uverbs mlx5_ib')}),
    'older NIC in place, no verbs': (nic(DATA, 'mlx4_core'), {
        f'nic {DATA}': ('bad', 'not loaded', 'modprobe -a ib_uverbs mlx4_ib')}),
    'no NIC': (without(PCI) | NO_IOMMU | NO_VFIO | USER, {
        'nic': ('info', 'the demo and virtual ports work without'), 'iommu': ('info', ''),
        'vfio-pci': ('info', ''), 'rights': ('info', '^not root'),
        'memlock': ('info', '^8.00 MiB')}),

    'no IOMMU': (NO_IOMMU, {'iommu': ('bad', 'next boot', INTEL_IOMMU)}),
    'no IOMMU, AMD': (NO_IOMMU | AMD | UIO, {
        'iommu': ('bad', 'firmware; .* by uio_pci_generic', None)}),
    'no IOMMU, AMD, vfio does without': (NO_IOMMU | AMD | {KNOB: 'N'}, {
        'iommu': ('bad', 'without protection', f'echo 1 > {KNOB}')}),
    'no IOMMU in a guest': (NO_IOMMU | GUEST | UIO, {
        'iommu': ('info', 'this guest has none: `wavehaul nic bind` takes uio_pci_generic.* '
                          'port = af_packet')}),
    'no IOMMU in a guest, and no uio': (NO_IOMMU | GUEST, {
        'iommu': ('bad', 'no uio_pci_generic', 'apt-get install linux-image-amd64')}),
    'no-IOMMU mode': (NO_IOMMU | {KNOB: 'Y'}, {'iommu': ('info', 'no-IOMMU mode')}),
    'no IOMMU, NIC at ixgbe': (bare_nic(IXGBE) | NO_IOMMU, {
        'iommu': ('bad', '', INTEL_IOMMU), f'nic {DATA}': ('bad', '', BIND)}),
    'vfio-pci to be loaded': (NO_VFIO | {f'{MODULES}/modules.dep': f'a.ko:\n{VFIO_MODULE}.xz: b\n'},
                              {'vfio-pci': ('info', 'not loaded; `wavehaul nic bind` does')}),
    'vfio-pci in the kernel': (NO_VFIO | {f'{MODULES}/modules.builtin': f'a.ko\n{VFIO_MODULE}\n'}, {
        'vfio-pci': ('good', 'built into')}),
    'vfio-pci of another kernel': (NO_VFIO | {'/lib/modules/5.1/modules.dep': f'{VFIO_MODULE}:\n'},
                                   {'vfio-pci': ('bad', RELEASE,
                                                 'apt-get install linux-image-amd64')}),

    'not root': (USER, {'rights': ('info', '^not root'),
                        'memlock': ('bad', '^8.00 MiB may be locked', MEMLOCK)}),
    'not root, unlimited': (process(1000, '0', 'unlimited'), {
        'rights': ('info', ''), 'memlock': ('good', 'no limit')}),
    'not root, enough': (process(1000, '0', str(2 << 30)), {
        'rights': ('info', ''), 'memlock': ('good', '^2.00 GiB')}),
    'root that may not lock': (process(0, '000001ffffffbfff'), {
        'memlock': ('bad', '', MEMLOCK)}),
    'not root, may lock': (process(1000, '0000000000004000'), {
        'rights': ('info', ''), 'memlock': ('good', 'CAP_IPC_LOCK')}),
    'short buffers': ({'/proc/sys/net/core/rmem_max': 212992}, {
        'sockets': ('info', '^208 KiB .* `sysctl -w net.core.rmem_max=8388608`')}),
    'unknown buffers': ({'/proc/sys/net/core/rmem_max': None}, {'sockets': ('info', 'not told')}),
    'io_uring off': ({'/proc/sys/kernel/io_uring_disabled': 2}, {
        'io_uring': ('bad', 'io_uring_disabled=2', 'sysctl -w kernel.io_uring_disabled=0')}),
    'io_uring for root': ({'/proc/sys/kernel/io_uring_disabled': 1}, {
        'io_uring': ('good', '')}),
    'io_uring not for others': (process(1000, '0', 'unlimited')
                                | {'/proc/sys/kernel/io_uring_disabled': 1}, {
        'rights': ('info', ''),
        'io_uring': ('bad', 'io_uring_disabled=1', 'sysctl -w kernel.io_uring_disabled=0')}),
    'an older kernel': ({'/proc/sys/kernel/io_uring_disabled': None}, {'io_uring': ('good', '')}),
}


def write_tree(root, files):
    for name, content in files.items():
        path = root / name.lstrip('/')
        if content is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            path.symlink_to(content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = str(content)
            path.write_text(text if text.endswith('\n') else text + '\n', encoding='utf-8')


def decode(result):
    """Stdout as the one JSON object of the verb, whose shape is checked; the checks by name."""
    try:
        report = json.loads(result.out)
    except json.JSONDecodeError as error:
        raise Failed(f'stdout is not one JSON object ({error}): {result.out[:300]!r}') from None
    expect_equal('the fields', sorted(report), ['checks', 'ok', 'verb'])
    expect_equal('verb', report['verb'], 'doctor')
    for check in report['checks']:
        expect_equal('the fields of a check', sorted(check), ['name', 'repair', 'text', 'verdict'])
        expect(check['verdict'] in ('good', 'info', 'bad'), f'verdict {check["verdict"]!r}')
        expect(check['name'] and check['text'], f'a check without name or text: {check}')
        expect(check['repair'] is None or check['verdict'] == 'bad', f'no need to repair: {check}')
        expect(check['repair'] != '', f'an empty command: {check}')
    bad = [check['name'] for check in report['checks'] if check['verdict'] == 'bad']
    expect_equal('ok', report['ok'], not bad)
    expect_status(result, HARDWARE if bad else OK)
    if bad:
        expect_said(result, rf'\b{len(bad)} of {len(report["checks"])} checks')
    else:
        expect_equal('stderr', result.err, '')
    found = {check['name']: check for check in report['checks']}
    expect_equal('checks of one name', len(found), len(report['checks']))
    return found


def examine(program, root, files):
    write_tree(root, files)
    return decode(program.run('doctor', '--json', '--root', root, timeout_s=10))


def machine(program, folder, changes, expected):
    found = examine(program, folder, perfect() | changes)
    for name, (verdict, pattern, *repair) in expected.items():
        expect(name in found, f'no check of {name}: {sorted(found)}')
        check = found[name]
        expect_equal(f'the verdict on {name} ({check["text"]})', check['verdict'], verdict)
        expect(re.search(pattern, check['text']), f'{name} says {check["text"]!r}, not {pattern!r}')
        expect_equal(f'the repair of {name}', check['repair'], repair[0] if repair else None)
    for name in found.keys() - expected.keys():
        expect(found[name]['verdict'] != 'bad', f'{name} is bad, too: {found[name]["text"]}')


def order(program, folder):
    """As repairs are to be made: vfio-pci, then the NIC; the exit status in words for people."""
    expect_equal('the checks', list(examine(program, folder, perfect())), ORDER)


def enough_hugepages(program, folder):
    """One hugepage fewer than the demo needs changes the verdict."""
    text = examine(program, folder / 'one', perfect())['hugepages']['text']
    need = int(re.search(r'the demo takes (\d+)', text).group(1))
    expect(520 <= need <= 800, f'the demo takes {need} pages')
    for free, verdict in ((need, 'good'), (need - 1, 'bad')):
        found = examine(program, folder / str(free), perfect() | pages(free, free))
        expect_equal(f'the verdict on {free} pages', found['hugepages']['verdict'], verdict)


def text_for_people(program, folder):
    """A line for each check, and below a bad one, in the column of the texts, its command."""
    write_tree(folder, perfect() | pages(0, 0) | bare_nic(IXGBE))
    result = program.run('doctor', '--root', folder, timeout_s=10)
    expect_status(result, HARDWARE)
    lines = result.out.splitlines()
    column = lines[0].index('Linux')
    facts = [line for line in lines if line[0] != ' ']
    expect_equal('the names', [line[6:column].strip() for line in facts], ORDER)
    expect_equal('the words', {line[:6] for line in facts}, {'good  ', 'info  ', 'FIX   '})
    commands = {lines[i - 1][6:column].strip(): line for i, line in enumerate(lines)
                if line[0] == ' '}
    expect_equal('the commands', commands, {
        'hugepages': ' ' * column + 'sysctl -w vm.nr_hugepages=800',
        f'nic {DATA}': ' ' * column + BIND})
    expect_equal('the lines FIX', sum(line.startswith('FIX') for line in lines), len(commands))
    expect_said(result, r'2 of \d+ checks.*from top to bottom')


def hostile(program, folder):
    """A copied tree may contain anything; none of it reaches a command or corrupts the output."""
    evil = '$(reboot);\x1b[31m'
    files = perfect() | pages(2**63 - 1, 0) | node_pages(0, -5, 2**62) | NO_VFIO
    files |= {path.replace(DATA, name): content for name in (DATA, f'{DATA};{evil}', evil)
              for path, content in nic(DATA, evil, evil).items()}
    files |= {'/proc/cpuinfo': b'model name\t: \xff\x1b[2J\xc3\nflags\t: sse4_2 ' + b'x' * 20000,
              '/proc/sys/kernel/osrelease': '../' * 500 + evil, f'{NODE}/online': '0-99999999999',
              f'{CPU}/isolated': '4-1,,7-', f'{CLOCK}/current_clocksource': evil,
              f'{PCI}/{DATA}/net/{evil}/speed': 2**63 - 1}
    os.makedirs(folder / 'proc/net')
    os.mkfifo(folder / 'proc/net/route')
    del files['/proc/net/route'], files['/proc/net/ipv6_route']
    found = examine(program, folder, files)
    for check in found.values():
        expect('reboot' not in (check['repair'] or ''), f'a foreign command: {check}')
        expect(re.fullmatch('[ -~]*', check['text']), f'not printable: {check["text"]!r}')
    expect_equal('the verdict on absurd pages', found['hugepages']['verdict'], 'info')
    expect_equal('NICs', [name for name in found if name.startswith('nic')],
                 [f'nic {OFFICE}', f'nic {DATA}'])
    expect(found['cpu']['text'].startswith('??[2J?, with SSE4.2'), found['cpu']['text'])


def empty_tree(program, folder):
    found = examine(program, folder, {})
    bad = {name for name, check in found.items() if check['verdict'] == 'bad'}
    expect_equal('what is bad', bad, {'cpu', 'tsc'})


def long_root(program, folder):
    """Longer than a path may be, once the names of files are added."""
    root = str(folder) + '/.' * 2047
    result = program.run('doctor', '--json', '--root', root[:4095], timeout_s=10)
    expect_status(result, HARDWARE)
    decode(result)


def this_machine(program, _folder):
    found = decode(program.run('doctor', '--json', timeout_s=30))
    usable = len(os.sched_getaffinity(0))
    expect(found['cpus']['text'].startswith(f'{usable} '), found['cpus']['text'])
    expect(os.uname().release in found['kernel']['text'], found['kernel']['text'])
    expect_equal('rights', found['rights']['text'] == 'root', os.geteuid() == 0)
    text = program.run('doctor', timeout_s=30)
    expect_equal('the facts', sum(line[0] != ' ' for line in text.out.splitlines()), len(found))


# Small disks wherever temporary files go. Argv: what to run before, the program, its options.
SMALL_DISKS = '''
before=$1
exec 3<"$2"
shift 2
unset TMPDIR
for folder in /tmp /var/tmp /dev/shm; do
    mount -t tmpfs -o size=16m wavehaul-e2e $folder || exit 77
done
eval "$before"
exec /proc/self/fd/3 "$@"
'''


def no_room(program, _folder):
    """The suggested command really repairs it."""
    if os.geteuid() != 0:
        raise Skip('only root mounts small disks')

    def look(before):
        under = ('unshare', '-m', 'sh', '-c', SMALL_DISKS, 'sh', before)
        result = program.run('doctor', '--json', timeout_s=30, under=under)
        if not result.out:
            raise Skip(f'no mount namespace: {result.err.strip()}')
        return decode(result)['room']

    bad = look('true')
    expect_equal('the verdict', bad['verdict'], 'bad')
    expect_equal('the repair', bad['repair'], 'mount -o remount,size=3G /dev/shm')
    good = look(bad['repair'])
    expect_equal('the verdict, repaired', good['verdict'], 'good')
    expect(re.search('^3.00 GiB in /dev/shm', good['text']), good['text'])


def wrong(program, folder, args, status, pattern):
    (folder / 'a-file').touch()
    result = program.run('doctor', *(arg.format(folder=folder) for arg in args), timeout_s=10)
    expect_status(result, status)
    expect_said(result, pattern)
    expect_equal('stdout', result.out, '')


def help_text(program, _folder):
    result = program.run('doctor', '--help', timeout_s=10)
    expect_status(result, OK)
    for word in ('--root', '--json', 'good', 'info', 'FIX', 'Examples', 'Exit status'):
        expect(word in result.out, f'--help says nothing about {word}')
    overview = program.run('--help', timeout_s=10)
    expect(re.search(r'^  doctor +\w', overview.out, re.MULTILINE), 'not in the list of verbs')


def cases():
    partial = functools.partial
    yield Case('help', True, help_text)
    for args, status, pattern in (
            (['--unknown'], USAGE, '--help'), (['--root'], USAGE, '--root'),
            (['surplus'], USAGE, '--root surplus'), (['--root', ''], USAGE, "'' is empty"),
            (['--root', '{folder}/none'], NO_SUCH_FILE, 'none.*no such'),
            (['--json', '--root', '{folder}/a-file'], NO_SUCH_FILE, 'a-file is no folder')):
        yield Case('wrong ' + ' '.join(args), True,
                   partial(wrong, args=args, status=status, pattern=pattern))
    for name, (changes, expected) in MACHINES.items():
        yield Case(name, True, partial(machine, changes=changes, expected=expected))
    yield Case('order', True, order)
    yield Case('enough hugepages', True, enough_hugepages)
    yield Case('text', True, text_for_people)
    yield Case('hostile tree', True, hostile)
    yield Case('empty tree', True, empty_tree)
    yield Case('long root', True, long_root)
    yield Case('this machine', True, this_machine)
    yield Case('no room', True, no_room)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
