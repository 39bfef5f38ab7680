# SPDX-License-Identifier: BSD-3-Clause
"""A transfer as a task of Airflow, which waits without holding a worker.

    WavehaulOperator(task_id='run42', verb='send', host='dtn2', here='run42/', there='runs/',
                     options=['--recursive'], retries_of_job=100)

The task gives the job to the queue of the server on its worker's host and is deferred; the trigger
hears of the end over the same control socket, so the triggerer must reach that, too. The queue
outlives its server, the worker and the triggerer: whoever begins anew finds the same job.
"""

from __future__ import annotations

import os
from typing import Any, AsyncIterator, Sequence

from airflow.exceptions import AirflowException
from airflow.triggers.base import BaseTrigger, TriggerEvent

import wavehaul
from wavehaul import aio

try:
    from airflow.sdk import BaseOperator
except ImportError:  # Airflow 2
    from airflow.models import BaseOperator

# How long a server that is gone is waited for.
PATIENCE_S = 3600.0


class JobTrigger(BaseTrigger):  # type: ignore[misc]
    """Fires once the job is over."""

    def __init__(self, job: int, control: str | None = None,
                 patience: float = PATIENCE_S) -> None:
        super().__init__()
        self.job, self.control, self.patience = job, control, patience

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return ('wavehaul.airflow.JobTrigger',
                {'job': self.job, 'control': self.control, 'patience': self.patience})

    async def run(self) -> AsyncIterator[TriggerEvent]:
        try:
            async with await aio.connect(self.control) as server:
                job = await server.wait(self.job, check=False, patience=self.patience)
            told = {'job': job.number, 'state': str(job.state), 'error': job.error,
                    'exit_status': job.exit_status, 'files': job.files, 'bytes': job.bytes,
                    'seconds': job.seconds}
        except wavehaul.Error as error:
            told = {'job': self.job, 'state': 'unknown', 'error': str(error)}
        yield TriggerEvent(told)


class WavehaulOperator(BaseOperator):  # type: ignore[misc]
    """`verb` is send, get or copy; `here`, `host`, `there` and `options` as of
    wavehaul.Server.submit. Its result is what the job has come to: files, bytes, seconds."""

    template_fields: Sequence[str] = ('host', 'here', 'there', 'options')

    def __init__(self, *, verb: str, host: str, here: str | Sequence[str],
                 there: str | Sequence[str], options: Sequence[str] = (),
                 rate: str | None = None, priority: int | None = None, retries_of_job: int = 0,
                 control: str | os.PathLike[str] | None = None,
                 patience: float = PATIENCE_S, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.verb, self.host, self.here, self.there = verb, host, here, there
        self.options, self.rate, self.priority = list(options), rate, priority
        self.retries_of_job, self.patience = retries_of_job, patience
        self.control = None if control is None else os.fspath(control)

    def execute(self, context: Any) -> None:
        wanted: dict[str, Any] = {'options': self.options, 'retries': self.retries_of_job}
        if self.rate is not None:
            wanted['rate'] = self.rate
        if self.priority is not None:
            wanted['priority'] = self.priority
        with wavehaul.connect(self.control) as server:
            job = server.submit(self.verb, self.host, self.here, self.there, **wanted)
        self.log.info('job %d of %s', job, self.control or 'this host')
        self.defer(trigger=JobTrigger(job, self.control, self.patience),
                   method_name='execute_complete')

    def execute_complete(self, context: Any, event: dict[str, Any]) -> dict[str, Any]:
        if event['state'] != 'done':
            raise AirflowException(
                f'job {event["job"]} is {event["state"]}: {event.get("error") or "no reason told"}')
        return event
