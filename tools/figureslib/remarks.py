# SPDX-License-Identifier: BSD-3-Clause
"""Why something is not as a paper has it: how far off it may be, and the experiment behind it."""

from collections import namedtuple

# `held`: {what: (least, most)}, ours of a statement, by its words, or of a table's entry, as (row,
# column); None where it may not get worse to that side. `experiments`: the scenarios that show the
# reason. `text` makes the paragraph of the results.
Remark = namedtuple('Remark', 'part held experiments text')


def within(bounds, ours):
    least, most = bounds
    return (ours is not None and (least is None or ours >= least) and
            (most is None or ours <= most))


def bound_in_words(bounds):
    least, most = bounds
    if least is None:
        return f'at most {most:g}'
    if most is None:
        return f'at least {least:g}'
    return f'{least:g} to {most:g}'


def name_of(what):
    return f'{what[0]} at {what[1]}' if isinstance(what, tuple) else what


def held_in_words(remark, missing):
    """'held to: AC at 160 at least 90'"""
    return '; '.join(f'{name_of(what)}: {bound_in_words(bounds)}'
                     for what, bounds in remark.held.items() if what in missing)


def of_part(part, remarks):
    return [remark for remark in remarks if remark.part == part['id']]


def explained(what, ours, remarks):
    """A remark on something explains it as far as the remark's bounds go."""
    bounds = [remark.held[what] for remark in remarks if what in remark.held]
    return bool(bounds) and all(within(one, ours) for one in bounds)


def faults_of(missing, remarks):
    """Sentences: what is not as the paper has it and has no remark, or is worse than held."""
    for what, ours in missing.items():
        if explained(what, ours, remarks):
            continue
        bounds = [remark.held[what] for remark in remarks if what in remark.held]
        told = f'{name_of(what)} is not as printed' if isinstance(what, tuple) else \
            f'"{what}" does not hold'
        if not bounds:
            yield f'{told}, and no remark says why'
        else:
            held = ' and '.join(bound_in_words(one) for one in bounds)
            yield (f'{told}, and is worse than its remark says: '
                   f'{"nothing" if ours is None else format(ours, ".4g")}, held to {held}')
