# SPDX-License-Identifier: BSD-3-Clause
"""What a job's request is made of, however it is sent."""

from __future__ import annotations

import datetime
import os
import time
from typing import Any, Iterable

from wavehaul.errors import Error
from wavehaul.job import Job

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
When = datetime.datetime | datetime.timedelta | float


def list_of(paths: Paths) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [os.fspath(path) for path in paths]


def seconds_of(when: When | None) -> int:
    if when is None:
        return 0
    if isinstance(when, datetime.timedelta):
        return int(time.time() + when.total_seconds())
    return int(when.timestamp() if isinstance(when, datetime.datetime) else when)


def number_of(job: Job | int) -> int:
    return job.number if isinstance(job, Job) else job


def is_absolute(paths: list[str]) -> bool:
    return any(path.startswith('/') for path in paths)


def below(paths: list[str], root: str) -> list[str]:
    """Relative to the server's root, as it wants them."""
    found = []
    for path in paths:
        if path.startswith('/'):
            # The last name stays what it is: a link that is sent is sent as one.
            folder, name = os.path.split(path.rstrip('/') or '/')
            relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), root)
            if relative == '..' or relative.startswith('../'):
                raise Error(f'{path} is not below {root}, which the server serves')
            path = relative + ('/' if path.endswith('/') else '')
        found.append(path)
    return found


def job_of(verb: str, host: str, here: list[str], there: Paths, *, options: Iterable[str] = (),
           rate: str | None = None, priority: int | None = None, not_before: When | None = None,
           after: Job | int | None = None, retries: int = 0,
           attached: bool = False) -> dict[str, Any]:
    """The arguments of job.add, of paths `here` that are below the root."""
    asked: dict[str, Any] = {
        'verb': verb, 'host': host, 'here': here, 'there': list_of(there),
        'options': list(options), 'retries': retries, 'not_before': seconds_of(not_before),
        'attached': attached,
    }
    if rate is not None:
        asked['rate'] = rate
    if priority is not None:
        asked['priority'] = priority
    if after is not None:
        asked['after'] = number_of(after)
    return asked


def move_of(job: Job | int, before: Job | int | None, priority: int | None) -> dict[str, Any]:
    wanted = {'job': number_of(job)}
    if before is not None:
        wanted['before'] = number_of(before)
    if priority is not None:
        wanted['priority'] = priority
    return wanted
