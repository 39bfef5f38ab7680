# SPDX-License-Identifier: BSD-3-Clause
"""What `wavehaul sim --json` said of a scenario, to be asked by the values of its sweep."""

import math


class Absent(Exception):
    """No such point or number, as a sentence: a quick run leaves some out."""


def same(value, wanted):
    """Of a sweep's value: a word, or a number as near as a decimal fraction comes to it."""
    if isinstance(wanted, (list, tuple)):
        return any(same(value, one) for one in wanted)
    if isinstance(value, str) or isinstance(wanted, str):
        return value == wanted
    return math.isclose(value, wanted, rel_tol=1e-6, abs_tol=1e-12)


class Point:
    def __init__(self, data):
        self.sweep, self.report = data['sweep'], data['report']
        self.ok, self.expect, self.runs = data['ok'], data['expect'], data['runs']

    def matches(self, at):
        return all(name in self.sweep and same(self.sweep[name], wanted)
                   for name, wanted in at.items())

    def number(self, label):
        if label not in self.report:
            raise Absent(f"nothing is reported as '{label}'")
        value = self.report[label]
        return math.nan if value is None else value

    def name(self):
        return ', '.join(f'{name} {brief(value)}' for name, value in self.sweep.items()) or 'it'


class Result:
    def __init__(self, data):
        self.title, self.ok = data['title'], data['ok']
        self.points = [Point(point) for point in data['points']]

    def at(self, **sweep):
        return [point for point in self.points if point.matches(sweep)]

    def one(self, **sweep):
        found = self.at(**sweep)
        if len(found) != 1:
            raise Absent(f'{len(found)} points at {sweep}')
        return found[0]

    def values(self, name):
        """Of a list of the sweep, in its order."""
        return list(dict.fromkeys(point.sweep[name] for point in self.points))

    def series(self, name, label, **sweep):
        """(values of a list, what is reported there), at one value of all others."""
        points = self.at(**sweep)
        return [p.sweep[name] for p in points], [p.number(label) for p in points]

    def labels(self):
        """Of the expectations that were asked somewhere."""
        return list(dict.fromkeys(e['label'] for point in self.points for e in point.expect))

    def asked(self, label):
        """(point, expectation) wherever it was asked."""
        return [(point, expected) for point in self.points for expected in point.expect
                if expected['label'] == label]

    def broken(self):
        return [(point, expected) for label in self.labels()
                for point, expected in self.asked(label) if not expected['ok']]


def brief(value):
    """A number of a sweep with a metric prefix, from micro to giga."""
    if isinstance(value, str):
        return value
    for size, prefix in ((1e9, 'G'), (1e6, 'M'), (1e3, 'k'), (1, ''), (1e-3, 'm'), (1e-6, 'u')):
        if abs(value) >= size * 0.9999999:
            return f'{value / size:.4g}{prefix}'
    return f'{value:.3g}'
