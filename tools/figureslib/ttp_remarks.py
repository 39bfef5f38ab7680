# SPDX-License-Identifier: BSD-3-Clause
"""Why something is not as ttp.txt has it, with the numbers of the experiment that shows it."""

from .remarks import Remark

LARGEST = 100e6


def megabits(result, label='throughput', **sweep):
    return f'{result.one(**sweep).number(label) / 1e6:.1f}'


def windows_fill_short(results):
    files, drs = results['ttp-fig05'], results['ttp-drs']
    clean = {'size': LARGEST, 'loss': 0}
    return (f'Without loss nothing keeps a window of 242 packets from filling end links of 10 '
            f'Mb/s: 100 MB go at {megabits(files, who="drs", **clean)} Mb/s, and TTP, which pays '
            f'for longer heads, for repair packets, '
            f'{100 * files.one(who="ttp", **clean).number("repair"):.0f} % of what it sends, of '
            f'which most are of chunks encoded for 50 % of loss before the first control packet '
            f'comes, and for half a second of encoding, at '
            f'{megabits(files, who="ttp", **clean)}. It is not what lies below the '
            f'window: ttp-drs has {megabits(drs, net="short", loss=0, agent="drs")} Mb/s with '
            f'SACK and {megabits(drs, net="short", loss=0, agent="newreno")} with NewReno. From '
            f'1 % of loss on TTP is ahead: '
            f'{megabits(files, who="ttp", size=LARGEST, loss=0.01)} to '
            f'{megabits(files, who="drs", size=LARGEST, loss=0.01)}.')


def sockets_fill_short(results):
    files, least = results['ttp-fig05'], results['ttp-least']
    at = {'size': LARGEST, 'loss': 0.02}
    eight = 8 * files.one(who='tcp', **at).number('throughput') / 1e6
    return (f'At 2 % one TCP of window 20 still gets {megabits(files, who="tcp", **at)} Mb/s, and '
            f'eight of them would get {eight:.1f}, more than the end link has: PSOCK is at its '
            f'line, {megabits(files, who="psock", **at)} Mb/s, and nobody can be 20 % ahead of '
            f'that. TTP gets {megabits(files, who="ttp", **at)}: a control packet that shows more '
            f'loss than all before it halves the rate, and only one without any loss among 1024 '
            f'packets raises it, so that under steady loss the rate stays at its least, 8 Mb/s. '
            f'ttp-least has {megabits(least, net="short", loss=0.02, least=10e6)} Mb/s where it '
            f'may not fall below 10: the rest is heads and repair. At 5 % PSOCK leaves its line '
            f'and has {megabits(files, who="psock", size=LARGEST, loss=0.05)} Mb/s, TTP '
            f'{megabits(files, who="ttp", size=LARGEST, loss=0.05)}, and '
            f'{megabits(least, net="short", loss=0.05, least=10e6)} in ttp-least.')


def first_chunks(results):
    files = results['ttp-fig05']
    point = files.one(who='ttp', size=1e6, loss=0)

    def over_tcp(loss):
        ttp, tcp = (files.one(who=who, size=1e6, loss=loss) for who in ('ttp', 'tcp'))
        return tcp.number('time') / ttp.number('time')

    ratios = ', '.join(f'{over_tcp(loss):.2f}' for loss in (0, 0.0001, 0.001, 0.01, 0.02))
    return (f'A file of 1 MB is one chunk, and encoded for the projected loss of 50 %: '
            f'{100 * point.number("repair"):.0f} % of what is sent are repair packets, and it '
            f'takes {point.number("time"):.1f} s at 10 Mb/s, with the half second of encoding. '
            f'From 0 to 2 % of loss TTP is {ratios} times as fast as TCP: slower while TCP loses '
            f'nothing, and level from 1 % on. The paper gives these figures no number but '
            f'"approximately equal".')


def windows_grow_long(results):
    files, drs = results['ttp-fig10'], results['ttp-drs']
    clean = {'size': LARGEST, 'loss': 0}
    return (f'PSOCK cannot have more than 8 x 20 packets under way, 9.0 Mb/s of payload in a round '
            f'trip of 208 ms; DRS has no such bound, and without loss there is time enough in '
            f'100 MB to get beyond: {megabits(files, who="drs", **clean)} Mb/s to '
            f'{megabits(files, who="psock", **clean)}. With NewReno below the window '
            f'it is {megabits(drs, net="long", loss=0, agent="newreno")} (ttp-drs). In all other '
            f'runs PSOCK is ahead.')


def least_rate(results):
    files, least = results['ttp-fig10'], results['ttp-least']
    at = {'size': LARGEST, 'loss': 0.001}
    return (f'At 0.1 % of loss TTP has {megabits(files, who="ttp", **at)} Mb/s and TCP '
            f'{megabits(files, who="tcp", **at)}: {100 * (1 - 0.999 ** 1024):.0f} % of control '
            f'packets of 1024 bits show a loss; those that show more of it than all before halve '
            f'the rate, and few raise it, so that it stays near its least, 8 Mb/s. It is that '
            f'constant which decides here: with 20 and 50 Mb/s in its place ttp-least has '
            f'{megabits(least, net="long", loss=0.001, least=20e6)} and '
            f'{megabits(least, net="long", loss=0.001, least=50e6)} Mb/s. At 1 % and 2 % TTP is at '
            f'its least rate, too, and more than ten times as fast, as TCP is slower there.')


def where_it_is_much_faster(results):
    files = results['ttp-fig10']

    def times(who, loss):
        at = {'size': LARGEST, 'loss': loss}
        return (files.one(who='ttp', **at).number('throughput') /
                files.one(who=who, **at).number('throughput'))

    losses = files.values('loss')
    shares = ', '.join(f'{100 * loss:g} %' for loss in losses)
    psock, drs = (', '.join(f'{times(who, loss):.1f}' for loss in losses)
                  for who in ('psock', 'drs'))
    return (f'By loss ({shares}) TTP is {psock} times as fast as PSOCK, and {drs} times as '
            f'DRS. It is three times PSOCK where its rate has not fallen to its least, and ten '
            f'times DRS where loss keeps that to little more than one TCP; both at once would need '
            f'a higher least rate (the paragraph above).')


LEAST = ('ttp-fig10', 'ttp-least')

REMARKS = (
    Remark('fig5', {'TTP before DRS in all cases: least from 10 MB on': (0.54, None)},
           ('ttp-fig05', 'ttp-drs'), windows_fill_short),
    Remark('fig5', {'TTP before PSOCK at 1 and 2 %, by up to 20 %: most': (0.66, None),
                    'beyond 2 % TTP gains on the others: over PSOCK at 5 %, 100 MB': (0.9, None)},
           ('ttp-fig05', 'ttp-least'), sockets_fill_short),
    Remark('fig5', {'small files take TTP about as long as the TCPs: over TCP, 1 MB, mean to 2 %':
                    (0.72, 1.3)}, ('ttp-fig05',), first_chunks),
    Remark('fig10', {'PSOCK before DRS in every run: least': (0.74, None)},
           ('ttp-fig10', 'ttp-drs'), windows_grow_long),
    Remark('fig10', {'more than ten times TCP with the largest file: least': (8.1, None)},
           LEAST, least_rate),
    Remark('fig10', {'typically more than ten times DRS: mean with the largest file': (7.3, None),
                     'typically more than three times PSOCK: mean with the largest file':
                     (2.4, None)}, LEAST, where_it_is_much_faster),
)
