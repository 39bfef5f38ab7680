# SPDX-License-Identifier: BSD-3-Clause
"""Families of drawn paths with one flow: single, changes, aqm, short."""

from .draw import (PACKETS_ABOUT, Case, bdp_pkts, between, chance_of, flow, line, log_uniform, path,
                   port_of, pps, report, scenario, us, window_pkts)


def troubles(chance, rtt):
    """(lines of the link, lines of the flow, kinds): reordering, jitter, clocks, absences."""
    link, host, kinds = [], [], []
    if chance.random() < 0.2:
        kinds.append('reorder')
        link += [f'reorder = {log_uniform(chance, 1e-4, 0.05):.3g}',
                 f'reorder_delay = {us(min(log_uniform(chance, 100e-6, 10e-3), rtt))}']
    if chance.random() < 0.25:
        kinds.append('jitter')
        link += [f'hops = {chance.choice([1, 2, 3])}', 'hop_service = 0us',
                 f'hop_wait = {us(log_uniform(chance, 20e-6, 3e-3))}']
    if chance.random() < 0.3:
        kinds.append('skew')
        host += [f'sender_skew = {chance.uniform(-200e-6, 200e-6):.3g}',
                 f'receiver_skew = {chance.uniform(-200e-6, 200e-6):.3g}', 'sender_offset = 7s']
    if chance.random() < 0.25:
        kinds.append('away')
        side = chance.choice(['sender', 'receiver'])
        host += [f'{side}_away = {us(log_uniform(chance, 50e-6, 4e-3))}',
                 f'{side}_here = {us(log_uniform(chance, 5e-3, 200e-3))}', 'burst = 32']
    return link, host, kinds


def loss_lines(loss, burst=1):
    lines = [f'loss = {loss:.3g}'] if loss else []
    return lines + ([f'loss_burst = {burst}'] if burst > 1 else [])


def ratio(port, rate):
    return 'same' if port is None else f'{port / rate:.2g}x'


def single_case(draws, number):
    """One flow for at least thirty round trips."""
    seed = draws.seed(1000 + number)
    chance = chance_of(seed)
    rate, rtt, _, packet = path(chance, (20e6, 40e9), (2e-3, 400e-3))
    span = max(30 * rtt, 1.0, min(12.0, PACKETS_ABOUT / pps(rate, packet)))
    bdps = log_uniform(chance, 0.05, 5)
    product = bdp_pkts(rate, rtt, packet)
    queue = max(bdps * product, 8)
    loss = 0 if chance.random() < 0.35 else log_uniform(chance, 1e-5, 2e-2)
    burst = round(log_uniform(chance, 2, 30)) if loss and chance.random() < 0.35 else 1
    port = port_of(chance, rate)
    back = loss_lines(loss if loss and chance.random() < 0.5 else 0)
    there, host, kinds = troubles(chance, rtt)
    links, name, _ = line(draws, rate, rtt, queue, port, loss_lines(loss, burst) + there, back)
    lines = draws.agent.lines(rate, max(8 * product + 2 * queue, 4096), packet, host)
    late = between(span / 2, span)
    text = scenario(f'single {number}', span, seed) + links + flow('f', 'A', 'B', *lines) + report(
        whole=f'throughput(f, {between(3.5 * rtt, span)}) / {rate:.0f} / '
              f'(1 - lost({name}) / entered({name}))',
        steady=f'throughput(f, {late}) / {rate:.0f} / '
               f'(1 - lost({name}, {late}) / max(entered({name}, {late}), 1))',
        queue_p99=f'queue_delay({name}, 99%, {late})',
        caused=f'drops({name}) / entered({name})',
        bdps_lost=f'drops({name}) / {product:.6g}',
        needless='' if draws.agent.is_tcp else 'needless(f) / sent(f)')
    return Case('single', number, draws.offset, text, rate, rtt, {
        'queue_bdp': bdps, 'loss': loss, 'burst': burst, 'packet': packet,
        'port': ratio(port, rate), 'with': '+'.join(kinds) or '-'})


def single(draws):
    return [single_case(draws, number) for number in range(64)]


CHANGES = ('down', 'up', 'steps', 'sawtooth', 'wifi', 'wifi', 'starlink', 'starlink', 'outage',
           'outage', 'longer', 'shorter', 'lte', 'downup')

WIFI = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)  # share of the best rate that each coding has


