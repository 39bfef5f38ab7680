# SPDX-License-Identifier: BSD-3-Clause
"""What a paper states, each with its place, and what became of it here."""

import json
import re
import statistics
from collections import namedtuple

from .results import Absent
from .tolerance import as_printed, difference, kind_of

# Of a claim or an entry: `holds` is None where this run cannot say.
Verdict = namedtuple('Verdict', 'published ours difference holds note')
Entry = namedtuple('Entry', 'row column published ours difference within')

class Score(namedtuple('Score', 'held judged given unsaid beyond')):
    """
    Of a paper's statements: those that hold, of `judged` by a run; those that hold because they
    were put in; what this run is too small to say, and what none can.
    """

    def in_words(self):
        text = f'{self.held} of {self.judged} statements of the paper hold as printed'
        text += f' ({100 * self.held / self.judged:.0f} %)' if self.judged else ''
        text += f', and {self.given} were put in and are not counted' if self.given else ''
        text += f'; {self.unsaid} more are beyond this run' if self.unsaid else ''
        return text + (f'; {self.beyond} are beyond any simulation.' if self.beyond else '.')


PICKS = {'least': min, 'most': max}


def load(path):
    return json.loads(path.read_text(encoding='utf-8'))


def of_source(top, ours):
    """A constant, or the preset of a profile's option: what follows name, type and range."""
    text = (top / ours['file']).read_text(encoding='utf-8')
    if 'option' in ours:
        name = ours['option']
        found = re.search(rf'{{"{name}", \w+, [^,]+, [^,]+,\s+([0-9.e+-]+),', text)
    else:
        name = ours['constant']
        found = re.search(rf'^#define\s+{name}\s+([0-9.e+-]+)', text, re.M)
    if not found:
        raise Absent(f'{ours["file"]} has no {name}')
    return float(found.group(1))


def ratio(result, point, over, label):
    """To the point whose sweep differs in nothing but what `over` says."""
    return point.number(label) / result.one(**(point.sweep | over)).number(label)


def sampled(point, wanted):
    """Of a flow's samples after `after` seconds: what `share` of them are below."""
    samples = point.runs[0]['samples']
    values = sorted(value for second, value in
                    zip(samples['seconds'], samples['flows'][wanted['flow']][wanted['series']])
                    if second > wanted['after'])
    if not values:
        raise Absent('no samples at this scale')
    return values[round(wanted['share'] * (len(values) - 1))]


def reported(results, ours):
    """A list: a value for each point."""
    if ours['scenario'] not in results:
        raise Absent(f'{ours["scenario"]} was not run')
    result = results[ours['scenario']]
    points = result.at(**ours['at'])
    if not points:
        raise Absent('not at this scale')
    if 'samples' in ours:
        return [sampled(point, ours['samples']) for point in points]
    label = ours['report']
    return [ratio(result, point, ours['over'], label) if 'over' in ours else point.number(label)
            for point in points]


def ours_of(top, results, ours):
    """Our numbers for a published one: of each point, or the one that is picked."""
    values = reported(results, ours) if 'scenario' in ours else [of_source(top, ours)]
    values = [value * ours.get('factor', 1) for value in values]
    return [PICKS[ours['pick']](values)] if 'pick' in ours else values


def expected(results, wanted):
    """(how many points it was asked at, at how many it holds)"""
    asked = [expectation for scenario, labels in wanted.items() if scenario in results
             for label in labels for _, expectation in results[scenario].asked(label)]
    return len(asked), sum(expectation['ok'] for expectation in asked)


def holds(claim, ours):
    """A claim states a value, or words that are read as a bound."""
    wanted = claim.get('value', claim.get('bound'))
    sense = claim.get('sense', 'about')
    if sense == 'at least':
        return ours >= wanted
    if sense == 'at most':
        return ours <= wanted
    return as_printed(kind_of(claim), ours, wanted)


