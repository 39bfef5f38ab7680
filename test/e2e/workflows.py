#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package's classes for Rucio and Airflow, and the plug-in for HTCondor, with what calls
them.

    workflows.py [--quick] [-k PATTERN] [--binary PATH]

Rucio, Airflow and HTCondor's ads come from PyPI into build/workflows, by `tools/setup --tests`;
skipped where they are not there.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from fleet import Site
from harness import Case, Skip, expect, expect_equal, run_cases
from lab import Lab
from orders import houses
from pair import CLIENT

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
PYTHON = Path(os.environ.get('WORKFLOWS', TOP / 'build/workflows')) / 'bin/python'

# Rucio's own manager of an RSE does what a client and a deletion daemon do.
RUCIO = r'''
import hashlib, json, os, sys
from pathlib import Path

asked = json.loads(sys.argv[1])
folder = Path(asked['files'])
from rucio.common import exception
from rucio.rse import rsemanager

protocol = {'scheme': 'wavehaul', 'hostname': asked['host'], 'port': 5760, 'prefix': '/rse/',
            'impl': 'wavehaul.rucio.Default',
            'extended_attributes': {'command': [asked['binary']], 'options': asked['options']},
            'domains': {place: {'read': 1, 'write': 1, 'delete': 1, 'third_party_copy_read': 0,
                                'third_party_copy_write': 0} for place in ('lan', 'wan')}}
rse = {'rse': 'DTN2', 'id': 'x', 'rse_type': 'DISK', 'deterministic': True,
       'domain': ['lan', 'wan'], 'lfn2pfn_algorithm': 'hash', 'verify_checksum': True,
       'protocols': [protocol],
       'volatile': False, 'staging_area': False, 'sign_url': None, 'availability_write': True,
       'availability_delete': True, 'availability_read': True, 'credentials': None}
data = os.urandom(3_000_000)
(folder / 'run 42?*').write_bytes(data)
lfn = {'scope': 'user.jdoe', 'name': 'run 42?*', 'filesize': len(data),
       'md5': hashlib.md5(data).hexdigest()}
told = {}


def raised(function, *args, **named):
    try:
        function(*args, **named)
    except exception.RucioException as error:
        return type(error).__name__
    return None


told['wrong size'] = raised(rsemanager.upload, rse, [dict(lfn, filesize=7)],
                            source_dir=str(folder), auth_token='')
told['before'] = rsemanager.exists(rse, [lfn], auth_token='')
told['put'] = rsemanager.upload(rse, [dict(lfn)], source_dir=str(folder), auth_token='')['success']
told['there'] = rsemanager.exists(rse, [lfn], auth_token='')


def connected():
    made = rsemanager.create_protocol(rse, 'read', auth_token='')
    made.connect()
    return made


here = connected()
pfn = list(here.lfns2pfns(lfn).values())[0]
told['pfn'] = pfn
told['stat'] = here.stat(pfn)
told['missing'] = [raised(here.stat, pfn + 'x'), raised(here.get, pfn + 'x', str(folder / 'x')),
                   raised(here.delete, pfn + 'x'), raised(here.rename, pfn + 'x', pfn + 'y')]
told['left'] = (folder / 'x').exists()
told['above'] = raised(here.stat, 'wavehaul://%s:5760/../secret' % asked['host'])
told['nowhere'] = raised(here.get, pfn, str(folder / 'no/where'))
told['no source'] = raised(here.put, 'nothing', pfn + 'z', str(folder))
told['too long'] = raised(here.get, pfn, str(folder / 'late'), transfer_timeout=0.001)
here.get(pfn, str(folder / 'back'))
told['back'] = (folder / 'back').read_bytes() == data
new = pfn.replace('/rse/', '/rse/new/folder/')
here.rename(pfn, new)
told['renamed'] = (here.exists(pfn), here.exists(new))
here.rename(new, pfn)
told['deleted'] = rsemanager.delete(rse, [lfn], auth_token='')
told['after'] = rsemanager.exists(rse, [lfn], auth_token='')
here.command = ['/nothing']
told['no program'] = raised(here.exists, pfn)
print(json.dumps(told))
'''

