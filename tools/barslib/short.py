# SPDX-License-Identifier: BSD-3-Clause
"""
What `lambda` does not reach yet, or cannot: by scenario and expectation how far it comes, in the
worst of all settings, and why. A row that comes as far is `short`, one that does not is FAILED. The
table may only shrink: what no row needs any more goes.
"""

from collections import namedtuple

# `bound` is what is reached at least (at most, where the bar is an upper one) in any setting.
Short = namedtuple('Short', 'scenario what bound why')

ALL = ()


def found(scenario, what):
    return next((one for one in ALL if (one.scenario, one.what) == (scenario, what)), None)


def comes_as_far(row):
    """Whether a row that is not reached is as good as the table says."""
    short = found(row['scenario'], row['what'])
    if short is None or row['reached'] is None:
        return False
    return row['reached'] >= short.bound if '>' in row['sign'] else row['reached'] <= short.bound
