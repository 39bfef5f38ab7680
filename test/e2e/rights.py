#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What a trusted peer may: its rights (wavehaul-trust(1)), on two hosts in network namespaces,
which only root makes. All verbs against all rights are a table: test/app/trust/trust_rights.c.

    rights.py [--quick] [-k PATTERN] [--binary PATH]
"""

import filecmp
import json
import os
import pwd
import subprocess
import sys
import time

from harness import (Case, end_group, expect, expect_between, expect_equal, expect_said,
                     expect_status, run_cases)
from network import SERVER, THIRD
from pair import wait_until
from telemetry import Telemetry
from trust import BINARY, Machine, User, make_file, two_machines, wait_for_look


def give_rights(here, there, *rights):
    here.user.report('trust', 'add', 'dtn2', there.user.key())
    there.user.report('trust', 'add', 'dtn1', here.user.key(), *rights)
    wait_for_look()


def rights_of_a_peer(program, folder):
    """Within a folder, and no writing; then some, by owners of its own."""
    path = make_file(folder)
    served = folder / 'served'
    with two_machines(program, folder, '--owners', '--map-owners', '*=6') as (here, there, server):
        for name in ('public', 'secret'):
            (served / name).mkdir()
            (served / name / 'f').write_bytes(path.read_bytes())
        give_rights(here, there, 'write=no', 'folder=public')
        expect_status(here.run('get', f'{SERVER}:public/f', folder / 'got'), 0)
        expect(filecmp.cmp(path, folder / 'got', shallow=False), 'another file')
        for words, why in ((('get', f'{SERVER}:secret/f', folder / 'no'), 'outside the folders'),
                           (('get', f'{SERVER}:public/../secret/f', folder / 'no'), ''),
                           (('send', path, f'{SERVER}:public/'), 'may not send files')):
            refused = here.run(*words)
            expect(refused.status not in (0, 20), f'{words}: exit status {refused.status}')
            expect_said(refused, why)
        expect(not (folder / 'no').exists(), 'a file came that must not')
        os.chown(path, 5, 5)
        there.user.report('trust', 'add', 'dtn1', here.user.key(), 'folder=public',
                          'map-owners=5=news,*=8', 'map-groups=*=9')
        wait_for_look()
        expect_status(here.run('send', '--owners', path, f'{SERVER}:public/mine'), 0)
        status = (served / 'public/mine').stat()
        expect_equal('its owners', (status.st_uid, status.st_gid),
                     (pwd.getpwnam('news').pw_uid, 9))


def rate_of_a_peer(program, folder):
    """All that a peer moves, in several jobs and both ways, goes by its rate: 40 Mb/s."""
    path = make_file(folder, 8_000_000)
    with two_machines(program, folder) as (here, there, server):
        (folder / 'served/large').write_bytes(path.read_bytes())
        give_rights(here, there, 'rate=40M')
        for words in (('get', f'{SERVER}:large', folder / 'one'),
                      ('send', path, f'{SERVER}:two'),
                      ('send', '--parallel', '2', path, f'{SERVER}:four')):
            report = json.loads(here.run(*words, '--json').out)
            expect_equal('it went', (report['files'], report['failed']), (1, 0))
            expect_between(f'rate of {words[0]}',
                           report['moved_bytes'] * 8 / report['seconds'], 25e6, 42e6)
        began = time.monotonic()
        clients = [here.start('get', f'{SERVER}:large', folder / 'back'),
                   here.start('send', path, f'{SERVER}:six', address=THIRD)]
        for client in clients:
            expect_status(here.user.program.finish(client, 30, began), 0)
        # 16 MB, and what was saved up; a start of each client and its handshake come to it.
        expect_between('seconds for both', time.monotonic() - began, 3.0, 8.0)
        for name in ('one', 'back'):
            expect(filecmp.cmp(path, folder / name, shallow=False), 'another file')


def drop_box(program, folder):
    """With read=no a file goes as a whole, and nothing tells what is there."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        give_rights(here, there, 'read=no')
        for _ in range(2):
            sent = here.run('send', '--json', path, f'{SERVER}:in/it/file')
            expect_status(sent, 0)
            totals = json.loads(sent.out)
            expect_equal('what went', (totals['files'], totals['skipped']), (1, 0))
        for words, why in ((('send', '--blocks', path, f'{SERVER}:in/it/file'), 'may not see'),
                           (('send', '--update', path, f'{SERVER}:in/it/file'), 'may not see'),
                           (('send', '--dry-run', path, f'{SERVER}:in/it/file'), 'may not see'),
                           (('rm', f'{SERVER}:in/it/file'), 'may not see'),
                           (('mv', f'{SERVER}:none', f'{SERVER}:other'), 'may not see'),
                           (('mkdir', f'{SERVER}:in'), 'may not see'),
                           (('ls', f'{SERVER}:none'), 'may not see'),
                           (('get', f'{SERVER}:none', folder / 'no'), 'may not get')):
            refused = here.run(*words)
            expect_status(refused, 1)
            expect_said(refused, why)
        expect(filecmp.cmp(path, folder / 'served/in/it/file', shallow=False), 'another file')


