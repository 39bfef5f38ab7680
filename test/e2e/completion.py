#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What bash offers where a tabulator is pressed, from the script that the program prints.

    completion.py [-k PATTERN] [--binary PATH]
"""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

from harness import Case, expect, expect_equal, expect_status, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

FILES = ['files']  # bash offers names of files by itself

# What stands on the line, its last word being completed -> what is offered; ... : and others.
OFFERS = [
    ([''], ['demo', 'serve', 'send', 'get', 'bench', 'sim', 'plan', 'doctor', 'completion', ...]),
    (['be'], ['bench']),
    (['probe', '--pl'], ['--plot']),
    (['--'], ['--help', '--version']),
    (['send', '--prof'], ['--profile']),
    (['send', '--profile', ''], ['fixed', 'udt', 'ttp', 'hstcp', 'sttp', 'pxp', 'pack',
      'lambda']),
    (['send', '--profile', 'u'], ['udt']),
    (['send', '--profile', '=', 't'], ['ttp']),
    (['send', '--profile', '='], ['fixed', 'udt', 'ttp', 'hstcp', 'sttp', 'pxp', 'pack',
      'lambda']),
    (['demo', '--code', ''], ['rs', 'tornado']),
    (['get', '--fec', 'a'], ['auto']),
    (['serve', '--parallel'], []),
    (['serve', '--rate', ''], ['max']),
    (['bench', '--fr'], ['--frame']),
    (['send', '--fr'], []),
    (['send', '--mtu', ''], []),
    (['send', '--mtu', '9000', '--rec'], ['--recursive']),
    (['send', ''], FILES),
    (['send', 'a.iso', 'b'], FILES),
    (['send', '--config', 'x'], FILES),
    (['doctor', '--root', ''], FILES),
    (['send', '--set', 'udt.b'], ['udt.bandwidth_in_bytes=', 'udt.beta=']),
    (['sim', '--set', 'ttp.stretch_'], ['ttp.stretch_max=']),
    (['demo', '--set', 'udt.formula3', '=', ''], ['on', 'off']),
    (['demo', '--set', 'udt.formula3', '=', 'of'], ['off']),
    (['demo', '--set', 'udt.beta', '=', ''], []),
    (['profiles', 'u'], ['udt']),
    (['completion', ''], ['bash', '--help']),
    (['trust', 'l'], ['list']),
]


def offered(script, words):
    """As bash calls it, with names of files told by a word."""
    line = ['wavehaul', *words]
    text = f'''
{script}
compopt() {{ [[ $* == *nospace* ]] || echo files; }}
COMP_WORDS=({' '.join(f"'{word}'" for word in line)})
COMP_CWORD={len(line) - 1}
_wavehaul wavehaul "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
'''
    result = subprocess.run(['bash', '-euc', text], capture_output=True, text=True, timeout=10)
    expect_equal('what bash complains of', result.stderr, '')
    return result.stdout.split()


def script_of(program):
    result = program.run('completion', 'bash')
    expect_status(result, 0)
    return result.out


def offers(program, folder, words, right):
    found = offered(script_of(program), words)
    if right[-1:] == [...]:
        expect(set(right[:-1]) <= set(found), f'{words} offers {found}')
    else:
        expect_equal(f'offered after {words}', found, right)


def every_option(program, folder):
    """Each that --help names, of each verb, and no other."""
    script = script_of(program)
    for verb in offered(script, ['']):
        if verb.startswith('-'):
            continue
        result = program.run(verb, '--help')
        expect_status(result, 0)
        known = set(re.findall(r'^ +(?:-\w, )?(--[a-z][a-z-]*)', result.out, re.M)) | {'--help'}
        expect_equal(f'options of {verb}', sorted(offered(script, [verb, '--'])), sorted(known))


def wrong(program, folder, args):
    result = program.run('completion', *args)
    expect_status(result, 2)
    expect('wavehaul completion bash' in result.err, result.err)


def cases():
    for words, right in OFFERS:
        yield Case('offers ' + ' '.join(words), True, partial(offers, words=words, right=right))
    yield Case('every option', True, every_option)
    for args in ([], ['zsh'], ['bash', 'zsh']):
        yield Case('wrong ' + ' '.join(args), True, partial(wrong, args=args))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
