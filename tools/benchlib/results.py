# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as numbers: medians, ratios, and the rounds in which they come about."""

import contextlib
import statistics
from collections import namedtuple

from .processes import Failed

# `measure` is a function of nothing that returns {'value': .., more}, `missing` a word or None.
Candidate = namedtuple('Candidate', 'name ours missing measure')

# `group` is what --only chooses by, `around` a context in which all of its rounds run.
Case = namedtuple('Case', 'group name unit note candidates around',
                  defaults=(contextlib.nullcontext(),))


class Row:
    """What became of one candidate of one case."""

    def __init__(self, candidate):
        self.name, self.ours, self.skipped = candidate.name, candidate.ours, candidate.missing
        self.samples, self.failures = [], []

    def values(self):
        return [sample['value'] for sample in self.samples]

    def median(self):
        return statistics.median(self.values()) if self.samples else None

    def as_dict(self):
        values = self.values()
        return {'name': self.name, 'ours': self.ours, 'skipped': self.skipped,
                'failures': self.failures, 'samples': self.samples, 'median': self.median(),
                'min': min(values, default=None), 'max': max(values, default=None)}


Measured = namedtuple('Measured', 'case rows')


def ratio(ours, row):
    """
    How many times the other ours is: the median of what it is in each round that has both, since
    a machine may be a fast one for some rounds and a slow one for others. None without a round.
    """
    theirs = {sample['round']: sample['value'] for sample in row.samples}
    found = [sample['value'] / theirs[sample['round']] for sample in ours.samples
             if theirs.get(sample['round'])]
    return statistics.median(found) if found else None


def skipped(case, rows):
    """A line for each candidate that is; one for all when it is for the same reason."""
    reasons = {row.skipped for row in rows}
    if len(reasons) == 1 and None not in reasons:
        return [f'skipped {case.name}: {reasons.pop()}']
    return [f'skipped {case.name}: {row.name}: {row.skipped}' for row in rows if row.skipped]


def measure_once(case, candidate, row, number, tell):
    try:
        sample = candidate.measure()
    except Failed as failed:
        row.failures.append(str(failed))
        tell(f'{case.name}: {candidate.name}: {failed}')
        return
    row.samples.append({'round': number} | sample)
    tell(f'{case.name}: {candidate.name}: {sample["value"]:.2f} {case.unit}')


def measure(case, repeat, tell):
    """
    In rounds, every candidate once in each, so that what the machine does besides meets all alike.
    Who fails the first time is not asked again: it is broken, and each try may take a minute.
    """
    rows = [Row(candidate) for candidate in case.candidates]
    for line in skipped(case, rows):
        tell(line)
    wanted = [pair for pair in zip(case.candidates, rows) if not pair[1].skipped]
    if wanted:
        with case.around:
            for number in range(repeat):
                for candidate, row in wanted:
                    if row.samples or not row.failures:
                        measure_once(case, candidate, row, number, tell)
    return Measured(case, rows)
