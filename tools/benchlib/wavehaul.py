# SPDX-License-Identifier: BSD-3-Clause
"""Ours: a `wavehaul serve` on one CPU, and a client on the other."""

import contextlib
import json
import os
import re

from .links import LOOPBACK
from .machine import words_of
from .processes import Failed, Place, run, running
from .testpmd import ETHERNET_BYTES

# Of nobody's interface: the kernel would answer for its own addresses beside us.
SERVER_ADDRESS, CLIENT_ADDRESS = '198.51.100.1', '198.51.100.2'

# The port of the kernel's sockets, whose addresses are the host's.
UDP = 'udp'

LIMIT_S = 60

# Both ends' buffers and pools have to fit into the hugepages of tools/setup.
BUFFERS = '256M'

READY = re.compile(r'^wavehaul: serving ', re.MULTILINE)


def socket_ports(kind, socket):
    """--port of the server and of the client, by one socket."""
    if kind == 'memif':
        return f'memif:{socket},role=server', f'memif:{socket},role=client'
    return f'vhost:{socket}', f'virtio_user:{socket}'


def interface_ports(kind, pair):
    return tuple(f'{kind}:{pair.interface(end)}' for end in 'ab')


class Wavehaul:
    def __init__(self, binary, machine):
        self.binary, self.machine = str(binary), machine
        listing = words_of(self.binary, '--help') if os.access(binary, os.X_OK) else ''
        self.verbs = set(re.findall(r'^  (\w+) {2,}', listing, re.MULTILINE))

    def missing(self, *verbs):
        """The word to skip it with, or None."""
        if not self.verbs:
            return f'{self.binary} does not run: tools/setup builds it'
        lacking = [verb for verb in verbs if verb not in self.verbs]
        return f'this wavehaul has no verb {" ".join(lacking)}' if lacking else None

    def command(self, verb, port, address, mtu, *more):
        own = [] if port == UDP else ['--addr', f'{address}/24']
        return [self.binary, verb, *more, '--port', port, *own, '--mtu', mtu, '--buffers', BUFFERS,
                '--config', 'none']

    @contextlib.contextmanager
    def serving(self, place, port, mtu, root, *more):
        command = self.command('serve', port, SERVER_ADDRESS, mtu, '--root', root, '--state',
                               'none', *more)
        with running(place, LIMIT_S, command) as server:
            server.await_that(lambda: READY.search(server.said(server.out)) or
                              READY.search(server.said(server.err)), 'serving')
            yield server

    def client(self, place, verb, port, mtu, *more):
        command = self.command(verb, port, CLIENT_ADDRESS, mtu, *more, '--rate', 'max', '--json')
        ended = run(place, LIMIT_S, command)
        report = json.loads(ended.out)
        if report.get('ok') is False:
            raise Failed(f'wavehaul {verb}: {report.get("error")}')
        return report, ended.seconds

    def bench(self, kind, mtu, folder, window_s, *seal):
        """Frames a second at the receiver, in bits as those of the raw port: without FCS."""
        server_port, client_port = socket_ports(kind, folder / 'socket')
        with self.serving(Place(0), server_port, mtu, folder, *seal):
            report, _ = self.client(Place(1), 'bench', client_port, mtu, SERVER_ADDRESS,
                                    '--time', f'{round(window_s * 1000)}ms', *seal)
        pps = report['steady']['pps']
        if not pps:
            raise Failed('wavehaul bench: nothing arrived')
        return {'value': pps * 8 * (mtu + ETHERNET_BYTES) / 1e9, 'pps': pps,
                'goodput_bps': report['steady']['bps'], 'report': report}

    def bench_sockets(self, link, folder, window_s, *seal):
        """Payload at the receiver, memory to memory."""
        with self.serving(link.server, UDP, link.mtu, folder, *seal):
            report, _ = self.client(link.client, 'bench', UDP, link.mtu, link.address,
                                    '--time', f'{round(window_s * 1000)}ms', *seal)
        if not report['steady']['bps']:
            raise Failed('wavehaul bench: nothing arrived')
        return {'value': report['steady']['bps'] / 1e9, 'report': report}

    def send(self, ports, link, mtu, source, folder):
        """Seconds of the client from its start to its end, DPDK's start included."""
        recursive = ['--recursive'] if source.is_dir() else []
        server = link.address if ports[0] == UDP else SERVER_ADDRESS
        with self.serving(link.server, ports[0], mtu, folder):
            report, seconds = self.client(link.client, 'send', ports[1], mtu, '--daemon', 'never',
                                          *recursive, source, f'{server}:{source.name}')
        return {'seconds': seconds, 'own_seconds': report['seconds'], 'report': report}

    def send_over_memif(self, mtu, source, folder):
        ports = socket_ports('memif', folder.parent / 'socket')
        return self.send(ports, LOOPBACK, mtu, source, folder)
