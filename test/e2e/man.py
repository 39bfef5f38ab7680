#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages and the program's own --help name the same verbs and options, and other pages
name no others.

    man.py [-k PATTERN] [--binary PATH]
"""

import json
import re
import sys
from pathlib import Path

from harness import Case, expect, expect_equal, expect_status, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
VERBS = ('bench', 'completion', 'console', 'demo', 'doctor', 'du', 'fleet', 'get', 'job', 'keygen',
         'ls', 'mkdir', 'mv', 'nic', 'parts', 'ping', 'plan', 'probe', 'profiles', 'report', 'rm',
         'send', 'serve', 'sim', 'trust', 'wan')


def options_of_help(text):
    return set(re.findall(r'^  ((?:-\w, )?--[a-z][a-z-]*)', text, re.M))


def options_of_page(page):
    """What stands in bold at the head of a .TP entry."""
    heads = re.findall(r'^\.TP\n\.BI? "?((?:\\-\w, )?\\-\\-[^\s"]+)', page, re.M)
    return {head.replace('\\-', '-') for head in heads}


def same_options(program, folder, verb):
    result = program.run(verb, '--help')
    expect_status(result, 0)
    page = (TOP / 'man' / f'wavehaul-{verb}.1').read_text()
    documented = options_of_page(page)
    expect(documented, 'no options found in the page: is its form another?')
    expect_equal('the options of the page', sorted(documented), sorted(options_of_help(result.out)))


def same_verbs(program, folder):
    result = program.run('--help')
    expect_status(result, 0)
    verbs = re.search(r'Verbs:\n((?: +\S.*\n)+)', result.out).group(1)
    page = (TOP / 'man' / 'wavehaul.1').read_text()
    section = page[page.index('.SH VERBS'):page.index('.SH OPTIONS')]
    known = sorted(re.findall(r'^ +(\w+) ', verbs, re.M))
    expect_equal('the verbs of the page', sorted(re.findall(r'^\.BR (\w+)$', section, re.M)), known)
    expect_equal('the verbs of this test', sorted(VERBS), known)


def troff(text):
    return text.replace('\\', '\\e').replace('-', '\\-').replace("'", "\\'")


def section_of(profile):
    """What the page has on a profile, from what the program says."""
    lines = [f'.SS {profile["name"]}', troff(profile['summary']) + '.']
    for paragraph in (profile['about'] or '').strip().split('\n\n'):
        lines += ['.PP', troff(paragraph)] if paragraph else []
    for option in profile['options']:
        words = option['words']
        listed = ', '.join(words[:-1]) + ' or ' + words[-1] if words else ''
        if option['type'] == 'switch':
            listed = 'on or off'
        bounds = listed if words else f'from {option["least"]} to {option["most"]}'
        lines += ['.TP', f'.BI {profile["name"]}.{option["name"]} " = {option["type"]}"',
                  troff(option['help'][0].upper() + option['help'][1:]) + '.',
                  troff(f'{bounds[0].upper()}{bounds[1:]}; default {option["default"]}.')]
        if option['paper'] is not None:
            lines.append(troff(f'Paper: {option["paper"]}.'))
    return '\n'.join(lines) + '\n'


def same_profiles(program, folder):
    """Word by word: the page is made from the table, and this is what it must be."""
    result = program.run('profiles', '--json')
    expect_status(result, 0)
    right = ''.join(section_of(profile) for profile in json.loads(result.out)['profiles'])
    page = (TOP / 'man' / 'wavehaul-profiles.1').read_text()
    found = page[page.index('.SH PROFILES\n') + len('.SH PROFILES\n'):page.index('.SH EXIT')]
    expect(found == right, f'.SH PROFILES of wavehaul-profiles.1 must be:\n{right}')


def words_apart(program, folder):
    """Macros that alternate fonts join their arguments: a sentence among them loses its spaces."""
    for page in sorted((TOP / 'man').glob('*.[1-8]')):
        for line in page.read_text().splitlines():
            if re.match(r'\.(BR|RB|BI|IB|IR|RI) ', line):
                plain = re.sub('"[^"]*"', '""', line[4:])
                expect(not re.search(r'\w\w \w|\w \w\w', plain), f'{page.name}: {line}')


def commands(page):
    """(line, verb, the rest) of each command of wavehaul in a page's code; '', if it names none."""
    text = re.sub(r'\\\n +', ' ', page.read_text())
    for number, line in enumerate(text.split('\n'), 1):
        indented = line.startswith('    ')
        for span in [line] if indented else re.findall(r'`([^`]+)`', line):
            for verb, rest in re.findall(r'\bwavehaul (\w+)(?![\w=])((?: [^;|#]*)?)', span):
                yield number, verb, rest.partition(' --via ')[0]
            if span.startswith('--') and not indented:
                yield number, '', ' ' + span


def pages_of_people(program, folder):
    """A command in README or docs/ has a verb that there is, and options that this verb has."""
    known = {verb: set(re.findall(r'--[a-z][a-z-]*', program.run(verb, '--help').out))
             for verb in VERBS}
    known[''] = set().union(*known.values())
    looked_at = 0
    for page in (TOP / 'README.md', TOP / 'CONTRIBUTING.md', *(TOP / 'docs').rglob('*.md')):
        for number, verb, rest in commands(page):
            where = f'{page.relative_to(TOP)}:{number}'
            if verb in ('VERB', 'help'):
                continue
            expect(verb in known, f'{where}: no verb {verb}')
            for option in re.findall(r'(?<=\s)--[a-z][a-z-]*', rest):
                expect(option in known[verb], f'{where}: {option} is none of {verb or "any verb"}')
                looked_at += 1
    expect(looked_at > 50, f'only {looked_at} options found: is the form of pages another?')


def cases():
    yield Case('pages of people', True, pages_of_people)
    yield Case('words apart', True, words_apart)
    yield Case('profiles', True, same_profiles)
    yield Case('verbs', True, same_verbs)
    for verb in VERBS:
        yield Case(f'options of {verb}', True,
                   lambda program, folder, verb=verb: same_options(program, folder, verb))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
