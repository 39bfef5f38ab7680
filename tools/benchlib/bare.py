# SPDX-License-Identifier: BSD-3-Clause
"""
The limit of any mover on a port: test/perf/bare.c, which only copies or seals; on the kernel's
sockets test/perf/udp.c.
"""

import contextlib
import json
import os

from .peers import free_port
from .processes import Failed, Place, listens, running
from .testpmd import ETHERNET_BYTES, LIMIT_S, vdevs

BINARY = 'build/release/test/perf_bare'
SOCKETS_BINARY = 'build/release/test/perf_udp'


def not_built(machine, binary):
    if os.access(machine.top / binary, os.X_OK):
        return None
    return f'{machine.top / binary} is not there: ninja -C build/release {binary[14:]}'


def missing(machine):
    return not_built(machine, BINARY) or machine.lacks_hugepages()


def measure_sockets(machine, link, window_s):
    """Payload of UDP at the receiver: the kernel cuts what is sent, and joins what arrives."""
    port, binary = free_port(), machine.top / SOCKETS_BINARY
    with running(link.server, LIMIT_S, [binary, 'receive', port, window_s]) as receiver:
        receiver.await_that(lambda: listens(receiver, 'udp', port), 'listening')
        with running(link.client, LIMIT_S, [binary, 'send', link.address, port, link.mtu]):
            told = json.loads(receiver.wait().out)
    return {'value': told['bytes'] * 8 / told['seconds'] / 1e9}


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
