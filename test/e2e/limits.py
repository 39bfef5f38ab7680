#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What a peer may take of a server, and how long a job may go on without getting on.

    limits.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed'.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import sys
import time
from pathlib import Path

from harness import Case, expect, expect_equal, expect_said, expect_status, run_cases
from pair import CLIENT, SERVER, Pair, has_ended, killed, remote, wait_until
from transfer import await_staging

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, NO_FILE, NETWORK, PARTIAL = 0, 1, 3, 5, 23
GIB = 1 << 30
FINGERPRINT = '[0-9a-z]{4}(-[0-9a-z]{4}){4}'


def make_sparse(path, size):
    """As large to read and to hash as any file, and no load for the disk."""
    with open(path, 'wb') as file:
        file.truncate(size)
    os.utime(path, ns=(0, 0))


def digest_takes_long(program, folder):
    """Both ends hash for longer than their stall timeout, and nothing moves meanwhile."""
    served = folder / 'served'
    served.mkdir()
    for path in (folder / 'file', served / 'file'):
        make_sparse(path, 3 * GIB)
    patience = ('--stall-timeout', '1s')
    with Pair(program, folder, both=patience) as pair:
        result = pair.run('send', '--json', folder / 'file', remote())
        expect_status(result, OK)
        report = json.loads(result.out)
        expect_equal('skipped', report['skipped'], 1)
        expect(result.seconds > 2, f'hashed within {result.seconds:.1f} s: no long wait')
        pair.stop_server()


def names_of_a_folder(program, folder):
    """More than a peer may have memory for: told, and what else it gets is there."""
    served = folder / 'served'
    (served / 'd/wide').mkdir(parents=True)
    for number in range(20000):
        os.mknod(served / f'd/wide/{number:0250}')
    (served / 'd/x').write_bytes(b'x')
    with Pair(program, folder, server=('--buffers', '64M', '--peer-memory', '8M')) as pair:
        result = pair.run('get', '-r', remote('d'), folder / 'got')
        expect_status(result, PARTIAL)
        expect_said(result, 'd/wide: at the other end: no memory for all names')
        expect_equal('the file beside it', (folder / 'got/x').read_bytes(), b'x')
        shutil.rmtree(served / 'd/wide')
        expect_status(pair.run('get', '-r', remote('d'), folder / 'again'), OK)
        pair.stop_server()


def places_of_a_peer(program, folder):
    """As many as it may have, and the server goes on to serve it."""
    file = folder / 'file'
    file.write_bytes(b'x' * 100000)
    with Pair(program, folder, server=('--sessions', '20', '--peer-jobs', '3')) as pair:
        result = pair.run('bench', '--time', '1s', '--idle', '5', SERVER)
        expect_status(result, NETWORK)
        expect_said(result, 'no room for another session')
        expect_status(pair.run('bench', '--time', '0.1s', '--idle', '2', SERVER), OK)
        expect_status(pair.run('send', '--parallel', '3', file, remote()), OK)
        pair.stop_server()


def what_may_come(program, folder):
    """Forbidden entries fail one by one, with the rule's message; too many end a job."""
    tree = folder / 'tree'
    (tree / 'a' / 'b').mkdir(parents=True)
    (tree / 'fine').write_text('fine')
    (tree / 'a' / 'b' / 'deep').write_text('deep')
    (tree / 'esc\x1b]0;title\x07').write_text('esc')
    (tree / 'out').symlink_to('/etc/passwd')
    rules = ('--job-depth', '2', '--job-files', '7', '--job-bytes', '1M', '--plain-names',
             '--links-inside')
    with Pair(program, folder, server=rules) as pair:
        result = pair.run('send', '--json', '-r', tree, remote('to/'))
        expect_status(result, PARTIAL)
        report = json.loads(result.out)
        expect_equal('what failed', sorted(f['path'] for f in report['failures']),
                     ['tree/a/b/deep', 'tree/esc\x1b]0;title\x07', 'tree/out'])
        for failure, word in zip(sorted(report['failures'], key=lambda f: f['path']),
                                 ('--job-depth', '--plain-names', '--links-inside')):
            expect(word in failure['error'], f'{failure}')
        expect_equal('what came', sorted(os.listdir(pair.served / 'to' / 'tree')), ['a', 'fine'])
        (tree / 'one more').write_text('x')
        (tree / 'and more').write_text('x')
        result = pair.run('send', '-r', tree, remote('to/'))
        expect_status(result, OTHER, NETWORK, PARTIAL)
        expect_said(result, r'more files and folders .*--job-files')
        expect(b'refused: there are more files' in pair.said().encode(), pair.said())
        make_sparse(folder / 'large', 2 << 20)
        expect_said(pair.run('send', folder / 'large', remote()), '--job-bytes')
        expect('\x1b' not in pair.said(), 'an escape in the log')
        pair.stop_server()


