#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""gfal2's own tools over its plug-in for wavehaul://, which FTS3 loads: names, copies, checksums.

    gfal.py [--quick] [-k PATTERN] [--binary PATH]

dtn1 is the host that the tools run on, dtn2 and dtn3 are others: three servers in a network
namespace, which only root makes. All cases are skipped without gfal2-util-scripts and
python3-gfal2-util.
"""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from harness import Case, Result, Skip, expect, expect_between, expect_equal, run_cases
from lab import Lab
from pair import wait_until
from third import ADDRESSES, Site, put_away

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'
PYTHON = '/usr/bin/python3'  # Debian's: gfal2's bindings are compiled for it
PLUGINS = Path('/usr/lib/x86_64-linux-gnu/gfal2-plugins')
CONFIG = Path('/etc/gfal2.d')

ENOENT, EIO, EEXIST, EXDEV, ENOTDIR, EISDIR, EINVAL = 2, 5, 17, 18, 20, 21, 22
ENOSYS, EPROTONOSUPPORT, ETIMEDOUT, EHOSTUNREACH, ECANCELED = 38, 93, 110, 113, 125
EACCES = 13

TOOL_S = 60
# Of the peer timeout, and what else there is to do.
GONE_S = 15

# Copies a file, is cancelled once some of it has moved, and prints what it is told.
CANCELLED = '''
import sys, threading, gfal2
context = gfal2.creat_context()
params = context.transfer_parameters()
moved = threading.Event()
def follow(source, target, average, instant, bytes, elapsed):
    print('moved', bytes, average, flush=True)
    if bytes > 1000000:
        moved.set()
params.monitor_callback = follow
def cancel():
    if moved.wait(50):
        context.cancel()
threading.Thread(target=cancel, daemon=True).start()
try:
    context.filecopy(params, sys.argv[1], sys.argv[2])
    print('copied')
except gfal2.GError as error:
    print('failed', error.code, error.message)
'''


class GridSite(Site):
    """By sockets of the kernel: each has an address of its own in one namespace."""

    has_address = False

    def place(self):
        return super().place()[0], f'udp:{self.address}'


class Grid:
    """gfal2's tools on dtn1, with the plug-in of this build."""

    def __init__(self, program, folder, one):
        self.one, self.folder = one, folder
        self.plugins, self.config = folder / 'plugins', folder / 'gfal2.d'
        self.plugins.mkdir()
        self.config.mkdir()
        built = Path(program.binary).resolve().parents[2] / 'gfal2/libgfal_plugin_wavehaul.so'
        for path in (built, PLUGINS / 'libgfal_plugin_file.so'):
            if not path.exists():
                raise Skip(f'{path} is not there')
            (self.plugins / path.name).symlink_to(path)
        for path in CONFIG.glob('*.conf'):
            (self.config / path.name).symlink_to(path)
        self.program, self.under = program, ()
        self.configure('--config;none;--peer-timeout;3s')

    def configure(self, options, command=None):
        path = self.config / 'wavehaul_plugin.conf'
        path.unlink(missing_ok=True)
        path.write_text(f'[WAVEHAUL PLUGIN]\nCOMMAND={command or self.program.binary}\n'
                        f'CONTROL={self.one.path}\nOPTIONS={options}\n')

    def start(self, *words):
        # A shell in the background has its children ignore SIGINT, and these would go on so.
        return subprocess.Popen(
            list(map(str, (*self.under, *words))), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors='surrogateescape', start_new_session=True,
            env=os.environ | {'GFAL_PLUGIN_DIR': str(self.plugins), 'GFAL_PYTHONBIN': PYTHON,
                              'GFAL_CONFIG_DIR': str(self.config)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))

    def finish(self, process):
        began = time.monotonic()
        try:
            out, err = process.communicate(timeout=TOOL_S)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
        return Result(process.returncode, out, err, time.monotonic() - began)

    def run(self, tool, *words, status=0, said=None):
        result = self.finish(self.start(f'gfal-{tool}', *words))
        expect_equal(f'the exit status of gfal-{tool} {words}: {result.err[-300:]}',
                     result.status, status)
        if said is not None:
            expect(re.search(said, result.err), f'{result.err!r} has nothing like /{said}/')
        return result.out


