#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What a process gives up once its port is open, and that everything goes on without it.

    guard.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import functools
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from again import Late
from harness import (Case, Failed, Skip, as_nobody, expect, expect_equal, expect_said,
                     expect_status, run_cases)
from pair import Pair, remote
from transfer import BINARY, OK, get, send

TOP = Path(__file__).resolve().parents[2]
NOBODY = 'nobody'
OF_FILES = 0b1110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
REFUSED = (
    ('a program', '(int)execl("/bin/true", "true", (char*)0)', '59, execve'),
    ('a ring', '(long)syscall(425, 8, $sp - 4096)', '425, io_uring_setup'),
    ('rights of a ring', '(long)syscall(427, 0, 11, 0, 0)', '427, io_uring_register'),
)
TRAP, LISTED = '2', 'only the system calls'


def fields_of_threads(pid):
    """What proc(5) says of each thread of a process."""
    return [dict(re.findall(r'^(\w+):\s*(.*)$', status.read_text(), re.MULTILINE))
            for status in Path(f'/proc/{pid}/task').glob('*/status')]


def expect_guarded(pair, capabilities, uid):
    threads = fields_of_threads(pair.process.pid)
    filtered = LISTED in pair.said()
    expect(len(threads) > 1, 'a server of one thread')
    for fields in threads:
        name = fields['Name']
        for key in ('CapEff', 'CapPrm', 'CapAmb', 'CapInh'):
            limit = capabilities if key in ('CapEff', 'CapPrm') else 0
            expect_equal(f'{key} of {name}', int(fields[key], 16) & ~limit, 0)
        expect_equal(f'NoNewPrivs of {name}', fields['NoNewPrivs'], '1')
        expect_equal(f'user of {name}', set(fields['Uid'].split()), {str(uid)})
        if filtered:
            expect_equal(f'Seccomp of {name}', fields['Seccomp'], TRAP)


def both_ways(pair, folder):
    """A tree there and back; the server meets one client after the other on its socket."""
    here = folder / 'here'
    (here / 'tree' / 'below').mkdir(parents=True)
    (here / 'tree' / 'small').write_text('small')
    (here / 'tree' / 'below' / 'large').write_bytes(os.urandom(3 << 20))
    (here / 'tree' / 'link').symlink_to('small')
    send(pair, here / 'tree', 'to', '-r', '--plot', folder / 'here' / 'picture.svg')
    expect('<svg' in (here / 'picture.svg').read_text(), 'no picture of it')
    get(pair, 'to', here / 'back', '-r')
    for name in ('small', 'below/large', 'link'):
        expect_equal(name, (here / 'back' / name).read_bytes(),
                     (here / 'tree' / name).read_bytes())
    expect_status(pair.run('bench', '--time', '0.2s', '198.51.100.1'), OK)


def holds(program, folder, link, user):
    """Every server thread has dropped its privileges, and files still transfer both ways."""
    if os.geteuid() != 0:
        raise Skip('not root')
    served = folder / 'served'
    served.mkdir()
    options = ('--user', user) if user else ()
    uid = pwd.getpwnam(user).pw_uid if user else 0
    if user:
        os.chown(served, uid, -1)
        os.chmod(folder, 0o755)
    with Pair(program, folder, link=link, server=options) as pair:
        expect_guarded(pair, 0 if user else OF_FILES, uid)
        both_ways(pair, folder)
        if user:
            expect_equal('who owns what came', os.stat(served / 'to' / 'small').st_uid, uid)
        pair.stop_server()
        expect('stopped' in pair.said(), pair.said())


def unprivileged(program, folder):
    """The same of one that never was root."""
    program, under = as_nobody(program)
    (folder / 'served').mkdir()
    os.chmod(folder, 0o777)
    os.chmod(folder / 'served', 0o777)
    with Pair(program, folder, under=under, huge=False) as pair:
        uid = os.stat(f'/proc/{pair.process.pid}').st_uid
        expect_guarded(pair, 0, uid)
        (folder / 'here').mkdir()
        os.chmod(folder / 'here', 0o777)
        both_ways(pair, folder)
        pair.stop_server()


