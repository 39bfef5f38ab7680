#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul fleet`: shards of a tree as tasks of a Slurm on this machine (config/fleet/slurm).

    fleet.py [--quick] [-k PATTERN] [--binary PATH]

Nodes and receivers are namespaces of the network, the transfers go over UDP. Skipped where only
root could make them, or where Slurm is not installed.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import Case, Skip, end_group, expect, expect_equal, expect_status, run_cases
from lab import Lab, order
from pair import wait_until

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
SLURM = TOP / 'config/fleet/slurm'

OK, OTHER, USAGE, NO_FILE, NETWORK, VERIFY, PARTIAL, STALLED = 0, 1, 2, 3, 5, 6, 23, 30
ALL_DONE_S, STARTING_S = 40, 20
ODD = b'\xe9\x1b[2J'  # neither UTF-8 nor good for a terminal
SEND = ('--', '--config', 'none', '--buffers', '128M', '--unsealed', '--digest', 'md5',
        '--peer-timeout', '2s')


def make(tree):
    """150 files in folders, one that is larger than the others together, a link, nothing."""
    for i in range(150):
        path = tree / f'd{i % 7}' / f'f{i}'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(500 + 97 * i))
    (tree / 'large').write_bytes(os.urandom(12 << 20))
    (tree / 'link').symlink_to('large')
    (tree / 'none').mkdir()
    return tree


def contents(tree):
    """{path: MD5 of a file, text of a link, None of a folder}."""
    return {str(path.relative_to(tree)):
            os.readlink(path) if path.is_symlink() else None if path.is_dir() else
            hashlib.md5(path.read_bytes()).hexdigest() for path in tree.rglob('*')}


def expect_same(arrived, tree):
    wrong = contents(arrived).items() ^ contents(tree).items()
    expect(not wrong, f'what arrived differs: {list(wrong)[:3]}')


class Site:
    """Receivers r1 and r2 write to one folder; `under` reaches the host of either."""

    def __init__(self, program, folder, under):
        self.program, self.folder, self.under = program, folder, under
        self.served, self.processes = folder / 'served', []
        self.served.mkdir()

    def name(self, **addresses):
        """The file of the site; an address ends with '!' under maintenance."""
        sites = self.folder / 'sites'
        sites.mkdir(exist_ok=True)
        (sites / 'far.conf').write_text(''.join(
            f'[receiver {name}]\naddress = {address.strip("!")}\n'
            f'maintenance = {"yes" if address.endswith("!") else "no"}\n'
            for name, address in addresses.items()))
        return ('--sites', sites)

    def serve(self, host, root=None):
        process = self.program.start('serve', '--config', 'none', '--buffers', '128M',
                                     '--unsealed', '--root', root or self.served, '--state',
                                     self.folder / f'state-{host}', under=self.under(host))
        self.processes.append(process)
        os.set_blocking(process.stderr.fileno(), False)
        said = bytearray()
        wait_until(lambda: said.extend(process.stderr.read() or b'') or
                   b'nor authenticated' in said, STARTING_S, f'a receiver on {host}')
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            end_group(process)


@contextlib.contextmanager
def slurm(folder, receivers='2'):
    if os.geteuid() != 0:
        raise Skip('only root makes network namespaces')
    if not shutil.which('slurmctld', path='/usr/sbin:/usr/bin'):
        raise Skip('Slurm is not installed (slurmctld, slurmd, munge)')
    os.environ['WAVEHAUL_FLEET'] = str(folder / 'slurm')
    done = subprocess.run([SLURM, 'up', '2', receivers], timeout=60, capture_output=True, text=True,
                          check=False)
    try:
        expect(done.returncode == 0, done.stderr)
        yield
    finally:
        subprocess.run([SLURM, 'down'], timeout=60, check=True)


def on(host):
    return (str(SLURM), 'on', host)


def fleet(program, *args, under=(), status=OK):
    done = program.finish(program.start('fleet', *args, under=under), ALL_DONE_S,
                          time.monotonic())
    expect_status(done, status)
    return json.loads(done.out) if '--json' in args else done.out


def expect_report(program, plan, tree):
    """A line for each file, with the right checksum."""
    lines = [line.split('  ') for line in
             fleet(program, 'report', '--plan', plan).splitlines()]
    files = {path: digest for path, digest in contents(tree).items()
             if (tree / path).is_file() and not (tree / path).is_symlink()}
    wrong = {line[3]: line[0] for line in lines}.items() ^ {
        f'{tree.name}/{path}'.replace(os.fsdecode(ODD), '\\xe9\\x1b[2J'): digest
        for path, digest in files.items()}.items()
    expect(not wrong, f'the report differs: {list(wrong)[:3]}')
    return {(line[1], line[2]) for line in lines}