@contextlib.contextmanager
def grid(program, folder, *, rate=None):
    for tool in ('gfal-ls', 'gfal-copy'):
        if not shutil.which(tool):
            raise Skip(f'{tool} is not there')
    rendezvous = Path(tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp'))
    rendezvous.chmod(0o777)
    three = []
    try:
        with Lab() as lab:
            host = lab.host('a')
            host.add_addresses('lo', *(f'{address}/24' for address in ADDRESSES))
            three = [GridSite(program, rendezvous, number, host, '--peer-timeout', '3s')
                     for number in range(3)]
            for site in three:
                for other in three:
                    if other is not site:
                        site.trust(other, 'orders=yes', *([f'rate={rate}'] if rate else []))
            for site in three:
                site.start()
            yield (Grid(program, folder, three[0]), *three)
            for site in three:
                if site.process is not None:
                    expect_equal(f'the exit status of {site.name}', site.stop(), 0)
    finally:
        put_away(three, rendezvous)


def adler32(path):
    return f'{zlib.adler32(path.read_bytes()):08x}'


def names(program, folder):
    """Names are listed, looked at, made, changed and removed, whatever is in them."""
    with grid(program, folder) as (tools, _, two, _):
        odd = two.root / 'odd'
        odd.mkdir()
        for name in (b'a b', b'%41', b'-r', b's*r', b'[x]', b'x\n', 'ä'.encode()):
            Path(os.fsdecode(os.fsencode(odd) + b'/' + name)).write_bytes(name)
        listed = tools.run('ls', 'wavehaul://dtn2/odd').split('\n')[:-1]
        expect_equal('names', sorted(listed), sorted(['a b', '%2541', '-r', 's*r', '[x]',
                                                      'x%0A', 'ä']))
        for name in listed:
            told = tools.run('stat', f'wavehaul://dtn2/odd/{name}')
            expect('regular file' in told, f'{name}: {told}')
        expect('Size: 3\tregular' in tools.run('stat', 'wavehaul://dtn2/odd/a%20b'), 'the size')
        os.utime(odd, (10**9, 10**9))
        odd.chmod(0o750)
        told = tools.run('stat', 'wavehaul://dtn2//odd/.')
        expect('(0750/drwxr-x---)' in told and 'Modify: 2001-09-09' in told, told)
        expect('directory' in tools.run('stat', 'wavehaul://dtn2/'), 'the served folder')
        # A name that is no UTF-8 is listed; a server's queue takes no order that has it.
        Path(os.fsdecode(os.fsencode(two.root) + b'/\xff')).touch()
        expect_equal('names', sorted(tools.run('ls', 'wavehaul://dtn2/').split()), ['%FF', 'odd'])
        Path(os.fsdecode(os.fsencode(two.root) + b'/\xff')).unlink()
        # A name that looks like a pattern is that name, and nothing else goes.
        tools.run('rm', 'wavehaul://dtn2/odd/s*r', 'wavehaul://dtn2/odd/-r',
                  'wavehaul://dtn2/odd/[x]', 'wavehaul://dtn2/odd/%2541',
                  'wavehaul://dtn2/odd/x%0A')
        expect_equal('what is left', two.names('odd'), ['a b', 'ä'])
        tools.run('rename', 'wavehaul://dtn2/odd/a b', 'wavehaul://dtn2/odd/%2Da')
        tools.run('mkdir', '-p', 'wavehaul://dtn2/new/er')
        expect_equal('what is there', two.names('.'), ['new', 'new/er', 'odd', 'odd/-a', 'odd/ä'])
        for words, status, said in (
                (('stat', 'wavehaul://dtn2/nothing'), ENOENT, 'No such file'),
                (('ls', 'wavehaul://dtn2/../etc'), EINVAL, "'..' leads up"),
                (('ls', 'wavehaul://dtn2/odd/%2e%2e/%2E./etc'), EINVAL, "'..' leads up"),
                (('ls', 'wavehaul://dtn2/%4'), EINVAL, '%25 stands for it'),
                (('ls', 'wavehaul://dtn2/a%00b'), EINVAL, 'zero byte'),
                (('ls', 'wavehaul://-r/odd'), EINVAL, 'wavehaul://HOST'),
                (('ls', 'wavehaul://root@dtn2/odd'), EINVAL, 'wavehaul://HOST'),
                (('ls', 'wavehaul://dtn2:0/odd'), EINVAL, 'wavehaul://HOST'),
                (('mkdir', 'wavehaul://dtn2/odd'), EEXIST, 'already has this name'),
                (('mkdir', 'wavehaul://dtn2/x/y'), ENOENT, 'x/y: .*No such file'),
                (('rm', 'wavehaul://dtn2/nothing'), ENOENT, None),
                (('rename', 'wavehaul://dtn2/odd/-a', 'wavehaul://dtn2/new'), EISDIR, 'a folder'),
                (('rename', 'wavehaul://dtn2/odd/-a', 'wavehaul://dtn3/a'), EXDEV, 'copy it')):
            tools.run(*words, status=status, said=said)
        (two.root / 'out').symlink_to('/etc')
        tools.run('ls', 'wavehaul://dtn2/out', status=EACCES, said='leads out of the served')
        expect_equal('what is there', two.names('.'),
                     ['new', 'new/er', 'odd', 'odd/-a', 'odd/ä', 'out'])


def copies(program, folder):
    """Both ways and between two others: bytes, checksums that are wrong, targets that are there."""
    with grid(program, folder) as (tools, _, two, three):
        source = folder / 'a b%'
        source.write_bytes(os.urandom(7_654_321))
        digest, adler = hashlib.sha256(source.read_bytes()).hexdigest(), adler32(source)
        md5 = hashlib.md5(source.read_bytes()).hexdigest()
        here = f'file://{source}'
        tools.run('copy', '-p', '-K', f'ADLER32:{adler}', here, 'wavehaul://dtn2/in/a b%25')
        expect_equal('what was sent', two.digest('in/a b%'), digest)
        for kind, value in (('ADLER32', adler), ('md5', md5),
                            ('CRC32', f'{zlib.crc32(source.read_bytes()):08x}')):
            expect_equal(kind, tools.run('sum', 'wavehaul://dtn2/in/a b%25', kind).split()[-1],
                         value)
        tools.run('sum', 'wavehaul://dtn2/in/a b%25', 'CRC64', status=ENOSYS)
        tools.run('copy', '-p', '-K', f'MD5:{md5}', 'wavehaul://dtn2/in/a b%25',
                  f'file://{folder}/down/back')
        expect_equal('what was got', (folder / 'down/back').read_bytes(), source.read_bytes())
        tools.run('copy', '-p', '-K', f'ADLER32:{adler.upper()}', 'wavehaul://dtn2/in/a b%25',
                  'wavehaul://dtn3/from/dtn2')
        expect_equal('what was passed', three.digest('from/dtn2'), digest)
        # Nothing of what is wrong is there, of whichever kind the copy and the check.
        for source_url, target in ((here, 'wavehaul://dtn2/wrong'),
                                   ('wavehaul://dtn2/in/a b%25', f'file://{folder}/down/wrong'),
                                   ('wavehaul://dtn2/in/a b%25', 'wavehaul://dtn3/wrong')):
            for mode in ('source', 'target', 'both'):
                tools.run('copy', '--checksum-mode', mode, '-K', 'ADLER32:1234abcd', source_url,
                          target, status=EIO,
                          said=f'CHECKSUM MISMATCH the ADLER32 is {adler}, and 1234abcd')
            tools.run('copy', '-K', 'CRC64', source_url, target, status=ENOSYS)
        expect_equal('what is there', (two.names('.'), three.names('.'),
                                       os.listdir(folder / 'down')),
                     (['in', 'in/a b%'], ['from', 'from/dtn2'], ['back']))
        existing(tools, here, folder, two, three)


def existing(tools, here, folder, two, three):
    """Without checks before it, too: the plug-in is asked alone by --just-copy."""
    (two.root / 'there').write_text('old')
    (three.root / 'there').write_text('old')
    (folder / 'down/there').write_text('old')
    (two.root / 'dir').mkdir()
    (three.root / 'dir').mkdir()
    for source, to in ((here, 'wavehaul://dtn2'), ('wavehaul://dtn2/in/a b%25', 'wavehaul://dtn3'),
                       ('wavehaul://dtn2/in/a b%25', f'file://{folder}/down')):
        tools.run('copy', '--just-copy', source, f'{to}/there', status=EEXIST, said='exist')
        tools.run('copy', '--just-copy', source, f'{to}/nothing/x', status=ENOENT,
                  said='No such file')
        if to.startswith('wavehaul'):
            tools.run('copy', '--just-copy', source, f'{to}/dir', status=EISDIR, said='folder')
    for path in (two.root / 'there', three.root / 'there', folder / 'down/there'):
        expect_equal(str(path), path.read_text(), 'old')
    tools.run('copy', '-f', here, 'wavehaul://dtn2/there')
    tools.run('copy', '-f', 'wavehaul://dtn2/there', 'wavehaul://dtn3/there')
    tools.run('copy', '-f', 'wavehaul://dtn2/there', f'file://{folder}/down/there')
    expect_equal('replaced', (three.digest('there'), (folder / 'down/there').read_bytes()),
                 (two.digest('there'), (two.root / 'there').read_bytes()))
    expect_equal('what is left in the folders', (two.names('dir'), three.names('dir')), ([], []))


def shown(site):
    return [name for name in site.names('.') if '.wavehaul' not in name]


def cancelled(program, folder):
    """A copy is followed, and cancelled in its middle: nothing has the target's name."""
    with grid(program, folder, rate='40M') as (tools, one, two, three):
        source = folder / 'large'
        source.write_bytes(os.urandom(60_000_000))
        shutil.copy(source, two.root / 'large')
        (folder / 'down').mkdir()
        for what, target in ((f'file://{source}', 'wavehaul://dtn2/came'),
                             ('wavehaul://dtn2/large', f'file://{folder}/down/came'),
                             ('wavehaul://dtn2/large', 'wavehaul://dtn3/came')):
            result = tools.finish(tools.start(PYTHON, '-c', CANCELLED, what, target))
            lines = result.out.splitlines()
            print(f'{target}: {lines[-2:]}')
            expect(lines[-1].startswith(f'failed {ECANCELED} '), f'{lines[-1]}; {result.err}')
            moved = [int(line.split()[1]) for line in lines if line.startswith('moved')]
            expect_between('bytes that moved', moved[-1], 1_000_000, 59_999_999)
        wait_until(lambda: [row['state'] for row in two.rows()] == ['cancelled'], 20, 'a cancel')
        expect_equal('what is there', (shown(two), shown(three), os.listdir(folder / 'down')),
                     (['large'], [], []))
        # Ctrl-C; and kill -9, by which half a file must not become a whole one.
        for how in (signal.SIGINT, signal.SIGKILL):
            process = tools.start('gfal-copy', f'file://{source}', 'wavehaul://dtn2/came')
            wait_until(lambda: any(row['state'] == 'running' and row['moved_bytes'] > 1_000_000
                                   for row in one.rows()), 30, 'data')
            process.send_signal(how)
            tools.finish(process)
            time.sleep(5)
            expect_equal(f'what is there after {how.name}', shown(two), ['large'])
        tools.run('copy', '-T', '2', f'file://{source}', 'wavehaul://dtn2/came', status=ETIMEDOUT,
                  said='within the time')
        expect_equal('what is there', shown(two), ['large'])


def gone(program, folder):
    """Of hosts that do not answer, are not known, or have no server, that is said."""
    with grid(program, folder) as (tools, one, two, three):
        two.make('a', 1000)
        (folder / 'a').write_bytes(b'x')
        two.stop(signal.SIGKILL)
        began = time.monotonic()
        for words in (('ls', 'wavehaul://dtn2/'), ('sum', 'wavehaul://dtn2/a', 'MD5'),
                      ('copy', '--just-copy', f'file://{folder}/a', 'wavehaul://dtn2/b'),
                      ('copy', '--just-copy', 'wavehaul://dtn2/a', f'file://{folder}/b'),
                      ('copy', '--just-copy', 'wavehaul://dtn2/a', 'wavehaul://dtn3/b'),
                      ('copy', '--just-copy', 'wavehaul://dtn3/a', 'wavehaul://dtn2/b')):
            tools.run(*words, status=EHOSTUNREACH, said='dtn2|192.0.2.2|answer')
        expect_between('seconds for each', (time.monotonic() - began) / 6, 0, GONE_S)
        tools.run('ls', 'wavehaul://dtn9/', status=EHOSTUNREACH, said="knows no peer 'dtn9'")
        tools.run('copy', '--just-copy', 'wavehaul://dtn3:5760/a', 'wavehaul://dtn3/b',
                  status=EINVAL, said='without a port')
        tools.configure('', folder / 'nothing')
        tools.run('ls', 'wavehaul://dtn3/', status=EPROTONOSUPPORT, said='is the package')
        tools.configure('--config;none')
        one.stop(signal.SIGKILL)
        tools.run('copy', '--just-copy', 'wavehaul://dtn2/a', 'wavehaul://dtn3/b',
                  status=EHOSTUNREACH)
        expect_equal('what is there', (three.names('.'), os.path.exists(folder / 'b')),
                     ([], False))


def own_port(program, folder):
    """Without a server of its own, and by an URL that names a port: by a port of its own."""
    with grid(program, folder) as (tools, one, two, _):
        tools.under = (*one.host.under, 'env', f'WAVEHAUL_CONFIG_DIR={one.user.folder}')
        (folder / 'a').write_bytes(os.urandom(3_000_000))
        before = one.rows()
        tools.run('copy', '-K', 'MD5', f'file://{folder}/a', 'wavehaul://192.0.2.2:5760/a')
        tools.run('ls', 'wavehaul://dtn2:5761/', status=EHOSTUNREACH)
        expect_equal('jobs of the server', one.rows(), before)
        expect_equal('the exit status of dtn1', one.stop(), 0)
        tools.run('copy', '-K', 'MD5', 'wavehaul://dtn2/a', f'file://{folder}/b')
        expect_equal('what came', (folder / 'b').read_bytes(), (folder / 'a').read_bytes())


CASES = [
    Case('gfal: names', True, names),
    Case('gfal: copies both ways and between two others', True, copies),
    Case('gfal: followed and cancelled', True, cancelled),
    Case('gfal: nobody answers', True, gone),
    Case('gfal: a port of its own', True, own_port),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
