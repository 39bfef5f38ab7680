# SPDX-License-Identifier: BSD-3-Clause
"""A part of the page: a figure or table of the paper, and what this run has to set beside it."""

from collections import namedtuple

from . import drawing, published
from .results import Absent

Shown = namedtuple('Shown', 'part charts grids verdicts entries remarks results')


def charts(part, results, paper):
    """(caption, SVG); none where this run lacks what a chart is drawn from."""
    name = part['id']
    if any(scenario not in results for scenario in part.get('scenarios', ())):
        return
    if name in paper.TABLES:
        drawn = paper.TABLES[name](results, part)
    elif name in paper.CHARTS:
        drawn = paper.CHARTS[name](results)
    else:
        return
    for number, (caption, figure) in enumerate(drawn):
        yield caption, drawing.svg(figure, f'{name}-{number}')


def grids(part, results, paper):
    """(caption, head, rows): the numbers that a chart is drawn from."""
    if any(scenario not in results for scenario in part.get('scenarios', ())):
        return []
    drawn = getattr(paper, 'GRIDS', {}).get(part['id'])
    return [drawn(results)] if drawn else []


def missed(verdicts, entries):
    """What a remark must cover."""
    return ([(entry.row, entry.column) for entry in entries if not entry.within] +
            [claim['says'] for claim, verdict in verdicts if verdict.holds is False])


def remarks_on(part, missing, results, remarks):
    """(texts, what of it no remark covers)"""
    mine = [remark for remark in remarks if remark.part == part['id']]
    texts = []
    for remark in mine:
        if any(one in remark.covers for one in missing):
            try:
                texts.append(remark.text(results))
            except (Absent, KeyError) as absent:
                texts.append(f'Its experiment is not part of this run: {absent}.')
    bare = [one for one in missing if not any(one in remark.covers for remark in mine)]
    return texts, bare


def bare_text(bare, whole):
    """Of what is not as the paper has it, and no remark tells why."""
    which = '; '.join(f'{one[0]} at {one[1]}' if isinstance(one, tuple) else one for one in bare)
    if whole:
        return f'Not as the paper has it, and nobody has found out why: {which}.'
    return (f'Not as the paper has it in a run that is shorter and smaller than the paper\'s: '
            f'{which}. A whole run is held to it.')


def show(top, part, results, paper, tolerance, whole):
    """(the part, what is wrong with it and not explained)"""
    verdicts = [(claim, published.verdict(top, results, claim, tolerance))
                for claim in part['claims']]
    entries = []
    if 'table' in part:
        entries = list(published.entries(results, part['table'], tolerance))
    texts, bare = remarks_on(part, missed(verdicts, entries), results, paper.REMARKS)
    if bare:
        texts.append(bare_text(bare, whole))
    shown = Shown(part, list(charts(part, results, paper)), grids(part, results, paper), verdicts,
                  entries, texts, results)
    return shown, [f'{part["name"]}: {words(one)}' for one in bare]


def words(one):
    if isinstance(one, tuple):
        row, column = one
        return f'{row} at {column} is not within 10 %, and no remark says why'
    return f'"{one}" does not hold, and no remark says why'
