#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What `wavehaul serve --metrics` tells, by HTTP: right in form, and as the control socket has it.

    metrics.py [--quick] [-k PATTERN] [--binary PATH]
"""

import contextlib
import html.parser
import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from control import Control
from exposition import parse
from harness import (Case, Skip, expect, expect_between, expect_equal, expect_status,
                     run_cases)
from pair import Pair, remote, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OPEN_METRICS = 'application/openmetrics-text; version=1.0.0'

# Connections at once, and how long one lasts (app/wavehaul/metrics/http.h).
CLIENTS_MAX, CLIENT_S = 32, 10


@contextlib.contextmanager
def watched(program, folder, *server):
    """A server, its control socket, and the port of its metrics."""
    path = folder / 'control'
    if len(str(path)) > 100:
        raise Skip('the path of a socket is too long here')
    with Pair(program, folder, huge=False,
              server=('--control', path, '--metrics', '0', *server)) as pair:
        port = int(re.search(r'metrics at http://127\.0\.0\.1:(\d+)/', pair.said()).group(1))
        yield pair, path, port


def get(port, path='/metrics', method='GET', **headers):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=CLIENT_S)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read().decode()
    finally:
        connection.close()


def scrape(port, **headers):
    answer, text = get(port, **headers)
    expect_equal('the status', answer.status, 200)
    expect_equal('guesses of its type', answer.headers['X-Content-Type-Options'], 'nosniff')
    return parse(text, answer.headers['Content-Type'])


def checked(text):
    """What promtool says about the output."""
    if not shutil.which('promtool'):
        raise Skip('promtool is not there (prometheus)')
    result = subprocess.run(['promtool', 'check', 'metrics'], input=text, text=True,
                            capture_output=True, check=False)
    expect(result.returncode == 0 and not result.stderr.strip(),
           f'promtool: {result.stdout}{result.stderr}')


def told(path):
    """The same by the control socket: (name, labels) -> value."""
    with Control(path) as control:
        ports, totals = control.told('ports')['ports'], control.told('totals')['totals']
    figures = {('wavehaul_port_up', ()): ports['link_up'],
               ('wavehaul_port_receive_bytes_total', ()): ports['rx_bytes'],
               ('wavehaul_port_transmit_packets_total', ()): ports['tx_pkts']}
    for key, value in ports.items():
        if key.startswith('drop_'):
            figures['wavehaul_port_dropped_packets_total', (('cause', key[5:]),)] = value
    for role, counters in totals.items():
        labels = (('role', role),)
        figures['wavehaul_session_payload_bytes_total', labels] = counters['moved_bytes']
        figures['wavehaul_session_sent_packets_total', labels] = counters['sent_pkts']
        figures['wavehaul_session_received_packets_total', labels] = counters['received_pkts']
        figures['wavehaul_sessions_opened_total', labels] = counters['sessions']
    return figures


def agrees(program, folder):
    """After a transfer the port, the control socket and the client's report tell the same."""
    (folder / 'a').write_bytes(b'x' * 3_000_001)
    with watched(program, folder) as (pair, path, port):
        expect_equal('payload', scrape(port)['wavehaul_session_payload_bytes_total',
                                             (('role', 'receiver'),)], 0)
        result = pair.run('send', folder / 'a', remote('a'), '--json')
        expect_status(result, 0)
        wait_until(lambda: scrape(port)['wavehaul_jobs', ()] == 0, 10, 'the end of the job')
        before, figures, after = told(path), scrape(port), told(path)
        for name, value in before.items():
            expect_between(' '.join(map(str, name)), figures[name], value, after[name])
        report = json.loads(result.out)
        moved = figures['wavehaul_session_payload_bytes_total', (('role', 'receiver'),)]
        # The stream holds the file, and records about it.
        expect_between('payload', moved, report['bytes'], report['bytes'] + 10_000)
        expect_equal('payload, by the control socket', moved,
                     before['wavehaul_session_payload_bytes_total', (('role', 'receiver'),)])
        expect_equal('sessions', figures['wavehaul_sessions_opened_total',
                                         (('role', 'receiver'),)], 1)
        expect(figures['wavehaul_disk_free_bytes', (('folder', 'root'),)] > 0, 'no room on disk')
        checked(get(port)[1])
        opened = scrape(port, Accept=OPEN_METRICS)
        expect_equal('names in the other form', {name for name, _ in opened},
                     {name for name, _ in scrape(port)})
        pair.stop_server()


def never_fall(program, folder):
    """Scraped continuously while sessions start and end."""
    (folder / 'a').write_bytes(b'x' * 300_000)
    with watched(program, folder) as (pair, _, port):
        last, scrapes, began = {}, 0, time.monotonic()
        with pair.running('send', folder / 'a', remote('a')) as process:
            while process.poll() is None:
                now = scrape(port)
                scrapes += 1
                for name, value in now.items():
                    if name[0].endswith('_total'):
                        expect(value >= last.get(name, 0), f'{name} falls to {value}')
                last = now
            expect_status(pair.finish(process), 0)
        expect(scrapes > 3, f'{scrapes} scrapes in {time.monotonic() - began} s')
        pair.stop_server()