def on_slurm(program, folder):
    """Two nodes, two receivers: cancelled at first, then done; a node that dies under way."""
    tree = make(folder / 'tree')
    with slurm(folder), Site(program, folder, on) as site:
        sites = site.name(r1='10.99.0.21', r2='10.99.0.22')
        for host in ('r1', 'r2'):
            site.serve(host)
        order(SLURM, 'run', 'scontrol', 'update', 'partitionname=dtn', 'state=down')
        for target, options in (('one', ()), ('two', ('--rate', '15M'))):
            plan = folder / f'plan-{target}'
            sent = fleet(program, 'send', tree, f'far:{target}', '--plan', plan, *sites,
                         '--partition', 'dtn', '--account', 'climate', '--licenses', 'lambda:1',
                         '--shard-files', '50',
                         '--shard-size', '1G', '--json', *SEND, *options, under=on('ctl'))
            expect_equal('names', (sent['names'], len(sent['shards'])), (153, 4))

            def now(plan=plan):
                return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'))

            killed = None
            if target == 'one':
                expect_equal('waiting', now()['shards']['waiting'], 4)
                fleet(program, 'cancel', '--plan', plan, under=on('ctl'))
                wait_until(lambda: now()['shards']['stopped'] == 4, STARTING_S, 'a cancelled job')
                order(SLURM, 'run', 'scontrol', 'update', 'partitionname=dtn', 'state=up')
                again = fleet(program, 'retry', '--plan', plan, '--json', under=on('ctl'))
                expect_equal('jobs', len(again['jobs']), 2)
            else:
                def carrier():
                    return next((one for one in now()['running']
                                 if one['bytes'] > 1 << 20), None)
                wait_until(carrier, STARTING_S, 'the large file under way')
                killed = carrier()
                kill_all(killed['node'])
            wait_until(lambda: now()['shards']['done'] == 4, ALL_DONE_S, 'all shards')
            expect_same(site.served / target / 'tree', tree)
            carried = expect_report(program, plan, tree)
            expect_equal('receivers', {receiver for _, receiver in carried}, {'r1', 'r2'})
            fleet(program, 'verify', '--plan', plan, under=on('ctl'))
            wait_until(lambda: now()['verified']['same'] == 4, ALL_DONE_S, 'the second pass')
            report = fleet(program, 'report', '--plan', plan, '--json')
            if killed:
                expect_equal('cut off', [shard['shard'] for shard in report['shards']
                                         if shard['cut_off']], [killed['shard']])
            else:
                expect_equal('nodes', {node for node, _ in carried}, {'n1', 'n2'})
            expect_charged(report['charged'], killed)


def expect_charged(rows, killed):
    """The job that was told of an account, or the retry, which was not; and the check's."""
    sent, checked = rows
    told = tuple(sent[key] for key in ('account', 'partition', 'licenses'))
    expect_equal('told', told, ('climate', 'dtn', 'lambda:1') if killed else (None, None, None))
    expect_equal('tries', (sent['tries'], sent['cut_off']), (5, 1) if killed else (4, 0))
    expect_equal('checks', (checked['tries'], checked['checks'], checked['account']), (0, 4, None))
    expect(0 < sent['node_s'] < 2 * ALL_DONE_S and checked['node_s'] > 0, f'node seconds: {rows}')


def get_on_slurm(program, folder):
    """Two nodes get a tree; the one that has most of the large file dies, the other goes on."""
    with slurm(folder), Site(program, folder, on) as site:
        tree, here, plan = make(site.served / 'out/tree'), folder / 'here', folder / 'plan'
        (tree / 'large').write_bytes(os.urandom(200 << 20))
        here.mkdir()
        sites = site.name(r1='10.99.0.21', r2='10.99.0.22')
        for host in ('r1', 'r2'):
            site.serve(host)
        sent = fleet(program, 'get', 'far:out/tree', here, '--plan', plan, *sites,
                     '--shard-files', '50', '--shard-size', '1G', '--json', *SEND, '--rate',
                     '200M', under=on('ctl'))
        expect_equal('names', (sent['names'], len(sent['shards'])), (153, 4))

        def now():
            return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'))

        def carrier():
            return next((one for one in now()['running'] if one['bytes'] > 150 << 20), None)

        wait_until(carrier, STARTING_S, 'most of the large file')
        killed = carrier()
        kill_all(killed['node'])
        wait_until(lambda: now()['shards']['done'] == 4, ALL_DONE_S, 'all shards')
        expect_same(here / 'tree', tree)
        expect_report(program, plan, tree)
        report = fleet(program, 'report', '--plan', plan, '--json')
        (first, lost), (then, whole) = tries(report['shards'][killed['shard']])
        expect_equal('tries', (first['node'] != then['node'], lost, whole['exit_status']),
                     (True, None, OK))
        resumed = whole['resumed_bytes']
        expect(resumed >= 64 << 20, f'only {resumed} bytes were resumed')
        print(f'{resumed >> 20} MiB of {len((tree / "large").read_bytes()) >> 20} were resumed')


def joined_md5(path, divided):
    """As of a multipart upload: of the MD5s of the ranges, and how many they are."""
    with path.open('rb') as file:
        sums = [hashlib.md5(file.read(divided['range_bytes'])).digest()
                for _ in divided['shards']]
    return f'{hashlib.md5(b"".join(sums)).hexdigest()}-{len(sums)}'


