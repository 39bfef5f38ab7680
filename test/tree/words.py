#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Words of our own that the field has better ones for do not come back, and names are unique.

    words.py [TREE]       lists them; exit status 1 when there is one that no table allows
    words.py --self-test  proves that each kind is found, and what is none is not

Old and new names of what others may have used are in docs/names.md.
"""

import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

# Part of an identifier or of a file's name -> what it is called.
FORBIDDEN = {
    'greeter': 'handshake server (handshakes)', 'greeting': 'handshake', 'greet': 'handshake',
    'guest': 'pending handshake', 'believer': 'authorizer', 'acquaintance': 'known peer',
    'bond': 'security association (sa)', 'farewell': 'closing packet', 'convoy': 'lane group',
    'errand': 'remote operation (rpc)', 'ground': 'host context (host_ctx)', 'crew': 'worker',
    'clerk': 'history writer', 'lci': 'connection id (cid)', 'station': 'netif',
    'desk': 'mailbox', 'aside': 'background',
}
# Words of a sentence, with their plurals. Others of the table have meanings of their own there.
IN_PROSE = {'greeter', 'greeting', 'believer', 'acquaintance', 'farewell', 'convoy', 'errand',
            'crew', 'clerk', 'lci'}

# File -> how many it has; they may only become fewer.
ALLOWED = {
    'lib/journal/database.c': 2,
    'test/e2e/doctor.py': 3,
    'test/unit/endpoint/first_contact.c': 4,
    'test/unit/neighbour/neighbour_flood.c': 3,
    'tools/benchlib/processes.py': 1,
}
# Names that two files or two structs share; the table may only shrink.
SHARED_FILES = {}
SHARED_TAGS = {}

FOLDERS = 'app lib drivers test tools python examples man docs system'.split()
PRODUCT = ('app', 'lib', 'drivers')
CODE = {'.c', '.h', '.py', '.lua'}
PROSE = {'.md', '.1', '.5', '.7'}
EXCUSED = {'docs/names.md', 'test/tree/words.py', 'lib/trust/fingerprint.c',
           'test/unit/trust/fingerprint.c'}
IDENTIFIER = re.compile(r'[A-Za-z_]\w*')
PART = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+')
TAG = re.compile(r'^(struct|enum|union) (\w+) \{', re.M)


def singular(part):
    part = part.lower()
    return part[:-1] if part.endswith('s') and part[:-1] in FORBIDDEN else part


def found_in(name):
    """The forbidden parts of an identifier or a path."""
    return [p for p in map(singular, PART.findall(name)) if p in FORBIDDEN]


def words_of(text, is_code):
    for match in IDENTIFIER.finditer(text):
        name = match.group()
        for part in found_in(name):
            # A plain word may be prose: then only what has no other meaning counts.
            if '_' in name or part in IN_PROSE:
                yield part


def files(tree):
    for folder in FOLDERS:
        for path in sorted((tree / folder).rglob('*')):
            if path.is_file() and path.suffix in CODE | PROSE and '__pycache__' not in path.parts:
                yield path, str(path.relative_to(tree))


def find_words(tree):
    for path, name in files(tree):
        if name in EXCUSED:
            continue
        count = Counter(words_of(path.read_text(errors='replace'), path.suffix in CODE))
        count.update(found_in(name))
        allowed = ALLOWED.get(name, 0)
        if sum(count.values()) > allowed:
            told = ', '.join(f'{n} x {w}: say {FORBIDDEN[w]}' for w, n in sorted(count.items()))
            yield f'{name}:1: {told}; allowed are {allowed}'
        elif sum(count.values()) < allowed:
            yield f'{name}:1: fewer old words than ALLOWED says: {sum(count.values())}'
    for name in ALLOWED:
        if not (tree / name).exists():
            yield f'{name}:1: is gone: so must its row in ALLOWED'


def judge_shared(kind, places, table):
    for name, where in sorted(places.items()):
        if len(where) > table.get(name, 1):
            yield f'{where[-1]}:1: {kind} {name} is also in {", ".join(where[:-1])}'
        elif name in table and len(where) < table[name]:
            yield f'{where[-1]}:1: {kind} {name} is in {len(where)} places: so says its table'
    for name in table:
        if name not in places:
            yield f'test/tree/words.py:1: {kind} {name} is gone: so must its row'


def find_shared(tree):
    names, tags = defaultdict(list), defaultdict(list)
    for path, name in files(tree):
        if path.suffix not in ('.c', '.h') or not name.startswith(PRODUCT):
            continue
        names[path.name].append(name)
        for kind, tag in TAG.findall(path.read_text(errors='replace')):
            tags[f'{kind} {tag}'].append(name)
    yield from judge_shared('the file name', names, SHARED_FILES)
    yield from judge_shared('the tag', tags, SHARED_TAGS)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, text in {
                'lib/a/bond.c': 'int x;\n', 'lib/a/b.c': 'int wh_errand_open;\n',
                'lib/a/c.c': '/* An LCI. */\n', 'lib/a/d.c': '/* a guest, a desk */ int again;\n',
                'lib/b/d.c': 'struct twice {\n};\n', 'app/e.c': 'struct twice {\n};\n',
                'man/f.1': 'the convoys\n'}.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        global ALLOWED, SHARED_FILES, SHARED_TAGS
        ALLOWED, SHARED_FILES, SHARED_TAGS = {}, {}, {}
        said = [line.split(':')[0] for line in (*find_words(tree), *find_shared(tree))]
    expected = ['lib/a/b.c', 'lib/a/bond.c', 'lib/a/c.c', 'man/f.1', 'lib/b/d.c', 'lib/b/d.c']
    if sorted(said) != sorted(expected):
        sys.exit(f'found {said}, not {expected}')
    print('old words and shared names are found')


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return
    tree = Path(sys.argv[1] if sys.argv[1:] else Path(__file__).resolve().parents[2])
    wrong = [*find_words(tree), *find_shared(tree)]
    print('\n'.join(wrong) if wrong else 'no word of our own where the field has one')
    sys.exit(bool(wrong))


if __name__ == '__main__':
    main()
