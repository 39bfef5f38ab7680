#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul bench` against `wavehaul serve` over shared memory: what it says, and whether it is so.

    bench.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import functools
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

from harness import (Case, Failed, Skip, decode_object, expect, expect_between, expect_equal,
                     expect_fields, expect_said, expect_status, run_cases)
from pair import (SERVER, Pair, cpu_seconds, has_ended, telemetry, wait_until,
                  waited_seconds)

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, USAGE, NETWORK, HARDWARE, INTERRUPTED = 0, 2, 5, 7, 20
MIB = 1 << 20

# A measurement counts if the ends waited no longer than that for their CPUs; else it is repeated.
BUSY_S, TRIES = 0.01, 3

NUMBER = (int, float)
PARTS = {'packets': NUMBER, 'workers': NUMBER}
COST = {'cycles_per_byte': PARTS, 'cores_at_100_gbps': PARTS}
FIELDS = {
    'verb': str, 'ok': bool, 'exit_status': int, 'host': str, 'version': str, 'dpdk': str,
    'mtu': int, 'parallel': int, 'reverse': bool, 'profile': str, 'intervals': list,
    'pacing': str,
    'receiver': {'seconds': NUMBER, 'bps': NUMBER, 'pps': NUMBER, 'bytes': int, 'packets': int,
                 'duplicate': int, 'lost': int, 'bad': int, 'dropped': int},
    'sender': {'packets': int, 'retransmitted': int, 'repair': int},
    'repair': {'sent': int, 'used': int, 'undecodable_blocks': int, 'overhead': NUMBER},
    'cycles_per_packet': {'here': dict, 'receiver': NUMBER},
    'cost': {'here': COST, 'receiver': COST},
    'refused_packets': dict, 'loss': NUMBER, 'cores': list,
    'steady': {'from_seconds': NUMBER, 'bps': NUMBER, 'pps': NUMBER},
}
LIMITS = {'start', 'rate', 'line', 'others', 'loss', 'window', 'memory', 'disk', 'peer_disk',
          'pipe', 'peer', 'cpu'}
INTERVAL = {'seconds': NUMBER, 'span': NUMBER, 'bps': NUMBER, 'pps': NUMBER, 'retransmitted': int,
            'repair': int, 'bad': int, 'lost': int, 'dropped': int,
            'cycles_per_packet_here': NUMBER, 'cycles_per_packet_receiver': NUMBER,
            'loss': NUMBER, 'rtt_ms': (*NUMBER, type(None))}

# Payload and bytes on the wire of a full packet: Ethernet with preamble, FCS and gap, IPv4, UDP,
# head; payloads are a multiple of 32.
PACKET = {1500: (1408, 1538), 9000: (8896, 9026)}


def decode(result):
    report = decode_object(result)
    expect_fields(report, FIELDS)
    for interval in report['intervals']:
        expect_fields(interval, INTERVAL, 'interval')
    return report


def measure(pair, *args):
    result = pair.run('bench', '--json', *args, SERVER, timeout_s=20)
    expect_status(result, OK)
    report = decode(result)
    receiver = report['receiver']
    expect_equal('ok', report['ok'], True)
    expect_between('bytes by rate and time', receiver['bps'] * receiver['seconds'] / 8,
                   0.999 * receiver['bytes'], 1.001 * receiver['bytes'])
    expect(receiver['packets'] > 0, 'no packet was counted')
    for core in report['cores']:
        expect_between(f'busy of CPU {core["cpu"]}', core['busy'], 0, 1)
    expect('loop' not in report['cycles_per_packet']['here'], 'rounds without work cost packets')
    return report


