# SPDX-License-Identifier: BSD-3-Clause
"""
The family class: each case is a question to the controller, and nothing in it is drawn. It has the
same cases at every offset.
"""

from itertools import count

from .draw import Case, bdp_pkts, between, flow, line, link, report, scenario, us, window_pkts


def one(draws, rate, rtt, bdps, port, there=(), host=(), packet=1500, share=None):
    """(links and a flow f from A to B, the bottleneck, its near node)"""
    product = bdp_pkts(rate, rtt, packet)
    links, name, near = line(draws, rate, rtt, max(bdps * product, 16), port, there)
    lines = draws.agent.lines(rate, window_pkts(rate, rtt, packet), packet, host, share)
    return links + flow('f', 'A', 'B', *lines), name, near


def jitter_at_the_start(draws):
    """Jitter may bias what the train measures: lost in the first round trips."""
    rate, rtt = 500e6, 40e-3
    for wait, port in ((0.05e-3, 10), (0.3e-3, 10), (1e-3, 10), (1e-3, None), (3e-3, 10)):
        text, name, _ = one(draws, rate, rtt, 1, port and port * rate,
                            ('hops = 2', 'hop_service = 0us', f'hop_wait = {us(wait)}'))
        kind = f'jitter-start-{wait * 1e3:g}ms-{"fast" if port else "same"}port'
        yield kind, 10, rate, rtt, 0.95, text + report(
            bdps_lost=f'drops({name}, {between(0, 10 * rtt)}) / {bdp_pkts(rate, rtt):.6g}',
            value=f'throughput(f, {between(5, 10)}) / {rate:.0f}',
            queue_p99=f'queue_delay({name}, 99%, {between(5, 10)})')


def shares_at_any_rate(draws):
    """Three flows share alike on both sides of 1.15 Gb/s, and ten times as fast."""
    rtt = 30e-3
    for rate in (1.0e9, 1.16e9, 1.3e9, 11.6e9):
        packet = 1500 if rate < 5e9 else 9000
        product = bdp_pkts(rate, rtt, packet)
        text = link('R-T', rate, rtt / 2, product) + link('S-R', rate * 5, 0, None)
        for i in range(3):
            text += flow(f'f{i}', 'S', 'T', f'start = {3 * i}s',
                         *draws.agent.lines(rate, 8 * product, packet))
        yield f'unit-{rate / 1e9:g}G', 20, rate, rtt, 0.97, text + report(
            value='jain(f0, f1, f2, 12s, 20s)',
            least=f'least(f0, f1, f2, 12s, 20s) / {rate:.0f} * 3',
            used='utilisation(R-T, 12s, 20s)')


def falling_lines(draws):
    """A line falls to a tenth or less: nobody else is there."""
    for rate, low, rtt in ((600e6, 30e6, 40e-3), (300e6, 30e6, 80e-3)):
        text, name, _ = one(draws, rate, rtt, 1, 4 * rate, (f'rate_steps = {low:.0f} at 5s',))
        yield f'falls-{rate / low:.0f}x', 40, rate, rtt, 0.95, text + report(
            value=f'throughput(f, 15s, 40s) / {low:.0f}',
            queue_p99=f'queue_delay({name}, 99%, 15s, 40s)',
            queue_p50=f'queue_delay({name}, 50%, 15s, 40s)',
            caused=f'drops({name}, 15s, 40s) / entered({name}, 15s, 40s)')


def others_on_and_off(draws):
    """Others that do not react and have half of the line in the mean, in bursts."""
    rate, rtt = 400e6, 40e-3
    for length, agent in (('50ms', 'exponential'), ('500ms', 'exponential'), ('200ms', 'pareto')):
        text, name, near = one(draws, rate, rtt, 1, 4 * rate)
        text += flow('x', near, 'B', f'agent = {agent}', f'rate = {rate * 0.8:.0f}',
                     f'on = {length}', f'off = {length}')
        yield f'onoff-{agent}-{length}', 30, rate, rtt, 0.8, text + report(
            value=f'throughput(f, 5s, 30s) / ({rate:.0f} - throughput(x, 5s, 30s))',
            queue_p99=f'queue_delay({name}, 99%, 5s, 30s)',
            queue_p50=f'queue_delay({name}, 50%, 5s, 30s)',
            caused=f'drops({name}) / entered({name})')


