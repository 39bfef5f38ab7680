#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""USER@HOST: a server that ssh starts for one command, by a real sshd.

    ssh.py [--quick] [-k PATTERN] [--binary PATH]

Namespaces of the network are the hosts. The client is nobody, the user there is made up for the
sshd of the case. Only root makes namespaces: all cases are skipped otherwise. A line for each case,
then 'N passed, N failed, N skipped'.
"""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from harness import (NOBODY, Case, Skip, end_group, expect, expect_between, expect_equal,
                     expect_said, expect_status, run_cases)
from lab import Lab, order
from network import (CLIENT, FAR, SERVER, SERVER6, expect_same, in_brackets, make_load,
                     router_between)
from pair import wait_until
from udp import CLIENT_S, Nobody, Server, dropped, two_hosts

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

MIB = 1 << 20
OK, OTHER, USAGE, NO_FILE, NETWORK, HARDWARE, PARTIAL = 0, 1, 2, 3, 5, 7, 23
SSH_PORT, FIRST_PORT = 2222, 60000
STARTING_S, GONE_S = 20, 60
ANN, ANN_ID, HOMELESS = 'ann', 4242, 'homeless'
SSHD = '/usr/sbin/sshd'
OUTSIDE = '203.0.113.5'  # the host's address in front of a translator

# Names that a shell, or ssh, would take for something else.
HOSTILE = ('-rf', '$(touch pwned)', ';touch pwned;', '`touch pwned`', "it's", 'two words', '"',
           '\\', '&&', '~', '|cat', '>out', '\x01')


class Sshd:
    """An sshd of this case's own on a host, whose users are Ann, and one without a home."""

    def __init__(self, folder, host):
        if not os.access(SSHD, os.X_OK) or not shutil.which('ssh'):
            raise Skip('sshd or ssh is not there: tools/setup --tests')
        self.host, self.folder = host, folder / 'sshd'
        self.home = folder / 'ann'
        self.log = self.folder / 'log'
        self.etc = Path('/etc/netns', host.netns)  # ip-netns(8): replaces files of /etc

    def write(self):
        self.folder.mkdir()
        self.home.mkdir()
        os.chown(self.home, ANN_ID, ANN_ID)
        for name in ('host_key', 'key'):
            order('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', self.folder / name)
        os.chown(self.folder / 'key', int(NOBODY), int(NOBODY))
        public = (self.folder / 'host_key.pub').read_text()
        (self.folder / 'known').write_text(f'* {public}')
        (self.folder / 'config').write_text(
            f'Port {SSH_PORT}\nHostKey {self.folder}/host_key\nPidFile none\nUsePAM no\n'
            f'AuthorizedKeysFile {self.folder}/key.pub\nStrictModes no\nUseDNS no\n')
        self.etc.mkdir(parents=True)
        (self.etc / 'passwd').write_text(
            Path('/etc/passwd').read_text() +
            f'{ANN}:*:{ANN_ID}:{ANN_ID}::{self.home}:/bin/bash\n'
            f'{HOMELESS}:*:{ANN_ID + 1}:{ANN_ID}::/nowhere:/bin/sh\n')
        Path('/run/sshd').mkdir(exist_ok=True)

    def __enter__(self):
        self.write()
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(
                [*self.host.under, SSHD, '-D', '-e', '-f', str(self.folder / 'config')],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        wait_until(lambda: 'listening' in self.log.read_text(), STARTING_S, 'an sshd that listens')
        return self

    def __exit__(self, *_):
        end_group(self.process)
        for pid in self.servers():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.etc)
        with contextlib.suppress(OSError):
            self.etc.parent.rmdir()

    def ssh(self):
        """What reaches it: no file of the user's is read."""
        return (f'ssh -F none -p {SSH_PORT} -i {self.folder}/key -o IdentitiesOnly=yes '
                f'-o BatchMode=yes -o UserKnownHostsFile={self.folder}/known')

    def servers(self):
        """The processes that it has started."""
        found = []
        for status in Path('/proc').glob('[0-9]*/status'):
            with contextlib.suppress(OSError):
                uid = re.search(r'^Uid:\s+(\d+)', status.read_text(), re.MULTILINE)[1]
                command = (status.parent / 'cmdline').read_bytes()
                if int(uid) in (ANN_ID, ANN_ID + 1) and b'--for-client' in command:
                    found.append(int(status.parent.name))
        return found

    def await_none(self, within_s):
        """Seconds until no server is there."""
        began = time.monotonic()
        wait_until(lambda: not self.servers(), within_s, 'no server that is left')
        return time.monotonic() - began