def line_of(program, plan, name):
    lines = [line.split('  ') for line in fleet(program, 'report', '--plan', plan).splitlines()]
    (line,) = (line for line in lines if line[3] == name)
    return line


def ranges_on_slurm(program, folder):
    """A file of several shards: two nodes bring it to two receivers, and one node dies."""
    tree, plan = make(folder / 'tree'), folder / 'plan'
    with (tree / 'huge').open('wb') as file:
        for _ in range(300):
            file.write(os.urandom(1 << 20))
    with slurm(folder), Site(program, folder, on) as site:
        sites = site.name(r1='10.99.0.21', r2='10.99.0.22')
        for host in ('r1', 'r2'):
            site.serve(host)
        sent = fleet(program, 'send', tree, 'far:in', '--plan', plan, *sites, '--shard-size',
                     '64M', '--json', *SEND, '--rate', '300M', under=on('ctl'))
        (divided,) = sent['divided']
        expect_equal('divided', (len(divided['shards']), divided['bytes']), (4, 300 << 20))

        def now():
            return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'))

        def carrier():
            return next((one for one in now()['running'] if 30 << 20 < one['bytes']), None)

        wait_until(carrier, STARTING_S, 'a range under way')
        killed = carrier()
        page = folder / 'page.html'
        watching = program.start('fleet', 'status', '--plan', plan, '--every', '1s', '--page', page,
                                 under=on('ctl'))
        kill_all(killed['node'])
        wait_until(lambda: now()['shards']['done'] == len(sent['shards']), 2 * ALL_DONE_S,
                   'all shards')
        watched = program.finish(watching, ALL_DONE_S, time.monotonic())
        expect_status(watched, OK)
        expect(watched.out.count(' shards: ') > 3, f'it was said once: {watched.out!r}')
        expect(f'{len(sent["shards"])} shards: {len(sent["shards"])} done' in watched.out,
               watched.out)
        expect('content="1"' in page.read_text(), 'the page does not renew itself')
        expect_same(site.served / 'in/tree', tree)
        digest, nodes, receivers, _ = line_of(program, plan, 'tree/huge')
        expect_equal('digest', digest, joined_md5(tree / 'huge', divided))
        expect_equal('receivers', set(receivers.split(',')), {'r1', 'r2'})
        expect(set(nodes.split(',')) <= {'n1', 'n2'}, nodes)
        report = fleet(program, 'report', '--plan', plan, '--json')
        (_, lost), (_, whole) = tries(report['shards'][killed['shard']])
        expect_equal('lost', lost, None)
        print(f'{whole["resumed_bytes"] >> 20} MiB of a range were resumed')
        fleet(program, 'verify', '--plan', plan, under=on('ctl'))
        wait_until(lambda: now()['verified']['same'] == len(sent['shards']), ALL_DONE_S,
                   'the second pass')


def ranges_by_hand(program, folder):
    """Ranges in any order, and a file that has changed since the plan."""
    tree, plan, other = folder / 'tree', folder / 'plan', folder / 'other'
    tree.mkdir()
    (tree / 'huge').write_bytes(os.urandom(1 << 20))
    os.truncate(tree / 'huge', (200 << 20) + 5)
    (tree / 'small').write_bytes(b'small')
    with Lab() as lab:
        host = lab.host('alone')
        with Site(program, folder, lambda _: host.under) as site:
            sites = site.name(r1='127.0.0.1')
            site.serve('r1')
            made = fleet(program, 'scan', tree, 'far:in', '--plan', plan, *sites, '--json',
                         '--shard-size', '60M', *SEND)
            (divided,) = made['divided']
            expect_equal('ranges', (len(divided['shards']), divided['range_bytes'] >> 20), (3, 67))
            order_of = sorted(set(range(len(made['shards']))) - set(divided['shards']))
            order_of += sorted(divided['shards'])[::-1]
            for shard in order_of:
                expect(not (site.served / 'in/tree/huge').exists(), 'it has its name too early')
                fleet(program, 'task', shard, '--plan', plan, under=host.under)
            expect_same(site.served / 'in/tree', tree)
            expect_equal('digest', line_of(program, plan, 'tree/huge')[0],
                         joined_md5(tree / 'huge', divided))
            expect(not list((site.served / 'in').glob('.wave*')), 'something is left')
            for shard in order_of:
                fleet(program, 'check', shard, '--plan', plan, under=host.under)
            expect_report(program, plan, tree)
            now = fleet(program, 'status', '--plan', plan, '--json')
            expect_equal('files', (now['files_done'], now['files']), (2, 2))
            made = fleet(program, 'scan', tree, 'far:new', '--plan', folder / 'whole', *sites,
                         '--json', '--shard-size', '60M', *SEND, '--update')
            expect_equal('with --update', made['divided'], [])
            fleet(program, 'scan', tree, 'far:new', '--plan', other, *sites, '--json',
                  '--shard-size', '60M', *SEND)
            os.utime(tree / 'huge')
            fleet(program, 'task', divided['shards'][0], '--plan', other, under=host.under,
                  status=PARTIAL)
            expect(not (site.served / 'new/tree/huge').exists(), 'a changed file has gone')
            page = folder / 'page.html'
            said = fleet(program, 'status', '--plan', other, '--page', page)
            expect('given up' in said and 'given up' in page.read_text(), said)


