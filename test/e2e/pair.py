# SPDX-License-Identifier: BSD-3-Clause
"""Two processes that meet over shared memory: a server, and clients one after the other.

Each end has a CPU of its own where there are two, so that neither waits for the other's time slice.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from harness import GRACE_S, Failed, Result, Skip, end_group, expect, expect_equal, quoted

SERVER, CLIENT = '198.51.100.1', '198.51.100.2'
STARTING_S = 20

# They have little to keep in memory, and no option for it.
RPCS = ('ls', 'du', 'rm', 'mkdir', 'mv', 'ping')

# Hugepages that both ends need, beside what DPDK takes for itself.
HUGE_BYTES = 700 << 20
# Until whoever has them is done with its case.
HUGE_WAIT_S = 60

# What the ends of a link are given as --port, with the socket between them.
LINKS = {
    'memif': ('memif:{},role=server', 'memif:{}'),
    'memif_by_client': ('memif:{}', 'memif:{},role=server'),
    'vhost': ('vhost:{}', 'virtio_user:{}'),
}


def free_huge_bytes():
    fields = dict(re.findall(r'^(HugePages_Free|Hugepagesize):\s+(\d+)',
                             Path('/proc/meminfo').read_text(), re.MULTILINE))
    return int(fields.get('HugePages_Free', 0)) * int(fields.get('Hugepagesize', 0)) << 10


def on_cpu(end):
    """What to run that end (0 or 1) under."""
    cpus = sorted(os.sched_getaffinity(0))
    return ('taskset', '-c', str(cpus[end])) if len(cpus) > 1 and shutil.which('taskset') else ()


def cpu_seconds(pid):
    """Of all threads, in user and kernel space: proc(5), fields 14 and 15."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def has_ended(pid):
    """A zombie: nobody has waited for it yet."""
    return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] == 'Z'


def waited_seconds(pid):
    """For a CPU that others had: the second figure of schedstat, of the thread that polls."""
    return int(Path(f'/proc/{pid}/schedstat').read_text().split()[1]) / 1e9


def wait_until(condition, seconds, what):
    began = time.monotonic()
    while not condition():
        expect(time.monotonic() - began < seconds, f'{what}: not within {seconds} s')
        time.sleep(0.01)


