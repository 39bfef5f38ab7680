# SPDX-License-Identifier: BSD-3-Clause
"""What is measured against what."""

import functools
from collections import namedtuple

from . import bare, peers, scratch, testpmd, wavehaul
from .links import LOOPBACK, Veth
from .results import Candidate, Case

GROUPS = ('memif', 'vhost', 'udp', 'files', 'veth', 'small')

MTUS = (1500, 9000)

# A transfer below this is mostly beginning and end.
ENOUGH_S = 2

# AF_XDP on veth: a frame has to fit into a page beside its head.
XDP_MTU_MAX = 3400

Effort = namedtuple('Effort', 'repeat window_s warm_up_s grow small_files')
FULL = Effort(repeat=5, window_s=3, warm_up_s=1, grow=True, small_files=100_000)
QUICK = Effort(repeat=1, window_s=1, warm_up_s=0.5, grow=False, small_files=10_000)

# All that a measurement needs: who measures, how long, from where to where.
Rig = namedtuple('Rig', 'machine effort ours folder sources tools')


def transferred(rig, send, source):
    """One transfer of a file or a tree, compared byte by byte; send(source, folder) -> dict."""
    with rig.sources.arrival(source) as folder:
        sample = send(source, folder)
        scratch.compare(source, folder / source.name)
    return sample


class FileTransfer:
    """
    Gigabits a second by the wall clock of a whole command, the start of its program included:
    that is what a user waits for. The file grows in first runs until that takes long enough.
    """

    def __init__(self, rig, send):
        self.rig, self.send = rig, send
        self.size_bytes = None

    def once(self):
        source = self.rig.sources.file(self.size_bytes)
        sample = transferred(self.rig, self.send, source)
        rate = self.size_bytes * 8 / sample['seconds'] / 1e9
        return {'value': rate, 'bytes': self.size_bytes} | sample

    def choose_size(self):
        self.size_bytes = scratch.FILE_MIN_BYTES
        largest = self.rig.sources.largest_file()
        while self.rig.effort.grow and self.size_bytes < largest:
            if self.once()['seconds'] >= ENOUGH_S:
                break
            self.size_bytes *= scratch.FILE_STEP

    def __call__(self):
        if self.size_bytes is None:
            self.choose_size()
        return self.once()


def tree_transfer(rig, send):
    """Files a second, of many small ones."""
    count = rig.effort.small_files
    sample = transferred(rig, send, rig.sources.tree(count))
    return {'value': count / sample['seconds'], 'files': count} | sample


def raw_case(rig, group, mtu):
    effort, ours = rig.effort, rig.ours

    def raw():
        with rig.sources.arrival() as folder:
            return testpmd.measure(group, mtu, folder, effort.window_s, effort.warm_up_s)

    def limit(key):
        with rig.sources.arrival() as folder:
            return bare.measure(rig.machine, group, mtu, folder, effort.window_s, key)

    def bench(*seal):
        with rig.sources.arrival() as folder:
            return ours.bench(group, mtu, folder, effort.window_s + effort.warm_up_s, *seal)

    missing = ours.missing('serve', 'bench')
    return Case(group, f'{group}, MTU {mtu}', 'Gb/s',
                'frames at the receiver, without FCS; one end on each CPU',
                [Candidate('dpdk-testpmd txonly', False, testpmd.missing(rig.machine), raw),
                 *(Candidate(f'bare, {key}', False, bare.missing(rig.machine),
                             functools.partial(limit, key)) for key in ('sealed', 'plain')),
                 Candidate('wavehaul bench', True, missing, bench),
                 Candidate('wavehaul bench --unsealed', True, missing,
                           functools.partial(bench, '--unsealed'))])


