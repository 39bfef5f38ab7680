# SPDX-License-Identifier: BSD-3-Clause
"""
Paths drawn by chance: what all families share. Rates, round trips, queues and losses are drawn
log-uniformly. The sender's port is faster than the bottleneck, except where a family draws that it
is the bottleneck.

Case `number` of offset `offset` has a seed of its own, so that no two offsets share a case.
"""

import math
import random
from dataclasses import dataclass

PACKETS_ABOUT = 1.0e6  # on the bottleneck in a case
PACKETS_MOST = 2.6e6
SEEDS_PER_OFFSET = 10000

# Profiles that are told a rate, and which share of the bottleneck's.
TOLD = {'fixed': 0.97, 'pxp': 0.97, 'pack': 0.97, 'udt': 1}


@dataclass(frozen=True)
class Case:
    """A scenario, and what its judge must know of how it was drawn."""
    family: str
    number: int
    offset: int
    text: str
    rate_bps: float
    rtt_s: float
    facts: dict

    @property
    def name(self):
        return f'{self.family}-{self.number:02}@{self.offset}'


@dataclass(frozen=True)
class Agent:
    """Who takes the place of `lambda`; `options` of a profile, None: a TCP."""
    name: str = 'lambda'
    options: frozenset | None = frozenset({'share'})

    @property
    def is_tcp(self):
        return self.options is None

    def lines(self, rate, window, packet=None, host=(), share=None, known=()):
        """The part of its flow section that depends on it."""
        found = [f'agent = {self.name}']
        found += [f'packet = {packet}'] if packet else []
        if self.is_tcp:
            return [*found, 'window = none', *(['linux = on'] if self.name == 'cubic' else [])]
        found += [f'window = {window:.0f}', *host]
        if self.name == 'lambda':
            found += [f'share = {share}'] if share else []
            found += known
        elif self.name in TOLD:
            found.append(f'rate = {TOLD[self.name] * rate:.0f}')
        return found


@dataclass(frozen=True)
class Draws:
    """What holds for all cases of a run."""
    offset: int = 0
    agent: Agent = Agent()
    same_port: bool = False
    first: bool = True  # of the offsets of a run

    def seed(self, first):
        return self.offset * SEEDS_PER_OFFSET + first


def log_uniform(chance, low, high):
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def us(seconds):
    return f'{seconds * 1e6:.0f}us'


def bdp_pkts(rate, rtt, packet=1500):
    return rate * rtt / 8 / packet


def window_pkts(rate, rtt, packet=1500):
    return max(8 * bdp_pkts(rate, rtt, packet), 4096)


def pps(rate, packet=1500):
    return rate / 8 / packet


def port_of(chance, rate):
    """In a quarter of the cases None: the port is the bottleneck."""
    return None if chance.random() < 0.25 else rate * log_uniform(chance, 1.5, 30)


def path(chance, rates, rtts, count=1, least_rtts=30):
    """(rate, base, round trips, packet) such that a run of `least_rtts` is not too long."""
    while True:
        rate, base = log_uniform(chance, *rates), log_uniform(chance, *rtts)
        trips = [base * log_uniform(chance, 1, 4) for _ in range(count)] if count > 1 else [base]
        least = max(least_rtts * max(trips), 1.0)
        for packet in (chance.choice([1500, 9000]), 9000):
            if least * pps(rate, packet) <= PACKETS_MOST:
                return rate, base, trips, packet


def section(head, *lines):
    return '\n'.join([f'[{head}]', *(line for line in lines if line), '', ''])


def scenario(title, span, seed, *more):
    return section('scenario', f'title = {title}', f'duration = {us(span)}', 'queue_delays = on',
                   f'seed = {seed}', *more)


def report(**questions):
    return section('report', *(f'{name.replace("_", " ")} = {question}'
                               for name, question in questions.items() if question))


def link(name, rate, delay, queue, *more):
    """`queue` in packets, or None: without limit."""
    return section(f'link {name}', f'rate = {rate:.0f}', f'delay = {us(delay)}',
                   'queue = none' if queue is None else f'queue = {queue:.0f}', *more)


def line(draws, rate, rtt, queue, port, there=(), back=()):
    """
    (links, name of the bottleneck, its near node) of a path from A to B with a bottleneck of one
    round trip; `port` is the rate of a port before it, None: the bottleneck is the port.
    """
    near = 'A' if port is None or draws.same_port else 'R'
    text = '' if near == 'A' else link('A-R', port, 0, None)
    text += link(f'{near}>B', rate, rtt / 2, queue, *there)
    text += link(f'B>{near}', rate, rtt / 2, max(queue, 100), *back)
    return text, f'{near}-B', near


def flow(name, origin, to, *lines):
    return section(f'flow {name}', *lines, f'from = {origin}', f'to = {to}')


def between(start, end):
    return f'{us(start)}, {us(end)}'


def chance_of(seed):
    return random.Random(seed)