class User(Nobody):
    """Nobody at the client, who has no key of wavehaul and gets none."""

    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.known = folder / 'config'
        self.under = (*self.under, f'WAVEHAUL_CONFIG_DIR={self.known}')
        self.sshd = None

    def command(self, host, verb, *args):
        mine = ('--ssh', self.sshd.ssh(), '--remote-command', self.program.binary)
        given = () if verb == 'serve' or '--ssh' in args else mine
        return super().command(host, verb, *given, *args)


@contextlib.contextmanager
def site(program, folder):
    """(user, client, sshd)"""
    user = User(program, folder)
    with two_hosts() as (host, client), Sshd(folder, host) as user.sshd:
        yield user, client, user.sshd
        user.sshd.await_none(5)
        expect(not user.known.exists(), 'a key or trust was kept')


def ann(address=SERVER):
    return f'{ANN}@{in_brackets(address)}'


def load_of(user):
    load = user.folder / 'load'
    make_load(load)
    user.owns(load)
    return load


def all_verbs(program, folder):
    """Relative paths are of the home, others of the whole system; both families; owner and rights
    are the user's."""
    with site(program, folder) as (user, client, sshd):
        load, got = load_of(user), folder / 'got'
        got.mkdir()
        user.owns(got)
        for address in (SERVER, SERVER6):
            sent = user.run(client, 'send', '-r', load / 'tree', load / 'big.bin',
                            f'{ann(address)}:in/')
            expect_status(sent, OK)
            expect_said(sent, f'ssh has started a server at {ANN}@{address} for this command: '
                              rf'{address}, UDP port {FIRST_PORT}\n')
            expect_same('what was sent', sshd.home / 'in', load)
            expect_equal('its owner', (sshd.home / 'in/big.bin').stat().st_uid, ANN_ID)
            expect_status(user.run(client, 'get', '-r', f'{ann(address)}:in/tree',
                                   f'{ann(address)}:{sshd.home}/in/big.bin', f'{got}/'), OK)
            expect_same('what was got', got, load)
            shutil.rmtree(got / 'tree')
            (got / 'big.bin').unlink()
            shutil.rmtree(sshd.home / 'in')
        home = ann()
        expect_status(user.run(client, 'mkdir', f'{home}:a'), OK)
        expect_status(user.run(client, 'send', load / 'big.bin', f'{home}:a/b'), OK)
        expect_status(user.run(client, 'mv', f'{home}:a/b', f'{home}:{sshd.home}/a/c'), OK)
        expect(' c' in user.run(client, 'ls', f'{home}:a').out, 'ls does not show it')
        expect(' /etc/hostname' in user.run(client, 'ls', f'{home}:/etc/hostname').out,
               'ls does not show a file of the system')
        expect_status(user.run(client, 'du', f'{home}:a'), OK)
        expect_status(user.run(client, 'rm', f'{home}:a/c'), OK)
        expect(not (sshd.home / 'a/c').exists(), 'it is still there')
        expect_status(user.run(client, 'rm', f'{home}:/etc/hostname'), OTHER)
        pings = user.run(client, 'ping', home, '--count', '3')
        expect('3 of 3 came back' in pings.out, pings.out + pings.err)
        expect_status(user.run(client, 'bench', home, '--size', '16M'), OK)
        expect_status(user.run(client, 'bench', home, '--size', '16M', '--reverse'), OK)
        expect_status(user.run(client, 'probe', home, '--time', '1s'), OK)


