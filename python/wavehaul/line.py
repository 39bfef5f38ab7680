# SPDX-License-Identifier: BSD-3-Clause
"""One connection to a control socket: a JSON object a line each way."""

from __future__ import annotations

import collections
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from wavehaul.errors import NoServer, Refused

VERSION = 1
HEARD_BYTES = 64 << 10
REQUEST_BYTES = 1 << 20
# What a server that lists much may say in one line.
ANSWER_BYTES = 16 << 20

OF_THE_SYSTEM = Path('/run/wavehaul/control')


def usual_place() -> Path:
    """Where wavehaul(1) looks for it."""
    told = os.environ.get('WAVEHAUL_CONTROL')
    if told == 'off':
        raise NoServer('$WAVEHAUL_CONTROL says that there is no control socket')
    if told:
        return Path(told)
    service = os.environ.get('RUNTIME_DIRECTORY', '')
    if service.startswith('/'):
        return Path(service, 'control')
    session = os.environ.get('XDG_RUNTIME_DIR', '')
    if os.geteuid() == 0 or OF_THE_SYSTEM.exists() or not session.startswith('/'):
        return OF_THE_SYSTEM
    return Path(session, 'wavehaul/control')


def line_of(command: str, arguments: dict[str, Any]) -> bytes:
    """A request as it goes."""
    request = json.dumps({'do': command} | arguments).encode() + b'\n'
    if len(request) > REQUEST_BYTES:
        raise Refused(f'a request has {REQUEST_BYTES} bytes at most', 2)
    return request


def told_by(line: bytes, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NoServer(f'what answers on {path} says no JSON')
    return found


def check_hello(hello: dict[str, Any], path: Path) -> None:
    if hello.get('control') != VERSION:
        raise NoServer(hello.get('error') or f'what answers on {path} speaks another protocol')


def granted(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer; else the server's sentence is raised."""
    if not answer.get('ok'):
        raise Refused(answer.get('error', 'the server does not say why'),
                      answer.get('status', 1))
    return answer


def failure_of(error: BaseException) -> BaseException:
    """What to raise for an error while the server was asked: an OSError says too little."""
    if isinstance(error, NoServer) or not isinstance(error, OSError):
        return error
    return NoServer('the server does not answer' if isinstance(error, TimeoutError)
                    else 'the server is gone')


def nobody(error: OSError, path: Path) -> NoServer:
    return NoServer(f'no server of this host answers on {path}: {error.strerror or error}')


class Line:
    """Answers come in the order of requests; events that come between them are kept."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        self.path, self.timeout = path, timeout
        self.events: collections.deque[dict[str, Any]] = collections.deque()
        self._taken = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(str(path))
            self.hello = self.take(timeout)
        except OSError as error:
            self._socket.close()
            if isinstance(error, NoServer):
                raise
            raise nobody(error, path) from None
        try:
            check_hello(self.hello, path)
        except NoServer:
            self._socket.close()
            raise

    def close(self) -> None:
        self._socket.close()

    @property
    def closed(self) -> bool:
        return self._socket.fileno() < 0

    def __enter__(self) -> Line:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def take(self, timeout: float | None) -> dict[str, Any]:
        """The next line, whatever it is. TimeoutError: none came in that time."""
        until = None if timeout is None else time.monotonic() + timeout
        searched = 0
        while (end := self._taken.find(b'\n', searched)) < 0:
            searched = len(self._taken)
            if searched > ANSWER_BYTES:
                raise NoServer(f'what answers on {self.path} says no lines')
            # A wait of 0 would be another mode of the socket.
            self._socket.settimeout(
                None if until is None else max(until - time.monotonic(), 1e-3))
            self._hear()
        line = bytes(self._taken[:end])
        del self._taken[:end + 1]
        return told_by(line, self.path)

    def _hear(self) -> None:
        try:
            heard = self._socket.recv(HEARD_BYTES)
        except TimeoutError:
            raise
        except OSError as error:
            raise NoServer(f'the server is gone: {error.strerror}') from None
        if not heard:
            raise NoServer('the server is gone')
        self._taken += heard

    def ask(self, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The answer, if it was granted; else the server's sentence is raised."""
        request = line_of(command, arguments)
        try:
            self._socket.settimeout(self.timeout)
            self._socket.sendall(request)
            answer = self.take(self.timeout)
            while 'event' in answer:
                self.events.append(answer)
                answer = self.take(self.timeout)
        except BaseException as error:
            # An answer that came later would be taken for the next one's.
            self.close()
            raise failure_of(error) from None
        return granted(answer)

    def next_event(self, timeout: float | None) -> dict[str, Any]:
        return self.events.popleft() if self.events else self.take(timeout)
