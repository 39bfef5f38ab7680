# SPDX-License-Identifier: BSD-3-Clause
"""Files of an RSE that wavehaul(1) serves, for Rucio.

    rucio-admin rse add-protocol --hostname dtn2 --scheme wavehaul --port 5760 --prefix /rucio \\
        --impl wavehaul.rucio.Default ... DTN2

A PFN is wavehaul://HOST:PORT/PATH, with PATH as HOST serves it. Where a server of this host has a
port, transfers go by it; else by a port of their own. `extended_attributes` of the protocol may
have `options`, a list that stands behind each verb, and `command`, what to run.

A transfer compares the digests of both ends, and a file is there whole or not at all. What is at
HOST is not read again for another checksum: `stat` has none, and Rucio compares the size.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
from typing import Any

from rucio.common import exception
from rucio.rse.protocols import protocol

NO_FILE = 3
USUAL_PORT = 5760


def _literal(path: str) -> str:
    """For a verb that has wildcards: a name with such a sign stands for itself alone."""
    return '/'.join(re.sub(r'([\\*?[])', r'\\\1', name) if re.search('[*?[]', name) else name
                    for name in path.split('/'))


class Default(protocol.RSEProtocol):  # type: ignore[misc]
    """As RSEProtocol has it."""

    def __init__(self, protocol_attr: dict[str, Any], rse_settings: Any,
                 logger: Any = logging.log) -> None:
        super().__init__(protocol_attr, rse_settings, logger=logger)
        more = self.attributes.get('extended_attributes') or {}
        self.command = list(more.get('command', ['wavehaul']))
        self.options = list(more.get('options', []))

    def path2pfn(self, path: str) -> str:
        if path.startswith(f'{self.attributes["scheme"]}://'):
            return path
        prefix = self.attributes['prefix'].strip('/')
        below = '/'.join(part for part in (prefix, path.lstrip('/')) if part)
        return (f'{self.attributes["scheme"]}://{self.attributes["hostname"]}:'
                f'{self.attributes["port"]}/{below}')

    def _remote(self, pfn: str, literal: bool = False) -> str:
        """HOST:PATH. Rucio does not quote what it puts into a PFN: '?' belongs to the name."""
        path = self.path2pfn(pfn).partition('://')[2].partition('/')[2].lstrip('/')
        if not path or '..' in path.split('/'):
            raise exception.RSEFileNameNotSupported(f'{pfn} names no file')
        host = str(self.attributes['hostname'])
        host = f'[{host}]' if ':' in host else host
        return f'{host}:{_literal(path) if literal else path}'

    def _start(self, verb: str, *words: str, timeout: int | None = None,
               **files: Any) -> subprocess.CompletedProcess[bytes]:
        """Runs to its end, or is killed once the time is over."""
        try:
            return subprocess.run([*self.command, verb, *self.options, *words],
                                  stderr=subprocess.PIPE, timeout=timeout, check=False, **files)
        except subprocess.TimeoutExpired:
            raise exception.ServiceUnavailable(
                f'{verb} has not ended within {timeout} s') from None
        except OSError as error:
            raise exception.ServiceUnavailable(f'{self.command[0]}: {error.strerror}') from None

    def _check(self, done: subprocess.CompletedProcess[bytes], verb: str,
               said: dict[str, Any]) -> None:
        """Raises what went wrong, in the program's own words."""
        if done.returncode == 0:
            return
        stderr = done.stderr.decode(errors='replace').strip().removeprefix('wavehaul: ')
        why = said.get('error') or next(
            (entry['error'] for entry in said.get('entries', ()) if 'error' in entry),
            stderr or f'{verb} ended with exit status {done.returncode}')
        if done.returncode == NO_FILE:
            raise exception.SourceNotFound(why)
        raise exception.ServiceUnavailable(why)

    def _ask(self, verb: str, *words: str) -> dict[str, Any]:
        """What a verb that moves no files says."""
        done = self._start(verb, '--json', *words, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE)
        try:
            said = json.loads(done.stdout)
        except ValueError:
            said = {}
        self._check(done, verb, said)
        return dict(said)

    def connect(self) -> None:
        """Each transfer has a session of its own."""
        if int(self.attributes['port']) not in (0, USUAL_PORT) and not self.options:
            raise exception.RSEAccessDenied(
                f'wavehaul listens on UDP port {USUAL_PORT}; the options of another one belong '
                f'into extended_attributes')

    def close(self) -> None:
        pass

    def exists(self, path: str | None) -> bool:
        assert path is not None
        try:
            self._ask('ls', self._remote(path, literal=True))
        except exception.SourceNotFound:
            return False
        return True

    def stat(self, path: str) -> dict[str, Any]:
        entries = self._ask('ls', self._remote(path, literal=True))['entries']
        if len(entries) != 1 or entries[0]['kind'] != 'file':
            raise exception.SourceNotFound(f'{path} is no file')
        return {'filesize': entries[0]['bytes']}

    def get(self, path: str, dest: str, transfer_timeout: int | None = None) -> None:
        """By way of this process: a server of this host writes nothing outside its own folder."""
        # A file that is not there might be a wildcard, and match another one.
        self.stat(path)
        remote = self._remote(path)
        try:
            file = open(dest, 'wb')
        except OSError as error:
            raise exception.DestinationNotAccessible(f'{dest}: {error.strerror}') from None
        try:
            with file:
                done = self._start('get', remote, '-', stdin=subprocess.DEVNULL, stdout=file,
                                   timeout=transfer_timeout)
            self._check(done, 'get', {})
        except BaseException:
            os.unlink(dest)
            raise

    def put(self, source: str, target: str, source_dir: str | None = None,
            transfer_timeout: int | None = None) -> None:
        local = os.path.join(source_dir or '', source)
        remote = self._remote(target)
        self._make_folder(target)
        try:
            file = open(local, 'rb')
        except OSError as error:
            raise exception.SourceNotFound(f'{local}: {error.strerror}') from None
        with file:
            done = self._start('send', '-', remote, stdin=file, stdout=subprocess.PIPE,
                               timeout=transfer_timeout)
        try:
            self._check(done, 'send', {})
        except exception.SourceNotFound as error:
            raise exception.DestinationNotAccessible(str(error)) from None

    def _make_folder(self, pfn: str) -> None:
        host, _, path = self._remote(pfn).rpartition(':')
        if '/' in path:
            self._ask('mkdir', '--parents', f'{host}:{path.rpartition("/")[0]}')

    def delete(self, path: str) -> None:
        self._ask('rm', self._remote(path, literal=True))

    def rename(self, path: str, new_path: str) -> None:
        self._make_folder(new_path)
        self._ask('mv', self._remote(path), self._remote(new_path))
