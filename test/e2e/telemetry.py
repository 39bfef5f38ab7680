#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What DPDK's telemetry says of `wavehaul serve` and of a client, asked through its socket.

    telemetry.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import (Case, Failed, Skip, expect, expect_between, expect_equal, expect_status,
                     run_cases)
from pair import CLIENT, SERVER, Pair, cpu_seconds, expect_running, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

USAGE, NETWORK, INTERRUPTED = 2, 5, 20

COMMANDS = ('/wavehaul/sessions', '/wavehaul/session', '/wavehaul/totals', '/wavehaul/ports',
            '/wavehaul/cores')
CLIENT_TOOL = 'dpdk-telemetry.py'

# DPDK's limits (rte_telemetry.h): sessions in one answer, bytes of one.
LIST_MAX = 512
ANSWER_BYTES = 16 << 10

RATE_BPS = 100_000_000
BENCH = ('--profile', 'fixed', '--rate', str(RATE_BPS // 1_000_000) + 'M', '--json')

# Seconds without work after which a core naps (app/wavehaul/loop.h), and time to notice it.
QUIET_S = 3

# Turns with work of a server that nobody has come to. One that polls has a million in a second.
AWAKE_TURNS_MAX = 500

# Short naps of a core after a packet or two of the kernel's own.
AWAKE_NAPS_MAX = 250


def runtime_folders():
    base = '/var/run' if os.geteuid() == 0 else os.environ.get('XDG_RUNTIME_DIR', '/tmp')
    return f'{os.environ.get("RUNTIME_DIRECTORY", base)}/dpdk/*'


class Telemetry:
    """One connection to the process of that number."""

    def __init__(self, pid):
        self.socket, self.path = None, ''
        wait_until(lambda: self.connect(pid), 10, f'a telemetry socket of process {pid}')

    def connect(self, pid):
        for path in glob.glob(f'{runtime_folders()}/dpdk_telemetry.v2*'):
            found = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            found.settimeout(10)
            with contextlib.suppress(OSError):
                found.connect(path)
                if json.loads(found.recv(1024))['pid'] == pid:
                    self.socket, self.path = found, path
                    return True
            found.close()
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, command, *params):
        self.socket.send(','.join(map(str, (command, *params))).encode())
        answer = self.socket.recv(ANSWER_BYTES)
        expect(answer, f'{command}: the connection ends')
        try:
            return json.loads(answer)[command]
        except (json.JSONDecodeError, KeyError):
            raise Failed(f'{command} is answered {answer[:200]!r}') from None

    def sessions(self):
        """Number -> what is told of it; but for those that end meanwhile."""
        told = {n: self.ask('/wavehaul/session', n) for n in self.ask('/wavehaul/sessions') or ()}
        return {number: session for number, session in told.items() if session}

    def session(self, role, name):
        """The one of that role, by the beginning of its name; None: there is none."""
        found = [s for s in self.sessions().values()
                 if s['role'] == role and s['name'].startswith(name)]
        expect(len(found) < 2, f'{len(found)} sessions {name!r} of a {role}')
        return found[0] if found else None


# Longer than anybody looks, and long enough to see something.
LONG_S, SHORT_S = 20, 3


@contextlib.contextmanager
def bench(pair, whole=False):
    """
    A client that sends: the telemetry of both ends, once the data flows. It is stopped when all has
    been seen, or is let come to its end.
    """
    seconds = SHORT_S if whole else LONG_S
    with pair.running('bench', SERVER, '--time', f'{seconds}s', *BENCH) as process, \
            Telemetry(pair.process.pid) as server, Telemetry(process.pid) as client:
        wait_until(lambda: (server.session('receiver', 'job') or {}).get('received_pkts', 0) > 1000,
                   10, 'data at the server')
        expect_running(process)
        yield server, client
        if not whole:
            process.send_signal(signal.SIGINT)
        expect_status(pair.finish(process), 0 if whole else INTERRUPTED)


def listed(program, folder):
    with Pair(program, folder) as pair, Telemetry(pair.process.pid) as server:
        commands = server.ask('/')
        for command in COMMANDS:
            expect_equal(f'{command} in the list', commands.count(command), 1)
            explained = server.ask('/help', command)[command]
            expect(re.search(r'\bParameter: ', explained), f'{command}: {explained!r}')
        pair.stop_server()


def both_ends(program, folder):
    with Pair(program, folder) as pair:
        with bench(pair) as (server, client):
            here, there = client.session('transmitter', 'job'), server.session('receiver', 'job')
            for session, peer in ((here, SERVER), (there, CLIENT)):
                expect_equal('peer', session['peer'], f'{peer}:5760')
                expect_equal('phase', session['phase'], 'running')
                expect_equal('outcome', session['outcome'], 'pending')
                expect_equal('profile', session['profile'], 'fixed')
                expect_equal('number', session['id'], session['queue'] << 32 | session['cid'])
                expect_equal('stalled', session['stalled'], 0)
            expect_between('paced_bps', here['paced_bps'], RATE_BPS * 0.999, RATE_BPS * 1.001)
            expect_between('window_now_pkts', here['window_now_pkts'], 1, here['window_pkts'])
            expect_between('lost_pkts', here['lost_pkts'], 0, here['sent_pkts'])
            expect(here['limited_by'] in ('rate', 'cpu', 'peer', 'window', 'memory'), str(here))
            answers = server.session('transmitter', 'reply ')
            expect(re.fullmatch('reply [0-9a-f]{16}', answers['name']), answers['name'])
        pair.stop_server()


def sender_of(end, name):
    """What is told of the transmitter, once it has sent something."""
    found = []

    def looked():
        found[:] = filter(None, [end.session('transmitter', name)])
        return found and found[0]['sent_pkts'] > 0
    wait_until(looked, 10, f'a transmitter {name!r}')
    return found[0]


def share(program, folder):
    """
    --share of `send`, `get` and `bench` is that of the end that sends; --rate is a bound. It is
    printed as a setting, and a wrong one is refused by its words.
    """
    with Pair(program, folder) as pair:
        for path in (folder / 'big', pair.served / 'big'):
            path.write_bytes(bytes(range(256)) * (40 << 12))
        for verb, operands in (('bench', (SERVER,)), ('send', (folder / 'big', f'{SERVER}:to')),
                               ('get', (f'{SERVER}:big', folder / 'got'))):
            result = pair.run(verb, *operands, '--share', 'equal')
            expect_status(result, USAGE)
            expect_equal('the refusal', result.err,
                         "wavehaul: --share equal: 'equal' is not understood; lambda.share is a "
                         'sharing dedicated, fair or scavenger\n')
            for how in ('dedicated', 'fair', 'scavenger'):
                asked = pair.run(verb, '--share', how, '--print-config').out
                expect_equal('printed', re.findall('^lambda.share = (.*)$', asked, re.MULTILINE),
                             [how])
                with pair.running(verb, *operands, '--share', how, '--rate', '20M') as process, \
                        Telemetry(process.pid if verb != 'get' else pair.process.pid) as end:
                    session = sender_of(end, 'reply' if verb == 'get' else 'job')
                    expect_equal(verb, (session['profile'], session['options']['share']),
                                 ('lambda', how))
                    expect_between(f'rate of {verb}', session['paced_bps'], 1, 20.1e6)
                    process.send_signal(signal.SIGINT)
                    expect_status(pair.finish(process), INTERRUPTED)
        pair.stop_server()


def rates(program, folder):
    """The rate told is the one by which the counter grows between two answers."""
    with Pair(program, folder) as pair:
        with bench(pair) as (server, _):
            first = server.session('receiver', 'job')
            told = []
            while len(told) < 20:
                last = server.session('receiver', 'job')
                told.append(last['bps'])
                time.sleep(0.05)
        grown = (last['moved_bytes'] - first['moved_bytes']) * 8
        mean_bps = grown * 1e6 / (last['now_us'] - first['now_us'])
        expect_between('the rate', mean_bps, RATE_BPS / 10, RATE_BPS)
        expect_between('the mean of what was told', sum(told) / len(told), mean_bps * 0.6,
                       mean_bps * 1.4)
        expect_between('packets per byte', last['received_pkts'] * last['payload_bytes'],
                       last['moved_bytes'], last['moved_bytes'] * 1.01)
        pair.stop_server()


def never_fall(program, folder):
    """Counters of session, port and core, over a transfer."""
    with Pair(program, folder) as pair:
        before = {}
        with bench(pair) as (server, _):
            number = server.session('receiver', 'job')['id']
            for _ in range(20):
                now = {}
                for command, params in (('session', (number,)), ('ports', ()),
                                        ('cores', tuple(server_cpus(server)[:1]))):
                    answer = server.ask(f'/wavehaul/{command}', *params)
                    now |= {f'{command} {key}': value for key, value in answer.items()
                            if re.search('_(pkts|bytes|cycles)$|^(turns|naps|busy_us)', key)}
                for name, value in before.items():
                    expect(now[name] >= value, f'{name} falls from {value} to {now[name]}')
                before = now
        expect(before['session received_pkts'] > 1000, 'nothing was received')
        expect(before['cores turns'] > 1000, 'the core has not turned')
        expect(before['cores rcv_cycles'] > 0, 'rcv cost nothing')
        pair.stop_server()


def server_cpus(server):
    return [int(name.removeprefix('cpu_')) for name in server.ask('/wavehaul/cores')]


def cores(program, folder):
    with Pair(program, folder) as pair:
        allowed = os.sched_getaffinity(pair.process.pid)
        with bench(pair) as (server, _):
            told = server.ask('/wavehaul/cores')
            expect_equal('CPUs', {int(name[4:]) for name in told}, allowed)
            names = ', '.join(core['tasks'] for core in told.values())
            for name in ('receive', 'send', 'jobs', 'link'):
                expect(name in names, f'{name} is not in {names!r}')
            for name, core in told.items():
                expect_between(f'{name} busy', core['busy_permille'], 0, 1000)
                expect_between(f'{name} busy', core['busy_us'], 0, core['total_us'])
            expect(max(core['busy_us'] for core in told.values()) > 0, 'no core was busy')
            details = [server.ask('/wavehaul/cores', cpu) for cpu in allowed]
        receiving = max(details, key=lambda core: core['received_pkts'])
        expect(receiving['received_pkts'] > 1000, 'no packets')
        expect_between('cycles of rcv', receiving['rcv_cycles'],
                       receiving['rcv_cycles_per_pkt'] * receiving['received_pkts'],
                       (receiving['rcv_cycles_per_pkt'] + 1) * receiving['received_pkts'])
        expect('writer_cycles_per_pkt' not in receiving, 'a price of the writer per packet')
        pair.stop_server()


def idle(program, folder):
    """After some seconds without traffic a server sleeps between looks, and wakes for a client."""
    with Pair(program, folder) as pair, Telemetry(pair.process.pid) as server:
        bench_command = ('bench', '--size', '1M', SERVER)
        expect_status(pair.run(*bench_command), 0)

        def naps():
            return {name: core['naps'] for name, core in server.ask('/wavehaul/cores').items()}

        awake = naps()  # it napped before the client came, too
        wait_until(lambda: all(count > awake[name] + 10 for name, count in naps().items()),
                   QUIET_S + 5, 'naps on each core')
        before, used = server.ask('/wavehaul/cores'), cpu_seconds(pair.process.pid)
        began = time.monotonic()
        time.sleep(2)
        used = cpu_seconds(pair.process.pid) - used
        after = server.ask('/wavehaul/cores')
        seconds = time.monotonic() - began
        # Who does not sleep takes all he gets: 2 s or more, half of it beside two others. A nap
        # costs more where others use the caches: a tenth is no bound that holds everywhere.
        expect(used < seconds / 4, f'idle, the server takes {used:.2f} s of a CPU in {seconds:.2f}')
        for name, core in after.items():
            expect_between('busy', core['busy_permille'], 0, 100)
            # One takes 0.4 ms, and longer where others have the CPU then.
            expect_between(f'naps in {seconds:.2f} s', core['naps'] - before[name]['naps'], 20,
                           2600 * seconds)
        expect_status(pair.run(*bench_command), 0)
        pair.stop_server()


def fresh(program, folder):
    """A server that nobody has come to yet sleeps after every turn from its first one on."""
    with Pair(program, folder) as pair, Telemetry(pair.process.pid) as server:
        for name, core in server.ask('/wavehaul/cores').items():
            awake = core['turns'] - core['naps']
            expect(awake < AWAKE_TURNS_MAX, f'{name} did not sleep after {awake} turns')
        # Without sessions each nap is of 10 ms, but for a tenth of a second after a packet.
        before, began = server.ask('/wavehaul/cores'), time.monotonic()
        time.sleep(2)
        after = server.ask('/wavehaul/cores')
        most = (time.monotonic() - began) * 100 + AWAKE_NAPS_MAX
        for name, core in after.items():
            naps = core['naps'] - before[name]['naps']
            expect(naps < most, f'{name} napped {naps} times')
        pair.stop_server()


def ports(program, folder):
    with Pair(program, folder) as pair:
        with bench(pair) as (server, client):
            told = client.ask('/wavehaul/ports')
            at_server = server.ask('/wavehaul/ports')
            by_queue = server.ask('/wavehaul/ports', 0)
        for port in (told, at_server, by_queue):
            expect_equal('port', port['port'], 'net_memif0')
            expect_equal('queues', port['queues'], 1)
            expect_equal('mtu', port['mtu_bytes'], 1500)
            expect_equal('link', port['link_up'], 1)
        expect(told['tx_pkts'] > 1000, f'the client has sent {told["tx_pkts"]} packets')
        expect(at_server['rx_pkts'] > 1000, f'the server has received {at_server["rx_pkts"]}')
        expect(by_queue['rx_pkts'] >= at_server['rx_pkts'], 'the only queue has not all of them')
        drops = {name: pkts for name, pkts in at_server.items() if name.startswith('drop_')}
        expect(len(drops) > 20, f'only {len(drops)} reasons')
        expect(not any(pkts for name, pkts in drops.items() if name.startswith('drop_packet_')),
               f'bad packets: {drops}')
        pair.stop_server()


def ended(program, folder):
    """Ended sessions and departed clients no longer appear in answers."""
    with Pair(program, folder) as pair:
        with bench(pair, whole=True) as (server, client):
            number = server.session('receiver', 'job')['id']
            path = client.path
        with Telemetry(pair.process.pid) as server:
            wait_until(lambda: server.ask('/wavehaul/sessions') == [], 10, 'the end of sessions')
            expect_equal('the session', server.ask('/wavehaul/session', number), None)
        expect(not os.path.exists(path), f'{path} is left')
        pair.stop_server()


def unanswered(program, folder):
    with Pair(program, folder) as pair, Telemetry(pair.process.pid) as server:
        for command, params in (('session', ()), ('session', ('x',)), ('session', (1,)),
                                ('session', (1 << 64,)), ('sessions', ('-1',)), ('ports', (1,)),
                                ('cores', (9999,)), ('cores', ('cpu_0',))):
            expect_equal(f'{command} {params}', server.ask(f'/wavehaul/{command}', *params), None)
        pair.stop_server()


def all_sessions(server):
    """By pages."""
    pages = [server.ask('/wavehaul/sessions')]
    while len(pages[-1]) == LIST_MAX:
        pages.append(server.ask('/wavehaul/sessions', pages[-1][-1] + 1))
    return [number for page in pages for number in page]


def many_sessions(program, folder):
    with Pair(program, folder, server=('--sessions', '1000', '--peer-openings', '10000')) as pair:
        with pair.running('bench', SERVER, '--time', f'{LONG_S}s', '--idle', '600',
                          '--buffers', '256M', *BENCH) as process, \
                Telemetry(pair.process.pid) as server:
            # At least: beside much other work the server had 605 and 609.
            wait_until(lambda: len(all_sessions(server)) >= 602, 20, 'so many sessions')
            numbers = all_sessions(server)
            expect_equal('order', numbers, sorted(set(numbers)))
            expect_equal('the first page', server.ask('/wavehaul/sessions'), numbers[:LIST_MAX])
            for number in numbers[::100]:
                session = server.ask('/wavehaul/session', number)
                expect_equal('number', session and session['id'], number)
            process.send_signal(signal.SIGINT)
            expect_status(pair.finish(process, 60), INTERRUPTED)
        pair.stop_server()


def ask_until(end, asked, pid):
    """Everything, over and over; a connection that ends is no failure."""
    with contextlib.suppress(OSError, Failed), Telemetry(pid) as server:
        while not end.is_set():
            for command in COMMANDS:
                server.ask(command)
            asked.set()


def asked_while_stopping(program, folder):
    """A server stops correctly during a transfer, however many requests it gets."""
    with Pair(program, folder) as pair:
        asked, end = threading.Event(), threading.Event()
        threads = [threading.Thread(target=ask_until, args=(end, asked, pair.process.pid))
                   for _ in range(4)]
        with pair.running('bench', SERVER, '--time', '20s', *BENCH) as process:
            for thread in threads:
                thread.start()
            try:
                with Telemetry(pair.process.pid) as server:
                    wait_until(lambda: server.session('receiver', 'job'), 10, 'a transfer')
                expect(asked.wait(10), 'nothing is answered')
                pair.process.send_signal(signal.SIGINT)
                wait_until(lambda: 'stopping: 1 ' in pair.said(), 10, 'the first signal')
                pair.process.send_signal(signal.SIGINT)
                status = pair.await_server()
            finally:
                end.set()
                for thread in threads:
                    thread.join()
            expect_equal('the exit status of the server', status, 0)
            expect_status(pair.finish(process), NETWORK, INTERRUPTED)


def dpdks_own_client(program, folder):
    tool = shutil.which(CLIENT_TOOL)
    if tool is None:
        raise Skip(f'{CLIENT_TOOL} is not there')
    with Pair(program, folder) as pair:
        with bench(pair) as (server, _):
            prefix = Path(server.path).parent.name
            instance = server.path.rpartition('v2')[2].removeprefix(':') or '0'
            said = subprocess.run([tool, '-f', prefix, '-i', instance], text=True, timeout=20,
                                  input='/wavehaul/sessions\n', capture_output=True, check=False)
            expect_equal('what it prints', sorted(found_sessions(said)),
                         server.ask('/wavehaul/sessions'))
        pair.stop_server()


def found_sessions(said):
    """The numbers in what the client printed."""
    found = re.search(r'\{.*\}', said.stdout, re.DOTALL)
    expect(found, f'it says {said.stdout!r} {said.stderr!r}')
    return json.loads(found.group().splitlines()[-1])['/wavehaul/sessions']


CASES = [
    Case('listed', True, listed),
    Case('both-ends', True, both_ends),
    Case('share', False, share),
    Case('rates', False, rates, judges_time=True),
    Case('never-fall', False, never_fall),
    Case('cores', True, cores),
    Case('fresh', True, fresh),
    Case('idle', False, idle),
    Case('ports', True, ports),
    Case('ended', True, ended),
    Case('unanswered', True, unanswered),
    Case('many-sessions', False, many_sessions),
    Case('asked-while-stopping', False, asked_while_stopping),
    Case('dpdks-own-client', False, dpdks_own_client),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
