#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul wan` between the kernels of two network namespaces, over veth and AF_PACKET.

    wan.py [--quick] [-k PATTERN] [--binary PATH]

Only root makes namespaces: those cases are skipped otherwise. A line for each case, then
'N passed, N failed, N skipped'.
"""

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from harness import (Case, Failed, Result, Skip, decode_object, end_group, expect, expect_between,
                     expect_equal, expect_said, expect_status, quoted, run_cases)
from lab import Lab, Pinger, Tap, order
from pair import cpu_seconds, has_ended, on_cpu, wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, USAGE, CONFIGURATION = 0, 1, 2, 7
STARTING_S, STOPPING_S = 20, 10
LEFT, RIGHT = '192.0.2.1', '192.0.2.2'
LEFT6, RIGHT6 = '2001:db8::1', '2001:db8::2'
UDP_SEGMENT = 103  # udp(7)
OWN_DROPS = ('oversize', 'no_room', 'no_mbuf', 'port_full', 'rx_missed', 'rx_error', 'rx_segments',
             'rx_segments_no_mbuf', 'tx_segments', 'tx_link_down', 'tx_stopped')


@contextlib.contextmanager
def sites(mtu=1500, sums=True):
    """Two hosts, and between them the one that wan is to run on, with an interface to each."""
    with Lab() as lab:
        left, middle, right = (lab.host(name) for name in ('left', 'middle', 'right'))
        right.cpu = left.cpu  # and the other one is wan's
        for host, name, *addresses in ((left, 'wa', f'{LEFT}/24', f'{LEFT6}/64'),
                                       (right, 'wb', f'{RIGHT}/24', f'{RIGHT6}/64')):
            lab.wire((host, 'eth0'), (middle, name), mtu)
            host.add_addresses('eth0', *addresses)
            if not shutil.which('ethtool'):
                raise Skip('ethtool is not there')
            if sums:
                order(*host.under, 'ethtool', '-K', 'eth0', 'tx', 'off')
        yield left, middle, right


class Wan:
    """`wavehaul wan` on a host, for the length of a `with`; then `report` is its JSON."""

    def __init__(self, program, host, *options):
        self.program, self.report, self.under = program, None, host.under
        self.command = [*host.under, program.binary, 'wan', '--port', 'af_packet:wa', '--port',
                        'af_packet:wb', '--json', *map(str, options)]

    def __enter__(self):
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        self.said = b''
        try:
            while self.said.count(b'is up') < 2:
                line = self.process.stderr.readline()
                expect(line, f'wan ends at once: {self.said.decode()}')
                self.said += line
        except BaseException:
            end_group(self.process)
            raise
        return self

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self):
        try:
            out, err = self.process.communicate(timeout=STOPPING_S)
        except subprocess.TimeoutExpired:
            raise Failed('wan does not stop') from None
        result = Result(self.process.returncode, out.decode(), (self.said + err).decode(),
                        time.monotonic() - self.began)
        expect(result.status >= 0, f'died of signal {-result.status}: {quoted(result)}')
        self.report = decode_object(result)
        return result

    def __exit__(self, kind, *_):
        try:
            if kind is None and self.report is None:
                expect_status(self.stop(), OK)
        finally:
            end_group(self.process)


def own_drops(way):
    expect_equal('what may be dropped for want of means', sorted(way['own_dropped_pkts']),
                 sorted(OWN_DROPS))
    return sum(way['own_dropped_pkts'].values())


def expect_even(report):
    """Every frame was forwarded, lost with a reason, or is still held."""
    for name in ('there', 'back'):
        way = report[name]
        lost = sum(way['path_lost_pkts'].values())
        entered = way['came_pkts'] - sum(way['own_dropped_pkts'][reason] for reason in (
            'oversize', 'no_room', 'no_mbuf', 'port_full', 'tx_link_down'))
        expect_equal(f'{name}: what went on and is under way', way['went_pkts'] + way['held_pkts'],
                     entered + way['duplicated_pkts'] - lost)


def delay(program, _folder):
    """ARP, neighbour discovery, both families: each way its own delay; and a host that is none."""
    with sites() as (left, middle, right):
        with Wan(program, middle, '--delay', '10ms', '--back-delay', '25ms') as wan:
            for target in (RIGHT, RIGHT6):
                with Pinger(left, target) as pinger:
                    wait_until(lambda p=pinger: p.ping() is not None, 5, 'an answer')
                    times = sorted(pinger.ping() or 9 for _ in range(15))
                    expect_between(f'the median round trip to {target}', times[7], 0.035, 0.0365)
        expect_even(wan.report)
        for way in ('there', 'back'):
            expect(wan.report[way]['came_pkts'] >= 32, f'{wan.report[way]}')
            expect_equal('dropped by wan itself', own_drops(wan.report[way]), 0)


def send_datagrams(host, target, count, payload_bytes, gap_s=0):
    with host.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender:
        for _ in range(count):
            sender.sendto(bytes(payload_bytes), (target, 9))
            if gap_s:
                time.sleep(gap_s)


def loss(program, _folder):
    """A share of what is sent, one way; what is not lost is what the other host gets."""
    with sites() as (left, middle, right):
        with Wan(program, middle, '--rtt', '2ms', '--loss', '20%', '--back-loss', '0', '--queue',
                 '10000p') as wan:
            with Pinger(right, LEFT) as pinger:  # who asks again and again knows the address
                wait_until(lambda: pinger.ping(timeout_s=0.2) is not None, 10, 'an answer')
            for _ in range(10):
                send_datagrams(left, RIGHT, 500, 100)
                time.sleep(0.01)
            wait_until(lambda: right.packets('rx') >= 3870, 5, 'datagrams')
            time.sleep(0.2)
            arrived = right.packets('rx')
        there = wan.report['there']
        expect(there['came_pkts'] >= 5000, f'{there}')
        expect_between('the share that is lost',
                       there['path_lost_pkts']['loss'] / there['came_pkts'], 0.173, 0.227)
        # The kernel of the middle says a few words of its own there.
        expect_between('what the other host got beyond that', arrived - there['went_pkts'], 0, 20)
        expect_even(wan.report)
        expect_equal('dropped by wan itself', own_drops(there), 0)
        expect_equal('lost on the way back', sum(wan.report['back']['path_lost_pkts'].values()), 0)


def transparent(program, _folder):
    """Any protocol to any address, with a tag and without, as it is; jumbo up to the MTU."""
    with sites(mtu=9000) as (left, middle, right), \
            Wan(program, middle, '--delay', '1ms') as wan, Tap(right) as tap:
        with left.inside():
            sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sender.bind(('eth0', 0))
        head = bytes.fromhex('0200deadbeef020000000001')
        frames = [(0, head + b'\x88\xb5' + bytes(range(200))),
                  (0, head + b'\x99\x99' + bytes(9000)),
                  (7, head + b'\x81\x00\x00\x07\x88\xb5' + bytes(9000)),
                  (0, b'\xff' * 6 + head[6:] + b'\x88\xb5' + b'all'.ljust(46, b'!'))]
        for _, frame in frames:
            sender.send(frame)
        sender.close()

        def ours():
            return [(vlan, frame) for vlan, frame in tap.frames if frame[6:12] == head[6:]]
        wait_until(lambda: len(ours()) >= len(frames), 10, 'the frames')
    arrived = ours()
    # The kernel takes a tag off before it shows the frame.
    expected = [(vlan, frame if not vlan else frame[:12] + frame[16:]) for vlan, frame in frames]
    expect(arrived == expected, f'frames of {[(v, len(f)) for v, f in arrived]} bytes arrive')
    expect_even(wan.report)


def await_taken(left):
    """What was sent before a ping that is answered has been taken by then."""
    with Pinger(left, RIGHT) as pinger:
        wait_until(lambda: pinger.ping() is not None, 10, 'an answer')


def oversize(program, _folder):
    """Frames that are longer than the MTU are dropped by their name, and told of once."""
    with sites() as (left, middle, _), \
            Wan(program, middle, '--delay', '1ms', '--mtu', 1000) as wan:
        with left.inside():
            sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        with sender:
            sender.bind(('eth0', 0))
            for payload_bytes in (1000, 1001, 1400):
                sender.send(bytes.fromhex('ffffffffffff02000000000188b5') + bytes(payload_bytes))
        await_taken(left)
        result = wan.stop()
        expect_status(result, OK)
        expect_equal('too long', wan.report['there']['own_dropped_pkts']['oversize'], 2)
        expect_said(result, 'larger than the MTU of 1000 arrive from af_packet:wa.*ethtool -K')
        expect_equal('sentences of it', result.err.count('larger than the MTU'), 1)
        expect_even(wan.report)


def flood(program, _folder):
    """The shortest frames at many times the line's rate, and segments of 60 kB: by their names."""
    with sites(sums=False) as (left, middle, right), \
            Wan(program, middle, '--delay', '1ms', '--rate', '10M', '--queue', '50p') as wan:
        left.ip('neigh', 'replace', RIGHT, 'lladdr', right.mac(), 'dev', 'eth0')
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            send_datagrams(left, RIGHT, 500, 18)
        with left.inside():
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with sender:
            sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1400)
            for _ in range(10):
                sender.sendto(bytes(60000), (RIGHT, 9))
        time.sleep(0.3)
        result = wan.stop()
    there = wan.report['there']
    expect(there['path_lost_pkts']['queue'] > there['came_pkts'] / 2, f'{there}')
    expect_equal('longer than the MTU', there['own_dropped_pkts']['oversize'], 10)
    expect_said(result, 'larger than the MTU of 1500 arrive from af_packet:wa')
    # 60 bytes and 24 around them: 10 Mb/s are 14881 a second.
    expect_between('frames that went on', there['went_pkts'], 3000, 16000)
    expect_even(wan.report)