def case_clash(program, folder):
    """Of names that differ by case alone one comes, whatever the lane; without the rule both do."""
    tree = folder / 'tree'
    for name in ('Note', 'note', 'Sub/one', 'sub/two', 'sub/three', 'fine'):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    with Pair(program, folder, server=('--case-clash', 'refuse')) as pair:
        result = pair.run('send', '--json', '--parallel', '3', '-r', tree, remote('to/'))
        expect_status(result, PARTIAL)
        failures = json.loads(result.out)['failures']
        expect(all('--case-clash' in failure['error'] for failure in failures), f'{failures}')
        there = pair.served / 'to/tree'
        came = {str(path.relative_to(there)) for path in there.rglob('*')}
        expect_equal('what came but for case', len({name.lower() for name in came}), len(came))
        expect({'note', 'sub', 'fine'} <= {name.lower() for name in came}, f'{came}')
        expect_equal('all the rest failed', {path['path'] for path in failures},
                     {f'tree/{path.relative_to(tree)}' for path in tree.rglob('*')} -
                     {f'tree/{name}' for name in came})
        pair.stop_server()
        pair.server_options = ()
        pair.start_server()
        expect_status(pair.run('send', '-r', tree, remote('all/')), OK)
        expect_equal('without', len(list((pair.served / 'all/tree').rglob('*'))), 8)
        pair.stop_server()


def audited(program, folder):
    """A line for each job, and for who is refused; a peer's words are escaped in it."""
    log = folder / 'audit'
    (folder / 'file').write_bytes(b'x' * 300000)
    (folder / 'served').mkdir()
    (folder / 'served' / 'esc\x1b[2J').write_text('1')
    with Pair(program, folder, server=('--audit', log)) as pair:
        expect_status(pair.run('send', folder / 'file', remote('to')), OK)
        expect_status(pair.run('get', remote('esc\x1b[2J'), folder), OK)
        expect_status(pair.run("get", remote("../up\x1b]0;x\x07"), folder),
                      PARTIAL, NETWORK, OTHER, NO_FILE)
        expect_status(pair.run('bench', '--time', '0.1s', SERVER), OK)
        pair.stop_server()
        expect('\x1b' not in pair.said(), 'an escape in the log')
    with Pair(program, folder, server=('--audit', log, '--allow', '203.0.113.0/24')) as pair:
        expect_status(pair.run('send', '--peer-timeout', '1s', folder / 'file', remote('no')),
                      NETWORK)
        wait_until(lambda: 'refused' in log.read_text(), 5, 'a line for who is refused')
        pair.stop_server()
    text = log.read_text()
    expect(not re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f]', text), f'control characters: {text!r}')
    lines = [json.loads(line) for line in text.splitlines()]
    expect_equal('jobs', [(line['verb'], line['path'] if 'path' in line else None, line['files'])
                          for line in lines if line['event'] == 'job'][:2],
                 [('send', 'to', 1), ('get', 'esc\x1b[2J', 1)])
    first, refused = lines[0], lines[-1]
    expect_equal('peer', {line['peer'] for line in lines}, {CLIENT})
    expect_equal('outcome', (first['outcome'], first['bytes'], first['failed'], first['why']),
                 ('ok', 300000, 0, None))
    expect(0 < first['seconds'] < 10, f'{first}')
    expect(re.fullmatch('sha256:[0-9a-f]{64}', first['identity']), f'{first}')
    expect(re.fullmatch(FINGERPRINT, first['fingerprint']), f'{first}')
    expect(re.fullmatch(r'20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', first['time']), f'{first}')
    expect_equal('refused', (refused['event'], refused['times'] > 0), ('refused', True))
    expect(os.stat(log).st_mode & 0o777 == 0o640, 'everybody may read the audit')