def farthest(claim, values):
    """The value that speaks most against the claim."""
    sense, wanted = claim.get('sense', 'about'), claim.get('value', claim.get('bound'))
    if sense == 'at least':
        return min(values)
    if sense == 'at most':
        return max(values)
    return max(values, key=lambda ours: abs(difference(kind_of(claim), ours, wanted)))


def over_points(claim, values):
    """
    (the number to show, whether the claim holds, a note). It must hold at every point; where the
    paper says "mostly" or "typically" at more than half of them, and the median is shown.
    """
    held = [holds(claim, value) for value in values]
    if len(values) == 1:
        return values[0], held[0], ''
    mostly = claim.get('mostly', False)
    each = ', '.join(f'{value:.3g}' for value in sorted(values))
    return (statistics.median(values) if mostly else farthest(claim, values),
            2 * sum(held) > len(held) if mostly else all(held),
            f'holds at {sum(held)} of {len(held)} points: {each}')


def by_number(top, results, claim):
    published = claim.get('value')
    try:
        values = ours_of(top, results, claim['ours'])
    except Absent as absent:
        return Verdict(published, None, None, None, str(absent))
    ours, held, note = over_points(claim, values)
    read = [] if 'value' in claim else [f'read as: {claim["sense"]} {claim["bound"]}']
    away = None if published is None else difference(kind_of(claim), ours, published)
    return Verdict(published, ours, away, held, '; '.join(read + [note] * bool(note)))


def by_expectation(results, claim):
    asked, held = expected(results, claim['expect'])
    if asked == 0:
        return Verdict(None, None, None, None, 'not asked at this scale')
    return Verdict(None, None, None, asked == held,
                   f'holds at {held} of {asked} points' if asked > 1 else '')


def verdict(top, results, claim):
    if 'why not' in claim:
        return Verdict(claim.get('value'), None, None, None, claim['why not'])
    if 'ours' in claim:
        return by_number(top, results, claim)
    return by_expectation(results, claim)


def why_given(claim):
    """What puts a statement's number in, so that no run can find another; None: nothing does."""
    if 'ours' in claim and 'scenario' not in claim['ours']:
        return 'a constant of the sources'
    return claim.get('given')


def score(verdicts):
    """Of (claim, verdict)."""
    verdicts = list(verdicts)
    judged = [one.holds for claim, one in verdicts
              if one.holds is not None and why_given(claim) is None]
    return Score(sum(judged), len(judged),
                 sum(bool(one.holds) for claim, one in verdicts if why_given(claim) is not None),
                 sum(one.holds is None and 'why not' not in claim for claim, one in verdicts),
                 sum('why not' in claim for claim, _ in verdicts))


def too_few(described, verdicts, measured, quick):
    """
    What a paper's page has once had is not lost unnoticed. Of (claim, verdict); those of programs
    that measure this machine do not count.
    """
    size = 'quick' if quick else 'whole'
    counted = score((claim, one) for claim, one in verdicts
                    if claim.get('ours', {}).get('scenario') not in measured)
    if counted.held < described['holds'][size]:
        yield (f'{counted.held} statements hold in a {size} run, where '
               f'{described["holds"][size]} have before')


def entries(results, table):
    """Row by row; those that this run has no point for are left out."""
    result, scale = results.get(table['scenario']), table['factor']
    for row, values in table['rows'].items() if result else ():
        kind = kind_of(table, row)
        for column, published in zip(table['columns'], values):
            at = dict(table['at'])
            if isinstance(column, str):
                label = column
            else:
                at[table['column']], label = column / scale, row
            points = result.at(**at)
            if len(points) == 1:
                ours = points[0].number(label) * scale
                yield Entry(row, column, published, ours, difference(kind, ours, published),
                            as_printed(kind, ours, published))


def unknown_labels(paper, results):
    """Claims that lean on an expectation which no point of a whole run asks."""
    for part in paper['parts']:
        for claim in part['claims']:
            for scenario, labels in claim.get('expect', {}).items():
                known = results[scenario].labels() if scenario in results else labels
                for label in labels:
                    if label not in known:
                        yield f'{part["name"]}: {scenario} expects nothing called "{label}"'
