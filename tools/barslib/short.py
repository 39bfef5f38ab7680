# SPDX-License-Identifier: BSD-3-Clause
"""
What `lambda` does not reach yet, or cannot: by scenario and expectation how far it comes, in the
worst of all settings, and why. A row that comes as far is `short`, one that does not is FAILED. The
table may only shrink: what no row needs any more goes.
"""

from collections import namedtuple

# `bound` is what is reached at least (at most, where the bar is an upper one) in any setting; None:
# nothing can be said.
Short = namedtuple('Short', 'scenario what bound why')

ALL = ()


def comes_as_far(row, table=ALL):
    """Whether a row that is not reached is as good as the table says."""
    short = next((one for one in table
                  if (one.scenario, one.what) == (row['scenario'], row['what'])), None)
    if short is None or row['reached'] is None or short.bound is None:
        return short is not None and short.bound is None
    return row['reached'] >= short.bound if '>' in row['sign'] else row['reached'] <= short.bound
