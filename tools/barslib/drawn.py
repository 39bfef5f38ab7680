# SPDX-License-Identifier: BSD-3-Clause
"""Runs drawn cases, several at once, and tabulates what they reach."""

import math
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import draw_alone, draw_beside, draw_posed
from .judge import FIGURES, WANTED, at_share, group_of, interval, is_reached, judged, number
from .simulate import Failed, simulate

FAMILIES = {'single': draw_alone.single, 'flows': draw_beside.flows, 'tcps': draw_beside.tcps,
            'changes': draw_alone.changes, 'aqm': draw_alone.aqm, 'short': draw_alone.short,
            'scavenger': draw_beside.scavenger, 'class': draw_posed.posed}

# Where the bottleneck may be the sender's port.
ALONE = ('single', 'changes', 'aqm', 'short', 'class')


@dataclass(frozen=True)
class Outcome:
    case: object
    answers: dict
    score: float
    words: list
    seconds: float


def lacks(family, draws):
    """Why these draws have no such family; None: they have."""
    if draws.same_port and family not in ALONE:
        return 'has several senders'
    if family == 'short' and draws.agent.is_tcp:
        return 'asks when a session opened, and a TCP has none'
    if family == 'scavenger' and draws.agent.name != 'lambda':
        return 'is of lambda alone'
    return None


def cases_of(draws, family):
    """Questions of the class are the same at any offset."""
    return FAMILIES[family](draws) if family != 'class' or draws.first else []


def run_case(chosen, folder, case):
    began = time.monotonic()
    points = simulate(chosen.binary, case.name, case.text, folder, chosen.set)['points']
    answers = points[0]['report']
    score, words = judged(case, answers)
    return Outcome(case, answers, score, words, time.monotonic() - began)


def brief(value):
    return f'{value:.3g}' if isinstance(value, float) else str(value)


def line(outcome):
    case = outcome.case
    figures = ' '.join(f'{name.replace(" ", "_")}={number(value):.4g}'
                       for name, value in outcome.answers.items())
    facts = ' '.join(f'{name}={brief(value)}' for name, value in case.facts.items())
    return (f'{"ok" if not outcome.words else "short":<6} {case.name:<14} {outcome.score:.3f} '
            f'{"+".join(outcome.words) or "-":<12} {figures} | {case.rate_bps / 1e6:.6g} Mb/s '
            f'{case.rtt_s * 1e3:.3g} ms {facts}')


def row(outcome):
    case = outcome.case
    return {'case': case.name, 'family': case.family, 'offset': case.offset,
            'rate_bps': case.rate_bps, 'rtt_s': case.rtt_s, 'drawn': case.facts,
            'score': outcome.score, 'short': outcome.words, 'figures': outcome.answers}


def values_by_offset(outcomes, name):
    """[[values]], a list for each offset."""
    found = {}
    for one in outcomes:
        if name in one.answers:
            found.setdefault(one.case.offset, []).append(number(one.answers[name]))
    return list(found.values())


def shown(value):
    return 'never' if math.isinf(value) else f'{value:.3g}'


def cell(by_offset, share, high):
    values = [value for one in by_offset for value in one]
    text = shown(at_share(values, share, high))
    ends = interval(by_offset, share, high)
    return text + (f' ({shown(ends[0])}..{shown(ends[1])})' if ends else '')


def figure_lines(group, outcomes):
    for figure in FIGURES[group]:
        by_offset = values_by_offset(outcomes, figure.name)
        if by_offset:
            cells = [cell(by_offset, share, figure.high) for share in (0, 0.05, 0.5)]
            yield f'  {figure.name:<18} ' + ' '.join(f'{text:<24}' for text in cells).rstrip()


def wanted_lines(group, outcomes):
    """(line, whether it is reached)"""
    for wanted in (one for one in WANTED if one.group == group):
        figure = next(one for one in FIGURES[group] if one.name == wanted.figure)
        values = [value for one in values_by_offset(outcomes, wanted.figure) for value in one]
        if values:
            value = at_share(values, wanted.share, figure.high)
            good = is_reached(wanted, value)
            where = {0: 'worst', 0.5: 'median'}.get(wanted.share, f'worst {wanted.share:.0%}')
            yield (f'{"ok" if good else "FAILED":<6} {group:<14} {wanted.figure}, {where}: '
                   f'{shown(value)}, wanted {wanted.value:g} or '
                   f'{"more" if figure.high else "less"}', good)


def table(outcomes):
    """Lines for each group, and whether what is wanted of all is reached."""
    groups = {name: [one for one in outcomes if group_of(one.case) == name] for name in FIGURES}
    groups = {name: found for name, found in groups.items() if found}
    lines = [f'{"":<20} {"worst":<24} {"worst 5 %":<24} median']
    for group, found in groups.items():
        words = Counter(word for one in found for word in one.words)
        falls = ', '.join(f'{word} {count}' for word, count in words.most_common())
        lines.append(f'{group}: {sum(not one.words for one in found)} of {len(found)} reach'
                     + (f'; short: {falls}' if falls else ''))
        lines += figure_lines(group, found)
    judged_lines = [pair for group, found in groups.items() for pair in wanted_lines(group, found)]
    lines += [text for text, _ in judged_lines]
    return lines, all(good for _, good in judged_lines)


def run(chosen, all_draws, families):
    """(rows for JSON, whether all is reached); prints a line for each case, and the table."""
    cases = [case for draws in all_draws for family in families
             for case in cases_of(draws, family)]
    outcomes = []
    with (tempfile.TemporaryDirectory(prefix='wavehaul-drawn.') as folder,
          ThreadPoolExecutor(chosen.jobs) as pool):
        try:
            for outcome in pool.map(lambda case: run_case(chosen, folder, case), cases):
                outcomes.append(outcome)
                if outcome.words or not chosen.failed:
                    print(line(outcome), flush=True)
        except (Failed, OSError):
            pool.shutdown(cancel_futures=True)
            raise
    lines, good = table(outcomes)
    slow = max(outcomes, key=lambda one: one.seconds)
    print('\n'.join(lines))
    print(f'slowest: {slow.case.name}, {slow.seconds:.1f} s', file=sys.stderr)
    return [row(one) for one in outcomes], good
