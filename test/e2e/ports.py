#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Several ports for one transfer: `--port A --port B` at both ends.

    ports.py [--quick] [-k PATTERN] [--binary PATH]

Two namespaces of the network are the hosts, and two veth between them the lambdas. Only root makes
namespaces: all cases are skipped otherwise. A line for each case, then 'N passed, N failed,
N skipped'.
"""

import contextlib
import functools
import itertools
import json
import random
import sys
import time
from pathlib import Path

from harness import (Case, end_group, expect, expect_between, expect_equal, expect_said,
                     expect_status, run_cases)
from lab import Lab
from network import Server as PortServer
from network import expect_same, make_load
from pair import wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

MIB = 1 << 20
OK, USAGE = 0, 2
CLIENT_S, STARTING_S = 60, 20

# By interface: the server's address and the client's.
NETS = {'eth0': ('192.0.2.1', '192.0.2.2'), 'eth1': ('198.51.100.1', '198.51.100.2')}
SERVER, SECOND = (addresses[0] for addresses in NETS.values())

# A transfer of this lasts for some seconds by two ports, and for twice as many by one.
RATE, CUT_BYTES = '160M', 40 * MIB

# Less than the default of --peer-timeout, which is what a dead session takes to be noticed.
CUT_S = 25


class Server(PortServer):
    ready = 'accepted are'

    def __init__(self, program, host, folder, *options):  # pylint: disable=super-init-not-called
        self.folder, self.log = folder / 'served', folder / 'server.log'
        self.command = (*host.under, program.binary, 'serve', '--config', 'none', '--root',
                        self.folder, '--state', folder / 'state', '--buffers', '256M', *options)


def ports(end, kind='udp', interfaces=tuple(NETS)):
    """The options of an end, 0 for the server."""
    words = []
    for interface in interfaces:
        address = NETS[interface][end]
        words += ['--port', f'udp:{address}'] if kind == 'udp' else \
            ['--port', f'{kind}:{interface}', '--addr', f'{address}/24']
    return words if kind == 'udp' else [*words, '--no-huge']


@contextlib.contextmanager
def two_hosts(kind='udp'):
    with Lab() as lab:
        hosts = lab.host('server'), lab.host('client')
        for interface, addresses in NETS.items():
            lab.wire(*((host, interface) for host in hosts))
            for host, address in zip(hosts, addresses):
                if kind == 'udp':
                    host.add_addresses(interface, f'{address}/24')
        yield hosts


def command(client, program, verb, *args):
    return (*client.under, program.binary, verb, '--config', 'none', '--buffers', '256M',
            '--state', 'none', *map(str, args))


def run(program, client, verb, *args):
    return program.run(verb, '--config', 'none', '--buffers', '256M', '--state', 'none', *args,
                       timeout_s=CLIENT_S, under=client.under)


def carried(host, interface):
    return host.packets('rx', interface) + host.packets('tx', interface)


def both_ways(program, folder, kind):
    """A tree and a large file by both ports, there and back; each carries a part."""
    with two_hosts(kind) as (server, client), \
            Server(program, server, folder, *ports(0, kind)) as serving:
        make_load(folder / 'load', 64 * MIB)
        options = ports(1, kind)
        before = {name: carried(client, name) for name in NETS}
        expect_status(run(program, client, 'send', '-r', folder / 'load/tree',
                          folder / 'load/big.bin', f'{SERVER}:in/', *options), OK)
        expect_same('what was sent', folder / 'served/in', folder / 'load')
        sent = {name: carried(client, name) for name in NETS}
        (folder / 'got').mkdir()
        expect_status(run(program, client, 'get', '-r', f'{SERVER}:in/tree',
                          f'{SERVER}:in/big.bin', f'{folder}/got/', *options), OK)
        expect_same('what was got', folder / 'got', folder / 'load')
        for name in NETS:
            expect(sent[name] - before[name] > 400, f'{name} carried {sent} of what was sent')
            expect(carried(client, name) - sent[name] > 400, f'{name} carried nothing back')
        for address in (NETS[name][0] for name in NETS):
            expect(address in serving.said(), f'the server does not name {address}')


def one_of_two(program, folder):
    """A client with one port reaches the server by either."""
    with two_hosts() as (server, client), Server(program, server, folder, *ports(0)):
        (folder / 'file').write_bytes(random.Random(1).randbytes(MIB))
        for interface, (address, _) in NETS.items():
            expect_status(run(program, client, 'send', folder / 'file', f'{address}:{interface}',
                              *ports(1, interfaces=(interface,))), OK)
            expect((folder / 'served' / interface).read_bytes() ==
                   (folder / 'file').read_bytes(), 'other bytes')


def without_second(program, folder):
    """The second lambda is dark from the start: the transfer goes by the first."""
    with two_hosts() as (server, client), Server(program, server, folder, *ports(0)):
        (folder / 'file').write_bytes(random.Random(1).randbytes(32 * MIB))
        server.ip('link', 'set', 'eth1', 'down')
        expect_status(run(program, client, 'send', folder / 'file', f'{SERVER}:', *ports(1)), OK)
        expect((folder / 'served/file').read_bytes() == (folder / 'file').read_bytes(),
               'other bytes')


def by_second_name(program, folder, kind):
    """The server is called by the address of its second port: by both, and if the first is dark."""
    with two_hosts(kind) as (server, client), \
            Server(program, server, folder, *ports(0, kind)) as serving:
        (folder / 'file').write_bytes(random.Random(1).randbytes(32 * MIB))
        for dark in (False, True):
            if dark:
                server.ip('link', 'set', 'eth0', 'down')
            name = 'left' if dark else 'both'
            before = {interface: carried(client, interface) for interface in NETS}
            expect_status(run(program, client, 'send', folder / 'file', f'{SECOND}:{name}',
                              '--rate', '400M', *ports(1, kind)), OK)
            expect((serving.folder / name).read_bytes() == (folder / 'file').read_bytes(),
                   'other bytes')
            for interface in ('eth1',) if dark else NETS:
                expect(carried(client, interface) > before[interface] + 400,
                       f'{interface} carried nothing')
        expect_status(program.run('ls', '--config', 'none', f'{SECOND}:', *ports(1, kind),
                                  under=client.under, timeout_s=CLIENT_S), OK)


def queue_by_second_name(program, folder, kind):
    """So does a server that sends from its queue, while the first lambda is dark."""
    (folder / 'own').mkdir()
    control = folder / 'own/control'
    with two_hosts(kind) as (server, client), \
            Server(program, server, folder, *ports(0, kind)) as there, \
            Server(program, client, folder / 'own', '--control', control,
                   *ports(1, kind)) as here:
        here.folder.mkdir(exist_ok=True)
        source, target = here.folder / 'file', there.folder / 'queued'
        source.write_bytes(random.Random(3).randbytes(8 * MIB))
        server.ip('link', 'set', 'eth0', 'down')
        expect_status(program.run('job', 'add', 'send', source, f'{SECOND}:queued',
                                  '--control', control, under=client.under), OK)
        wait_until(target.exists, CLIENT_S, f'the file; {here.said()}')
        expect(target.read_bytes() == source.read_bytes(), 'other bytes')


def queue_by_name(program, folder):
    """An order goes by all ports; where a peer's first address is dark, to its second."""
    (folder / 'own').mkdir()
    control = folder / 'own/control'
    key = json.loads(program.run('trust', 'show', '--json').out)['own']['key']
    expect_status(program.run('trust', 'add', 'far', key, f'address={SERVER}',
                              f'address={SECOND}'), OK)
    with two_hosts() as (server, client), \
            Server(program, server, folder, *ports(0)) as there, \
            Server(program, client, folder / 'own', '--control', control,
                   *ports(1)) as here:
        here.folder.mkdir(exist_ok=True)
        source = here.folder / 'file'
        source.write_bytes(random.Random(3).randbytes(32 * MIB))
        for name, by in (('both', tuple(NETS)), ('left', ('eth1',))):
            if name == 'left':
                server.ip('link', 'set', 'eth0', 'down')
            before = {interface: carried(client, interface) for interface in NETS}
            expect_status(program.run('job', 'add', 'send', source, f'far:{name}',
                                      '--peer-timeout', '2s', '--control', control,
                                      under=client.under), OK)
            wait_until((there.folder / name).exists, CLIENT_S, f'the file; {here.said()}')
            expect((there.folder / name).read_bytes() == source.read_bytes(), 'other bytes')
            for interface in by:
                expect(carried(client, interface) > before[interface] + 400,
                       f'{interface} carried nothing')
        told = json.loads(program.run('job', 'list', '--all', '--json', '--control', control,
                                      under=client.under).out)
        expect_equal('tries', [job['tries'] for job in told['jobs']], [1, 1])


