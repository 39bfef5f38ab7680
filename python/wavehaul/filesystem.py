# SPDX-License-Identifier: BSD-3-Clause
"""Files of another host for fsspec: wavehaul://HOST/PATH, read and written by wavehaul(1).

    fs = fsspec.filesystem('wavehaul', host='dtn2')
    with fs.open('runs/run42/events.dat', 'rb') as file:
        ...

A path is one that HOST serves, from its --root on. What is opened to be read is fetched whole into
a folder of this host first, and then is a file like any other; what is written goes to HOST when it
is closed, and has its name there only once it is whole. Where a server of this host has the NIC
(`--daemon`), transfers are its own: the folder is below its root then, and both it and this process
have to have access to it.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from fsspec import AbstractFileSystem

from wavehaul.errors import Error, Refused
from wavehaul.server import connect

SCRATCH = '.fsspec-'
USAGE, NO_FILE, NETWORK = 2, 3, 5


class _Fetched(io.BufferedReader):
    """Its name is gone, and its bytes with the last who has it open."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self.size = os.fstat(self.fileno()).st_size


class _Outgoing(io.BufferedWriter):
    """Goes once it is closed, or with its transaction."""

    def __init__(self, folder: Path, send: Callable[[Path], None], autocommit: bool) -> None:
        self._folder, self._send, self._autocommit = folder, send, autocommit
        super().__init__(io.FileIO(folder / 'file', 'w'))

    def close(self) -> None:
        if self.closed:
            return
        try:
            super().close()
            if self._autocommit:
                self._send(self._folder / 'file')
        finally:
            if self._autocommit:
                self.discard()

    def commit(self) -> None:
        try:
            self._send(self._folder / 'file')
        finally:
            self.discard()

    def discard(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class WavehaulFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """`command` is what to run, `options` come behind its verb (as --port and --addr, where no
    server of this host has a port), `control` is that server's socket, and `scratch` the folder for
    files on their way."""

    protocol = 'wavehaul'
    root_marker = ''

    def __init__(self, host: str, *, command: Sequence[str] = ('wavehaul',),
                 options: Sequence[str] = (), control: str | None = None,
                 scratch: str | None = None, **kwargs: Any) -> None:
        if self._cached:
            return
        super().__init__(**kwargs)
        self.host, self.command = host, tuple(command)
        self.options, self.control, self.scratch = tuple(options), control, scratch

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        path = os.fspath(path)
        if path.startswith('wavehaul://'):
            path = path.removeprefix('wavehaul://').partition('/')[2]
        return path.strip('/')

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, str]:
        host = path.removeprefix('wavehaul://').partition('/')[0]
        return {'host': host.rpartition('@')[2]} if path.startswith('wavehaul://') else {}

    def unstrip_protocol(self, name: str) -> str:
        return f'wavehaul://{self.host}/{self._strip_protocol(name)}'

    def _remote(self, path: str) -> str:
        host = f'[{self.host}]' if ':' in self.host else self.host
        return f'{host}:{path or "."}'

    def _literal(self, path: str) -> str:
        """For a verb that has wildcards: a name with such a sign stands for itself alone."""
        return self._remote('/'.join(re.sub(r'([\\*?[])', r'\\\1', name)
                                     if re.search('[*?[]', name) else name
                                     for name in path.split('/')))

    def _run(self, verb: str, *words: str | os.PathLike[str], of: str) -> dict[str, Any]:
        """The verb's report. Its failure is raised, as OSError unless the words were wrong."""
        control = ('--control', self.control) \
            if self.control is not None and verb in ('send', 'get') else ()
        done = subprocess.run([*self.command, verb, *words, '--json', *control, *self.options],
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        try:
            report = json.loads(done.stdout) if done.stdout.strip() else {}
        except ValueError:
            report = {}
        if done.returncode == 0:
            return dict(report)
        said = done.stderr.decode(errors='replace').strip()
        said = said.removeprefix('wavehaul: ') or str(report.get('error') or '')
        failures = report.get('failures') or [{}]
        why = f'{self.unstrip_protocol(of)}: {failures[0].get("error", said)}'
        if done.returncode == USAGE:
            raise Refused(said, done.returncode)
        if done.returncode == NO_FILE or 'no such file' in why.lower():
            raise FileNotFoundError(why)
        if done.returncode == NETWORK:
            raise ConnectionError(why)
        raise OSError(why)

    def _entry(self, told: dict[str, Any]) -> dict[str, Any]:
        kind = {'folder': 'directory'}.get(told['kind'], told['kind'])
        name = told['path'].removeprefix('./').strip('/')
        return {'name': name, 'type': kind, 'mtime': told['mtime_s'],
                'size': told['bytes'] if kind == 'file' else 0, 'mode': told['mode'],
                **({'destination': told['link']} if kind == 'link' else {})}

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        path = self._strip_protocol(path)
        entries = [self._entry(told) for told in
                   self._run('ls', self._literal(path), of=path)['entries']]
        return entries if detail else [entry['name'] for entry in entries]

    def info(self, path: str, **kwargs: Any) -> Any:
        path = self._strip_protocol(path)
        if not path:
            return {'name': '', 'size': 0, 'type': 'directory'}
        found = self.ls(self._parent(path))
        for entry in found:
            if entry['name'] == path and entry['type'] != 'link':
                return entry
        # What a link leads to is listed by itself.
        entries = self.ls(path)
        if len(entries) == 1 and entries[0]['name'] == path:
            return entries[0]
        return {'name': path, 'size': 0, 'type': 'directory'}

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Raises where nobody knows: a host that does not answer is no file that is not there."""
        try:
            self.info(path)
        except FileNotFoundError:
            return False
        return True

    def du(self, path: str, total: bool = True, maxdepth: int | None = None,
           **kwargs: Any) -> Any:
        path = self._strip_protocol(path)
        if not total or maxdepth is not None:
            return super().du(path, total=total, maxdepth=maxdepth, **kwargs)
        return sum(entry['bytes'] for entry in
                   self._run('du', self._literal(path), of=path)['entries'])

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """By way of this host."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        with self._fetched(path1) as local:
            self._send(local, path2)

    def modified(self, path: str) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.info(path)['mtime'], datetime.timezone.utc)

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        if self.exists(path):
            raise FileExistsError(self.unstrip_protocol(path))
        self._run('mkdir', *(['-p'] if create_parents else []), self._remote(path), of=path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        path = self._strip_protocol(path)
        if not path or (exist_ok and self.isdir(path)):
            return
        self.mkdir(path)

    def rmdir(self, path: str) -> None:
        path = self._strip_protocol(path)
        if not self.isdir(path):
            raise NotADirectoryError(self.unstrip_protocol(path))
        if self.ls(path):
            raise OSError(f'{self.unstrip_protocol(path)}: the folder is not empty')
        self._run('rm', '-r', self._literal(path), of=path)

    def rm_file(self, path: str) -> None:
        path = self._strip_protocol(path)
        self._run('rm', self._literal(path), of=path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        paths = path if isinstance(path, list) else [path]
        for one in map(self._strip_protocol, paths):
            if not recursive or maxdepth is not None:
                super().rm(one, recursive=recursive, maxdepth=maxdepth)
            else:
                self._run('rm', '-r', self._literal(one), of=one)

    def mv(self, path1: str, path2: str, **kwargs: Any) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self._run('mv', self._remote(path1), self._remote(path2), of=path1)

    def _scratch_place(self) -> str | None:
        """Below the root of this host's server, if there is one: it has nothing else."""
        if self.scratch is not None or '--port' in self.options:
            return self.scratch
        with contextlib.suppress(Error), connect(self.control) as server:
            return str(server.status()['root'])
        return None

    def _make_scratch(self) -> Path:
        place = self._scratch_place()
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=place))
        if place is not None:
            # The server is another user's; what both have to do with belongs to the root's group.
            with contextlib.suppress(OSError):
                os.chown(folder, -1, os.stat(place).st_gid)
            folder.chmod(0o2770)
        return folder

    @contextlib.contextmanager
    def _fetched(self, path: str) -> Iterator[Path]:
        folder = self._make_scratch()
        try:
            self._run('get', self._remote(path), folder / 'file', of=path)
            yield folder / 'file'
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _send(self, local: Path, path: str) -> None:
        self._run('send', local, self._remote(path), of=path)

    def _open(self, path: str, mode: str = 'rb', block_size: int | None = None,
              autocommit: bool = True, cache_options: Any = None, **kwargs: Any) -> Any:
        if mode == 'rb':
            with self._fetched(path) as local:
                return _Fetched(local)
        if mode not in ('wb', 'xb'):
            raise ValueError(f'files are opened with rb, wb or xb, not {mode}')
        if mode == 'xb' and self.exists(path):
            raise FileExistsError(self.unstrip_protocol(path))
        folder = self._make_scratch()
        try:
            return _Outgoing(folder, lambda local: self._send(local, path), autocommit)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
