# SPDX-License-Identifier: BSD-3-Clause
"""What `lambda` must reach on real ports, too: of tools/bars' bars those that a race can show."""

from collections import namedtuple

LAMBDA, SCAVENGER = 'wavehaul lambda', 'wavehaul scavenger'
TCPS = ('kernel cubic', 'kernel bbr')

# Of the line's rate: payload of wavehaul's packets of 1500 bytes.
PAYLOAD_SHARE = 0.915

# Bar 1: of that, by loss.
ALONE = {0: 0.985, 1e-4: 0.985, 1e-3: 0.98, 1e-2: 0.965}

# Bar 7: a TCP keeps so much of what it has beside another one; we have so much of an equal share.
KEEPS, SHARE = 0.8, 0.5

# Bar 8: a TCP beside a scavenger keeps so much of what it has alone; and the scavenger alone.
YIELDED, SCAVENGER_ALONE = 0.97, 0.95

# Flows that meet take hundreds of round trips to settle: bar07-tcp counts a minute, too. A race
# against the clock of bar 1 would show who came first.
BESIDE_S = 60

Row = namedtuple('Row', 'bar what wanted reached')


def plan():
    """(first, second or None, loss, seconds or None) of all races, by names."""
    races = [(LAMBDA, None, loss, None) for loss in ALONE]
    for tcp in TCPS:
        races += [(LAMBDA, tcp, 0, BESIDE_S), (tcp, tcp, 0, BESIDE_S),
                  (SCAVENGER, tcp, 0, BESIDE_S), (tcp, None, 0, BESIDE_S)]
    return [*races, (SCAVENGER, None, 0, BESIDE_S)]


def share(part_bps, whole_bps):
    return part_bps / whole_bps if part_bps is not None and whole_bps else None


def rows(runs, rate_bps):
    """What is not measured is None."""
    found = {(run['name'], run['beside'], run['loss']): run for run in runs}

    def bps(first, second, loss, which='bps'):
        return found.get((first, second, loss), {}).get(which)

    line_bps = rate_bps * PAYLOAD_SHARE
    for loss, wanted in ALONE.items():
        yield Row(1, f'of the line, loss {loss:g}', wanted,
                  share(bps(LAMBDA, None, loss), line_bps))
    for tcp in TCPS:
        pair = [bps(tcp, tcp, 0, which) for which in ('bps', 'beside_bps')]
        mean = None if None in pair else sum(pair) / 2
        yield Row(7, f'{tcp} keeps beside lambda', KEEPS,
                  share(bps(LAMBDA, tcp, 0, 'beside_bps'), mean))
        yield Row(7, f'of an equal share, beside {tcp}', SHARE,
                  share(bps(LAMBDA, tcp, 0), line_bps / 2))
    for tcp in TCPS:
        yield Row(8, f'{tcp} keeps beside a scavenger', YIELDED,
                  share(bps(SCAVENGER, tcp, 0, 'beside_bps'), bps(tcp, None, 0)))
    yield Row(8, 'of the line, a scavenger alone', SCAVENGER_ALONE,
              share(bps(SCAVENGER, None, 0), line_bps))


def text(found):
    yield f'{"bars of lambda, on these ports":<42}{"wanted":>8}{"reached":>9}'
    yield f'(bars 7 and 8: the first {BESIDE_S} s)'
    for row in found:
        reached = 'failed' if row.reached is None else f'{row.reached:.3f}'
        verdict = 'ok' if row.reached is not None and row.reached >= row.wanted else 'short'
        yield f'{row.bar}  {row.what:<39}{row.wanted:>8.3f}{reached:>9}  {verdict}'


def as_data(found):
    return [row._asdict() for row in found]
