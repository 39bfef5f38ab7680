# SPDX-License-Identifier: BSD-3-Clause
"""Who races: each is started at both sites at once and says what arrived in the first seconds."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

from benchlib.processes import Failed, listens, running

from .path import RIGHT, kernel_tcps

# Beyond the seconds of a race, for a start and for last words across a long path.
SLACK_S = 40

# Ports of contenders that run at the same time.
PORT_FIRST = 5301

MSS = 1500
SRT_WINDOWS = 'fc=262144&sndbuf=400000000&rcvbuf=400000000'

# Of profiles whose rate is the operator's: so much of the line.
TOLD_SHARE = 0.99
TOLD = ('fixed', 'pxp', 'pack')
BUFFERS = '512M'
READY = re.compile(r'^wavehaul: serving ', re.MULTILINE)


class Contender:
    """`lane` is 0 or 1: of two at once each has its own."""

    missing = None

    def race(self, sites, line, seconds, lane):
        """Payload at the receiver, b/s, over the first seconds."""
        raise NotImplementedError


class KernelTcp(Contender):
    def __init__(self, algorithm):
        self.algorithm, self.name = algorithm, f'kernel {algorithm}'
        if algorithm not in kernel_tcps():
            self.missing = f'this kernel has no {algorithm} (modprobe tcp_{algorithm})'
        elif not shutil.which('iperf3'):
            self.missing = 'iperf3 is not installed (--setup)'

    def race(self, sites, line, seconds, lane):
        port = PORT_FIRST + lane
        limit_s = seconds + SLACK_S
        serve = ['iperf3', '--server', '--one-off', '--port', port]
        send = ['iperf3', '--client', RIGHT, '--port', port, '--time', seconds, '--json',
                '--congestion', self.algorithm]
        with running(sites.right.place, limit_s, serve) as server:
            server.await_that(lambda: listens(server, 'tcp', port), 'listening')
            with running(sites.left.place, limit_s, send) as client:
                report = json.loads(client.wait().out)
        if 'error' in report:
            raise Failed(f'iperf3: {report["error"]}')
        return report['end']['sum_received']['bits_per_second']


class Wavehaul(Contender):
    def __init__(self, binary, profile, folder, name=None, options=()):
        self.binary, self.profile, self.folder = binary, profile, folder
        self.name, self.options = f'wavehaul {name or profile}', options

    def ends(self, lane):
        """The server's address, and the words for the ports of server and client."""
        server, client = (f'198.51.100.{2 * lane + end}' for end in (1, 2))
        port = ('--port', 'af_packet:eth0')
        return server, (*port, '--addr', f'{server}/24'), (*port, '--addr', f'{client}/24')

    def race(self, sites, line, seconds, lane):
        common = ['--mtu', MSS, '--buffers', BUFFERS, '--config', 'none', '--state', 'none']
        address, server_port, client_port = self.ends(lane)
        limit_s = seconds + SLACK_S
        serve = [self.binary, 'serve', '--root', self.folder, *server_port, *common]
        # Nothing is told: not even what the race before has found of the way.
        send = [self.binary, 'bench', address, *client_port, '--profile', self.profile,
                '--time', f'{seconds}s', '--json', *self.options, *common]
        if self.profile in TOLD:
            send += ['--rate', int(line.rate_bps * TOLD_SHARE)]
        with running(sites.right.place, limit_s, serve) as server:
            server.await_that(lambda: READY.search(server.said(server.out)) or
                              READY.search(server.said(server.err)), 'serving')
            with running(sites.left.place, limit_s, send) as client:
                return json.loads(client.wait().out)['receiver']['bps']


class OnSockets(Wavehaul):
    """On the sites' kernels, whose addresses it has."""

    def ends(self, lane):
        port = ('--port', 'udp', '--udp-port', PORT_FIRST + lane)
        return RIGHT, port, port


class FileContender(Contender):
    """Sends a file that is longer than the race; what of it is there at the end counts."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def commands(self, source, port):
        """(of the receiver, of the sender, the file that appears)"""
        raise NotImplementedError

    def race(self, sites, line, seconds, lane):
        source = self.folder / f'source{lane}'
        with open(source, 'wb') as file:
            file.truncate(int(line.rate_bps / 8 * (seconds + 5)))
        port = PORT_FIRST + lane
        receive, send, target = self.commands(source, port)
        target.unlink(missing_ok=True)
        limit_s = seconds + SLACK_S
        try:
            with running(sites.right.place, limit_s, receive) as receiver:
                receiver.await_that(lambda: listens(receiver, 'udp', port), 'listening')
                with running(sites.left.place, limit_s, send) as sender:
                    time.sleep(seconds)
                    if sender.process.poll() not in (None, 0):
                        raise Failed(f'{self.name}: {sender.last_words()}')
                    return target.stat().st_size * 8 / seconds if target.exists() else 0.0
        finally:
            target.unlink(missing_ok=True)
            source.unlink()


class Udt(FileContender):
    name = 'libudt (UDT4)'

    def __init__(self, folder, tools):
        super().__init__(folder)
        try:
            self.program = tools.udt_file
        except Failed:
            self.missing = 'libudt or g++ is not installed (--setup)'

    def commands(self, source, port):
        target = self.folder / f'udt-{source.name}'
        return ([self.program, 'receive', port, target, MSS],
                [self.program, 'send', RIGHT, port, source, MSS], target)


class Srt(FileContender):
    name = 'SRT'

    def __init__(self, folder):
        super().__init__(folder)
        if not shutil.which('srt-file-transmit'):
            self.missing = 'srt-tools is not installed (--setup)'

    def commands(self, source, port):
        folder = self.folder / f'srt-{source.name}'
        folder.mkdir(exist_ok=True)
        return (['srt-file-transmit', '-q', f'srt://:{port}?mode=listener&{SRT_WINDOWS}',
                 f'file://{folder}/'],
                ['srt-file-transmit', '-q', f'file://{source}',
                 f'srt://{RIGHT}:{port}?{SRT_WINDOWS}'], folder / source.name)


def profiles(binary):
    done = subprocess.run([binary, 'profiles', '--json'], capture_output=True, text=True,
                          timeout=20, check=False)
    if done.returncode != 0:
        raise Failed(f'{binary} profiles: {done.stderr.strip()[-200:]}')
    return [profile['name'] for profile in json.loads(done.stdout)['profiles']]


def every(binary, folder, tools):
    return [KernelTcp('cubic'), KernelTcp('bbr'), Udt(folder, tools), Srt(folder),
            *(Wavehaul(binary, profile, folder) for profile in profiles(binary)),
            Wavehaul(binary, 'lambda', folder, 'scavenger', ('--share', 'scavenger')),
            OnSockets(binary, 'lambda', folder, 'udp')]