def broken_node(program, folder):
    """n1 reaches no receiver: a shard fails on it once, then n2 has it, and n1 gets no more."""
    tree, plan = make(folder / 'tree'), folder / 'plan'
    with slurm(folder), Site(program, folder, on) as site:
        sites = site.name(r1='10.99.0.21', r2='10.99.0.22')
        for host in ('r1', 'r2'):
            site.serve(host)
            order('ip', '-n', 'wavehaul-fleet-n1', 'route', 'add', 'blackhole',
                  f'10.99.0.2{host[1]}/32')
        sent = fleet(program, 'send', tree, 'far:in', '--plan', plan, *sites, '--shard-files',
                     '10', '--shard-size', '1G', '--json', *SEND, under=on('ctl'))
        shards = len(sent['shards'])
        expect(shards > 12, f'{shards} shards are too few')

        def now():
            return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'))

        wait_until(lambda: now()['shards']['done'] == shards, 2 * ALL_DONE_S, 'all shards')
        expect_same(site.served / 'in/tree', tree)
        expect_equal('nodes', {node for node, _ in expect_report(program, plan, tree)}, {'n2'})
        report = fleet(program, 'report', '--plan', plan, '--json')
        expect_equal('n2', report['nodes']['n2'], {
            'done': shards, 'failures': 0, 'row': 0, 'row_receivers': 0, 'excluded': False})
        broken = report['nodes']['n1']
        expect_equal('n1', (broken['done'], broken['excluded']), (0, True))
        expect(3 <= broken['failures'] <= 4, f'n1 has failed {broken["failures"]} times')
        moved = [shard for shard in report['shards'] if shard['moved']]
        expect_equal('moved', sum(shard['moved'] for shard in moved), broken['failures'])
        for shard in moved:
            expect_equal('tries', [event['node'] for event in shard['events'] if
                                   event['event'] == 'begin'][-1], 'n2')
        plan = folder / 'without'
        fleet(program, 'send', tree, 'far:without', '--plan', plan, *sites, '--exclude-nodes',
              'n1', *SEND, under=on('ctl'))
        wait_until(lambda: now()['shards']['done'] == 1, ALL_DONE_S, 'the only shard')
        expect_equal('nodes', set(now()['nodes']), {'n2'})


def tries(shard):
    """(begin, end) of each try in the report; end is None where it was cut off."""
    found = []
    for event in shard['events']:
        if event['event'] == 'begin':
            found.append((event, None))
        elif event['event'] == 'end':
            found[-1] = (found[-1][0], event)
    return found


def staged(program, folder):
    """A job of nobody's begins with its data there, and what it made goes out; wrong orders."""
    here, lua = folder / 'scratch', folder / 'burst_buffer.lua'
    script = (SLURM.parents[1] / 'slurm/burst_buffer.lua').read_text()
    options = ('"--config=none", "--recursive", "--buffers=128M", "--unsealed", "--state=none", '
               '"--daemon=never", "--peer-timeout=2s"')
    lua.write_text(script.replace('"wavehaul"', f'"{Path(program.binary).resolve()}"', 1).replace(
        'local options = {"--recursive", "--retries=10", "--quiet"}',
        f'local options = {{{options}}}', 1))
    here.mkdir()
    here.chmod(0o777)
    folder.chmod(0o755)
    os.environ['WAVEHAUL_BURST_BUFFER'] = str(lua)
    try:
        with slurm(folder), Site(program, folder, on) as site:
            tree = make(site.served / 'out/tree')
            site.serve('ctl')

            def submit(name, *orders, work='true'):
                job = here / name
                job.write_text('#!/bin/sh\n' + ''.join(f'#BB_LUA wavehaul {one}\n'
                                                       for one in orders) + work + '\n')
                return subprocess.run(
                    [SLURM, 'run', 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                     'sbatch', '--parsable', f'--chdir={here}', f'--output={here}/{name}.out', job],
                    capture_output=True, text=True, timeout=20, check=False)

            def state(job):
                return order(SLURM, 'run', 'squeue', '--noheader', '--states=all',
                             '--format=%T %r', f'--jobs={job}').strip()

            good = submit('good', f'in=10.99.0.1:out/tree to={here}/in',
                          f'out={here}/made to=10.99.0.1:made',
                          work=f'mkdir {here}/made; cp {here}/in/d6/f6 {here}/made; '
                               f'ls {here}/in | wc -l')
            expect(good.returncode == 0, good.stderr)
            wait_until(lambda: state(good.stdout.strip()).startswith('COMPLETED'), ALL_DONE_S,
                       'a job with data')
            expect_same(here / 'in', tree)
            expect_equal('owner', (here / 'in/large').stat().st_uid, 65534)
            expect_equal('what went out', (site.served / 'made/f6').read_bytes(),
                         (tree / 'd6/f6').read_bytes())
            for wrong in ('in=10.99.0.1:x', f'in=10.99.0.1:x to={here}/x also=y',
                          f'in=/etc/passwd to={here}/x', f'out={here}/x to=/etc/passwd',
                          f'in=--root=x:y to={here}/x'):
                refused = submit('wrong', wrong)
                expect(refused.returncode != 0, f'{wrong} is taken as {refused.stdout}')
            # No right but the user's, and no word of a shell.
            lost = submit('lost', 'in=10.99.0.1:out/tree to=/root/in')
            sly = submit('sly', "in=10.99.0.1:out/tree/large "
                                f"to={here}/x';touch${{IFS}}{here}/evil;'")
            for job in (lost, sly):
                wait_until(lambda job=job: not state(job.stdout.strip()).endswith(
                               ('BurstBufferResources', 'BurstBufferStageIn')),
                           ALL_DONE_S, 'a job whose data does not come')
            expect('Permission denied' in state(lost.stdout.strip()), state(lost.stdout.strip()))
            expect(not Path('/root/in').exists(), 'a user has written where only root may')
            expect(not (here / 'evil').exists(), 'a word of a job went through a shell')
    finally:
        del os.environ['WAVEHAUL_BURST_BUFFER']


