#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""An outage costs its time and little more: of the path, of the server, or at the start.

    outage.py [--quick] [-k PATTERN] [--binary PATH]

Two hosts at a switch. What holds for any moment is in test/jobs/outage.c, in virtual time; here the
links, ARP and the processes are real.
"""

import contextlib
import functools
import json
import random
import sys
import time

from harness import (Case, end_group, expect_between, expect_equal, expect_said, expect_status,
                     run_cases)
from lab import Lab
from network import BINARY, OK, SERVER, Server, running_client
from pair import wait_until

MIB = 1 << 20
RATE = ('--profile', 'fixed', '--rate', '80M')
SIZE = 24 * MIB
CALM_S = SIZE * 8 / 80e6
# What an outage may cost beside its time; and what starting a program does on a busy machine.
COST_S, START_S = 3, 3


@contextlib.contextmanager
def at_a_switch():
    with Lab() as lab:
        server, client = lab.host('server'), lab.host('client')
        yield server, client, lab.switch((server, client))


def plant(verb, folder):
    """The words of a transfer, where its file comes from, and where it goes."""
    (folder / 'served').mkdir()
    (folder / 'mine').mkdir()
    ends = (folder / 'mine/file', folder / 'served/came') if verb == 'send' else \
        (folder / 'served/file', folder / 'mine/came')
    ends[0].write_bytes(random.Random(3).randbytes(SIZE))
    words = (ends[0], f'{SERVER}:came') if verb == 'send' else (f'{SERVER}:file', ends[1])
    return (verb, *words, *RATE, '--json', '--state', folder / 'kept'), *ends


def expect_good(result, source, came, tries):
    expect_status(result, OK)
    expect_equal('the bytes', came.read_bytes() == source.read_bytes(), True)
    told = json.loads(result.out)
    expect_equal('its error', told['error'] or '', '')
    expect_between('tries', told['tries'], *tries)
    return told


def path_down(verb, whose, down_s, program, folder):
    """In mid-file, for longer than the peer timeout."""
    words, source, came = plant(verb, folder)
    with at_a_switch() as (server, client, switch), Server(program, server, folder):
        host, name = (client, 'eth0') if whose == 'own' else (switch, 'port0')
        with running_client(program, client, *words, '--peer-timeout', '2s',
                            '--retries', '5') as end:
            time.sleep(START_S / 2 + CALM_S / 2)
            host.ip('link', 'set', name, 'down')
            time.sleep(down_s)
            host.ip('link', 'set', name, 'up')
            began = time.monotonic()
            result = end()
            took_s = time.monotonic() - began
        told = expect_good(result, source, came, (2, 5))
        print(f'{took_s:.1f} s after {down_s} s; {told["resumed_bytes"] >> 20} MiB resumed')
        # At most all of it goes again.
        expect_between('seconds after the outage', took_s, 0, COST_S + CALM_S)


def absent(verb, program, folder):
    """Nobody answers ARP for it at first."""
    words, source, came = plant(verb, folder)
    with at_a_switch() as (server, client, _), \
            running_client(program, client, *words, '--peer-timeout', '2s',
                           '--retries', '6') as end:
        time.sleep(6)
        with Server(program, server, folder):
            began = time.monotonic()
            result = end()
            took_s = time.monotonic() - began
            expect_good(result, source, came, (2, 7))
            expect_said(result, 'retrying; ')
            print(f'{took_s:.1f} s after the server')
            expect_between('seconds after its start', took_s, 0, COST_S + CALM_S)


def restarted(verb, program, folder):
    """It is killed, and begins anew at once: the client does not wait for its peer timeout."""
    words, source, came = plant(verb, folder)
    with at_a_switch() as (server, client, _), contextlib.ExitStack() as stack:
        first = stack.enter_context(Server(program, server, folder))
        end = stack.enter_context(running_client(program, client, *words, '--retries', '3'))
        wait_until(lambda: came.exists() or any(came.parent.glob('.wavehaul-*/*')), 20, 'a part')
        time.sleep(CALM_S / 3)
        first.kill()
        end_group(first.process)
        with Server(program, server, folder):
            began = time.monotonic()
            result = end()
            took_s = time.monotonic() - began
            expect_good(result, source, came, (1, 4))
            print(f'{took_s:.1f} s after the restart')
            expect_between('seconds after its start', took_s, 0, COST_S + CALM_S)


CASES = [
    Case('send, the path is down', True, functools.partial(path_down, 'send', 'path', 8), False,
         True),
    Case('get, the path is down', False, functools.partial(path_down, 'get', 'path', 8), False,
         True),
    Case('send, its own link is down', False, functools.partial(path_down, 'send', 'own', 8),
         False, True),
    Case('send to a server that comes later', True, functools.partial(absent, 'send'), False, True),
    Case('get from a server that comes later', False, functools.partial(absent, 'get'), False,
         True),
    *(Case(f'{verb}, the server restarts', verb == 'send', functools.partial(restarted, verb),
           False, True) for verb in ('send', 'get')),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
