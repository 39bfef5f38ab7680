# SPDX-License-Identifier: BSD-3-Clause
"""The page: one HTML file that needs nothing besides itself."""

import math
from html import escape

from . import published, tolerance

STYLE = '''
body { font: 15px/1.5 system-ui, Helvetica, Arial, sans-serif; color: #1b2733; background: #fff;
  max-width: 1060px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0.2em; }
h2 { margin-top: 2.4em; border-top: 1px solid #d5dce3; padding-top: 0.8em; }
table { border-collapse: collapse; margin: 0.8em 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.7em; border-bottom: 1px solid #d5dce3; text-align: right;
  vertical-align: top; }
th:first-child, td:first-child, .words { text-align: left; }
figure { margin: 1em 0; overflow-x: auto; }
figcaption, .faint { color: #5b6b7b; font-size: 0.9em; }
.good { color: #20733c; }
.bad { color: #b3261e; font-weight: 600; }
.remark { border-left: 3px solid #c4480b; padding-left: 1em; }
details { margin: 0.8em 0; }
svg { max-width: 100%; height: auto; }
'''


def number(value):
    """Four digits that count."""
    if value is None or math.isnan(value):
        return '-'
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f'{value:.2e}'
    digits = 4 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
    text = f'{value:.{min(digits, 4)}f}'
    return text.rstrip('0').rstrip('.') if '.' in text else text


def off(difference, kind):
    """A difference as the kind of figure has it."""
    if difference is None:
        return ''
    if math.isnan(difference):
        return '-'
    return f'{difference:+.3f}' if kind.absolute else f'{100 * difference:+.1f} %'


def mark(holds, given=None):
    if holds is None:
        return '<span class="faint">not compared</span>'
    if given is not None and holds:
        return '<span class="faint">put in, not counted</span>'
    return '<span class="good">holds</span>' if holds else '<span class="bad">does not hold</span>'


def row(cells, tag='td'):
    return '<tr>' + ''.join(f'<{tag}>{cell}</{tag}>' for cell in cells) + '</tr>'


def table(head, rows):
    return '<table>' + row(head, 'th') + ''.join(row(cells) for cells in rows) + '</table>'


def with_unit(value, unit):
    return '' if value is None else f'{number(value)} {unit}'.strip()


def beyond(claim, verdict):
    """A statement that another run can be held to, and not this one."""
    return verdict.holds is None and 'why not' not in claim


def left_out(lines, what):
    """Folded: what a run of this size or choice has nothing to say of."""
    if not lines:
        return ''
    items = ''.join(f'<li>{line}</li>' for line in lines)
    return (f'<details><summary>{len(lines)} {what} beyond this run</summary><ul>{items}</ul>'
            '</details>')


def claims_table(verdicts):
    rows = []
    told = [(claim, verdict) for claim, verdict in verdicts if not beyond(claim, verdict)]
    for claim, verdict in told:
        said = escape(claim['says'])
        given = published.why_given(claim)
        for note in (verdict.note, given):
            said += f'<br><span class="faint">{escape(note)}</span>' if note else ''
        unit = claim.get('unit', '')
        rows.append([escape(claim['place']), f'<div class="words">{said}</div>',
                     with_unit(verdict.published, unit), with_unit(verdict.ours, unit),
                     off(verdict.difference, tolerance.kind_of(claim)),
                     mark(verdict.holds, given)])
    head = ['place', '<div class="words">what the paper says</div>', 'published', 'ours',
            'difference', '']
    return (table(head, rows) if rows else '') + left_out(
        [f'{escape(claim["place"])}: {escape(claim["says"])} '
         f'<span class="faint">({escape(verdict.note)})</span>'
         for claim, verdict in verdicts if beyond(claim, verdict)], 'statements')


def entries_table(described, entries):
    """A line for each column of the paper's table, whose rows stand side by side."""
    names = list(described['rows'])
    head = [f'{escape(described["column"])}']
    for name in names:
        head += [f'{escape(name)}, published', 'ours', 'difference']
    rows, missing = [], []
    for column in described['columns']:
        if not any(entry.column == column for entry in entries):
            missing.append(escape(f'{described["column"]} {column}'))
            continue
        cells = [str(column)]
        for name in names:
            found = [e for e in entries if e.row == name and e.column == column]
            for entry in found:
                colour = 'good' if entry.within else 'bad'
                cells += [number(entry.published), number(entry.ours),
                          f'<span class="{colour}">'
                          f'{off(entry.difference, tolerance.kind_of(described, name))}</span>']
            cells += [] if found else ['-', '-', '-']
        rows.append(cells)
    return (f'<p>{escape(described["unit"])}</p>' + table(head, rows) +
            left_out(missing, 'columns of the table'))


def expectations(name, result):
    """What the scenario itself demands, folded; open where something does not hold."""
    rows = []
    for label in result.labels():
        asked = result.asked(label)
        broken = [(point, expected) for point, expected in asked if not expected['ok']]
        where = '; '.join(escape(point.name()) for point, _ in broken)
        rows.append([f'<div class="words">{escape(label)}</div>',
                     f'<div class="words"><code>{escape(asked[0][1]["text"])}</code></div>',
                     f'{len(asked) - len(broken)} of {len(asked)}',
                     f'<span class="bad">{where}</span>' if where else ''])
    if not rows:
        return ''
    opened = ' open' if result.broken() else ''
    return (f'<details{opened}><summary>Expectations of <code>config/scenarios/{escape(name)}.ini'
            f'</code></summary>' +
            table(['expectation', '<div class="words">first form</div>', 'holds at', ''], rows) +
            '</details>')


