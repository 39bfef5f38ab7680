#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What `wavehaul wan` adds to the delay that it is told, and how many frames it moves on one CPU.

    wan.py [--binary PATH] [--seconds N]

delay   datagrams from one kernel to another, by the sender's clock before sendto(2) and the
        receiving kernel's SO_TIMESTAMPNS: over a veth alone, over a wan without delay (what the
        bare ports need), and over one of 20 ms, idle and beside 500 Mb/s; less the delay
memif   frames that a dpdk-testpmd turns round at the other end of two memifs, without limit by the
        line: what the wan itself takes

Wants root, two CPUs with nothing else to do, dpdk-testpmd for the second. It judges nothing.
"""

import argparse
import contextlib
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Failed, Program, Skip, end_group, expect  # noqa: E402
from lab import RECEIVE_BYTES, SO_RCVBUFFORCE, Lab  # noqa: E402
from wan import LEFT, RIGHT, Wan, own_drops, sites  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
SO_TIMESTAMPNS = 35
TIMESPEC = struct.Struct('=qq')
DATAGRAMS, GAP_S, PORT = 2000, 0.001, 4000
LOAD_MBPS = 500
LINKS_S = 4  # until testpmd and both links are up


@contextlib.contextmanager
def on_cpu(cpu):
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def measure(left, right, delay_s):
    """Sorted, of all that arrived: microseconds beyond the delay."""
    with left.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with right.inside():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind((RIGHT, PORT))
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
    receiver.settimeout(0.5)
    beyond_us = []
    with sender, receiver:
        sender.sendto(bytes(8), (RIGHT, PORT))  # finds the address
        with contextlib.suppress(TimeoutError):
            receiver.recv(100)
        for _ in range(DATAGRAMS):
            time.sleep(GAP_S)
            sender.sendto(struct.pack('=q', time.time_ns()), (RIGHT, PORT))
        with contextlib.suppress(TimeoutError):
            while len(beyond_us) < DATAGRAMS:
                data, told, _, _ = receiver.recvmsg(100, 256)
                seconds, ns = TIMESPEC.unpack(told[0][2][:TIMESPEC.size])
                sent_ns, = struct.unpack('=q', data)
                beyond_us.append((seconds * 10**9 + ns - sent_ns) / 1e3 - delay_s * 1e6)
    expect(len(beyond_us) > DATAGRAMS * 0.9, f'{len(beyond_us)} of {DATAGRAMS} arrive')
    return sorted(beyond_us)


def tell(name, beyond_us, more=''):
    columns = (beyond_us[int(len(beyond_us) * share)] for share in (0.5, 0.9, 0.99, 0.9999))
    print(f'{name:<34}' + ''.join(f'{us:>10.1f}' for us in columns) + f'  {more}', flush=True)


@contextlib.contextmanager
def load(left, right, seconds):
    server = subprocess.Popen([*right.under, 'iperf3', '-s', '-1'], stdout=subprocess.DEVNULL,
                              start_new_session=True)
    time.sleep(0.3)
    client = subprocess.Popen([*left.under, 'iperf3', '-u', '-c', RIGHT, '-b', f'{LOAD_MBPS}M',
                               '-l', '1448', '-t', str(seconds)], stdout=subprocess.DEVNULL,
                              start_new_session=True)
    time.sleep(0.7)
    try:
        yield
    finally:
        end_group(client)
        end_group(server)


def delays(program):
    print(f'{"delay: beyond what was told, us":<34}' +
          ''.join(f'{name:>10}' for name in ('median', 'p90', 'p99', 'p99.99')))
    with Lab() as lab:
        left, right = lab.host('left'), lab.host('right')
        right.cpu = left.cpu
        lab.wire((left, 'eth0'), (right, 'eth0'))
        left.add_addresses('eth0', f'{LEFT}/24')
        right.add_addresses('eth0', f'{RIGHT}/24')
        with on_cpu(left.cpu):
            tell('a veth alone', measure(left, right, 0))
    for delay_ms, loaded in ((0, False), (20, False), (20, True)):
        with sites() as (left, middle, right):
            with Wan(program, middle, '--delay', f'{delay_ms}ms', '--rate', '10G', '--queue',
                     '8M') as wan:
                with load(left, right, 12) if loaded else contextlib.nullcontext(), \
                        on_cpu(left.cpu):
                    beyond_us = measure(left, right, delay_ms / 1e3)
            there = wan.report['there']
        tell(f'wan of {delay_ms} ms' + (f', beside {LOAD_MBPS} Mb/s' if loaded else ''), beyond_us,
             f'{there["late_pkts"]} of {there["went_pkts"]} late, '
             f'{own_drops(there)} dropped by wan')


def turn_round(ends, frame_bytes, seconds):
    """testpmd sends what comes at one port to the other; what it has begun with goes round."""
    pmd = subprocess.Popen(
        ['timeout', str(seconds + 15), 'taskset', '-c', '0', 'dpdk-testpmd', '--lcores', '0@0,1@0',
         '--no-pci', '--no-huge', '-m', '256', '--no-shconf', '--file-prefix', 'wanperf',
         *(f'--vdev=net_memif{i},socket={end},socket-abstract=no,role=client,bsize=2048,rsize=10'
           for i, end in enumerate(ends)),
         '--', '-i', '--forward-mode=io', '--txpkts', str(frame_bytes), '--no-mlockall',
         '--total-num-mbufs=8192'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for pause_s, words in ((LINKS_S, 'start tx_first 48'), (1, 'show port stats all'),
                           (seconds, 'show port stats all'), (0, 'quit')):
        time.sleep(pause_s)
        pmd.stdin.write(words + '\n')
        pmd.stdin.flush()
    said, _ = pmd.communicate(timeout=10)
    rates = [int(rate) for rate in re.findall(r'Rx-pps: +(\d+)', said)]
    expect(len(rates) == 4, f'testpmd says {said[-400:]}')
    return sum(rates[2:])


def memif(program, seconds):
    if not shutil.which('dpdk-testpmd'):
        raise Skip('dpdk-testpmd is not there')
    print(f'\n{"memif: frames both ways together":<34}{"Mpps":>10}{"Gb/s":>10}')
    for frame_bytes in (64, 1500):
        with tempfile.TemporaryDirectory() as folder:
            ends = [f'{folder}/{end}.sock' for end in 'ab']
            wan = program.start('wan', *(f'--port=memif:{end},role=server' for end in ends),
                                '--delay', '0s', '--rate', '400G', '--queue', '64M', '--frame',
                                1500, '--no-huge', '--json', under=('taskset', '-c', '1'))
            try:
                time.sleep(1.5)
                pps = turn_round(ends, frame_bytes, seconds)
            finally:
                wan.terminate()
                wan.communicate(timeout=10)
        print(f'{frame_bytes:>5} bytes{"":<23}{pps / 1e6:>10.2f}'
              f'{pps * frame_bytes * 8 / 1e9:>10.2f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--seconds', type=int, default=4)
    parser.add_argument('--only', default='')
    chosen = parser.parse_args()
    program = Program(chosen.binary)
    for name, function in (('delay', lambda: delays(program)),
                           ('memif', lambda: memif(program, chosen.seconds))):
        try:
            if chosen.only in name:
                function()
        except Skip as skip:
            print(f'{name}: skipped: {skip}')
        except Failed as failed:
            sys.exit(f'{name}: {failed}')


if __name__ == '__main__':
    main()