def cut(program, folder, verb, interface, back):
    """A lambda goes dark under way, and maybe comes back: nothing is lost, the other goes on."""
    with two_hosts() as (server, client), Server(program, server, folder, *ports(0)) as serving:
        there, here = serving.folder / 'there', folder / 'here'
        source, target = (here, there) if verb == 'send' else (there, here)
        source.write_bytes(random.Random(7).randbytes(CUT_BYTES))
        words = (here, f'{SERVER}:there') if verb == 'send' else (f'{SERVER}:there', here)
        began = time.monotonic()
        process = program.start(*command(client, program, verb, *words, *ports(1), '--rate',
                                         RATE)[len(client.under) + 1:], under=client.under)
        try:
            wait_until(lambda: carried(client, interface) > 3000, STARTING_S, 'data by that port')
            server.ip('link', 'set', interface, 'down')
            dark = carried(client, interface)
            if back:
                time.sleep(1.5)
                server.ip('link', 'set', interface, 'up')
            result = program.finish(process, CLIENT_S, began)
        finally:
            end_group(process)
        expect_status(result, OK)
        expect(source.read_bytes() == target.read_bytes(), 'other bytes')
        expect_between('seconds', time.monotonic() - began, 2, CUT_S)
        if back:
            expect(carried(client, interface) > dark + 1000, 'it is not used again')


