# SPDX-License-Identifier: BSD-3-Clause
"""A running `wavehaul serve` of this host, and its queue."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Iterator

from wavehaul.errors import JobFailed, NoServer
from wavehaul.events import Event, StateEvent
from wavehaul.job import Job, State
from wavehaul.line import Line, usual_place
from wavehaul.requests import Paths, below, is_absolute, job_of, list_of, move_of, number_of

ANSWER_S = 20.0
# Between two looks for a server that is gone.
LOOK_S = 0.2


def connect(path: str | os.PathLike[str] | None = None, *,
            timeout: float | None = ANSWER_S) -> Server:
    """To the control socket at `path`, or where wavehaul(1) looks for it. `timeout` is how long an
    answer may take."""
    return Server(Path(path) if path is not None else usual_place(), timeout)


class Server:
    """One thread's; watches have connections of their own. Where the server is gone, what was asked
    raises NoServer, for nobody knows whether it was done; the next call finds the one that is there
    then."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        self.path, self.timeout = path, timeout
        self._ended = False
        self._line = Line(path, timeout)

    @property
    def version(self) -> str:
        return str(self._line.hello.get('wavehaul', ''))

    def close(self) -> None:
        self._ended = True
        self._line.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Any command of wavehaul-control(7). Raises Refused with the server's sentence."""
        if self._line.closed and not self._ended:
            self._line = Line(self.path, self.timeout)
        return self._line.ask(command, arguments)

    def status(self) -> dict[str, Any]:
        return self.ask('status')

    def submit(self, verb: str, host: str, here: Paths, there: Paths, **wanted: Any) -> int:
        """A job's number. Paths `here` that are not absolute are below the server's root, and
        absolute ones have to be. Also wanted may be: `options`, those of wavehaul-job(1) as
        '--recursive'; `rate`; `priority`; `not_before`, a time or how long from now; `after`, a
        job; `retries`; and `attached`: it ends with this connection."""
        paths = list_of(here)
        if verb != 'copy' and is_absolute(paths):
            paths = below(paths, str(self.status()['root']))
        return int(self.ask('job.add', **job_of(verb, host, paths, there, **wanted))['job'])

    def send(self, here: Paths, host: str, there: str, **wanted: Any) -> int:
        return self.submit('send', host, here, there, **wanted)

    def get(self, host: str, there: Paths, here: str | os.PathLike[str], **wanted: Any) -> int:
        return self.submit('get', host, here, there, **wanted)

    def copy(self, host: str, paths: Paths, to: str, **wanted: Any) -> int:
        """From one other host to a third, `to` it as 'dtn3:incoming/': the queue of `host` sends,
        and paths are below its root."""
        return self.submit('copy', host, paths, to, **wanted)

    def jobs(self, *, over: bool = False) -> Iterator[Job]:
        """Jobs that are not over, by number; `over`: those that are, too."""
        last = 0
        while True:
            page = self.ask('job.list', **{'from': last, 'all': over})['jobs']
            if not page:
                return
            for told in page:
                yield Job.of(told)
            last = page[-1]['job']

    def counts(self) -> dict[str, int]:
        """How many jobs there are of each state."""
        return dict(self.ask('job.list')['counts'])

    def show(self, job: Job | int) -> Job:
        return Job.of(self.ask('job.show', job=number_of(job))['job'])

    def pause(self, job: Job | int) -> None:
        self.ask('job.pause', job=number_of(job))

    def resume(self, job: Job | int) -> None:
        self.ask('job.resume', job=number_of(job))

    def cancel(self, job: Job | int) -> None:
        self.ask('job.cancel', job=number_of(job))

    def retry(self, job: Job | int) -> None:
        self.ask('job.retry', job=number_of(job))

    def move(self, job: Job | int, *, before: Job | int | None = None,
             priority: int | None = None) -> None:
        self.ask('job.move', **move_of(job, before, priority))

    def set_rate(self, job: Job | int, rate: str) -> bool:
        """Whether what runs already goes by it at once."""
        return bool(self.ask('job.set', job=number_of(job), rate=rate).get('now', True))

    def watch(self, job: Job | int | None = None, *, patience: float = 0.0) -> Watch:
        """Events from here on: of all jobs for ever, or of one until it is over. A server that is
        gone is waited for so many seconds, and its successor is watched; what happened between is
        not told, but the end of that one job is."""
        return Watch(self.path, self.timeout, number_of(job) if job is not None else None, patience)

    def wait(self, job: Job | int, *, timeout: float | None = None, check: bool = True,
             patience: float = 60.0) -> Job:
        """The job once it is over; with `check` one that did not come to be done is raised as
        JobFailed. TimeoutError: it goes on. `patience` as in watch(): the queue outlives a server
        that is begun anew."""
        until = None if timeout is None else time.monotonic() + timeout
        with self.watch(job, patience=patience) as events:
            while not events.over:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(f'job {number_of(job)} is not over')
                events.take(left)
        found = self.show(job)
        if check and found.state is not State.DONE:
            raise JobFailed(found)
        return found


class Watch(Iterator[Event]):
    """Events of a server, by a connection of its own."""

    def __init__(self, path: Path, timeout: float | None, job: int | None,
                 patience: float = 0.0) -> None:
        self._path, self._timeout, self._job, self._patience = path, timeout, job, patience
        self._gone_at: float | None = None
        self._line, state = self._begin()
        self._over = state is not None and state.is_over

    def _begin(self) -> tuple[Line, State | None]:
        """A connection that hears of events, and the job's state."""
        line = Line(self._path, self._timeout)
        try:
            line.ask('watch', {'job': self._job} if self._job is not None else {})
            # Asked once it is watched, so that its end does not fall between.
            return line, None if self._job is None else Job.of(
                line.ask('job.show', {'job': self._job})['job']).state
        except BaseException:
            line.close()
            raise

    def _begin_anew(self, until: float | None) -> None:
        """Once the server is gone: with the one that comes after it. TimeoutError: not by then."""
        began = self._gone_at = self._gone_at or time.monotonic()
        self._line.close()
        while True:
            try:
                self._line, state = self._begin()
                break
            except NoServer:
                now = time.monotonic()
                if now - began >= self._patience:
                    raise
                if until is not None and now >= until:
                    raise TimeoutError('the server is gone') from None
                time.sleep(LOOK_S if until is None else min(LOOK_S, max(until - now, 0.0)))
        self._gone_at = None
        if state is not None and state.is_over:
            self._over = True
            self._line.events.append({'event': 'job', 'job': self._job, 'state': str(state)})

    @property
    def over(self) -> bool:
        """No event follows."""
        return self._over and not self._line.events

    def take(self, timeout: float | None = None) -> Event:
        """The next event. TimeoutError: none came in that time. StopIteration: none will."""
        until = None if timeout is None else time.monotonic() + timeout
        told: dict[str, Any] | None = None
        while told is None:
            if self.over:
                raise StopIteration
            try:
                told = self._line.next_event(
                    None if until is None else until - time.monotonic())
            except NoServer:
                if self._patience <= 0:
                    raise
                self._begin_anew(until)
        event = Event.of(told)
        if self._job is not None and isinstance(event, StateEvent) and event.state.is_over:
            self._over = True
        return event

    def __next__(self) -> Event:
        return self.take()

    def close(self) -> None:
        self._line.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