def by_time(program, folder, args, seconds=1.5, **link):
    with Pair(program, folder, **link) as pair:
        report = measure(pair, '--time', f'{seconds}s', *args)
        # A busy machine takes the end of it late.
        took = report['receiver']['seconds']
        expect_between('seconds', took, seconds - 0.1, seconds + 5)
        expect_between('intervals', len(report['intervals']), 1, took + 1)
        expect_equal('parallel', report['parallel'], 4 if '--parallel' in args else 1)
        expect_equal('reverse', report['reverse'], '--reverse' in args)
        here = report['cycles_per_packet']['here']
        expect(sum(here.values()) > 1, f'cycles of this end: {here}')
        expect(report['cycles_per_packet']['receiver'] > 1, f'{report["cycles_per_packet"]}')
        for end in 'here', 'receiver':
            cost = report['cost'][end]
            expect_between(f'cycles a byte {end}', cost['cycles_per_byte']['packets'], 0.01, 100)
            expect_between(f'cores {end}', cost['cores_at_100_gbps']['packets'], 0.01, 1000)
        pair.stop_server()


def by_size(program, folder, args):
    """Exactly the requested bytes are sent, whatever --time says."""
    with Pair(program, folder) as pair:
        for size in (1, 100 * MIB + 1):
            report = measure(pair, '--size', size, '--time', '100ms', *args)
            expect_equal('bytes', report['receiver']['bytes'], size)
        pair.stop_server()


def rate(program, folder, args, mtu=1500):
    """Within 1 % of what was asked for, as the receiver counts it over 2 s: of two idle CPUs."""
    payload, wire = PACKET[mtu]
    wanted_bps = 1e9 * payload / wire
    with Pair(program, folder, both=('--mtu', mtu)) as pair:
        for _ in range(TRIES):
            waited = waited_seconds(pair.process.pid)
            with pair.running('bench', '--json', '--profile', 'fixed', '--rate', '1G', '--time',
                              '2s', *args, SERVER) as client:
                # One that hardly had a CPU ends without having polled for a second.
                wait_until(lambda: cpu_seconds(client.pid) > 1 or has_ended(client.pid), 20,
                           'a client that polls')
                starved = has_ended(client.pid)
                waited += waited_seconds(client.pid)
                time.sleep(1)
                waited = waited_seconds(client.pid) + waited_seconds(pair.process.pid) - waited
                result = pair.finish(client)
            expect_status(result, OK)
            receiver = decode(result)['receiver']
            packets = receiver['bytes'] / payload
            # A piece of 128 KiB ends in a shorter packet: 15 for 14.7 of MTU 9000.
            expect_between('packets', receiver['packets'], packets, packets * 1.02 + 10)
            if not starved and waited < BUSY_S or receiver['bps'] >= 0.99 * wanted_bps:
                break
        pair.stop_server()
    if (starved or waited >= BUSY_S) and receiver['bps'] < 0.99 * wanted_bps:
        raise Skip(f'others had the CPUs for {waited:.3f} s')
    expect_between('bps', receiver['bps'], 0.99 * wanted_bps, 1.01 * wanted_bps)


def idle_sessions(program, folder):
    """200 idle sessions beside a busy one."""
    with Pair(program, folder, server=('--sessions', '300')) as pair:
        report = measure(pair, '--time', '1s', '--idle', '200')
        expect(report['receiver']['bytes'] > MIB, f'only {report["receiver"]["bytes"]} bytes')
        report = measure(pair, '--size', MIB)
        expect_equal('bytes afterwards', report['receiver']['bytes'], MIB)
        pair.stop_server()


def idle_refused(program, folder):
    """With fewer idle sessions than requested the client says so and exits."""
    with Pair(program, folder, server=('--sessions', '20')) as pair:
        result = pair.run('bench', '--json', '--time', '30s', '--idle', '40', SERVER, timeout_s=20)
        expect_status(result, NETWORK)
        expect_said(result, 'no room for another session')
        expect_equal('ok', decode(result)['ok'], False)
        measure(pair, '--size', MIB)
        pair.stop_server()


