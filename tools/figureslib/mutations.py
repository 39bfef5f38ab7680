# SPDX-License-Identifier: BSD-3-Clause
"""
What shows that a paper's rows are of its rules: a rule is switched off by an option or a setting
of a scenario, and rows that hold with it must not hold without it.
"""

from collections import namedtuple

from . import published
from .runs import Run, result_of

# `size`: settings that keep both runs short. `off`: what switches the rule off. `rows`: statements
# of the part by their words, or entries of its table as (row, column).
Mutation = namedtuple('Mutation', 'rule scenario size off part rows')

ONCE = 'scenario.repeat=1'

MUTATIONS = {
    'udt': (
        Mutation('(3) recovers by the class of a ninth of the capacity', 'udt-fig04',
                 ('sweep.x=80M', 'sweep.formula3=on', ONCE), ('udt.formula3=off',), 'table1',
                 (('AB', 80), ('AC', 80))),
        Mutation('(4) raises the rate by what is free', 'udt-fig07',
                 (), ('udt.beta=1e-12',), 'fig7',
                 ('UDT finds what is left each time, and is stable there',)),
        Mutation('(7) a loss lowers the rate', 'udt-fig03', ('sweep.rate : rtt=100M : 1ms',),
                 ('udt.decrease=1',), 'fig3',
                 ('flows of different age come to equal shares and stay there',)),
        Mutation('the rate rises each 10 ms', 'udt-fig07', (), ('udt.syn=100ms',), 'fig7',
                 ('UDT finds what is left each time, and is stable there',)),
        Mutation('acknowledgements go each 10 ms', 'udt-fig01',
                 ('sweep.rate=1G', 'sweep.rtt=10ms', 'scenario.duration=10s'), ('udt.syn=100ms',),
                 'fig1', ('data packets per ACK, and per ACK2, at 1 Gb/s and 1500 bytes',)),
    ),
    'ttp': (
        Mutation('congestion halves the rate', 'ttp-fig15', (), ('ttp.decrease=1.000001',),
                 'fig15',
                 ('the rate is halved when congestion is detected: after over before, 50 ms of '
                  'overload',)),
        Mutation('a bitmap without loss raises the rate', 'ttp-fig15', (), ('ttp.increase=1',),
                 'fig15', ('and rises by constant steps when no loss is seen',)),
        Mutation('chunks are encoded for the loss', 'ttp-fig21', (), ('ttp.initial_loss=0',),
                 'fig21',
                 ('the first chunk has more repair than that: over the rest, first 3 s',)),
        Mutation('the rate has a least', 'ttp-fig10', ('sweep.size=30M', 'sweep.loss=2%', ONCE),
                 ('flow file.min_rate=100K',), 'fig10', ('TTP before PSOCK in every run: least',)),
    ),
    'lambda': (
        Mutation("the switch's memory is bounded, (1)", 'lambda-fig02', ('sweep.packets=5000',),
                 ('link S-T.queue_bytes=1000000000',), 'fig2',
                 ('one in three is dropped after the first loss, 1 Gb/s',
                  'one in three is dropped after the first loss, the 900 Mb/s that the PC sends')),
        Mutation('and so there is an area between the rates, (4)', 'lambda-fig04', (),
                 ('link S-T.queue_bytes=1000000000',), 'fig4', ('a burst is lost inside of it',)),
        Mutation('a full device queue is congestion', 'lambda-fig07',
                 ('sweep.txq=100,1500', 'sweep.delayed=off'),
                 ('flow tcp.device_queue=none',), 'fig7',
                 ('by several factors, from the default of 100 to 1500: times',)),
        Mutation('limited slow start', 'lambda-pace',
                 ('sweep.limit=100,0', 'sweep.pace=on'),
                 ('hstcp.max_ssthresh=0',), 'fig8',
                 ('limited slow start loses no large number: a tenth of what slow start does, '
                  'paced, at most',)),
        Mutation('packets are paced', 'lambda-fig08',
                 ('sweep.buffer=16MiB', 'sweep.gap=0us,5us,7.3us'), ('link A-S.rate=1G',),
                 'fig8', ("paced at the bottleneck's speed nothing is lost",
                          'a gap of 5 us is better with a large buffer: times, 16 MB')),
        Mutation('AIMD of RFC 3649', 'lambda-recovery',
                 ('sweep.aimd=on',), ('hstcp.aimd=off',),
                 'fig12', ('and back, 45 s later',)),
    ),
    'sttp': (
        Mutation('the pair fills the bucket', 'sttp-burst', (), ('flow f.span=1ns',), 'burst',
                 ('packets that leave at once, of eight', 'STTP: the last acknowledgement')),
        Mutation('round trips scale the bucket', 'sttp-cbr', (), ('flow f.history=1',), 'scaling',
                 ('what sigma becomes, 14.888 rounded',)),
        Mutation('and so few are lost', 'sttp-table3',
                 ('sweep.n=20,50', 'sweep.who : agent : window=sttp : sttp_agent : 10'),
                 ('flow f.history=1',), 'table3', (('dropped kB', 20), ('dropped kB', 50))),
    ),
    'pxp': (
        Mutation('the complete state goes each 5 ms', 'pxp-fig05',
                 ('sweep.window=64', 'scenario.duration=3.5s'), ('pxp.period=100ms',), 'fig5',
                 ('throughput within the axis, 10 to 80 %: least',)),
        Mutation('a busy receiver delays it', 'pxp-slow',
                 ('sweep.load=0,1', 'sweep.loss=1e-3', 'scenario.duration=3.5s'),
                 ('pxp.load=0',), 'fig4',
                 ('a receiver that is busy delays its states, and there is no retransmission '
                  'avalanche',)),
        Mutation('tasks have processors of their own', 'pxp-fig04',
                 ('sweep.process=80us', 'scenario.duration=3.5s'), ('flow data.cores=1',), 'fig4',
                 ('the parallel front end enhances it: at 80 us over one processor an end',)),
    ),
}


def held(top, described, mutation, result):
    """{row: whether it holds}, of the mutation's rows; None where the run cannot say."""
    part = next(part for part in described['parts'] if part['id'] == mutation.part)
    results = {mutation.scenario: result}
    found = {claim['says']: published.verdict(top, results, claim).holds
             for claim in part['claims'] if claim['says'] in mutation.rows}
    if 'table' in part:
        found |= {(entry.row, entry.column): entry.within
                  for entry in published.entries(results, part['table'])}
    return {row: found.get(row) for row in mutation.rows}


def run_all(runner, mutations):
    """{run: result}, each once; a rule's run has its settings behind those of the size."""
    wanted = {Run(one.scenario, 1, one.size + off)
              for one in mutations for off in ((), one.off)}
    return {run: result_of(run.scenario, text) for run, text, _ in runner.all(wanted, True)}


def judged(top, described, mutations, results):
    """(mutation, rows that do not turn red, as sentences)"""
    for one in mutations:
        rows = {off: held(top, described, one, results[Run(one.scenario, 1, one.size + off)])
                for off in ((), one.off)}
        faults = [f'"{row}" does not hold with the rule' for row, ok in rows[()].items() if not ok]
        faults += [f'"{row}" holds without the rule' for row, ok in rows[one.off].items() if ok]
        yield one, faults