def rate_steps(chance, kind, rate, span):
    """[(when, rate)]"""
    if kind == 'down':
        return [(span * 0.4, rate * chance.uniform(0.1, 0.5))]
    if kind == 'up':
        return [(span * 0.4, rate * chance.uniform(2, 8))]
    if kind == 'downup':
        return [(span * 0.35, rate * 0.3), (span * 0.6, rate * 1.6)]
    if kind == 'steps':
        return [(span * (0.15 + 0.1 * i), rate * log_uniform(chance, 0.2, 2)) for i in range(8)]
    if kind == 'sawtooth':
        return [(span * (0.1 + 0.9 * i / 30), rate * (1 - 0.7 * ((i % 10) / 10)))
                for i in range(30)]
    if kind == 'starlink':
        return [(15.0 * i + 3.75 * quarter, rate * chance.uniform(0.35, 1.0))
                for i in range(4) for quarter in range(4) if i + quarter]
    steps = []
    if kind == 'wifi':
        coding = 4
        for i in range(30):
            coding = min(max(coding + chance.choice([-2, -1, -1, 0, 1, 1, 2]), 0), 6)
            steps.append((span * (0.05 + 0.94 * i / 30), rate * WIFI[coding]))
    if kind == 'lte':
        now = rate * 0.5
        for i in range(31):
            now = min(max(now * log_uniform(chance, 0.5, 2), rate * 0.05), rate)
            steps.append((span * (0.05 + 0.94 * i / 31), now))
    return steps


def other_changes(chance, kind, rtt, span):
    """([(when, delay)], lines of the link)"""
    if kind == 'starlink':
        delays = [(15.0 * i, chance.uniform(0.8, 1.6) * rtt / 2) for i in range(1, 4)]
        away = ', '.join(f'{us(chance.uniform(0.04, 0.12))} at {us(15.0 * i)}' for i in range(1, 4))
        return delays, [f'outage = {away}']
    if kind == 'wifi':
        return [], ['hops = 1', 'hop_service = 0us',
                    f'hop_wait = {us(log_uniform(chance, 0.2e-3, 2e-3))}']
    if kind == 'outage':
        return [], [f'outage = 1s at {us(span * 0.4)}']
    if kind in ('longer', 'shorter'):
        return [(span * 0.4, 3 * rtt / 2 if kind == 'longer' else rtt / 6)], []
    return [], []


def bits_between(rate, steps, start, end):
    """What the line could carry."""
    at, now, bits = start, rate, 0.0
    for when, value in steps:
        if when <= start:
            now = value
            continue
        bits += (when - at) * now
        at, now = when, value
    return bits + (end - at) * now


def after_change(kind, rate, steps, rtt, span, loss):
    """The share of the line after one change, once there was time to find it."""
    wait = {'outage': 1 + 10 * rtt, 'longer': 30 * rtt, 'shorter': 30 * rtt, 'up': 20 * rtt,
            'down': 20 * rtt}.get(kind)
    if wait is None:
        return ''
    line_rate = steps[0][1] if kind in ('up', 'down') else rate
    return f'throughput(f, {between(span * 0.4 + wait, span)}) / {line_rate:.0f} / {1 - loss}'


def changes_case(draws, number, kind):
    """The line's rate or delay changes, or it is gone for a second."""
    seed = draws.seed(4000 + number)
    chance = chance_of(seed)
    rtt = log_uniform(chance, 8e-3, 120e-3)
    bdps = log_uniform(chance, 0.2, 2)
    rate = log_uniform(chance, 60e6, 800e6)
    span = min(24.0, 2.2e6 / pps(rate))
    if kind == 'starlink':
        rate, rtt, span = chance.uniform(80e6, 300e6), chance.uniform(28e-3, 55e-3), 60.0
    loss = 0 if chance.random() < 0.6 else log_uniform(chance, 1e-5, 5e-3)
    steps = rate_steps(chance, kind, rate, span)
    delays, more = other_changes(chance, kind, rtt, span)
    there = [f'{what}_steps = ' + ', '.join(value(step) + f' at {us(step[0])}' for step in found)
             for what, found, value in (('rate', steps, lambda step: f'{step[1]:.0f}'),
                                        ('delay', delays, lambda step: us(step[1]))) if found]
    top = max([rate, *(value for _, value in steps)])
    product = bdp_pkts(rate, rtt)
    queue = max(bdps * product, 16)
    links, name, _ = line(draws, rate, rtt, queue, top * 4, there + more + loss_lines(loss))
    start = max(5 * rtt, 1.0)
    bits = bits_between(rate, steps, start, span) - (rate if kind == 'outage' else 0)
    lines = draws.agent.lines(rate, max(24 * bdp_pkts(top, rtt), 8192))
    text = scenario(f'changes: {kind}', span, seed) + links + flow('f', 'A', 'B', *lines) + report(
        whole=f'throughput(f, {between(start, span)}) * {span - start:.6f} / {bits:.0f} / '
              f'{1 - loss}',
        queue_p99=f'queue_delay({name}, 99%, {between(start, span)})',
        queue_is=f'{queue * 1500 * 8 / rate:.6f}',
        caused=f'drops({name}) / entered({name})',
        bdps_lost=f'drops({name}) / {product:.6g}',
        after=after_change(kind, rate, steps, rtt, span, loss))
    return Case('changes', number, draws.offset, text, rate, rtt,
                {'kind': kind, 'queue_bdp': bdps, 'loss': loss})


