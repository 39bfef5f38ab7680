# SPDX-License-Identifier: BSD-3-Clause
"""Files of another host for fsspec: wavehaul://HOST/PATH, read and written by wavehaul(1).

    fs = fsspec.filesystem('wavehaul', host='dtn2')
    with fs.open('runs/run42/events.dat', 'rb') as file:
        ...

A path is one that HOST serves, from its --root on. Of a file that is opened to be read, what is
read is fetched: a range at first, and ever larger ones while reading goes on from where the last
one ended. What is written goes to HOST when it is closed, and has its name there only once it is
whole. Where a server of this host has the NIC (`--daemon`), transfers are its own; the bytes pass
through this process, which needs nothing of that server's files.
"""

from __future__ import annotations

import datetime
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any, Callable, NoReturn, Sequence

from fsspec import AbstractFileSystem

from wavehaul.errors import Refused

SCRATCH = 'wavehaul-fsspec-'
USAGE, NO_FILE, NETWORK = 2, 3, 5

# What is fetched at first, and by how much more each time that reading goes on.
FIRST_BYTES = 128 << 10
GROWTH = 4


class _Ranges(io.RawIOBase):
    """A remote file, by one range after the other. `begin(offset, length)` has the bytes come, and
    `end(process)` raises what went wrong with them."""

    def __init__(self, size: int, begin: Callable[[int, int], subprocess.Popen[bytes]],
                 end: Callable[[subprocess.Popen[bytes]], None]) -> None:
        self.size, self._begin, self._end = size, begin, end
        self._at = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._process_at = self._left = self._window = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        at = offset + (0, self._at, self.size)[whence]
        if at < 0:
            raise ValueError('before the beginning of the file')
        self._at = at
        return at

    def close(self) -> None:
        self._drop()
        super().close()

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process, self._left = None, 0

    def _fetch(self, wanted: int) -> None:
        goes_on = self._window > 0 and self._process_at == self._at
        self._drop()
        self._window = self._window * GROWTH if goes_on else FIRST_BYTES
        self._left = min(max(wanted, self._window), self.size - self._at)
        self._process = self._begin(self._at, self._left)
        self._process_at = self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast('B')[:max(self.size - self._at, 0)]
        if not view:
            return 0
        if self._process is None or self._process_at != self._at:
            self._fetch(len(view))
        assert self._process is not None and self._process.stdout is not None
        count = os.readv(self._process.stdout.fileno(), [view[:self._left]])
        self._at += count
        self._process_at += count
        self._left -= count
        # Only the end says whether they were the right ones.
        if self._left == 0 or count == 0:
            process, self._process = self._process, None
            self._end(process)
            if self._left > 0:
                raise OSError('the file has become shorter')
        return count


class _Remote(io.BufferedReader):
    def __init__(self, raw: _Ranges) -> None:
        super().__init__(raw, FIRST_BYTES)
        self.size = raw.size


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
    files that are written, until they are closed."""

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

    def _words(self, verb: str, *words: str | os.PathLike[str]) -> list[str]:
        control = () if self.control is None else ('--control', self.control)
        return [*self.command, verb, *(os.fspath(word) for word in words), *control, *self.options]

    def _fail(self, status: int, stderr: bytes, report: dict[str, Any], of: str) -> NoReturn:
        """As OSError, unless the words were wrong."""
        said = stderr.decode(errors='replace').strip()
        said = said.removeprefix('wavehaul: ') or str(report.get('error') or '')
        failures = report.get('failures') or [{}]
        why = f'{self.unstrip_protocol(of)}: {failures[0].get("error", said)}'
        if status == USAGE:
            raise Refused(said, status)
        if status == NO_FILE or 'no such file' in why.lower():
            raise FileNotFoundError(why)
        if status == NETWORK:
            raise ConnectionError(why)
        raise OSError(why)

    def _run(self, verb: str, *words: str | os.PathLike[str], of: str,
             stdin: int | IO[bytes] = subprocess.DEVNULL) -> dict[str, Any]:
        """The verb's report."""
        done = subprocess.run(self._words(verb, *words, '--json'), stdin=stdin,
                              capture_output=True, check=False)
        try:
            report = json.loads(done.stdout) if done.stdout.strip() else {}
        except ValueError:
            report = {}
        if done.returncode != 0:
            self._fail(done.returncode, done.stderr, report, of)
        return dict(report)

    def _begin(self, path: str, offset: int, length: int | None) -> subprocess.Popen[bytes]:
        """The bytes come by its standard output."""
        part = ['--offset', str(offset)] if offset > 0 else []
        part += ['--length', str(length)] if length is not None else []
        return subprocess.Popen(
            self._words('get', self._literal(path), '-', '--quiet', *part),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def _end(self, process: subprocess.Popen[bytes], of: str) -> None:
        _, stderr = process.communicate()
        if process.returncode != 0:
            self._fail(process.returncode, stderr, {}, of)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None,
                 **kwargs: Any) -> bytes:
        path = self._strip_protocol(path)
        if (start or 0) < 0 or (end or 0) < 0:
            size = int(self.info(path)['size'])
            start, end = (None if at is None else max(at + size, 0) if at < 0 else at
                          for at in (start, end))
        first = start or 0
        if end is not None and end <= first:
            return b''
        process = self._begin(path, first, None if end is None else end - first)
        data, stderr = process.communicate()
        if process.returncode != 0:
            self._fail(process.returncode, stderr, {}, path)
        return data

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

    def get_file(self, rpath: str, lpath: Any, **kwargs: Any) -> None:
        rpath = self._strip_protocol(rpath)
        if self.isdir(rpath):
            os.makedirs(lpath, exist_ok=True)
            return
        with open(lpath, 'wb') as file:
            self._get(rpath, file)

    def _get(self, path: str, file: IO[bytes]) -> None:
        process = self._begin(path, 0, None)
        assert process.stdout is not None
        shutil.copyfileobj(process.stdout, file, FIRST_BYTES)
        self._end(process, path)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """By way of this host."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        with tempfile.TemporaryFile(dir=self.scratch) as file:
            self._get(path1, file)
            file.seek(0)
            self._run('send', '-', self._remote(path2), of=path2, stdin=file)

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

    def _send(self, local: Path, path: str) -> None:
        with open(local, 'rb') as file:
            self._run('send', '-', self._remote(path), of=path, stdin=file)

    def _open(self, path: str, mode: str = 'rb', block_size: int | None = None,
              autocommit: bool = True, cache_options: Any = None, **kwargs: Any) -> Any:
        if mode == 'rb':
            found = self.info(path)
            if found['type'] == 'directory':
                raise IsADirectoryError(self.unstrip_protocol(path))
            return _Remote(_Ranges(found['size'],
                                   lambda offset, length: self._begin(path, offset, length),
                                   lambda process: self._end(process, path)))
        if mode not in ('wb', 'xb'):
            raise ValueError(f'files are opened with rb, wb or xb, not {mode}')
        if mode == 'xb' and self.exists(path):
            raise FileExistsError(self.unstrip_protocol(path))
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=self.scratch))
        try:
            return _Outgoing(folder, lambda local: self._send(local, path), autocommit)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
