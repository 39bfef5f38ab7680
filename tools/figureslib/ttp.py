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
    Run('ttp-chunk', 2, ()),
    Run('ttp-drs', 2, ()),
    Run('ttp-encoder', 1, ()),
    Run('ttp-fig05', 25, (SIZES, ONCE)),
    Run('ttp-fig10', 30, (SIZES, ONCE)),
    Run('ttp-fig15', 1, ()),
    Run('ttp-fig16', 25, (SIZES, ONCE)),
    Run('ttp-fig21', 1, ()),
    Run('ttp-least', 5, ()),
    Run('ttp-q', 3, (ONCE,)),
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
                   label='published, 1 GHz Pentium III: less')
    panels[0].legend(loc='center left', frameon=False, fontsize=8)
    drawing.legend(panels[1])
    yield 'By the size of the chunk', drawn
    drawn, (axes,) = drawing.figure()
    encode, values = results['ttp-encoder'].series('encode', 'throughput')
    axes.plot([1e3 * one for one in encode], [value / 1e6 for value in values], marker='o')
    axes.set_ylim(bottom=0)
    drawing.label(axes, 'encoding of a chunk of 1 MB, ms', 'Mb/s')
    yield 'A file of 100 MB by the speed of the encoder', drawn


# A figure for each, from the first of three rows of them on.
LOSSES = (0, 0.0001, 0.001, 0.01, 0.02)


def title(first, loss):
    lost = f'{100 * loss:g} % lost'
    return f'Fig. {first + LOSSES.index(loss)}: {lost}' if loss in LOSSES else f'Ours: {lost}'


def by_loss(result, panels, first):
    for axes, loss in zip(panels, result.values('loss')):
        for who, name in WHO.items():
            sizes, times = result.series('size', 'time', who=who, loss=loss)
            axes.plot([size / 1e6 for size in sizes], times, marker='o', label=name)
        axes.set_xscale('log')
        axes.set_yscale('log')
        drawing.label(axes, 'MB', 's', title(first, loss))


def transports(result, first):
    drawn, panels = drawing.figure(len(result.values('loss')))
    by_loss(result, panels, first)
    drawing.legend(panels[-1])
    return drawn


def figure_5(results):
    yield 'Time by the size of the file, one panel for each figure', \
        transports(results['ttp-fig05'], 5)


def figure_10(results):
    yield 'Time by the size of the file, one panel for each figure', \
        transports(results['ttp-fig10'], 10)


def figure_15(results):
    result = results['ttp-fig15']
    drawn, panels = drawing.figure(len(result.points))
    for axes, point in zip(panels, result.points):
        samples = point.runs[0]['samples']
        for what, name in (('rate_bps', 'what its pacer sends'),
                           ('throughput_bps', 'what arrives')):
            axes.plot(samples['seconds'],
                      [value / 1e6 for value in samples['flows']['ttp'][what]], label=name)
        axes.set_ylim(bottom=0)
        drawing.label(axes, 's', 'Mb/s', f'overload of {1e3 * point.sweep["overload"]:g} ms')
    drawing.legend(panels[-1])
    yield 'By the tenth of a second; from 4 s on the bottleneck is overloaded', drawn


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
        drawing.label(axes, 'MB', 's', title(16, loss))
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


def codes(results):
    result = results['ttp-fig03']
    rows = []
    for size in result.values('bytes'):
        ours = [1e3 * result.one(bytes=size, code=code).number(what)
                for what in ('encode', 'decode') for code in ('rs', 'tornado')]
        published = ['less than 5000' if size == 1e7 else '', 'negligible']
        rows.append([f'{size / 1e6:g} MB', *ours[:2], published[0], *ours[2:], published[1]])
    return ('The numbers, ms', ['chunk', 'encode: rs', 'tornado', 'published', 'decode: rs',
                                'tornado', 'published'], rows)


def times(result, first, others, alike):
    """A line for each figure and size: the time of all, and how much faster the first one is."""
    names = list(others)
    rows = []
    for loss in result.values('loss'):
        for size in result.values('size'):
            took = [result.one(who=who, loss=loss, size=size).number('time') for who in names]
            rows.append([title(first, loss), f'{size / 1e6:g} MB', *took,
                         *(other / took[0] for other in took[1:])])
    head = ['', 'file', *(f'{others[who]}, s' for who in names),
            *(alike.format(others[who]) for who in names[1:])]
    return 'The numbers', head, rows


def grid_5(results):
    return times(results['ttp-fig05'], 5, WHO, 'TTP over {}')


def grid_10(results):
    return times(results['ttp-fig10'], 10, WHO, 'TTP over {}')


def grid_16(results):
    return times(results['ttp-fig16'], 16, {'tcp': 'beside TCP', 'ttp': 'beside TTP'},
                 'time {} over beside TCP')


GRIDS = {'fig3': codes, 'fig5': grid_5, 'fig10': grid_10, 'fig16': grid_16}

INTRODUCTION = '''
<p>The paper simulated TTP with ns-2 against TCP NewReno with a window of 20 packets (TCP), eight
such connections for one file (PSOCK) and a TCP whose window is the bandwidth-delay product (DRS),
over a bottleneck between four pairs of end links (Fig. 4) in two sizes, with bursts of TCP and 1
Mb/s without feedback beside them; and it timed its Tornado code on a 1 GHz Pentium III. It has no
tables, and its figures are lost: what is published of them are the statements in the text. Sizes
of files, and what else only a figure told, are chosen here, and each part says so.</p>
<p>Ours is profile <code>ttp</code>: the very sessions that run on a NIC, in virtual time
(<code>wavehaul sim</code>), over the scenarios in <code>config/scenarios</code>. Packets have
their full length and carry no payload; which losses repair brings back is worked out as for
payload. TCP, PSOCK and cross traffic are this tree's own, modelled on ns-2's; DRS has SACK below
its window. Fig. 3 is measured on the CPU named above. TTP's constants are the paper's, and none is
tuned to a statement. A file's throughput is its bytes over the time from the start to the last
acknowledgement, with connecting and, of TTP, the encoding of its first chunk: 0.5 s, which is what
Fig. 3 leaves for 1 MB at most. "TTP over PSOCK" is the one's throughput over the other's.</p>
'''

CHARTS = {
    'fig3': figure_3, 'fig5': figure_5, 'fig10': figure_10, 'fig15': figure_15,
    'fig16': figure_16, 'fig21': figure_21,
}
TABLES = {}