class Pair:
    """A server for the length of a `with`; `served` is the folder it serves.

    `under` is what both ends run under; `server` and `both` are more options.
    """

    def __init__(self, program, folder, *, link='memif', huge=True, server=(), both=(), under=(),
                 served=None, server_under=()):
        self.program, self.folder, self.link, self.under = program, folder, link, under
        self.served = served or folder / 'served'
        self.server_options, self.server_under = server, server_under
        self.process, self.last_words, self.hugepages = None, '', None
        self.both = (*both, *self.memory_options(huge))

    def memory_options(self, huge):
        if huge and not self.under and os.geteuid() == 0 and self.have_hugepages():
            return ()
        if self.link == 'vhost':
            raise Skip('no hugepages, which vhost and virtio_user share')
        return ('--no-huge',)

    def have_hugepages(self):
        """One pair at a time has them, or two would find the same ones free; demo has some."""
        self.hugepages = open(Path(tempfile.gettempdir(), 'wavehaul-hugepages.lock'), 'ab')
        began = time.monotonic()
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self.hugepages, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if free_huge_bytes() >= HUGE_BYTES:
                    return True
            # Only vhost has no other memory.
            if self.link != 'vhost' or time.monotonic() - began > HUGE_WAIT_S:
                return False
            time.sleep(0.05)

    def __enter__(self):
        self.served.mkdir(exist_ok=True)
        # Paths of sockets are short, whatever TMPDIR is, and another user must reach this one.
        self.rendezvous = tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp')
        os.chmod(self.rendezvous, 0o777)
        self.start_server()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self.process is not None and self.process.poll() is None:
                self.process.kill()
                self.process.wait()
                if kind is None:
                    raise Failed('the server was left running')
        finally:
            shutil.rmtree(self.rendezvous, ignore_errors=True)
            if self.hugepages is not None:
                self.hugepages.close()
        if kind is Failed and self.said():
            raise Failed(f'{error}; the server: {self.said()[-400:]!r}') from None

    def port(self, end):
        return LINKS[self.link][end].format(f'{self.rendezvous}/socket')

    def said(self):
        log = Path(self.rendezvous, 'log')
        return log.read_text(errors='replace') if log.exists() else self.last_words

    def start_server(self, *options):
        expect(self.process is None, 'one server at a time')
        self.last_words = ''
        command = [*self.server_under, *on_cpu(0), *self.under, self.program.binary, 'serve',
                   '--config', 'none', '--port', self.port(0), '--addr', f'{SERVER}/24', '--root',
                   self.served, '--buffers', '256M', '--state', 'none', *self.both,
                   *self.server_options, *options]
        with open(Path(self.rendezvous, 'log'), 'wb') as log:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        wait_until(lambda: 'serving' in self.said() or self.process.poll() is not None, STARTING_S,
                   'a server that serves')
        if self.process.poll() is not None:
            status, self.process = self.process.returncode, None
            raise Failed(f'the server ends at once, exit status {status}')

    def await_server(self, timeout_s=GRACE_S):
        """Its exit status; it was told to stop, or killed."""
        try:
            status = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise Failed(f'the server does not stop within {timeout_s} s') from None
        self.last_words, self.process = self.said(), None
        return status

    def stop_server(self):
        self.process.send_signal(signal.SIGTERM)
        expect_equal('the exit status of the server', self.await_server(), 0)

    def kill_server(self):
        self.process.kill()
        expect_equal('the exit status of the server', self.await_server(), -signal.SIGKILL)

    def command(self, verb, *args):
        kept = ('--state', 'none') if verb in ('send', 'get', 'bench') else ()
        room = ('--buffers', '128M') if verb not in RPCS else ()
        return (verb, '--config', 'none', '--port', self.port(1), '--addr', f'{CLIENT}/24',
                *room, *kept, *self.both, *args)

    def start(self, verb, *args):
        return self.program.start(*self.command(verb, *args), under=(*on_cpu(1), *self.under))

    def finish(self, process, timeout_s=60):
        return self.program.finish(process, timeout_s, time.monotonic())

    def run(self, verb, *args, timeout_s=60):
        return self.finish(self.start(verb, *args), timeout_s)

    @contextlib.contextmanager
    def running(self, verb, *args):
        """A client in the background; killed if nobody has taken its result."""
        process = self.start(verb, *args)
        try:
            yield process
        finally:
            if process.returncode is None:
                end_group(process)


def killed(process):
    """Kills a client without a chance to clean up."""
    process.kill()
    out, err = process.communicate()
    return Result(process.returncode, out.decode(), err.decode(), 0)


def remote(path=''):
    return f'{SERVER}:{path}'


def expect_running(process):
    if process.poll() is not None:
        out, err = process.communicate()
        raise Failed(f'ended too soon, exit status {process.returncode}: '
                     f'{quoted(Result(process.returncode, out.decode(), err.decode(), 0))}')


@contextlib.contextmanager
def telemetry():
    """A prefix for DPDK's files, and a function that asks the program which has it."""
    prefix = f'wavehaul-{os.getpid()}'
    folder = Path('/var/run/dpdk', prefix)

    def ask(command):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asker:
            asker.settimeout(STARTING_S)
            asker.connect(str(folder / 'dpdk_telemetry.v2'))
            asker.recv(1 << 16)
            asker.send(command.encode())
            return json.loads(asker.recv(1 << 16))[command.partition(',')[0]]

    try:
        yield prefix, ask
    finally:
        shutil.rmtree(folder, ignore_errors=True)