def refusals(program, _folder):
    """What cannot be is said in a sentence."""
    for words, said in (
            (('--port', 'udp:127.0.0.1', '--port', 'udp:127.0.0.1'), 'named twice'),
            (('--port', 'udp:127.0.0.1', '--port', 'udp'), 'each of which has an address'),
            (('--port', 'udp:127.0.0.1', '--port', 'memif:/run/x'), 'beside other ports of'),
            (('--port', 'memif:/run/x', '--port', 'tap:y', '--addr', '192.0.2.1/24', '--addr',
              '198.51.100.1/24'), 'ports of one kind')):
        result = program.run('send', '--config', 'none', '--daemon', 'never', *words, __file__,
                             '192.0.2.9:')
        expect_status(result, USAGE)
        expect_said(result, said)


def cases():
    partial = functools.partial
    for kind in ('udp', 'af_packet'):
        yield Case(f'both ways, {kind}', True, partial(both_ways, kind=kind))
    yield Case('one of two', False, one_of_two)
    yield Case('without the second', True, without_second)
    for kind in ('udp', 'af_packet'):
        yield Case(f'by its second name, {kind}', kind == 'udp',
                   partial(by_second_name, kind=kind))
        yield Case(f'queued by its second name, {kind}', False,
                   partial(queue_by_second_name, kind=kind))
    yield Case('queued by its name', True, queue_by_name)
    for verb, interface, back in itertools.product(('send', 'get'), NETS, (False, True)):
        name = f'{interface} cut{" and back" if back else ""}, {verb}'
        yield Case(name, verb == 'send' and interface == 'eth0', partial(
            cut, verb=verb, interface=interface, back=back))
    yield Case('refusals', True, refusals)


if __name__ == '__main__':
    sys.exit(run_cases([case._replace(memory=True) for case in cases()], BINARY))