def chart(caption, svg):
    return f'<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>'


def paragraphs(remarks):
    """Each with what it is held to, and the scenarios whose numbers it has."""
    pieces = []
    for text, held, experiments in remarks:
        said = escape(text)
        if held:
            by = ', '.join(f'<code>{escape(name)}</code>' for name in experiments)
            said += f'<br><span class="faint">Held to: {escape(held)}. Shown by {by}.</span>'
        pieces.append(f'<p class="remark">{said}</p>')
    return ''.join(pieces)


def numbers(grids):
    return ''.join(f'<details><summary>{escape(caption)}</summary>' +
                   table([escape(one) for one in head],
                         [[one if isinstance(one, str) else number(one) for one in cells]
                          for cells in rows]) + '</details>'
                   for caption, head, rows in grids)


def section(shown):
    part, results = shown.part, shown.results
    pieces = [f'<h2 id="{part["id"]}">{escape(part["name"])}</h2>',
              f'<p>{escape(part["shows"])}</p>']
    if 'chosen' in part:
        pieces.append(f'<p class="faint">{escape(part["chosen"])}</p>')
    pieces += [chart(caption, svg) for caption, svg in shown.charts]
    pieces.append(numbers(shown.grids))
    if shown.entries:
        pieces.append(entries_table(part['table'], shown.entries))
    if shown.verdicts:
        pieces.append(claims_table(shown.verdicts))
    pieces.append(paragraphs(shown.remarks))
    pieces += [expectations(name, results[name]) for name in part.get('scenarios', ())
               if name in results]
    return '\n'.join(pieces)


def count(values):
    """'5 of 6', without those that this run cannot say."""
    known = [value for value in values if value is not None]
    if not known:
        return ''
    colour = 'good' if all(known) else 'bad'
    return f'<span class="{colour}">{sum(known)} of {len(known)}</span>'


def summary(parts):
    rows = []
    for shown in parts:
        asked = [expected['ok'] for name in shown.part.get('scenarios', ())
                 if name in shown.results for point in shown.results[name].points
                 for expected in point.expect]
        rows.append([f'<a href="#{shown.part["id"]}">{escape(shown.part["name"])}</a>',
                     count([entry.within for entry in shown.entries]),
                     count([verdict.holds for claim, verdict in shown.verdicts
                            if published.why_given(claim) is None]), count(asked)])
    head = ['part', 'entries as printed', 'statements that hold', 'expectations that hold']
    # A paper without tables has no entries.
    used = [i for i in range(len(head)) if any(cells[i] for cells in rows)]
    return table([head[i] for i in used],
                 [[cells[i] for i in used] for cells in rows if any(cells[1:])])


def score(parts):
    """A sentence: how many of the paper's statements hold, of those that this run can judge."""
    counted = published.score((claim, verdict) for shown in parts
                              for claim, verdict in shown.verdicts)
    entries = [entry.within for shown in parts for entry in shown.entries]
    text = counted.in_words()
    if entries:
        text += f' Of its tables {sum(entries)} of {len(entries)} entries are as printed.'
    return text


def html(paper, introduction, told, parts, faults):
    reading = READING.replace('NUMBERS', NUMBERS[any(shown.entries for shown in parts)])
    reading = reading.replace('KINDS', kinds())
    title = f'{escape(paper["title"])}: the paper and wavehaul'
    wrong = ''
    if faults:
        wrong = ('<p class="bad">Not as it should be:</p><ul>' +
                 ''.join(f'<li>{escape(fault)}</li>' for fault in faults) + '</ul>')
    sections = '\n'.join(section(shown) for shown in parts)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
            f'<body><h1>{title}</h1><p class="faint">{escape(paper["authors"])}. '
            f'{escape(told)}</p><p id="score"><strong>'
            f'{escape(score(parts))}</strong></p>{introduction}{reading}{wrong}{summary(parts)}'
            f'{sections}'
            f'</body></html>\n')


def kinds():
    """As printed, by the kind of figure."""
    return table(['<div class="words">figure</div>', 'within', '<div class="words">why</div>'],
                 [[f'<div class="words">{escape(kind.name)}</div>', tolerance.in_words(kind),
                   f'<div class="words">{escape(kind.why)}</div>']
                  for kind in tolerance.KINDS.values()])


# Whether the paper has tables.
NUMBERS = {
    True: 'an entry of a table, or a statement with a number, has that under <i>published</i>',
    False: 'the paper has no tables; a statement with a number has that under <i>published</i>',
}

READING = '''
<p>How to read it: NUMBERS, and holds <i>as printed</i> when ours is as near as the table below has
it. What the paper says in words is read as a bound, which stands below the words and allows
nothing. A statement on several runs holds when it holds in each; where the paper says "mostly" or
"typically", in more than half of them. What was put in, a constant, a formula or a number that a
scenario was made to have, is marked and not counted. The <i>difference</i> is that of ours, as a
share of what is published. Where something is not as the paper has it, a barred paragraph says why,
with the numbers of an experiment. What a scenario itself demands of its run is folded below.</p>
KINDS'''
