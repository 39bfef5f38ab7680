#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tidiness of the sources: what a review need not look for.

    tidy.py [TREE]       exit status 1 when something is untidy
    tidy.py --self-test  proves that untidy files are found
"""

import ast
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

LINE_COLUMNS = 100
TAB_COLUMNS = 8
FILE_LINES = 800
FUNCTION_LINES = 70
FOLDER_FILES = 30

# The ratchet: 'file', 'file:function' or 'folder/' -> its present size. An entry may only shrink,
# and goes when the limit holds without it.
EXCEPTIONS = {}

# lib sources without a test/unit file of their name, and what proves them.
PROVED_ELSEWHERE = {
    'lib/base/assert.c': 'ends the program: test/unit runs with it, none may reach it',
    'lib/sink/sink_commit.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_entry.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_folders.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_intake.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_large.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_ask.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_attributes.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_break.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_closing.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_place.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_release.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_reserve.c': 'part of the sink: test/unit/sink',
    'lib/rpc/change.c': 'part of a remote operation: test/unit/rpc',
    'lib/rpc/descent.c': 'part of a remote operation: test/unit/rpc',
    'lib/rpc/rpc_tell.c': 'part of a remote operation: test/unit/rpc',
    'lib/rpc/level.c': 'part of a remote operation: test/unit/rpc',
    'lib/rpc/inflow.c': 'part of both ends of a remote operation: test/unit/rpc',
    'lib/rpc/match.c': 'part of a remote operation: test/unit/rpc',
    'lib/rpc/reader.c': 'the other end of a remote operation: test/unit/rpc',
    'lib/sink/sink_tell.c': 'part of the sink: test/unit/sink',
    'lib/sink/sink_write.c': 'part of the sink: test/unit/sink',
    'lib/source/source_move.c': 'part of the source: test/e2e/choice.py, moves',
    'lib/source/source_asked.c': 'part of the source: test/unit/source',
    'lib/source/source_entry.c': 'part of the source: test/unit/source',
    'lib/source/source_put.c': 'part of the source: test/unit/source',
    'lib/source/source_run.c': 'part of the source: test/unit/source',
    'lib/source/source_left_out.c': 'part of the source: test/unit/sink/bundle_pair.c',
    'lib/fec/tornado.c': 'one of the codes: test/unit/fec/fec.c holds it against a slow decoder',
    'lib/neighbour/answers.c': 'part of the neighbour: test/unit/neighbour/neighbour_flood.c',
    'lib/neighbour/arp.c': 'part of the neighbour: test/unit/neighbour/neighbour.c',
    'lib/neighbour/echo.c': 'part of the neighbour: test/unit/neighbour/neighbour.c',
    'lib/neighbour/error.c': 'part of the neighbour: test/unit/neighbour/neighbour_errors.c',
    'lib/neighbour/frame.c': 'part of the neighbour: test/unit/neighbour/neighbour_frames.c',
    'lib/neighbour/hop.c': 'part of the neighbour: test/unit/neighbour/neighbour.c',
    'lib/neighbour/own_address.c': 'part of the neighbour: test/unit/neighbour/neighbour_claims.c',
    'lib/neighbour/ndp.c': 'part of the neighbour: test/unit/neighbour/neighbour.c',
    'lib/probe/prober_run.c': 'part of the prober: test/unit/probe/prober.c',
    'lib/neighbour/neighbour_table.c': 'part of the neighbour: test/unit/neighbour/neighbour.c',
    'lib/session/get_rcv_stat.c': 'one of the eight tasks: test/sim',
    'lib/session/get_trans_stat.c': 'one of the eight tasks: test/sim',
    'lib/session/host_rcv.c': 'one of the eight tasks: test/sim',
    'lib/session/host_trans.c': 'one of the eight tasks: test/sim',
    'lib/profile/profile.c': 'the table: test/unit/profile/options.c',
    'lib/session/send_rcv_stat.c': 'one of the eight tasks: test/sim',
    'lib/session/send_trans_stat.c': 'one of the eight tasks: test/sim',
    'lib/endpoint/listen.c': 'part of the endpoint: test/unit/endpoint/endpoint.c',
    'lib/endpoint/dispatch.c': 'part of a turn: test/unit/endpoint/lifecycle.c',
    'lib/endpoint/doubt.c': 'test/unit/endpoint/successors.c',
    'lib/endpoint/grant.c': 'test/unit/session/ask.c',
    'lib/endpoint/books.c': 'part of the endpoint: test/sim',
    'lib/endpoint/places.c': 'part of the endpoint: test/unit/endpoint/endpoint.c',
    'lib/session/boxes.c': 'part of a session: test/unit/session/session_pns.c',
    'lib/session/decide.c': 'part of a transmitter: test/unit/session/session_udt.c',
    'lib/session/losses.c': 'part of a receiver: test/unit/session/rcv.c',
    'lib/session/session_outcome.c': 'how a session ends: test/unit/endpoint/release.c',
    'lib/session/sealing.c': 'a session under an SA: test/unit/session/sealed.c',
    'lib/session/session_config.c': 'values alone: all tests of sessions begin with them',
    'lib/session/timing.c': 'spans alone: test/unit/endpoint/lifecycle.c',
    'lib/endpoint/strays.c': 'test/unit/endpoint/probes.c and datagrams.c',
    'lib/lab/sim/sim_memory.c': 'malloc that does not fail: all of test/unit/lab/sim',
    'lib/lab/sim/simulation.c': 'what joins links and agents: test/unit/lab/sim/link.c and route.c',
    'lib/lab/tcp/reno.c': 'one of the varieties: test/unit/lab/tcp/tcp.c',
    'lib/bundle/waits.c': 'words alone: test/unit/sink/waits.c',
    'lib/sink/sink_waits.c': 'test/unit/sink/waits.c',
    'lib/source/source_waits.c': 'test/unit/sink/waits.c',
    'lib/file/ring_rights.c': 'part of the rings: test/unit/file/rings.c',
    'lib/trust/known_peer.c': 'part of the handshake server: test/unit/trust/handshakes.c',
    'lib/trust/cookies.c': 'part of the handshake server: test/unit/trust/handshakes.c',
    'lib/trust/handshake.c': 'part of the handshake server: test/unit/trust/handshakes.c',
    'lib/trust/pending.c': 'part of the handshake server: test/unit/trust/handshakes.c',
    'lib/trust/keep.c': 'part of the handshake server: test/unit/trust/handshakes.c',
    'lib/trust/attempt.c': 'part of the handshake server: test/unit/trust/handshakes.c',
    'lib/seal/hash_avx2.c': 'a vector unit of checksum.c: test/unit/seal/checksum.c',
    'lib/seal/hash_avx512.c': 'a vector unit of checksum.c: test/unit/seal/checksum.c',
}

SKIPPED_FOLDERS = {'.git', 'build', '__pycache__', '.cache', '.vscode', '.idea'}
SOURCE_NAMES = {'meson.build', 'meson_options.txt', '.clang-format'}
SOURCE_SUFFIXES = {'.c', '.h', '.py', '.sh'}
PROSE_SUFFIXES = {'.md'}
SCRIPT_FOLDERS = {'tools', '.ci'}

# In pieces, so that this file may hold its own rule.
UNFINISHED = re.compile(r'\b(' + '|'.join(('TO' 'DO', 'FIX' 'ME', 'X' 'XX')) + r')\b')
SPDX = 'SPDX-License-Identifier: BSD-3-Clause'
SPDX_LINES = {f'/* {SPDX} */', f'# {SPDX}'}
MIXED_INDENT = re.compile(r'^(?: +\t|\t+ +\t)')
FUNCTION_NAME = re.compile(r'(\w+)\s*\(')


def is_script(path):
    return path.parts[0] in SCRIPT_FOLDERS and path.suffix == ''


def is_source(path):
    return path.suffix in SOURCE_SUFFIXES or path.name in SOURCE_NAMES or is_script(path)


def files(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = (Path(folder) / name).relative_to(tree)
            if is_source(path) or path.suffix in PROSE_SUFFIXES:
                yield path


def check_head(path, lines):
    """SPDX on the first line, or on the second below the name of an interpreter."""
    place = 1 if lines and lines[0].startswith('#!') else 0
    if path.name == 'lib.sh' and lines and lines[0].startswith('# shellcheck shell='):
        place = 1
    if len(lines) <= place or lines[place] not in SPDX_LINES:
        yield place + 1, f'the line "{SPDX}" belongs here'


def check_mode(path, full, lines):
    runs = bool(lines) and lines[0].startswith('#!')
    may_run = os.access(full, os.X_OK)
    if is_script(path) and not runs:
        yield 1, 'a script begins with its interpreter (#!)'
    if runs and not may_run:
        yield 1, 'not executable: chmod +x'
    if may_run and not runs:
        yield 1, 'executable, but no script: chmod -x'


def check_lines(path, lines):
    c_like = path.suffix in {'.c', '.h'}
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, 'trailing blanks'
        found = UNFINISHED.search(line)
        if found:
            yield number, f'"{found.group()}": finish it, or open an issue'
        if not is_source(path):
            continue
        columns = len(line.expandtabs(TAB_COLUMNS))
        if columns > LINE_COLUMNS and path.suffix != '.build':
            yield number, f'{columns} columns, at most {LINE_COLUMNS}'
        if MIXED_INDENT.match(line):
            yield number, 'a space before a tab in the indentation'
        elif path.suffix == '.py' and line.startswith('\t'):
            yield number, 'Python is indented with spaces'
        elif c_like and line.startswith('        ') and line.strip() != '\\':
            yield number, 'C is indented with tabs'


def c_functions(lines):
    """(name, first line, lines) of every function: '{' and '}' in the first column enclose one."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            begin = number
        elif line == '}' and begin is not None:
            first = begin - 1
            while first > 1 and lines[first - 2].strip() and lines[first - 2][-1] not in ';}/':
                first -= 1
            names = FUNCTION_NAME.findall(' '.join(lines[first - 1:begin - 1]))
            names = [n for n in names if not n.startswith('__')]
            yield names[0] if names else '?', first, number - first + 1
            begin = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


