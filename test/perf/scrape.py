#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What a scraper of metrics costs a transfer over memif: with and without one, by turns.

    scrape.py [--binary PATH] [--mib N] [--rounds N] [--rate N]

A file goes to a server, in the order without, with, with, without, while somebody reads its metrics
RATE times a second, or nobody. Wants two CPUs with nothing else to do; the reader shares them. It
judges nothing; medians, and the quartiles of what with has of without, stand in the last lines.
"""

import argparse
import contextlib
import http.client
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Program, decode_object, expect, expect_status  # noqa: E402
from pair import Pair, remote  # noqa: E402

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
MIB = 1 << 20
ORDER = (False, True, True, False)


def take():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--binary', type=Path, default=BINARY)
    parser.add_argument('--mib', type=int, default=1024)
    parser.add_argument('--rounds', type=int, default=4)
    parser.add_argument('--rate', type=float, default=10, help='scrapes a second')
    return parser.parse_args()


class Scraper:
    """Reads the page at that port so often, for the length of a `with`."""

    def __init__(self, port, rate):
        self.port, self.gap_s = port, 1 / rate
        self.over, self.seconds, self.bytes = threading.Event(), [], 0
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def work(self):
        while not self.over.wait(self.gap_s):
            began = time.monotonic()
            connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
            connection.request('GET', '/metrics')
            self.bytes = len(connection.getresponse().read())
            connection.close()
            self.seconds.append(time.monotonic() - began)


def measure(pair, path, scraper):
    with scraper or contextlib.nullcontext():
        result = pair.run('send', '--json', '--profile', 'fixed', '--rate', 'max', path, remote(),
                          timeout_s=300)
    expect_status(result, 0)
    (pair.served / path.name).unlink()
    return decode_object(result)['goodput_bps'] / 1e9


def main():
    args = take()
    rates, took, page_bytes = {False: [], True: []}, [], 0
    with tempfile.TemporaryDirectory(dir='/dev/shm', prefix='wavehaul-') as name:
        folder = Path(name)
        path = folder / 'file'
        path.write_bytes(random.Random(7).randbytes(MIB) * args.mib)
        with Pair(Program(args.binary), folder, server=('--metrics', '0')) as pair:
            port = int(re.search(r'metrics at http://127\.0\.0\.1:(\d+)/', pair.said()).group(1))
            measure(pair, path, None)  # memory becomes warm
            for _ in range(args.rounds):
                for scraped in ORDER:
                    scraper = Scraper(port, args.rate) if scraped else None
                    rates[scraped].append(measure(pair, path, scraper))
                    if scraped:
                        expect(scraper.seconds, 'nothing was read')
                        took += scraper.seconds
                        page_bytes = scraper.bytes
                    print(f'{"scraped" if scraped else "alone":8} {rates[scraped][-1]:.2f} Gb/s',
                          flush=True)
            pair.stop_server()
    ratios = [one / other for one, other in zip(rates[True], rates[False])]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f'{len(took)} scrapes of {page_bytes} bytes, '
          f'{1000 * statistics.median(took):.1f} ms each')
    print(f'{statistics.median(rates[True]):.2f} Gb/s scraped, '
          f'{statistics.median(rates[False]):.2f} alone; of neighbours {100 * middle:.1f} %, '
          f'quartiles {100 * low:.1f} and {100 * high:.1f} %')


if __name__ == '__main__':
    main()