def interrupted(program, folder, args):
    """An interrupted run reports totals and seconds so far; the server accepts the next client."""
    with Pair(program, folder) as pair:
        with pair.running('bench', '--json', '--time', '30s', *args, SERVER) as client:
            # Its row of the first second is there by then, its start counted.
            wait_until(lambda: cpu_seconds(client.pid) > 2.4, 40, 'a client at work')
            client.send_signal(signal.SIGINT)
            result = pair.finish(client, 5)
        expect_status(result, INTERRUPTED)
        expect_said(result, 'interrupted')
        report = decode(result)
        rows = sum(i['bps'] * i['span'] / 8 for i in report['intervals'])
        expect_between('bytes of all intervals', rows, 1, 1.001 * report['receiver']['bytes'])
        measure(pair, '--size', MIB)
        pair.stop_server()


# Of 128,4 each of the pump's chunks of 128 KiB, 94 packets, is a block; and HELLO or READY is one.
REPAIR_PKTS = 512 * 4 + 4


def repair(program, folder, args):
    """Repair packets are sent as requested; all reports agree and count their cycles apart."""
    with Pair(program, folder) as pair:
        report = measure(pair, '--size', 64 * MIB, *args)
        expect_equal('bytes', report['receiver']['bytes'], 64 * MIB)
        told = report['repair']
        expect_equal('undecodable_blocks', told['undecodable_blocks'], 0)
        expect_equal('sender.repair', report['sender']['repair'], told['sent'])
        # At the receiver those that come late are not told apart from duplicates; and a sender that
        # is late with its last ones ends before, once all data has arrived.
        low = (0.7 if '--reverse' in args else 0.9) * REPAIR_PKTS
        # What asks after the last packets may repeat a repair packet.
        high = REPAIR_PKTS + report['sender']['retransmitted']
        expect_between('repair.sent', told['sent'], low, high)
        expect_between('overhead', told['overhead'], 0.7 * 4 / 94, 1.1 * 4 / 94)
        rows = sum(interval['repair'] for interval in report['intervals'])
        expect_between('repair of the rows', rows, 1 if report['intervals'] else 0, told['sent'])
        report = measure(pair, '--size', 2 * MIB)
        expect_equal('repair, off', report['repair'],
                     {'sent': 0, 'used': 0, 'undecodable_blocks': 0, 'overhead': 0})
        pair.stop_server()


def repair_by_time(program, folder):
    with Pair(program, folder) as pair:
        report = measure(pair, '--time', '1500ms', '--fec', '64,8')
        expect(report['cycles_per_packet']['here']['coder'] > 10, 'encoding costs nothing')
        expect(sum(interval['repair'] for interval in report['intervals']) > 1000, 'rows of 0')
        report = measure(pair, '--time', '1s', '--fec', 'auto', '--profile', 'fixed')
        expect_between('overhead on a clean path', report['repair']['overhead'], 1e-6, 0.02)
        result = pair.run('bench', '--time', '500ms', '--fec', '8,1', SERVER, timeout_s=20)
        expect_status(result, OK)
        expect(re.search(r'^repair: \d+ packets, 12\.\d\d for 100 of data; brought back 0, too few '
                         r'in 0 blocks$', result.out, re.MULTILINE), f'{result.out!r}')
        pair.stop_server()


def ttp(program, folder):
    """A profile that needs repair packets; then --strict-paper with another profile."""
    with Pair(program, folder) as pair:
        report = measure(pair, '--profile', 'ttp', '--rate', '100M', '--time', '500ms')
        expect_equal('profile', report['profile'], 'ttp')
        expect(report['repair']['sent'] > 0, 'ttp without repair packets')
        report = measure(pair, '--profile', 'fixed', '--strict-paper', '--fec', 'auto',
                         '--rate', '100M', '--time', '500ms')
        expect(report['repair']['sent'] > 0, 'auto without repair packets')
        expect_equal('undecodable_blocks', report['repair']['undecodable_blocks'], 0)
        expect_equal('retransmitted', report['sender']['retransmitted'], 0)
        result = pair.run('bench', '--strict-paper', SERVER, timeout_s=10)
        expect_status(result, USAGE)
        expect_said(result, '--fec auto')
        pair.stop_server()