def kill_all(host, name=''):
    """What runs on the host, if its command begins with the name."""
    for pid in subprocess.run(['ip', 'netns', 'pids', f'wavehaul-fleet-{host}'],
                              capture_output=True, text=True, check=True).stdout.split():
        if Path(f'/proc/{pid}/comm').read_text().startswith(name):
            os.kill(int(pid), signal.SIGKILL)


def receiver_dies(program, folder):
    """The controller of Slurm is killed, then the receiver of the large file, half way."""
    tree, plan = make(folder / 'tree'), folder / 'plan'
    with slurm(folder), Site(program, folder, on) as site:
        sites = site.name(r1='10.99.0.21', r2='10.99.0.22')
        serving = {host: site.serve(host) for host in ('r1', 'r2')}
        fleet(program, 'send', tree, 'far:in', '--plan', plan, *sites, '--shard-files', '50',
              '--shard-size', '1G', *SEND, '--rate', '15M', under=on('ctl'))

        def now(status=OK):
            return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'),
                         status=status)

        def carrier():
            return next((one for one in now()['running'] if one['bytes'] > 4 << 20), None)

        wait_until(carrier, STARTING_S, 'the large file under way')
        large = carrier()
        kill_all('ctl', 'slurmctld')
        end_group(serving[large['receiver']])
        expect('queue of Slurm cannot be read' in now(OTHER)['error'], 'the queue is gone')
        order(SLURM, 'run', 'slurmctld', '-f', folder / 'slurm/slurm.conf')
        wait_until(lambda: now()['shards']['done'] == 4, ALL_DONE_S, 'all shards')
        expect_same(site.served / 'in/tree', tree)
        expect_report(program, plan, tree)
        report = fleet(program, 'report', '--plan', plan, '--json')
        (_, lost), (other, whole) = tries(report['shards'][large['shard']])
        expect_equal('passed', (lost['passed'], lost['exit_status'] in (NETWORK, STALLED),
                                other['receiver'] != large['receiver'], whole['exit_status']),
                     (True, True, True, OK))
        expect_once(report, tree, lost)


class Chain(Site):
    """Sites a, b and c, each with a receiver; all hosts have one key. The nodes' orders are kept by
    a server on the controller's host, whose socket they share as they share the disk."""

    RATES = {'c': '1G', 'a': '10G', 'b': '5G'}

    def __init__(self, program, folder):
        super().__init__(program, folder, on)
        os.environ['WAVEHAUL_CONFIG_DIR'] = str(folder / 'user')
        expect_status(program.run('keygen'), OK)
        (folder / 'sites').mkdir()
        for number, (name, rate) in enumerate(sorted(self.RATES.items()), 1):
            (folder / f'sites/{name}.conf').write_text(
                f'[receiver r]\naddress = 10.99.0.2{number}\nrate = {rate}\n')
            (folder / name).mkdir()
            self.serve_at(f'r{number}', folder / name)
        self.serve_at('ctl', folder / 'ctl-root')
        self.control = folder / 'control-ctl'

    def serve_at(self, host, root):
        root.mkdir(exist_ok=True)
        process = self.program.start(
            'serve', '--config', 'none', '--buffers', '128M', '--root', root, '--state',
            self.folder / f'state-{host}', '--control', self.folder / f'control-{host}',
            '--peer-timeout', '2s', under=self.under(host))
        self.processes.append(process)
        os.set_blocking(process.stderr.fileno(), False)
        said = bytearray()
        wait_until(lambda: said.extend(process.stderr.read() or b'') or b'serving' in said,
                   STARTING_S, f'a server on {host}')
        return process

    def __exit__(self, *_):
        super().__exit__()
        del os.environ['WAVEHAUL_CONFIG_DIR']


