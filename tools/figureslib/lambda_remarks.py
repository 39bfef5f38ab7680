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


REMARKS = (
    Remark('fig4', {'the end-to-end throughput at 150 ms': (27, 28)}, ('lambda-fig04',),
           printed_for_another_round_trip),
)
