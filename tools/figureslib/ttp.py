# SPDX-License-Identifier: BSD-3-Clause
"""The charts of ttp.txt: each part of the page has one or several, drawn from its scenarios."""

import subprocess

from . import drawing
from .runs import Failed, Run, result_of
from .ttp_remarks import REMARKS  # pylint: disable=unused-import

ONCE = 'scenario.repeat=1'
SIZES = 'sweep.size=1M,30M'

# How long each takes on one CPU, roughly, and what makes it short.
RUNS = (
    Run('ttp-drs', 2, ()),
    Run('ttp-encoder', 1, ()),
    Run('ttp-fig05', 25, (SIZES, ONCE)),
    Run('ttp-fig10', 30, (SIZES, ONCE)),
    Run('ttp-fig15', 1, ()),
    Run('ttp-fig16', 25, (SIZES, ONCE)),
    Run('ttp-fig21', 1, ()),
    Run('ttp-least', 5, ()),
)

# Programs beside wavehaul's own that measure, and say it as `wavehaul sim --json` does.
PROGRAMS = {'ttp-fig03': 'test/perf_fec_chunks'}
LIMIT_S = 120

WHO = {'ttp': 'TTP', 'psock': 'PSOCK', 'drs': 'DRS', 'tcp': 'TCP'}


def measured(name, build):
    """JSON of a program, when nothing else runs."""
    try:
        ended = subprocess.run([build / PROGRAMS[name]], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, check=False, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f'{name}: {error}') from None
    if ended.returncode != 0:
        raise Failed(f'{name}: exit status {ended.returncode}')
    return ended.stdout.decode()


def figure_3(results):
    drawn, panels = drawing.figure(2)
    for axes, what in zip(panels, ('encode', 'decode')):
        for code in ('rs', 'tornado'):
            sizes, values = results['ttp-fig03'].series('bytes', what, code=code)
            axes.plot([size / 1e6 for size in sizes], [1e3 * value for value in values],
                      marker='o', label=f'{code}, ours')
        axes.set_yscale('log')
        drawing.label(axes, 'chunk, MB', 'ms', what)
    panels[0].plot([10], [5000], marker='v', linestyle='none', color=drawing.FAINT,
                   label='published: below this')
    panels[0].legend(loc='center left', frameon=False, fontsize=8)
    drawing.legend(panels[1])
    yield 'By the size of the chunk', drawn
    drawn, (axes,) = drawing.figure()
    encode, values = results['ttp-encoder'].series('encode', 'throughput')
    axes.plot([1e3 * one for one in encode], [value / 1e6 for value in values], marker='o')
    axes.set_ylim(bottom=0)
    drawing.label(axes, 'encoding of a chunk of 1 MB, ms', 'Mb/s')
    yield 'A file of 100 MB by the speed of the encoder', drawn


def by_loss(result, panels):
    for axes, loss in zip(panels, result.values('loss')):
        for who, name in WHO.items():
            sizes, times = result.series('size', 'time', who=who, loss=loss)
            axes.plot([size / 1e6 for size in sizes], times, marker='o', label=name)
        axes.set_xscale('log')
        axes.set_yscale('log')
        drawing.label(axes, 'MB', 's', f'{100 * loss:g} % lost')


def transports(result):
    drawn, panels = drawing.figure(len(result.values('loss')))
    by_loss(result, panels)
    drawing.legend(panels[-1])
    return drawn


def figure_5(results):
    yield 'Time by the size of the file, one panel for each figure', \
        transports(results['ttp-fig05'])


def figure_10(results):
    yield 'Time by the size of the file, one panel for each figure', \
        transports(results['ttp-fig10'])


def figure_15(results):
    samples = results['ttp-fig15'].points[0].runs[0]['samples']
    drawn, (axes,) = drawing.figure()
    for what, name in (('rate_bps', 'what its pacer sends'), ('throughput_bps', 'what arrives')):
        axes.plot(samples['seconds'], [value / 1e6 for value in samples['flows']['ttp'][what]],
                  label=name)
    axes.set_ylim(bottom=0)
    drawing.label(axes, 's', 'Mb/s')
    drawing.legend(axes)
    yield 'By the tenth of a second; from 4 s to 4.05 s the bottleneck is overloaded', drawn


def figure_16(results):
    result = results['ttp-fig16']
    losses = result.values('loss')
    drawn, panels = drawing.figure(len(losses))
    for axes, loss in zip(panels, losses):
        for who, name in (('tcp', 'beside TCP'), ('ttp', 'beside TTP')):
            sizes, times = result.series('size', 'time', who=who, loss=loss)
            axes.plot([size / 1e6 for size in sizes], times, marker='o',
                      linestyle='-' if who == 'tcp' else '--', label=name)
        axes.set_xscale('log')
        axes.set_yscale('log')
        drawing.label(axes, 'MB', 's', f'{100 * loss:g} % lost')
    drawing.legend(panels[-1])
    yield "TCP's time by the size of its file, one panel for each figure", drawn


# A chunk's repair packets come behind its data, and a chunk takes some 1.4 s.
SMOOTH_S = 7


def figure_21(results):
    point = results['ttp-fig21'].points[0]
    samples = point.runs[0]['samples']
    flow = samples['flows']['ttp']
    time = point.number('time')
    shares = []
    for end in range(SMOOTH_S, int(time)):
        sent = sum(flow['sent_pkts'][end - SMOOTH_S:end])
        shares.append(100 * sum(flow['repair_pkts'][end - SMOOTH_S:end]) / sent)
    drawn, (axes,) = drawing.figure()
    axes.plot([100 * end / time for end in range(SMOOTH_S, int(time))], shares)
    axes.axvline(15, color=drawing.FAINT, linewidth=0.8, linestyle='--')
    axes.set_ylim(bottom=0)
    drawing.label(axes, '% of the transfer', 'repair, % of what is sent')
    yield f'Means of {SMOOTH_S} s; dashed: 15 % of the transfer', drawn


CHARTS = {
    'fig3': figure_3, 'fig5': figure_5, 'fig10': figure_10, 'fig15': figure_15,
    'fig16': figure_16, 'fig21': figure_21,
}
TABLES = {}