def udp_case(rig, mtu):
    pair, unfit, effort = Veth(mtu), veth_unfit(rig.machine), rig.effort
    link = pair.link()

    def bench(*seal):
        with rig.sources.arrival() as folder:
            return rig.ours.bench_sockets(link, folder, effort.window_s + effort.warm_up_s, *seal)

    def limit():
        return bare.measure_sockets(rig.machine, link, effort.window_s)

    def iperf3():
        return {'value': peers.iperf3_udp(link) / 1e9}

    missing = unfit or rig.ours.missing('serve', 'bench')
    return Case('udp', f'memory to memory, UDP over veth, MTU {mtu}', 'Gb/s',
                'payload at the receiver, two namespaces; one end on each CPU',
                [Candidate('bare, sendmmsg and recvmmsg', False,
                           unfit or bare.not_built(rig.machine, bare.SOCKETS_BINARY), limit),
                 Candidate('wavehaul bench', True, missing, bench),
                 Candidate('wavehaul bench --unsealed', True, missing,
                           functools.partial(bench, '--unsealed')),
                 Candidate('iperf3 --udp', False,
                           unfit or peers.missing(peers.IPERF, rig.machine), iperf3)], pair)


def peer_candidates(rig, link, unfit=None):
    """Everybody's sockets over a link; `unfit` is why the link itself cannot be."""
    for peer in peers.FILE_PEERS:
        def send(source, folder, peer=peer):
            return {'seconds': peer.send(link, source, folder, rig.tools)}
        yield Candidate(peer.name, False, unfit or peers.missing(peer, rig.machine),
                        FileTransfer(rig, send))
    yield Candidate(peers.IPERF.name, False, unfit or peers.missing(peers.IPERF, rig.machine),
                    lambda: {'value': peers.iperf3(link) / 1e9})


def our_file(rig, name, skip, send):
    return Candidate(name, True, skip or rig.ours.missing('serve', 'send'),
                     FileTransfer(rig, send))


def files_case(rig):
    send = functools.partial(rig.ours.send_over_memif, 9000)
    return Case('files', 'file to file, memif against loopback', 'Gb/s',
                'tmpfs of huge pages; MTU 9000 of wavehaul and UDT, 65536 of the others, SRT 1500',
                [our_file(rig, 'wavehaul send', None, send), *peer_candidates(rig, LOOPBACK)])


def veth_unfit(machine):
    if not machine.is_root:
        return 'namespaces are for root'
    return None if machine.has('ip') else 'no program ip (tools/bench --setup)'


def veth_case(rig, mtu):
    pair, unfit = Veth(mtu), veth_unfit(rig.machine)
    link = pair.link()
    narrow = f'AF_XDP on veth takes an MTU up to {XDP_MTU_MAX}' if mtu > XDP_MTU_MAX else None

    def ours(kind, skip):
        ports = (kind, kind) if kind == wavehaul.UDP else wavehaul.interface_ports(kind, pair)
        send = functools.partial(rig.ours.send, ports, link, mtu)
        return our_file(rig, f'wavehaul send, {kind}', skip, send)

    return Case('veth', f'file to file, veth, MTU {mtu}', 'Gb/s',
                'tmpfs of huge pages, two namespaces; kernel sockets with the offloads of veth',
                [ours(wavehaul.UDP, unfit), ours('af_packet', unfit),
                 ours('af_xdp', unfit or narrow), *peer_candidates(rig, link, unfit)], pair)


def small_case(rig):
    ours = functools.partial(rig.ours.send_over_memif, 9000)

    def rsync(source, folder):
        return {'seconds': peers.RSYNC.send(LOOPBACK, source, folder, rig.tools)}

    return Case('small', f'{rig.effort.small_files} files of 4 KiB, memif against loopback',
                'files/s', 'tmpfs to tmpfs',
                [Candidate('wavehaul send --recursive', True, rig.ours.missing('serve', 'send'),
                           functools.partial(tree_transfer, rig, ours)),
                 Candidate(peers.RSYNC.name, False, peers.missing(peers.RSYNC, rig.machine),
                           functools.partial(tree_transfer, rig, rsync))])


def all_cases(rig, groups):
    """In the order of GROUPS."""
    for group in ('memif', 'vhost'):
        if group in groups:
            yield from (raw_case(rig, group, mtu) for mtu in MTUS)
    if 'udp' in groups:
        yield from (udp_case(rig, mtu) for mtu in MTUS)
    if 'files' in groups:
        yield files_case(rig)
    if 'veth' in groups:
        yield from (veth_case(rig, mtu) for mtu in MTUS)
    if 'small' in groups:
        yield small_case(rig)