HOSTILE = os.fsdecode(b'\xff\xc2\x9b2J\xe2\x80\xae\x1b[2J\n{"event":')


def fields_of(text):
    """An entry of the journal, with numbers as numbers: systemd's native protocol."""
    fields = dict(line.split('=', 1) for line in text[:-1].split('\n'))
    expect_equal('names', {name for name in fields if not name.startswith('WAVEHAUL_')},
                 {'MESSAGE', 'PRIORITY', 'SYSLOG_IDENTIFIER'})
    expect_equal('identifier', fields['SYSLOG_IDENTIFIER'], 'wavehaul')
    expect(re.match(r'20\d\d-\S+Z \d', fields['MESSAGE']), fields['MESSAGE'])
    return {name.removeprefix('WAVEHAUL_').lower(): int(value) if value.isdigit() else value
            for name, value in fields.items()}


def lines_at(listener, before):
    """What a program has sent to a socket since: objects, each behind what that wants."""
    lines = []
    with contextlib.suppress(BlockingIOError):
        while True:
            text = listener.recv(65536).decode()
            expect(text.startswith(before) and text.endswith('\n'), f'{text!r}')
            expect(not re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]', text), f'raw: {text!r}')
            if before.startswith('<'):
                expect(text.count('\n') == 1, f'{text!r}')
                lines.append(json.loads(text[len(before):-1]))
            else:
                lines.append(fields_of(text))
    return lines


def audited_at_a_socket(program, folder):
    """As syslog and the journal have it: who was refused with his key, who was killed, whose names
    are no text."""
    (folder / 'file').write_bytes(b'x' * 300000)
    (folder / 'large').write_bytes(bytes(20 << 20))
    stranger = ('env', f'WAVEHAUL_CONFIG_DIR={folder}/other')
    listens = {'syslog': '<30>wavehaul: ',
               'journal': 'MESSAGE='}
    for word, before in listens.items():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(str(folder / word))
            listener.setblocking(False)
            options = ('--audit', f'{word}:{folder / word}', '--peer-timeout', '1s')
            with Pair(program, folder, server=options) as pair:
                expect_status(pair.run('send', folder / 'file', remote(HOSTILE + word)), OK)
                lines = []
                wait_until(lambda: lines.extend(lines_at(listener, before)) or lines, 5, 'a line')
                expect_equal('what came', [(line['outcome'], line['bytes']) for line in lines],
                             [('ok', 300000)])
                expect(HOSTILE not in pair.said(), 'a name as it came')
                if word == 'journal':
                    pair.stop_server()
                    continue
                with pair.running('send', folder / 'large', remote('no'), '--rate',
                                  '40M') as process:
                    await_staging(pair.served)
                    killed(process)
                expect_status(program.run('trust', 'add', 'server', lines[0]['identity'],
                                          under=stranger), OK)
                refused = program.run(*pair.command('send', folder / 'file', remote('no')),
                                      under=(*stranger, *pair.under))
                expect_said(refused, 'the server does not trust this end')
                wait_until(lambda: lines.extend(lines_at(listener, before)) or len(lines) >= 3,
                           5, 'three lines')
                pair.stop_server()
                job = next(line for line in lines if line['outcome'] == 'peer-gone')
                expect(0 < job['moved_bytes'] < 20 << 20 and job['path'] == 'no', f'{job}')
                line = next(line for line in lines if line['event'] == 'refused')
                expect_equal('who', (line['peer'], line['outcome'], line['why'], line['times']),
                             (CLIENT, line['outcome'], 'it is not known here', line['times']))
                expect(re.fullmatch('sha256:[0-9a-f]{64}', line['identity']), f'{line}')
                expect(re.fullmatch(FINGERPRINT, line['fingerprint']), f'{line}')
                expect(line['identity'] != lines[0]['identity'] and line['times'] > 0, f'{line}')