def rate_binds(program, folder):
    """A profile that finds its rate stays below the limits of both ends."""
    with Pair(program, folder, server=('--rate', '80M')) as pair:
        for profile in ('udt', 'ttp'):
            for rate, args in ((40e6, ('--rate', '40M')), (80e6, ('--reverse',))):
                report = measure(pair, '--profile', profile, '--time', '500ms', *args)
                # How near they come to it is for CPUs of their own.
                expect_between(f'{profile} {" ".join(args)}', report['receiver']['bps'], 1,
                               1.02 * rate)
        pair.stop_server()


def found_rates(program, folder):
    """A row each second about the profile; at the receiving end, what it knows."""
    with Pair(program, folder) as pair:
        for profile, most in (('udt', 200e6), ('ttp', 200e6)):
            report = measure(pair, '--profile', profile, '--rate', '200M', '--time', '1300ms')
            row = report['intervals'][0]
            expect_between(f'rate_bps of {profile}', row['rate_bps'], 1e5, 1.01 * most)
            expect_between('window_packets', row['window_packets'], 1, 1 << 24)
            expect_between('rtt_ms', row['rtt_ms'], 1e-3, 1000)
            expect_between('loss', row['loss'], 0, 0.5)
            expect(row['limited_by'] in LIMITS, f'limited by {row["limited_by"]}')
        report = measure(pair, '--profile', 'udt', '--reverse', '--rate', '200M', '--time',
                         '1300ms')
        row = report['intervals'][0]
        expect_equal('known where it is sent', [row[name] for name in
                                                ('rate_bps', 'window_packets', 'limited_by')],
                     [None, None, None])
        expect_between('loss', row['loss'], 0, 0.5)
        result = pair.run('bench', '--profile', 'udt', '--time', '1300ms', SERVER, timeout_s=20)
        expect_status(result, OK)
        for pattern in (r'^ +s +Gb/s +retr +repair +paced Gb/s +window +RTT ms +loss % '
                        r'+limited by$', r'^ +1\.\d\d +\d+\.\d{3} .* (' + '|'.join(LIMITS) + ')$'):
            expect(re.search(pattern, result.out, re.MULTILINE), f'no /{pattern}/: {result.out!r}')
        pair.stop_server()


# Seconds without work after which a core naps (app/wavehaul/loop.h), and some time.
QUIET_S = 3


def lies(program, folder):
    """
    Who was lied to, and kept it, neither crawls nor keeps it any longer; at a server that naps, and
    takes the first train all at once.
    """
    state = folder / 'state'

    def go():
        return measure(pair, '--profile', 'lambda', '--time', '1s', '--state', state)

    with Pair(program, folder) as pair:
        go()
        (kept,) = state.iterdir()
        for capacity_bps, rtt_ns, pkts in ((1, 1, 1), (1000, 10**11, 0), (10**14, 1, 1 << 24)):
            entry = json.loads(kept.read_text())
            entry['path'] |= {'capacity_bps': capacity_bps, 'rtt_ns': rtt_ns, 'burst_pkts': pkts}
            kept.write_text(json.dumps(entry))
            time.sleep(QUIET_S)
            report = go()
            expect_equal('known', report['learnt']['known']['capacity_bps'], capacity_bps)
            expect(report['receiver']['bps'] > 50e6, f'{report["receiver"]["bps"]} b/s')
            path = json.loads(kept.read_text())['path']
            expect_between('kept then', path['capacity_bps'], 10e6, 10**13)
            expect_between('round trip', path['rtt_ns'], 1000, 10**9)
        pair.stop_server()


