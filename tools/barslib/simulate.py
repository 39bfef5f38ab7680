# SPDX-License-Identifier: BSD-3-Clause
"""What `wavehaul sim` says of a scenario, and which options a profile takes."""

import json
import subprocess
from pathlib import Path

# As of wavehaul itself (man wavehaul).
OK, EXPECTATION = 0, 8

# No scenario takes that long; a simulator that hangs must not hang CI.
LIMIT_S = 1800


class Failed(Exception):
    """A scenario that came to nothing, as a sentence."""


def simulate(binary, name, text, folder, settings=(), jobs=1):
    """Its JSON."""
    path = Path(folder) / f'{name}.ini'
    path.write_text(text, encoding='utf-8')
    command = [binary, 'sim', path, '--json', '--jobs', jobs]
    command += [word for one in settings for word in ('--set', one)]
    process = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=LIMIT_S, check=False)
    if process.returncode not in (OK, EXPECTATION):
        words = ' | '.join(process.stderr.decode(errors='replace').strip().splitlines()[-2:])
        raise Failed(f'{name}: exit status {process.returncode}: {words or "not a word"}')
    return json.loads(process.stdout)


def options_of(binary, profile):
    """What the profile takes; None: it is none, but a TCP."""
    said = subprocess.run([binary, 'profiles', '--json'], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LIMIT_S, check=True)
    return next(({option['name'] for option in one['options']}
                 for one in json.loads(said.stdout)['profiles'] if one['name'] == profile), None)
