# SPDX-License-Identifier: BSD-3-Clause
"""The queue of a wavehaul server of this host, over its control socket: wavehaul-control(7).

    import wavehaul

    with wavehaul.connect() as server:
        job = server.send('run42/', 'dtn2', 'runs/', options=['--recursive'], rate='2G')
        for event in server.watch(job):
            if isinstance(event, wavehaul.IntervalEvent):
                print(event.bytes, event.bytes_left, event.eta_s)
        print(server.wait(job).bytes)

What the server refuses is raised as Refused, with its sentence. `wavehaul.aio` has the same for
asyncio, and `wavehaul.filesystem` files of other hosts for fsspec, as wavehaul://dtn2/runs/run42.
"""

from wavehaul.errors import Error, JobFailed, NoServer, Refused
from wavehaul.events import (EndEvent, Event, FileEvent, IntervalEvent, StallEvent, StartEvent,
                             StateEvent)
from wavehaul.job import Job, State
from wavehaul.server import Server, Watch, connect

__all__ = ['EndEvent', 'Error', 'Event', 'FileEvent', 'IntervalEvent', 'Job', 'JobFailed',
           'NoServer', 'Refused', 'Server', 'StallEvent', 'StartEvent', 'State', 'StateEvent',
           'Watch', 'connect']
