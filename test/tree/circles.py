#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Circles of source files in a room, as the object files have them: who defines, who refers.

    circles.py [TREE [BUILD]]  exit status 1 when a room has a circle that KNOWN lacks, or KNOWN
                               one that the room lacks; BUILD is a whole build of TREE, of any kind
                               (build/release)
    circles.py --self-test     proves that circles are found

Files of a circle can only be understood together, and only tested together. Calls of a room go one
way: from the file that drives to the files that it uses, and what those know comes back as a
result. A reference is a symbol of one object file that another of the room defines, so that a table
of functions counts as much as a call.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from arrows import room_of

PRODUCT = ('app', 'lib', 'drivers')

# The ratchet: room -> its circles, each with what it is. A circle may only shrink, and its entry
# with it.
KNOWN = {
    'app/wavehaul-lab/scenario': {
        'sim_ask.c point.c': 'questions about points, and points that hold questions',
    },
    'lib/lab/sim': {
        'queue.c queue_codel.c': 'a queue and one of its kinds',
        'link.c simulation.c': 'the simulator and its links',
    },
    'lib/lab/tcp': {
        'bbr_flow.c cubic.c tcp_highspeed.c rack.c rack_send.c reno.c '
        'sack.c tcp_sttp.c tcp.c vegas.c': 'a flow, and the varieties in its table',
    },
}


def object_files(tree, build, tops=PRODUCT):
    """Object file -> source in one of these folders, relative to BUILD and TREE."""
    for command in json.loads((build / 'compile_commands.json').read_text()):
        source = (build / command['file']).resolve()
        if tree in source.parents and source.relative_to(tree).parts[0] in tops:
            yield command['output'], source.relative_to(tree)


def built(tree, build):
    return (build / 'compile_commands.json').exists() and all(
        (build / name).exists() for name, _ in object_files(tree, build))


def symbols(build, objects):
    """(object file, symbol, its letter) by nm; that of gcc reads objects for its LTO, too."""
    nm = shutil.which('gcc-nm') or 'nm'
    told = subprocess.run([nm, '-A', '-P', '-g', *sorted(objects)], cwd=build, check=True,
                          capture_output=True, text=True).stdout
    for line in told.splitlines():
        name, symbol, letter = line.split()[:3]
        yield name.rstrip(':'), symbol, letter


def references(tree, build):
    """Room -> file -> (file of the same room -> a symbol that it refers to), relative to it."""
    sources = dict(object_files(tree, build))
    defined, wanted = defaultdict(dict), defaultdict(set)
    for name, symbol, letter in symbols(build, sources):
        source = sources[name]
        if letter in 'Uwv':
            wanted[source].add(symbol)
        else:
            defined[room_of(source)][symbol] = source
    rooms = defaultdict(lambda: defaultdict(dict))
    for source, names in wanted.items():
        room = room_of(source)
        here = str(source.relative_to(room))
        for symbol in sorted(names & defined[room].keys()):
            there = str(defined[room][symbol].relative_to(room))
            if there != here:
                rooms[room][here].setdefault(there, symbol)
    return rooms


def reached(graph, start):
    """What can be reached from a file: file -> (the file before, symbol), nearest first."""
    found, border = {}, [start]
    while border:
        beyond = []
        for here in border:
            for there, symbol in graph.get(here, {}).items():
                if there not in found:
                    found[there] = (here, symbol)
                    beyond.append(there)
        border = beyond
    return found


def circles(graph):
    """Sets of files, each of which reaches all others of its set."""
    reach = {here: set(reached(graph, here)) for here in graph}
    return {frozenset(there for there in reach[here] if here in reach.get(there, ()))
            for here in reach if here in reach[here]}


def shortest(graph, start):
    """'a.c: f() of b.c: g() of a.c', the shortest way from a file back to it."""
    found, here, said = reached(graph, start), start, ''
    while True:
        before, symbol = found[here]
        said = f': {symbol}() of {here}' + said
        if before == start:
            return start + said
        here = before


def check_room(room, graph, known):
    known = {frozenset(files.split()): files for files in known}
    found = circles(graph)
    for circle in sorted(found - known.keys(), key=sorted):
        rest = sorted(circle - frozenset().union(*known))
        if any(circle < files for files in known):
            yield f'{room}: a circle shrank to {listed(circle)}: so must its entry in KNOWN'
        elif rest:
            yield f'{room}: a circle: {shortest(graph, rest[0])}'
        else:
            yield f'{room}: circles of KNOWN are one now: {listed(circle)}'
    for files in sorted(known):
        if not any(files & circle for circle in found):
            yield f'{room}: {known[files]} is no circle any more: take it out of KNOWN'


