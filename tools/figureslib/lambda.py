# SPDX-License-Identifier: BSD-3-Clause
"""The charts of lambda-tcp.txt: each part of the page has one or two, drawn from its scenarios."""

from . import drawing
from .lambda_remarks import REMARKS  # pylint: disable=unused-import
from .runs import Run

# How long each takes on one CPU, roughly, and what makes it short.
RUNS = (
    Run('lambda-first', 8, ()),
    Run('lambda-others', 4, ()),
    Run('lambda-fig02', 1, ()),
    Run('lambda-fig03', 1, ()),
    Run('lambda-fig04', 1, ()),
    Run('lambda-clock', 1, ()),
    Run('lambda-fig05', 1, ()),
    Run('lambda-fig07', 10, ('sweep.txq=100,500,1100,1500,2000',)),
    Run('lambda-fig08', 8, ('sweep.buffer=1MiB,16MiB',)),
    Run('lambda-pace', 16, ('sweep.limit=100', 'sweep.pace=on')),
    Run('lambda-fig12', 60, ('sweep.case : agent : queue : udp=1 : sack : 356 : 800M',)),
    Run('lambda-recovery', 8, ('sweep.aimd=off',)),
    Run('lambda-fig13', 120, ('scenario.warmup=20s', 'scenario.duration=40s')),
)

FLOOR = {'color': drawing.FAINT, 'linewidth': 0.8, 'linestyle': '--'}


def summed(values):
    total = 0
    for value in values:
        total += value
        yield total


def figure_2(results):
    drawn, panels = drawing.figure(2)
    result = results['lambda-fig02']
    for axes, sent in zip(panels, result.values('sent')):
        samples = result.one(packets=5000, sent=sent).runs[0]['samples']
        times = [1e3 * second for second in samples['seconds']]
        flow = samples['flows']['burst']
        axes.plot(times, flow['sequence_pkts'], label='sent')
        axes.plot(times, list(summed(value * 500e-6 / 8000 for value in flow['throughput_bps'])),
                  label='arrived')
        for link, name in (('S-T', 'dropped by the switch'), ('T-R', 'by the receiver')):
            axes.plot(times, list(summed(samples['links'][link]['dropped_pkts'])), label=name)
        drawing.label(axes, 'ms', 'packets', f'sent at {sent / 1e9:g} Gb/s')
    drawing.legend(panels[0])
    yield 'A burst of 5000 packets through the switch', drawn


def figure_3(results):
    drawn, (axes,) = drawing.figure()
    for fast in results['lambda-fig03'].values('fast'):
        slow, memory = results['lambda-fig03'].series('slow', 'memory', fast=fast, has=1.01)
        axes.plot([x / 1e6 for x in slow], [y / 1e6 for y in memory], marker='o',
                  label=f'f = {fast / 1e6:g} Mb/s')
    axes.plot([622], [3.1], marker='v', linestyle='none', color=drawing.FAINT, label='printed')
    axes.set_ylim(bottom=0)
    drawing.label(axes, 's, Mb/s', 'MB')
    drawing.legend(axes)
    yield 'Memory by (3), at 100 ms', drawn


def figure_4(results):
    drawn, (axes,) = drawing.figure()
    points = [point for point in results['lambda-fig04'].points if point.sweep['rtt'] > 0.016]
    for lost, mark in ((True, 'x'), (False, 'o')):
        at = [(1e3 * point.sweep['rtt'], point.number('edge') * point.sweep['side'] / 1e6)
              for point in points
              if point.sweep['side'] != 1 and (point.number('lost') > 0) == lost]
        axes.plot([x for x, _ in at], [y for _, y in at], mark, linestyle='none', markersize=4,
                  label='a window loses packets' if lost else 'none is lost')
    rtts = [16 + step / 2 for step in range(369)]
    for sign in (-1, 1):
        axes.plot(rtts, [500 * (1 + sign * (1 - 16 / rtt) ** 0.5) for rtt in rtts],
                  color=drawing.FAINT, label='(4)' if sign > 0 else None)
    drawing.label(axes, 'round trip, ms', 's, Mb/s')
    drawing.legend(axes)
    yield 'The forbidden area, for 0.5 MB and 1 Gb/s', drawn


def figure_5(results):
    drawn, panels = drawing.figure(2)
    result = results['lambda-fig05']
    for axes, first in zip(panels, result.values('first')):
        samples = result.one(first=first).runs[0]['samples']
        sent = list(summed(samples['flows']['tcp']['sent_pkts']))
        dropped = list(summed(samples['links']['S-T']['dropped_pkts']))
        axes.plot(samples['seconds'], sent, label='sent')
        axes.plot(samples['seconds'], dropped, label='dropped by the switch')
        drawing.label(axes, 's', 'packets', f'Fig. {5 if first == 2 else 9}: from {first:g}')
    drawing.legend(panels[0])
    yield 'Slow start', drawn