def page(program, folder):
    """For people: what peers name is text on it, and names of files are not."""
    (folder / 'a').write_bytes(b'x' * 1000)
    state = folder / 'state'
    with watched(program, folder, '--state', state) as (pair, _, port):
        expect_status(pair.run('send', folder / 'a', remote('<b>secret')), 0)
        wait_until(lambda: scrape(port)['wavehaul_jobs_ended_total',
                                        (('verb', 'send'), ('result', 'ok'))] == 1, 10,
                   'the end of the job')
        expect_equal('bytes', scrape(port)['wavehaul_jobs_ended_bytes_total',
                                           (('verb', 'send'),)], 1000)
        wait_until(lambda: '1000 B' in get(port, '/')[1], 5, 'the transfer on the page')
        answer, text = get(port, '/')
        expect_equal('type', answer.headers['Content-Type'], 'text/html; charset=utf-8')
        expect("default-src 'none'" in answer.headers['Content-Security-Policy'], answer.headers)
        Page().feed(text)
        expect('secret' not in text and '<script' not in text and 'http:' not in text, text)
        see(port, folder)
        pair.stop_server()


class Page(html.parser.HTMLParser):
    """Each element that begins ends, and nothing is fetched from anywhere."""

    EMPTY = ('meta',)

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        expect(tag not in ('script', 'link', 'img', 'iframe', 'object'), tag)
        expect(not [name for name, value in attrs if name in ('src', 'style') or
                    name.startswith('on') or (name == 'href' and value != '/metrics')], str(attrs))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        expect_equal('the element that ends', tag, self.open.pop() if self.open else None)


def see(port, folder):
    """In a real browser, if there is one: it shows the tables, and reports no errors."""
    browser = shutil.which('chromium')
    if browser:
        dump = subprocess.run(
            [browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={folder}/c',
             '--enable-logging=stderr', '--dump-dom', f'http://127.0.0.1:{port}/'],
            capture_output=True, text=True, timeout=40, check=False)
        expect('Last transfers' in dump.stdout and '1000 B' in dump.stdout, dump.stderr[-400:])
        expect('CONSOLE' not in dump.stderr, dump.stderr[-400:])


def no_page(program, folder):
    with watched(program, folder) as (pair, _, port):
        for path, method, status in (('/nothing', 'GET', 404), ('/metrics', 'POST', 405),
                                     ('/metrics/../../etc/passwd', 'GET', 404),
                                     ('/' + 'x' * 100_000, 'GET', 414)):
            try:
                expect_equal(f'{method} {path[:30]}', get(port, path, method)[0].status, status)
            except (ConnectionError, http.client.HTTPException) as error:
                expect(status == 414, f'{method} {path[:30]}: {error!r}')
        answer, text = get(port, method='HEAD')
        expect_equal('HEAD', (answer.status, text), (200, ''))
        with raw(port) as giant, contextlib.suppress(ConnectionError):
            for _ in range(1000):
                giant.sendall(b'GET /metrics HTTP/1.1\r\nX: ' + b'x' * 4096)
        with raw(port) as noise, contextlib.suppress(ConnectionError):
            noise.sendall(bytes(range(256)) * 16)
            while noise.recv(4096):
                pass
        scrape(port)
        # The end comes while a request is half said.
        with raw(port) as half:
            half.sendall(b'GET /metr')
            pair.stop_server()
            expect_equal('after the end', half.recv(10), b'')


def raw(port):
    found = socket.create_connection(('127.0.0.1', port), timeout=CLIENT_S)
    return found


def crowded(program, folder):
    """Twice as many connections as there may be, all slow: who comes is answered all the same."""
    with watched(program, folder) as (pair, path, port):
        with contextlib.ExitStack() as many:
            slow = [many.enter_context(raw(port)) for _ in range(2 * CLIENTS_MAX)]
            for client in slow:
                with contextlib.suppress(ConnectionError):
                    client.sendall(b'GET /metrics HTTP/1.1\r\n')
            began = time.monotonic()
            scrape(port)
            # None has to wait until the slow ones are given up.
            expect(time.monotonic() - began < CLIENT_S / 2, 'it took its time')
            with Control(path) as control:
                control.told('status')
        descriptors = len(list(Path(f'/proc/{pair.process.pid}/fd').iterdir()))
        expect(descriptors < 150, f'{descriptors} descriptors')
        pair.stop_server()


def where(program, folder):
    """Invalid addresses, an address in use, and a server without a control socket."""
    with watched(program, folder) as (pair, _, port):
        for place, status in (('x', 2), (str(port), 1)):
            result = program.run('serve', '--config', 'none', '--port',
                                 f'memif:{pair.rendezvous}/other,role=server', '--addr',
                                 '192.0.2.9/24', '--root', folder, '--no-huge', '--buffers', '64M',
                                 '--state', 'none', '--metrics', place)
            expect_status(result, status)
            expect('--metrics' in result.err, result.err)
        pair.stop_server()
    with Pair(program, folder, huge=False, server=('--metrics', '127.0.0.1:0')) as pair:
        port = int(re.search(r'metrics at http://127\.0\.0\.1:(\d+)/', pair.said()).group(1))
        expect_equal('jobs', scrape(port)['wavehaul_jobs', ()], 0)
        pair.stop_server()


CASES = [
    Case('metrics: agree with the control socket and the report, and promtool', True, agrees),
    Case('metrics: counters never fall', True, never_fall),
    Case('metrics: a page for people', False, page),
    Case('metrics: what is no page, and requests without an end', True, no_page),
    Case('metrics: slow clients are bounded, and keep nobody out', True, crowded),
    Case('metrics: where they are', False, where),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
