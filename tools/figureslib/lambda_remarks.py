# SPDX-License-Identifier: BSD-3-Clause
"""Why something is not as lambda-tcp.txt has it, with the numbers of the experiment."""

from .remarks import Remark


def printed_for_another_round_trip(results):
    areas = results['lambda-fig04']

    def edge(rtt):
        return min(point.number('edge') for point in areas.at(rtt=rtt, side=1)) / 1e6

    return (f'(4) with 0.5 MB and 1 Gb/s is {edge(0.15):.1f} Mb/s at 150 ms, and {edge(0.1):.1f} '
            f'at 100 ms, where the printed 45 belongs: 47.6 with the 567 kB of (1). Bursts of such '
            f'windows agree with (4) on both sides of each edge (lambda-fig04).')


def two_tcps(results):
    others, first = results['lambda-others'], results['lambda-first']

    def megabits(case):
        return f'{others.one(case=case).number("throughput") / 1e6:.1f}'

    tuned = ' and '.join(f'{point.number("throughput") / 1e6:.0f}' for point in first.at(streams=1))
    return (f'What was tuned is not told. A Reno gets {megabits("untuned")} Mb/s with delayed '
            f'acknowledgements and {megabits("prompt")} without, the TCPs with SACK {tuned}; 80 is '
            f'between, and it is 2 M / R.')


def one_host(results):
    result = results['lambda-fig07']

    def full(delayed):
        return f'{min(point.number("full from") for point in result.at(delayed=delayed)):g}'

    return (f'What a slow start leaves in the device\'s queue is half a window if each segment is '
            f'acknowledged, and a quarter if every second one is: with the ring of 256 the window '
            f'of 618 Mb/s fits from {full("off")} packets on, and from {full("on")}. The paper\'s '
            f'1500 is between. The ring is that by which Fig. 12 leaves discovery at 80 Mb/s; '
            f'without a ring and with delayed acknowledgements Fig. 7 would be full from 1400, and '
            f'Fig. 12 would leave discovery at 45 Mb/s and recover at half a segment a round trip.')


REMARKS = (
    Remark('first', {'a single stream before tuning': (55, 100)},
           ('lambda-others', 'lambda-first'), two_tcps),
    Remark('fig7', {'performance increases until about': (1000, 2000)}, ('lambda-fig07',),
           one_host),
    Remark('fig4', {'the end-to-end throughput at 150 ms': (27, 28)}, ('lambda-fig04',),
           printed_for_another_round_trip),
)
