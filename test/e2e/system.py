#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""What the system knows of the service, and what its package is made of; nothing is installed.

    system.py [--quick] [-k PATTERN] [--binary PATH]
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness import Case, Skip, expect, expect_between, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
UNIT = 'wavehaul.service'

# Of 10, by systemd-analyze; what stays is the network, and devices.
EXPOSURE_MAX = 3.0


def tool(name):
    if not shutil.which(name):
        raise Skip(f'{name} is not there')
    return name


def plant(program, folder, keep=lambda line: True):
    """The unit below a root, which runs the built program."""
    built = Path(program.binary).parents[2] / 'system' / UNIT
    lines = built.read_text().splitlines()
    place = folder / 'usr/lib/systemd/system'
    place.mkdir(parents=True, exist_ok=True)
    (place / UNIT).write_text('\n'.join(filter(keep, lines)) + '\n')
    for name in ('sysinit.target', 'basic.target', 'network-online.target', 'shutdown.target',
                 'multi-user.target'):
        (place / name).write_text('[Unit]\nDescription=there\n')
    return place / UNIT


def exposure(folder):
    said = subprocess.run([tool('systemd-analyze'), 'security', '--no-pager', '--offline=true',
                           f'--root={folder}', UNIT], capture_output=True, text=True, check=False)
    found = re.search(r'Overall exposure level.*: ([0-9.]+)', said.stdout)
    expect(found, f'systemd-analyze says {said.stdout[-200:]}{said.stderr[-200:]}')
    return float(found.group(1))


def exposed(program, folder):
    """The exposure score is low; a unit without its sandbox would fail this."""
    plant(program, folder)
    expect_between('the exposure of the service', exposure(folder), 0, EXPOSURE_MAX)
    plant(program, folder, lambda line: not line.startswith(('Protect', 'Private')))
    expect(exposure(folder) > EXPOSURE_MAX, 'a unit that protects nothing is no worse')


def unit_is_right(program, folder):
    unit = plant(program, folder)
    unit.write_text(re.sub('^ExecStart=[^ ]*', f'ExecStart={program.binary}', unit.read_text(),
                           flags=re.MULTILINE))
    said = subprocess.run([tool('systemd-analyze'), 'verify', '--man=no', unit],
                          capture_output=True, text=True, check=False)
    wrong = [line for line in said.stderr.splitlines() if UNIT in line]
    expect_equal('what systemd-analyze says of it', wrong, [])
    text = unit.read_text()
    for line in ('Type=notify', 'WatchdogSec=20', 'RestartPreventExitStatus=2 7',
                 'DevicePolicy=closed', 'DeviceAllow=char-vfio rw', 'LimitMEMLOCK=infinity',
                 'User=wavehaul', 'StateDirectory=wavehaul', 'RestrictSUIDSGID=no'):
        expect(f'\n{line}\n' in text, f'the unit has no {line}')


def folders(program, folder):
    """The user comes first, and what is his is his."""
    if os.geteuid() != 0:
        raise Skip('only root makes users')
    root = folder / 'root'
    (root / 'etc').mkdir(parents=True)
    for command in (('systemd-sysusers', f'--root={root}', TOP / 'system/wavehaul.sysusers'),
                    ('systemd-tmpfiles', f'--root={root}', '--create',
                     TOP / 'system/wavehaul.tmpfiles')):
        done = subprocess.run([tool(command[0]), *map(str, command[1:])], capture_output=True,
                              text=True, check=False)
        expect(done.returncode == 0 and 'ailed' not in done.stderr, f'{command}: {done.stderr}')
    users = {line.split(':')[0]: line.split(':')
             for line in (root / 'etc/passwd').read_text().splitlines()}
    uid, gid = map(int, users['wavehaul'][2:4])
    expect_equal('its home', users['wavehaul'][5], '/var/lib/wavehaul')
    for path, owner in (('etc/wavehaul', 0), ('etc/wavehaul/trust.d', 0),
                        ('var/lib/wavehaul', uid), ('var/log/wavehaul', uid)):
        found = (root / path).stat()
        expect_equal(path, (found.st_mode & 0o7777, found.st_uid, found.st_gid),
                     (0o750, owner, gid))


def one_version(program, folder):
    """In all that has one."""
    said = program.run('--version').out
    for path, pattern in (('meson.build', r"\n  version: '([^']+)'"),
                          ('debian/changelog', r'^wavehaul \(([^)]+)\)'),
                          ('python/pyproject.toml', r'\nversion = "([^"]+)"')):
        found = re.search(pattern, (TOP / path).read_text())
        expect(found and f' {found.group(1)}' in said, f'{path} has {found}, the program {said}')


CASES = [
    Case('system: the service is exposed by little', True, exposed),
    Case('system: the unit is right', True, unit_is_right),
    Case('system: its user and folders', True, folders),
    Case('system: one version', True, one_version),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
