# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios by `wavehaul sim`, several at once, the longest first."""

import concurrent.futures
import json
import subprocess
import time
from collections import namedtuple

from .results import Result

# As of wavehaul-sim(1): done, whether or not all expectations hold.
DONE = (0, 8)

# Nothing here takes that long; a simulator that hangs must not hang CI.
LIMIT_S = 3600

# `weight` is roughly the seconds that it takes; `quick` is what --set makes shorter.
Run = namedtuple('Run', 'scenario weight quick')


class Failed(Exception):
    """A scenario that came to nothing, as a sentence."""


class Runner:
    """Leaves no process behind, however it is left."""

    def __init__(self, binary, folder, jobs):
        self.binary, self.folder, self.jobs = binary, folder, jobs
        self.processes, self.over = set(), False

    def __enter__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(self.jobs)
        return self

    def __exit__(self, *_):
        self.over = True
        for process in list(self.processes):
            process.kill()
        self.pool.shutdown(cancel_futures=True)

    def simulate(self, run, quick):
        """(standard output, seconds)"""
        command = [self.binary, 'sim', self.folder / f'{run.scenario}.ini', '--json']
        command += [word for setting in (run.quick if quick else ())
                    for word in ('--set', setting)]
        began = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.processes.add(process)
        if self.over:
            process.kill()
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f'{run.scenario}: not done after {LIMIT_S} s') from None
        finally:
            self.processes.discard(process)
        if process.returncode not in DONE:
            words = ' | '.join(err.decode(errors='replace').strip().splitlines()[-2:])
            raise Failed(f'{run.scenario}: exit status {process.returncode}: '
                         f'{words or "not a word"}')
        return out.decode(), time.monotonic() - began

    def all(self, runs, quick):
        """Yields (run, standard output, seconds) as they end."""
        longest_first = sorted(runs, key=lambda run: -run.weight)
        started = {self.pool.submit(self.simulate, run, quick): run for run in longest_first}
        for done in concurrent.futures.as_completed(started):
            out, seconds = done.result()
            yield started[done], out, seconds


def result_of(name, text):
    try:
        return Result(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise Failed(f'{name}: its JSON is not that of wavehaul-sim(1): {error}') from None
