# SPDX-License-Identifier: BSD-3-Clause
"""
The last bar: in each throughput scenario of the five papers `lambda`, which owns the line there
(share = dedicated), is no slower than the best that the paper ran in it.

The paper's scenario is run as it is, and then with `lambda` in place of one of its flows. Values
are rates in full packets, so that no head counts: throughput() is that, and where a file's duration
is asked for, what it stands for is divided by the share of payload in a packet.
"""

import math
import re
from collections import namedtuple

# `flow` gives way to `lambda`; `by` are the lists of the sweep that make a setting, of whose points
# the best counts; `settings` make it shorter or leave out what is no matter of throughput.
Paper = namedtuple('Paper', 'scenario flow question by settings', defaults=((),))

ALL = (
    Paper('udt-fig01', 'udt', 'throughput(udt)', ('rate', 'rtt')),
    Paper('udt-fig02', 'udt', 'throughput(udt)', ('flows',),
          ('sweep.flows=1, 2, 10, 50, 200',)),
    Paper('udt-fig07', 'udt', 'throughput(udt)', ()),
    Paper('udt-fig10', 'udt', 'throughput(udt)', None, ('scenario.duration=20s',)),
    Paper('udt-fig12', 'udt', 'throughput(udt)', ('rate', 'rtt'), ('sweep.discipline=red',)),
    Paper('udt-fig13', 'udt', 'throughput(*)', ('rate', 'rtt', 'ber')),
    Paper('udt-fig16', 'udt', 'throughput(udt)', ('rate', 'rtt')),
    Paper('lambda-fig07', 'tcp', 'throughput(tcp, 2s, duration)', (),
          ('sweep.txq=500, 1000, 2000',)),
    Paper('lambda-fig08', 'tcp', 'throughput(tcp)', ('gap',)),
    Paper('lambda-fig12', 'tcp', 'throughput(tcp)', ('udp',)),
    Paper('lambda-fig13', 'tcp', 'throughput(tcp)', (), ('scenario.duration=400s',)),
    Paper('lambda-first', 'tcp', 'throughput(tcp)', ('streams',)),
    Paper('lambda-pace', 'haul', 'throughput(haul)', ()),
    Paper('lambda', 'transfer', 'throughput(transfer)', ('rate', 'rtt', 'loss'),
          ('sweep.agent=udt, sack, cubic',)),
    Paper('ttp-fig05', 'file', '8s * size / (took(file) + {encode})', ('loss', 'size'),
          ('scenario.repeat=1', 'sweep.size=10M, 100M')),
    Paper('ttp-fig10', 'file', '8s * size / (took(file) + {encode})', ('loss', 'size'),
          ('scenario.repeat=1', 'sweep.size=10M, 100M')),
    Paper('sttp-table1', 'f', 'throughput(f)', ('net',)),
    Paper('sttp-burst', 'f', '8s * 7680 / took(f)', ()),
    Paper('pxp-errors', 'data', 'throughput(data)', ('loss',)),
    Paper('pxp-fig04', 'data', 'throughput(data)', ('process', 'cores')),
    Paper('pxp-fig05', 'data', 'throughput(data)', ('window',)),
    Paper('pxp-hops', 'data', 'throughput(data)', ('hops', 'window')),
)

# --quick: what it runs of each paper, with these settings besides.
QUICK = {
    'udt-fig16': ('scenario.duration=10s', 'sweep.rate : rtt=599.04M : 16ms'),
    'lambda-first': ('scenario.duration=20s',),
    'ttp-fig05': ('sweep.loss=1%', 'sweep.size=10M'),
    'sttp-table1': (),
    'pxp-errors': ('sweep.loss=1e-3',),
}

# What of a flow stays when another agent takes its place: the network's and the file's, no window
# but in the model where each of its packets has a buffer.
STAYS = ('from', 'to', 'start', 'stop', 'count', 'stagger', 'spread', 'packet', 'size', 'arrival',
         'process', 'receiver_process', 'handing', 'cores', 'sealing')
MODEL = 'arrival'


def sections(text):
    """[(head, lines)] of a scenario's file, without comments."""
    found = []
    for line in text.splitlines():
        line = line.split(' #')[0].strip()
        if line.startswith('['):
            found.append((line, []))
        elif line and not line.startswith('#'):
            found[-1][1].append(line)
    return found


def written(parts, question):
    kept = [(head, lines) for head, lines in parts if head not in ('[report]', '[expect]')]
    text = '\n\n'.join('\n'.join([head, *lines]) for head, lines in kept)
    return f'{text}\n\n[report]\nit = {question}\n'


def lists_of(parts):
    """[(name, [names], first value)] of the sweep."""
    lines = next((lines for head, lines in parts if head == '[sweep]'), [])
    pairs = [line.split(' = ', 1) for line in lines]
    return [(name, re.split(r'\s*:\s*', name), values.split(',')[0].strip())
            for name, values in pairs]


def paper_text(text, paper):
    """As the paper ran it, and only what is asked."""
    parts = sections(text)
    encode = 'encode' if any('encode' in names for _, names, _ in lists_of(parts)) else '0s'
    return written(parts, paper.question.format(encode=encode))


def own_text(text, paper, profile, shares):
    parts = []
    for head, lines in sections(text):
        if head == f'[flow {paper.flow}]':
            model = any(line.startswith(f'{MODEL} =') for line in lines)
            stays = STAYS + (('window',) if model else ())
            lines = [line for line in lines if line.split(' =')[0] in stays]
            lines.append(f'agent = {profile}')
            lines += ['share = dedicated'] if shares else []
        parts.append((head, lines))
    return written(parts, paper.question.format(encode='0s'))


def settings_of(paper, quick):
    """The later of two for the same key counts."""
    more = QUICK.get(paper.scenario, ()) if quick else ()
    changed = {one.split('=')[0] for one in more}
    return (*(one for one in paper.settings if one.split('=')[0] not in changed), *more)


def own_settings(text, paper, settings):
    """Of lists that are not of a setting one point is enough."""
    lists = lists_of(sections(text))
    by = paper.by if paper.by is not None else [name for _, names, _ in lists for name in names]
    rest = [one for one in settings
            if not any(one.startswith(f'sweep.{name}=') and not set(names) & set(by)
                       for name, names, _ in lists)]
    return [*rest, *(f'sweep.{name}={first}' for name, names, first in lists
                     if not set(names) & set(by))]


def payload_share(paper, point, own):
    """Of a full packet; where throughput() is asked it is out of the question."""
    if paper.question.startswith('throughput'):
        return 1
    if paper.scenario == 'sttp-burst':
        return 0.896 if own else 0.96
    return 1408 / 1500 if own or point['sweep'].get('agent') == 'ttp' else 0.96


def value(paper, point, own):
    it = point['report']['it']
    return 0.0 if it is None or not math.isfinite(it) else it / payload_share(paper, point, own)


def key(point, by):
    return tuple(point['sweep'].items() if by is None else
                 ((name, point['sweep'][name]) for name in by))


def compare(paper, theirs, ours):
    """(setting, best of theirs, ours) for each."""
    best = {}
    for point in theirs['points']:
        at = key(point, paper.by)
        best[at] = max(best.get(at, 0.0), value(paper, point, False))
    for point in ours['points']:
        at = key(point, paper.by)
        yield point['number'], dict(at), best[at], value(paper, point, True)
