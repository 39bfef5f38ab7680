# SPDX-License-Identifier: BSD-3-Clause
"""Why something is not as periodic-exchange.txt has it, and the experiment that shows it."""

from .remarks import Remark


def percent(result, label='throughput', **sweep):
    return f'{100 * result.one(**sweep).number(label):.1f} %'


def knee(results):
    result = results['pxp-fig04']
    at = {'agent': 'pxp', 'single': 'off'}
    return (f'At 80 us every process is busy for as long as packets arrive: what trans spends on '
            f'states, two hundred a second and 1.6 % of its time, on packets that go again '
            f'({percent(result, "overhead", process=8e-5, **at)}), and on waiting where arrivals '
            f'leave a gap is missing. From 75 us on nothing is: '
            f'{percent(result, process=7.5e-5, **at)} there and '
            f'{percent(result, process=6e-5, **at)} at 60 us, of an offer that chance made a '
            f'little more than 12,500 a second. The knee is where the paper has it, and its '
            f'corner is round.')


def old_window(results):
    windows, times = results['pxp-fig05'], results['pxp-fig04']
    return (f'With 512 packets the window is no limit any more: the processes are, which take '
            f'{percent(windows, "overhead", agent="pack", window=512)} of what is sent for the '
            f'second time. At 60 us, with the window of 1024, it is '
            f'{percent(times, agent="pack", single="off", process=6e-5)} that get through, and '
            f'{percent(windows, agent="pack", window=1024)} at 80 us (pxp-fig04). Where the paper '
            f'still gains, its processes must have had time to spare.')


def small_windows(results):
    windows, periods = results['pxp-fig05'], results['pxp-period']
    hops, kinds = results['pxp-hops'], results['pxp-pack']
    return (f'With a window of 64 what decides is how soon its lower edge moves, and a state says '
            f'so half a period later in the mean than an acknowledgement: '
            f'{percent(windows, agent="pxp", window=64)} with one each 5 ms, '
            f'{percent(periods, period=0.001, window=64)} with one each millisecond (pxp-period). '
            f'And the second copies of the old method, useless otherwise, overtake what is slow '
            f'when the line is idle: where one packet is acknowledged alone there are few, and it '
            f'has {percent(kinds, window=64, in_order="off")} (pxp-pack), not '
            f'{percent(windows, agent="pack", window=64)}. Without any chance in the network '
            f'both are faster, and in the same order: '
            f'{percent(hops, hops=1, window=64, agent="pxp")} and '
            f'{percent(hops, hops=1, window=64, agent="pack")} (pxp-hops). From 512 on the new '
            f'method is ahead.')


def one_point(results):
    result = results['pxp-fig06']

    def at(step):
        return percent(result, agent='pack', net=0.01, step=step)

    return (f'Below its best the old method falls as the paper says, from {at(4)} at 40 ms to '
            f'{at(2)} at 30 and {at(0)} at 20. Above it hardly does, {at(6)} at 50 ms: a loss '
            f'holds up the acknowledgements of all that follows for a round trip, whatever the '
            f'timeout, so that the overhead stays at '
            f'{percent(result, "overhead", agent="pack", net=0.01, step=6)}, and the processes '
            f'remain what limits it. Of the new method, whose window is the limit, longer '
            f'timeouts cost more.')


def twenty(results):
    result = results['pxp-fig06']

    def span(agent):
        return (f'{percent(result, agent=agent, net=0.02, step=4)} at 60 ms and '
                f'{percent(result, agent=agent, net=0.02, step=6)} at 70')

    return (f'The new method is as sensitive as the paper has it, {span("pxp")}; for the old one, '
            f'with {span("pack")}, 60 ms are still too early: a round trip of 40 ms and the '
            f'timers of the 250 packets that a loss holds up.')


REMARKS = (
    Remark('fig4', {'periodic exchange almost stops gaining at 80 us: throughput at 60 over at 80':
                    (None, 1.06)}, ('pxp-fig04',), knee),
    Remark('fig5', {'the old one does not: 1024 over 512': (0.97, None)},
           ('pxp-fig05', 'pxp-fig04'), old_window),
    Remark('fig5', {'periodic exchange above positive acknowledgement at every window: least ratio':
                    (0.85, None)}, ('pxp-period', 'pxp-pack', 'pxp-hops'), small_windows),
    Remark('fig6', {'its maximum is one point: 10 ms, 50 ms over 40': (None, 1.03)},
           ('pxp-fig06',), one_point),
    Remark('fig6', {'at 20 ms both are about as sensitive: old, 60 ms over 70': (0.8, 1.1)},
           ('pxp-fig06',), twenty),
)
