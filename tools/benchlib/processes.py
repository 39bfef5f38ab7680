# SPDX-License-Identifier: BSD-3-Clause
"""Programs that run for a while, each on its CPU, and are gone afterwards whatever happens."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections import namedtuple
from pathlib import Path

POLL_S = 0.01
READY_S = 15
# Between the polite signal and the other.
GRACE_S = 3

# What `timeout` ends with: its polite signal was enough, or it was not.
OUT_OF_TIME = (124, 137)

# Where an end runs: a CPU, and a network namespace or None. One CPU for an end, whatever it is.
Place = namedtuple('Place', 'cpu namespace', defaults=(None,))

Ended = namedtuple('Ended', 'out err seconds')


class Failed(Exception):
    """A measurement that came to nothing, as a sentence."""


def placed(place, limit_s, command):
    """
    The limit holds without us, so that no program spins on after a killed bench. It is taken
    inside the namespace: /proc/PID/net of the started process is then the program's own.
    """
    inside = ['ip', 'netns', 'exec', place.namespace] if place.namespace else []
    return [*inside, 'timeout', '-k', '2', str(limit_s), 'taskset', '-c', str(place.cpu),
            *map(str, command)]


class Program:
    """A started program. Its output goes to files: no pipe fills up while nobody reads."""

    def __init__(self, place, limit_s, command, **popen):
        self.name = str(command[0])
        self.began = time.monotonic()
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            placed(place, limit_s, command), stdout=self.out, stderr=self.err,
            process_group=0, **({'stdin': subprocess.DEVNULL} | popen))

    def said(self, file):
        # By position: the offset is shared with the program, which writes on where it points.
        size = os.fstat(file.fileno()).st_size
        return os.pread(file.fileno(), size, 0).decode(errors='replace')

    def last_words(self):
        text = (self.said(self.err) + '\n' + self.said(self.out)).strip()
        return ' | '.join(text.splitlines()[-3:])[-400:] or 'not a word'

    def await_that(self, condition, what):
        """Waits until condition() of the running program is true, and returns its value."""
        until = time.monotonic() + READY_S
        while not (value := condition()):
            status = self.process.poll()
            if status is not None:
                raise Failed(f'{self.name} ended (status {status}) before {what}: '
                             f'{self.last_words()}')
            if time.monotonic() > until:
                raise Failed(f'{self.name}: not {what} after {READY_S} s: {self.last_words()}')
            time.sleep(POLL_S)
        return value

    def wait(self):
        """Until the program ends by itself, and well."""
        status = self.process.wait()
        ended = Ended(self.said(self.out), self.said(self.err), time.monotonic() - self.began)
        if status in OUT_OF_TIME:
            raise Failed(f'{self.name}: not done in time: {self.last_words()}')
        if status != 0:
            raise Failed(f'{self.name}: exit status {status}: {self.last_words()}')
        return ended

    def signal_group(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self):
        """The whole group: servers fork, and a fork outlives its parent's exit."""
        self.signal_group(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE_S)
        self.signal_group(signal.SIGKILL)
        self.process.wait()
        self.out.close()
        self.err.close()


@contextlib.contextmanager
def running(place, limit_s, command, **popen):
    program = Program(place, limit_s, command, **popen)
    try:
        yield program
    finally:
        program.end()


def run(place, limit_s, command, **popen):
    with running(place, limit_s, command, **popen) as program:
        return program.wait()


def order(*command, limit_s=60, env=None):
    """An errand that belongs to no measurement, such as `ip`; its stdout."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit_s, env=env, check=False)
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        raise Failed(str(error)) from None
    if done.returncode != 0:
        raise Failed(f'{" ".join(command)}: {(done.stderr or done.stdout).strip()[-300:]}')
    return done.stdout


def listens(program, protocol, port):
    """Whether a socket of the program's namespace listens at this port (proc_pid_net(5))."""
    state = {'tcp': '0A', 'udp': '07'}[protocol]
    for table in (protocol, protocol + '6'):
        try:
            text = Path(f'/proc/{program.process.pid}/net/{table}').read_text(encoding='ascii')
        except OSError:
            # It has just ended.
            return False
        for fields in map(str.split, text.splitlines()[1:]):
            if fields[3] == state and int(fields[1].rsplit(':', 1)[1], 16) == port:
                return True
    return False
