# SPDX-License-Identifier: BSD-3-Clause
"""The charts of periodic-exchange.txt: each part of the page has some, drawn from its scenarios."""

from . import drawing
from .pxp_remarks import REMARKS  # pylint: disable=unused-import
from .runs import Run

SHORT = 'scenario.duration=3.5s'

# How long each takes on one CPU, roughly, and what makes it short.
RUNS = (
    Run('pxp-errors', 6, (SHORT, 'sweep.loss=1e-3')),
    Run('pxp-fig04', 30, (SHORT, 'sweep.process=60us,80us,130us')),
    Run('pxp-fig05', 8, (SHORT, 'sweep.window=64,512,1024')),
    Run('pxp-fig06', 60, (SHORT, 'sweep.step=2,4')),
    Run('pxp-hops', 15, (SHORT, 'sweep.hops=1.05,2')),
    Run('pxp-pack', 8, (SHORT, 'sweep.window=1024')),
    Run('pxp-period', 10, (SHORT, 'sweep.period=1ms,5ms')),
    Run('pxp-slow', 8, (SHORT, 'sweep.load=0,1', 'sweep.loss=1e-3')),
)

WHO = {'pack': 'positive acknowledgement', 'pxp': 'periodic exchange'}
OFFERED_PPS = 12500


def percent(values):
    return [100 * value for value in values]


def both(panels, result, name, scale, unit, styles=('-',), **at):
    """Throughput and overhead by a list of the sweep, a curve for each method."""
    for axes, what in zip(panels, ('throughput', 'overhead')):
        for agent, text in WHO.items():
            places, values = result.series(name, what, agent=agent, **at)
            axes.plot([scale * place for place in places], percent(values), marker='o',
                      linestyle=styles[0], label=text)
        drawing.label(axes, unit, '%', what)


def figure_4(results):
    result = results['pxp-fig04']
    for cores, text in ((4, 'a processor for each process'), (1, 'one for each end')):
        drawn, panels = drawing.figure(2)
        both(panels, result, 'process', 1e6, 'us a packet', cores=cores)
        panels[0].axvline(80, color=drawing.FAINT, linewidth=0.8, linestyle='--')
        drawing.legend(panels[1])
        yield f'By the processing time, {text}; dashed: packets arrive every 80 us', drawn
    drawn, (axes,) = drawing.figure()
    for loss in results['pxp-slow'].values('loss'):
        loads, values = results['pxp-slow'].series('load', 'overhead', loss=loss)
        axes.plot(loads, percent(values), marker='o', label=f'{100 * loss:g} % lost')
    drawing.label(axes, 'pxp.load', 'overhead, %')
    drawing.legend(axes)
    yield 'A receiver that is four times slower than the line', drawn


def ceilings(windows):
    """Its packets in two delays and half a period, of what arrives."""
    return [window / (0.0225 * OFFERED_PPS) for window in windows]


def figure_5(results):
    result = results['pxp-fig05']
    drawn, panels = drawing.figure(2)
    both(panels, result, 'window', 1, 'packets')
    windows = [window for window in result.values('window') if window <= 256]
    panels[0].plot(windows, percent(ceilings(windows)), color=drawing.FAINT, linestyle='--')
    for axes in panels:
        axes.set_xscale('log', base=2)
    drawing.legend(panels[1])
    yield 'By the window', drawn
    drawn, panels = drawing.figure(2)
    for axes, what in zip(panels, ('throughput', 'overhead')):
        for in_order, text in (('on', 'of all in order'), ('off', 'of one packet')):
            windows, values = results['pxp-pack'].series('window', what, in_order=in_order)
            axes.plot(windows, percent(values), marker='o', label=text)
        axes.set_xscale('log', base=2)
        drawing.label(axes, 'packets', '%', what)
    drawing.legend(panels[1])
    yield 'Positive acknowledgement, by what one is of', drawn


def figure_6(results):
    result = results['pxp-fig06']
    for number, net in enumerate(result.values('net')):
        drawn, panels = drawing.figure(2)
        first = 1e3 * result.at(net=net)[0].sweep['first']
        for axes, what in zip(panels, ('throughput', 'overhead')):
            for agent, text in WHO.items():
                steps, values = result.series('step', what, agent=agent, net=net)
                axes.plot([first + 5 * step for step in steps], percent(values), marker='o',
                          label=text)
            drawing.label(axes, 'timeout, ms', '%', what)
        drawing.legend(panels[1])
        yield f'Fig. {6 + number}: a delay of {1e3 * net:g} ms', drawn


def runs(results):
    drawn, panels = drawing.figure(2)
    both(panels, results['pxp-errors'], 'loss', 1, 'lost')
    for axes in panels:
        axes.set_xscale('log')
    drawing.legend(panels[1])
    yield 'By the share of packets that are lost', drawn
    drawn, panels = drawing.figure(2)
    for axes, what in zip(panels, ('throughput', 'overhead')):
        for window in results['pxp-period'].values('window'):
            periods, values = results['pxp-period'].series('period', what, window=window)
            axes.plot([1e3 * period for period in periods], percent(values), marker='o',
                      label=f'window {window:g}')
        drawing.label(axes, 'period, ms', '%', what)
    drawing.legend(panels[1])
    yield 'By the period, periodic exchange', drawn


def table(result, caption, names, scales):
    """A line for each place: throughput and overhead of both methods."""
    rows = []
    for point in result.at(agent='pxp'):
        other = result.one(**(point.sweep | {'agent': 'pack'}))
        rows.append([*(f'{scale * point.sweep[name]:g}' if scale else point.sweep[name]
                       for name, scale in zip(names, scales)),
                     *(100 * one.number(what) for what in ('throughput', 'overhead')
                       for one in (point, other))])
    return (caption, [*names, 'throughput, %: pxp', 'pack', 'overhead, %: pxp', 'pack'], rows)


def grid_4(results):
    return table(results['pxp-fig04'], 'The numbers, us', ['process', 'cores'], [1e6, 1])


def grid_5(results):
    return table(results['pxp-fig05'], 'The numbers', ['window'], [1])


def grid_6(results):
    return table(results['pxp-fig06'], 'The numbers, ms and steps of 5 ms', ['net', 'step'],
                 [1e3, 1])


GRIDS = {'fig4': grid_4, 'fig5': grid_5, 'fig6': grid_6}

INTRODUCTION = '''
<p>The paper simulated two versions of its protocol, one with positive acknowledgement and one with
the periodic exchange of complete state, between eight processes, four at each end, that are joined
by FIFOs; the network is nothing but a transient delay, T = N (S + W), with a geometric number of
hops N. Its figures survive as axes, captions and what the text says of them, and those statements
are what is compared here; with them the bounds that were computed from the paper's settings.</p>
<p>Ours are the profiles <code>pxp</code> and <code>pack</code>: the very sessions that run on a
NIC, in virtual time (<code>wavehaul sim</code>), between FIFOs and processors that take their time
for every packet, data and control alike (<code>lib/lab/scenario/processes.h</code>), over a link
that draws the hops of each packet, so that packets overtake each other
(<code>lib/lab/sim/hops.h</code>).
Throughput is that of packets new to the receiver, of the 12,500 a second that arrive at the host in
exponential intervals; overhead is the share of data packets sent that were sent before. What the
paper leaves open is named at each part, and what it decides is measured.</p>
'''

CHARTS = {'fig4': figure_4, 'fig5': figure_5, 'fig6': figure_6, 'runs': runs}
TABLES = {}
