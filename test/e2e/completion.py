#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What bash, zsh and fish offer where a tabulator is pressed, from the scripts of the program.

    completion.py [-k PATTERN] [--binary PATH]
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from functools import partial
from pathlib import Path

from harness import Case, Skip, expect, expect_equal, expect_status, run_cases

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
    (['completion', ''], ['bash', 'zsh', 'fish', '--help']),
    (['trust', 'l'], ['list']),
    (['help', 'se'], ['serve', 'send']),
    # What the program is asked for.
    (['job', 'show', ''], ['12', '7']),
    (['job', 'add', 'send', 'a.iso', 'd'], ['dtn2:', 'dtn3:']),
    (['send', '--after', ''], FILES),  # no option of it
    (['job', '--after', '1'], ['12']),
    (['trust', 'remove', 'd'], ['dtn2', 'dtn3']),
    (['ls', 'dtn2'], ['dtn2:']),
    (['ls', 'dtn2', ':', 'x'], []),
    (['get', 'd'], ['dtn2:', 'dtn3:']),
    (['get', 'dtn2:x', 'd'], FILES),
    (['ping', ''], ['dtn2', 'dtn3']),
    (['sim', 'dumb'], ['dumbbell']),
]

# What stands for the program where a script asks it.
ASKED = r'''#!/bin/sh
case "$*" in
'completion words'*) exec PROGRAM "$@" ;;
'job list --all') printf 'job  state\n12   running  send\n7    done     get\n' ;;
'trust list --json') printf '{\n  "peers": [\n    {\n      "name": "dtn2",\n' &&
    printf '      "key": "sha256:0"\n    },\n    {\n      "name": "dtn3",\n    }\n  ]\n}\n' ;;
'sim --list') printf 'dumbbell   Flows that share a link\nring       Three\n' ;;
esac
'''


def offered(script, words, asked='true'):
    """As bash calls it, with names of files told by a word."""
    line = [asked, *words]
    text = f'''
{script}
compopt() {{ [[ $* != *default* ]] || echo files; }}
compgen() {{ [[ $1 == -f ]] || builtin compgen "$@"; }}
COMP_WORDS=({' '.join(f"'{word}'" for word in line)})
COMP_CWORD={len(line) - 1}
_wavehaul wavehaul "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
'''
    result = subprocess.run(['bash', '-euc', text], capture_output=True, text=True, timeout=10)
    expect_equal('what bash complains of', result.stderr, '')
    found = result.stdout.split()
    # By default, which means where nothing else is offered.
    return [word for word in found if word not in FILES] or found[:1]


def asked_in(folder):
    """A program of that name, whose answers are known."""
    program = folder / 'wavehaul'
    program.write_text(ASKED.replace('PROGRAM', str(BINARY)))
    program.chmod(0o755)
    return program


def script_of(program, shell='bash'):
    result = program.run('completion', shell)
    expect_status(result, 0)
    return result.out


def offers(program, folder, words, right):
    found = offered(script_of(program), words, asked_in(folder))
    if right[-1:] == [...]:
        expect(set(right[:-1]) <= set(found), f'{words} offers {found}')
    else:
        expect_equal(f'offered after {words}', found, right)


def every_option(program, folder):
    """Each that --help names, of each verb, and no other."""
    script = script_of(program)
    for verb in offered(script, ['']):
        if verb.startswith('-') or verb == 'help':
            continue
        result = program.run(verb, '--help')
        expect_status(result, 0)
        known = set(re.findall(r'^  (?:-\w, )?(--[a-z][a-z-]*)', result.out, re.M)) | {'--help'}
        expect_equal(f'options of {verb}', sorted(offered(script, [verb, '--'])), sorted(known))


def need(shell):
    if shutil.which(shell) is None:
        raise Skip(f'no {shell}')