def sent_bytes(host):
    """By the host's line, since it was made."""
    link = json.loads(order('ip', '-n', f'wavehaul-fleet-{host}', '-s', '-j', 'link', 'show',
                            'dev', 'eth0'))[0]
    return link['stats64']['tx']['bytes']


def chain(program, folder):
    """To three sites: one is killed while it gets its first shard, the line of another is cut."""
    tree, plan = make(folder / 'tree'), folder / 'plan'
    (tree / 'large').write_bytes(os.urandom(24 << 20))
    size = sum(path.stat().st_size for path in tree.rglob('*')
               if path.is_file() and not path.is_symlink())
    with slurm(folder, '3'), Chain(program, folder) as sites:
        begun = {host: sent_bytes(host) for host in ('n1', 'n2', 'r1', 'r2')}
        sent = fleet(program, 'send', tree, 'c:in', 'a:in', 'b:in', '--plan', plan, '--sites',
                     folder / 'sites', '--shard-files', '80', '--shard-size', '1G', '--json', '--',
                     '--config', 'none', '--buffers', '128M', '--daemon', 'never', '--digest',
                     'md5', '--peer-timeout', '2s', '--rate', '60M', '--control', sites.control,
                     under=on('ctl'))
        expect_equal('plan', ([one['site'] for one in sent['targets']], len(sent['shards']),
                              sent['names']), (['a', 'b', 'c'], 6, 3 * 153))

        def now():
            return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'))

        def carrying(site, factor):
            return any(one['receiver'] == f'{site}:r' and one['of_bytes'] > 20 << 20 and
                       sent_bytes('r1') - begun['r1'] > size * factor
                       for one in now()['running'])

        wait_until(lambda: carrying('b', 0.6), ALL_DONE_S, 'a shard on its way to b')
        end_group(sites.processes[1])
        wait_until(lambda: carrying('c', 1.1), 2 * ALL_DONE_S, 'a shard on its way to c')
        order('ip', '-n', 'wavehaul-fleet-r3', 'link', 'set', 'eth0', 'down')
        time.sleep(3)
        order('ip', '-n', 'wavehaul-fleet-r3', 'link', 'set', 'eth0', 'up')
        wait_until(lambda: now()['shards']['done'] == 5, 2 * ALL_DONE_S, 'all but one at b')
        expect_equal('given up', now()['shards']['given_up'], 1)
        sites.serve_at('r2', folder / 'b')
        fleet(program, 'retry', '--plan', plan, under=on('ctl'))
        wait_until(lambda: now()['shards']['done'] == 6, ALL_DONE_S, 'all shards')
        for site in sites.RATES:
            expect_same(folder / site / 'in/tree', tree)
        moved = {host: sent_bytes(host) - before for host, before in begun.items()}
        print(f'{size} bytes: {moved}')
        shared = moved['n1'] + moved['n2']
        expect(size <= shared < 1.1 * size, f'{shared} bytes over the shared line for {size}')
        report = fleet(program, 'report', '--plan', plan, '--json')
        givers = [tries(shard)[-1][0]['from'] for shard in report['shards'][2:]]
        large = next(i for i in range(2) if sent['shards'][i]['bytes'] > 20 << 20)
        expect_equal('from', (givers[:2], givers[2 + large], givers[3 - large]),
                     (['a:r', 'a:r'], 'a:r', 'b:r'))
        files = sum(path.is_file() and not path.is_symlink() for path in tree.rglob('*'))
        expect_equal('sites', {shard['receiver'] for shard in report['shards']},
                     {'a:r', 'b:r', 'c:r'})
        lines = [line.split('  ') for line in
                 fleet(program, 'report', '--plan', plan).splitlines()]
        expect_equal('lines', len(lines), 3 * files)
        for digest, _, receiver, name in lines:
            path = folder / receiver.split(':')[0] / 'in' / name
            expect_equal(str(path), hashlib.md5(path.read_bytes()).hexdigest(), digest)
        verify_chain(program, folder, plan, now)


def verify_chain(program, folder, plan, now):
    """A byte that c has lost is found by b, and comes again."""
    spoil(folder / 'c/in/tree/d6/f6')
    fleet(program, 'verify', '--plan', plan, under=on('ctl'))
    wait_until(lambda: sum(now()['verified'][what] for what in ('same', 'differed', 'failed')) == 6,
               ALL_DONE_S, 'the second pass')
    found = now()['verified']
    expect_equal('verified', (found['same'], found['differed'], found['shards'][0]['differed']),
                 (5, 1, 1))
    expect_same(folder / 'c/in/tree', folder / 'tree')


