#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Machines with a systemd of their own (systemd-nspawn): a Debian each, forgotten at the end.

    machine.py ROOT

boots two of that Debian, says so, and waits to be killed.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'test/e2e'))

from harness import Failed, Skip, expect, expect_equal  # noqa: E402
from lab import Lab, order  # noqa: E402
from pair import wait_until  # noqa: E402

MIB = 1 << 20
BOOT_S, STOP_S, ORDER_S = 120, 60, 40
ENVIRONMENT = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C.UTF-8'}

CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000  # unshare(2)
PR_SET_PDEATHSIG = 1  # prctl(2)
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Where machines and their networks leave something; each is the script's own.
OWN_PLACES = ('/dev/shm', '/run/netns', '/run/systemd/nspawn')

# Both versions of control groups, and the two beside each other; and what names the script's own.
GROUPS = ('/sys/fs/cgroup', '/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified')
GROUP = f'wavehaul-machine-{os.getpid()}'

WIRES = (('eth0', 9000),)

# What a machine of its own has, and one that is a container has not.
CALLS = '@io-event @memlock io_uring_setup io_uring_enter io_uring_register mbind set_mempolicy ' \
        'get_mempolicy move_pages openat2 landlock_create_ruleset landlock_add_rule ' \
        'landlock_restrict_self'

UNIT = '/etc/systemd/system/wavehaul.service.d'

# Memory stays where it is where no limit can be raised.
DROP_IN = """[Service]
AmbientCapabilities=CAP_IPC_LOCK
CapabilityBoundingSet=CAP_IPC_LOCK
"""


def groups(name):
    """Those of that name, in each tree of control groups that a systemd wants."""
    return [Path(tree, name) for tree in GROUPS if Path(tree, 'cgroup.procs').exists()]


def wait_for(process, stopping):
    """Until it ends, which it does by that signal when we are told to."""
    for number in STOPPING:
        signal.signal(number, lambda *_: os.kill(process, stopping))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status if status >= 0 else 128 - status


