#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Places that say the same: six or more lines in a row that stand in two files, or twice in one.

    doubles.py [TREE]       lists them; exit status 1 when there are more than MOST
    doubles.py --self-test  proves that a double is found, and what is none is not

Lines without a word, comments, includes and rows of tables do not count, nor do they end a run.
"""

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

RUN_LINES = 6
MOST = 10  # pairs of places; it may only shrink

FOLDERS = 'app lib drivers test tools python examples'.split()
# A comment, an include or import, a row of a table, or nothing but signs.
NO_CODE = re.compile(r'#|//|/\*|\*|import |from \S+ import|\{.*\},?( /\*.*)?$|[^a-zA-Z]*$')


def lines_of(path):
    """[(number, what it says)] of lines that count."""
    return [(number, line.strip()) for number, line in
            enumerate(path.read_text(errors='replace').splitlines(), 1)
            if not NO_CODE.match(line.strip())]


def sources(tree):
    for folder in FOLDERS:
        for path in sorted((tree / folder).rglob('*')):
            if path.suffix in ('.c', '.h', '.py'):
                yield path


def runs_of(places):
    """Of pairs (i, j) of equal windows: where runs of them begin, and how long they are."""
    left = set(places)
    for i, j in sorted(places):
        if (i, j) not in left:
            continue
        n = 0
        while (i + n, j + n) in left:
            left.remove((i + n, j + n))
            n += 1
        yield i, j, n + RUN_LINES - 1


def find_doubles(tree):
    """'FILE:FIRST-LAST ~ FILE:FIRST-LAST', one for each pair of files, the longest."""
    said, windows = {}, defaultdict(list)
    for path in sources(tree):
        name = str(path.relative_to(tree))
        said[name] = lines_of(path)
        for i in range(len(said[name]) - RUN_LINES + 1):
            window = tuple(text for _, text in said[name][i:i + RUN_LINES])
            windows[window].append((name, i))
    pairs = defaultdict(set)
    for places in windows.values():
        for n, (one, i) in enumerate(places):
            for other, j in places[n + 1:]:
                if one != other or j - i >= RUN_LINES:
                    pairs[one, other].add((i, j))
    found = []
    for (one, other), places in sorted(pairs.items()):
        i, j, n = max(runs_of(places), key=lambda run: run[2])
        a, b = said[one], said[other]
        found.append(f'{one}:{a[i][0]}-{a[i + n - 1][0]} ~ {other}:{b[j][0]}-{b[j + n - 1][0]}')
    return found


def self_test():
    six = ''.join(f'\tcall_{i}(it);\n' for i in range(6))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, text in {
                'lib/a.c': 'void a(void)\n{\n' + six + '}\n',
                'lib/b.c': 'void b(void)\n{\n\n' + six.replace(';\n', ';\n\n', 2) + '}\n',
                'lib/five.c': 'void c(void)\n{\n' + six[:six.index('\tcall_5')] + '}\n',
                'lib/table.c': '\t{"a", 1},\n' * 30,
        }.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        found = find_doubles(tree)
    wanted = ['lib/a.c:3-8 ~ lib/b.c:4-11']
    print('a double is found' if found == wanted else f'found {found}, not {wanted}')
    return 0 if found == wanted else 1


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    found = find_doubles(tree)
    print('\n'.join(found))
    print(f'{len(found)} pairs of places say the same; {MOST} may')
    return 1 if len(found) > MOST else 0


if __name__ == '__main__':
    sys.exit(main())