def way(program, folder):
    """A run starts with what the previous one found, unless it is told otherwise."""
    state = folder / 'state'

    def go(*args):
        report = measure(pair, '--profile', 'lambda', '--time', '300ms', '--state', state, *args)
        return report['learnt']

    with Pair(program, folder) as pair:
        first = go()
        expect_equal('known at first', first['known'], None)
        expect_between('found', first['found']['capacity_bps'], 1e6, 1e12)
        second = go()
        expect_equal('known by', second['known'].pop('by'), 'lambda')
        expect(second['known'].pop('when').endswith('Z'), 'no time')
        expect_equal('known then', second['known'], first['found'])
        expect_equal('nothing', go('--known', 'none')['known'], None)
        told = go('--known', '50M,2ms,9')['known']
        expect_equal('told', [told[key] for key in ('capacity_bps', 'rtt_ms', 'burst_packets',
                                                    'by')], [50_000_000, 2, 9, 'operator'])
        kept = list(state.iterdir())
        expect_equal('files', len(kept), 1)
        kept[0].write_text('{"format": 2}')
        result = pair.run('bench', '--profile', 'lambda', '--time', '300ms', '--state', state,
                          SERVER)
        expect_status(result, OK)
        expect_said(result, 'is not believed: it is damaged')
        expect('path known from' not in result.out, result.out)
        result = pair.run('bench', '--profile', 'lambda', '--time', '300ms', '--state', state,
                          SERVER)
        expect(re.search(r'^path known from 20\d\d-\d\d-\d\d: [\d.]+ .b/s, ', result.out, re.M),
               result.out)
        pair.stop_server()


def what_limits(program, folder):
    """Named at the end that sends; the rate asked for, and the warm-up beside the rest."""
    with Pair(program, folder) as pair:
        report = measure(pair, '--profile', 'fixed', '--rate', '50M', '--time', '2500ms')
        expect_equal('rate_bps', report['rate_bps'], 50_000_000)
        expect(report['limited_by'] in ('rate', 'cpu'), str(report['waits']))
        # Also of the last one, at whose end there is nothing more to send.
        wrong = {row['limited_by'] for row in report['intervals']} - {'rate', 'cpu'}
        expect(not wrong, f'intervals are limited by {wrong}')
        expect_between('from', report['steady']['from_seconds'], 0.9, 2.5)
        # What was held up in the first second comes in the next.
        expect_between('the steady rate', report['steady']['bps'], 1e6, 80e6)
        expect_between('the whole rate', report['receiver']['bps'], 1e6, 51e6)
        expect_between('the least round trip', report['rtt_ms']['min'], 0.001,
                       report['rtt_ms']['mean'] + 50)
        report = measure(pair, '--profile', 'fixed', '--time', '500ms')
        expect_equal('rate_bps', report['rate_bps'], None)
        expect(report['limited_by'] in LIMITS - {'rate'}, f'limited by {report["limited_by"]}')
        expect_equal('warm-up of half a second', report['steady']['from_seconds'], 0)
        report = measure(pair, '--reverse', '--time', '300ms')
        expect_equal('limited_by, which the server knows', report['limited_by'], None)
        pair.stop_server()


def text(program, folder):
    with Pair(program, folder) as pair:
        result = pair.run('bench', '--profile', 'fixed', '--time', '1s', SERVER, timeout_s=20)
        expect_status(result, OK)
        for pattern in (r'^ +s +Gb/s +Mpps +retr +repair +lost +bad +dropped +cycles/pkt$',
                        r'^ +1\.\d\d +\d+\.\d{3}', r'b/s at the receiver', r'p99\.9 \d+ ns',
                        r'^  trans +\d', r'^cycles .* of the receiver, all together: \d'):
            expect(re.search(pattern, result.out, re.MULTILINE), f'no /{pattern}/: {result.out!r}')
        pair.stop_server()


def mtu_differs(program, folder):
    """A client whose packets are too long for the server is told so before anything is sent."""
    with Pair(program, folder) as pair:
        result = pair.run('bench', '--mtu', '9000', '--size', MIB, SERVER, timeout_s=30)
        expect_status(result, NETWORK)
        expect_said(result, r'--mtu')
        measure(pair, '--size', MIB)
        pair.stop_server()


