# SPDX-License-Identifier: BSD-3-Clause
"""Figures as monitoring systems read them, taken strictly: Prometheus' text, and OpenMetrics."""

import re

from harness import Failed, expect

NAME = r'[a-zA-Z_][a-zA-Z0-9_]*'
LABEL = rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf'({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?\d+(?:\.\d+)?)')
TYPES = ('counter', 'gauge', 'info')
SUFFIXES = {'counter': '_total', 'info': '_info', 'gauge': ''}

# Base units only (prometheus.io/docs/practices/naming).
NOT_BASE = re.compile(r'_(ms|us|ns|kb|mb|bits|percent|minutes|hours|pkts|bps)(_|$)')


class Text:
    def __init__(self, text, open_metrics):
        self.lines = text.split('\n')
        self.open_metrics = open_metrics
        self.families, self.samples = {}, {}
        self.family, self.kind, self.unit = None, None, ''

    def comment(self, line):
        word, name, rest = (line[2:].split(' ', 2) + ['', ''])[:3]
        if word == 'HELP':
            expect(name not in self.families, f'{name} is there twice')
            expect(rest.endswith('.'), f'{name} is explained by {rest!r}')
            self.families[name] = 0
            self.family, self.kind, self.unit = name, None, ''
            return
        expect(name == self.family, f'{line!r} below {self.family}')
        if word == 'TYPE':
            expect(self.kind is None and rest in TYPES, line)
            expect(rest != 'info' or self.open_metrics, line)
            self.kind = rest
        else:
            expect(word == 'UNIT' and self.open_metrics and name.endswith(f'_{rest}'), line)

    def sample(self, line):
        found = SAMPLE.fullmatch(line)
        expect(found, f'no figure: {line!r}')
        name, value = found.group(1), found.group(len(found.groups()))
        expect(self.kind, f'{line!r} is of no type')
        wanted = self.family + (SUFFIXES[self.kind] if self.open_metrics else '')
        expect(name == wanted, f'{line!r} below {self.family}')
        expect(not NOT_BASE.search(name), f'{name} is not in base units')
        expect((self.kind == 'counter') == name.endswith('_total'), f'{name} is a {self.kind}')
        labels = tuple((label[0], label[1]) for label in re.findall(LABEL, found.group(2) or ''))
        expect((name, labels) not in self.samples, f'{line!r} is there twice')
        expect(self.kind != 'counter' or float(value) >= 0, line)
        self.samples[name, labels] = float(value) if '.' in value else int(value)
        self.families[self.family] += 1

    def take(self):
        expect(self.lines[-1] == '', 'the last line has no end')
        lines = self.lines[:-1]
        if self.open_metrics:
            expect(lines.pop() == '# EOF', 'the end is not said')
        for line in lines:
            if line.startswith('# '):
                self.comment(line)
            else:
                self.sample(line)
        empty = [name for name, count in self.families.items() if count == 0]
        expect(not empty, f'no figures of {empty}')
        return self.samples


def parse(text, kind):
    """(name, ((label, value), ...)) -> number."""
    if kind.startswith('application/openmetrics-text; version=1.0.0'):
        return Text(text, True).take()
    if kind.startswith('text/plain; version=0.0.4'):
        return Text(text, False).take()
    raise Failed(f'the type is {kind!r}')
