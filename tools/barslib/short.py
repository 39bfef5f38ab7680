# SPDX-License-Identifier: BSD-3-Clause
"""
What `lambda` does not reach yet, or cannot: by scenario and expectation how far it comes, in the
worst of all settings, and why. A row that comes as far is `short`, one that does not is FAILED. The
table may only shrink.
"""

from collections import namedtuple

# `margin` is how far above what is wanted it is at least, as a share of that (with a minus: below),
# in any setting; some room is left, since every change of a controller moves all rows a little.
# None: what is wanted never comes.
Short = namedtuple('Short', 'scenario what margin why')

ALL = (
    Short('bar01-line', 'first 15 s', -0.03,
          'drains and the start leave a thousandth too little at 1 % of loss'),
    Short('bar02-grid', 'beyond the data', -0.40,
          'at 50 us what shall stand in the queue is more than its 16 packets bear at first'),
    Short('bar02-grid', 'rate from the third round trip', -0.25,
          'bursts that take all that is under way leave a pause of many round trips'),
    Short('bar05-cbr', 'of what is left', -0.27,
          'what a flow without feedback leaves is found by sheds and steps, which swing'),
    Short('bar05-cbr', 'products lost', -2.89,
          'what a flow without feedback leaves is found by sheds and steps, which swing'),
    Short('bar05-rate', 'of the rate again', -0.04,
          '2 to 10 Gb/s takes a little more than ten round trips of 100 ms'),
    Short('bar06-mixed', 'jain', -0.69,
          'steps that grow with the own rate let large flows stay large'),
    Short('bar06-share', 'jain', -0.95,
          'latecomers take a queue for the least delay; many flows, and long ways, need longer'),
    Short('bar06-share', 'jain with the latecomer', -0.95,
          'latecomers take a queue for the least delay; many flows, and long ways, need longer'),
    Short('bar06-share', 'queue', -20.0,
          'pushes that make shares equal soon stand in the queue of ten flows'),
    Short('bar06-share', "the latecomer's share", -0.95,
          'latecomers take a queue for the least delay; many flows, and long ways, need longer'),
    Short('bar07-tcp', 'of an equal share', -0.92,
          'beside BBRs at a tenth of a product: what tells them is hidden by losses; and beside '
          'one CUBIC at 1 Gb/s and four products it needs longer than a minute for 0.5'),
    Short('bar10-all', 'rate', -0.71,
          'a full way back hides how far the clocks are apart'),
    Short('bar10-all', 'spurious', -5.46,
          'what is overtaken by 1 ms goes again'),
    Short('bar10-reorder', 'rate', -0.04,
          'what goes again needlessly takes its room'),
    Short('bar10-reorder', 'spurious', -5.59,
          'what is overtaken by 1 ms goes again'),
    Short('bar10-reverse', 'rate', -0.02,
          'state that is late and lost, at a tenth of a product in the queue'),
    Short('bar11-longfat', 'throughput', -0.09,
          'a round trip of waiting at the start, and of losses at the end'),
    Short('bar11-slow', 'payload', -0.09,
          'packets of control share the line'),
    Short('bar11-two', 'of max-min', -0.07,
          'at 100 kb/s and 100 Mb/s of x; why is not known yet'),
    Short('bar12-papers', 'pxp-errors', -0.48,
          'packets overtake each other by many, which looks like losses'),
    Short('bar12-papers', 'pxp-fig04', -0.50,
          'packets overtake each other by many, which looks like losses'),
    Short('bar12-papers', 'pxp-fig05', -0.46,
          'packets overtake each other by many, which looks like losses'),
    Short('bar12-papers', 'pxp-hops', -0.56,
          'packets overtake each other by many, which looks like losses'),
    Short('bar12-papers', 'sttp-burst', -0.31,
          'a start of a round trip of waiting, and control packets, on a line of 64 kb/s'),
    Short('bar12-papers', 'sttp-table1', -0.25,
          'a start of a round trip of waiting, and control packets, on a line of 64 kb/s'),
    Short('bar12-papers', 'ttp-fig05', -0.04,
          'drains, where the best fills the line to the last packet'),
    Short('bar12-papers', 'udt-fig01', -0.19,
          'drains, where the best fills the line to the last packet'),
    Short('bar12-papers', 'udt-fig02', -0.03,
          'drains, where the best fills the line to the last packet'),
    Short('bar12-papers', 'udt-fig10', -0.27,
          'a packet lasts longer than the round trip, and seems to have waited'),
    Short('bar12-papers', 'udt-fig12', -0.15,
          'drains, where the best fills the line to the last packet'),
    Short('bar12-papers', 'udt-fig13', -0.25,
          'on slow lines with bit errors; why is not known yet'),
    Short('bar12-papers', 'udt-fig16', -0.03,
          'drains, where the best fills the line to the last packet'),
)


def comes_as_far(row, table=ALL):
    """Whether a row that is not reached is as good as the table says."""
    short = next((one for one in table
                  if (one.scenario, one.what) == (row['scenario'], row['what'])), None)
    if short is None or row['margin'] is None or short.margin is None:
        return short is not None and short.margin is None
    return row['margin'] >= short.margin
