# SPDX-License-Identifier: BSD-3-Clause
"""The same for asyncio.

    from wavehaul import aio

    async with await aio.connect() as server:
        job = await server.send('run42/', 'dtn2', 'runs/', options=['--recursive'])
        async for event in server.watch(job):
            print(event)
        print((await server.wait(job)).bytes)
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, AsyncIterator

from wavehaul.errors import JobFailed, NoServer
from wavehaul.events import Event, StateEvent
from wavehaul.job import Job, State
from wavehaul.line import (ANSWER_BYTES, failure_of, granted, check_hello, line_of, nobody, told_by,
                           usual_place)
from wavehaul.requests import Paths, below, is_absolute, job_of, list_of, move_of, number_of
from wavehaul.server import ANSWER_S, LOOK_S


async def connect(path: str | os.PathLike[str] | None = None, *,
                  timeout: float | None = ANSWER_S) -> Server:
    """To the control socket at `path`, or where wavehaul(1) looks for it. `timeout` is how long an
    answer may take."""
    server = Server(Path(path) if path is not None else usual_place(), timeout)
    await server.open()
    return server


class Line:
    """One connection: answers in the order of requests, and events between them, which are kept."""

    def __init__(self, path: Path, reader: asyncio.StreamReader,
                 writer: asyncio.StreamWriter) -> None:
        self.path, self._reader, self._writer = path, reader, writer
        self.events: collections.deque[dict[str, Any]] = collections.deque()
        self.hello: dict[str, Any] = {}

    @classmethod
    async def open(cls, path: Path, timeout: float | None) -> Line:
        try:
            async with asyncio.timeout(timeout):
                reader, writer = await asyncio.open_unix_connection(path, limit=ANSWER_BYTES)
        except OSError as error:
            raise nobody(error, path) from None
        line = cls(path, reader, writer)
        try:
            async with asyncio.timeout(timeout):
                line.hello = await line.take()
            check_hello(line.hello, path)
        except BaseException as error:
            line.close()
            if isinstance(error, TimeoutError):
                raise nobody(error, path) from None
            raise
        return line

    def close(self) -> None:
        self._writer.close()

    @property
    def closed(self) -> bool:
        return self._writer.is_closing()

    async def take(self) -> dict[str, Any]:
        """The next line, whatever it is. Nothing is lost where it is cancelled."""
        try:
            heard = await self._reader.readline()
        except OSError as error:
            raise NoServer(f'the server is gone: {error.strerror}') from None
        except ValueError:
            raise NoServer(f'what answers on {self.path} says no lines') from None
        if not heard.endswith(b'\n'):
            raise NoServer('the server is gone')
        return told_by(heard, self.path)

    async def ask(self, command: str, arguments: dict[str, Any],
                  timeout: float | None) -> dict[str, Any]:
        request = line_of(command, arguments)
        try:
            async with asyncio.timeout(timeout):
                self._writer.write(request)
                await self._writer.drain()
                while 'event' in (answer := await self.take()):
                    self.events.append(answer)
        except BaseException as error:
            # An answer that came later would be taken for the next one's.
            self.close()
            raise failure_of(error) from None
        return granted(answer)

    async def next_event(self) -> dict[str, Any]:
        return self.events.popleft() if self.events else await self.take()


class Server:
    """As wavehaul.Server. Tasks may share one: what they ask goes one after the other."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        self.path, self.timeout = path, timeout
        self._line: Line | None = None
        self._ended = False
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        self._line = await Line.open(self.path, self.timeout)

    @property
    def version(self) -> str:
        return str(self._line.hello.get('wavehaul', '')) if self._line is not None else ''

    def close(self) -> None:
        self._ended = True
        if self._line is not None:
            self._line.close()

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        self.close()

    async def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Any command of wavehaul-control(7). Raises Refused with the server's sentence."""
        async with self._turn:
            if (self._line is None or self._line.closed) and not self._ended:
                await self.open()
            if self._line is None:
                raise NoServer('this connection was closed')
            return await self._line.ask(command, arguments, self.timeout)

    async def status(self) -> dict[str, Any]:
        return await self.ask('status')

    async def submit(self, verb: str, host: str, here: Paths, there: Paths, **wanted: Any) -> int:
        """A job's number; `wanted` as of wavehaul.Server.submit."""
        paths = list_of(here)
        if verb != 'copy' and is_absolute(paths):
            paths = below(paths, str((await self.status())['root']))
        answer = await self.ask('job.add', **job_of(verb, host, paths, there, **wanted))
        return int(answer['job'])

    async def send(self, here: Paths, host: str, there: str, **wanted: Any) -> int:
        return await self.submit('send', host, here, there, **wanted)

    async def get(self, host: str, there: Paths, here: str | os.PathLike[str],
                  **wanted: Any) -> int:
        return await self.submit('get', host, here, there, **wanted)

    async def copy(self, host: str, paths: Paths, to: str, **wanted: Any) -> int:
        return await self.submit('copy', host, paths, to, **wanted)

    async def jobs(self, *, over: bool = False) -> AsyncIterator[Job]:
        """Jobs that are not over, by number; `over`: those that are, too."""
        last = 0
        while page := (await self.ask('job.list', **{'from': last, 'all': over}))['jobs']:
            for told in page:
                yield Job.of(told)
            last = page[-1]['job']

    async def counts(self) -> dict[str, int]:
        return dict((await self.ask('job.list'))['counts'])

    async def show(self, job: Job | int) -> Job:
        return Job.of((await self.ask('job.show', job=number_of(job)))['job'])

    async def pause(self, job: Job | int) -> None:
        await self.ask('job.pause', job=number_of(job))

    async def resume(self, job: Job | int) -> None:
        await self.ask('job.resume', job=number_of(job))

    async def cancel(self, job: Job | int) -> None:
        await self.ask('job.cancel', job=number_of(job))

    async def retry(self, job: Job | int) -> None:
        await self.ask('job.retry', job=number_of(job))

    async def move(self, job: Job | int, *, before: Job | int | None = None,
                   priority: int | None = None) -> None:
        await self.ask('job.move', **move_of(job, before, priority))

    async def set_rate(self, job: Job | int, rate: str) -> bool:
        """Whether what runs already goes by it at once."""
        answer = await self.ask('job.set', job=number_of(job), rate=rate)
        return bool(answer.get('now', True))

    async def watch(self, job: Job | int | None = None, *,
                    patience: float = 0.0) -> AsyncIterator[Event]:
        """Events from its first step on: of all jobs for ever, or of one until it is over.
        `patience` is how many seconds a server that is gone is waited for; its successor is watched
        then, and the end of that one job is told even if it came in between."""
        number = number_of(job) if job is not None else None
        gone_at: float | None = None
        while True:
            try:
                line, state = await self._watched(number)
                gone_at = None
                with contextlib.closing(line):
                    async for event in _events(line, number, state):
                        yield event
                return
            except NoServer:
                gone_at = gone_at or time.monotonic()
                if time.monotonic() - gone_at >= patience:
                    raise
                await asyncio.sleep(LOOK_S)

    async def _watched(self, job: int | None) -> tuple[Line, State | None]:
        """A connection that hears of events, and the job's state."""
        line = await Line.open(self.path, self.timeout)
        try:
            if job is None:
                await line.ask('watch', {}, self.timeout)
                return line, None
            await line.ask('watch', {'job': job}, self.timeout)
            # Asked once it is watched, so that its end does not fall between.
            shown = await line.ask('job.show', {'job': job}, self.timeout)
            return line, Job.of(shown['job']).state
        except BaseException:
            line.close()
            raise

    async def wait(self, job: Job | int, *, check: bool = True, patience: float = 60.0) -> Job:
        """The job once it is over; with `check` one that did not come to be done is raised as
        JobFailed. How long it may take is said by asyncio.timeout()."""
        async for _ in self.watch(job, patience=patience):
            pass
        found = await self.show(job)
        if check and found.state is not State.DONE:
            raise JobFailed(found)
        return found


async def _events(line: Line, job: int | None, state: State | None) -> AsyncIterator[Event]:
    """Of one job until it is over; the state that it had is told if that was an end."""
    if state is not None and state.is_over:
        seen = [Event.of(told) for told in line.events]
        if not any(isinstance(event, StateEvent) and event.state.is_over for event in seen):
            seen.append(Event.of({'event': 'job', 'job': job, 'state': str(state)}))
        for event in seen:
            yield event
        return
    while True:
        event = Event.of(await line.next_event())
        yield event
        if job is not None and isinstance(event, StateEvent) and event.state.is_over:
            return
