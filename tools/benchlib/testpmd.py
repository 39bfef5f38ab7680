# SPDX-License-Identifier: BSD-3-Clause
"""The raw port: dpdk-testpmd sends frames that nobody made to dpdk-testpmd that drops them."""

import contextlib
import re
import subprocess
import time

from .processes import Failed, Place, running

# A frame without FCS is longer than the MTU by its Ethernet head.
ETHERNET_BYTES = 14

MBUFS = 16384
# Headroom (128) and 1536 fit a frame of 1500; larger ones get a room of their own, else txonly
# would have to chain and the comparison would be of chains.
MBUF_BYTES = {1500: 2176, 9000: 9216 + 128}

LIMIT_S = 60

STATISTICS = re.compile(r'RX-packets: (\d+).*?TX-packets: (\d+).*?'
                        r'Rx-pps: +(\d+).*?Tx-pps: +(\d+).*?#{60,}', re.DOTALL)


def command(place, name, vdev, mode, mtu):
    """
    The main lcore sleeps in a read of stdin and the forwarding lcore spins, so both may have the
    same CPU. Both ends' memory is their own (--in-memory), one descriptor for each list of
    segments (vhost and memif hand descriptors over); IOVA=VA keeps a pool in one piece.
    No --max-pkt-len: memif and virtual devices refuse an MTU above 1500 when they are configured,
    and pass long frames unasked.
    """
    return ['stdbuf', '-oL', 'dpdk-testpmd',
            '--lcores', f'0@{place.cpu},1@{place.cpu}', '--in-memory', '--single-file-segments',
            '--iova-mode=va', '--no-pci', '--no-telemetry', '--file-prefix', f'wavehaul-{name}',
            '--vdev', vdev, '--', '--interactive', '--nb-cores=1', f'--forward-mode={mode}',
            f'--total-num-mbufs={MBUFS}', f'--mbuf-size={MBUF_BYTES[mtu]}',
            f'--txpkts={mtu + ETHERNET_BYTES}']


def vdevs(kind, socket, mtu):
    """
    The receiving end's device, which makes the socket, and the sending end's: the very ones that
    wavehaul asks for (drivers/port/spec_prepare.c), slots for whole frames and rings as long.
    """
    if kind == 'memif':
        names = ('net_memif0,role=server', 'net_memif0,role=client')
        slot = (mtu + ETHERNET_BYTES + 4 + 255) // 256 * 256
        rsize = (5 * 2 ** 19 // slot).bit_length() - 1
        return tuple(f'{name},socket={socket},socket-abstract=no,bsize={slot},rsize={rsize}'
                     for name in names)
    return (f'net_vhost0,iface={socket},queues=1',
            f'net_virtio_user0,path={socket},queues=1,queue_size=1024')


def missing(machine):
    if not machine.has('dpdk-testpmd'):
        return 'dpdk-testpmd is not installed (package dpdk)'
    return machine.lacks_hugepages()


def say(end, text):
    end.process.stdin.write(text.encode() + b'\n')
    end.process.stdin.flush()


def start_end(stack, place, name, vdev, mode, mtu):
    """Up to the prompt: the device is there and the end obeys. Its stdin stays open meanwhile."""
    end = stack.enter_context(running(place, LIMIT_S, command(place, name, vdev, mode, mtu),
                                      stdin=subprocess.PIPE))
    end.await_that(lambda: 'testpmd> ' in end.said(end.out), 'ready')
    return end


def statistics(end):
    """(packets received, packets sent, received a second, sent a second) since the last time."""
    seen = len(STATISTICS.findall(end.said(end.out)))
    say(end, 'show port stats 0')
    found = end.await_that(lambda: STATISTICS.findall(end.said(end.out))[seen:], 'counting')
    return tuple(map(int, found[0]))


def measure(kind, mtu, folder, window_s, warm_up_s):
    """
    Counted at the receiver, over a window in the midst, by testpmd's own clock. txonly writes the
    heads of its frames only: over vhost, which copies once, the payload stays in the receiver's
    cache, and the figure is a bound that no transfer can come near.
    """
    receiving, sending = vdevs(kind, folder / 'socket', mtu)
    with contextlib.ExitStack() as stack:
        receiver = start_end(stack, Place(0), 'rx', receiving, 'rxonly', mtu)
        sender = start_end(stack, Place(1), 'tx', sending, 'txonly', mtu)
        say(receiver, 'start')
        say(sender, 'start')
        time.sleep(warm_up_s)
        before = statistics(receiver)
        time.sleep(window_s)
        after = statistics(receiver)
    if after[0] == before[0]:
        raise Failed('dpdk-testpmd: nothing arrived')
    frame_bits = 8 * (mtu + ETHERNET_BYTES)
    return {'value': after[2] * frame_bits / 1e9, 'pps': after[2], 'packets': after[0] - before[0]}