def partial(program, _folder):
    """Incomplete checksums from the sender's kernel are reported once, with the fix."""
    with sites(sums=False) as (left, middle, right), \
            Wan(program, middle, '--delay', '1ms') as wan:
        left.ip('neigh', 'replace', RIGHT, 'lladdr', '02:00:00:00:00:02', 'dev', 'eth0')
        send_datagrams(left, RIGHT, 20, 100)
        left.ip('neigh', 'replace', RIGHT, 'lladdr', right.mac(), 'dev', 'eth0')
        await_taken(left)
        result = wan.stop()
        expect_status(result, OK)
        expect_said(result, 'from af_packet:wa have incomplete checksums.*ethtool -K')
        expect_equal('sentences of it', result.err.count('incomplete checksums'), 1)


def merging(program, _folder):
    """An interface that merges incoming frames is reported at start, with the fix."""
    with sites() as (_, middle, _):
        order(*middle.under, 'ethtool', '-K', 'wa', 'gro', 'on')
        with Wan(program, middle) as wan:
            result = wan.stop()
        expect_said(result, "wa merges incoming frames.*run 'ethtool -K wa gro off lro off'")
        expect('wb merges' not in result.err, f'wb, too: {quoted(result)}')


def guests(program, folder):
    """A peer of shared memory is killed amid its data; the next one finds the same path."""
    sockets = [folder / f'{end}.sock' for end in 'ab']
    ends = {'config': 'none', 'mtu': 1500, 'buffers': '64M'}
    common = [word for name, value in ends.items() for word in (f'--{name}', value)]
    common += ['--no-huge', '--unsealed']
    wan = program.start('wan', *(f'--port=memif:{end},role=server' for end in sockets), '--delay',
                        '1ms', '--rate', '1G', '--no-huge', '--memory', '64M', '--json',
                        under=on_cpu(1))
    serve = [program.binary, 'serve', '--port', f'memif:{sockets[0]}', '--addr', f'{LEFT}/24',
             '--root', folder, '--state', 'none', *common]
    bench = ['bench', LEFT, '--port', f'memif:{sockets[1]}', '--addr', f'{RIGHT}/24', '--state',
             'none', '--json', *common]
    try:
        wait_until(sockets[1].exists, 10, 'sockets')
        served = program.start(*serve[1:], under=on_cpu(0))
        try:
            first = program.start(*bench, '--time', '20s', under=on_cpu(0))
            wait_until(lambda: cpu_seconds(first.pid) > 0.8 or has_ended(first.pid), 20, 'data')
            expect(first.poll() is None, 'the first bench ends by itself')
            end_group(first)
            result = program.run(*bench, '--time', '300ms', under=on_cpu(0), timeout_s=20)
            expect_status(result, OK)
            expect(decode_object(result)['receiver']['bps'] > 20e6, quoted(result))
            expect(wan.poll() is None, 'the wan ends with its peer')
        finally:
            end_group(served)
        wan.send_signal(signal.SIGINT)
        report = decode_object(program.finish(wan, STOPPING_S, time.monotonic()))
    finally:
        end_group(wan)
    expect_even(report)
    expect(report['back']['went_pkts'] > 1000, f'{report["back"]}')