# What takes bytes from strangers apart: it comes to a reason, whatever they are.
PARSERS = {'lib/wire/decode.c', 'lib/wire/versions.c'}


def check_parser(path, lines):
    for number, line in enumerate(lines, 1):
        if str(path) in PARSERS and re.search(r'\bWH_(DEBUG_)?ASSERT\b', line):
            yield number, 'what reads packets does not assert: it comes to a reason'


def check_size(name, number, size, limit, exceptions, unit='lines'):
    what = 'the folder' if name.endswith('/') else 'the file'
    what = name.split(':')[1] if ':' in name else what
    if name not in exceptions:
        if size > limit:
            yield number, f'{what}: {size} {unit}, at most {limit}'
    elif size <= limit:
        yield number, f'{what}: {size} {unit} keep the limit: take it out of EXCEPTIONS'
    elif size > exceptions[name]:
        yield number, f'{what}: grew from {exceptions[name]} to {size} {unit}'
    elif size < exceptions[name]:
        yield number, f'{what}: shrank to {size} {unit}: so must its entry in EXCEPTIONS'


def check_folders(names, exceptions):
    sizes = Counter(f'{Path(n).parent}/' for n in names if n.endswith(('.c', '.h')))
    for folder, size in sorted(sizes.items()):
        for _, wrong in check_size(folder, 1, size, FOLDER_FILES, exceptions, 'sources'):
            yield f'{folder}:1: {wrong}'