# What a worker does until it is deferred, then the triggerer, then a worker again.
AIRFLOW = r'''
import asyncio, importlib, json, sys, warnings

warnings.simplefilter('ignore')
asked = json.loads(sys.argv[1])
from airflow.exceptions import AirflowException
from airflow.triggers.base import BaseTrigger
try:
    from airflow.sdk.exceptions import TaskDeferred
except ImportError:
    from airflow.exceptions import TaskDeferred
from wavehaul.airflow import WavehaulOperator


async def first(trigger):
    async for event in trigger.run():
        return event.payload


def run(here, **more):
    task = WavehaulOperator(task_id='t', verb='send', host=asked['host'], here=here, there='came',
                            control=asked['control'], **more)
    try:
        task.execute({})
    except TaskDeferred as deferred:
        assert isinstance(deferred.trigger, BaseTrigger)
        # As the database keeps it between the two.
        where, how = json.loads(json.dumps(deferred.trigger.serialize()))
        module, name = where.rsplit('.', 1)
        trigger = getattr(importlib.import_module(module), name)(**how)
        event = json.loads(json.dumps(asyncio.run(first(trigger))))
        return getattr(task, deferred.method_name)({}, event=event)
    raise SystemExit('it is not deferred')


def failed(*args, **more):
    try:
        run(*args, **more)
    except Exception as error:
        return [type(error).__name__, str(error)]


print(json.dumps({'sent': run('data', rate='500M', priority=7), 'failed': failed('nothing'),
                  'refused': failed('../x')}), file=sys.__stdout__)
'''


# As the starter of HTCondor asks, with its own writer and reader of ads.
HTCONDOR = r'''
import json, os, subprocess, sys
import classad2

asked = json.loads(sys.argv[1])
os.environ['PATH'] = asked['path'] + ':' + os.environ['PATH']
os.chdir(asked['work'])


def run(*words):
    return subprocess.run([asked['plugin'], *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)


def ask(text, *more):
    with open('ads.in', 'w') as file:
        file.write(text)
    done = run('-infile', 'ads.in', '-outfile', 'ads.out', *more)
    with open('ads.out') as file:
        return done.returncode, [dict(ad) for ad in classad2.parseAds(file.read())]


def ads(*pairs):
    return ''.join(str(classad2.ClassAd({'LocalFileName': local, 'Url': url}))
                   for local, url in pairs)


about = classad2.parseOne(run('-classad').stdout)
names = ['plain', 'with "quotes" \\ and\nline', '\u00e9t\u00e9']
for name in names:
    with open(name, 'w') as file:
        file.write(name * 1000)
url = 'wavehaul://127.0.0.1/'
up = ask(ads(*((name, url + 'made/' + name) for name in names)), '-upload')
down = ask(ads(*((name + '.back', url + 'made/' + name) for name in names)))
wrong = ask(ads(('x1', url + 'made/none'), ('x2', 'https://a/b'), ('x3', url),
                ('x4', 'wavehaul://-v/x'), ('x5', url + 'made/plain')))
print(json.dumps({
    'about': [about['SupportedMethods'], about['MultipleFileSupport'], about['PluginType']],
    'up': [up[0], [ad['TransferSuccess'] for ad in up[1]], up[1][0]['TransferType'],
           [ad['TransferFileBytes'] for ad in up[1]]],
    'down': [down[0], [ad['TransferSuccess'] for ad in down[1]],
             [open(name + '.back').read() == name * 1000 for name in names],
             down[1][2]['TransferUrl'] == url + 'made/' + names[2]],
    'wrong': [wrong[0], [ad['TransferSuccess'] for ad in wrong[1]],
              [bool(ad['TransferError']) for ad in wrong[1][:4]],
              [os.path.exists('x%d' % i) for i in range(1, 6)]],
    'no ads': [ask('[ Url = "wavehaul://a/b'), ask('nothing')[0], ask('')],
    'missing': ask(ads(('none', url + 'none')), '-upload')[0],
    'words': [run().returncode, run('-infile', 'x').returncode]}))
'''