def limits(program, folder):
    """Invalid settings are refused with a message before anything starts."""
    two = ('--port', 'af_packet:lo', '--port', 'af_packet:nowhere')
    for args, status, words in (
            ((), USAGE, 'joins two ports; write for example'),
            (two[:2], USAGE, 'joins two ports'),
            ((*two, '--port', 'tap:x'), USAGE, 'joins two ports'),
            ((*two, '--rtt', '1s', '--delay', '1ms'), USAGE, '--rtt and --delay exclude'),
            ((*two, '--loss', '1%', '--loss-model', 'ge:0.1,0.2'), USAGE, 'contradict'),
            ((*two, '--back-loss', '1%', '--back-loss-model', 'ge:0.1,0.2'), USAGE,
             '--back-loss-model ge contradict'),
            ((*two, '--loss', '2'), USAGE, 'is not understood'),
            ((*two, 'eth0'), USAGE, 'unexpected argument'),
            ((*two, '--cpus', '0,1,2'), USAGE, 'there are two ways'),
            (two, CONFIGURATION, 'no interface nowhere'),
            ((*two[:2], '--port', 'udp'), CONFIGURATION, 'udp have no frames to pass on'),
            ((*two[:2], *two[:2]), CONFIGURATION, 'both ports are af_packet:lo'),
            (('--port', 'af_packet:lo', '--port', 'tap:wan0', '--mtu', '1500', '--rate', '100G',
              '--rtt', '10s', '--memory', '1G'), CONFIGURATION,
             r'packets of 500 bytes under way, which take .* all that --memory gives')):
        result = program.run('wan', *args, timeout_s=20)
        expect_status(result, status)
        expect_said(result, words)
        expect_equal('sentences', len(re.findall('^wavehaul', result.err, re.M)), 1)