def expect_once(report, tree, lost):
    """No file that a try had whole was sent by another one."""
    ends = [end for shard in report['shards'] for _, end in tries(shard)]
    files = sum(path.is_file() and not path.is_symlink() for path in tree.rglob('*'))
    sent = sum(end['files'] for end in ends)
    expect_equal('files', sent, files)
    moved = sum(end['moved_bytes'] for end in ends) - lost['moved_bytes']
    size = sum(path.stat().st_size for path in tree.rglob('*')
               if path.is_file() and not path.is_symlink())
    expect(size <= moved < size + 200 * files, f'{moved} bytes have moved for {size}')


def full_disk(program, folder):
    """r1 has room for few: what does not fit there goes to r2, and no node is blamed."""
    tree, plan, small = make(folder / 'tree'), folder / 'plan', folder / 'small'
    small.mkdir()
    order('mount', '-t', 'tmpfs', '-o', 'size=400k', 'none', small)
    try:
        with slurm(folder), Site(program, folder, on) as site:
            sites = site.name(r1='10.99.0.21', r2='10.99.0.22')
            roots = {'r1': small, 'r2': site.served}
            for host, root in roots.items():
                site.serve(host, root)
            sent = fleet(program, 'send', tree, 'far:in', '--plan', plan, *sites,
                         '--shard-files', '20', '--shard-size', '1G', '--json', *SEND,
                         under=on('ctl'))
            shards = len(sent['shards'])

            def now():
                return fleet(program, 'status', '--plan', plan, '--json', under=on('ctl'))

            wait_until(lambda: now()['shards']['done'] == shards, 2 * ALL_DONE_S, 'all shards')
            expect_report(program, plan, tree)
            for line in fleet(program, 'report', '--plan', plan).splitlines():
                digest, _, receiver, name = line.split('  ')
                expect_equal(name, hashlib.md5((roots[receiver] / 'in' / name).read_bytes())
                             .hexdigest(), digest)
            report = fleet(program, 'report', '--plan', plan, '--json')
            full = [shard for shard in report['shards'] if shard['moved']]
            expect(full, 'the disk was never full')
            for (first, failed), (then, whole) in map(tries, full):
                expect_equal('moved', (first['receiver'], then['receiver'], whole['exit_status']),
                             ('r1', 'r2', OK))
                expect('the disk is full' in failed['error'], failed['error'])
                expect(first['node'] != then['node'], 'it is tried again where it failed')
            expect(not any(node['excluded'] for node in report['nodes'].values()),
                   'a node is excluded')
    finally:
        order('umount', small)


def by_hand(program, folder):
    """Tasks without Slurm: a receiver that is gone, one under maintenance, a file that is gone."""
    tree, plan = make(folder / 'tree'), folder / 'plan'
    with Lab() as lab:
        host = lab.host('alone')
        with Site(program, folder, lambda _: host.under) as site:
            sites = site.name(r1='127.0.0.2', r2='127.0.0.1')
            site.serve('r2')
            made = fleet(program, 'scan', tree, 'far:in', '--plan', plan, *sites, '--json',
                         '--shard-files', '50', '--shard-size', '1G', '--by', '4s', *SEND)
            expect_equal('no rate', (made['deadline']['met'], made['deadline']['done_s']),
                         (None, None))
            expect(made['deadline']['needs_bps'] >= made['bytes'] * 8 / 4, 'too little needed')
            expect_equal('names', (made['names'], len(made['shards'])), (153, 4))
            (sites[1] / 'near.conf').write_text(''.join(
                f'[receiver r{i}]\naddress = h{i}\nrate = 10M\n' for i in range(3)))
            made = fleet(program, 'scan', tree, 'near:in', '--plan', folder / 'by', *sites,
                         '--json', '--shard-files', '50', '--shard-size', '1G', '--by', '13s')
            # A second a shard, and 9.6 s for that of 12 MiB: one node needs 15 s.
            expect_equal('nodes', made['deadline']['nodes'], 2)
            lost = tree / 'd6/f6'
            kept = lost.rename(folder / 'kept')
            holder = next(i for i in range(4)
                          if b'/d6/f6\0' in (plan / f'shards/{i}').read_bytes())
            for shard in range(4):
                if shard == 1:
                    site.name(r1='127.0.0.2!', r2='127.0.0.1')
                fleet(program, 'task', shard, '--plan', plan, under=host.under,
                      status=PARTIAL if shard == holder else OK)
            now = fleet(program, 'status', '--plan', plan, '--json')
            expect_equal('done', (now['shards']['done'], now['shards']['given_up']), (3, 1))
            failed = now['failed'][0]
            expect_equal('given up', (failed['shard'], failed['given_up'], failed['failures'],
                                   failed['receiver']), (holder, True, 3, 'r2'))
            expect_equal('met', now['deadline']['met'], False)
            fleet(program, 'report', '--plan', plan, status=PARTIAL)
            for command, *idle in (('report', '--partition', 'dtn'), ('retry', '--shards', '2'),
                                   ('status', '--', '--rate', '1M')):
                fleet(program, command, '--plan', plan, *idle, status=USAGE)
            kept.rename(lost)
            fleet(program, 'task', holder, '--plan', plan, status=PARTIAL)
            (plan / f'state/{holder}.log').open('a').write('{"event": "retry"}\n')
            fleet(program, 'task', holder, '--plan', plan, under=host.under)
            expect_same(site.served / 'in/tree', tree)
            expect_equal('receivers', {to for _, to in expect_report(program, plan, tree)},
                         {'r2'})
            expect_check(program, plan, tree, site, holder, host.under)


