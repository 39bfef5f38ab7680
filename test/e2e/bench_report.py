#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""tools/bench without measuring: rounds, medians, table, JSON, chart, and who is asked for what.

    bench_report.py [-k PATTERN] [--binary PATH]
"""

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import Case as Test
from harness import Failed as TestFailed
from harness import Skip, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

sys.path.insert(0, str(TOP / 'tools'))

from benchlib import cases, chart, machine, peers, processes, report, results, scratch
from benchlib import testpmd, wavehaul
from benchlib.processes import Failed, Place

HEADER = {
    'date': '2026-11-21 00:00 UTC', 'command': 'tools/bench --only <files>', 'repeat': 3,
    'machine': {'cpu': 'AMD & Sons', 'cpus': 2, 'memory_bytes': 24 << 30, 'hugepages': 1024,
                'virtual': True, 'kernel': '6.1.0', 'dpdk': '22.11.11', 'wavehaul': 'abc',
                'load_before': 0.1, 'quiet': True},
    'packages': {'rsync': '3.2.7'},
}

# Ours: median 8 of an even number. Rsync: median 4 of an odd one. Where both are: 1.5, 2.4, 4.5.
OURS, RSYNC = (6.0, 12.0, 9.0, 7.0), (4.0, 5.0, 2.0)

TABLE = '''\
2026-11-21 00:00 UTC, `tools/bench --only <files>`

AMD & Sons, 2 CPUs, virtual, 24 GiB; Linux 6.1.0, DPDK 22.11.11, wavehaul abc

A ratio is the median of those of each round.

**a case** (a <note>)

|               | median, Gb/s | least | most | runs | wavehaul send / it |
|---------------|-------------:|------:|-----:|-----:|-------------------:|
| wavehaul send |         8.00 |  6.00 | 12.0 |    4 |             1.00 x |
| rsync         |         4.00 |  2.00 | 5.00 |    3 |             2.40 x |

skipped a case: udt: not there
FAILED a case: rsync: out of breath
'''


def candidate(name, ours=False, missing=None, measure=None):
    return results.Candidate(name, ours, missing, measure)


def canned():
    chosen = [candidate('wavehaul send', True), candidate('rsync'),
              candidate('udt', missing='not there')]
    rows = [results.Row(one) for one in chosen]
    for row, values in zip(rows, (OURS, RSYNC)):
        row.samples = [{'round': n, 'value': value} for n, value in enumerate(values)]
    rows[1].failures.append('out of breath')
    return [results.Measured(results.Case('files', 'a case', 'Gb/s', 'a <note>', chosen), rows)]


def medians(_program, _folder):
    ours, rsync, udt = canned()[0].rows
    expect_equal('the median of an even number', ours.median(), 8.0)
    expect_equal('the median of an odd number', rsync.median(), 4.0)
    expect_equal('the median of nothing', udt.median(), None)
    expect_equal('the ratio', results.ratio(ours, rsync), 2.4)
    expect_equal('the ratio to nothing', results.ratio(ours, udt), None)
    expect_equal('the ratio of nothing', results.ratio(udt, rsync), None)


def figures(_program, _folder):
    for value, words in ((0.044, '0.04'), (9.994, '9.99'), (10, '10.0'), (99.94, '99.9'),
                         (100.4, '100'), (999.4, '999'), (25992.6, '25,993')):
        expect_equal(f'{value} in words', report.figure(value), words)


def rounds(_program, _folder):
    calls = []

    def player(name, *failing):
        def measure():
            calls.append(name)
            if calls.count(name) in failing:
                raise Failed(f'{name} fell')
            return {'value': float(calls.count(name))}
        return candidate(name, measure=measure)

    @contextlib.contextmanager
    def around():
        calls.append('in')
        yield
        calls.append('out')

    case = results.Case('g', 'c', 'u', 'n', [player('a'), player('b', 1), player('d', 2),
                                             candidate('e', missing='ill')], around())
    said = []
    rows = results.measure(case, 3, said.append).rows
    expect_equal('the calls', ' '.join(calls), 'in a b d a d a d out')
    expect_equal('the rounds of d', [s['round'] for s in rows[2].samples], [0, 2])
    expect_equal('the values', [row.values() for row in rows], [[1, 2, 3], [], [1, 3], []])
    expect_equal('the failures', [row.failures for row in rows], [[], ['b fell'], ['d fell'], []])
    expect('skipped c: e: ill' in said and 'c: a: 3.00 u' in said, f'said only {said}')


def round_interrupted(_program, _folder):
    left = []

    @contextlib.contextmanager
    def around():
        try:
            yield
        finally:
            left.append(True)

    def interrupted():
        raise SystemExit(20)

    case = results.Case('g', 'c', 'u', 'n', [candidate('a', measure=interrupted)], around())
    try:
        results.measure(case, 1, lambda _: None)
    except SystemExit:
        expect_equal('what was left', left, [True])
        return
    raise TestFailed('the interruption was swallowed')


def table(_program, _folder):
    expect_equal('the table', report.text(HEADER, canned()), TABLE)
    noisy = HEADER | {'machine': HEADER['machine'] | {'quiet': False, 'load_before': 1.5}}
    expect('not quiet: its load was 1.5.' in report.text(noisy, canned()), 'no word of the noise')


def two_of_ours(_program, _folder):
    case, rows = canned()[0]
    second = results.Row(candidate('wavehaul other', True))
    second.samples = [{'round': 2, 'value': 1.0}]
    lines = report.case_lines(results.Measured(case, [*rows, second]))
    cells = [[cell.strip() for cell in line.split('|')[1:-1]] for line in lines[2:-1]]
    expect_equal('the columns', cells[0][5:], ['wavehaul send / it', 'wavehaul other / it'])
    expect_equal('the ratios of rsync', cells[3][5:], ['2.40 x', '0.50 x'])


def skipped_as_one(_program, _folder):
    """Common facts are printed once."""
    chosen = [candidate('a', True, 'for root'), candidate('b', missing='for root')]
    case = results.Case('veth', 'c', 'u', 'n', chosen)
    told = []
    measured = [results.measure(case, 2, told.append)]
    expect_equal('the lines', list(report.left_out(measured)), ['skipped c: for root'])
    expect_equal('what is told', told, ['skipped c: for root'])
    chosen[1] = candidate('b', missing='ill')
    expect_equal('different lines', list(report.left_out([results.measure(case, 2, told.append)])),
                 ['skipped c: a: for root', 'skipped c: b: ill'])


def json_whole(_program, _folder):
    told = json.loads(report.as_json(HEADER, canned()))
    expect_equal('the machine', told['machine'], HEADER['machine'])
    ours, rsync, udt = told['cases'][0]['candidates']
    expect_equal('every measurement', [s['value'] for s in rsync['samples']], list(RSYNC))
    expect_equal('rsync', [rsync[key] for key in ('median', 'min', 'max', 'ratios', 'failures')],
                 [4.0, 2.0, 5.0, {'wavehaul send': 2.4}, ['out of breath']])
    expect_equal('udt', [udt[key] for key in ('median', 'skipped', 'samples', 'ratios')],
                 [None, 'not there', [], {'wavehaul send': None}])
    expect_equal('whose', [ours['ours'], rsync['ours']], [True, False])


def drawn(measured):
    try:
        return ElementTree.fromstring(chart.svg(HEADER, measured))
    except ElementTree.ParseError as error:
        raise TestFailed(f'the chart is no XML: {error}') from None


def svg_figures(_program, _folder):
    root = drawn(canned())
    name = '{http://www.w3.org/2000/svg}'
    bars = [e for e in root.iter(name + 'rect') if e.get('fill') in (chart.OURS, chart.THEIRS)]
    expect_equal('the bars', [float(bar.get('width')) for bar in bars],
                 [round(chart.BAR_WIDTH * part, 1) for part in (8 / 12, 4 / 12)])
    expect_equal('whose bars', [bar.get('fill') for bar in bars], [chart.OURS, chart.THEIRS])
    lines = [(float(e.get('x1')), float(e.get('x2'))) for e in root.iter(name + 'line')]
    expect_equal('least to most', lines[1], tuple(
        round(chart.BAR_LEFT + chart.BAR_WIDTH * part, 1) for part in (2 / 12, 5 / 12)))
    texts = [e.text for e in root.iter(name + 'text')]
    for words in ('a <note>', '8.00 Gb/s', '4.00 Gb/s', 'not measured', 'udt'):
        expect(words in texts, f'the chart does not say {words!r}: {texts}')
    for element in root.iter():
        for key in ('x', 'y', 'x1', 'x2', 'y1', 'y2'):
            bound = chart.WIDTH if 'x' in key else float(root.get('height'))
            expect(0 <= float(element.get(key, 0)) <= bound, f'{key} of {element.attrib} is out')


def svg_nothing(_program, _folder):
    case, rows = canned()[0]
    root = drawn([results.Measured(case, rows[2:])])
    expect_equal('the height', root.get('height'), str(chart.HEAD_HEIGHT))


def testpmd_words(_program, _folder):
    text = ('\n  ######################## NIC statistics for port 0  ####################\n'
            '  RX-packets: 11029088   RX-missed: 0          RX-bytes:  16698039232\n'
            '  RX-errors: 0\n  RX-nombuf:  0         \n'
            '  TX-packets: 7          TX-errors: 0          TX-bytes:  10598\n\n'
            '  Throughput (since last show)\n'
            '  Rx-pps:      3672759          Rx-bps:  44484457904\n'
            '  Tx-pps:            9          Tx-bps:            0\n  ' + '#' * 76 + '\n')
    expect_equal('what it says', testpmd.STATISTICS.findall(text * 2),
                 [('11029088', '7', '3672759', '9')] * 2)
    expect_equal('half of it', testpmd.STATISTICS.findall(text[:-40]), [])


def testpmd_command(_program, _folder):
    words = testpmd.command(Place(1), 'tx', 'net_x', 'txonly', 9000)
    for pair in (('--lcores', '0@1,1@1'), ('--vdev', 'net_x')):
        expect_equal(pair[0], words[words.index(pair[0]) + 1], pair[1])
    for word in ('--txpkts=9014', '--forward-mode=txonly', '--in-memory'):
        expect(word in words, f'{word} is missing: {words}')
    receiving, sending = testpmd.vdevs('memif', '/s', 9000)
    expect_equal('the memif of the receiver', receiving,
                 'net_memif0,role=server,socket=/s,socket-abstract=no,bsize=9216,rsize=8')
    expect_equal('the memif of the sender', sending,
                 'net_memif0,role=client,socket=/s,socket-abstract=no,bsize=9216,rsize=8')
    expect(testpmd.vdevs('memif', '/s', 1500)[0].endswith(',bsize=1536,rsize=10'), '1500')


def placed_words(_program, _folder):
    expect_equal('a command in a namespace',
                 ' '.join(processes.placed(Place(1, 'ns'), 60, ['rsync', 5])),
                 'ip netns exec ns timeout -k 2 60 taskset -c 1 rsync 5')


def said(function, *args):
    try:
        function(*args)
    except Failed as failed:
        return str(failed)
    raise TestFailed('it went well')


def alive(pid):
    """A zombie does not count: it has exited, but has not been waited for."""
    try:
        return Path(f'/proc/{pid}/stat').read_text(encoding='ascii').split(') ')[1][0] != 'Z'
    except FileNotFoundError:
        return False


def no_program_left(_program, folder):
    place = Place(min(os.sched_getaffinity(0)))
    began = time.monotonic()
    expect_equal('too long', said(processes.run, place, 0.3, ['sleep', '30']),
                 'sleep: not done in time: not a word')
    expect_equal('a failure', said(processes.run, place, 9, ['sh', '-c', 'echo no >&2; exit 4']),
                 'sh: exit status 4: no')
    note = folder / 'pid'
    deaf = "sh -c 'trap \"\" TERM; exec sleep 30'"
    fork = f'{deaf} & echo $! > {note}.part; mv {note}.part {note}; exec sleep 30'
    with processes.running(place, 20, ['sh', '-c', fork]) as parent:
        parent.await_that(note.exists, 'forking')
        fork = int(note.read_text(encoding='ascii'))
        expect(alive(fork), 'the fork does not run')
    until = time.monotonic() + 2
    while alive(fork) and time.monotonic() < until:
        time.sleep(0.01)
    expect(not alive(fork), 'a fork outlived its program')
    expect(time.monotonic() - began < 8, 'somebody waited for a program that sleeps')


def files(_program, folder):
    path = folder / 'file'
    scratch.make_file(path, 3 << 20)
    content = bytearray(path.read_bytes())
    expect_equal('its size', len(content), 3 << 20)
    for index in range(3):
        expect_equal('a block begins', content[index << 20:(index << 20) + 8],
                     index.to_bytes(8, 'little'))
    copy = folder / 'copy'
    copy.write_bytes(content)
    scratch.compare(path, copy)
    content[-1] ^= 1
    copy.write_bytes(content)
    expect('differ' in said(scratch.compare, path, copy), 'another byte, and not a word')
    expect_equal('nothing', said(scratch.compare, path, folder / 'none'),
                 'nothing arrived as none')


def trees(_program, folder):
    tree = folder / 'tree'
    scratch.make_tree(tree, 1001)
    found = [path for path in tree.rglob('*') if path.is_file()]
    expect_equal('the files', len(found), 1001)
    expect_equal('their sizes', {path.stat().st_size for path in found}, {4096})
    expect_equal('different ones', len({path.read_bytes() for path in found}), 1001)
    shutil.copytree(tree, folder / 'copy')
    scratch.compare(tree, folder / 'copy')
    (folder / 'copy/0001/0001000').unlink()
    expect('0001000' in said(scratch.compare, tree, folder / 'copy'), 'a file less, and no word')


class CannedSources:
    """File names for any size; the files take no space."""

    def __init__(self, folder):
        self.folder, self.sizes = folder, []

    def largest_file(self):
        return 4 << 30

    def file(self, size_bytes):
        self.sizes.append(size_bytes)
        path = self.folder / f'{size_bytes}'
        path.touch()
        return path

    @contextlib.contextmanager
    def arrival(self, _source):
        (self.folder / 'to').mkdir()
        try:
            yield self.folder / 'to'
        finally:
            scratch.remove(self.folder / 'to')


def sizes(_program, folder):
    """A quarter of a gigabyte takes 0.5 s, one takes 2 s: that is enough, and the size stays."""
    def send(source, to):
        shutil.copy(source, to)
        return {'seconds': int(source.name) / (512 << 20)}

    sources = CannedSources(folder)
    rig = cases.Rig(None, cases.FULL, None, folder, sources, None)
    transfer = cases.FileTransfer(rig, send)
    values = [transfer()['value'], transfer()['value']]
    expect_equal('the sizes', [size >> 20 for size in sources.sizes], [256, 1024, 1024, 1024])
    expect_equal('Gb/s', values, [(512 << 20) * 8 / 1e9] * 2)
    quick = cases.FileTransfer(rig._replace(effort=cases.QUICK), send)
    quick()
    expect_equal('the size of a quick one', [sources.sizes[4:], quick.size_bytes >> 20],
                 [[256 << 20], 256])


# Speaks as wavehaul does, and notes what it was asked for.
FAKE = '''#!/usr/bin/env python3
import json, sys, time
words = sys.argv[1:]
if words == ['--help']:
    print('Verbs:\\n  serve    x\\n  send     x\\n  bench    x\\n')
    sys.exit()
with open({note!r}, 'a') as note:
    print(*words, file=note)
if words[0] == 'serve':
    print('wavehaul: serving 198.51.100.1', file=sys.stderr, flush=True)
    time.sleep(30)
print(json.dumps({answer}))
'''


def fake_wavehaul(folder, answer):
    path = folder / 'fake'
    path.write_text(FAKE.format(note=str(folder / 'note'), answer=answer), encoding='utf-8')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return wavehaul.Wavehaul(path, None)


def need_cpus():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise Skip('CPUs 0 and 1 are not both there')


def our_bench(_program, folder):
    need_cpus()
    ours = fake_wavehaul(folder, {'ok': True, 'steady': {'pps': 1e6, 'bps': 11e9}})
    expect_equal('what is missing', ours.missing('serve', 'bench'), None)
    sample = ours.bench('memif', 1500, folder, 3)
    expect_equal('the figure', sample['value'], 12.112)
    serve, bench = (folder / 'note').read_text(encoding='utf-8').splitlines()
    common = '--mtu 1500 --buffers 256M --config none'
    expect_equal('serve', serve, f'serve --root {folder} --state none '
                                 f'--port memif:{folder}/socket,role=server '
                                 f'--addr 198.51.100.1/24 {common}')
    expect_equal('bench', bench, 'bench 198.51.100.1 --time 3000ms --rate max --json '
                                 f'--port memif:{folder}/socket,role=client '
                                 f'--addr 198.51.100.2/24 {common}')


def our_send(_program, folder):
    need_cpus()
    ours = fake_wavehaul(folder, {'ok': True, 'seconds': 1.25})
    (folder / 'to').mkdir()
    sample = ours.send_over_memif(9000, folder, folder / 'to')
    expect_equal('its own time', sample['own_seconds'], 1.25)
    expect(0 < sample['seconds'] < 5, f'{sample["seconds"]} s on the wall')
    send = (folder / 'note').read_text(encoding='utf-8').splitlines()[1]
    expect(send.startswith(
        f'send --daemon never --recursive {folder} 198.51.100.1:{folder.name} '), send)
    ours = fake_wavehaul(folder, {'ok': False, 'error': 'stalled'})
    expect_equal('the failure', said(ours.send_over_memif, 9000, folder, folder / 'to'),
                 'wavehaul send: stalled')


def our_verbs(program, folder):
    absent = wavehaul.Wavehaul(folder / 'none', None)
    expect_equal('no program', absent.missing('serve'),
                 f'{folder}/none does not run: tools/setup builds it')
    real = wavehaul.Wavehaul(program.binary, None)
    expect_equal('a verb of this wavehaul', real.missing('demo'), None)
    expect_equal('no verb', real.missing('demo', 'fly'), 'this wavehaul has no verb fly')


def packages(_program, _folder):
    for peer in (*peers.FILE_PEERS, peers.IPERF):
        expect(set(peer.packages) <= set(peers.PACKAGES), f'--setup forgets {peer.packages}')
    expect('dpkg' in machine.packages_versions(['dpkg', 'no-such-package']), 'no dpkg in Debian')
    nobody = peers.Peer('nobody', (), ('no-such-package',), None)
    expect_equal('who is not there', peers.missing(nobody, None),
                 'not installed: no-such-package (tools/bench --setup)')


def usage(_program, _folder):
    for words, complaint in ((['--only', 'memif,tcp'], "'tcp' is not one of memif, vhost"),
                             (['--repeat', '0'], "'0' is no positive number"),
                             (['--repe', '3'], 'unrecognized arguments'), (['x'], 'unrecognized')):
        done = subprocess.run([TOP / 'tools/bench', *words], capture_output=True, text=True,
                              timeout=20, check=False)
        expect_equal(f'the status of {words}', done.returncode, 2)
        expect(complaint in done.stderr, f'{words}: {done.stderr}')


TESTS = (medians, figures, rounds, round_interrupted, table, two_of_ours, skipped_as_one,
         json_whole, svg_figures, svg_nothing, testpmd_words, testpmd_command, placed_words,
         no_program_left, files, trees, sizes, our_bench, our_send, our_verbs, packages, usage)

if __name__ == '__main__':
    sys.exit(run_cases([Test(test.__name__.replace('_', ' '), True, test) for test in TESTS],
                       BINARY))
