# SPDX-License-Identifier: BSD-3-Clause
"""What a script has started and made ends with the script, however that ends."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MEMORY = '/dev/shm'
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # prctl(2)


def stat_of(pid):
    """(state, parent) as proc(5) has them; None: there is no such process."""
    try:
        text = Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return None
    state, parent = text.rpartition(')')[2].split()[:2]
    return state, int(parent)


def children_of(pid):
    found = {int(path.name): stat_of(path.name) for path in Path('/proc').glob('[0-9]*')}
    return [child for child, stat in found.items() if stat and stat[1] == pid]


def is_over(pid):
    """A zombie, too, of which nobody has heard yet."""
    return (stat_of(pid) or 'Z')[0] == 'Z'


def be_guarded():
    """What a script has started ends with it, however that ends: also by SIGKILL, which it cannot
    hear, and which servers in sessions of their own do not get. From here on it is the child of a
    process that waits for it, and to which fall the processes that it leaves."""
    libc = ctypes.CDLL(None)
    guard, script = os.getpid(), os.fork()
    if script == 0:
        os.setsid()
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guard:
            sys.exit(128 + signal.SIGTERM)
        return
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in STOPPING:
        signal.signal(number, lambda number, _: os.kill(script, number))
    status = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
    while left := children_of(guard):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    if status < 0:
        sweep()
    sys.exit(status if status >= 0 else 128 - status)


def owner_of(name):
    """The process in the name of what it has made: wavehaul-PID-..., wavehaul-e2e-PID-..."""
    found = re.match(r'wavehaul-(?:e2e-|bench-)?(\d+)-', name)
    return int(found[1]) if found else None


def is_left(path):
    pid = owner_of(path.name)
    return pid is not None and is_over(pid)


def left_in(folder):
    place = Path(folder)
    return list(filter(is_left, place.iterdir() if place.exists() else ()))


def end_namespace(name):
    """With the programs in it, which would run on in a namespace that has only lost its name."""
    inside = subprocess.run(['ip', 'netns', 'pids', name], capture_output=True, check=False)
    for pid in map(int, inside.stdout.split()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    subprocess.run(['ip', 'netns', 'del', name], stderr=subprocess.DEVNULL, check=False)


def sweep():
    """Removes leftovers of scripts that were killed with their guards, or by a reboot."""
    for path in left_in('/run/netns'):
        end_namespace(path.name)
    for place in {tempfile.gettempdir(), MEMORY, '/etc/netns'}:
        for path in left_in(place):
            for line in Path('/proc/mounts').read_text().splitlines():
                if line.split()[1].startswith(f'{path}/'):
                    subprocess.run(['umount', '-l', line.split()[1]], check=False)
            shutil.rmtree(path, ignore_errors=True)