IPERF_PORT = 5201


def listens(pid, port):
    """In the network of that process: proc(5), net/tcp, state 0A."""
    return any(re.search(rf':{port:04X} +[0-9A-F]+:0000 0A ',
                         Path(f'/proc/{pid}/net/{table}').read_text())
               for table in ('tcp', 'tcp6'))


def iperf(left, right, seconds, *options):
    """Goodput in b/s of a kernel's TCP, from the first second on."""
    if not shutil.which('iperf3'):
        raise Skip('iperf3 is not there')
    server = subprocess.Popen([*right.under, 'iperf3', '--server', '--one-off'],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        wait_until(lambda: listens(server.pid, IPERF_PORT), 10, 'an iperf3 that listens')
        done = order(*left.under, 'iperf3', '--client', RIGHT, '--time', seconds, '--omit', 1,
                     '--json', *options)
    finally:
        end_group(server)
    return json.loads(done)['end']['sum_received']['bits_per_second']


def rate(program, _folder):
    """CUBIC of the kernel fills the line, 100 Mb/s of Ethernet, and nothing but the queue loses."""
    with sites() as (left, middle, right):
        with Wan(program, middle, '--rate', '100M', '--rtt', '10ms') as wan:
            goodput = iperf(left, right, 2, '--congestion', 'cubic')
        # 1448 bytes of 1538 on the wire.
        expect_between('goodput in b/s', goodput, 80e6, 94.2e6)
        expect_even(wan.report)
        lost = wan.report['there']['path_lost_pkts']
        expect_equal('lost but by the queue', lost['loss'] + lost['bit_error'] + lost['outage'], 0)
        expect_equal('dropped by wan itself', own_drops(wan.report['there']), 0)


def schedule(program, folder):
    """The path changes while it runs: delay each way, an outage, losses; as the file says."""
    steps = folder / 'steps.ini'
    steps.write_text('[at 1s]\nrtt = 40ms\n[at 1500ms back]\ndelay = 60ms\n'
                     '[at 2s there]\noutage = 300ms\n[at 2600ms]\nrate = 1M\nrtt = 0s\n')
    with sites() as (left, middle, _):
        with Wan(program, middle, '--rtt', '10ms', '--then', steps) as wan, \
                Pinger(left, RIGHT) as pinger:
            began, times = time.monotonic(), []
            while (at := time.monotonic() - began) < 3:
                times.append((at, pinger.ping(timeout_s=0.15)))
                time.sleep(0.02)
            result = wan.stop()
        # The clock here is some 0.3 s behind that of wan, which is up before it says so.
        for name, low, high, round_s in (('at first', 0, 0.5, 0.01), ('later', 1.05, 1.15, 0.04),
                                         ('with a longer way back', 1.55, 1.95, 0.08)):
            found = [t for at, t in times if low <= at < high and t]
            expect(found and round_s <= min(found) < round_s + 0.004,
                   f'round trips {name}: {found}, of {times}')
        expect(any(t is None for _, t in times), f'no ping is lost in the outage: {times}')
        # 98 bytes and 24 around them at 1 Mb/s, both ways.
        expect_between('the last round trip', times[-1][1], 0.00195, 0.006)
        expect_said(result, r'\[at 2s there\] of .*steps.ini')
        expect(wan.report['there']['path_lost_pkts']['outage'] > 0, f'{wan.report["there"]}')
        expect_equal('lost on the way back', sum(wan.report['back']['path_lost_pkts'].values()), 0)
        expect_even(wan.report)
    steps.write_text('[at 1s]\nrate = quick\n')
    refused = program.run('wan', '--port', 'af_packet:lo', '--port', 'tap:x', '--then', steps)
    expect_status(refused, USAGE)
    expect_said(refused, r"steps.ini:2: rate = 'quick' is not understood")


def streamed(program, folder):
    """A line a second and one for each change; what is in them adds up to what the last one has."""
    steps = folder / 'steps.ini'
    steps.write_text('[at 1500ms there]\nloss = 100%\n')
    with sites() as (left, middle, right):
        began = time.monotonic()
        process = program.start('wan', '--port', 'af_packet:wa', '--port', 'af_packet:wb',
                                '--delay', '1ms', '--then', steps, '--json-stream',
                                under=middle.under)
        left.ip('neigh', 'replace', RIGHT, 'lladdr', right.mac(), 'dev', 'eth0')
        while time.monotonic() - began < 4:
            send_datagrams(left, RIGHT, 10, 1000, gap_s=1e-3)
        process.send_signal(signal.SIGTERM)
        result = program.finish(process, STOPPING_S, began)
    expect_status(result, OK)
    *events, end = map(json.loads, result.out.splitlines())
    rows = [event for event in events if event['event'] == 'interval']
    changes = [event for event in events if event['event'] == 'change']
    expect_equal('changes', [(change['section'], change['seconds']) for change in changes],
                 [('at 1500ms there', 1.5)])
    expect(2 <= len(rows) <= 4, f'{len(rows)} rows')
    for i, row in enumerate(rows):
        expect_between('a second', row['seconds'], i + 1, i + 1.5)
    there = end['there']
    came, lost = (sum(row['there'][name] for row in rows)
                  for name in ('came_pkts', 'path_lost_pkts'))
    expect(500 < came <= there['came_pkts'], f'{came} of {there["came_pkts"]}')
    expect(100 < lost <= there['path_lost_pkts']['loss'], f'{lost} of {there}')
    expect_equal('lost at first', rows[0]['there']['path_lost_pkts'], 0)
    expect(rows[0]['there']['bps'] > 100e3 > rows[-1]['there']['bps'], f'{rows}')


def table(program, _folder):
    """On a terminal a row a second below its head, and the totals at the end."""
    with sites() as (left, middle, _):
        master, end = pty.openpty()
        try:
            process = subprocess.Popen(
                [*middle.under, program.binary, 'wan', '--port', 'af_packet:wa', '--port',
                 'af_packet:wb', '--delay', '1ms', '--time', '2500ms'], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=end, start_new_session=True)
            try:
                out, _ = process.communicate(timeout=STARTING_S)
            finally:
                end_group(process)
            said = os.read(master, 1 << 16).decode()
        finally:
            os.close(end)
            os.close(master)
    expect_equal('the exit status', process.returncode, OK)
    rows = re.findall(r'^ +(\d)\.\d \|( +[\d.]+){2}( +\d+){2} \|( +[\d.]+){2}( +\d+){2}\r$', said,
                      re.MULTILINE)
    expect_equal('seconds', [row[0] for row in rows], ['1', '2'])
    expect_equal('heads', said.count('queue kB'), 2)
    expect(re.search(r'A to B', out.decode()), out)


def capture(program, folder):
    """Each frame as it comes in and as it leaves, the delay apart; and a file of bounded size."""
    if not shutil.which('tshark'):
        raise Skip('tshark is not there')
    file = folder / 'wan.pcapng'
    with sites() as (left, middle, _), \
            Wan(program, middle, '--delay', '5ms', '--pcap', file, '--pcap-snap', 64) as wan:
        with Pinger(left, RIGHT) as pinger:
            wait_until(lambda: pinger.ping(200) is not None, 5, 'an answer')
            expect(all(pinger.ping(200) for _ in range(5)), 'a ping is lost')
    expect_equal('not written', (wan.report['pcap']['missed_pkts'],
                                 wan.report['pcap']['beyond_pkts']), (0, 0))
    fields = order('tshark', '-r', file, '-Y', 'icmp.type == 8', '-T', 'fields', '-e',
                   'frame.interface_name', '-e', 'frame.packet_flags_direction', '-e',
                   'frame.time_epoch', '-e', 'frame.len', '-e', 'frame.cap_len', '-e', 'icmp.seq')
    seen = {}
    for name, direction, when, frame_bytes, kept_bytes, sequence in map(str.split, (
            line.replace(' ', '_') for line in fields.splitlines())):
        expect_equal('bytes of a frame and of its record', (frame_bytes, kept_bytes), ('242', '64'))
        seen.setdefault(sequence, []).append((name, int(direction, 0), float(when)))
    expect(len(seen) >= 6, f'{len(seen)} echo requests')
    for records in seen.values():
        expect_equal('where it is seen', [record[:2] for record in records],
                     [('A_af_packet:wa', 1), ('B_af_packet:wb', 2)])
        # Lateness of a machine that is not quiet counts.
        expect_between('the delay', records[1][2] - records[0][2], 0.005, 0.02)
    expect_equal('frames in the file', len(order('tshark', '-r', file).splitlines()),
                 wan.report['pcap']['written_pkts'])
    with sites() as (left, middle, _), \
            Wan(program, middle, '--delay', '0s', '--pcap', file, '--pcap-max', '64K') as wan:
        with Pinger(left, RIGHT) as pinger:
            wait_until(lambda: pinger.ping(1000) is not None, 5, 'an answer')
            expect(all(pinger.ping(1000) for _ in range(80)), 'a ping is lost')
    expect(wan.report['pcap']['beyond_pkts'] > 50, f'{wan.report["pcap"]}')
    expect_between('bytes of the file', file.stat().st_size, (64 << 10) - 400, 64 << 10)


SMALL_DISK_BYTES = 1 << 20


def frames_in(file):
    """Of a capture that is whole."""
    return len(order('tshark', '-r', file).splitlines())


def capture_enemies(program, folder):
    """It is whole up to a moment before wan is killed, and up to where the disk is full."""
    if not shutil.which('tshark'):
        raise Skip('tshark is not there')
    file, small = folder / 'wan.pcapng', folder / 'small'
    with sites() as (left, middle, _):
        with Wan(program, middle, '--delay', '1ms', '--pcap', file) as wan, \
                Pinger(left, RIGHT) as pinger:
            wait_until(lambda: pinger.ping() is not None, 5, 'an answer')
            wait_until(lambda: file.stat().st_size > 0 and frames_in(file) >= 4, 5,
                       'frames in the file of a wan that runs')
            wan.process.kill()
            wan.process.wait()
            wan.report = {}  # it has none
            expect(frames_in(file) >= 4, 'the file of a killed wan is empty')
        small.mkdir()
        order('mount', '-t', 'tmpfs', '-o', f'size={SMALL_DISK_BYTES}', 'small', small)
        try:
            file = small / 'wan.pcapng'
            with Wan(program, middle, '--delay', '1ms', '--pcap', file, '--pcap-snap',
                     1600) as wan:
                left.ip('neigh', 'replace', RIGHT, 'lladdr', '02:00:00:00:00:02', 'dev', 'eth0')
                send_datagrams(left, RIGHT, 800, 1400, gap_s=1e-4)
                result = wan.stop()
            expect_status(result, OTHER)
            expect_equal('sentences of it', result.err.count('no more is written into'), 1)
            pcap = wan.report['pcap']
            expect_equal('frames in the file', frames_in(file), pcap['written_pkts'])
            expect(pcap['written_pkts'] > 300 and pcap['beyond_pkts'] > 400, f'{pcap}')
        finally:
            order('umount', small)


def second(program, _folder):
    """A second wan on a tap would get a part of its frames: refused; after kill -9 it has both."""
    with sites() as (_, middle, _):
        if not Path('/dev/net/tun').exists():
            raise Skip('no tap here')
        args = ('wan', '--port', 'tap:wy', '--port', 'tap:wz', '--no-huge', '--memory', '64M',
                '--delay', '1ms')
        first = program.start(*args, under=middle.under)
        try:
            wait_until(lambda: 'wz' in middle.ip('-o', 'link'), STARTING_S, 'taps')
            refused = program.run(*args, '--time', '1s', under=middle.under)
            expect_status(refused, CONFIGURATION)
            expect_said(refused, 'another wan already uses the interface wy')
        finally:
            end_group(first)
        expect_status(program.run(*args, '--time', '1s', under=middle.under), OK)


def vanish(program, _folder):
    """An interface that is deleted ends it; a second wan on one is refused; Ctrl-C twice."""
    with sites() as (left, middle, right):
        with Wan(program, middle) as wan:
            middle.ip('link', 'del', 'wb')
            result = wan.end()
            expect_status(result, CONFIGURATION)
            expect_said(result, 'the interface wb and the port on it no longer exist')
        middle.ip('link', 'add', 'wb', 'type', 'veth', 'peer', 'name', 'wc')
        for name in ('wb', 'wc'):
            middle.ip('link', 'set', name, 'up')
        with Wan(program, middle) as wan:
            second = program.run('wan', '--port', 'af_packet:wb', '--port', 'tap:wz',
                                 under=wan.under)
            expect_status(second, CONFIGURATION)
            expect_said(second, 'another wan already uses the interface wb')
            wan.process.send_signal(signal.SIGINT)
            expect_status(wan.stop(), OK)


def cases():
    yield Case('limits', True, limits)
    yield Case('delay', True, delay, judges_time=True)
    yield Case('loss', True, loss, judges_time=True)
    yield Case('transparent', True, transparent)
    yield Case('oversize', True, oversize)
    yield Case('flood', True, flood, judges_time=True)
    yield Case('partial', True, partial)
    yield Case('merging', True, merging)
    yield Case('guests', True, guests)
    yield Case('rate', False, rate, judges_time=True)
    yield Case('schedule', True, schedule, judges_time=True)
    yield Case('streamed', True, streamed)
    yield Case('table', True, table)
    yield Case('capture', True, capture, judges_time=True)
    yield Case('enemies of a capture', False, capture_enemies)
    yield Case('second', False, second)
    yield Case('vanish', True, vanish)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
