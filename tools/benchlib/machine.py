# SPDX-License-Identifier: BSD-3-Clause
"""What the figures were measured on, and what is there to measure with."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

# Two ends of either side need no more than this; tools/setup reserves as much where it can.
HUGEPAGES_WANTED = 512

# Above this others were at work, and the figures are worth less.
LOAD_QUIET = 0.5


def words_of(*command):
    """Of a command that may not be there; '' then."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=20, check=False)
    except FileNotFoundError:
        return ''
    return done.stdout.strip() if done.returncode == 0 else ''


def after_colon(file, key):
    for line in Path(file).read_text(encoding='utf-8').splitlines():
        name, _, value = line.partition(':')
        if name.strip() == key:
            return value.strip()
    return ''


def meminfo(key):
    """Bytes, or a count."""
    number, *unit = (after_colon('/proc/meminfo', key) or '0').split()
    return int(number) * (1024 if unit else 1)


def memory_available():
    """Bytes; of the control group, where that has less than the machine."""
    available = meminfo('MemAvailable')
    group = Path('/sys/fs/cgroup' + after_colon('/proc/self/cgroup', '0').lstrip(':'))
    try:
        limit = (group / 'memory.max').read_text(encoding='ascii').strip()
        used = int((group / 'memory.current').read_text(encoding='ascii'))
    except OSError:
        return available
    return available if limit == 'max' else min(available, int(limit) - used)


class Machine:
    def __init__(self, top):
        self.top = top
        self.is_root = os.geteuid() == 0
        self.cpus = sorted(os.sched_getaffinity(0))
        self.has_cpus = {0, 1} <= set(self.cpus)

    def has(self, *programs):
        return all(shutil.which(name) for name in programs)

    def lacks_hugepages(self):
        free = meminfo('HugePages_Free')
        if free >= HUGEPAGES_WANTED:
            return None
        return (f'{free} free hugepages of {meminfo("Hugepagesize") >> 20} MiB, '
                f'{HUGEPAGES_WANTED} wanted: tools/setup reserves them')

    def facts(self):
        load = os.getloadavg()[0]
        return {
            'cpu': after_colon('/proc/cpuinfo', 'model name'),
            'cpus': os.cpu_count(),
            'memory_bytes': meminfo('MemTotal'),
            'hugepages': meminfo('HugePages_Total'),
            'virtual': 'hypervisor' in after_colon('/proc/cpuinfo', 'flags').split(),
            'kernel': platform.release(),
            'dpdk': words_of('pkg-config', '--modversion', 'libdpdk'),
            'wavehaul': words_of('git', '-C', str(self.top), 'describe', '--always', '--dirty'),
            'load_before': round(load, 2),
            'quiet': load < LOAD_QUIET,
        }


def packages_versions(names):
    """Package -> version, of those that are installed."""
    found = {}
    for name in names:
        version = words_of('dpkg-query', '-W', '-f', '${db:Status-Status} ${Version}', name)
        if version.startswith('installed '):
            found[name] = version.split()[1]
    return found
