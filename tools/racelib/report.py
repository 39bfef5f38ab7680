# SPDX-License-Identifier: BSD-3-Clause
"""What a race came to: a table, JSON, and a picture."""

import json
from html import escape

from .bars import Row
from .bars import text as text_of_bars

WIDTH, MARGIN, NAME_WIDTH, VALUE_WIDTH = 900, 24, 170, 80
HEAD_HEIGHT, TITLE_HEIGHT, BAR_HEIGHT, BAR_GAP, ROW_GAP = 96, 34, 11, 1, 10
INK, FAINT, PAPER = '#1b2733', '#5b6b7b', '#ffffff'
SHADES = ('#0b63c4', '#5a9bdc', '#9fc4ea', '#c9d6e2', '#e0a458', '#c4570b')
STYLE = 'font-family="Helvetica, Arial, sans-serif"'

# A frame of 1500 bytes of IP, all that is around it, and what TCP leaves of it with timestamps.
LINE_BYTES, PAYLOAD_BYTES = 1538, 1448


def figure(value_bps):
    return '-' if value_bps is None else f'{value_bps / 1e6:.3g}' if value_bps < 1e8 else \
        f'{value_bps / 1e6:.0f}'


def mark(run):
    """An asterisk where the machine was too slow for the path."""
    return '*' if run['own_dropped_pkts'] else ''


def cell_text(run):
    if run is None:
        return '-'
    return 'failed' if run['bps'] is None else figure(run['bps']) + mark(run)


def title(told):
    return (f'{told["rate_bps"] / 1e6:g} Mb/s, round trip {told["rtt_s"] * 1e3:g} ms, queue '
            f'{told["queue_bdp"]:g} BDP, MTU 1500, first {told["seconds"]} s: Mb/s of payload at '
            f'the receiver')


def notes(told):
    line_bps = told['rate_bps'] * PAYLOAD_BYTES / LINE_BYTES
    asked = ''
    if told['asked_bps'] > told['rate_bps']:
        asked = (f'{figure(told["asked_bps"])} Mb/s were asked for, which ends and path on two '
                 f'CPUs do not carry here. ')
    return (f'{asked}The line carries {figure(line_bps)} Mb/s of TCP\'s payload. Both ends share '
            f'CPU {told["ends_cpu"]}, the path has CPU {told["path_cpu"]}; {told["machine"]}.')


def rows_alone(told, runs):
    """[(name, [run or None for each loss])]"""
    names = dict.fromkeys(run['name'] for run in runs if run['beside'] is None)
    found = {(run['name'], run['loss']): run for run in runs if run['beside'] is None}
    return [(name, [found.get((name, loss)) for loss in told['losses']]) for name in names]


def rows_beside(runs):
    return [run for run in runs if run['beside'] is not None]


def text(told, runs, skipped):
    yield title(told)
    yield notes(told)
    yield ''
    if 'bars' in told:
        yield from text_of_bars([Row(**row) for row in told['bars']])
        yield ''
    yield f'{"alone, loss":<22}' + ''.join(f'{loss:>10g}' for loss in told['losses'])
    for name, cells in rows_alone(told, runs):
        yield f'{name:<22}' + ''.join(f'{cell_text(cell):>10}' for cell in cells)
    beside = rows_beside(runs)
    if beside:
        yield ''
        yield f'{"side by side, loss 0":<22}{"its own":>10}   {"the other":<22}{"its":>10}'
        for run in beside:
            yield (f'{run["name"]:<22}{figure(run["bps"]):>10}   {run["beside"]:<22}'
                   f'{figure(run["beside_bps"]) + mark(run):>10}')
    if any(run['own_dropped_pkts'] for run in runs):
        yield ''
        yield '* this machine dropped packets itself: the path was more than it could do'
    for name, why in skipped:
        yield f'{name}: {why}'
    for run in runs:
        if run['failure']:
            yield f'{run["name"]}, loss {run["loss"]:g}: {run["failure"]}'


def as_json(told, runs, skipped):
    return json.dumps({**told, 'runs': runs,
                       'skipped': [{'name': name, 'why': why} for name, why in skipped]},
                      indent=1) + '\n'


def label(x, y, words, size=12, fill=INK, more=''):
    return (f'<text x="{x}" y="{y:.1f}" font-size="{size}" fill="{fill}"{more}>'
            f'{escape(words)}</text>')


def bars(told, name, cells, y):
    """A bar for each loss."""
    left, span = MARGIN + NAME_WIDTH, WIDTH - 2 * MARGIN - NAME_WIDTH - VALUE_WIDTH
    height = len(cells) * (BAR_HEIGHT + BAR_GAP)
    yield label(left - 10, y + height / 2 + 4, name, more=' text-anchor="end"')
    for i, cell in enumerate(cells):
        if cell is None or cell['bps'] is None:
            continue
        width = span * cell['bps'] / told['rate_bps']
        top = y + i * (BAR_HEIGHT + BAR_GAP)
        yield (f'<rect x="{left}" y="{top:.1f}" width="{width:.1f}" height="{BAR_HEIGHT}" '
               f'fill="{SHADES[i % len(SHADES)]}"/>')
        yield label(left + width + 5, top + BAR_HEIGHT - 2, figure(cell['bps']) + mark(cell), 9,
                    FAINT)


def svg(told, runs):
    rows = rows_alone(told, runs)
    row_height = len(told['losses']) * (BAR_HEIGHT + BAR_GAP) + ROW_GAP
    height = HEAD_HEIGHT + TITLE_HEIGHT + len(rows) * row_height + MARGIN
    elements = [label(MARGIN, 30, 'One long path, many ways to fill it', 17,
                      more=' font-weight="bold"'),
                label(MARGIN, 50, title(told), 11, FAINT),
                label(MARGIN, 66, notes(told), 11, FAINT)]
    for i, loss in enumerate(told['losses']):
        x = MARGIN + NAME_WIDTH + 110 * i
        elements += [f'<rect x="{x}" y="{HEAD_HEIGHT - 10}" width="12" height="12" '
                     f'fill="{SHADES[i % len(SHADES)]}"/>',
                     label(x + 17, HEAD_HEIGHT, f'loss {loss:g}', 11)]
    for i, (name, cells) in enumerate(rows):
        elements += bars(told, name, cells, HEAD_HEIGHT + TITLE_HEIGHT + i * row_height)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" {STYLE}>\n'
            f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>\n'
            + '\n'.join(elements) + '\n</svg>\n')
