# SPDX-License-Identifier: BSD-3-Clause
"""What "as printed" means: how far from a published figure ours may be, by the kind of figure."""

import math
from collections import namedtuple

Kind = namedtuple('Kind', 'within absolute name why')

# A claim or a table of config/scenarios/published names its kind; most are measured.
KINDS = {
    'measured': Kind(
        0.1, False, 'what a run or a clock has found',
        'Hosts, simulators and draws of chance that a paper does not tell differ by that much.'),
    'computed': Kind(
        0.02, False, 'what follows from numbers that the paper tells',
        'Nothing differs but the rounding to two digits, and what is under way when time is over.'),
    'index': Kind(
        0.02, True, "Jain's index of fairness",
        'It lies between 0 and 1, and a tenth of it is much: two flows at 3:2 have 0.96, and at '
        '2:1 they have 0.90.'),
}


def kind_of(described, row=None):
    """Of a claim, or of a row of a table."""
    kind = described.get('kinds', {}).get(row, described.get('kind', 'measured'))
    return KINDS[kind]


def difference(kind, ours, published):
    """As a share of what is published, or for an index the difference itself."""
    if kind.absolute:
        return ours - published
    if published == 0:
        return 0 if ours == 0 else math.inf
    return ours / published - 1


def as_printed(kind, ours, published):
    # A difference on the bound is within: decimal fractions miss it by their last bit.
    away = difference(kind, ours, published)
    return not math.isnan(away) and abs(away) <= kind.within + 1e-9


def in_words(kind):
    return f'{kind.within:g}' if kind.absolute else f'{100 * kind.within:g} %'