def listed(files):
    return ' '.join(sorted(files))


def check(tree, build, known):
    rooms = references(tree, build)
    for room in sorted(rooms.keys() | known.keys()):
        yield from check_room(room, rooms.get(room, {}), known.get(room, {}))


# Self-test: file -> what it holds. lib/base has a circle by calls and a table, and a leaf.
EXAMPLES = {
    'lib/base/one.c': 'void two(void); void leaf(void); void one(void) { two(); leaf(); }\n',
    'lib/base/two.c': 'extern void (*const t[])(void); void two(void) { t[0](); }\n',
    'lib/base/three.c': 'void one(void); void (*const t[])(void) = {one};\n',
    'lib/base/leaf.c': 'void leaf(void) {}\n',
    'lib/wire/up.c': 'void one(void); void up(void) { one(); }\n',
    'lib/fec/a.c': 'void b(void); void a(void) { b(); }\n',
    'lib/fec/b.c': 'void a(void); void b(void) { a(); }\n',
    'test/unit/c.c': 'void d(void); void c(void) { d(); }\n',
    'test/unit/d.c': 'void c(void); void d(void) { c(); }\n',
}
THREE, PAIR = 'one.c three.c two.c', 'a.c b.c'
ONE = 'lib/base: a circle: one.c: two() of two.c: t() of three.c: one() of one.c'
# KNOWN -> what must be said.
SAID = (
    ({'lib/base': {THREE: ''}, 'lib/fec': {PAIR: ''}}, []),
    ({'lib/fec': {PAIR: ''}}, [ONE]),
    ({'lib/base': {'one.c two.c': ''}, 'lib/fec': {PAIR: ''}},
     ['lib/base: a circle: three.c: one() of one.c: two() of two.c: t() of three.c']),
    ({'lib/base': {THREE: ''}, 'lib/fec': {'a.c b.c c.c': ''}},
     ['lib/fec: a circle shrank to a.c b.c: so must its entry in KNOWN']),
    ({'lib/base': {THREE: ''}, 'lib/fec': {PAIR: '', 'c.c d.c': ''}},
     ['lib/fec: c.c d.c is no circle any more: take it out of KNOWN']),
    ({'lib/base': {THREE: ''}, 'lib/fec': {PAIR: ''}, 'lib/seal': {PAIR: ''}},
     ['lib/seal: a.c b.c is no circle any more: take it out of KNOWN']),
    ({'lib/base': {'one.c': '', 'three.c two.c': ''}, 'lib/fec': {PAIR: ''}},
     ['lib/base: circles of KNOWN are one now: one.c three.c two.c']),
)


def build_examples(tree, build, flags, examples):
    commands = []
    for name, content in examples.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)
        output = name.replace('/', '_') + '.o'
        commands.append({'file': f'../{name}', 'output': output})
        subprocess.run(['cc', *flags, '-c', f'../{name}', '-o', output], cwd=build, check=True)
    (build / 'compile_commands.json').write_text(json.dumps(commands))


def self_test(examples, said, check):
    """said: the tables of the rule, and what it must say by them of the examples."""
    wrong = 0
    for flags in (), ('-flto',):
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder).resolve()
            (tree / 'build').mkdir()
            build_examples(tree, tree / 'build', flags, examples)
            for *tables, lines in said:
                found = list(check(tree, tree / 'build', *tables))
                if found != lines:
                    print(f'{" ".join(flags)} {tables}: found {found}, not {lines}')
                    wrong += 1
    print(f'{2 * len(said) - wrong} of {2 * len(said)} tables judged as they should be')
    return 1 if wrong else 0


def run(test, check, tables, held):
    """The rule by its command line; held: what to say of a tree that keeps it."""
    if sys.argv[1:] == ['--self-test']:
        return self_test(*test, check)
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    build = Path(sys.argv[2] if len(sys.argv) > 2 else tree / 'build/release').resolve()
    if not built(tree, build):
        print(f'{build} is no whole build: run ninja -C {build}')
        return 1
    found = list(check(tree, build, *tables))
    print('\n'.join(found) if found else held)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(run((EXAMPLES, SAID), check, (KNOWN,),
                 f'no circle but the {sum(map(len, KNOWN.values()))} known ones'))