def options(program, folder):
    """Lanes, a pipe, attributes, --relative without the home, links that lead anywhere."""
    with site(program, folder) as (user, client, sshd):
        load, got = load_of(user), folder / 'got'
        got.mkdir()
        user.owns(got)
        elsewhere = folder / 'elsewhere'
        elsewhere.mkdir()
        os.chown(elsewhere, ANN_ID, ANN_ID)
        (sshd.home / 'link').symlink_to(elsewhere)
        expect_status(user.run(client, 'send', '-a', '--parallel', '2', load / 'tree',
                               load / 'big.bin', f'{ann()}:link/'), OK)
        expect_same('what was sent', elsewhere, load)
        (sshd.home / 'file').symlink_to(elsewhere / 'big.bin')
        expect_status(user.run(client, 'send', __file__, f'{ann()}:file'), OK)
        expect((elsewhere / 'big.bin').read_bytes() == Path(__file__).read_bytes(),
               'not the file behind the link')
        expect_status(user.run(client, 'get', '--relative', f'{ann()}:link/big.bin',
                               f'{got}/'), OK)
        expect((got / 'link/big.bin').exists(), 'not below its folders')
        command = user.command(client, 'get', f'{ann()}:file', '-')
        at = command.index(program.binary)
        piped = subprocess.run([*command[:at], 'sh', '-c', '"$@" | cat', '-', *command[at:]],
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=CLIENT_S,
                               check=False)
        expect(piped.stdout == Path(__file__).read_bytes(), f'by the pipe: {piped.stderr[-400:]}')
        result = user.run(client, 'send', __file__, f'{ann()}:x', '--udp-ports', '60100:60100')
        expect_said(result, 'UDP port 60100')
        for wrong in ('0:1', '2:1', '60000', '1:70000', '1:2:3'):
            expect_status(user.run(client, 'ls', f'{ann()}:', '--udp-ports', wrong), USAGE)
        expect_status(user.run(client, 'ls', f'{ann()}:', '--unsealed'), USAGE)


def hostile_names(program, folder):
    """Paths go as they are; what ssh could take for an option or give a shell does not go."""
    with site(program, folder) as (user, client, sshd):
        sources = folder / 'sources'
        sources.mkdir()
        for name in HOSTILE:
            (sources / name).write_text(name)
        user.owns(sources)
        expect_status(user.run(client, 'send', '-r', sources, f'{ann()}:in $(touch pwned)/'), OK)
        there = sshd.home / 'in $(touch pwned)' / 'sources'
        expect_equal('the names', sorted(os.listdir(there)), sorted(HOSTILE))
        expect_status(user.run(client, 'rm', *(f'{ann()}:in $(touch pwned)/sources/{name}'
                                               for name in HOSTILE)), OK)
        expect_equal('what is left', os.listdir(there), [])
        for host in ('-oProxyCommand=touch${IFS}pwned@x', 'ann@-oProxyCommand=touch', 'a;b@x',
                     'ann@$(touch pwned)', 'ann@x y', '@x', 'ann@`id`', "o'hara@x"):
            result = user.run(client, 'send', __file__, '--', f'{host}:')
            expect_status(result, USAGE)
            expect_said(result, 'ssh')
        expect(not list(folder.rglob('pwned')) and not Path('pwned').exists(), 'a shell ran')


def wrapper(folder, text):
    """A command in ssh's place."""
    path = folder / 'wrapper'
    path.write_text(f'#!/bin/bash\n{text}\n')
    path.chmod(0o755)
    return path


