#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation says of this tree: the front door is short, lines are, and paths exist.

    docs.py [TREE]       exit status 1 when a page is too long or cites what is not there
    docs.py --self-test  proves that such pages are found

In every page (*.md), what stands in backticks or in a block of code is looked at word by word:

    lib/wire/packet.h    begins with a folder of this tree: it exists, as a file or a folder
    rcv.c                ends like a source, without a folder: some file has that name
    lib/profile/NAME.c   a component in capitals is put in by the reader: the folder exists
    test/e2e/*.py        a pattern matches something
    build/release/...    is made by a build, and not looked at, nor is what ninja is to build
    "to somebody, data"   in code of docs/protocol.md: a label that some source of lib/ has, too
    [text](page.md#part) a link leads to a page beside this one, and to a heading of it
"""

import os
import re
import sys
import tempfile
from pathlib import Path

KB = 1024
BYTES_MAX = {'README.md': 6 * KB, 'CONTRIBUTING.md': 8 * KB, 'docs/architecture.md': 15 * KB}

COLUMNS_MAX = 104  # of a line that is no row of a table

# (page, heading) -> rows of the table below it, at most.
ROWS_MAX = {('CONTRIBUTING.md', 'Where to look'): 25, ('docs/architecture.md', 'Words'): 25}

CODE_LINES_MAX = {'examples/two_ends.c': 120}

SKIPPED_FOLDERS = {'.git', 'build', '__pycache__', '.cache'}
SOURCE = re.compile(r'[\w.+-]+\.(?:c|h|py|md|lua|build)')
SPAN = re.compile(r'`([^`]+)`')
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')
LABEL = re.compile(r'"[^"()]{8,}"')
OF_OTHERS = {'dpdk-telemetry.py'}
PUT_IN = re.compile(r'\b[A-Z]{3,}\b')


def all_files(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        for name in sorted(names):
            yield (Path(folder) / name).relative_to(tree)


def anchors(text):
    """As GitHub and GitLab make them from headings."""
    for heading in re.findall(r'^#+ (.*)$', text, re.MULTILINE):
        yield re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def words(text):
    """(line, word) of all that is code."""
    fenced = False
    for number, line in enumerate(text.split('\n'), 1):
        line = re.sub(r'\bninja [^;&`]*', 'ninja ', line)
        if line.startswith('```'):
            fenced = not fenced
        elif fenced or line.startswith('    '):
            yield from ((number, word) for word in line.split())
        else:
            for span in SPAN.findall(line):
                yield from ((number, word) for word in span.split())


def is_there(tree, path):
    parts = Path(path).parts
    for i, part in enumerate(parts):
        if PUT_IN.search(Path(part).stem):
            return (tree / Path(*parts[:i])).exists() or is_there(tree, '/'.join(parts[:i]))
    if '*' in path:
        return any(True for _ in tree.glob(path))
    return (tree / path).exists()


def check_word(tree, tops, names, word):
    word = word.strip('()[]{}<>,;:\'"|').removeprefix('./')
    word = re.sub(r'[:#].*$', '', word).rstrip('.')
    top = word.split('/')[0]
    if '/' in word and top in tops:
        if not is_there(tree, word.rstrip('/')):
            yield f'{word} is not there'
    elif '/' not in word and SOURCE.fullmatch(word) and not PUT_IN.search(Path(word).stem):
        if word not in names and word not in OF_OTHERS:
            yield f'no file has the name {word}'


def check_link(tree, page, text, target):
    if re.match(r'[a-z]+:', target):
        return
    path, _, anchor = target.partition('#')
    full = (tree / page).parent / path if path else tree / page
    if not full.exists():
        yield f'the link to {target} leads nowhere'
    elif anchor and anchor not in anchors(full.read_text() if path else text):
        yield f'{path or page} has no heading for #{anchor}'


def check_labels(tree, page, text):
    """Keys are derived by these: a label that differs would be another protocol."""
    if str(page) != 'docs/protocol.md':
        return
    sources = '\n'.join(path.read_text() for path in sorted((tree / 'lib').rglob('*.c')))
    for number, line in enumerate(text.split('\n'), 1):
        for label in LABEL.findall(line) if line.startswith('    ') else ():
            if label not in sources:
                yield f'{page}:{number}: no source of lib/ has {label}'


def check_examples(tree):
    for name, most in CODE_LINES_MAX.items():
        lines = (tree / name).read_text().split('\n') if (tree / name).exists() else []
        code = sum(not re.match(r'\s*(?:/?\*|$)', line) for line in lines)
        if code > most:
            yield f'{name}: {code} lines of code, at most {most}'


def check_rows(page, text):
    for (name, heading), most in ROWS_MAX.items():
        if name != str(page):
            continue
        part = text.partition(f'\n## {heading}\n')[2].split('\n## ')[0]
        rows = sum(line.startswith('|') for line in part.split('\n')) - 2
        if not 0 < rows <= most:
            yield f'{page}: {rows} rows below {heading}, at most {most}'


def check_page(tree, tops, names, page):
    text = (tree / page).read_text()
    size = len(text.encode())
    most = BYTES_MAX.get(str(page))
    if most is not None and size > most:
        yield f'{page}: {size} bytes, at most {most}'
    yield from check_rows(page, text)
    yield from check_labels(tree, page, text)
    for number, word in words(text):
        for fault in check_word(tree, tops, names, word):
            yield f'{page}:{number}: {fault}'
    for number, line in enumerate(text.split('\n'), 1):
        if len(line) > COLUMNS_MAX and not line.startswith('|'):
            yield f'{page}:{number}: {len(line)} columns, at most {COLUMNS_MAX}'
        for target in LINK.findall(line):
            for fault in check_link(tree, page, text, target):
                yield f'{page}:{number}: {fault}'


def check(tree):
    found = list(all_files(tree))
    names = {path.name for path in found}
    yield from check_examples(tree)
    tops = {path.parts[0] for path in found if len(path.parts) > 1}
    for path in found:
        if path.suffix == '.md':
            yield from check_page(tree, tops, names, path)


def self_test():
    sources = ('lib/wire/packet.h', 'lib/profile/udt.c', 'tools/demo')
    example = '/*\n * No code.\n */\n\n' + 'x;\n' * 121
    good = ('# One\n\nSee `lib/wire/packet.h:12`, `packet.h`, `lib/profile/`, `lib/*/udt.c`,\n'
            '`wavehaul x/y`, `dpdk-telemetry.py`, `lib/profile/NAME.c`, `NAME.h`,\n'
            '[two](docs/two.md#its-part) and [here](#one).\n\n'
            '    tools/demo --size 1G; build/release/app\n')
    bad = ('`lib/wire/gone.h`, `gone.c`, `lib/none/*.c`, `lib/none/NAME.c`\n'
           '[a](none.md) [b](docs/two.md#none)\n\n    tools/none --size 1G\n')
    words = '\n## Words\n\n| a | b |\n|---|---|\n' + '| c | d |\n' * 26
    wanted = ['README.md: 6145 bytes, at most 6144',
              'docs/two.md:5: 105 columns, at most 104',
              'docs/protocol.md:3: no source of lib/ has "to nobody"',
              'examples/two_ends.c: 121 lines of code, at most 120',
              'docs/architecture.md: 26 rows below Words, at most 25',
              'bad.md:1: lib/wire/gone.h is not there', 'bad.md:1: no file has the name gone.c',
              'bad.md:1: lib/none/*.c is not there', 'bad.md:1: lib/none/NAME.c is not there',
              'bad.md:4: tools/none is not there', 'bad.md:2: the link to none.md leads nowhere',
              'bad.md:2: docs/two.md has no heading for #none']
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        wide = 'x' * (COLUMNS_MAX + 1)
        pages = {'docs/two.md': f'# Two\n\n## Its part\n\n{wide}\n| {wide}\n',
                 'good.md': good, 'bad.md': bad,
                 'docs/architecture.md': words, 'examples/two_ends.c': example,
                 'docs/protocol.md': '# Three\n\n    "to acceptor"; "to nobody"\n',
                 'lib/seal.c': 'secret = "to acceptor";\n',
                 'README.md': 'x\n' * (3 * KB) + 'x'}
        for name, text in [(source, '') for source in sources] + list(pages.items()):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        found = list(check(tree))
    for line in found:
        if line not in wanted:
            print(f'found, but not planted: {line}')
    for line in wanted:
        if line not in found:
            print(f'planted, but not found: {line}')
    return 0 if sorted(found) == sorted(wanted) else 1


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    faults = list(check(tree))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
