# SPDX-License-Identifier: BSD-3-Clause
"""
How drawn cases are judged: whether one reaches, and what the figures of a family must be over many.
"""

import math
import random
from collections import namedtuple

# `high`: a high value of the figure is good, so that its lowest is the worst.
Figure = namedtuple('Figure', 'name high')

FIGURES = {
    'single': (Figure('steady', True), Figure('whole', True), Figure('queue p99', False),
               Figure('bdps lost', False)),
    'flows': (Figure('jain', True), Figure('least', True), Figure('used', True),
              Figure('queue p99', False)),
    'tcps': (Figure('ours', True), Figure('least tcp', True), Figure('used', True)),
    'changes': (Figure('whole', True), Figure('after', True), Figure('bdps lost', False)),
    'aqm': (Figure('steady', True), Figure('caused late', False)),
    'short unknown': (Figure('round trips more', False), Figure('bdps lost', False)),
    'short known': (Figure('round trips more', False), Figure('bdps lost', False)),
    'scavenger': (Figure('as long as alone', False), Figure('of what is left', True)),
    'class': (Figure('value', True),),
}

# What must hold over any twenty offsets. `share` 0 is the worst case, 0.05 the worst twentieth, 0.5
# the median.
Wanted = namedtuple('Wanted', 'group figure share value')

WANTED = (
    Wanted('single', 'steady', 0, 0.6),
    Wanted('single', 'steady', 0.05, 0.95),
    Wanted('single', 'steady', 0.5, 0.995),
    Wanted('flows', 'jain', 0.05, 0.90),
    Wanted('flows', 'jain', 0.5, 0.97),
    Wanted('flows', 'least', 0.05, 0.5),
    Wanted('tcps', 'ours', 0.05, 0.3),
    Wanted('tcps', 'least tcp', 0, 0.4),
    Wanted('tcps', 'least tcp', 0.5, 0.8),
    Wanted('changes', 'whole', 0.05, 0.8),
    Wanted('aqm', 'steady', 0.05, 0.9),
    Wanted('short unknown', 'round trips more', 0.05, 1.6),
    Wanted('short unknown', 'bdps lost', 0.05, 0.5),
    Wanted('short known', 'round trips more', 0.05, 1.1),
    Wanted('short known', 'bdps lost', 0.05, 0.5),
    Wanted('scavenger', 'as long as alone', 0, 1.15),
    Wanted('scavenger', 'as long as alone', 0.5, 1.05),
)

RESAMPLES = 1000
INTERVAL = (0.05, 0.95)

FASTEST_CHANGES = ('wifi', 'lte', 'starlink', 'steps')


def group_of(case):
    """The family; files on known and on unknown paths apart."""
    if case.family == 'short':
        return 'short known' if case.facts['known'] == 'yes' else 'short unknown'
    return case.family


def number(value):
    """What never came is beyond everything."""
    return math.inf if value is None else float(value)


def judge_single(case, got):
    score = got['steady'] / (0.97 if case.facts['loss'] <= 0.0101 else 0.95)
    yield 'rate', score, score < 0.9999
    yield 'queue', None, got['queue p99'] > max(5e-3, 0.25 * case.rtt_s)
    yield 'loss', None, got['bdps lost'] > 0.6 and got['caused'] > 0.002


def judge_flows(_, got):
    for word, name, wanted in (('jain', 'jain', 0.95), ('used', 'used', 0.95),
                               ('starved', 'least', 0.5)):
        yield word, got[name] / wanted, got[name] < wanted


def judge_tcps(_, got):
    ours = got['ours'] / max(min(0.5, got['cubic in our place']), 0.02)
    theirs = got['least tcp'] / 0.5
    yield 'ours', ours, ours < 1
    yield 'tcp', theirs, theirs < 1


def judge_changes(case, got):
    score = got['whole'] / (0.8 if case.facts['kind'] in FASTEST_CHANGES else 0.9)
    yield 'rate', score, score < 1
    if got.get('after', 1) < 0.95:
        yield 'after', got['after'] / 0.95, True
    yield 'queue', None, got['queue p99'] > 0.9 * got['queue is']


def judge_aqm(_, got):
    score = got['steady'] / 0.9
    yield 'rate', score, score < 1
    if got['caused late'] > 0.01:
        yield 'loss', 0.01 / got['caused late'], True


def judge_short(case, got):
    most = 2.5 if case.facts['known'] == 'no' else 2.0
    more = got['round trips more']
    yield 'slow', most / max(more, 0.01), more > most
    yield 'loss', None, got['bdps lost'] > 0.5


def judge_scavenger(_, got):
    longer, left = got['as long as alone'], got['of what is left']
    yield 'harms', 1.05 / max(longer, 0.1), longer > 1.05
    yield 'little', left / 0.6, left < 0.6


def judge_class(case, got):
    score = got['value'] / case.facts['want']
    yield 'value', score, score < 1
    if got.get('bdps lost', 0) > 0.5:
        yield 'loss', 0.5 / got['bdps lost'], True
    yield 'queue', None, got.get('queue p50', 0) > 0.25 * case.rtt_s


JUDGES = {'single': judge_single, 'flows': judge_flows, 'tcps': judge_tcps,
          'changes': judge_changes, 'aqm': judge_aqm, 'short': judge_short,
          'scavenger': judge_scavenger, 'class': judge_class}


def judged(case, answers):
    """(score, words for what falls short): a score of 1 and no word: the case reaches."""
    got = {name: number(value) for name, value in answers.items()}
    score, words = 1.0, []
    for word, part, falls in JUDGES[case.family](case, got):
        score = score if part is None else min(score, part)
        words += [word] if falls else []
    return score, words


def at_share(values, share, high):
    """The value that this share of the cases is as bad as, or worse."""
    ordered = sorted(values, reverse=not high)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def interval(by_offset, share, high):
    """Of that value, where offsets are drawn again with replacement; None: there is one offset."""
    if len(by_offset) < 2:
        return None
    chance = random.Random(1)
    found = sorted(
        at_share([value for values in chance.choices(by_offset, k=len(by_offset))
                  for value in values], share, high)
        for _ in range(RESAMPLES))
    return tuple(found[int(end * (RESAMPLES - 1))] for end in INTERVAL)


def is_reached(wanted, value):
    high = next(one.high for one in FIGURES[wanted.group] if one.name == wanted.figure)
    return value >= wanted.value if high else value <= wanted.value
