# SPDX-License-Identifier: BSD-3-Clause
"""The limit of any mover on a port: test/perf/bare.c, which only copies or seals."""

import contextlib
import json
import os

from .processes import Failed, Place, running
from .testpmd import ETHERNET_BYTES, LIMIT_S, vdevs

BINARY = 'build/release/test/perf_bare'


def missing(machine):
    binary = machine.top / BINARY
    if not os.access(binary, os.X_OK):
        return f'{binary} is not there: ninja -C build/release test/perf_bare'
    return machine.lacks_hugepages()


def measure(machine, kind, mtu, folder, window_s, key):
    """
    Frames a second at the receiver, as of the raw port. The receiver makes the socket, so it is
    first, and ends last: a peer that leaves meets it at rest.
    """
    receiving, sending = vdevs(kind, folder / 'socket', mtu)
    with contextlib.ExitStack() as stack:
        def start(place, *words):
            return stack.enter_context(running(place, LIMIT_S, [machine.top / BINARY, *words]))

        receiver = start(Place(0), 'receive', receiving, mtu, key, round(window_s * 1000))
        receiver.await_that((folder / 'socket').exists, 'listening')
        start(Place(1), 'send', sending, mtu, key)
        told = receiver.await_that(lambda: receiver.said(receiver.out).strip(), 'counting')
    report = json.loads(told)
    if not report['packets'] or report['bad']:
        raise Failed(f'bare: {report["packets"]} packets, {report["bad"]} of them bad')
    pps = report['packets'] / report['seconds']
    return {'value': pps * 8 * (mtu + ETHERNET_BYTES) / 1e9, 'pps': pps,
            'goodput_bps': pps * 8 * report['payload_bytes']}