def told_by(code, name, folder, under=(), **asked):
    if not PYTHON.exists():
        raise Skip(f'{PYTHON.parents[1]} is not there: tools/setup --tests makes it from PyPI')
    settings = folder / 'settings'
    (settings / 'etc').mkdir(parents=True)
    (settings / 'etc/rucio.cfg').write_text(
        '[client]\nrucio_host = http://localhost\nauth_host = http://localhost\n'
        'account = jdoe\nauth_type = userpass\n')
    known = {'PATH': os.environ['PATH'], 'HOME': str(settings), 'RUCIO_HOME': str(settings),
             'RUCIO_CLIENT_MODE': 'True', 'AIRFLOW_HOME': str(settings),
             'AIRFLOW__CORE__UNIT_TEST_MODE': 'True', 'PYTHONPATH': str(TOP / 'python'),
             'PYTHONDONTWRITEBYTECODE': '1'}
    if subprocess.run([PYTHON, '-c', f'import {name}'], env=known, capture_output=True, timeout=60,
                      check=False).returncode != 0:
        raise Skip(f'{PYTHON.parents[1]} has no {name}: tools/setup --tests gets it from PyPI')
    done = subprocess.run([*under, PYTHON, '-c', code, json.dumps(asked)], env=known,
                          capture_output=True, text=True, timeout=90, check=False)
    expect(done.returncode == 0, f'{done.stdout[-500:]} {done.stderr[-1500:]}')
    return json.loads(done.stdout.strip().splitlines()[-1])


def rucio(program, folder):
    """Files of an RSE: by Rucio's own manager, and what is wrong as Rucio names it."""
    with houses(program) as (one, two):
        (two.rendezvous / 'secret').write_text('secret')
        told = told_by(RUCIO, 'rucio.rse', folder, files=str(folder), host=CLIENT,
                       binary=str(Path(program.binary).resolve()),
                       options=['--control', str(one.path)])
        pfn = told.pop('pfn')
        expect(pfn.startswith(f'wavehaul://{CLIENT}:5760/rse/'), pfn)
        expect_equal('told', told, {
            'wrong size': 'RucioException', 'before': False, 'put': True, 'there': True,
            'stat': {'filesize': 3_000_000},
            'missing': ['SourceNotFound'] * 4, 'left': False, 'above': 'RSEFileNameNotSupported',
            'nowhere': 'DestinationNotAccessible', 'no source': 'SourceNotFound',
            'too long': 'ServiceUnavailable', 'back': True, 'renamed': [False, True],
            'deleted': True, 'after': False, 'no program': 'ServiceUnavailable'})
        expect_equal('files there', [name for name in two.names('.') if
                                     (two.root / name).is_file()], [])


def airflow(program, folder):
    """A task is deferred, its trigger goes through text, and its end is the task's."""
    with houses(program) as (one, two):
        digest = one.make('data', 3_000_000)
        told = told_by(AIRFLOW, 'airflow', folder, host=CLIENT, control=str(one.path))
        expect_equal('what came', two.digest('came'), digest)
        sent = told['sent']
        expect_equal('sent', (sent['state'], sent['files'], sent['bytes'], sent['exit_status']),
                     ('done', 1, 3_000_000, 0))
        job = one.show(sent['job'])
        expect_equal('the job', (job['rate'], job['priority']), ('500M', 7))
        kind, why = told['failed']
        expect(kind == 'AirflowException' and 'is failed' in why and 'nothing' in why, why)
        expect_equal('refused', told['refused'][0], 'Refused')


def htcondor(program, folder):
    """Files both ways, whatever their names; each that is wrong is told, and the others come."""
    path, work = folder / 'bin', folder / 'work'
    for made in (path, work):
        made.mkdir()
    (path / 'wavehaul').write_text(
        f'#!/bin/sh\nexec {shlex.quote(str(Path(program.binary).resolve()))} "$@" --config none '
        '--buffers 128M --unsealed --daemon never --state none --peer-timeout 2s\n')
    (path / 'wavehaul').chmod(0o755)
    with Lab() as lab:
        host = lab.host('alone')
        with Site(program, folder, lambda _: host.under) as site:
            (site.served / 'made').mkdir()
            site.serve('r')
            told = told_by(HTCONDOR, 'classad2', folder, under=host.under, path=str(path),
                           work=str(work), plugin=str(TOP / 'config/htcondor/wavehaul_plugin'))
            sizes = [5000, 24000, 5000]
            failed = [1, [{'TransferSuccess': False, 'TransferError':
                           'the list of files has an ad that does not end'}]]
            expect_equal('told', told, {
                'about': ['wavehaul', True, 'FileTransfer'],
                'up': [0, [True] * 3, 'upload', sizes],
                'down': [0, [True] * 3, [True] * 3, True],
                'wrong': [1, [False] * 4 + [True], [True] * 4, [False] * 4 + [True]],
                'no ads': [failed, 1, [0, []]], 'missing': 1, 'words': [2, 2]})


if __name__ == '__main__':
    sys.exit(run_cases([Case('files of Rucio', False, rucio),
                        Case('a task of Airflow', False, airflow),
                        Case('files of HTCondor', False, htcondor)], BINARY))
