# SPDX-License-Identifier: BSD-3-Clause
"""What the lines of --json-stream say of a transfer of 30 MiB at 100 Mb/s."""

import json

from harness import expect, expect_between, expect_equal
from trees import MIB, expect_left


def events_of(text):
    """The lines of --json-stream, by event."""
    events = {}
    for line in text.splitlines():
        event = json.loads(line)
        events.setdefault(event['event'], []).append(event)
    return events


def check_limits(end):
    """Of a sender at a told rate: mostly that, or a CPU that others had; a receiver cannot tell."""
    if end['verb'] != 'send':
        expect_equal('what limited it', (end['limited_by'], end['waits']), (None, None))
        return
    expect(end['limited_by'] in ('rate', 'cpu'), f'{end["limited_by"]} of {end["waits"]}')
    expect(end['waits'].get('rate', 0) > 0.1, f'waits are {end["waits"]}')
    expect_between('all waits', sum(end['waits'].values()), 0.99, 1.01)


def check_intervals(intervals, end):
    """
    30 MiB at 100 Mb/s are 2.6 s: one each second, and no more came by any of them than was paced.
    What a busy machine holds up in one second comes in the next.
    """
    expect(end['seconds'] > 2.5, f'30 MiB in {end["seconds"]} s')
    expect_between('intervals', len(intervals), int(end['seconds']) - 1, end['seconds'] + 1)
    paced_bps, came = 1.03e8 * 1408 / 1538, 0
    for interval in intervals:
        # No faster than paced; how near it comes to that is for bench.py on CPUs of its own.
        came += interval['bps'] * interval['span'] / 8
        expect_between('bytes until then', came, 0, paced_bps * interval['seconds'] / 8 + MIB)
    for interval in intervals[1:]:
        expect_between('rtt_ms', interval['rtt_ms'], 1e-3, 1000)
        expect_between('loss', interval['loss'], 0, 0.5)
        expect_left(interval, 30 * MIB)
        sends = end['verb'] == 'send'
        if sends:  # an interval of cycles of the TSC: not to the last bit
            expect_between('rate_bps', interval['rate_bps'], 99_999_000, 100_001_000)
        else:
            expect_equal('rate_bps', interval['rate_bps'], None)
        expect(interval['limited_by'] is None or sends, f'limited by {interval["limited_by"]}')
    check_limits(end)
    # What came since the last of them is in none.
    since_s = end['seconds'] - intervals[-1]['seconds']
    expect_between('bytes of all intervals', came, end['bytes'] - paced_bps * since_s / 8 - MIB,
                   end['bytes'] + MIB)
