# SPDX-License-Identifier: BSD-3-Clause
"""The charts of sttp.txt: each part of the page has one or several, drawn from its scenarios."""

from . import drawing
from .runs import Run
from .sttp_remarks import REMARKS  # pylint: disable=unused-import

# How long each takes on one CPU, roughly, and what makes it short.
RUNS = (
    Run('sttp-pair', 1, ()),
    Run('sttp-accuracy', 1, ('sweep.rate=1K,155M',)),
    Run('sttp-burst', 1, ()),
    Run('sttp-onoff', 1, ()),
    Run('sttp-cbr', 1, ()),
    Run('sttp-table1', 1, ()),
    Run('sttp-table2', 2, ()),
    Run('sttp-table3', 50, ('sweep.n=10,50',)),
    Run('sttp-readings', 6, ('sweep.n=10',)),
    Run('sttp-timer', 4, ('sweep.n=10,50',)),
    Run('sttp-sessions', 4, ()),
)

WHO = {'reno': 'Reno', 'vegas': 'Vegas', 'sttp': 'STTP'}
WEIGHTS = {'reno': 'Reno', 'nine_one': '9:1', 'five_five': '5:5', 'one_nine': '1:9',
           'adaptive': 'adaptive, ours'}
FEEDS = {'reno': 'Reno', 'acks': 'acknowledgements', 'timer': 'time', 'adaptive': 'adaptive, ours'}


def lines(axes, result, label, names):
    for who, name in names.items():
        sources, values = result.series('n', label, who=who)
        axes.plot(sources, values, marker='o', label=name)


def table_1(results):
    result = results['sttp-table1']
    drawn, (axes,) = drawing.figure()
    for scales, name in (('off', 'a token per acknowledgement'), ('on', 'rho is scaled')):
        nets, values = result.series('net', 'line', scales=scales)
        axes.plot(nets, [100 * value for value in values], marker='o', label=name)
    axes.set_ylim(0, 105)
    drawing.label(axes, 'network', 'line used, %')
    drawing.legend(axes)
    yield 'What the source uses of the slowest line', drawn


def table_2(results):
    result = results['sttp-table2']
    drawn, (jain, dropped) = drawing.figure(2)
    lines(jain, result, 'jain', WEIGHTS)
    drawing.label(jain, 'sources', "Jain's index")
    jain.set_ylim(0.7, 1.01)
    lines(dropped, result, 'dropped', WEIGHTS)
    drawing.label(dropped, 'sources', 'packets dropped')
    drawing.legend(dropped)
    yield 'By the number of sources', drawn


def table_3(results):
    result = results['sttp-table3']
    drawn, (goodput, dropped) = drawing.figure(2)
    lines(goodput, result, 'goodput', WHO)
    goodput.set_ylim(220, 230)
    drawing.label(goodput, 'sources', 'MB sent and not dropped', 'Fig. 4')
    lines(dropped, result, 'dropped', WHO)
    drawing.label(dropped, 'sources', 'packets dropped', 'Fig. 5')
    drawing.legend(dropped)
    yield 'By the number of sources', drawn


def future(results):
    result = results['sttp-timer']
    drawn, (goodput, dropped) = drawing.figure(2)
    lines(goodput, result, 'goodput', FEEDS)
    drawing.label(goodput, 'sources', 'MB sent and not dropped')
    lines(dropped, result, 'dropped', FEEDS)
    drawing.label(dropped, 'sources', 'packets dropped')
    drawing.legend(dropped)
    yield 'By the number of sources', drawn


def sessions(results):
    result = results['sttp-sessions']
    drawn, (axes,) = drawing.figure()
    for timer, name in (('off', 'acknowledgements'), ('on', 'time')):
        flows, values = result.series('flows', 'new payload', timer=timer)
        axes.plot(flows, [100 * value for value in values], marker='o', label=name)
    axes.set_ylim(0, 105)
    drawing.label(axes, 'sessions', 'new payload, % of the line')
    drawing.legend(axes)
    yield 'By the number of sessions', drawn


def by_weights(results):
    result = results['sttp-table2']
    rows = []
    for who, name in WEIGHTS.items():
        for n in result.values('n'):
            point = result.one(who=who, n=n)
            rows.append([name, f'{n:g}', *(point.number(label) for label in
                                           ('sent', 'dropped', 'first', 'least', 'most', 'jain'))])
    return ('The numbers', ['', 'sources', 'sent', 'dropped', 'the first sent', 'least arrived',
                            'most arrived', "Jain's index"], rows)


GRIDS = {'table2': by_weights}

INTRODUCTION = '''
<p>The paper simulated STTP with ns-2 of 1999, as an agent with TCP's sink: a pair of 40 bytes
finds the bottleneck's capacity, which fills a token bucket; each acknowledgement brings a token,
and round trips that change by more than 5 % scale the bucket and what is in it. Its timeouts and
retransmissions are Reno's. Of Fig. 4 and 5 the data are Table III.</p>
<p>Ours are two: the agent, <code>sttp_agent</code>, on this tree's links, beside its Reno and
Vegas, for the paper's tables; and profile <code>sttp</code>, the very sessions that run on a NIC,
with the same bucket. Where the paper leaves something open it is an option of both (<code>wavehaul
profiles sttp</code>). rho, which III B.3 scales and IV B.1 does not mention, is not scaled: a flow
whose acknowledgements bring less than a token is over after some ten packets. What an
acknowledgement brings is scaled with all that is in the bucket. A round trip that shrinks scales
by IV B.1's 1.15. A lost packet's token is lost, unless nothing waits on the way. The agent has a
token for an acknowledgement of something new, and none for a duplicate; under way it has ns-2's 20
packets at most in III, and ten in IV, as Table III tells.</p>
'''

CHARTS = {'table1': table_1, 'table2': table_2, 'table3': table_3, 'future': future,
          'sessions': sessions}
TABLES = {}