def changes(draws):
    return [changes_case(draws, number, kind) for number, kind in enumerate(CHANGES)]


AQM = ('police', 'police', 'police', 'police', 'codel', 'codel', 'red', 'short', 'short')


def aqm_case(draws, number, kind):
    """Policers, CoDel, RED, queues of some packets."""
    seed = draws.seed(5000 + number)
    chance = chance_of(seed)
    rate, rtt = log_uniform(chance, 60e6, 2e9), log_uniform(chance, 4e-3, 120e-3)
    loss = 0 if chance.random() < 0.5 else log_uniform(chance, 1e-5, 5e-3)
    span = max(min(20, PACKETS_ABOUT * 1.6 / pps(rate)), 30 * rtt, 4)
    bdps, reach = log_uniform(chance, 0.5, 3), rate
    port = rate * log_uniform(chance, 1.5, 20)
    there, facts = loss_lines(loss), {}
    if kind == 'police':
        share = log_uniform(chance, 0.08, 0.9)
        reach = rate * share
        bucket = max(log_uniform(chance, 0.03, 2) * reach * rtt / 8, 8 * 1500)
        there += [f'police = {reach:.0f}', f'police_bucket = {bucket:.0f}']
        facts = {'of': share, 'bucket_bdp': bucket / (reach * rtt / 8)}
    elif kind == 'short':
        bdps = log_uniform(chance, 0.005, 0.04)
    else:
        there.append(f'discipline = {kind}')
    queue = max(bdps * bdp_pkts(rate, rtt), 6)
    links, name, _ = line(draws, rate, rtt, queue, port, there)
    lines = draws.agent.lines(reach, window_pkts(rate, rtt))
    late = between(span / 2, span)
    text = scenario(f'aqm: {kind}', span, seed) + links + flow('f', 'A', 'B', *lines) + report(
        whole=f'throughput(f, {between(3.5 * rtt, span)}) / {reach:.0f} / {1 - loss}',
        steady=f'throughput(f, {late}) / {reach:.0f} / {1 - loss}',
        caused_late=f'drops({name}, {late}) / entered({name}, {late})',
        caused=f'drops({name}) / entered({name})',
        queue_p99=f'queue_delay({name}, 99%, {late})')
    return Case('aqm', number, draws.offset, text, rate, rtt,
                {'kind': kind, 'queue_bdp': bdps, 'loss': loss} | facts)


def aqm(draws):
    return [aqm_case(draws, number, kind) for number, kind in enumerate(AQM)]


SHORT_BDPS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0, 6.0, 10.0)
SHORT_PAYLOAD_BYTES = 1408


def short_case(draws, number, size, known):
    """A file of `size` products, on a path that nothing or all is known of."""
    seed = draws.seed(6000 + number // 2)
    chance = chance_of(seed)
    while True:
        rate, rtt = log_uniform(chance, 50e6, 20e9), log_uniform(chance, 5e-3, 200e-3)
        product = bdp_pkts(rate, rtt)
        if 40 < product * size < 4e5:
            break
    bdps = log_uniform(chance, 0.05, 1)
    loss = 0 if chance.random() < 0.5 else log_uniform(chance, 1e-5, 3e-3)
    port = port_of(chance, rate)
    queue = max(bdps * product, 16)
    links, name, _ = line(draws, rate, rtt, queue, port, loss_lines(loss))
    pkts = round(size * product)
    wire = pkts * 1500 * 8 / rate
    learnt = (f'known_rate = {rate:.0f}', f'known_rtt = {us(rtt)}', f'known_burst = {queue:.0f}')
    lines = draws.agent.lines(rate, window_pkts(rate, rtt), known=learnt if known else ())
    text = scenario(f'short: {size} products', wire + 30 * rtt, seed) + links + flow(
        'f', 'A', 'B', *lines, 'fec = auto', f'size = {pkts * SHORT_PAYLOAD_BYTES}') + report(
            round_trips_more=f'(finish(f) - opened(f) - {us(wire)}) / {us(rtt)} - 1',
            times_ideal=f'(finish(f) - opened(f)) / ({us(wire)} + {us(rtt)})',
            bdps_lost=f'drops({name}) / {product:.6g}',
            repair='(repair(f) + retransmitted(f)) / sent(f)')
    return Case('short', number, draws.offset, text, rate, rtt, {
        'size': size, 'known': 'yes' if known else 'no', 'queue_bdp': bdps, 'loss': loss,
        'port': ratio(port, rate)})


def short(draws):
    return [short_case(draws, 2 * place + known, size, known)
            for place, size in enumerate(SHORT_BDPS) for known in (False, True)]
