# SPDX-License-Identifier: BSD-3-Clause
"""Families of drawn paths with several flows: flows, tcps, scavenger."""

from .draw import (PACKETS_ABOUT, PACKETS_MOST, Case, bdp_pkts, between, chance_of, flow, link,
                   log_uniform, path, pps, report, scenario, us, window_pkts)


def flows_case(draws, number):
    """2 to 12 of our kind, with round trips one to four times apart, that start one by one."""
    seed = draws.seed(2000 + number)
    chance = chance_of(seed)
    count = chance.randint(2, 12)
    rate, base, trips, packet = path(chance, (20e6, 10e9), (2e-3, 120e-3), count, 100)
    speed = pps(rate, packet)
    span = max(100 * max(trips), min(30, PACKETS_ABOUT * 2 / speed), 6)
    if span * speed > 2 * PACKETS_MOST:
        span = max(100 * max(trips), 2 * PACKETS_MOST / speed)
    bdps = log_uniform(chance, 0.1, 3)
    loss = 0 if chance.random() < 0.5 else log_uniform(chance, 1e-5, 1e-2)
    starts = sorted(chance.uniform(0, span * 0.25) for _ in trips)
    least = min(trips)
    text = scenario(f'{count} flows', span, seed)
    text += link('R>T', rate, least / 2, max(bdps * bdp_pkts(rate, base * 2, packet), 10),
                 f'loss = {loss:.3g}' if loss else '')
    text += link('T>R', rate, least / 2, None)
    for i, rtt in enumerate(trips):
        text += link(f'S{i}-R', rate * 4, (rtt - least) / 2, None)
        text += flow(f'f{i}', f'S{i}', 'T', f'start = {us(starts[i])}',
                     *draws.agent.lines(rate, window_pkts(rate, rtt, packet), packet))
    names = ', '.join(f'f{i}' for i in range(count))
    late = between(span / 2, span)
    text += report(
        jain=f'jain({names}, {late})',
        used=f'throughput({names}, {late}) / {rate:.0f} / {1 - loss}',
        least=f'least({names}, {late}) / {rate:.0f} * {count}',
        most=f'most({names}, {late}) / {rate:.0f} * {count}',
        queue_p99=f'queue_delay(R-T, 99%, {late})',
        caused='drops(R-T) / entered(R-T)')
    return Case('flows', number, draws.offset, text, rate, max(trips), {
        'flows': count, 'least_rtt_s': least, 'queue_bdp': bdps, 'loss': loss, 'packet': packet})


def flows(draws):
    return [flows_case(draws, number) for number in range(22)]


def beside(net, rate, rtts, queue, loss, flow_lines):
    """A bottleneck R>T and a port of its own for each sender, four times faster; net: a suffix."""
    base = min(rtts)
    text = link(f'R{net}>T{net}', rate, base / 2, queue, f'loss = {loss:.3g}' if loss else '')
    text += link(f'T{net}>R{net}', rate, base / 2, None)
    for i, rtt in enumerate(rtts):
        text += link(f'S{i}{net}-R{net}', rate * 4, (rtt - base) / 2, None)
        text += flow(f'tcp{i}{net}' if i else f'ours{net}', f'S{i}{net}', f'T{net}',
                     *flow_lines(net, i))
    return text


def tcp_lines(tcp):
    return [f'agent = {tcp}', 'window = none', *(['linux = on'] if tcp == 'cubic' else [])]