def bad_ssh(program, folder):
    """Banners, start files and those who ask come first; then it dies, or says anything."""
    with site(program, folder) as (user, client, sshd):
        (sshd.home / '.bashrc').write_text('echo Welcome; echo \'{"wavehaul":"1"}\'; echo "{"\n')
        with open(sshd.folder / 'config', 'a', encoding='utf-8') as config:
            config.write(f'Banner {sshd.folder}/banner\n')
        (sshd.folder / 'banner').write_text('Only for the authorised.\n')
        os.kill(sshd_pid(sshd), signal.SIGHUP)
        wait_until(lambda: sshd.log.read_text().count('listening on 0.0.0.0') > 1, STARTING_S,
                   'an sshd that reads again')
        expect_status(user.run(client, 'ls', f'{ann()}:'), OK)
        slow = wrapper(folder, f'sleep 3; exec {sshd.ssh()} "$@"')
        expect_status(user.run(client, 'ls', f'{ann()}:', '--ssh', slow, '--remote-command',
                               program.binary), OK)
        for text, sentence in (
                ('exit 3', 'ended with exit status 3 before the server'),
                ('kill -9 $$', 'ended with exit status 137'),
                ('exit 127', 'is not installed at .* --remote-command'),
                ('echo no route >&2; exit 255', 'ssh does not reach ann@'),
                ('yes $(seq 9999) | tr -d " \\n" | head -c 100000', 'too much of it'),
                ('head -c 100000 /dev/urandom', 'wavehaul'),
                (f'echo \'{{"wavehaul":"9","wire":99,"bundle":1,"key":"sha256:{"0" * 64}",'
                 '"port":1,"addresses":["192.0.2.1"]}\'; sleep 9',
                 'has wavehaul 9 with packet format 99'),
                (f'echo \'{{"wavehaul":"9","key":"sha256:{"0" * 64}","port":70000}}\'',
                 'is the same wavehaul installed')):
            result = user.run(client, 'ls', f'{ann()}:', '--ssh', wrapper(folder, text))
            expect_status(result, NETWORK, HARDWARE)
            expect_said(result, sentence)
        result = user.run(client, 'ls', f'{ann()}:', '--ssh', '/nowhere/ssh')
        expect_status(result, NO_FILE)
        expect_said(result, 'cannot run /nowhere/ssh')
        result = user.run(client, 'ls', f'{ann()}:', '--remote-command', '/nowhere/wavehaul',
                          '--ssh', sshd.ssh())
        expect_status(result, NETWORK)
        expect_said(result, 'wavehaul is not installed at ann@192.0.2.1, or')
        with open(sshd.folder / 'typed', 'w', encoding='utf-8') as typed:
            typed.write('no line of ours\n')
        with open(sshd.folder / 'typed', 'rb') as typed:
            done = subprocess.run([program.binary, 'serve', '--for-client'], stdin=typed,
                                  capture_output=True, timeout=20, check=False)
        expect_equal('the exit status', done.returncode, USAGE)
        expect(b'by ssh' in done.stderr, done.stderr)


def sshd_pid(sshd):
    """Of what runs under ip-netns and taskset, which become it."""
    return sshd.process.pid


def forced_command(program, folder):
    """A key of ssh that may do this below one folder, and nothing else."""
    with site(program, folder) as (user, client, sshd):
        public = sshd.folder / 'key.pub'
        root = sshd.home / 'only'
        root.mkdir()
        os.chown(root, ANN_ID, ANN_ID)
        (sshd.home / 'secret').write_text('secret')
        public.write_text(f'restrict,command="{program.binary} serve --for-client --root {root}" '
                          f'{public.read_text()}')
        for path in ('a', '/b', '/'):
            expect_status(user.run(client, 'send', __file__, f'{ann()}:{path}'), OK)
        expect_equal('what is there', sorted(os.listdir(root)), ['a', 'b', Path(__file__).name])
        for path in ('../secret', f'{sshd.home}/secret', '/../secret'):
            result = user.run(client, 'get', f'{ann()}:{path}', f'{folder}/got')
            expect_status(result, PARTIAL)
            expect(not (folder / 'got').exists(), 'it was got')


def no_home(program, folder):
    with site(program, folder) as (user, client, _):
        result = user.run(client, 'ls', f'{HOMELESS}@{SERVER}:x')
        expect_status(result, NO_FILE)
        expect_said(result, 'has no home folder at homeless@.*begins with /')
        expect_status(user.run(client, 'ls', f'{HOMELESS}@{SERVER}:/etc/hostname'), OK)


@contextlib.contextmanager
def routed_site(program, folder):
    """(user, client, router, sshd), on two subnets."""
    user = User(program, folder)
    with router_between(1500, 1500) as (host, client, router), Sshd(folder, host) as user.sshd:
        host.add_addresses('eth0', f'{SERVER}/24')
        client.add_addresses('eth0', f'{FAR}/24')
        host.ip('route', 'add', 'default', 'via', '192.0.2.254')
        client.ip('route', 'add', 'default', 'via', '198.51.100.254')
        yield user, client, router, user.sshd
        user.sshd.await_none(5)


def nft(host, rules):
    order('ip', 'netns', 'exec', host.netns, 'nft', rules)