def durable_bytes(program, folder):
    """What the server's journal knows of a part."""
    said = subprocess.run([program.binary, 'parts', '--json', '--state', str(folder / 'state')],
                          capture_output=True, check=True).stdout
    return sum(part['durable_bytes'] for part in json.loads(said)['parts'])


def part_of_a_peer(program, folder):
    """Another key begins anew, though it sends the very same file of the same disk."""
    path = make_file(folder, 80 << 20)  # a smaller one is not kept
    with two_machines(program, folder, '--peer-timeout', '2s') as (here, there, server):
        other = Machine(here.host, User(program, folder / 'other'))
        for name, machine in (('dtn1', here), ('dtn3', other)):
            machine.user.report('trust', 'add', 'dtn2', there.user.key())
            there.user.report('trust', 'add', name, machine.user.key())
        wait_for_look()
        first = here.start('send', '--profile', 'fixed', '--rate', '160M', path, f'{SERVER}:file')
        try:
            wait_until(lambda: durable_bytes(program, folder) >= 4 << 20, 20, 'a part')
        finally:
            end_group(first)
        with Telemetry(server.process.pid) as telemetry:
            wait_until(lambda: telemetry.ask('/wavehaul/sessions') == [], 20, 'its end')
        sent = other.run('send', '--json', path, f'{SERVER}:file', address=THIRD)
        expect_status(sent, 0)
        totals = json.loads(sent.out)
        expect_equal('what came before', totals['resumed_bytes'], 0)
        expect_between('what moved', totals['moved_bytes'], 80 << 20, 82 << 20)
        expect(filecmp.cmp(path, folder / 'served/file', shallow=False), 'another file')


def bytes_of_a_day(program, folder):
    """A used-up daily quota also counts for the next server process."""
    path = make_file(folder)
    with two_machines(program, folder) as (here, there, server):
        give_rights(here, there, 'bytes=3M')
        expect_status(here.run('send', path, f'{SERVER}:'), 0)
        refused = here.run('send', make_file(folder, 8 << 20), f'{SERVER}:')
        expect(refused.status != 0, 'it moved more than it may')
        for words, status, said in ((('ls', f'{SERVER}:'), 0, ''),
                                    (('du', f'{SERVER}:'), 0, ''),
                                    (('mkdir', f'{SERVER}:room'), 0, ''),
                                    (('mv', f'{SERVER}:room', f'{SERVER}:place'), 0, ''),
                                    (('rm', '-r', f'{SERVER}:place'), 0, ''),
                                    (('get', f'{SERVER}:{path.name}', folder / 'back'), 1,
                                     'you have used your byte quota for today')):
            result = here.run(*words)
            expect_status(result, status)
            expect_said(result, said)
        server.stop()
        kept = folder / 'state/days'
        expect(here.user.key() in kept.read_text(), kept.read_text())
        for wrong, status, said in ((False, 1, 'you have used your byte quota for today'),
                                    (True, 0, '')):
            if wrong:
                kept.write_text(kept.read_text().replace('days', 'dais'))
            with server:
                result = here.run('send', make_file(folder, 1000), f'{SERVER}:again')
                expect_status(result, status)
                expect_said(result, said)
                expect(('restart from zero' in server.said()) == wrong, server.said())


CASES = [
    Case('rights: a folder, no writing, owners', True, rights_of_a_peer),
    Case('rights: the rate of all that a peer moves', True, rate_of_a_peer),
    Case('rights: a drop box', True, drop_box),
    Case("rights: a part is its sender's", True, part_of_a_peer),
    Case('rights: bytes of a day', True, bytes_of_a_day),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