def other_files(program, folder):
    """Opened from inside the process: only what is below its root."""
    (folder / 'served').mkdir()
    with Pair(program, folder) as pair:
        said = pair.said()
        if 'landlock' in said:
            raise Skip('this kernel has no landlock')
        pid = pair.process.pid
        gdb = shutil.which('gdb')
        if gdb is None:
            raise Skip('gdb is not there')
        done = subprocess.run(
            [gdb, '-p', str(pid), '--batch', '-nx', '-ex',
             'print (int)open("/etc/passwd", 0)', '-ex', 'print *(int*)__errno_location()',
             '-ex', f'print (int)open("{pair.served}", 0) > 2'],
            capture_output=True, text=True, check=False, timeout=50)
        expect_equal('open elsewhere, why, and at home', re.findall(r'^\$\d+ = (.*)$', done.stdout,
                                                                     re.MULTILINE),
                     ['-1', '13', '1'])
        pair.stop_server()


def found_inside(pair, *expressions):
    """Values of expressions in the process, by gdb, with its system call filter active."""
    gdb = shutil.which('gdb')
    if gdb is None:
        raise Skip('gdb is not there')
    if LISTED not in pair.said():
        raise Skip('no filter of system calls in this build')
    words = [word for expression in expressions for word in ('-ex', expression)]
    done = subprocess.run([gdb, '-p', str(pair.process.pid), '--batch', '-nx', *words],
                          capture_output=True, text=True, check=False, timeout=50)
    return re.findall(r'^\$\d+ = (.*)$', done.stdout, re.MULTILINE)


def nothing_new_runs(program, folder):
    """Memory that is written to and run: the process does not get any."""
    (folder / 'served').mkdir()
    with Pair(program, folder) as pair:
        found = found_inside(
            pair, 'print (long)mmap(0, 4096, 7, 34, -1, 0)', 'print *(int*)__errno_location()',
            'set $page = (long)mmap(0, 4096, 3, 34, -1, 0)', 'print $page > 0',
            'print (int)mprotect((void*)$page, 4096, 5)')
        expect_equal('mmap to run, why, to write, and then to run', found, ['-1', '1', '1', '-1'])
        pair.stop_server()


# A Unix socket, one of UDP and of TCP, a connection: what they come to, and why.
SOCKETS = ('(int)socket(1, 1, 0)', '(int)socket(2, 2, 0)', '(int)socket(2, 1, 0)',
           '(int)socket(10, 2, 0)', '(long)syscall(42, 0, 0, 0)')


def nobody_connects(program, folder):
    """To a socket of this host, or any other: who had the process would ask others for more, or
    tell them what is here. No socket that there is sends to an address either."""
    (folder / 'served').mkdir()
    with Pair(program, folder) as pair:
        questions = [f'print {word}' for call in SOCKETS
                     for word in (call, '*(int*)__errno_location()')]
        found = found_inside(pair, *questions, 'print (long)sendto(2, "1", 1, 0, $sp, 16)',
                             'print *(int*)__errno_location()')
        expect_equal('sockets, a connection, a datagram, why not', found, ['-1', '13'] * 6)
        inside = socket_kinds(pair.process.pid)
        expect_equal('sockets that send where they are told to', inside & {'udp', 'udp6', 'raw'},
                     set())
        pair.stop_server()


def descriptors(pid):
    """Names and links of /proc/PID/fd, without those that are closed while it is read."""
    for name in os.listdir(f'/proc/{pid}/fd'):
        with contextlib.suppress(FileNotFoundError):
            yield name, os.readlink(f'/proc/{pid}/fd/{name}')


def sockets(pid):
    """Names and inodes of the process's sockets."""
    for name, link in descriptors(pid):
        if match := re.fullmatch(r'socket:\[(\d+)\]', link):
            yield name, match[1]