def listening(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(path))
    os.chmod(path, 0o666)
    listener.setblocking(False)
    return listener


def children_of(pid):
    children = []
    for task in Path(f'/proc/{pid}/task').iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread has ended
            children += map(int, (task / 'children').read_text().split())
    return children


def is_over(pid):
    """A zombie whose parent has not yet waited for it."""
    return not Path(f'/proc/{pid}').exists() or has_ended(pid)


def log_begins_anew(program, folder):
    """Who listens at the socket of an audit goes, and comes back under the same name; the server
    says so, and is as guarded as ever, and so is the child that connects for it."""
    (folder / 'file').write_bytes(b'x' * 1000)
    os.chmod(folder, 0o755)
    path = folder / 'log'
    listener = listening(path)
    with Pair(program, folder, server=('--audit', f'syslog:{path}')) as pair:
        def come(name, wanted):
            """Of a file that is sent: its line, where it is wanted."""
            expect_status(pair.run('send', folder / 'file', remote(name)), OK)
            lines = []
            if wanted:
                wait_until(lambda: lines.extend(lines_at(listener, '<30>wavehaul: ')) or lines, 5,
                           'a line')
            expect_equal('lines', [line['path'] for line in lines], [name] * wanted)

        come('one', 1)
        caller, = children_of(pair.process.pid)
        status = Path(f'/proc/{caller}/status').read_text()
        if 'only the system calls' in pair.said():
            for field in ('CapEff:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2'):
                expect(field in status, f'{field!r} of the child: {status}')
        # Its standard ones, its parent's end, and the socket that both have.
        expect_equal('what the child has open', len(os.listdir(f'/proc/{caller}/fd')), 5)
        # As a daemon that was stopped, and one that died.
        for name, unlinks in (('two', True), ('three', False)):
            listener.close()
            if unlinks:
                path.unlink()
            come(f'{name} lost', 0)
            wait_until(lambda: pair.said().count('cannot be written') == 1 + (not unlinks), 5,
                       'a word of it')
            come(f'{name} lost, too', 0)
            # Its client knows before the thread that audits does.
            wait_until(lambda name=name: f'{name} lost, too' in pair.said(), 5, 'its line')
            time.sleep(0.1)
            if not unlinks:
                path.unlink()
            listener = listening(path)
            come(name, 1)
            come(f'{name} again', 1)
        said = [pair.said().count(words) for words in ('cannot be written', 'writable again')]
        expect_equal('said', said, [2, 2])
        pair.stop_server()
        expect('4 lines of the audit could not be written' in pair.said(), pair.said())
        wait_until(lambda: is_over(caller), 5, 'the end of the child')
        # With a server that is killed it ends, too.
        pair.start_server()
        caller, = children_of(pair.process.pid)
        pair.kill_server()
        wait_until(lambda: is_over(caller), 5, 'the end of the child')
    listener.close()


CASES = [
    Case('what may come', True, what_may_come),
    Case('case clash', True, case_clash),
    Case('audited', True, audited),
    Case('audited at a socket', True, audited_at_a_socket),
    Case('a log begins anew', True, log_begins_anew),
    Case('names of a folder', False, names_of_a_folder),
    Case('places of a peer', True, places_of_a_peer),
    Case('digest takes long', False, digest_takes_long),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