def nobody_there(program, folder):
    with Pair(program, folder) as pair:
        result = pair.run('bench', '--size', MIB, '198.51.100.77', timeout_s=20)
        expect_status(result, NETWORK)
        expect_said(result, r'198\.51\.100\.77')
        measure(pair, '--size', MIB)
        pair.stop_server()


def no_server(program, folder):
    with Pair(program, folder) as pair:
        pair.stop_server()
        result = pair.run('bench', '--peer-timeout', '2s', SERVER, timeout_s=20)
        expect(result.status in (NETWORK, 7), f'exit status {result.status}')
        expect_said(result, 'memif|link')


def ipv6(program, folder, link, args):
    """UDP checksums are present: computed by us, or left to the port and unchecked by the peer."""
    size = 8 * MIB + 1
    with Pair(program, folder, link=link, server=('--addr', '2001:db8::1/64')) as pair:
        result = pair.run('bench', '--json', '--addr', '2001:db8::2/64', '--size', size, *args,
                          '2001:db8::1', timeout_s=20)
        expect_status(result, OK)
        report = decode(result)
        expect_equal('bytes', report['receiver']['bytes'], size)
        expect_equal('bad', report['receiver']['bad'], 0)
        pair.stop_server()


def two_queues(program, folder):
    """One lane per queue: each server queue receives half of the bytes, and none are lost."""
    if os.geteuid() != 0:
        raise Skip('only root knows where the telemetry is')
    size = 64 * MIB
    with telemetry() as (prefix, ask), \
            Pair(program, folder, both=('--queues', '2'),
                 server=('--eal', f'--file-prefix={prefix}')) as pair:
        for args in ((), ('--reverse',)):
            queues = [ask(f'/wavehaul/ports,{queue}') for queue in range(2)]
            report = measure(pair, '--size', size, '--parallel', 2, *args)
            expect_equal('bytes', report['receiver']['bytes'], size)
            way = 'tx_bytes' if args else 'rx_bytes'
            for queue, before in enumerate(queues):
                moved = ask(f'/wavehaul/ports,{queue}')[way] - before[way]
                expect_between(f'{way} of queue {queue}', moved, size / 2, 0.6 * size)
        pair.stop_server()


def two_packet_cores(program, folder):
    """The client receives on the server's CPU and sends on its own: slow, and right."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise Skip('one CPU')
    with Pair(program, folder) as pair:
        for args in ((), ('--reverse',), ('--parallel', 2)):
            result = program.run(*pair.command(
                'bench', '--json', '--rx-cpus', cpus[0], '--tx-cpus', cpus[1], '--size',
                2 * MIB + 1, *args, SERVER))
            expect_status(result, OK)
            expect_equal('bytes', decode(result)['receiver']['bytes'], 2 * MIB + 1)
        pair.stop_server()


def books_apart(program, folder):
    """One CPU of the client takes packets, the other one keeps their books."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise Skip('one CPU')
    with Pair(program, folder) as pair:
        result = program.run(*pair.command(
            'bench', '--json', '--verbose', '--reverse', '--rx-cpus', cpus[0], '--books-cpus',
            cpus[1], '--size', 2 * MIB + 1, SERVER))
        expect_status(result, OK)
        expect(re.search(f'CPU {cpus[1]}: .*books', result.err), result.err)
        expect_equal('bytes', decode(result)['receiver']['bytes'], 2 * MIB + 1)
        pair.stop_server()