def socket_kinds(pid):
    """The tables of /proc/net that have a socket of the process."""
    inodes = {inode for _, inode in sockets(pid)}
    expect(inodes, 'a server without any socket')
    return {kind for kind in ('udp', 'udp6', 'raw', 'tcp', 'unix')
            if inodes & set(Path(f'/proc/{pid}/net/{kind}').read_text().split())}


def manager_hears(program, folder, name):
    """What a service manager hears goes by a socket that was connected before the guard."""
    (folder / 'served').mkdir()
    path = str(folder / 'notify') if name is None else f'@{name}-{os.getpid()}'
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path.replace('@', '\0'))
        manager.settimeout(20)
        with Pair(program, folder, under=('env', f'NOTIFY_SOCKET={path}')) as pair:
            ready = manager.recv(4096).decode()
            expect(re.match(r'READY=1\nSTATUS=serving .*served on .*, UDP \d+$', ready), ready)
            pair.stop_server()
            stopping = manager.recv(4096).decode()
            expect(stopping.startswith('STOPPING=1\nSTATUS=stopping: 0 jobs'), stopping)


def datagram_sockets(pid):
    """Descriptors of the process that are Unix sockets of datagrams: unix(7), /proc/net/unix."""
    inodes = {line.split()[6] for line in Path(f'/proc/{pid}/net/unix').read_text().splitlines()[1:]
              if line.split()[4] == '0002'}
    return [int(name) for name, inode in sockets(pid) if inode in inodes]


# msghdr of recvmsg(2) in a page of its own: an address, and one part of two bytes.
MESSAGE = ('set $page = (long)mmap(0, 4096, 3, 34, -1, 0)', 'set {long}$page = $page + 256',
           'set {int}($page + 8) = 110', 'set {long}($page + 16) = $page + 128',
           'set {long}($page + 24) = 1', 'set {long}($page + 128) = $page',
           'set {long}($page + 136) = 2', 'set {short}($page + 256) = 1',
           'set $to = (void*)strcpy((char*)($page + 258), "PATH")')


@contextlib.contextmanager
def served_one(program, folder, link, **options):
    """A server that has had one file, from a client that began before it where that makes the
    link."""
    (folder / 'one').write_text('one')
    kind = Late if link == 'memif_by_client' else functools.partial(Pair, link=link)
    with kind(program, folder, **options) as pair:
        with pair.running('send', folder / 'one', remote('one'), '--wait', '30s') as client:
            if pair.process is None:
                pair.start_server()
            expect_status(pair.finish(client), OK)
        yield pair
        pair.stop_server()


def messages_nowhere(program, folder, link):
    """Who had the process cannot tell another listener of this host anything by a socket that a
    service manager or a log has at hand, nor by a second one of it."""
    if os.geteuid() != 0:
        raise Skip('not root')
    names = [str(folder / name) for name in ('notify', 'log', 'other')]
    with contextlib.ExitStack() as listening:
        manager, log, other = (listening.enter_context(
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) for _ in names)
        for listener, name in zip((manager, log, other), names, strict=True):
            listener.bind(name)
            listener.settimeout(20)
        pair = listening.enter_context(served_one(
            program, folder, link, server_under=('env', f'NOTIFY_SOCKET={names[0]}'),
            server=('--audit', f'syslog:{names[1]}')))
        sockets = datagram_sockets(pair.process.pid)
        expect_equal('sockets of datagrams', len(sockets), 2)
        found = found_inside(
            pair, *(word.replace('PATH', names[2]) for word in MESSAGE),
            *(f'print (long)syscall({call})' for fd in sockets for call in (
                f'46, {fd}, $page, 0', f'44, {fd}, "1", 1, 0, $page + 256, 110')),
            *(f'print (long)syscall(46, (long)syscall({call}), $page, 0)'
              for fd in sockets for call in (f'32, {fd}', f'72, {fd}, 1030, 0')))
        expect_equal('what a message comes to', found, ['-1'] * 8)
        other.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            raise Failed(f'somebody heard {other.recv(99)!r}')
        expect('"job"' in log.recv(4096).decode(), 'no line of the job')
        expect(manager.recv(4096).startswith(b'READY=1'), 'the manager does not hear')