def check_sizes(path, text, lines, exceptions):
    yield from check_size(str(path), 1, len(lines), FILE_LINES, exceptions)
    if path.suffix in {'.c', '.h'}:
        functions = c_functions(lines)
    elif path.suffix == '.py':
        functions = python_functions(text)
    else:
        functions = ()
    for name, number, size in functions:
        yield from check_size(f'{path}:{name}', number, size, FUNCTION_LINES, exceptions)


def check_file(tree, path, exceptions):
    try:
        text = (tree / path).read_text(encoding='utf-8')
    except UnicodeDecodeError:
        yield 1, 'not UTF-8'
        return
    lines = text.split('\n')
    if lines[-1] != '':
        yield len(lines), 'no newline at the end of the file'
    else:
        lines.pop()
    if lines and lines[-1] == '':
        yield len(lines), 'blank lines at the end of the file'
    yield from check_lines(path, lines)
    if is_source(path):
        yield from check_parser(path, lines)
        yield from check_head(path, lines)
        yield from check_mode(path, tree / path, lines)
        yield from check_sizes(path, text, lines, exceptions)


def check_twins(tree, elsewhere):
    """Every lib source has its test, every test is registered, every excuse is needed."""
    meson = tree / 'test/meson.build'
    registered = set(re.findall(r"'(\w+)'", meson.read_text())) if meson.exists() else set()
    rooms = ('*/*.c', 'lab/*/*.c')
    sources = [p.relative_to(tree) for r in rooms for p in sorted((tree / 'lib').glob(r))]
    for path in sources:
        twin = f'test/unit/{path.relative_to("lib")}'
        has_twin = (tree / twin).exists()
        excused = str(path) in elsewhere
        if not has_twin and not excused:
            yield f'{path}:1: no {twin}'
        if has_twin and excused:
            yield f'{path}:1: has {twin}: take it out of PROVED_ELSEWHERE'
    for name in sorted(set(elsewhere) - set(map(str, sources))):
        yield f'{name}:1: is gone: take it out of PROVED_ELSEWHERE'
    for path in (p for r in rooms for p in sorted((tree / 'test/unit').glob(r))):
        if path.stem not in registered:
            name = path.relative_to(tree)
            yield f'{name}:1: not registered in test/meson.build, so it never runs'