def other_names(program, folder):
    """ssh's configuration has the name; or a translator is in front of the host."""
    with routed_site(program, folder) as (user, client, router, sshd):
        (folder / 'ssh_config').write_text(f'Host dtn2\n  HostName {SERVER}\n')
        alias = sshd.ssh().replace('-F none', f'-F {folder}/ssh_config')
        result = user.run(client, 'send', __file__, f'{ANN}@dtn2:', '--ssh', alias,
                          '--remote-command', program.binary)
        expect_status(result, OK)
        expect_said(result, f'at {ANN}@dtn2 for this command: {SERVER}, UDP port')
        nft(router, 'add table nat; add chain nat in { type nat hook prerouting priority 0; }; '
                    f'add rule nat in ip daddr {OUTSIDE} dnat to {SERVER}; '
                    'add table wall; add chain wall on { type filter hook forward priority 0; }; '
                    f'add rule wall on ip saddr {FAR} ct status dnat accept; '
                    f'add rule wall on ip saddr {FAR} drop')
        result = user.run(client, 'send', __file__, f'{ANN}@{OUTSIDE}:')
        expect_status(result, OK)
        expect_said(result, f'for this command: {OUTSIDE}, UDP port')


def man_in_the_middle(program, folder):
    """Whoever has all UDP, and even what the client said through ssh, still lacks the server's key:
    the client tells him nothing and gives him no file."""
    with routed_site(program, folder) as (user, client, router, sshd):
        line, ready = folder / 'line', folder / 'ready'
        slow = wrapper(folder, f'read -r line; echo "$line" >{line}.new; mv {line}.new {line}\n'
                               f'while [ ! -e {ready} ]; do sleep 0.05; done\n'
                               f'{{ echo "$line"; cat; }} | {sshd.ssh()} "$@"')
        process = user.start(client, 'send', __file__, f'{ANN}@{SERVER}:', '--ssh', slow,
                             '--remote-command', program.binary)
        wait_until(line.exists, STARTING_S, 'what the client says')
        false = subprocess.Popen(user.command(router, 'serve', '--for-client'),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        false.stdin.write(line.read_bytes())
        false.stdin.flush()
        answer = json.loads(false.stdout.readline())
        expect_equal('his port', answer['port'], FIRST_PORT)
        nft(router, 'add table nat; add chain nat in { type nat hook prerouting priority 0; }; '
                    f'add rule nat in udp dport {FIRST_PORT} dnat to {answer["addresses"][0]}')
        ready.touch()
        result = user.program.finish(process, CLIENT_S, time.monotonic())
        expect_status(result, NETWORK)
        expect_said(result, r'the server [-0-9a-z]+ is not trusted here\n')
        expect_said(result, 'NOT THE KEY that came by ssh: ANOTHER HOST ANSWERS IN ITS PLACE')
        end_group(false)
        expect(not list(folder.rglob(Path(__file__).name)), 'a file has come')


def firewall(program, folder):
    """Each direction, told within 5 s of ssh's answer, for which a busy machine takes its time."""
    with site(program, folder) as (user, client, sshd):
        calm = user.run(client, 'ls', f'{ann()}:')
        expect_status(calm, OK)
        told_s = 5, 7 + 2 * calm.seconds
        with dropped(sshd.host):
            result = user.run(client, 'send', __file__, f'{ann()}:')
            expect_status(result, NETWORK)
            expect_said(result, f'UDP from here does not arrive at {SERVER} port {FIRST_PORT}')
            expect_between('the time', result.seconds, *told_s)
        with dropped(client):
            result = user.run(client, 'ls', f'{ann()}:')
            expect_status(result, NETWORK)
            expect_said(result, f'arrives at {SERVER} port {FIRST_PORT}, but the answers do not')
            expect_between('the time', result.seconds, *told_s)
        expect_status(user.run(client, 'send', __file__, f'{ann()}:'), OK)


def start_transfer(user, client, source, *options):
    process = user.start(client, 'send', source, f'{ann()}:', *options)
    wait_until(lambda: user.sshd.servers(), STARTING_S, 'a server')
    return process


def stranger(program, folder):
    """Whoever finds the port can do nothing: no session, no line."""
    with site(program, folder) as (user, client, sshd):
        other = Nobody(program, folder)
        source = folder / 'big'
        source.write_bytes(random.Random(1).randbytes(24 * MIB))
        process = start_transfer(user, client, source, '--rate', '40M')
        time.sleep(1)
        with client.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
            draw = random.Random(2)
            for _ in range(2000):
                noise.sendto(draw.randbytes(draw.choice((0, 1, 63, 64, 96, 1472))),
                             (SERVER, FIRST_PORT))
        result = other.run(client, 'ls', f'{SERVER}:', '--udp-port', FIRST_PORT)
        expect_status(result, NETWORK)
        result = user.program.finish(process, 60, time.monotonic())
        expect_status(result, OK)
        expect('refused' not in result.err and CLIENT not in result.err, result.err)
        expect((sshd.home / 'big').read_bytes() == source.read_bytes(), 'other bytes')


def two_at_once(program, folder):
    with site(program, folder) as (user, client, sshd):
        sources = [folder / f'big{i}' for i in range(2)]
        for i, source in enumerate(sources):
            source.write_bytes(random.Random(i).randbytes(16 * MIB))
        processes = [user.start(client, 'send', source, f'{ann()}:', '--rate', '60M')
                     for source in sources]
        said = ''
        for process in processes:
            result = user.program.finish(process, 60, time.monotonic())
            expect_status(result, OK)
            said += result.err
        for port in (FIRST_PORT, FIRST_PORT + 1):
            expect(f'UDP port {port}\n' in said, said)
        for source in sources:
            expect((sshd.home / source.name).read_bytes() == source.read_bytes(), 'other bytes')


def arrived_bytes(sshd):
    """Of a file that is not whole yet."""
    total = 0
    for part in sshd.home.glob('.wavehaul-*/*'):
        with contextlib.suppress(OSError):
            total += part.stat().st_blocks * 512
    return total


def kill_client(process, _):
    end_group(process)


def kill_ssh(process, _):
    """Of the client's own child."""
    for status in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            words = status.read_text().rpartition(')')
            if int(words[2].split()[1]) == process.pid and words[0].endswith('(ssh'):
                os.kill(int(status.parent.name), signal.SIGKILL)


def kill_server(_, sshd):
    for pid in sshd.servers():
        os.kill(pid, signal.SIGKILL)


def killed(program, folder, victim, survives):
    """Nothing is left within a minute, and the next command resumes."""
    with site(program, folder) as (user, client, sshd):
        source = folder / 'big'
        source.write_bytes(random.Random(3).randbytes(128 * MIB))
        process = start_transfer(user, client, source, '--rate', '200M', '--peer-timeout', '3s')
        wait_until(lambda: arrived_bytes(sshd) > 72 * MIB, STARTING_S, 'a part that has arrived')
        victim(process, sshd)
        if survives:
            result = user.program.finish(process, 60, time.monotonic())
            expect_status(result, OK)
            sshd.await_none(10)
        else:
            if process.poll() is None:
                result = user.program.finish(process, 60, time.monotonic())
                expect_status(result, NETWORK)
            sshd.await_none(GONE_S)
            result = user.run(client, 'send', source, f'{ann()}:')
            expect_status(result, OK)
            expect(re.search(r'\d+\.\d MiB of it had come before', result.out), result.out)
        expect((sshd.home / 'big').read_bytes() == source.read_bytes(), 'other bytes')


def known_host(program, folder):
    """Without a user it is the server that runs there, as ever."""
    with site(program, folder) as (user, client, sshd):
        other = Nobody(program, folder)
        with Server(other, sshd.host) as server:
            result = other.run(client, 'send', __file__, f'{SERVER}:')
            expect_status(result, OK)
            expect('ssh' not in result.err, result.err)
            expect((server.folder / Path(__file__).name).exists(), 'it is not there')


def cases():
    yield Case('all verbs', True, all_verbs)
    yield Case('options', False, options)
    yield Case('hostile names', True, hostile_names)
    yield Case('bad ssh', False, bad_ssh)
    yield Case('no home', True, no_home)
    yield Case('forced command', False, forced_command)
    yield Case('other names', False, other_names)
    yield Case('firewall', False, firewall)
    yield Case('man in the middle', False, man_in_the_middle)
    yield Case('stranger', False, stranger)
    yield Case('two at once', False, two_at_once)
    for name, victim, survives in (('client', kill_client, False), ('ssh', kill_ssh, True),
                                   ('server', kill_server, False)):
        yield Case(f'killed {name}', False,
                   lambda *args, victim=victim, survives=survives: killed(*args, victim, survives))
    yield Case('known host', False, known_host)


if __name__ == '__main__':
    sys.exit(run_cases([case._replace(memory=True) for case in cases()], BINARY))