def tcps_case(draws, number):
    """One of ours beside one to three TCPs, and the same with a CUBIC in our place."""
    seed = draws.seed(3000 + number)
    chance = chance_of(seed)
    kinds = [chance.choice(['cubic', 'newreno', 'bbr']) for _ in range(chance.randint(1, 3))]
    rate = log_uniform(chance, 20e6, 1.5e9)
    ours = log_uniform(chance, 4e-3, 150e-3)
    theirs = [min(max(ours * log_uniform(chance, 0.25, 4), 2e-3), 200e-3) for _ in kinds]
    span = max(min(60, 2.0e6 / pps(rate)), 15)
    bdps = log_uniform(chance, 0.1, 4)
    loss = 0 if chance.random() < 0.7 else log_uniform(chance, 1e-5, 1e-3)

    def flow_lines(net, i):
        start = chance.uniform(0, 2.0) if not net else 0.5 * i
        lines = (tcp_lines(kinds[i - 1]) if i else tcp_lines('cubic') if net else
                 draws.agent.lines(rate, window_pkts(rate, ours)))
        return [*lines, f'start = {us(start)}']

    text = scenario('beside ' + ' '.join(kinds), span, seed, f'warmup = {us(span / 4)}')
    for net in ('', 'x'):
        text += beside(net, rate, [ours, *theirs], max(bdps * bdp_pkts(rate, ours), 10), loss,
                       flow_lines)
    count = len(kinds)
    names, without = (', '.join(f'tcp{i + 1}{net}' for i in range(count)) for net in ('', 'x'))
    text += report(
        ours=f'throughput(ours) / {rate:.0f} * {count + 1}',
        cubic_in_our_place=f'throughput(oursx) / {rate:.0f} * {count + 1}',
        tcps=f'throughput({names}) / {rate:.0f} / {count} * {count + 1}',
        tcps_without_us=f'throughput({without}) / {rate:.0f} / {count} * {count + 1}',
        least_tcp=f'least({names}) / max(least({without}), 1000)',
        used='utilisation(R-T)',
        queue_p99='queue_delay(R-T, 99%)')
    return Case('tcps', number, draws.offset, text, rate, ours, {
        'queue_bdp': bdps, 'loss': loss,
        'tcps': '+'.join(f'{tcp}@{rtt * 1e3:.0f}ms' for tcp, rtt in zip(kinds, theirs))})


def tcps(draws):
    return [tcps_case(draws, number) for number in range(24)]


def files_of_tcp(chance, rate, span):
    """([start], [bytes]) until the run is nearly over."""
    starts, sizes, at = [], [], 3.0
    while at < span * 0.8:
        starts.append(at)
        sizes.append(log_uniform(chance, 0.05, 1.5) * rate / 8)
        at += chance.expovariate(1 / max(span / 12, 1.0)) + 0.3
    return starts, sizes


def scavenger_case(draws, number):
    """A scavenger beside a TCP that sends files, and the TCP alone."""
    seed = draws.seed(7000 + number)
    chance = chance_of(seed)
    rate, rtt = log_uniform(chance, 30e6, 600e6), log_uniform(chance, 5e-3, 100e-3)
    bdps = log_uniform(chance, 0.1, 3)
    span = min(50.0, PACKETS_ABOUT * 1.5 / pps(rate))
    tcp = chance.choice(['cubic', 'bbr', 'newreno'])
    theirs = min(max(rtt * log_uniform(chance, 0.3, 3), 3e-3), 150e-3)
    starts, sizes = files_of_tcp(chance, rate, span)
    base = min(rtt, theirs)
    text = scenario(f'scavenger beside on-off {tcp}', span, seed)
    for net in ('', 'x'):
        text += link(f'R{net}-T{net}', rate, base / 2, max(bdps * bdp_pkts(rate, rtt), 10))
        text += link(f'P{net}-R{net}', rate * 4, (theirs - base) / 2, None)
        text += flow(f'tcp{net}', f'P{net}', f'T{net}', *tcp_lines(tcp),
                     'starts = ' + ', '.join(map(us, starts)),
                     'sizes = ' + ', '.join(f'{size:.0f}' for size in sizes))
    text += link('S-R', rate * 4, (rtt - base) / 2, None)
    text += flow('f', 'S', 'T',
                 *draws.agent.lines(rate, window_pkts(rate, rtt), share='scavenger'))
    late = between(3, span)
    text += report(
        as_long_as_alone='took(tcp) / took(tcpx)',
        done='finished(tcp) / max(finished(tcpx), 1)',
        of_what_is_left=f'throughput(f, {late}) / ({rate:.0f} - throughput(tcpx, {late}))')
    return Case('scavenger', number, draws.offset, text, rate, rtt, {
        'queue_bdp': bdps, 'tcp': f'{tcp}@{theirs * 1e3:.0f}ms', 'files': len(starts)})


def scavenger(draws):
    return [scavenger_case(draws, number) for number in range(8)]