def check_tree(tree, exceptions, elsewhere):
    found, names = [], set()
    for path in files(tree):
        names.add(str(path))
        found += [f'{path}:{n}: {wrong}' for n, wrong in check_file(tree, path, exceptions)]
    for name in sorted(exceptions):
        if not any(n.startswith(name.split(':')[0]) for n in names):
            found.append(f'{name}:1: is gone: take it out of EXCEPTIONS')
    found += check_folders(names, exceptions)
    return found + list(check_twins(tree, elsewhere))


def c_source(body_lines, name='f'):
    body = '\n'.join(f'\tx({i});' for i in range(body_lines))
    return f'/* {SPDX} */\n\nint {name}(\n\tint a)\n{{\n{body}\n}}\n'


C, PY, SH = f'/* {SPDX} */\n', f'# {SPDX}\n', f'#!/usr/bin/env bash\n# {SPDX}\n'

# Self-test: file -> (content, mode, what must be said of it; None: nothing).
EXAMPLES = {
    'lib/a/good.c': (C + '\tint x; /*\n\t * why\n\t */\n', 0o644, None),
    'lib/a/head.c': ('int x;\n', 0o644, ':1: the line'),
    'lib/wire/decode.c': (C + '\tWH_ASSERT(length > 0);\n', 0o644, ':2: what reads packets'),
    'lib/a/late.h': ('\n' + C, 0o644, ':1: the line'),
    'lib/a/wide.h': (C + '\t' + 'x' * 93 + '\n', 0o644, ':2: 101 columns'),
    'lib/a/fits.h': (C + '\t' + 'x' * 92 + '\n', 0o644, None),
    'lib/a/blank.h': (C + 'int x; \n', 0o644, ':2: trailing blanks'),
    'lib/a/mixed.h': (C + '  \tint x;\n', 0o644, ':2: a space before a tab'),
    'lib/a/spaces.h': (C + '        int x;\n', 0o644, ':2: C is indented'),
    'lib/a/macro.h': (C + '#define X \\\n         \\\n\t1\n', 0o644, None),
    'lib/a/word.h': (C + '/* TO' 'DO: all */\n', 0o644, ':2: "TO' 'DO"'),
    'lib/a/part.h': (C + '/* .X' 'XXXXX.part */\n', 0o644, None),
    'lib/a/end.h': (C + 'int x;', 0o644, ':2: no newline'),
    'lib/a/tail.h': (C + '\n', 0o644, ':2: blank lines at the end'),
    'lib/a/runs.h': (C, 0o755, ':1: executable, but no script'),
    'lib/a/latin.h': (b'/* \xe9 */\n', 0o644, ':1: not UTF-8'),
    'lib/a/long.c': (C + '\n' * 800 + 'int x;\n', 0o644, ':1: the file: 802 lines'),
    'lib/a/seventy.c': (c_source(66), 0o644, None),
    'lib/a/giant.c': (c_source(67, 'giant'), 0o644, ':3: giant: 71 lines'),
    'lib/a/same.c': (c_source(80, 'same'), 0o644, None),
    'lib/a/grown.c': (c_source(81, 'grown'), 0o644, ':3: grown: grew from 84 to 85'),
    'lib/a/shrunk.c': (c_source(79, 'shrunk'), 0o644, ':3: shrunk: shrank to 83'),
    'lib/a/cured.c': (c_source(9, 'cured'), 0o644, ':3: cured: 13 lines keep'),
    'lib/a/lone.c': (C, 0o644, ':1: no test/unit/a/lone.c'),
    'lib/a/excused.c': (C, 0o644, None),
    'lib/a/spoiled.c': (C, 0o644, ':1: has test/unit/a/spoiled.c'),
    'lib/a/roomy.c': (C, 0o644, None),
    'test/unit/a/roomy.c': (C, 0o644, None),
    'test/unit/a/spoiled.c': (C, 0o644, None),
    'test/unit/a/idle.c': (C, 0o644, ':1: not registered'),
    'test/unit/main.c': (C, 0o644, None),
    'test/a.py': (PY + 'def f():\n' + '    x()\n' * 70, 0o644, ':2: f: 71 lines'),
    'test/tabs.py': (PY + 'if x:\n\ty()\n', 0o644, ':3: Python is indented'),
    'tools/good': (SH, 0o755, None),
    'tools/still': (SH, 0o644, ':1: not executable'),
    'tools/bare': ('echo\n', 0o755, ':1: a script begins'),
    '.ci/run': (SH, 0o644, ':1: not executable'),
    'meson.build': ("project('x')\n", 0o644, ':1: the line'),
    'README.md': ('FIX' 'ME \n', 0o644, ':1: "FIX' 'ME"'),
    'build/lib/a/old.c': ('int x;  \n', 0o644, None),
} | {f'app/{room}/{n}.h': (C, 0o644, None)
     for room, count in {'thirty': 30, 'crowd': 31, 'grown': 33, 'cured': 30}.items()
     for n in range(count)}