def fails_at_once(program, folder):
    """Errors before a port is open: send, get and bench print an object with the outcome."""
    (folder / 'file').write_bytes(b'x')
    port = ('--config', 'none', '--no-huge', '--port', f'memif:{folder}/none/socket', '--addr',
            '192.0.2.2/24', '--json')
    for verb, status, operands in (('send', HARDWARE, (folder / 'file', f'{SERVER}:')),
                                   ('get', HARDWARE, (f'{SERVER}:file', folder)),
                                   ('bench', HARDWARE, (SERVER,)), ('bench', USAGE, ())):
        result = program.run(verb, *port, *operands)
        expect_status(result, status)
        try:
            report = json.loads(result.out)
        except json.JSONDecodeError as error:
            raise Failed(f'{verb}: no JSON object ({error}): {result.out[:300]!r}') from None
        wanted = {'verb': verb, 'ok': False, 'exit_status': status,
                  'host': SERVER if operands else '', 'error': result.err.strip()[10:]}
        expect_equal(verb, {name: report.get(name) for name in wanted}, wanted)


def host_of_no_encoding(program, folder):
    """A name that is not UTF-8 loses its invalid bytes in JSON; the object remains valid."""
    host = os.fsdecode(b'no\xffsuch')
    port = ('--config', 'none', '--no-huge', '--port', f'memif:{folder}/socket', '--addr',
            '192.0.2.2/24', '--json')
    for verb, operands in (('send', (__file__, f'{host}:')), ('get', (f'{host}:file', folder)),
                           ('bench', (host,))):
        result = program.run(verb, *port, *operands)
        expect_status(result, NETWORK)
        report = json.loads(result.out or 'null')
        expect(report is not None, f'{verb}: no JSON object')
        expect_equal(verb, [report[name] for name in ('verb', 'ok', 'exit_status', 'host')],
                     [verb, False, NETWORK, 'no?such'])


def cases():
    partial = functools.partial
    for name, args in (('', ()), ('reverse ', ('--reverse',)), ('lanes ', ('--parallel', '4')),
                       ('reverse lanes ', ('--reverse', '--parallel', '4'))):
        yield Case(f'{name}time', name == '',
                   partial(by_time, args=args, seconds=1.5 if args else 2))
        yield Case(f'{name}size', name in ('', 'reverse lanes '), partial(by_size, args=args))
    yield Case('rate', True, partial(rate, args=()), judges_time=True)
    yield Case('what is known of the way', True, way)
    yield Case('lies about the way', False, lies, judges_time=True)
    yield Case('what limits', True, what_limits)
    yield Case('found rates', True, found_rates)
    yield Case('reverse rate lanes', False,
               partial(rate, args=('--reverse', '--parallel', '4'), mtu=9000), judges_time=True)
    yield Case('time vhost', False, partial(by_time, args=(), link='vhost'))
    yield Case('time no hugepages', False, partial(by_time, args=(), huge=False))
    yield Case('idle sessions', False, idle_sessions)
    yield Case('idle refused', True, idle_refused)
    for name, args in (('', ()), ('reverse ', ('--reverse', '--parallel', '2'))):
        yield Case(f'{name}interrupted', name != '', partial(interrupted, args=args))
    for name, args in (('', ()), ('reverse ', ('--reverse',)),
                       ('reverse tornado ', ('--reverse', '--code', 'tornado'))):
        yield Case(f'{name}repair', name == '', partial(repair, args=('--fec', '128,4', *args)))
    yield Case('repair by time', False, repair_by_time)
    yield Case('ttp and strict paper', True, ttp)
    yield Case('rate binds', False, rate_binds)
    yield Case('text', False, text)
    yield Case('mtu differs', False, mtu_differs)
    yield Case('nobody there', False, nobody_there)
    yield Case('no server', False, no_server)
    yield Case('fails at once', True, fails_at_once)
    yield Case('host of no encoding', True, host_of_no_encoding)
    yield Case('ipv6 memif', False, partial(ipv6, link='memif', args=()))
    yield Case('ipv6 reverse vhost', False, partial(ipv6, link='vhost', args=('--reverse',)))
    yield Case('two queues', True, two_queues)
    yield Case('two packet cores', False, two_packet_cores)
    yield Case('books apart', True, books_apart)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
