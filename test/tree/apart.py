#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The appliance links nothing of the laboratory, as the object files have it; and their sizes.

    apart.py [TREE [BUILD]]    exit status 1 when an object file of the appliance refers to one of
                               the laboratory, or that has too many lines; BUILD is a whole
                               build of TREE (build/release)
    apart.py --self-test       proves that such references are found

What the product is tried with is as large as a part of it, and must not slip into the program that
serves strangers. arrows.py says it of the #include lines; a declaration by hand would pass those.
"""

import sys
from pathlib import Path

from circles import PRODUCT, object_files, run, symbols

LABORATORY = ('lib/lab', 'drivers/netem', 'app/wavehaul-lab')
LABORATORY_LINES = 22000


def is_laboratory(source):
    return any(Path(top) in source.parents for top in LABORATORY)


def lines_of(tree, laboratory):
    sources = (path for top in PRODUCT for path in (tree / top).rglob('*.[ch]'))
    return sum(path.read_bytes().count(b'\n') for path in sources
               if is_laboratory(path.relative_to(tree)) == laboratory)


def check(tree, build, lines_max):
    sources = dict(object_files(tree, build))
    defined, wanted = {}, []
    for output, name, letter in symbols(build, sources):
        source = sources[output]
        if letter in 'Uwv':
            wanted += [] if is_laboratory(source) else [(source, name)]
        elif is_laboratory(source) and name != 'main':
            defined[name] = source
    for source, name in sorted(wanted):
        if name in defined:
            yield f'{source}: {name}() is of the laboratory: {defined[name]}'
    lines = lines_of(tree, True)
    if lines > lines_max:
        yield f'the laboratory has {lines} lines, at most {lines_max}'


# Self-test: file -> what it holds.
EXAMPLES = {
    'lib/base/units.c': 'void units(void) {}\n',
    'lib/lab/sim/simulation.c': 'void units(void); void sim(void) { units(); }\n',
    'drivers/netem/join.c': 'void sim(void); void join(void) { sim(); }\n',
    'app/wavehaul-lab/lab_main.c': 'void join(void); int main(void) { join(); return 0; }\n',
    'app/wavehaul/main.c': 'void join(void); int main(void) { join(); return 0; }\n',
    'test/unit/t.c': 'void sim(void); void t(void) { sim(); }\n',
}
JOIN = 'app/wavehaul/main.c: join() is of the laboratory: drivers/netem/join.c'
# Lines -> what must be said.
SAID = ((3, [JOIN]), (2, [JOIN, 'the laboratory has 3 lines, at most 2']))


def held():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    return (f'nothing of the laboratory in the appliance: {lines_of(tree, False)} lines; '
            f'the laboratory: {lines_of(tree, True)}')


if __name__ == '__main__':
    told = '' if sys.argv[1:] == ['--self-test'] else held()
    sys.exit(run((EXAMPLES, SAID), check, (LABORATORY_LINES,), told))
