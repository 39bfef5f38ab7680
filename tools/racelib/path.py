# SPDX-License-Identifier: BSD-3-Clause
"""Two namespaces, and `wavehaul wan` between them: the path that all contenders share."""

import contextlib
import json
import os
import signal
import subprocess
from collections import namedtuple
from pathlib import Path

from benchlib.links import Namespaces
from benchlib.processes import Failed, Place, order, running

ENDS_CPU, PATH_CPU = 0, 1

# The kernels' own, and what wavehaul's ports have beside them.
LEFT, RIGHT = '192.0.2.1', '192.0.2.2'

# Sockets that are no limit for a path of 1 Gb/s and a second.
SOCKET_BYTES = 256 << 20

# What a wan may take to report when it is told to end.
REPORT_S = 10

# rate_bps, seconds, a share, bytes
Line = namedtuple('Line', 'rate_bps rtt_s loss queue_bytes')


class Site:
    """A namespace at an end of the path; its interface is eth0."""

    def __init__(self, name):
        self.name, self.place = name, Place(ENDS_CPU, name)

    def ip(self, *args):
        order('ip', '-n', self.name, *args)

    def set_kernel(self, name, value):
        order('ip', 'netns', 'exec', self.name, 'sh', '-c', f'echo "{value}" >/proc/sys/net/{name}')


class Sites(Namespaces):
    """Left sends, right receives, and the middle is where the wan runs."""

    def __init__(self):
        self.names = [f'wavehaul-{os.getpid()}-race-{end}' for end in ('left', 'middle', 'right')]
        self.left, self.middle, self.right = map(Site, self.names)

    def make(self):
        for site in (self.left, self.middle, self.right):
            order('ip', 'netns', 'add', site.name)
            site.ip('link', 'set', 'lo', 'up')
        for site, far, address in ((self.left, 'wa', LEFT), (self.right, 'wb', RIGHT)):
            order('ip', 'link', 'add', far, 'netns', self.middle.name, 'type', 'veth', 'peer',
                  'name', 'eth0', 'netns', site.name)
            self.middle.ip('link', 'set', far, 'up')
            site.ip('link', 'set', 'eth0', 'up')
            site.ip('address', 'add', f'{address}/24', 'dev', 'eth0')
            order('ip', 'netns', 'exec', site.name, 'ethtool', '-K', 'eth0', 'tx', 'off')
            for way in ('rmem', 'wmem'):
                site.set_kernel(f'ipv4/tcp_{way}', f'4096 131072 {SOCKET_BYTES}')
            # Nothing is remembered from one run to the next.
            site.set_kernel('ipv4/tcp_no_metrics_save', 1)


@contextlib.contextmanager
def path(binary, sites, line, limit_s):
    """While it lasts the sites are that far apart; then the list has wan's report in it."""
    command = [binary, 'wan', '--port', 'af_packet:wa', '--port', 'af_packet:wb', '--rate',
               int(line.rate_bps), '--rtt', f'{line.rtt_s * 1e3:g}ms', '--loss', line.loss,
               '--back-loss', 0, '--queue', int(line.queue_bytes), '--json']
    reports = []
    with running(Place(PATH_CPU, sites.middle.name), limit_s, command) as wan:
        wan.await_that(lambda: wan.said(wan.err).count('is up') == 2, 'up')
        yield reports
        wan.signal_group(signal.SIGINT)
        try:
            wan.process.wait(REPORT_S)
        except subprocess.TimeoutExpired:
            raise Failed('the wan does not end') from None
        reports.append(json.loads(wan.said(wan.out)))


def own_drops(report):
    """What this machine dropped, not the path; and the packets that it was late with."""
    ways = [report[way] for way in ('there', 'back')]
    return (sum(sum(way['own_dropped_pkts'].values()) for way in ways),
            sum(way['late_pkts'] for way in ways))


def kernel_tcps():
    return Path('/proc/sys/net/ipv4/tcp_available_congestion_control').read_text(
        encoding='ascii').split()
