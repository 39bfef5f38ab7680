# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a server's queue."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass, field, fields
from typing import Any, Mapping


class State(str, enum.Enum):
    READY = 'ready'
    WAITING = 'waiting'
    BLOCKED = 'blocked'
    PAUSED = 'paused'
    RUNNING = 'running'
    DONE = 'done'
    FAILED = 'failed'
    CANCELLED = 'cancelled'

    def __str__(self) -> str:
        return self.value

    @property
    def is_over(self) -> bool:
        return self in (State.DONE, State.FAILED, State.CANCELLED)


def _moment_of(seconds: int | None) -> datetime.datetime | None:
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


@dataclass(frozen=True)
class Job:
    """As job.show has it: wavehaul-control(7). Times are aware, in UTC; `told` has them in seconds.

    `percent`, `now_bps` and `eta_s` are of a running job, and None where they are not known."""

    number: int
    state: State
    verb: str
    host: str
    here: tuple[str, ...]
    there: tuple[str, ...]
    options: tuple[str, ...]
    rate: str
    priority: int
    tries: int
    retries: int
    owner: int
    attached: bool
    stream: bool
    after: int | None
    due: datetime.datetime | None
    added: datetime.datetime
    began: datetime.datetime | None
    ended: datetime.datetime | None
    exit_status: int
    error: str | None
    files: int
    skipped: int
    failed: int
    bytes: int
    moved_bytes: int
    seconds: float
    rate_bps: int | None
    percent: float | None
    now_bps: float | None
    eta_s: float | None
    # Members that came with a newer server, too.
    told: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Job:
        known: dict[str, Any] = {
            f.name: told.get(f.name) for f in fields(cls) if f.name not in ('number', 'told')}
        known['state'] = State(told['state'])
        for name in ('here', 'there', 'options'):
            known[name] = tuple(told.get(name, ()))
        for name in ('due', 'added', 'began', 'ended'):
            known[name] = _moment_of(told.get(name))
        return cls(number=told['job'], told=told, **known)
