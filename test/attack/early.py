# SPDX-License-Identifier: BSD-3-Clause
"""Megabytes under the number of an SA that is being made (lib/endpoint/early.h)."""

from field import MIB
from harness import expect, expect_between

SECONDS, PPS = 10, 30_000
KEPT_BYTES, KEPT_S = 4 * MIB, 0.1  # at a time
PACKET_BYTES = 1400
OTHERS_BYTES = 20 * MIB  # that sessions and handshakes take beside them; 7 to 12 were seen


def flooded_early(field, program, folder, clients=3, mib=60, mbps=40):
    """
    Who makes a server keep all that it keeps of packets that are too early has the memory that is
    there for them, for a tenth of a second each time. A transfer goes on, and clients are served,
    whose own packets find no room there.
    """
    field.serve(program, folder)
    field.small_send(name='before')
    before = field.counters()
    with field.growth(KEPT_BYTES + OTHERS_BYTES), field.transfer(mib, mbps), \
            field.attack('early', '--pps', PPS, '--seconds', SECONDS) as await_end:
        for i in range(clients):
            field.small_send(name=f'during{i}')
        told = await_end()
    after = field.counters()
    counted = {name: after[name] - before[name] for name in
               ('kept_early', 'drop_no_session', 'drop_no_sa')}
    print(f"{told}: {counted['kept_early']} packets were kept, {counted['drop_no_session']} and "
          f"{counted['drop_no_sa']} were of no session and no SA")
    expect(told['numbers'] >= 5, f'the server has told of no SA: {told}')
    periods = SECONDS / KEPT_S + told['numbers']
    expect_between('packets that were kept', counted['kept_early'], 10_000,
                   min(periods * KEPT_BYTES / PACKET_BYTES, 0.9 * told['sent_pkts']))
    # All of them are looked at, and dropped, when their time is over; and those that found no room.
    expect(counted['drop_no_session'] + counted['drop_no_sa'] >= counted['kept_early'],
           'what was kept is not counted when it is dropped')
    field.small_send(name='after')
