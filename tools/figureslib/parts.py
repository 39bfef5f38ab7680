# SPDX-License-Identifier: BSD-3-Clause
"""A part of the page: a figure or table of the paper, and what this run has to set beside it."""

from collections import namedtuple

from . import drawing, published, remarks
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
    """What a remark must cover: {what: ours}."""
    return ({(entry.row, entry.column): entry.ours for entry in entries if not entry.within} |
            {claim['says']: verdict.ours for claim, verdict in verdicts
             if verdict.holds is False})


def texts_of(mine, missing, results):
    """(words, what they are held to, by which experiments), of remarks on something here."""
    for remark in mine:
        if not any(what in missing for what in remark.held):
            continue
        try:
            text = remark.text(results)
        except (Absent, KeyError) as absent:
            text = f'Its experiment is not part of this run: {absent}.'
        yield text, remarks.held_in_words(remark, missing), remark.experiments


def bare_text(bare, whole):
    """Of what is not as the paper has it, and no remark tells why."""
    which = '; '.join(remarks.name_of(what) for what in bare)
    if whole:
        return f'Not as the paper has it, and nobody has found out why: {which}.'
    return (f'Not as the paper has it in a run that is shorter and smaller than the paper\'s: '
            f'{which}. A whole run is held to it.')


def show(top, part, results, paper, whole):
    """(the part, what is wrong with it and not explained)"""
    verdicts = [(claim, published.verdict(top, results, claim))
                for claim in part['claims']]
    entries = []
    if 'table' in part:
        entries = list(published.entries(results, part['table']))
    missing = missed(verdicts, entries)
    mine = remarks.of_part(part, paper.REMARKS)
    bare = [what for what, ours in missing.items() if not remarks.explained(what, ours, mine)]
    texts = list(texts_of(mine, set(missing) - set(bare), results))
    if bare:
        texts.append((bare_text(bare, whole), '', ()))
    shown = Shown(part, list(charts(part, results, paper)), grids(part, results, paper), verdicts,
                  entries, texts, results)
    return shown, [f'{part["name"]}: {fault}' for fault in remarks.faults_of(missing, mine)]
