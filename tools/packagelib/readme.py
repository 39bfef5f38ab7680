#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The ways from the package to a transfer, by the words of README and docs/operate.md.

tools/package --try runs it.

    readme.py ROOT NEW...

ROOT is a Debian that has systemd, sudo and ssh, NEW are the packages. Each way has two machines to
itself. What is indented below its heading is said to a shell of the machine that the sentence
before it names, by a user who knows nothing else; a reader puts in his own port and address, as
told there.
A line for each step, then 'N passed, N failed, N skipped'.
"""

import contextlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from machine import MIB, TOP, be_alone, booted, run
from harness import Failed, expect, expect_equal
from lab import order
from pair import wait_until

ACCOUNT = ('README.md', 'First use, with any user account')
FIRST = ('README.md', 'First use, on two machines')
SERVICE = ('docs/operate.md', 'As a service')
COMMANDS_MAX = 6
WAYS_S = 900  # a quarter of an hour
BLOCK_S = 300
JOB_S = 120
NIGHT_BYTES = 1 << 30  # so long that it can be slowed down before it is there
TYPING_S = 1.1  # a command; whom a server trusts it looks up once a second

USER, ACCOUNT_THERE = 'admin', 'ann'
WIRES = (('eth0', 1500), ('eth1', 9000))
NIC, INTERFACE = '0000:3b:00.0', 'af_packet:eth1'
# A command that may say no: what it thinks of this machine is no part of the way.
MAY_FAIL = re.compile('wavehaul doctor')


def section(page, heading):
    text = (TOP / page).read_text()
    return text.split(f'\n## {heading}\n', 1)[1].split('\n## ', 1)[0]


def machines_of(paragraph):
    """Whom the last sentence before a block names."""
    last = re.split(r'(?<=[.)])\s', ' '.join(paragraph.split()))[-1]
    if re.search(r'\b[Oo]n both', last):
        return (1, 2)
    named = re.findall(r'\b[Oo]n `dtn(\d)`', last)
    return tuple(map(int, named[-1:]))


def blocks(page, heading):
    """(machines, lines) of what is indented there and is for a machine."""
    before = ''
    for part in re.split(r'\n{2,}', section(page, heading)):
        lines = part.strip('\n').split('\n')
        if not lines[0].startswith('    '):
            before = part
        elif machines_of(before):
            yield machines_of(before), '\n'.join(line[4:] for line in lines)


def count_commands(found):
    """As a reader counts: lines that he types, on whichever machine."""
    return sum(len(where) * len(text.splitlines()) for where, text in found)


def put_in(text, number, port):
    """What a reader puts in for himself."""
    text = text.replace(NIC, port)
    if number == 2:
        text = re.sub(r'address = \S+( *# of dtn2: )(\S+)', r'address = \2\1\2', text)
    return text


def prepare(machine, new):
    """As a machine is handed over: a user with sudo and ssh, the other's name, and the package."""
    other = 3 - machine.number
    address = {1: '198.51.100.1', 2: '198.51.100.2'}
    machine.host.add_addresses('eth0', f'{address[machine.number]}/24')
    machine.run('hostname', f'dtn{machine.number}')
    machine.run('useradd', '-m', '-s', '/bin/bash', '-G', 'sudo', USER)
    machine.write('/etc/sudoers.d/admin', f'{USER} ALL=(ALL) NOPASSWD: ALL\n')
    machine.write('/etc/apt/apt.conf.d/yes', 'APT::Get::Assume-Yes "true";\n')  # a reader says y
    machine.write('/etc/hosts', f'127.0.0.1 localhost\n{address[other]} dtn{other}\n'
                                f'127.0.1.1 dtn{machine.number}\n')
    for package in new:
        order('cp', package, machine.root / 'home' / USER)


def join(one, two):
    """The first's user may come to the second by ssh, and has done so before."""
    home = f'/home/{USER}'
    one.run('runuser', '-u', USER, '--', 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f',
            f'{home}/.ssh/id_ed25519')
    two.write(f'{home}/.ssh/authorized_keys', one.run('cat', f'{home}/.ssh/id_ed25519.pub') + '\n')
    two.run('chown', '-R', f'{USER}:', f'{home}/.ssh')
    two.run('systemctl', 'start', 'ssh')
    hosts = one.run('ssh-keyscan', '-t', 'ed25519', 'dtn2')
    one.write(f'{home}/.ssh/known_hosts', hosts + '\n')
    one.run('chown', '-R', f'{USER}:', f'{home}/.ssh')


def shell(machine, text):
    """The command by which its user says that in his home."""
    path = f'/home/{USER}/said'
    machine.write(path, f"trap 'echo \"went wrong: $BASH_COMMAND\" >&2' ERR\n"
                        f"trap 'sleep {TYPING_S}' DEBUG\n{text}\n")
    return ['runuser', '-l', USER, '-c', f'bash {path} 2>&1']


def say(machine, text):
    """What it prints on standard output; each command has to succeed."""
    told = machine.run(*shell(machine, text), check=False, timeout=BLOCK_S)
    for line in told.splitlines():
        expect(not line.startswith('went wrong: ') or MAY_FAIL.search(line),
               f'dtn{machine.number}: {line}:\n{told[-1500:]}')
    return told