def other_tcps(draws):
    """TCPs that are in no bar."""
    rate, rtt = 300e6, 30e-3
    for tcp in ('vegas', 'highspeed', 'sack'):
        text, name, near = one(draws, rate, rtt, 1, 4 * rate)
        text += flow('x', near, 'B', f'agent = {tcp}', 'window = none', 'start = 1s')
        half = f'{rate / 2:.0f}'
        yield f'beside-{tcp}', 45, rate, rtt, 0.5, text + report(
            value=f'min(throughput(f, 15s, 45s), throughput(x, 15s, 45s)) / {half}',
            ours=f'throughput(f, 15s, 45s) / {half}',
            theirs=f'throughput(x, 15s, 45s) / {half}',
            queue_p99=f'queue_delay({name}, 99%, 15s, 45s)')


def two_bottlenecks(draws):
    """One flow over both, one over each."""
    rate, rtt = 300e6, 20e-3
    text = link('X-Y, Y-Z', rate, rtt / 2, bdp_pkts(rate, 2 * rtt))
    text += link('A-X, C-X, D-Y', 2e9, 0, None)
    for name, start, end in (('long', 'A', 'Z'), ('one', 'C', 'Y'), ('two', 'D', 'Z')):
        text += flow(name, start, end, *draws.agent.lines(rate, 16384))
    yield 'parking-lot', 30, rate, rtt, 0.5, text + report(**{
        'value' if name == 'long' else name: f'throughput({name}, 10s, 30s) / {rate / 2:.0f}'
        for name in ('long', 'one', 'two')})


def full_way_back(draws):
    """A CUBIC fills the path of our reports."""
    rate, rtt = 300e6, 30e-3
    text = link('A-R, C-T', 4 * rate, 0, None)
    text += link('R-T', rate, rtt / 2, 2 * bdp_pkts(rate, rtt))
    text += flow('f', 'A', 'T', *draws.agent.lines(rate, 16384))
    text += flow('x', 'C', 'R', 'agent = cubic', 'linux = on', 'window = none')
    yield 'way-back-full', 30, rate, rtt, 0.95, text + report(
        value=f'throughput(f, 5s, 30s) / {rate:.0f}',
        queue_p99='queue_delay(R-T, 99%, 5s, 30s)',
        back=f'throughput(x, 5s, 30s) / {rate:.0f}')


def bursts_of_a_host(draws):
    """A host that is away sends 64 packets at once, from a port ten times as fast."""
    rate, rtt = 2e9, 20e-3
    for away in (2e-3, 10e-3):
        host = (f'sender_away = {us(away)}', f'sender_here = {us(8 * away)}', 'burst = 64')
        text, name, _ = one(draws, rate, rtt, 0.5, 10 * rate, host=host, packet=9000)
        yield f'host-bursts-{away * 1e3:g}ms', 8, rate, rtt, 0.9, text + report(
            value=f'throughput(f, 2s, 8s) / {rate:.0f}',
            queue_p99=f'queue_delay({name}, 99%, 2s, 8s)',
            caused=f'drops({name}) / entered({name})')


def clocks_and_loss(draws):
    """Clocks that run apart make a queue that is none, while the line loses."""
    rate, rtt = 1e9, 82e-3
    for skew, loss, share in ((80e-6, 0.002, 'dedicated'), (80e-6, 0.01, 'dedicated'),
                              (80e-6, 0.007, 'fair'), (20e-6, 0.01, 'dedicated')):
        host = (f'sender_skew = {-skew}', f'receiver_skew = {skew}', 'sender_offset = 7s')
        text, name, _ = one(draws, rate, rtt, 1, 6 * rate, (f'loss = {loss}',), host, share=share)
        kind = f'skew-{skew * 1e6:g}ppm-loss-{loss * 100:g}%-{share}'
        yield kind, 8, rate, rtt, 0.97, text + report(
            value=f'throughput(f, 3s, 8s) / {rate:.0f} / {1 - loss}',
            queue_p99=f'queue_delay({name}, 99%, 3s, 8s)')


QUESTIONS = (jitter_at_the_start, shares_at_any_rate, falling_lines, others_on_and_off, other_tcps,
             two_bottlenecks, full_way_back, bursts_of_a_host, clocks_and_loss)


def posed(draws):
    numbers, cases = count(), []
    for question in QUESTIONS:
        for kind, span, rate, rtt, want, text in question(draws):
            number = next(numbers)
            text = scenario(f'class: {kind}', span, 8000 + number) + text
            cases.append(Case('class', number, draws.offset, text, rate, rtt,
                              {'kind': kind, 'want': want}))
    return cases
