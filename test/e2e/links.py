#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The link below `wavehaul`: others at its socket, its interface deleted, rights that are missing.

    links.py [--quick] [-k PATTERN] [--binary PATH]

Cases with interfaces of the kernel are in namespaces of their own, which only root makes.
A line for each case, then 'N passed, N failed'.
"""

import functools
import os
import random
import re
import socket
import stat
import sys
from pathlib import Path

from again import Late
from harness import (Case, as_nobody, expect, expect_equal, expect_said, expect_status,
                     run_cases)
from lab import Carrier, Lab
from network import (CLIENT, SERVER, Server, client_command, exchange, run_client, running_client,
                     two_hosts)
from pair import CLIENT as PAIR_CLIENT
from pair import Pair, remote, wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

OK, NETWORK, HARDWARE = 0, 5, 7
GUESTS = 200


def guests(path, kind):
    """Each connects and leaves at once; none is refused, for the server lives."""
    for _ in range(GUESTS):
        with socket.socket(socket.AF_UNIX, kind) as guest:
            guest.connect(path)


def strangers(program, folder, link):
    """Clients connect and leave; a second server is refused; the first one continues."""
    kind = socket.SOCK_SEQPACKET if link == 'memif' else socket.SOCK_STREAM
    with Pair(program, folder, link=link) as pair:
        path = f'{pair.rendezvous}/socket'
        expect_equal('rights of others', stat.S_IMODE(os.stat(path).st_mode) & 0o77, 0)
        guests(path, kind)
        second = program.run('serve', '--config', 'none', '--no-huge', '--port', pair.port(0),
                             '--addr', f'{PAIR_CLIENT}/24', '--root', folder, '--state', 'none',
                             timeout_s=10)
        expect_status(second, HARDWARE)
        expect_said(second, 'where another program listens already')
        # Each client has a MAC of its own, and is no second host at the address of the one before.
        for _ in range(2):
            result = pair.run('bench', remote().rstrip(':'), '--size', '1M')
            expect_status(result, OK)
        expect(not re.search('claims to be|no longer answers at', pair.said()), pair.said())
        pair.stop_server()


def no_server(program, folder):
    """A memif client whose server is not there, or was killed."""
    path = folder / 'socket'

    def bench():
        return program.run('bench', SERVER, '--config', 'none', '--no-huge', '--port',
                           f'memif:{path}', '--addr', f'{CLIENT}/24', timeout_s=10)

    result = bench()
    expect_status(result, HARDWARE)
    expect_said(result, f'there is no {path} for port net_memif0: start its peer first')
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
        left.bind(str(path))
        left.listen(1)
    result = bench()
    expect_status(result, HARDWARE)
    expect_said(result, f'nobody listens at {path}')


def second_client(program, folder):
    with Pair(program, folder) as pair:
        to = remote().rstrip(':')
        with pair.running('bench', to, '--time', '20s', '--rate', '10M'):
            wait_until(lambda: 'is up' in pair.said(), 10, 'a link')
            second = pair.run('bench', to, '--size', '1M', timeout_s=10)
            expect_status(second, HARDWARE)
            expect_said(second, 'another client is connected to')
        # As soon as the first has gone the server takes another.
        expect_status(pair.run('bench', to, '--size', '1M'), OK)
        pair.kill_server()


def server_anew(program, folder):
    """Who made the socket is killed under a client, and begins anew there: so does the transfer."""
    with Pair(program, folder, huge=False) as pair:
        data = random.Random(7).randbytes(24 << 20)
        (folder / 'file').write_bytes(data)
        with pair.running('send', folder / 'file', remote(), '--retries', '5', '--wait', '20s',
                          '--profile', 'fixed', '--rate', '50M', '--peer-timeout',
                          '1s') as client:
            wait_until(lambda: any(part.stat().st_size for part in pair.served.rglob('*')
                                   if part.is_file()), 20, 'a part of the file')
            pair.kill_server()
            pair.start_server()
            result = pair.finish(client)
        expect_status(result, OK)
        expect_equal('links', re.findall('the link of net_memif0 is (up|down)', result.err),
                     ['up', 'down', 'up'])
        expect_equal('the bytes', (pair.served / 'file').read_bytes() == data, True)
        pair.stop_server()


def client_anew(program, folder):
    """A server whose clients make the socket: each of them gets it, and none is there between."""
    with Late(program, folder) as pair:
        (folder / 'file').write_bytes(b'file')
        send = ('send', '--wait', '20s', folder / 'file')
        with pair.running(*send, remote('0')) as client:
            pair.start_server()
            expect_status(pair.finish(client), OK)
        for number in '12':
            wait_until(lambda: pair.said().count('is down\n') == int(number), 10,
                       'a link that is lost')
            expect_status(pair.run(*send, remote(number)), OK)
        pair.stop_server()
    names = sorted(path.name for path in pair.served.iterdir())
    expect_equal('names', names, ['0', '1', '2'])
    expect('connect' not in pair.said(), pair.said())


def deleted(program, folder, port):
    """The interface of a server and a client is deleted: both report it and exit."""
    with two_hosts() as (server, client), Server(program, server, folder, port=port) as serving:
        with running_client(program, client, 'bench', SERVER, '--time', '30s', '--rate', '10M',
                            port=port) as await_end:
            wait_until(lambda: client.packets('tx') > 20, 10, 'a transfer')
            server.ip('link', 'del', 'eth0')
            result = await_end(10)
        expect_status(result, NETWORK)
        expect_said(result, 'the interface eth0 and the port on it no longer exist')
        expect_equal('exit status of the server', serving.process.wait(10), NETWORK)
        expect('the interface eth0 and the port on it no longer exist' in serving.said(),
               serving.said())


def renamed(program, folder, port):
    """The interface of a server is renamed under way: what is under way goes on, and it is told."""
    with two_hosts() as (server, client), Server(program, server, folder, port=port) as serving:
        with running_client(program, client, 'bench', SERVER, '--time', '5s', '--rate', '10M',
                            port=port) as await_end:
            wait_until(lambda: client.packets('tx') > 20, 10, 'a transfer')
            server.ip('link', 'set', 'eth0', 'name', 'data7')
            wait_until(lambda: 'eth0 is called data7 now' in serving.said(), 5, 'its new name')
            expect_status(await_end(15), OK)
        expect_status(run_client(program, client, 'bench', SERVER, '--size', '1M', port=port), OK)
        expect_equal('told', serving.said().count('is called'), 1)
        server.ip('link', 'del', 'data7')
        expect_equal('exit status of the server', serving.process.wait(10), NETWORK)
        expect('the interface data7 and the port on it no longer exist' in serving.said(),
               serving.said())


def default_route(program, folder):
    """AF_XDP would take the packets of the default route from the kernel; AF_PACKET shares them."""
    with two_hosts() as (server, client):
        server.add_addresses('eth0', '192.0.2.9/24')
        server.ip('route', 'add', 'default', 'via', '192.0.2.254')
        result = run_client(program, server, 'bench', CLIENT, port='af_xdp', timeout_s=10)
        expect_status(result, HARDWARE)
        expect_said(result, "eth0 carries the default route, so the system keeps it")
        with Server(program, server, folder):
            expect_status(run_client(program, client, 'bench', SERVER, '--size', '1M'), OK)


def no_rights(program, _folder, port, right):
    with Lab() as lab:
        host = lab.host('host')
        lab.wire((host, 'eth0'), (host, 'eth1'))
        program, nobody = as_nobody(program)
        under = (*host.under, *nobody)
        words = list(client_command('bench', SERVER, port=port))
        result = program.run(*words, timeout_s=10, under=under)
        expect_status(result, HARDWARE)
        expect_said(result, f'needs the right {right}, which user [0-9]+ has not')
        expect_equal('lines', len(result.err.splitlines()), 1)


def taps(program, folder):
    """Interfaces that both ends make, with somebody who carries frames between them."""
    with Lab() as lab:
        server, client = lab.host('server'), lab.host('client')
        with Server(program, server, folder, port='tap') as serving, Carrier(server, client):
            exchange(program, client, folder, SERVER, '--rate', '60M', port='tap')
        expect('guard' in serving.said() and 'stopped by' not in serving.said(), serving.said())
        for host in (server, client):
            expect('eth0' not in host.ip('link', 'show'), 'the interface stays')


def cases():
    partial = functools.partial
    for link in ('memif', 'vhost'):
        yield Case(f'strangers {link}', link == 'memif', partial(strangers, link=link))
    yield Case('taps', False, taps)
    yield Case('no server', True, no_server)
    yield Case('second client', True, second_client)
    yield Case('a server anew', True, server_anew)
    yield Case('a client anew', False, client_anew)
    yield Case('interface deleted af_packet', True, partial(deleted, port='af_packet'))
    yield Case('interface deleted af_xdp', False, partial(deleted, port='af_xdp'))
    yield Case('interface renamed af_packet', True, partial(renamed, port='af_packet'))
    yield Case('interface renamed af_xdp', False, partial(renamed, port='af_xdp'))
    yield Case('default route', False, default_route)
    for port, right in (('af_packet', 'CAP_NET_RAW'), ('af_xdp', 'CAP_NET_RAW'),
                        ('tap', 'CAP_NET_ADMIN')):
        yield Case(f'without rights {port}', port == 'af_packet',
                   partial(no_rights, port=port, right=right))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
