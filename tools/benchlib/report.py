# SPDX-License-Identifier: BSD-3-Clause
"""The results as a table (in Markdown, so that README can take it) and as JSON."""

import json

from .results import ratio, skipped


def figure(value):
    """Three digits that count, however large."""
    if value >= 1000:
        return f'{value:,.0f}'
    return f'{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}'


def times(value):
    return '-' if value is None else f'{value:.2f} x'


def ours_of(rows):
    """Those that the others are set against."""
    return [row for row in rows if row.ours and row.samples]


def case_lines(measured):
    case, rows = measured
    ours = ours_of(rows)
    head = ['', f'median, {case.unit}', 'least', 'most', 'runs', *(f'{o.name} / it' for o in ours)]
    table = [head]
    for row in rows:
        values = row.values()
        if values:
            table.append([row.name, figure(row.median()), figure(min(values)),
                          figure(max(values)), str(len(values)),
                          *(times(ratio(o, row)) for o in ours)])
    return [f'**{case.name}** ({case.note})', '', *aligned(table), '']


def aligned(table):
    """Markdown that is also a table to the eye: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = []
    for cells in table:
        first, *rest = (cell.ljust(width) if place == 0 else cell.rjust(width)
                        for place, (cell, width) in enumerate(zip(cells, widths)))
        lines.append('| ' + ' | '.join([first, *rest]) + ' |')
    rule = ['-' * (widths[0] + 2), *('-' * (width + 1) + ':' for width in widths[1:])]
    return [lines[0], '|' + '|'.join(rule) + '|', *lines[1:]]


def machine_line(machine):
    virtual = ', virtual' if machine['virtual'] else ''
    return (f'{machine["cpu"]}, {machine["cpus"]} CPUs{virtual}, '
            f'{machine["memory_bytes"] / (1 << 30):.0f} GiB; Linux {machine["kernel"]}, '
            f'DPDK {machine["dpdk"] or "unknown"}, wavehaul {machine["wavehaul"] or "unknown"}')


def left_out(results):
    """Who was not asked, and each failed try."""
    for case, rows in results:
        yield from skipped(case, rows)
        for row in rows:
            for failure in row.failures:
                yield f'FAILED {case.name}: {row.name}: {failure}'


def text(header, results):
    machine = header['machine']
    lines = [f'{header["date"]}, `{header["command"]}`', '', machine_line(machine)]
    if not machine['quiet']:
        lines.append(f'The machine was not quiet: its load was {machine["load_before"]}.')
    lines += ['', 'A ratio is the median of those of each round.', '']
    for measured in results:
        if any(row.samples for row in measured.rows):
            lines += case_lines(measured)
    return '\n'.join([*lines, *left_out(results)]).rstrip() + '\n'


def as_dict(header, results):
    cases = []
    for case, rows in results:
        told = [row.as_dict() | {'ratios': {o.name: ratio(o, row) for o in ours_of(rows)}}
                for row in rows]
        cases.append({'group': case.group, 'name': case.name, 'unit': case.unit,
                      'note': case.note, 'candidates': told})
    return header | {'cases': cases}


def as_json(header, results):
    return json.dumps(as_dict(header, results), indent=1, allow_nan=False) + '\n'
