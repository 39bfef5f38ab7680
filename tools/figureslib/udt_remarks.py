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


REMARKS = (
    Remark('table3', {('AC', x): (82, None) for x in (120, 140, 160, 180)},
           ('udt-fig04-warnings',), delay_warnings),
    Remark('table3', {('AB', 80): (None, 125)}, ('udt-fig04', 'udt-fig04-warnings'),
           idle_in_the_paper),
    Remark('fig17', {"they share fairly: Jain's index": (0.7, None)}, ('udt-fig17',), classes),
)