def refused_call(program, folder, call, said):
    """A system call that the loops do not use ends the process, with a message."""
    gdb = shutil.which('gdb')
    if gdb is None:
        raise Skip('gdb is not there')
    (folder / 'served').mkdir()
    with Pair(program, folder) as pair:
        if LISTED not in pair.said():
            raise Skip('no filter of system calls in this build')
        subprocess.run([gdb, '-p', str(pair.process.pid), '--batch', '-nx',
                        '-ex', 'handle SIGSYS nostop noprint pass', '-ex', f'call {call}'],
                       capture_output=True, check=False, timeout=50)
        expect_equal('the exit status', pair.await_server(), -31)
        expect(re.search(rf'stopped by its guard: .*system call {said}\..*--no-guard',
                         pair.said()), pair.said())


def by_rings(program, folder):
    """Disk files use the io_urings created before; without them no others are created."""
    folder = Path(tempfile.mkdtemp(dir=TOP / 'build', prefix='guard-'))
    try:
        (folder / 'served').mkdir()
        with Pair(program, folder) as pair:
            rings = [name for name, link in descriptors(pair.process.pid) if 'io_uring' in link]
            if not rings:
                raise Skip('no io_uring here')
            both_ways(pair, folder)
            told = [Path(f'/proc/{pair.process.pid}/fdinfo/{ring}').read_text() for ring in rings]
            used = sum(int(number) for text in told
                       for number in re.findall(r'SqTail:\s*(\d+)', text))
            expect(used >= 3, f'{used} requests of {len(rings)} rings for 3 MiB each way')
            pair.stop_server()
    finally:
        shutil.rmtree(folder)


def off(program, folder):
    """--no-guard keeps everything, and says so in log and report."""
    (folder / 'one').write_text('one')
    with Pair(program, folder, server=('--no-guard',)) as pair:
        expect('guard: none' in pair.said(), pair.said())
        expect_equal('Seccomp', {f['Seccomp'] for f in fields_of_threads(pair.process.pid)}, {'0'})
        expect_equal('guarded', send(pair, folder / 'one', 'one')['guarded'], True)
        report = send(pair, folder / 'one', 'two', '--no-guard')
        expect_equal('guarded', report['guarded'], False)
        expect_said(pair.run('send', '--no-guard', folder / 'one', remote('three')), 'guard: none')
        pair.stop_server()


def no_such_user(program, folder):
    (folder / 'one').write_text('one')
    result = program.run('serve', '--config', 'none', '--port', 'net_null0', '--addr',
                         '192.0.2.2/24', '--no-huge', '--user', 'no-such-user', '--root', folder,
                         '--state', 'none')
    expect_status(result, 7)
    expect_said(result, 'no user no-such-user')


def cases():
    partial = functools.partial
    yield Case('rights of all threads, memif', True, partial(holds, link='memif', user=None))
    yield Case('another user, memif', False, partial(holds, link='memif', user=NOBODY))
    yield Case('another user, vhost', False, partial(holds, link='vhost', user=NOBODY))
    yield Case('never was root', False, unprivileged)
    yield Case('other files', False, other_files)
    yield Case('nothing new runs', False, nothing_new_runs)
    for name, call, said in REFUSED:
        yield Case(name, name == 'a program', partial(refused_call, call=call, said=said))
    yield Case('nobody connects', False, nobody_connects)
    yield Case('a manager hears', False, partial(manager_hears, name=None))
    yield Case('a manager of an abstract name hears', False, partial(manager_hears, name='notify'))
    for link in ('memif', 'memif_by_client', 'vhost'):
        yield Case(f'messages nowhere, {link}', False, partial(messages_nowhere, link=link))
    yield Case('files by rings', False, by_rings)
    yield Case('no guard', False, off)
    yield Case('no such user', False, no_such_user)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
