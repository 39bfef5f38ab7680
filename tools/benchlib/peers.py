# SPDX-License-Identifier: BSD-3-Clause
"""What users run today: each peer sends one file over a link, and says how long that took."""

import functools
import json
import os
import socket
import time
from collections import namedtuple

from .machine import packages_versions
from .processes import Failed, listens, order, run, running

LIMIT_S = 60
IPERF_S = 3

# UDT takes any MSS, and nothing on a real lambda goes beyond this.
IP_UDP_BYTES = 28
UDT_MSS_MAX = 9000

# SRT's windows as for a line, not as for a film: packets, bytes, bytes.
SRT_WINDOWS = 'fc=65536&sndbuf=100000000&rcvbuf=100000000'

GRIDFTP_STREAMS = 4

RSYNC_CONFIG = '''
use chroot = no
read only = no
{user}
[in]
path = {folder}
'''

# Root's daemon would write as nobody; another's may not say who it is.
RSYNC_ROOT = 'uid = root\ngid = root'


def free_port():
    """In the root namespace; in a fresh one all are free."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def udt(link, source, folder, tools):
    port, mss = free_port(), min(link.mtu, UDT_MSS_MAX)
    receive = [tools.udt_file, 'receive', port, folder / source.name, mss]
    with running(link.server, LIMIT_S, receive) as receiver:
        receiver.await_that(lambda: listens(receiver, 'udp', port), 'listening')
        began = time.monotonic()
        run(link.client, LIMIT_S, [tools.udt_file, 'send', link.address, port, source, mss])
        receiver.wait()
        return time.monotonic() - began


def srt(link, source, folder, _tools):
    port = free_port()
    receive = ['srt-file-transmit', '-q', f'srt://:{port}?mode=listener&{SRT_WINDOWS}',
               f'file://{folder}/']
    with running(link.server, LIMIT_S, receive) as receiver:
        receiver.await_that(lambda: listens(receiver, 'udp', port), 'listening')
        began = time.monotonic()
        run(link.client, LIMIT_S, ['srt-file-transmit', '-q', f'file://{source}',
                                   f'srt://{link.address}:{port}?{SRT_WINDOWS}'])
        receiver.wait()
        return time.monotonic() - began


def gridftp(link, source, folder, _tools):
    port = free_port()
    serve = ['globus-gridftp-server', '-allow-anonymous', '-port', port,
             '-hostname', link.address]
    if os.geteuid() == 0:
        serve += ['-anonymous-user', 'root', '-allow-root']
    target = f'ftp://{link.address}:{port}{folder}/{source.name}'
    # A machine whose own name resolves to nothing is no reason to fail.
    environment = os.environ | {'GLOBUS_HOSTNAME': link.address}
    with running(link.server, LIMIT_S, serve, env=environment) as server:
        server.await_that(lambda: listens(server, 'tcp', port), 'listening')
        copy = ['globus-url-copy', '-p', GRIDFTP_STREAMS, f'file://{source}', target]
        return run(link.client, LIMIT_S, copy, env=environment).seconds


def rsync(link, source, folder, _tools):
    port, config = free_port(), folder.parent / 'rsyncd.conf'
    user = RSYNC_ROOT if os.geteuid() == 0 else ''
    config.write_text(RSYNC_CONFIG.format(user=user, folder=folder), encoding='utf-8')
    daemon = ['rsync', '--daemon', '--no-detach', '--config', config, '--port', port]
    with running(link.server, LIMIT_S, daemon) as server:
        server.await_that(lambda: listens(server, 'tcp', port), 'listening')
        copy = ['rsync', '--archive', source, f'rsync://{link.address}:{port}/in/']
        return run(link.client, LIMIT_S, copy).seconds


def iperf3(link, *words):
    """Memory to memory: what TCP could do for a file. Bits per second at the receiver."""
    port = free_port()
    with running(link.server, LIMIT_S, ['iperf3', '--server', '--port', port]) as server:
        server.await_that(lambda: listens(server, 'tcp', port), 'listening')
        ended = run(link.client, LIMIT_S, ['iperf3', '--client', link.address, '--port', port,
                                           '--time', IPERF_S, '--json', *words])
    report = json.loads(ended.out)
    if 'error' in report:
        raise Failed(f'iperf3: {report["error"]}')
    return report['end']['sum_received']['bits_per_second']


def iperf3_udp(link):
    return iperf3(link, '--udp', '--bitrate', 0, '--length', link.mtu - IP_UDP_BYTES)


Peer = namedtuple('Peer', 'name programs packages send')

FILE_PEERS = (
    Peer('libudt', ('g++',), ('libudt-dev',), udt),
    Peer('srt-file-transmit', ('srt-file-transmit',), ('srt-tools',), srt),
    Peer('globus-url-copy -p 4', ('globus-url-copy', 'globus-gridftp-server'),
         ('globus-gass-copy-progs', 'globus-gridftp-server-progs'), gridftp),
    Peer('rsync daemon', ('rsync',), ('rsync',), rsync),
)
IPERF = Peer('iperf3 (memory)', ('iperf3',), ('iperf3',), None)
RSYNC = FILE_PEERS[-1]

# What --setup installs: the peers, a compiler for ours of libudt, and `ip` for veth.
PACKAGES = ('dpdk', 'g++', 'iproute2', *(p for peer in (*FILE_PEERS, IPERF) for p in peer.packages))


def missing(peer, machine):
    """The word to skip it with, or None."""
    lacking = [name for name in peer.packages if name not in packages_versions([name])]
    if lacking:
        return f'not installed: {" ".join(lacking)} (tools/bench --setup)'
    absent = [name for name in peer.programs if not machine.has(name)]
    return f'no program {" ".join(absent)}' if absent else None


def install():
    """Quiet unless it fails."""
    lacking = [name for name in PACKAGES if name not in packages_versions([name])]
    if not lacking:
        return []
    environment = os.environ | {'DEBIAN_FRONTEND': 'noninteractive'}
    apt = ('apt-get', '-o', 'DPkg::Lock::Timeout=120')
    order(*apt, 'update', limit_s=120, env=environment)
    order(*apt, 'install', '-y', '--no-install-recommends', *lacking, limit_s=900,
          env=environment)
    return lacking


class Tools:
    """What is compiled for the occasion, when first asked for."""

    def __init__(self, sources, folder):
        self.sources, self.folder = sources, folder

    @functools.cached_property
    def udt_file(self):
        program = self.folder / 'udt_file'
        order('g++', '-O2', '-std=gnu++17', '-o', str(program),
              str(self.sources / 'udt_file.cpp'), '-ludt', '-lpthread')
        return program
