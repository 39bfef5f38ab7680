# SPDX-License-Identifier: BSD-3-Clause
"""Frames that dpdk-testpmd throws at a host, as fast as its port takes them, again and again."""

import contextlib
import re
import shutil
import struct
import subprocess

from field import IPV4_AT, KIB
from harness import Failed, Skip, end_group, expect
from pair import on_cpu

FRAMES = 2000
PCAP_HEAD = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 64 * KIB, 1)
UDP_SUM_AT = IPV4_AT - 2
TYPE_AT, TYPES = IPV4_AT + 1, 18
ENDING_S = 20


def sum_of(head):
    total = sum(struct.unpack(f'>{len(head) // 2}H', head))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def as_ours(frame):
    """With the lengths and sums that IP and UDP want of such a frame."""
    made = bytearray(frame)
    struct.pack_into('>H', made, 16, len(made) - 14)
    struct.pack_into('>H', made, 38, len(made) - 34)
    struct.pack_into('>H', made, UDP_SUM_AT, 0)
    struct.pack_into('>H', made, 24, 0)
    struct.pack_into('>H', made, 24, sum_of(made[14:34]))
    return bytes(made)


def altered(chance, frame):
    made = bytearray(frame)
    for _ in range(chance.randrange(1, 9)):
        made[chance.randrange(12, len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def draw(chance, real, own):
    """
    One frame: of any bytes, of any payload, or a real one that is altered, cut, too long or of
    another type.
    """
    frame = chance.choice(real)
    kind = chance.randrange(6)
    if kind == 0:
        return frame[:6] + own + chance.randbytes(chance.randrange(48, 1500))
    if kind == 1:
        return as_ours(frame[:IPV4_AT] + chance.randbytes(chance.randrange(1, 1400)))
    if kind == 2:
        return altered(chance, frame)
    if kind == 3:
        return as_ours(altered(chance, frame[IPV4_AT:]).join((frame[:IPV4_AT], b'')))
    if kind == 4:
        return as_ours(frame[:TYPE_AT] + bytes([chance.randrange(1, TYPES)]) + frame[TYPE_AT + 1:])
    return as_ours(frame[:chance.randrange(IPV4_AT + 1, len(frame))] +
                   chance.randbytes(chance.randrange(2) * chance.randrange(60)))


def unpacked(recorded):
    frames = []
    while recorded:
        bytes_, = struct.unpack_from('<I', recorded)
        frames.append(recorded[4:4 + bytes_])
        recorded = recorded[4 + bytes_:]
    return frames


def write(path, frames):
    with open(path, 'wb') as file:
        file.write(PCAP_HEAD)
        for frame in frames:
            file.write(struct.pack('<IIII', 0, 0, len(frame), len(frame)) + frame)


def command(path):
    return [*on_cpu(1), 'dpdk-testpmd', '--lcores', '0@1,1@1', '--no-huge', '--no-shconf', '-m',
            '256', '--no-pci', '--no-telemetry', f'--vdev=net_pcap0,rx_pcap={path},infinite_rx=1',
            '--vdev=net_af_packet0,iface=eth0', '--', '--forward-mode=io', '--nb-cores=1',
            '--total-num-mbufs=8192', '--no-flush-rx', '--no-lsc-interrupt']


@contextlib.contextmanager
def thrown(host, path, told):
    """By testpmd at that host; in told, in the end, how many frames went out."""
    if not shutil.which('dpdk-testpmd'):
        raise Skip('dpdk-testpmd is not there')
    process = subprocess.Popen([*host.under, *command(path)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    try:
        yield
        said, _ = process.communicate('\n', timeout=ENDING_S)
    finally:
        if process.returncode is None:
            end_group(process)
    counts = re.findall(r'TX-packets: (\d+)', said)
    if not counts:
        raise Failed(f'dpdk-testpmd says {said[-400:]}')
    told['sent_pkts'] = int(counts[-1])
    expect(process.returncode == 0, f'dpdk-testpmd: {process.returncode}')