def figure_7(results):
    drawn, (axes,) = drawing.figure()
    for delayed, text in (('off', 'each segment acknowledged'), ('on', 'every second one')):
        queues, values = results['lambda-fig07'].series('txq', 'throughput', delayed=delayed)
        axes.plot(queues, [value / 1e6 for value in values], marker='o', label=text)
    axes.axvline(1500, **FLOOR)
    axes.set_ylim(bottom=0)
    drawing.label(axes, 'packets of the device\'s queue', 'Mb/s')
    drawing.legend(axes)
    yield 'Throughput by the queue; dashed: where the paper\'s gain ends', drawn


def figure_8(results):
    drawn, panels = drawing.figure(2)
    result = results['lambda-fig08']
    for buffer in result.values('buffer'):
        gaps, values = result.series('gap', 'throughput', buffer=buffer)
        panels[0].plot([1e6 * gap for gap in gaps], [value / 1e6 for value in values], marker='o',
                       label=f'{buffer / 2**20:g} MiB')
    for gap in (0, 5e-6, 7.3e-6):
        buffers, values = result.series('buffer', 'throughput', gap=gap)
        panels[1].plot([buffer / 2**20 for buffer in buffers], [value / 1e6 for value in values],
                       marker='o', label=f'{1e6 * gap:g} us')
    drawing.label(panels[0], 'gap, us', 'Mb/s', 'Fig. 8')
    drawing.label(panels[1], 'socket buffer, MiB', 'Mb/s', 'Fig. 11')
    for axes in panels:
        drawing.legend(axes)
    yield 'A TCP in 5 s', drawn
    drawn, (axes,) = drawing.figure()
    for point in results['lambda-pace'].points:
        samples = point.runs[0]['samples']
        axes.plot(samples['seconds'],
                  [value / 1e6 for value in samples['flows']['haul']['throughput_bps']],
                  label=f'{"paced" if point.sweep["pace"] == "on" else "at once"}, '
                        f'{"limited slow start" if point.sweep["limit"] else "slow start"}')
    drawing.label(axes, 's', 'Mb/s')
    drawing.legend(axes)
    yield 'Our profile through the switch', drawn


def figure_12(results):
    drawn, (axes,) = drawing.figure()
    for point in results['lambda-fig12'].points:
        samples = point.runs[0]['samples']
        axes.plot(samples['seconds'],
                  [value / 1e6 for value in samples['flows']['tcp']['throughput_bps']],
                  label=f'case {point.sweep["case"]:g}')
    for point in results['lambda-recovery'].points:
        samples = point.runs[0]['samples']
        axes.plot(samples['seconds'],
                  [value / 1e6 for value in samples['flows']['haul']['throughput_bps']],
                  linestyle='--', label=f'hstcp, AIMD {point.sweep["aimd"]}')
    drawing.label(axes, 's', 'Mb/s')
    drawing.legend(axes)
    yield 'By the second', drawn


def figure_13(results):
    samples = results['lambda-fig13'].points[0].runs[0]['samples']
    values = [value / 1e6 for value in samples['flows']['tcp']['throughput_bps']]
    drawn, (axes,) = drawing.figure()
    axes.plot(samples['seconds'], values, linewidth=0.5, label='means of 2 s')
    axes.plot(samples['seconds'],
              [total / number for number, total in enumerate(summed(values), 1)],
              label='running mean')
    for published in (320, 460):
        axes.axhline(published, **FLOOR)
    drawing.label(axes, 's', 'Mb/s')
    drawing.legend(axes)
    yield 'Dashed: between which the paper\'s 2-second means oscillate', drawn


INTRODUCTION = '''
<p>The paper measured TCP between Amsterdam and Chicago, over a lambda of 622 Mb/s behind two TDM
switches; its figures are lost but for what the text says of them. A statement with a number has
that beside ours; others are read as bounds.</p>
<p>The path is this tree's simulator: a link of 1 Gb/s, the switch's memory, the slow line, 48 ms
each way. TCPs are its reference TCPs, on SACK, and the device's queue in TCP's sight is an option
of theirs. Profile <code>hstcp</code>, the one that runs on a NIC, is beside them where the paper
asks for pacing and for a limited slow start. The switch is the same in <code>wavehaul demo
--ingress</code>; (1) to (4) are <code>lib/measure/bottleneck.h</code>.</p>
'''

CHARTS = {
    'fig2': figure_2, 'fig3': figure_3, 'fig4': figure_4, 'fig5': figure_5, 'fig7': figure_7,
    'fig8': figure_8, 'fig12': figure_12, 'fig13': figure_13,
}
TABLES = {}
