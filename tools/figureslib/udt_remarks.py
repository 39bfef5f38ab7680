# SPDX-License-Identifier: BSD-3-Clause
"""Why something is not as udt.txt has it, with the numbers of the experiment that shows it."""

from .remarks import Remark


def megabits(result, label, **sweep):
    return ', '.join(f'{value / 1e6:.1f}' for value in result.series('x', label, **sweep)[1])


def delay_warnings(results):
    result = results['udt-fig04-warnings']
    x = [120e6, 140e6, 160e6, 180e6]
    return (f'From x = 120 Mb/s on both flows are of one class, and the paper has each at half, '
            f'{98.47 + 100.8:.1f} Mb/s in all. Delay warnings keep ours from that: they slow a '
            f'flow down before the queue is full, and not both at once. udt-fig04-warnings has '
            f'both: AC gets {megabits(result, "AC", warning="on", x=x)} Mb/s with warnings, and '
            f'without them {megabits(result, "AC", warning="off", x=x)}, as published. Below '
            f'x = 100 Mb/s it is the other way round, and warnings bring AC nearer to the paper.')


def idle_in_the_paper(results):
    point = results['udt-fig04'].one(formula3='off', x=80e6)
    ab, ac = point.number('AB') / 1e6, point.number('AC') / 1e6
    quiet = results['udt-fig04-warnings'].one(warning='off', x=80e6).number('sum') / 1e6
    return (f'At x = 80 Mb/s the published AB and AC make {108.4 + 73.49:.1f} Mb/s: of the 200 '
            f'that they share 18 would lie idle, where all other columns of both tables leave '
            f'10 at most. Ours make {ab + ac:.1f}, and {quiet:.1f} without delay warnings '
            f'(udt-fig04-warnings): AC is where the paper has it, and AB takes what AC leaves, as '
            f'at x = 60 and 100. 108.4 may be a misprint.')


def classes(results):
    result = results['udt-fig17']
    on, off = (result.one(formula3=switch).number('jain') for switch in ('on', 'off'))
    return (f'By (3) they cannot: a ninth of OC-12 is 66.6 Mb/s and of Ethernet 108.4, which lie '
            f'in the classes of 10^8 and 10^9 bits per second, so that after each decrease the '
            f'flow to Canarie recovers with a tenth of the others\' steps. It is the unfairness of '
            f'Table 1. Without (3), the other half of the scenario, Jain\'s index is {off:.2f} '
            f'instead of {on:.2f}. In the real networks the pairs of packets may have told of less '
            f'than 900 Mb/s, which puts all three into one class.')


def small_capacities(results):
    result = results['udt-fig01']
    per = result.one(rate=1e5, rtt=0.001).number('data per control packet')
    used = ', '.join(f'{100 * value:.1f}' for value in
                     result.series('rtt', 'second half', rate=1e6, rtt=[0.001, 0.01, 0.1])[1])
    return (f'Up to 1 Mb/s no more than one packet goes in a SYN, and each is answered: there are '
            f'{per:.1f} data packets for each ACK, as III E has it, and the ACK2 that goes the '
            f'way of the data is 85 bytes to their 1500, 5.7 %. At 1 Mb/s {used} % of the line '
            f'are new payload with 1, 10 and 100 ms; with it the line is full.')


def repetition(results):
    result = results['udt-fig02']
    point, one = (result.one(flows=flows) for flows in (400, 1))
    return (f'The line is ever busier, {100 * point.number("utilisation"):.0f} % with 400 flows, '
            f'but {100 * point.number("retransmitted"):.0f} % of what they send goes again, as '
            f'each takes another packet in a SYN however small its share; '
            f'{100 * point.number("new payload"):.1f} % of the line are new payload, and '
            f'{100 * one.number("new payload"):.1f} % with one flow. If the paper counted what '
            f'the line carries, it is as printed.')


def table_2_classes(results):
    result = results['udt-fig08']
    on, off = (result.one(formula3=switch).number('4') / 1e6 for switch in ('on', 'off'))
    return (f'A ninth of flow 4\'s 50 Mb/s is in the class of 10^7 bits per second and of the '
            f'others\' 100 in that of 10^8, so that by (3) it recovers with a tenth of their '
            f'steps, as in Table 1: {on:.1f} Mb/s, and {off:.1f} without (3). The capacities of '
            f'Fig. 8 are lost; in the paper\'s chain this flow may have been in one class with '
            f'flow 5.')


def left_by_flow_4(results):
    result = results['udt-fig08']
    (four, five), (_, off) = ([result.one(formula3=switch).number(flow) / 1e6 for flow in '45']
                              for switch in ('on', 'off'))
    return (f'Flow 5 has what flow 4 leaves: {five:.1f} Mb/s, with flow 4 {four + five:.1f}, where '
            f'the paper has {41.7 + 50.8:.1f}; and {off:.1f} without (3).')


def longest_queue(results):
    result = results['udt-fig11']
    tcp = [result.one(udts=1, discipline='droptail', queue=pkts).number('tcp') / 1e6
           for pkts in (640, 1000)]
    return (f'TCP has {tcp[0]:.1f} Mb/s behind 640 packets and {tcp[1]:.1f} behind 1000: a '
            f'matter of a few bytes, for with a handshake of 20 bytes less it had 71.4 and 67.4.')


def two_beside_two(results):
    result = results['udt-fig19']
    beside, alone = (result.one(udts=udts).number('two TCPs') / 1e6 for udts in (2, 0))
    return (f'Two TCPs have {beside:.1f} Mb/s of {alone:.1f}, by a few bytes: with a '
            f'handshake of 20 bytes less they had 48.8, 77 %.')


REMARKS = (
    Remark('fig1', {'the same of small capacities, up to 1 Mb/s': (90, None)}, ('udt-fig01',),
           small_capacities),
    Remark('fig2', {'the line is used more as flows become many: new payload of 400 over that of '
                    'one': (0.92, None)}, ('udt-fig02',), repetition),
    Remark('table3', {('AC', x): (82, None) for x in (120, 140, 160, 180)},
           ('udt-fig04-warnings',), delay_warnings),
    Remark('table3', {('AB', 80): (None, 125)}, ('udt-fig04', 'udt-fig04-warnings'),
           idle_in_the_paper),
    Remark('table2', {('throughput', '4'): (30, 41.7)}, ('udt-fig08',), table_2_classes),
    Remark('table2', {('throughput', '5'): (50.8, 60)}, ('udt-fig08',), left_by_flow_4),
    Remark('fig11', {'with DropTail ever less beyond: 1000 packets over 640': (None, 1.05)},
           ('udt-fig11',), longest_queue),
    Remark('fig19', {"what UDT leaves to them (the paper's own two numbers make 77 %)":
                     (None, 90)}, ('udt-fig19',), two_beside_two),
    Remark('fig17', {"they share fairly: Jain's index": (0.62, None)}, ('udt-fig17',), classes),
)
