#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages and the program's own --help name the same verbs and options.

    man.py [-k PATTERN] [--binary PATH]
"""

import re
import sys
from pathlib import Path

from harness import Case, expect, expect_equal, expect_status, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
VERBS = ('bench', 'completion', 'demo', 'doctor', 'get', 'plan', 'send', 'serve', 'sim')


def options_of_help(text):
    return set(re.findall(r'^ +(--[a-z][a-z-]*)', text, re.M)) | {'--help'}


def options_of_page(page):
    """What stands in bold at the head of a .TP entry."""
    heads = re.findall(r'^\.TP\n\.BI? (\\-\\-\S+)', page, re.M)
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


def cases():
    yield Case('verbs', True, same_verbs)
    for verb in VERBS:
        yield Case(f'options of {verb}', True,
                   lambda program, folder, verb=verb: same_options(program, folder, verb))


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
