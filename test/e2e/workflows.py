#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package's classes for Rucio and Airflow, with the programs that call them.

    workflows.py [--quick] [-k PATTERN] [--binary PATH]

Rucio and Airflow come from PyPI into build/workflows, by `tools/setup --tests`; skipped where they
are not there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from harness import Case, Skip, expect, expect_equal, run_cases
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


def told_by(code, name, folder, **asked):
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
    done = subprocess.run([PYTHON, '-c', code, json.dumps(asked)], env=known, capture_output=True,
                          text=True, timeout=90, check=False)
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


if __name__ == '__main__':
    sys.exit(run_cases([Case('files of Rucio', False, rucio),
                        Case('a task of Airflow', False, airflow)], BINARY))