TWINS = ('decode good late long seventy giant same grown shrunk cured head').split()
EXAMPLE_EXCEPTIONS = {
    'lib/a/same.c:same': 84, 'lib/a/grown.c:grown': 84, 'lib/a/shrunk.c:shrunk': 84,
    'lib/a/cured.c:cured': 84, 'lib/a/left.c': 900,
    'app/grown/': 32, 'app/cured/': 32, 'app/left/': 32,
}
EXAMPLE_ELSEWHERE = {'lib/a/excused.c': '', 'lib/a/spoiled.c': '', 'lib/a/moved.c': ''}
EXPECTED_BESIDES = {
    'README.md:1: trailing blanks', 'lib/a/left.c:1: is gone', 'lib/a/moved.c:1: is gone',
    'tools/bare:1: executable, but no script', 'tools/bare:1: the line',
    'app/crowd/:1: the folder: 31 sources', 'app/grown/:1: the folder: grew from 32 to 33',
    'app/cured/:1: the folder: 30 sources keep', 'app/left/:1: is gone',
}


def write(tree, name, content, mode):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, (content, mode, _) in EXAMPLES.items():
            write(tree, name, content, mode)
        for name in TWINS:
            room = 'wire' if name == 'decode' else 'a'
            write(tree, f'test/unit/{room}/{name}.c', C, 0o644)
        registered = ', '.join(f"'{n}'" for n in TWINS + ['roomy', 'spoiled'])
        write(tree, 'test/meson.build', PY + registered + '\n', 0o644)
        found = check_tree(tree, EXAMPLE_EXCEPTIONS, EXAMPLE_ELSEWHERE)
    expected = {name + said for name, (_, _, said) in EXAMPLES.items() if said} | EXPECTED_BESIDES
    missed = [e for e in expected if not any(f.startswith(e) for f in found)]
    wrong = [f for f in found if not any(f.startswith(e) for e in expected)]
    for line in missed:
        print(f'not found: {line}')
    for line in wrong:
        print(f'found without reason: {line}')
    print(f'{len(expected) - len(missed)} of {len(expected)} untidy places found')
    return 1 if missed or wrong else 0


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    found = check_tree(tree, EXCEPTIONS, PROVED_ELSEWHERE)
    print('\n'.join(found) if found else 'the tree is tidy')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