def by_fish(program, folder):
    """As fish itself lists them, with what they are."""
    need('fish')
    asked_in(folder)
    (folder / 'script').write_text(script_of(program, 'fish'))

    def offers_of(line):
        result = subprocess.run(
            ['fish', '--no-config', '-c', f"source {folder}/script; complete -C '{line}'"],
            capture_output=True, text=True, timeout=20, check=True,
            env=os.environ | {'HOME': str(folder), 'PATH': f'{folder}:{os.environ["PATH"]}'})
        expect_equal('what fish complains of', result.stderr, '')
        return dict((*line.split('\t'), '')[:2] for line in result.stdout.splitlines())

    expect_equal('verbs', offers_of('wavehaul se'),
                 {'serve': 'accept transfers and serve files below a folder',
                  'send': 'send files or trees to a server'})
    expect_equal('an option', list(offers_of('wavehaul send --prof')), ['--profile'])
    expect_equal('none of it', list(offers_of('wavehaul serve --prof')), [])
    expect_equal('its letter', '-r' in offers_of('wavehaul send -'), True)
    expect('udt' in offers_of('wavehaul send --profile '), 'no values')
    expect_equal('what one begins with', list(offers_of('wavehaul demo --set udt.bet')),
                 ['udt.beta='])
    expect_equal('commands', list(offers_of('wavehaul job re')), ['resume', 'retry'])
    expect_equal('jobs', offers_of('wavehaul job show '), {'12': 'running send', '7': 'done get'})
    expect_equal('peers', list(offers_of('wavehaul ls d')), ['dtn2:', 'dtn3:'])
    expect_equal('hosts', list(offers_of('wavehaul ping d')), ['dtn2', 'dtn3'])
    expect_equal('scenarios', list(offers_of('wavehaul sim dumb')), ['dumbbell'])
    expect_equal('shells', list(offers_of('wavehaul completion f')), ['fish'])


def by_zsh(program, folder):
    """As zsh's editor completes them, in a terminal."""
    need('zsh')
    asked_in(folder)
    (folder / 'script').write_text(script_of(program, 'zsh'))
    master, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 200, 0, 0))
    process = subprocess.Popen(
        ['zsh', '-f', '-i'], stdin=end, stdout=end, stderr=end, start_new_session=True, cwd=folder,
        env=os.environ | {'HOME': str(folder), 'TERM': 'xterm',
                          'PATH': f'{folder}:{os.environ["PATH"]}'})
    os.close(end)

    def until(keys, pattern):
        """Types, and reads until that is there, without what moves the cursor or colours."""
        os.write(master, keys.encode())
        said, began = '', time.monotonic()
        while not re.search(pattern, said):
            expect(time.monotonic() - began < 20, f'{keys!r}: no {pattern!r} in {said!r}')
            if select.select([master], [], [], 0.1)[0]:
                said += re.sub(r'\x1b\[[?0-9;]*[a-zA-Z]|\x1b[=>]|\r', '',
                               os.read(master, 1 << 16).decode(errors='replace'))
        return said

    try:
        until('autoload -Uz compinit; compinit -u -D; . ./script; echo be\'\'gun\n', 'begun')
        for keys, pattern in (
                ('wavehaul keyg\t', 'keygen '), ('wavehaul send --prof\t', '--profile'),
                ('wavehaul send --', 'send --'), ('\t', '--move +-- remove each file or link'),
                ('wavehaul demo --set udt.bet\t', 'udt.beta='),
                ('wavehaul send --profile=hs\t', 'hstcp'), ('wavehaul job show 1\t', 'show 12'),
                ('wavehaul ls dtn3\t', 'dtn3:'), ('wavehaul ping dtn2\t', 'dtn2 '),
                ('wavehaul sim dumb\t', 'dumbbell'), ('wavehaul job resu\t', 'resume')):
            if not pattern.startswith('--move'):
                until('\x15', '')
            until(keys, pattern)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def wrong(program, folder, args):
    result = program.run('completion', *args)
    expect_status(result, 2)
    expect('wavehaul completion bash' in result.err, result.err)


def cases():
    for words, right in OFFERS:
        yield Case('offers ' + ' '.join(words), True, partial(offers, words=words, right=right))
    yield Case('every option', True, every_option)
    yield Case('by fish', True, by_fish)
    yield Case('by zsh', True, by_zsh)
    for args in ([], ['csh'], ['bash', 'zsh']):
        yield Case('wrong ' + ' '.join(args), True, partial(wrong, args=args))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