def keep_saying(machine, text, word):
    """A block whose last command stays: until that has said the word."""
    path = machine.scratch / 'said'
    with open(path, 'wb') as log:
        process = subprocess.Popen(machine.inside(*shell(machine, text)),
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def has_said():
        expect(process.poll() is None, f'it ends: {path.read_text()}')
        return word in path.read_text(errors='replace')
    wait_until(has_said, 60, word)


@contextlib.contextmanager
def fresh(root, new):
    with booted(root, WIRES) as (one, two):
        for machine in (one, two):
            prepare(machine, new)
        join(one, two)
        yield one, two


def one_line(root, new):
    """The first line alone, to a user's account: the files are there, and nothing else is."""
    line = re.search(r'\n\n    (wavehaul .*)\n\n', section(*ACCOUNT))[1]
    there = f'/home/{ACCOUNT_THERE}'
    with fresh(root, new) as (one, two):
        for machine in (one, two):
            machine.run('sh', '-c', f'apt-get install /home/{USER}/wavehaul_*.deb', timeout=BLOCK_S)
        two.run('useradd', '-m', '-s', '/bin/bash', ACCOUNT_THERE)
        two.run('sh', '-c', f'cp -r /home/{USER}/.ssh {there}; chown -R {ACCOUNT_THERE}: {there}')
        one.run('mkdir', f'/home/{USER}/results')
        digest = one.plant(f'/home/{USER}/results/data', 3 * MIB)
        began = time.monotonic()
        said = say(one, line)
        spent = time.monotonic() - began
        expect_equal('what came', two.digest_of(f'{there}/runs/results/data'), digest)
        expect_equal('its owner', two.run('stat', '-c', '%U', f'{there}/runs/results/data'),
                     ACCOUNT_THERE)
        expect('sealed by' in said, f'it does not say that it was sealed: {said}')
        for machine in (one, two):
            expect_equal('servers', machine.run('pgrep', 'wavehaul', check=False), '')
            expect_equal('keys and trust', machine.run(
                'sh', '-c', 'ls -d /home/*/.config/wavehaul', check=False), '')
    yield f'README: first use, one line by ssh, {spent:.1f} s'


def first_use(root, new):
    found = list(blocks(*FIRST))
    expect(count_commands(found) <= COMMANDS_MAX, f'{count_commands(found)} commands')
    with fresh(root, new) as (one, two):
        machine = {1: one, 2: two}
        digest = one.plant(f'/home/{USER}/results.tar', 3 * MIB)
        began = time.monotonic()
        for where, text in found:
            for number in where:
                if 'wavehaul serve' in text:
                    keep_saying(machine[number], text, 'serving')
                else:
                    said = say(machine[number], text)
        spent = time.monotonic() - began
        expect_equal('what came', two.digest_of('/srv/incoming/results.tar'), digest)
        expect(re.search('sealed', said), f'it does not say that it was sealed: {said}')
    yield f'README: first use, {count_commands(found)} commands, {spent:.0f} s'


def cut_short(one, two, night_bytes):
    """The first night: its large file is half there when the receiver loses power."""
    digest = one.plant('/srv/outgoing/night', night_bytes)
    one.run('systemctl', 'start', 'nightly.service')
    one.wait_until(lambda: one.state_of(2) == 'running', 20, 'the night')
    one.run('wavehaul', 'job', 'set', '2', '100M')
    two.wait_until(lambda: any(part['durable_bytes'] > 0 for part in json.loads(
        two.run('wavehaul', 'parts', '--json'))['parts']), 60, 'a part that is durable')
    two.cut_power()
    two.boot()
    one.run('wavehaul', 'job', 'set', '2', 'max')
    one.await_done(2, JOB_S)
    expect_equal('what came', two.digest_of('/srv/incoming/outgoing/night'), digest)


def watched(one, said):
    """What the last block has shown is of those two jobs, to the byte."""
    moved = json.loads(one.run('wavehaul', 'report', '--by', 'transfer', '--json'))['transfers']
    ok = [entry for entry in moved if entry['exit_status'] == 0]
    expect_equal('transfers that ended well', len(ok), 2)
    expect(any(entry['resumed_bytes'] > 0 for entry in ok), f'nothing was taken up: {ok}')
    for word in (r'^ *2 +done', 'job 2 .* send .* of it had come before, .*: ok$', '^dtn2 ',
                 '^wavehaul_'):
        expect(re.search(word, said, re.MULTILINE), f'no {word}: {said[:3000]}')


def service(one, two, port, left_out, night_bytes):
    """By all blocks but those, which are for another kind of port."""
    machine, said = {1: one, 2: two}, ''
    began = time.monotonic()
    *first, last = (block for block in blocks(*SERVICE) if left_out not in block[1])
    for where, text in first:
        for number in where:
            if 'job add send' in text and 'nightly' not in text:
                digest = one.plant('/srv/outgoing/first', 3 * MIB)
            said = say(machine[number], put_in(text, number, port))
            if 'systemctl status' in text:
                expect(f'serving /srv on {port}' in said, said)
    yield f'README: the service is up, and the night arranged, {time.monotonic() - began:.0f} s'
    expect(re.search(' 22:00:00 ', said), f'nothing at ten: {said}')
    one.await_done(1, JOB_S)
    expect_equal('the first', two.digest_of('/srv/incoming/outgoing/first'), digest)
    yield 'README: a first time by hand'
    cut_short(one, two, night_bytes)
    yield 'README: a night, in which the other host lost power'
    watched(one, say(one, last[1]))
    expect(time.monotonic() - began < WAYS_S * one.slowness, 'more than a quarter of an hour')
    yield f'README: watched; {time.monotonic() - began:.0f} s in all'


def steps(root, new):
    be_alone()
    yield from one_line(root, new)
    yield from first_use(root, new)
    with fresh(root, new) as two:
        yield from service(*two, INTERFACE, 'wavehaul nic', NIGHT_BYTES)


if __name__ == '__main__':
    sys.exit(run(steps(sys.argv[1], sys.argv[2:])))
