# SPDX-License-Identifier: BSD-3-Clause
"""The charts of udt.txt: each part of the page has one or several, drawn from its scenarios."""

from . import drawing
from .results import brief
from .runs import Run
from .udt_remarks import REMARKS

SHORT = 'scenario.duration=10s'
ONCE = 'scenario.repeat=1'
NETWORKS = ('sweep.rate=1M,10M,100M', 'sweep.rtt=1ms,10ms,100ms')

# How long each takes on one CPU, roughly, and what makes it short.
RUNS = (
    Run('udt-fig01', 10, NETWORKS),
    Run('udt-fig02', 5, ('sweep.flows=1,10,100',)),
    Run('udt-fig02-empty', 4, ('sweep.flows=100',)),
    Run('udt-fig03', 3, ()),
    Run('udt-fig04', 140, ('sweep.x=20M,60M,160M', ONCE)),
    Run('udt-fig04-warnings', 60, ('sweep.x=160M', ONCE)),
    Run('udt-fig05', 16, (ONCE, 'scenario.duration=100s', 'scenario.warmup=20s')),
    Run('udt-fig06', 40, (SHORT, *NETWORKS)),
    Run('udt-fig06-empty', 6, (SHORT, 'sweep.rate : rtt=100K : 10ms')),
    Run('udt-fig07', 1, ()),
    Run('udt-fig08', 20, (ONCE,)),
    Run('udt-fig10', 50, ('sweep.rate=10M',)),
    Run('udt-fig11', 50, ('sweep.queue=10,83,160,1000', 'scenario.duration=50s', ONCE)),
    Run('udt-fig12', 20, NETWORKS),
    Run('udt-fig13', 30, (SHORT, 'sweep.rate=10M,100M')),
    Run('udt-fig16', 5, ('scenario.duration=30s',)),
    Run('udt-fig17', 4, ('scenario.duration=35s',)),
    Run('udt-fig18', 10, ('scenario.duration=5s', 'sweep.queue=100,1000')),
    Run('udt-fig19', 20, ('scenario.duration=60s', ONCE)),
    Run('udt-fig20', 12, ('sweep.udts=4',)),
)


def by_rate(axes, result, label, scale=1, **sweep):
    for rtt in result.values('rtt'):
        rates, values = result.series('rate', label, rtt=rtt, **sweep)
        axes.plot(rates, [scale * value for value in values], marker='o', label=f'{brief(rtt)}s')
    drawing.logarithmic(axes, result.values('rate'))


def utilisation_by_rate(result, **sweep):
    drawn, panels = drawing.figure(2)
    for axes, label, title in zip(panels, ('payload', 'second half'),
                                  ('all of it', 'second half')):
        by_rate(axes, result, label, 100, **sweep)
        drawing.label(axes, 'capacity, b/s', 'used, %', title)
        axes.axhline(94.4, color=drawing.FAINT, linewidth=0.8, linestyle='--')
        axes.set_ylim(0, 102)
    drawing.legend(panels[-1])
    return drawn


def figure_1(results):
    yield 'By capacity, a line for each round trip; dashed: 94.4 %', \
        utilisation_by_rate(results['udt-fig01'])


def figure_2(results):
    result = results['udt-fig02']
    drawn, (total, deviation) = drawing.figure(2)
    flows = result.values('flows')
    for label, name in (('utilisation', 'the line'), ('new payload', 'new payload')):
        total.plot(flows, [100 * value for value in result.series('flows', label)[1]],
                   marker='o', label=name)
    drawing.label(total, 'flows', '%', 'sum')
    total.set_ylim(0, 102)
    total.legend(loc='lower left', frameon=False, fontsize=8)
    for label, name in (('stddev', 'standard deviation'), ('mean', 'mean')):
        deviation.plot(flows, [value / 1e6 for value in result.series('flows', label)[1]],
                       marker='o', label=name)
    deviation.set_yscale('log')
    drawing.label(deviation, 'flows', 'Mb/s', 'single flows')
    drawing.legend(deviation)
    for axes in (total, deviation):
        drawing.logarithmic(axes, flows)
    yield 'By the number of flows', drawn


def over_time(axes, point, what='throughput_bps', scale=1e-6):
    samples = point.runs[0]['samples']
    for name, of in samples['flows'].items():
        axes.plot(samples['seconds'], [scale * value for value in of[what]], label=name)


def networks_over_time(result, title):
    drawn, panels = drawing.figure(len(result.points))
    for axes, point in zip(panels, result.points):
        over_time(axes, point)
        drawing.label(axes, 's', 'Mb/s', title(point))
        axes.set_ylim(bottom=0)
    drawing.legend(panels[-1])
    return drawn


def network(point):
    return f'{brief(point.sweep["rate"])}b/s, {brief(point.sweep["rtt"])}s'


def figure_3(results):
    yield 'Each flow, by the second', networks_over_time(results['udt-fig03'], network)


