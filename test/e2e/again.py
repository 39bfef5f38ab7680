#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Clients that do not give up at once: --wait for a server, --retries when one is gone.

    again.py [--quick] [-k PATTERN] [--binary PATH]
"""

import functools
import json
import random
import signal
import sys
import time
from pathlib import Path

from harness import (Case, expect, expect_between, expect_equal, expect_said, expect_status,
                     hears, run_cases)
from pair import Pair, remote, wait_until
from resume import parts
from transfer import BINARY, OK

INTERRUPTED, NETWORK = 20, 5
MIB = 1 << 20
STEADY = ('--profile', 'fixed', '--rate', '300M', '--peer-timeout', '1s')


class Late(Pair):
    """The client creates the link, and starts before the server."""

    def __init__(self, program, folder, *, server=(), **options):
        (folder / 'state').mkdir()
        (folder / 'mine').mkdir()
        super().__init__(program, folder, huge=False, link='memif_by_client',
                         server=('--state', folder / 'state', *server), **options)

    def start_server(self, *options):
        socket = Path(self.rendezvous, 'socket')
        if self.is_entered:
            wait_until(socket.exists, 20, 'a client that makes the link')
            super().start_server(*options)

    is_entered = False

    def __enter__(self):
        super().__enter__()
        self.is_entered = True
        return self


def plant(path, size):
    path.write_bytes(random.Random(7).randbytes(size))
    return path.read_bytes()


def words_of(verb, folder):
    if verb == 'send':
        return folder / 'file', remote()
    return remote('file'), folder / 'mine/'


def waits(verb, program, folder):
    """A client that is started before its server."""
    with Late(program, folder) as pair:
        data = plant(folder / 'file' if verb == 'send' else pair.served / 'file', MIB)
        words = words_of(verb, folder)
        with pair.running(verb, *words, '--wait', '30s', '--json') as client:
            time.sleep(2.5)
            pair.start_server()
            result = pair.finish(client)
        expect_status(result, OK)
        expect_said(result, 'waiting for the server at 198.51.100.1')
        came = (pair.served if verb == 'send' else folder / 'mine') / 'file'
        expect_equal('the bytes', came.read_bytes() == data, True)
        pair.stop_server()


def gives_up(program, folder):
    """--wait expires, or the operator presses Ctrl-C."""
    with Late(program, folder) as pair:
        plant(folder / 'file', 10)
        began = time.monotonic()
        words = ('send', folder / 'file', remote(), '--peer-timeout', '1s')
        result = pair.run(*words, '--wait', '2s')
        expect_status(result, NETWORK)
        expect_between('seconds', time.monotonic() - began, 2, 12)
        with pair.running(*words, '--wait', '60s') as client:
            wait_until(lambda: hears(client.pid, signal.SIGINT), 20, 'a client that hears')
            time.sleep(1)
            client.send_signal(signal.SIGINT)
            result = pair.finish(client)
        expect(result.status in (INTERRUPTED, NETWORK), f'{result.status}')


def again(verb, program, folder):
    """Its server is killed under it, and begins anew; what was durable does not come again. A
    folder that is sent gets the name it was sent to, although that stands there by then."""
    with Late(program, folder) as pair:
        came = (pair.served if verb == 'send' else folder / 'mine') / 'new'
        tree = (folder if verb == 'send' else pair.served) / 'tree'
        tree.mkdir()
        data = plant(tree / 'file', 160 * MIB)
        words = ('-r', *((tree, remote('new')) if verb == 'send' else (remote('tree'), came)))
        mine = ('--state', folder / 'mine')
        with pair.running(verb, *words, '--retries', '5', '--wait', '20s', '--json',
                          *STEADY, *mine) as client:
            pair.start_server()
            state = folder / ('state' if verb == 'send' else 'mine')
            wait_until(lambda: any(part['durable_bytes'] >= 32 * MIB
                                   for part in parts(program, state)), 20, 'a part that is noted')
            pair.kill_server()
            pair.start_server()
            result = pair.finish(client)
        expect_status(result, OK)
        expect_said(result, 'retrying; 4 more attempts')
        told = json.loads(result.out)
        expect_equal('tries', told['tries'] > 1, True)
        expect_equal('files', told['files'], 1)
        expect(told['resumed_bytes'] >= 32 * MIB, f"{told['resumed_bytes']} bytes were kept")
        expect_equal('names', sorted(path.name for path in came.iterdir()), ['file'])
        expect_equal('the bytes', (came / 'file').read_bytes() == data, True)
        pair.stop_server()


CASES = [
    *(Case(f'{verb} waits for its server', verb == 'send', functools.partial(waits, verb))
      for verb in ('send', 'get')),
    Case('the wait has an end', True, gives_up),
    *(Case(f'{verb} tries again', verb == 'send', functools.partial(again, verb))
      for verb in ('send', 'get')),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