def get_by_hand(program, folder):
    """The first server is gone; names need two requests; one file is gone, then it is back."""
    with Lab() as lab:
        host = lab.host('alone')
        with Site(program, folder, lambda _: host.under) as site:
            above, here, plan = 'out-' + 120 * 'x', folder / 'here', folder / 'plan'
            tree = make(site.served / above / 'tree')
            here.mkdir()
            (tree / 'what?').write_bytes(b'1')
            (tree / 'whatX').write_bytes(b'2')
            (tree / os.fsdecode(ODD)).write_bytes(b'3')
            os.mkfifo(tree / 'pipe')
            sites = site.name(r1='127.0.0.2', r2='127.0.0.1')
            site.serve('r2')
            for wrong in (('far:none', here), ('far:out*', folder / 'none'), ('far:out*',),
                          ('there:x', here), (f'far:{above}/tree', 'near:x', here)):
                fleet(program, 'get', *wrong, '--plan', folder / 'wrong', *sites, *SEND,
                      under=host.under, status=USAGE if wrong[0] != 'far:none' and
                      wrong[-1] != folder / 'none' and wrong[0] != 'there:x' else NO_FILE)
                shutil.rmtree(folder / 'wrong', ignore_errors=True)
            made = fleet(program, 'scan', f'far:./{above}//tree/', here, '--plan', plan, *sites,
                         '--json', *SEND, under=host.under)
            expect_equal('names', (made['names'], len(made['shards']), made['left_out']),
                         (156, 1, 1))
            site.name(r1='127.0.0.2!', r2='127.0.0.1')
            (tree / 'pipe').unlink()
            lost = tree / 'd6/f6'
            kept = lost.rename(folder / 'kept')
            fleet(program, 'task', 0, '--plan', plan, under=host.under, status=PARTIAL)
            now = fleet(program, 'status', '--plan', plan, '--json')
            expect_equal('given up', (now['gets'], now['shards']['given_up'],
                                      now['failed'][0]['failures']), (True, 1, 3))
            # All others are there.
            expect_same(here / 'tree', tree)
            kept.rename(lost)
            (plan / 'state/0.log').open('a').write('{"event": "retry"}\n')
            fleet(program, 'task', 0, '--plan', plan, under=host.under)
            expect_same(here / 'tree', tree)
            expect_equal('by', expect_report(program, plan, tree), {(os.uname().nodename, 'r2')})
            ends = [end for _, end in tries(fleet(program, 'report', '--plan', plan, '--json')
                                            ['shards'][0]) if not end['passed']]
            expect_equal('files', [end['files'] for end in ends], [153, 0, 0, 1])
            for spoilt in (False, True, False):
                if spoilt:
                    spoil(here / 'tree/d6/f6')
                fleet(program, 'check', 0, '--plan', plan, under=host.under,
                      status=VERIFY if spoilt else OK)
                expect_same(here / 'tree', tree)
            expect_report(program, plan, tree)


def spoil(path):
    """Another byte in the middle, with the size and times of before."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def expect_check(program, plan, tree, site, holder, under):
    """A second pass over all shards: nothing, then one byte of d6/f6, then nothing."""
    for spoilt in (False, True, False):
        if spoilt:
            spoil(site.served / 'in/tree/d6/f6')
        for shard in range(4):
            fleet(program, 'check', shard, '--plan', plan, under=under,
                  status=VERIFY if spoilt and shard == holder else OK)
        expect_same(site.served / 'in/tree', tree)
        found = fleet(program, 'status', '--plan', plan, '--json')['verified']
        expect_equal('verified', (found['same'], found['differed'], found['failed']),
                     (3, 1, 0) if spoilt else (4, 0, 0))
        expect_equal('differing', [(one['shard'], one['differed'], one['differing'])
                                   for one in found['shards']],
                     [(holder, 1, ['tree/d6/f6'])] if spoilt else [])
    fleet(program, 'report', '--plan', plan)


if __name__ == '__main__':
    sys.exit(run_cases([Case('on Slurm', False, on_slurm),
                        Case('get on Slurm', False, get_on_slurm),
                        Case('a chain of sites', False, chain),
                        Case('data of jobs', False, staged),
                        Case('a broken node', False, broken_node),
                        Case('a receiver dies', False, receiver_dies),
                        Case('a full disk', False, full_disk),
                        Case('ranges on Slurm', False, ranges_on_slurm),
                        Case('ranges by hand', True, ranges_by_hand),
                        Case('by hand', True, by_hand),
                        Case('get by hand', True, get_by_hand)], BINARY))
