# SPDX-License-Identifier: BSD-3-Clause
"""What is told of jobs while they run: a class for each kind of event."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any, Mapping

from wavehaul.job import State


def path_of(told: Mapping[str, Any], member: str = 'path') -> str:
    """A name that is no UTF-8 is told in hexadecimal, and becomes what os.fsdecode makes of it."""
    if (text := told.get(f'{member}_hex')) is not None:
        return os.fsdecode(bytes.fromhex(text))
    return str(told.get(member, ''))


@dataclass(frozen=True)
class Event:
    """A line that followed a watch. One of a kind that is not known here is an Event itself, with
    what was said of it in `told`."""

    name: str
    job: int
    told: Mapping[str, Any] = field(repr=False, compare=False)

    @staticmethod
    def of(told: Mapping[str, Any]) -> Event:
        return _kinds.get(told['event'], Event)._of(told)

    @classmethod
    def _of(cls, told: Mapping[str, Any]) -> Event:
        known: dict[str, Any] = {f.name: told.get(f.name) for f in fields(cls)
                                 if f.name not in ('name', 'job', 'told')}
        return cls(name=told['event'], job=told.get('job', 0), told=told, **cls._read(known, told))

    @classmethod
    def _read(cls, known: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
        return known

    def __getitem__(self, key: str) -> Any:
        return self.told[key]


@dataclass(frozen=True)
class StateEvent(Event):
    """The job's state from now on; at its end, how it went."""

    state: State
    exit_status: int | None
    error: str | None

    @classmethod
    def _read(cls, known: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
        return known | {'state': State(told['state']), 'error': told.get('error') or None}


@dataclass(frozen=True)
class StartEvent(Event):
    """A try of the job begins, by these settings."""

    verb: str
    host: str
    port: str
    settings: Mapping[str, str]


@dataclass(frozen=True)
class FileEvent(Event):
    """A file is `done`, `skipped`, `failed`, `would go`, `removed`,
    `would be removed`, or of a --join `kept`: others of its ranges are
    not there yet."""

    path: str
    status: str
    bytes: int
    error: str | None

    @classmethod
    def _read(cls, known: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
        return known | {'path': path_of(told)}


@dataclass(frozen=True)
class IntervalEvent(Event):
    """Once a second, how it goes; `at_least`: more files are still being found."""

    seconds: float
    span: float
    bytes: int
    bps: float
    mean_bps: float
    files: int
    skipped: int
    failed: int
    files_left: int
    bytes_left: int
    at_least: bool
    eta_s: float | None


@dataclass(frozen=True)
class StallEvent(Event):
    """Nothing moves; `held_up_by` is known to the end that sends."""

    seconds: float
    held_up_by: str | None


@dataclass(frozen=True)
class EndEvent(Event):
    """A try of the job is over: its report."""

    exit_status: int
    host: str
    files: int
    skipped: int
    failed: int
    bytes: int
    moved_bytes: int
    resumed_bytes: int
    seconds: float
    goodput_bps: float
    limited_by: str | None
    rtt_ms: float | None


_kinds: dict[str, type[Event]] = {'job': StateEvent, 'start': StartEvent, 'file': FileEvent,
                                  'interval': IntervalEvent, 'stall': StallEvent,
                                  'end': EndEvent}
