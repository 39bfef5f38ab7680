# SPDX-License-Identifier: BSD-3-Clause
"""The queue of a wavehaul server of this host, over its control socket: wavehaul-control(7).

    import wavehaul

    with wavehaul.connect() as server:
        job = server.send('run42/', 'dtn2', 'runs/', options=['--recursive'], rate='2G')
        for event in server.watch(job):
            print(event.name, event.told)
        print(server.wait(job).bytes)

What the server refuses is raised as Refused, with its sentence. `wavehaul.filesystem` has files of
other hosts for fsspec, as wavehaul://dtn2/runs/run42.
"""

from wavehaul.errors import Error, JobFailed, NoServer, Refused
from wavehaul.job import Event, Job, State
from wavehaul.server import Server, Watch, connect

__all__ = ['Error', 'Event', 'Job', 'JobFailed', 'NoServer', 'Refused', 'Server', 'State',
           'Watch', 'connect']