def be_alone():
    """From here on in a world of processes and mounts of its own, which the kernel takes down as a
    whole, however the script ends: by SIGKILL, too, nothing of its machines stays. Control groups,
    which are in no such world, are removed by a process between the two."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if keeper := os.fork():
        sys.exit(wait_for(keeper, signal.SIGTERM))
    os.setsid()
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWPID) != 0:
        raise Skip(f'no namespaces of its own: {os.strerror(ctypes.get_errno())}')
    if script := os.fork():
        status = wait_for(script, signal.SIGKILL)
        for group in groups(GROUP):  # and those in it; no process can be begun here any more
            for folder, _, _ in os.walk(group, topdown=False):
                os.rmdir(folder)
        os._exit(status)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    order('mount', '--make-rprivate', '/')
    order('mount', '-t', 'proc', 'proc', '/proc')
    for place in OWN_PLACES:
        os.makedirs(place, exist_ok=True)
        order('mount', '-t', 'tmpfs', 'tmpfs', place)


class Operated:
    """What an operator does on a machine; `inside` is how a command gets there."""

    slowness = 1  # all times are by that longer

    def run(self, *command, check=True, timeout=ORDER_S):
        """What it prints; with `check` it has to succeed."""
        done = subprocess.run(self.inside(*command), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout * self.slowness, check=False,
                              env=ENVIRONMENT)
        expect(done.returncode == 0 or not check,
               f'dtn{self.number}: {" ".join(map(str, command))}: {done.stdout}{done.stderr}')
        return done.stdout.strip()

    def of_service(self, name):
        return self.run('systemctl', 'show', '-P', name, 'wavehaul')

    def write(self, path, text):
        """It outlives a power cut."""
        self.run('mkdir', '-p', os.path.dirname(path))
        subprocess.run(self.inside('sh', '-c', f'umask 022; cat >{path} && sync {path}'),
                       input=text.encode(), check=True, timeout=ORDER_S * self.slowness)

    def plant(self, path, size):
        """Makes a file, and returns its digest."""
        self.run('sh', '-c', f'umask 022; head -c {MIB} /dev/urandom >/tmp/piece; '
                 f'for _ in $(seq {size // MIB}); do cat /tmp/piece; done >{path}', timeout=BOOT_S)
        return self.digest_of(path)

    def digest_of(self, path):
        return self.run('sha256sum', path, timeout=BOOT_S).split()[0]

    def wait_until(self, condition, seconds, what):
        wait_until(condition, seconds * self.slowness, what)

    def job(self, *words):
        return self.run('wavehaul', 'job', *words)

    def state_of(self, number):
        return next((line.split()[1] for line in self.job('list', '--all').splitlines()
                     if line.split()[0] == str(number)), None)

    def await_done(self, number, seconds=STOP_S):
        with contextlib.suppress(Failed):
            self.wait_until(lambda: self.state_of(number) == 'done', seconds, 'an end')
        expect(self.state_of(number) == 'done',
               f'job {number}: {self.job("show", number)}; {self.journal()}')

    def journal(self):
        return self.run('journalctl', '-u', 'wavehaul', '--no-pager', '-n', '12', '-o', 'cat')


class Machine(Operated):
    """A copy of ROOT that is forgotten at the end."""

    def __init__(self, root, number, host):
        self.number, self.host, self.process = number, host, None
        self.scratch = Path(tempfile.mkdtemp(prefix='wavehaul-machine-', dir='/dev/shm'))
        self.root = self.scratch / 'root'
        for name in ('root', 'upper', 'work'):
            (self.scratch / name).mkdir()
        order('mount', '-t', 'overlay', 'overlay', '-o',
              f'lowerdir={root},upperdir={self.scratch}/upper,workdir={self.scratch}/work',
              self.root)

    @property
    def address(self):
        return f'192.0.2.{self.number}'

    def enter_groups(self):
        for group in groups(f'{GROUP}/dtn{self.number}'):
            group.mkdir(parents=True, exist_ok=True)
            (group / 'cgroup.procs').write_text(str(os.getpid()))

    def boot(self):
        command = ['systemd-nspawn', '--quiet', '--directory', self.root, '--machine',
                   f'dtn{self.number}', '--register=no', '--keep-unit', '--boot',
                   '--console=pipe', f'--network-namespace-path=/run/netns/{self.host.netns}',
                   '--capability=CAP_NET_ADMIN,CAP_NET_RAW,CAP_IPC_LOCK',
                   f'--system-call-filter={CALLS}']
        log = open(self.scratch / 'log', 'wb')
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                        stdout=log, stderr=log, start_new_session=True,
                                        preexec_fn=self.enter_groups)
        try:
            wait_until(self.is_up, BOOT_S, 'a machine that is up')
        except (Failed, OSError):
            said = (self.scratch / 'log').read_text(errors='replace').strip()
            raise Skip(f'systemd-nspawn boots no machine here: {said[-300:]}') from None

    def leader(self):
        children = Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children')
        return children.read_text().split()[0]

    def is_up(self):
        expect(self.process.poll() is None, 'it ends at once')
        with contextlib.suppress(IndexError, OSError):
            return self.run('systemctl', 'is-system-running', check=False) in (
                'running', 'degraded')
        return False

    def inside(self, *command):
        return ['nsenter', '-t', self.leader(), '-m', '-u', '-i', '-n', '-p', '--',
                *map(str, command)]

    def cut_power(self):
        """Nobody on it hears of it; what its kernel has not written is still there."""
        with contextlib.suppress(IndexError, OSError):
            os.kill(int(self.leader()), signal.SIGKILL)  # and with it all that runs there
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process is not None:
            self.cut_power()
        subprocess.run(['umount', '-l', self.root], check=False)
        shutil.rmtree(self.scratch, ignore_errors=True)


@contextlib.contextmanager
def booted(root, wires):
    """Two that are up, joined by veth at those interfaces, each of (name, MTU)."""
    with Lab() as lab, contextlib.ExitStack() as stack:
        hosts = [lab.host(f'machine{i}') for i in (1, 2)]
        for name, mtu in wires:
            lab.wire((hosts[0], name), (hosts[1], name), mtu)
        two = []
        for i, host in enumerate(hosts):
            two.append(Machine(root, i + 1, host))
            stack.callback(two[-1].end)
        for machine in two:
            machine.boot()
            machine.write(f'{UNIT}/memory.conf', DROP_IN)
        yield two


def run(steps):
    """Each is done by the time that it gives its name; nothing is behind one that failed. Returns
    what to exit with."""
    done, began = 0, time.monotonic()
    try:
        for name in steps:
            done += 1
            print(f'ok      {name} ({time.monotonic() - began:.1f} s)', flush=True)
            began = time.monotonic()
    except Skip as skip:
        print(f'skipped {skip}\n{done} passed, 0 failed, 1 skipped')
        return 0
    except (Failed, OSError, subprocess.SubprocessError) as failed:
        print(f'FAILED  behind {done} that passed: {failed}\n{done} passed, 1 failed, 0 skipped')
        return 1
    print(f'{done} passed, 0 failed, 0 skipped')
    return 0


def linger(root):
    be_alone()
    with booted(root, WIRES):
        print('up', flush=True)
        signal.pause()


if __name__ == '__main__':
    linger(sys.argv[1])
