# SPDX-License-Identifier: BSD-3-Clause
"""The results as an SVG: a panel for each case, a bar for each candidate."""

from html import escape

from .report import figure, machine_line

WIDTH, MARGIN = 900, 24
NAME_WIDTH = 230
VALUE_WIDTH = 150
BAR_LEFT = MARGIN + NAME_WIDTH
BAR_WIDTH = WIDTH - 2 * MARGIN - NAME_WIDTH - VALUE_WIDTH
HEAD_HEIGHT, TITLE_HEIGHT, ROW_HEIGHT, BAR_HEIGHT, GAP = 100, 46, 26, 16, 18

INK, FAINT, PAPER, FRAME = '#1b2733', '#5b6b7b', '#ffffff', '#d5dce3'
OURS, THEIRS = '#0b63c4', '#9fb0c0'

# As many letters of the small size as a line holds.
LINE_LETTERS = 130

STYLE = 'font-family="Helvetica, Arial, sans-serif"'


def label(x, y, words, size=13, fill=INK, more=''):
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"{more}>{escape(words)}</text>'


def shortened(words):
    return words if len(words) <= LINE_LETTERS else words[:LINE_LETTERS - 4] + ' ...'


def line(x1, x2, y, width):
    return (f'<line x1="{x1:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y:.1f}" stroke="{INK}" '
            f'stroke-width="{width}"/>')


def bar(row, y, unit, most):
    """The median as a bar, least to most as a line through its end."""
    middle = y + ROW_HEIGHT / 2
    baseline = middle + 4.5
    bold = ' font-weight="bold"' if row.ours else ''
    yield label(BAR_LEFT - 10, baseline, row.name, more=f' text-anchor="end"{bold}')
    if not row.samples:
        yield label(BAR_LEFT, baseline, 'not measured', fill=FAINT)
        return
    scale = BAR_WIDTH / most
    values = row.values()
    yield (f'<rect x="{BAR_LEFT}" y="{middle - BAR_HEIGHT / 2:.1f}" '
           f'width="{row.median() * scale:.1f}" height="{BAR_HEIGHT}" '
           f'fill="{OURS if row.ours else THEIRS}"/>')
    if len(values) > 1:
        yield line(BAR_LEFT + min(values) * scale, BAR_LEFT + max(values) * scale, middle, 1.5)
    yield label(BAR_LEFT + max(values) * scale + 8, baseline, f'{figure(row.median())} {unit}',
                more=bold)


def panel(measured, y):
    """(height, elements)"""
    case, rows = measured
    height = TITLE_HEIGHT + ROW_HEIGHT * len(rows) + 10
    most = max(value for row in rows for value in row.values())
    elements = [
        f'<rect x="{MARGIN / 2}" y="{y}" width="{WIDTH - MARGIN}" height="{height}" rx="6" '
        f'fill="none" stroke="{FRAME}"/>',
        label(MARGIN, y + 20, case.name, 14, more=' font-weight="bold"'),
        label(MARGIN, y + 37, case.note, 11, FAINT),
    ]
    for index, row in enumerate(rows):
        elements += bar(row, y + TITLE_HEIGHT + index * ROW_HEIGHT, case.unit, most)
    return height, elements


def svg(header, results):
    """Cases without a single figure have no panel."""
    machine = header['machine']
    elements = [
        label(MARGIN, 32, 'wavehaul, the raw port and the peers', 18, more=' font-weight="bold"'),
        label(MARGIN, 52, machine_line(machine), 11, FAINT),
        label(MARGIN, 68, shortened(f'{header["date"]}, {header["command"]}'), 11, FAINT),
        label(MARGIN, 84, 'Bars are medians, lines go from the least to the most', 11, FAINT),
    ]
    y = HEAD_HEIGHT
    for measured in results:
        if any(row.median() for row in measured.rows):
            height, found = panel(measured, y)
            elements += found
            y += height + GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" '
            f'height="{y}" {STYLE}>\n<rect width="{WIDTH}" height="{y}" fill="{PAPER}"/>\n'
            + '\n'.join(elements) + '\n</svg>\n')