def two_flows(results, formula3, table):
    result = results['udt-fig04']
    drawn, (axes,) = drawing.figure()
    for row, colour in zip(table['rows'], drawing.COLOURS):
        axes.plot(table['columns'], table['rows'][row], color=colour, linestyle='--',
                  label=f'{row}, published')
        x, values = result.series('x', row, formula3=formula3)
        axes.plot([one / 1e6 for one in x], [one / 1e6 for one in values], color=colour,
                  marker='o', linestyle='none', label=f'{row}, ours')
    drawing.label(axes, 'x, Mb/s', 'Mb/s')
    drawing.legend(axes)
    return drawn


def table_1(results, part):
    yield 'Published and ours', two_flows(results, 'on', part['table'])


def table_3(results, part):
    yield 'Published and ours', two_flows(results, 'off', part['table'])


def figure_5(results):
    point = results['udt-fig05'].one(held=1)
    drawn, (time, mean) = drawing.figure(2)
    over_time(time, point)
    drawing.label(time, 's', 'Mb/s', 'by the second')
    time.set_ylim(bottom=0)
    flows = point.runs[0]['flows']
    mean.bar([flow['name'].removeprefix('rtt_') for flow in flows],
             [flow['throughput_bps'] / 1e6 for flow in flows], color=drawing.COLOURS[0])
    mean.axhline(100 / len(flows), color=drawing.FAINT, linewidth=0.8, linestyle='--')
    drawing.label(mean, 'round trip', 'Mb/s', 'mean; dashed: equal shares')
    mean.tick_params(axis='x', labelsize=7)
    yield 'Each flow', drawn


def friendliness(result, warning):
    """TCP's part beside UDT over that beside TCP: (rtt, rates, ratios)."""
    for rtt in result.values('rtt'):
        rates, beside_udt = result.series('rate', 'tcp', udts=1, warning=warning, rtt=rtt)
        _, beside_tcp = result.series('rate', 'tcp', udts=0, rtt=rtt)
        yield rtt, rates, [a / b for a, b in zip(beside_udt, beside_tcp)]


def figure_6(results):
    result = results['udt-fig06']
    drawn, panels = drawing.figure(2)
    for axes, warning, title in zip(panels, ('on', 'off'), ('Fig. 6: warnings',
                                                            'Fig. 9: no warnings')):
        for rtt, rates, ratios in friendliness(result, warning):
            axes.plot(rates, ratios, marker='o', label=f'{brief(rtt)}s')
        drawing.logarithmic(axes, result.values('rate'))
        axes.axhline(1, color=drawing.FAINT, linewidth=0.8, linestyle='--')
        axes.set_ylim(bottom=0)
        drawing.label(axes, 'capacity, b/s', 'beside UDT / beside TCP', title)
    drawing.legend(panels[-1])
    yield "A TCP's throughput beside a UDT flow over that beside another TCP", drawn


def figure_7(results):
    drawn, (axes,) = drawing.figure()
    over_time(axes, results['udt-fig07'].points[0])
    drawing.label(axes, 's', 'Mb/s')
    drawing.legend(axes)
    yield 'Both, by the half second', drawn


def table_2(results, part):
    point = results['udt-fig08'].one(formula3='on')
    table = part['table']
    drawn, (axes,) = drawing.figure()
    places = range(len(table['columns']))
    ours = [point.number(column) / 1e6 for column in table['columns']]
    axes.bar([place - 0.2 for place in places], table['rows']['throughput'], 0.38,
             label='published', color=drawing.COLOURS[7])
    axes.bar([place + 0.2 for place in places], ours, 0.38, label='ours')
    axes.set_xticks(list(places), table['columns'])
    drawing.label(axes, 'flow', 'Mb/s')
    drawing.legend(axes)
    yield 'Published and ours', drawn


def figure_10(results):
    result = results['udt-fig10']
    rates = result.values('rate')
    drawn, panels = drawing.figure(len(rates))
    for axes, rate in zip(panels, rates):
        for rtt in result.values('rtt'):
            queues, values = result.series('queue', 'throughput', rate=rate, rtt=rtt)
            axes.plot(queues, [value / 1e6 for value in values], marker='o',
                      label=f'{brief(rtt)}s')
        drawing.logarithmic(axes, queues)
        drawing.label(axes, 'queue, packets', 'Mb/s', f'{brief(rate)}b/s')
        axes.set_ylim(bottom=0)
    drawing.legend(panels[-1])
    yield 'By the size of the queue, a line for each round trip', drawn


def figure_11(results):
    result = results['udt-fig11']
    drawn, (axes,) = drawing.figure()
    for discipline in result.values('discipline'):
        queues, beside_udt = result.series('queue', 'tcp', discipline=discipline, udts=1)
        _, beside_tcp = result.series('queue', 'tcp', discipline=discipline, udts=0)
        axes.plot(queues, [a / b for a, b in zip(beside_udt, beside_tcp)], marker='o',
                  label=discipline)
    drawing.logarithmic(axes, queues)
    axes.axhline(1, color=drawing.FAINT, linewidth=0.8, linestyle='--')
    axes.set_ylim(bottom=0)
    drawing.label(axes, 'queue, packets', 'beside UDT / beside TCP')
    drawing.legend(axes)
    yield "A TCP's throughput beside a UDT flow over that beside another TCP", drawn


