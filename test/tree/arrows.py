#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The arrows between rooms (docs/architecture.md), checked in the #include lines.

    arrows.py [TREE]       exit status 1 when an arrow points the wrong way
    arrows.py --self-test  proves that wrong arrows are found
"""

import re
import sys
import tempfile
from pathlib import Path

LIB_ROOMS = ('base', 'wire', 'seal', 'trust', 'neighbour', 'measure', 'probe', 'profile', 'track',
             'fec', 'session', 'endpoint', 'file', 'journal', 'bundle', 'rpc', 'stage',
             'source', 'sink', 'stripe')
LIB = {f'lib/{name}' for name in LIB_ROOMS}

# The laboratory's. Nothing of the appliance knows it.
LAB_LIB = {f'lib/lab/{name}' for name in ('netem', 'sim', 'tcp', 'scenario')}


def lib(names):
    return {f'lib/{name}' for name in names.split()}


APP_ROOMS = ('cli', 'trust', 'plot', 'machine', 'guard', 'host', 'job', 'telemetry', 'report',
             'doctor', 'nic', 'system', 'control', 'queue',
             'metrics', 'console', 'history', 'rpc', 'fleet', 'pcap', 'capture', 'completion',
             'ssh', 'transfer')
APP = {f'app/wavehaul/{name}' for name in APP_ROOMS}
DRIVERS = {'drivers/eal', 'drivers/port', 'drivers/udp'}
LAB_DRIVERS = {'drivers/netem'}
LAB_APP = {f'app/wavehaul-lab/{name}' for name in ('demo', 'scenario', 'wan')}
LAB = LAB_LIB | LAB_DRIVERS | LAB_APP


def app(names):
    return {f'app/wavehaul/{name}' for name in names.split()}


# Room -> the rooms that it may include from, besides itself. A file's room: the longest prefix.
ALLOWED = {
    'lib/base': set(),
    'lib/wire': lib('base'),
    'lib/seal': lib('wire base'),
    'lib/trust': lib('file seal wire base'),
    'lib/neighbour': lib('wire base'),
    'lib/measure': lib('wire base'),
    'lib/profile': lib('measure wire base'),
    'lib/track': lib('base'),
    'lib/fec': lib('measure wire base'),
    'lib/probe': lib('measure track seal wire base'),
    'lib/session': lib('profile track fec measure seal wire base'),
    'lib/endpoint': lib('session profile probe track fec measure seal wire base'),
    'lib/lab/netem': lib('base'),
    'lib/file': lib('base'),
    'lib/journal': lib('bundle file base'),
    'lib/bundle': lib('file base'),
    'lib/rpc': lib('bundle file base'),
    'lib/stripe': lib('base'),
    'lib/source': lib('bundle file base'),
    'lib/stage': lib('bundle file base'),
    'lib/sink': lib('stage source bundle journal file base'),
    'lib/lab/sim': lib('lab/netem wire base'),
    'lib/lab/tcp': lib('lab/sim lab/netem profile measure wire base'),
    'lib/lab/scenario': lib('lab/tcp lab/sim lab/netem endpoint session profile probe track fec '
                            'measure seal wire base'),
    'drivers/eal': lib('base'),
    'drivers/port': lib('neighbour endpoint session profile probe track fec measure seal wire '
                        'base'),
    'drivers/udp': lib('neighbour endpoint session profile probe track fec measure seal wire '
                       'base') | {'drivers/port'},
    'drivers/netem': lib('lab/netem wire base') | {'drivers/port'},
    'app/wavehaul/cli': LIB | DRIVERS,
    'app/wavehaul/plot': lib('base') | app('cli'),
    'app/wavehaul/trust': LIB | app('cli'),
    'app/wavehaul/ssh': LIB | DRIVERS | app('trust cli'),
    'app/wavehaul/machine': {'lib/base'},
    'app/wavehaul/guard': lib('seal wire base') | {'drivers/port'} | app('cli'),
    'app/wavehaul/host': LIB | DRIVERS | app('machine guard cli'),
    'app/wavehaul/job': LIB | DRIVERS | app('guard host trust cli'),
    'app/wavehaul/telemetry': LIB | DRIVERS | app('job host cli'),
    'app/wavehaul/control': LIB | DRIVERS | app('telemetry guard job host cli'),
    'app/wavehaul/pcap': LIB | DRIVERS,
    'app/wavehaul/capture': LIB | DRIVERS | app('pcap control telemetry guard job host cli'),
    'app/wavehaul/metrics': LIB | DRIVERS | app('control plot cli'),
    'app/wavehaul/console': {'lib/base'} | app('control cli'),
    'app/wavehaul/history': LIB | DRIVERS | app('control report plot guard trust job host cli'),
    'app/wavehaul/transfer': LIB | DRIVERS | app(
        'rpc history control telemetry report plot guard ssh trust job host cli'),
    'app/wavehaul/queue': LIB | DRIVERS | app(
        'transfer control telemetry report trust job host cli'),
    'app/wavehaul/report': LIB | DRIVERS | app('plot job host trust cli'),
    'app/wavehaul/rpc': LIB | DRIVERS | app('report job host trust cli'),
    'app/wavehaul/system': LIB | DRIVERS | app('host cli'),
    'app/wavehaul/completion': LIB | app('cli'),
    'app/wavehaul/fleet': LIB | app('plot cli'),
    'app/wavehaul/doctor': LIB | DRIVERS | app('machine cli'),
    'app/wavehaul/nic': {'lib/base'} | app('machine cli'),
    'app/wavehaul': LIB | DRIVERS | APP,
    'app/wavehaul-lab/demo': LIB | DRIVERS | LAB_LIB | LAB_DRIVERS | app('report job host cli'),
    'app/wavehaul-lab/wan': LIB | DRIVERS | LAB_LIB | LAB_DRIVERS | app('pcap report host cli'),
    'app/wavehaul-lab/scenario': LIB | LAB_LIB | app('plot fleet cli'),
    'app/wavehaul-lab': LIB | DRIVERS | APP | LAB,
    'examples': LIB | LAB_LIB,
    'test/unit': LIB | LAB_LIB | {'test/rig'},
    'test/rig': LIB | LAB_LIB,
    'test/driver': LIB | DRIVERS | LAB_LIB | LAB_DRIVERS | {'test/rig', 'test/unit'},
    'test/sim': LIB | LAB_LIB | {'test/rig', 'test/unit'},
    'test/fuzz': LIB | LAB_LIB | APP | LAB_APP | {'test/rig', 'test/unit'},
    'test/e2e': LIB | LAB_LIB | {'test/rig', 'test/unit'},
    'test/attack': LIB | LAB_LIB | {'test/unit'},
    'test/app': LIB | LAB_LIB | APP | LAB | {'test/driver', 'test/rig', 'test/sim', 'test/unit'},
    'test/jobs': LIB | LAB_LIB | APP | {'test/rig', 'test/unit'},
    'test/perf': LIB | DRIVERS | LAB_LIB | LAB_DRIVERS | {'test/rig'},
}

# Where an #include "..." is looked up, after the folder of the file itself.
INCLUDE_ROOTS = ('lib', 'drivers', 'app/wavehaul', 'app/wavehaul-lab', 'test/unit', 'test/fuzz')

# What lib/ may include of the system: nothing that reads a clock, opens a socket, starts a thread.
LIB_SYSTEM = set('''
    assert.h ctype.h endian.h errno.h float.h inttypes.h limits.h math.h stdalign.h stdarg.h
    stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h immintrin.h
'''.split())

# Of DPDK: header-only helpers that work without rte_eal_init.
LIB_DPDK = set('''
    rte_branch_prediction.h rte_byteorder.h rte_common.h rte_pause.h rte_prefetch.h
    rte_ring.h rte_ring_elem.h rte_ring_peek.h rte_ring_peek_zc.h
'''.split())

# Of the rooms that know files.
FILES = set('''
        dirent.h fcntl.h liburing.h linux/magic.h linux/openat2.h sys/file.h sys/mman.h
        search.h sys/random.h sys/resource.h sys/stat.h sys/statfs.h sys/syscall.h sys/types.h
        sys/vfs.h sys/xattr.h
        unistd.h
    '''.split())

OPENSSL = {f'openssl/{name}.h' for name in (
    'bio', 'bn', 'core_names', 'crypto', 'err', 'evp', 'kdf', 'params', 'pem', 'rand', 'ssl',
    'x509', 'x509_vfy', 'x509v3')}

# Of the system and of libraries, by room, besides.
ROOM_SYSTEM = {
    'lib/seal': {'xxhash.h', 'xxh_x86dispatch.h', 'intel-ipsec-mb.h', 'sys/mman.h'} | OPENSSL,
    'lib/trust': FILES | OPENSSL,
    'lib/fec': {'isa-l.h'},
    'lib/file': FILES | {'xxhash.h', 'xxh_x86dispatch.h', 'isa-l/crc.h', 'isa-l/igzip_lib.h',
                         'openssl/evp.h'},
    'lib/journal': FILES | {'sqlite3.h'},
    'lib/bundle': FILES | {'xxhash.h', 'linux/fs.h', 'sys/ioctl.h'},
    'lib/rpc': FILES,
    'lib/source': FILES,
    'lib/stage': FILES,
    'lib/sink': FILES,
}

# Files that may have threads, and why.
THREADS = {
    'lib/file/background.c': 'syncfs has no form that does not wait, and may take seconds',
}

# Rooms whose time and chance are arguments, beside lib/: what tests run without the EAL.
TIMELESS = ('lib/', 'app/wavehaul/job/')
CLOCK_HEADERS = {'rte_cycles.h', 'rte_random.h', 'sys/random.h', 'sys/time.h', 'time.h'}

# Calls that bring a clock, a wait or an unseeded draw in without a header of their own.
LIB_CALLS = re.compile(r'''\b(
    clock_gettime | gettimeofday | time | clock | nanosleep | clock_nanosleep | usleep | sleep |
    rte_rdtsc\w* | rte_get_tsc_cycles | rte_get_timer_cycles | rte_delay_\w+ | _?_rdtscp? |
    __builtin_ia32_rdtscp? | random | rand | rte_rand\w* | rte_malloc\w* | rte_zmalloc\w* |
    rte_lcore_id | rte_eal_\w+ | pthread_\w+
)\s*\(''', re.VERBOSE)
THREAD_CALL = re.compile(r'pthread_\w+')

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def room_of(path):
    """The room of a file, given relative to the tree; None: a room that the table lacks."""
    parts = path.as_posix().split('/')
    for length in range(len(parts) - 1, 0, -1):
        room = '/'.join(parts[:length])
        if room in ALLOWED:
            return room
    return None


def resolve(tree, path, name):
    for folder in (path.parent, *map(Path, INCLUDE_ROOTS)):
        found = (tree / folder / name).resolve()
        if found.is_file() and tree in found.parents:
            return found.relative_to(tree)
    return None


def listed(names):
    return ', '.join(sorted(names)) if names else 'nothing'


def check_quoted(tree, path, room, name):
    target = resolve(tree, path, name)
    if target is None:
        return f'no "{name}" in the tree'
    other = room_of(target)
    if other == room or other in ALLOWED[room]:
        return None
    return f'"{name}" is of {other}; {room} may include from: {listed(ALLOWED[room])}'


def check_system(path, room, name):
    if path.as_posix().startswith(TIMELESS) and not room.startswith('lib/'):
        return f'<{name}> has no place in {room}' if name in CLOCK_HEADERS else None
    if not room.startswith('lib/') or (name == 'pthread.h' and path.as_posix() in THREADS):
        return None
    own = ROOM_SYSTEM.get(room, set())
    if name in LIB_SYSTEM or name in LIB_DPDK or name in own:
        return None
    allowed = LIB_DPDK if name.startswith('rte_') else LIB_SYSTEM | own
    return f'<{name}> has no place in {room}; allowed: {listed(allowed)}'


def blank(match):
    """Comments and literals become spaces, line for line."""
    return re.sub(r'[^\n]', ' ', match.group())


def check_calls(path, room, text):
    for number, line in enumerate(NOT_CODE.sub(blank, text).split('\n'), 1):
        for call in LIB_CALLS.finditer(line):
            if THREAD_CALL.match(call.group(1)) and path.as_posix() in THREADS:
                continue
            yield number, f'{call.group(1)}() has no place in {room}: time and chance are arguments'


def check_file(tree, path):
    room = room_of(path)
    if room is None:
        yield 1, f'{path.parent} is no room of the table in test/tree/arrows.py'
        return
    text = (tree / path).read_text(encoding='utf-8')
    for number, line in enumerate(text.split('\n'), 1):
        include = INCLUDE.match(line)
        if include is None:
            continue
        quoted, name = include.group(1) == '"', include.group(2)
        wrong = check_quoted(tree, path, room, name) if quoted else check_system(path, room, name)
        if wrong:
            yield number, wrong
    if path.as_posix().startswith(TIMELESS):
        yield from check_calls(path, room, text)


def check_tree(tree):
    tree = tree.resolve()
    found = []
    for top in ('lib', 'drivers', 'app', 'test', 'examples'):
        for path in sorted((tree / top).rglob('*.[ch]')):
            name = path.relative_to(tree)
            found += [f'{name}:{number}: {wrong}' for number, wrong in check_file(tree, name)]
    return found


# Self-test: file -> (content, what must be said of it; None: nothing).
EXAMPLES = {
    'lib/base/units.h': ('#include <stdint.h>\n', None),
    'lib/base/up.c': ('#include <stdint.h>\n#include "wire/packet.h"\n', ':2: "wire/packet.h" is'),
    'lib/base/gone.c': ('#include "base/gone.h"\n', ':1: no "base/gone.h" in the tree'),
    'lib/wire/packet.h': ('#include "base/units.h"\n', None),
    'lib/wire/beside.c': ('#include "packet.h"\n', None),
    'lib/seal/checksum.c': ('#include "wire/packet.h"\n#include <xxhash.h>\n', None),
    'lib/measure/hash.c': ('#include <xxhash.h>\n', ':1: <xxhash.h> has no place'),
    'lib/track/lcore.c': ('#include <rte_ring.h>\n#include <rte_lcore.h>\n', ':2: <rte_lcore.h>'),
    'lib/track/mbuf.c': ('  #  include <rte_mbuf.h>\n', ':1: <rte_mbuf.h>'),
    'lib/track/wire.c': ('#include "wire/packet.h"\n', ':1: "wire/packet.h" is of lib/wire'),
    'lib/track/clock.c': ('int f(void);\n\n#include <time.h>\n', ':3: <time.h> has no place'),
    'lib/track/socket.c': ('#include <sys/socket.h>\n', ':1: <sys/socket.h>'),
    'lib/track/file.c': ('#include <fcntl.h>\n', ':1: <fcntl.h>'),
    'lib/file/file.c': ('#include <fcntl.h>\n#include <liburing.h>\n', None),
    'lib/file/thread.c': ('#include <pthread.h>\n', ':1: <pthread.h>'),
    'lib/file/background.c': ('#include <pthread.h>\nint x = pthread_create(0);\n', None),
    'lib/bundle/sink.c': ('\nint x = pthread_create(0);\n', ':2: pthread_create() has no'),
    'lib/lab/netem/rdtsc.c': ('/* rte_rdtsc() */\nint x = rte_rdtsc();\n', ':2: rte_rdtsc() has'),
    'lib/lab/netem/words.c': ('/*\n * time() */\nchar *s = "sleep(1)"; int uptime(int);\n', None),
    'lib/lab/netem/wait.c': ('int y = time (0);\n', ':1: time() has no place'),
    'lib/session/ok.c': ('#include "wire/packet.h"\n#include "profile/profile.h"\n', None),
    'lib/session/x.h': ('', None),
    'lib/session/down.c': ('#include "lab/sim/world.h"\n', ':1: "lab/sim/world.h" is of lib/lab'),
    'lib/profile/profile.h': ('', None),
    'lib/lab/sim/world.h': ('#include "wire/packet.h"\n', None),
    'lib/lab/tcp/tcp.c': ('#include "session/x.h"\n', ':1: "session/x.h" is'),
    'lib/lab/scenario/engine.c': ('#include "tcp.h"\n#include "lab/sim/world.h"\n',
                                  ':1: no "tcp.h" in the tree'),
    'lib/attic/old.c': ('', ':1: lib/attic is no room'),
    'drivers/port/port.h': ('#include <rte_ethdev.h>\n#include "wire/packet.h"\n', None),
    'drivers/port/back.c': ('#include "netem/emulator.h"\n', ':1: "netem/emulator.h" is of'),
    'drivers/netem/emulator.h': ('#include "port/port.h"\n', None),
    'drivers/netem/far.c': ('#include "profile/profile.h"\n', ':1: "profile/profile.h" is'),
    'app/wavehaul/main.c': ('#include "netem/emulator.h"\n#include <time.h>\n',
                            ':1: "netem/emulator.h" is of drivers/netem'),
    'app/wavehaul/host/lab.c': ('#include "lab/sim/world.h"\n', ':1: "lab/sim/world.h" is of lib/'),
    'app/wavehaul-lab/lab_main.c': ('#include "netem/emulator.h"\n#include <time.h>\n', None),
    'app/wavehaul/job/ok.c': ('#include <unistd.h>\nint f(uint64_t now_tsc);\n', None),
    'app/wavehaul/job/when.c': ('#include <rte_cycles.h>\n', ':1: <rte_cycles.h> has no place'),
    'app/wavehaul/job/now.c': ('\nint x = rte_rdtsc();\n', ':2: rte_rdtsc() has no place'),
    'app/wavehaul/host/now.c': ('#include <time.h>\nint x = rte_rdtsc();\n', None),
    'test/unit/unit.h': ('', None),
    'test/unit/packet.c': ('#include "unit.h"\n#include "wire/packet.h"\n', None),
    'test/unit/port.c': ('#include "port/port.h"\n', ':1: "port/port.h" is of drivers/port'),
    'test/driver/port.c': ('#include "unit.h"\n#include "port/port.h"\n', None),
    'test/sim/simulation.c': ('#include "lab/sim/world.h"\n#include <time.h>\n', None),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, (content, _) in EXAMPLES.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(content)
        found = check_tree(tree)
    expected = [name + said for name, (_, said) in EXAMPLES.items() if said]
    missed = [e for e in expected if not any(f.startswith(e) for f in found)]
    wrong = [f for f in found if not any(f.startswith(e) for e in expected)]
    for line in missed:
        print(f'not found: {line}')
    for line in wrong:
        print(f'found without reason: {line}')
    print(f'{len(expected) - len(missed)} of {len(expected)} wrong arrows found')
    return 1 if missed or wrong else 0


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    found = check_tree(tree)
    print('\n'.join(found) if found else 'all arrows point the right way')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
