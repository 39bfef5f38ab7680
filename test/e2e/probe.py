#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul probe` against `wavehaul serve` over shared memory, in real time.

    probe.py [--quick] [-k PATTERN] [--binary PATH]
"""

import json
import re
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import (Case, decode_object, expect, expect_between, expect_equal, expect_said,
                     expect_status, run_cases)
from pair import CLIENT, SERVER, Pair, telemetry, wait_until

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

OK, OTHER, USAGE, NETWORK, STALLED = 0, 1, 2, 5, 30
ECHOES, PAIRS, STEADY = 100, 64, 1000


def command(pair, *args):
    """Without --buffers, which a probe has no use for."""
    return ('probe', '--config', 'none', '--port', pair.port(1), '--addr', f'{CLIENT}/24',
            *pair.both, *args)


def probe(pair, *args, host=SERVER):
    return pair.finish(pair.program.start(*command(pair, *args, host), under=pair.under), 40)


def whole(program, folder):
    """Echoes, trains and a picture; a second probe compares with the first."""
    plot, state = folder / 'way.svg', folder / 'deep/state'
    args = ('--train', '1024', '--rate', '100M', '--state', state)
    with telemetry() as (prefix, ask), \
            Pair(program, folder, server=('--eal', f'--file-prefix {prefix}')) as pair:
        result = probe(pair, *args, '--plot', plot)
        expect_status(result, OK)
        bound = re.search(r'at most (\d+) packets .* trains of up to (\d+) back', result.err)
        expect(bound, f'nothing is said before: {result.err!r}')
        expect_equal('the longest train', bound.group(2), '1024')
        for line in ('round trip', 'MTU', 'capacity', 'burst', 'memory', 'loss forth', 'loss back',
                     'order', 'sent'):
            expect_said(result._replace(err=result.out), f'(?m)^{line} ')
        expect('last time' not in result.out, 'there was no last time')
        drawing = ElementTree.parse(plot).getroot()
        expect(drawing.tag.endswith('svg'), f'{plot} is {drawing.tag}')
        paths = [path.get('d') for path in drawing.iter() if path.tag.endswith('path')]
        expect_equal('points of the drawing', paths[1].count('M'), 1024)
        kept = json.loads(next(state.glob(f'peer-{SERVER}-*.json')).read_text())
        expect_equal('the peer that is kept', kept['peer'], SERVER)

        result = probe(pair, *args, '--json')
        expect_status(result, OK)
        report = decode_object(result)
        found = report['found']
        expect_equal('the last time', report['before'], kept['probe']['found'])
        expect_equal('the way', (kept['path']['by'], kept['path']['burst_pkts']), ('probe', 1024))
        expect_equal('end', report['end'], 'done')
        expect_equal('cipher', report['sealed']['cipher'], 'aes-128-gcm')
        expect_equal('echoes', (found['echoes_sent'], found['echoes_got']), (ECHOES, ECHOES))
        expect_equal('MTU', found['mtu_bytes'], 1500)
        expect_equal('wire bytes', found['wire_bytes'], 1538)
        expect_equal('burst', (found['burst_end'], found['burst_pkts']), ('longest', 1024))
        expect_equal('steady', (found['steady_sent'], found['steady_lost']), (STEADY, 0))
        expect_between('packets sent', found['sent_pkts'], 2 * PAIRS + 2032 + STEADY,
                       int(bound.group(1)))
        # The machine may be slower than the trains were to be, and never faster.
        expect_between('line rate', found['line_bps'], 1e6, 100e6 * 1.001)
        expect_between('capacity', found['capacity_bps'], 1e6, found['line_bps'] * 1.001)
        counted = ask('/wavehaul/ports')
        expect_equal('probes that the server counted', counted['probes'], 2)
        expect_equal('packets of their trains', counted['probe_train_pkts'],
                     kept['probe']['found']['arrived_pkts'] + found['arrived_pkts'])
        expect_equal('packets that were no probe', counted['drop_probe_bad_cookie'], 0)
        pair.stop_server()


def unsealed(program, folder):
    """Only if both ends are unsealed; an end that is so alone tells its user what to do."""
    small = ('--train', '16', '--state', 'none', '--time', '4s')
    with Pair(program, folder) as pair:
        result = probe(pair, *small, '--unsealed')
        expect_status(result, NETWORK)
        expect_said(result, 'leave out --unsealed')
        pair.stop_server()
    with Pair(program, folder, server=('--unsealed',)) as pair:
        result = probe(pair, *small)
        expect_status(result, NETWORK)
        expect_said(result, 'the server runs unsealed: add --unsealed here to accept that')
        result = probe(pair, *small, '--unsealed')
        expect_status(result, OK)
        expect_said(result, 'not sealed, because of --unsealed')
        pair.stop_server()


def rights(program, folder):
    """A peer without the right is refused and audited; an unknown one is not a peer."""
    log = folder / 'audit'
    stranger = ('env', f'WAVEHAUL_CONFIG_DIR={folder}/other')
    small = ('--train', '16', '--state', 'none')

    def by_stranger(pair):
        return program.run(*command(pair, *small, SERVER), under=(*stranger, *pair.under))

    with Pair(program, folder, server=('--audit', log)) as pair:
        server = json.loads(program.run('trust', 'show', '--json').out)['own']['key']
        expect_status(program.run('trust', 'add', 'server', server, under=stranger), OK)
        shown = program.run('trust', 'show', '--json', under=stranger).out
        result = by_stranger(pair)
        expect_status(result, NETWORK)
        expect_said(result, 'the server does not trust this end')
        who = json.loads(shown)['own']['key']
        expect_status(program.run('trust', 'add', 'prober', who, 'measure=no'), OK)
        try:
            time.sleep(1.2)
            result = by_stranger(pair)
            expect_status(result, NETWORK)
            expect_said(result, 'does not let us probe: .* measure = no')
        finally:
            program.run('trust', 'remove', 'prober')
        wait_until(lambda: 'may not run measurements' in log.read_text(), 3, 'a line of the audit')
        pair.stop_server()


def not_allowed(program, folder):
    with Pair(program, folder, server=('--allow', '203.0.113.0/24')) as pair:
        result = probe(pair, '--state', 'none')
        expect_status(result, NETWORK)
        expect_said(result, r'does its --allow include this host')
        pair.stop_server()


def bounds(program, folder):
    """A time limit that expires, an impossible plot, and invalid options."""
    with Pair(program, folder) as pair:
        result = probe(pair, '--time', '100ms', '--json', '--state', folder / 'state')
        expect_status(result, STALLED)
        report = decode_object(result)
        expect_equal('end', report['end'], 'bound')
        expect(not (folder / 'state').exists(), 'half of a probe is kept')
        result = probe(pair, '--train', '16', '--state', 'none', '--plot', folder / 'no/way.svg')
        expect_status(result, OTHER)
        expect_said(result, r'no picture can be written to .*way.svg: No such file')
        pair.stop_server()
    result = program.run('probe', '--config', 'none', '--port', 'memif:/x', '--addr',
                         '192.0.2.2/24')
    expect_status(result, USAGE)
    expect_said(result, 'probe needs one HOST')


def cases():
    yield Case('whole', True, whole, judges_time=True)
    yield Case('unsealed', True, unsealed)
    yield Case('rights', True, rights)
    yield Case('not allowed', True, not_allowed)
    yield Case('bounds', False, bounds)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
