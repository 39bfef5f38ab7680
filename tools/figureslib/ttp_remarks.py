# SPDX-License-Identifier: BSD-3-Clause
"""Why something is not as ttp.txt has it, with the numbers of the experiment that shows it."""

from .remarks import Remark

LARGEST = 100e6


def megabits(result, label='throughput', **sweep):
    return f'{result.one(**sweep).number(label) / 1e6:.1f}'


def windows_fill_short(results):
    files, drs = results['ttp-fig05'], results['ttp-drs']
    clean = {'size': LARGEST, 'loss': 0}
    return (f'Without loss nothing keeps a window of 363 packets from filling end links of 10 '
            f'Mb/s: 100 MB go at {megabits(files, who="drs", **clean)} Mb/s, and TTP, which pays '
            f'for longer heads, for repair packets, '
            f'{100 * files.one(who="ttp", **clean).number("repair"):.0f} % of what it sends, of '
            f'which most are of chunks encoded for 50 % of loss before a control packet comes that '
            f'adjusts it, and for half a second of encoding, at '
            f'{megabits(files, who="ttp", **clean)}. It is not what lies below the '
            f'window: ttp-drs has {megabits(drs, net="short", loss=0, agent="drs")} Mb/s with '
            f'SACK and {megabits(drs, net="short", loss=0, agent="newreno")} with NewReno. From '
            f'0.1 % of loss on TTP is ahead with 30 MB and more: at 1 % '
            f'{megabits(files, who="ttp", size=LARGEST, loss=0.01)} to '
            f'{megabits(files, who="drs", size=LARGEST, loss=0.01)}.')


def sockets_fill_short(results):
    files, least = results['ttp-fig05'], results['ttp-least']
    at = {'size': LARGEST, 'loss': 0.02}
    eight = 8 * files.one(who='tcp', **at).number('throughput') / 1e6
    return (f'At 2 % one TCP of window 20 still gets {megabits(files, who="tcp", **at)} Mb/s, and '
            f'eight of them {eight:.1f}: PSOCK has {megabits(files, who="psock", **at)} of the '
            f'10 that the end link bears. TTP gets {megabits(files, who="ttp", **at)}: a control '
            f'packet that shows more '
            f'loss than all before it halves the rate, and only one without any loss among 1024 '
            f'packets raises it, so that under steady loss the rate stays at its least, 8 Mb/s. '
            f'ttp-least has {megabits(least, net="short", loss=0.02, least=10e6)} Mb/s where it '
            f'may not fall below 10: the rest is heads and repair. At 5 % PSOCK '
            f'has {megabits(files, who="psock", size=LARGEST, loss=0.05)} Mb/s and TTP '
            f'{megabits(files, who="ttp", size=LARGEST, loss=0.05)}.')


def first_chunks(results):
    files, chunks = results['ttp-fig05'], results['ttp-chunk']
    point = files.one(who='ttp', size=1e6, loss=0)

    def over_tcp(loss):
        ttp, tcp = (files.one(who=who, size=1e6, loss=loss) for who in ('ttp', 'tcp'))
        return tcp.number('time') / ttp.number('time')

    ratios = ', '.join(f'{over_tcp(loss):.2f}' for loss in (0, 0.0001, 0.001, 0.01, 0.02))
    return (f'A file of 1 MB is one chunk, and encoded for the projected loss of 50 %: '
            f'{100 * point.number("repair"):.0f} % of what is sent are repair packets, and it '
            f'takes {point.number("time"):.1f} s at 10 Mb/s, with the half second of encoding. '
            f'From 0 to 2 % of loss TTP is {ratios} times as fast as TCP, level while TCP loses '
            f'little. Chunks of 1 Mb, as III A has them, would gain: alone in its network '
            f'the file goes at {megabits(chunks, chunk=1e6, size=1e6, loss=0, net="short")} Mb/s '
            f'with chunks of 1 MB and at '
            f'{megabits(chunks, chunk=125e3, size=1e6, loss=0, net="short")} with those '
            f'(ttp-chunk). The paper gives these figures no number but "approximately equal".')


def windows_grow_long(results):
    files, drs = results['ttp-fig10'], results['ttp-drs']
    clean = {'size': LARGEST, 'loss': 0}
    return (f'PSOCK cannot have more than 8 x 20 packets under way, 5.9 Mb/s of payload in a round '
            f'trip of 208 ms; DRS has no such bound, and without loss there is time enough in '
            f'30 and 100 MB to get beyond: {megabits(files, who="drs", **clean)} Mb/s to '
            f'{megabits(files, who="psock", **clean)}. With NewReno below the window '
            f'it is {megabits(drs, net="long", loss=0, agent="newreno")} (ttp-drs). In all other '
            f'runs PSOCK is ahead.')


def files_are_short(results):
    files = results['ttp-fig10']

    def fast(who, loss):
        return megabits(files, who=who, size=LARGEST, loss=loss)

    few = ', '.join(fast('drs', loss) for loss in (0, 0.0001, 0.001))
    return (f'How far TTP is ahead depends on the size of the file, which is lost. With 100 MB and '
            f'up to 0.1 % of loss DRS has {few} Mb/s of the 100 that the end link bears, where a '
            f'tenth of what TTP has would be less than {float(fast("ttp", 0)) / 10:.0f}; from 1 % '
            f'on it has {fast("drs", 0.01)} and less.')


def rates_stay_low(results):
    files, least = results['ttp-fig10'], results['ttp-least']

    def span(who):
        return ', '.join(megabits(files, who=who, size=LARGEST, loss=loss)
                         for loss in (0, 0.0001, 0.001, 0.01, 0.02))

    def at_least(loss):
        return megabits(least, net='long', loss=loss, least=20e6)

    return (f'100 MB go at {span("ttp")} Mb/s by TTP, without loss and with 0.01, 0.1, 1 and 2 %, '
            f'and at {span("psock")} by PSOCK. From 0.1 % on hardly a control packet is without '
            f'any loss, as it must be to raise the rate (II B), so that TTP stays near its least, '
            f'8 Mb/s. If that were 20 Mb/s 0.1 and 1 % of loss would leave '
            f'{at_least(0.001)} and {at_least(0.01)} (ttp-least).')


TENFOLD = 'typically more than ten times DRS, the largest file, '
THREEFOLD = 'typically more than three times PSOCK, the largest file, '

REMARKS = (
    Remark('fig5', {'TTP before DRS in all cases: least from 10 MB on': (0.58, None)},
           ('ttp-fig05', 'ttp-drs'), windows_fill_short),
    Remark('fig5', {'TTP before PSOCK at 1 and 2 %, by up to 20 %: most': (0.8, None)},
           ('ttp-fig05', 'ttp-least'), sockets_fill_short),
    Remark('fig5', {'small files take TTP about as long as the TCPs: over TCP, 1 MB, to 2 %':
                    (0.9, 2.5)}, ('ttp-fig05', 'ttp-chunk'), first_chunks),
    Remark('fig10', {'PSOCK before DRS in every run: least': (0.55, None)},
           ('ttp-fig10', 'ttp-drs'), windows_grow_long),
    Remark('fig10', {TENFOLD + loss: (5.5, None) for loss in ('no loss', '0.01 %', '0.1 %')},
           ('ttp-fig10',), files_are_short),
    Remark('fig10', {THREEFOLD + loss: (1.6, None) for loss in ('0.1 %', '1 %')},
           ('ttp-fig10', 'ttp-least'), rates_stay_low),
)
