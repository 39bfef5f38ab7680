# SPDX-License-Identifier: BSD-3-Clause
"""Files to send, in tmpfs: what they are made of, and whether they arrived."""

import contextlib
import os
import random
import shutil
import tempfile
from pathlib import Path

from .machine import meminfo
from .processes import Failed, order

TMPFS = Path('/dev/shm')

BLOCK_BYTES = 1 << 20
FILE_MIN_BYTES = 256 << 20
FILE_MAX_BYTES = 4 << 30
FILE_STEP = 4

SMALL_BYTES = 4096
SMALL_IN_A_FOLDER = 1000


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix='wavehaul-bench-', dir=TMPFS) as name:
        yield Path(name)


def largest_file():
    """With its copy and the smaller ones it takes less than half of what memory is free."""
    size = FILE_MAX_BYTES
    while size > FILE_MIN_BYTES and size > meminfo('MemAvailable') // 5:
        size //= FILE_STEP
    return size


def make_file(path, size_bytes):
    """No block is like another, so that one in the wrong place is noticed; nothing to compress."""
    block = random.Random(size_bytes).randbytes(BLOCK_BYTES)
    with open(path, 'wb') as file:
        for index in range(size_bytes // BLOCK_BYTES):
            file.write(index.to_bytes(8, 'little') + block[8:])


def make_tree(path, count):
    noise = random.Random(count).randbytes(SMALL_BYTES + count)
    for index in range(count):
        inner = path / f'{index // SMALL_IN_A_FOLDER:04}'
        if index % SMALL_IN_A_FOLDER == 0:
            inner.mkdir(parents=True)
        (inner / f'{index:07}').write_bytes(noise[index:index + SMALL_BYTES])


def compare(source, arrived):
    """Every byte; raises Failed with the difference."""
    if not arrived.exists():
        raise Failed(f'nothing arrived as {arrived.name}')
    if source.is_dir():
        order('diff', '-rq', str(source), str(arrived))
    else:
        order('cmp', str(source), str(arrived))


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


class Sources:
    """Files by size, made once each; all go with the folder."""

    def __init__(self, root):
        self.root = root
        (root / 'from').mkdir()

    def file(self, size_bytes):
        path = self.root / 'from' / f'{size_bytes >> 20}M'
        if not path.exists():
            make_file(path, size_bytes)
        return path

    def tree(self, count):
        path = self.root / 'from' / f'tree-{count}'
        if not path.exists():
            make_tree(path, count)
        return path

    @contextlib.contextmanager
    def arrival(self):
        """An empty folder in which one transfer may end."""
        path = self.root / 'to'
        path.mkdir()
        os.chmod(path, 0o777)
        try:
            yield path
        finally:
            remove(path)
