#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Public names that nobody else needs, as the object files have them: who defines, who refers.

    publics.py [TREE [BUILD]]  exit status 1 when a name could be static, or only tests use one that
                               a table lacks, or a table has one too many; BUILD is a whole build
                               of TREE (build/release)
    publics.py --self-test     proves that such names are found

A name in a header is a promise to every file of the program. One that no other file of the program
uses is a piece of its file: static, unless a test holds that piece by itself. What the program does
not use at all belongs to the tests.
"""

import re
import sys
from collections import defaultdict

from circles import PRODUCT, object_files, run, symbols

# The ratchets, which may only shrink. Names that only tests use, and why the program defines them:
FOR_TESTS = {
    'wh_endpoint_receive_deadline': 'virtual time goes on to the next deadline',
    'wh_endpoint_send_deadline': 'virtual time goes on to the next deadline',
    'wh_endpoint_books_deadline': 'virtual time goes on to the next deadline',
    'wh_netem_count_queue_drop': 'for a queue that stands in for the one behind a port',
    'wh_netem_deadline': 'virtual time goes on to the next deadline',
    'wh_jobs_check': 'asserts what holds between two turns',
    'wh_emulator_ethdev': 'a port to be driven without a host',
    'wh_emulator_held': 'packets on their way',
    'wh_loss_list_next': 'walks the list, which a model is compared with',
    'wh_session_check': 'asserts what holds between two turns',
    'wh_sim_engine_receiver': 'an end of a simulated session',
}
# Names that only their own file uses:
NOT_STATIC = set()

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)


def uses(tree, source, name):
    """How often the source has the name, besides where it is defined."""
    text = COMMENT.sub('', (tree / source).read_text(encoding='utf-8'))
    return len(re.findall(rf'(?<!struct )\b{re.escape(name)}\b', text)) - 1


def names(tree, build):
    """Name of the product -> (file that defines it, other files of the product, of tests)."""
    sources = dict(object_files(tree, build, (*PRODUCT, 'test')))
    defined, users = {}, defaultdict(set)
    for output, name, letter in symbols(build, sources):
        source = sources[output]
        if letter in 'Uwv':
            users[name].add(source)
        elif source.parts[0] in PRODUCT:
            defined[name] = source
    for name, source in sorted(defined.items()):
        others = users[name] - {source}
        product = {other for other in others if other.parts[0] in PRODUCT}
        yield name, source, product, others - product


def check(tree, build, for_tests, not_static):
    left, left_static = dict(for_tests), set(not_static)
    for name, source, product, tests in names(tree, build):
        if product or name == 'main':
            continue
        if not tests:
            if name not in left_static:
                yield f'{source}: only this file uses {name}: it can be static'
            left_static.discard(name)
        elif uses(tree, source, name) == 0 and left.pop(name, None) is None:
            yield f'{source}: only tests use {name}: {min(tests)}'
    for name in sorted(left):
        yield f'{name}: take it out of FOR_TESTS'
    for name in sorted(left_static):
        yield f'{name}: take it out of NOT_STATIC'


# Self-test: file -> what it holds.
EXAMPLES = {
    'lib/base/api.c': 'void piece(void) {} void own(void) {} void seen(void) {}\n'
                      'void api(void) { piece(); own(); /* seen */ }\n',
    'lib/base/table.c': 'void entry(void) {} void (*const table[])(void) = {entry};\n',
    'app/wavehaul/main.c': 'void api(void); extern void (*const table[])(void);\n'
                           'int main(void) { api(); table[0](); return 0; }\n',
    'test/unit/t.c': 'void piece(void); void seen(void); void t(void) { piece(); seen(); }\n',
}
OWN = 'lib/base/api.c: only this file uses own: it can be static'
ENTRY = 'lib/base/table.c: only this file uses entry: it can be static'
SEEN = 'lib/base/api.c: only tests use seen: test/unit/t.c'
# FOR_TESTS, NOT_STATIC -> what must be said.
SAID = (
    ({}, {}, [ENTRY, OWN, SEEN]),
    ({'seen': ''}, {'own'}, [ENTRY]),
    ({'seen': '', 'piece': ''}, {'own', 'entry', 'api'},
     ['piece: take it out of FOR_TESTS', 'api: take it out of NOT_STATIC']),
)


if __name__ == '__main__':
    sys.exit(run((EXAMPLES, SAID), check, (FOR_TESTS, NOT_STATIC),
                 f'no public name without a user but {len(NOT_STATIC)}; '
                 f'{len(FOR_TESTS)} for tests'))