def figure_12(results):
    result = results['udt-fig12']
    yield 'RED, by capacity, a line for each round trip; dashed: 94.4 %', \
        utilisation_by_rate(result, discipline='red')
    drawn, panels = drawing.figure(2)
    for axes, discipline in zip(panels, ('droptail', 'red')):
        by_rate(axes, result, 'queue mean', discipline=discipline)
        drawing.label(axes, 'capacity, b/s', 'packets', discipline)
        axes.set_yscale('symlog')
        axes.set_ylim(0, 2000)
    drawing.legend(panels[-1])
    yield 'Mean queue', drawn


KINDS = (({'udts': 1, 'spare': 'off'}, 'UDT, section III'),
         ({'udts': 1, 'spare': 'on'}, 'UDT, section V'), ({'udts': 0}, 'TCP SACK'))


def figure_13(results):
    result = results['udt-fig13']
    drawn, panels = drawing.figure(3)
    for axes, (kind, title) in zip(panels, KINDS):
        networks = [(rate, rtt) for rate in result.values('rate') for rtt in result.values('rtt')]
        for (rate, rtt), colour in zip(networks, drawing.COLOURS):
            bers, values = result.series('ber', 'throughput', rate=rate, rtt=rtt, **kind)
            axes.plot(range(len(bers)), [100 * value for value in values], marker='o',
                      color=colour, label=f'{brief(rate)}b/s, {brief(rtt)}s')
        axes.set_xticks(range(len(bers)), [f'{ber:.0e}' if ber else '0' for ber in bers],
                        rotation=45)
        axes.set_ylim(0, 102)
        drawing.label(axes, 'bit error rate', 'throughput, % of the capacity', title)
    drawing.legend(panels[-1])
    yield 'By bit error rate, a line for each network', drawn


def figure_16(results):
    yield 'By the second', networks_over_time(results['udt-fig16'], network)


def figure_17(results):
    yield 'By the second', networks_over_time(
        results['udt-fig17'], lambda point: f'formula (3) {point.sweep["formula3"]}')


def figure_18(results):
    result = results['udt-fig18']
    drawn, (axes,) = drawing.figure()
    for label, name in (('tcp', 'a TCP'), ('udt', 'a UDT flow')):
        queues, values = result.series('queue', label)
        axes.plot(queues, [value / 1e6 for value in values], marker='o', label=name)
    drawing.logarithmic(axes, queues)
    axes.set_ylim(bottom=0)
    drawing.label(axes, 'queue, packets', 'Mb/s')
    drawing.legend(axes)
    yield 'Mean of both, by the size of the queue', drawn


def figure_19(results):
    result = results['udt-fig19']
    drawn, panels = drawing.figure(len(result.points))
    for axes, point in zip(panels, result.points):
        samples = point.runs[0]['samples']
        for name, of in samples['flows'].items():
            if name.startswith('tcp'):
                axes.plot(samples['seconds'], [value / 1e6 for value in of['throughput_bps']],
                          label=name)
        drawing.label(axes, 's', 'Mb/s', f'beside {point.sweep["udts"]:.0f} UDT flows')
        axes.set_ylim(0, 80)
    drawing.legend(panels[-1])
    yield 'The TCPs, every two seconds', drawn


def figure_20(results):
    flows, values = results['udt-fig20'].series('udts', 'aggregate')
    drawn, (axes,) = drawing.figure()
    axes.plot(flows, [value / 1e6 for value in values], marker='o')
    axes.set_ylim(bottom=0)
    drawing.label(axes, 'UDT flows', 'Mb/s')
    yield "All 500 files over the time until the last one's end", drawn


INTRODUCTION = '''
<p>The paper simulated UDT and TCPs with ns-2. Its figures are lost: what is published of a figure
are the statements in the text and captions; its tables are whole. Ours are the very sessions that
run on a NIC, in virtual time (<code>wavehaul sim</code>), over the scenarios in
<code>config/scenarios</code>, beside TCPs modelled on ns-2's. The algorithm's constants are the
paper's, and none is tuned to a table. A line carries IP packets of 1500 bytes, and throughput
counts them whole, as ns-2 does.</p>
'''

# By the part of the page; those that take it are given the part as well.
CHARTS = {
    'fig1': figure_1, 'fig2': figure_2, 'fig3': figure_3, 'fig5': figure_5, 'fig6': figure_6,
    'fig7': figure_7, 'fig10': figure_10, 'fig11': figure_11, 'fig12': figure_12,
    'fig13': figure_13, 'fig16': figure_16, 'fig17': figure_17, 'fig18': figure_18,
    'fig19': figure_19, 'fig20': figure_20,
}
TABLES = {'table1': table_1, 'table2': table_2, 'table3': table_3}
