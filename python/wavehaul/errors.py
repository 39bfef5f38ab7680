# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong, with the sentence that says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavehaul.job import Job


class Error(Exception):
    """All of this package's."""


class NoServer(Error, ConnectionError):
    """Nobody answers on the control socket, or whoever did is gone, or is no wavehaul."""


class Refused(Error):
    """The server's own sentence; `status` is the exit status that wavehaul(1) has for it."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class JobFailed(Refused):
    """A job that was waited for has failed or was cancelled."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.error or f'job {job.number} is {job.state}', job.exit_status)
        self.job = job
