# SPDX-License-Identifier: BSD-3-Clause
"""Files to send, in tmpfs: what they are made of, and whether they arrived."""

import contextlib
import ctypes
import os
import random
import shutil
import tempfile
from pathlib import Path

from .machine import memory_available
from .processes import Failed, order

TMPFS = Path('/dev/shm')

CLONE_NEWNS = 0x00020000  # unshare(2); Python has it from 3.12 on

BLOCK_BYTES = 1 << 20
FILE_MIN_BYTES = 256 << 20
FILE_MAX_BYTES = 4 << 30
FILE_STEP = 4

# What both ends of any transfer take beside files.
PROGRAMS_BYTES = 2 << 30

SMALL_BYTES = 4096
SMALL_IN_A_FOLDER = 1000


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix=f'wavehaul-bench-{os.getpid()}-', dir=TMPFS) as name:
        yield Path(name)


def unshare_mounts():
    """What is mounted from here on is this process's and its children's, and ends with them."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        raise Failed('only root has mounts of its own')
    order('mount', '--make-rprivate', '/')


@contextlib.contextmanager
def huge_folder(parent):
    """
    A tmpfs of huge pages, or None where that may not be: with small ones, on a virtual machine, a
    page's way to the host takes longer than any program that is measured here (cp: 2.6 to
    16 Gb/s). For large files alone: a small one takes a page, too.
    """
    path = parent / 'huge'
    path.mkdir()
    try:
        try:
            unshare_mounts()
            order('mount', '-t', 'tmpfs', '-o', 'huge=always,mode=1777,size=100%',
                  'wavehaul-bench', str(path))
        except Failed:
            pass
        yield path if path.is_mount() else None
    finally:
        if path.is_mount():
            order('umount', '--lazy', str(path))


def largest_file():
    """With its copy and the smaller ones it takes less than half of what memory is free."""
    size = FILE_MAX_BYTES
    while size > FILE_MIN_BYTES and size > memory_available() // 5:
        size //= FILE_STEP
    return size


class Memory:
    """
    Free memory of a virtual machine may be with its host, and comes back page by page, slowly, to
    who touches it first. So what is not needed is kept out of the way (reserved, not touched), and
    nearly all of the rest is touched before each transfer.
    """

    def __init__(self, huge):
        self.huge = huge
        self.largest_bytes = largest_file()
        smaller_bytes = sum(self.largest_bytes // FILE_STEP ** i for i in (1, 2))
        needed = 2 * self.largest_bytes + smaller_bytes + PROGRAMS_BYTES
        spare = memory_available() - needed
        if spare > 0:
            with open(huge / 'ballast', 'wb') as file:
                os.posix_fallocate(file.fileno(), 0, spare)

    def claim(self):
        with open(self.huge / 'claim', 'wb', buffering=0) as file:
            for _ in range((memory_available() - PROGRAMS_BYTES) // BLOCK_BYTES):
                file.write(bytes(BLOCK_BYTES))
        (self.huge / 'claim').unlink()


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
    """Files by size, made once each; all go with the folder. Large ones lie in `huge`, if any."""

    def __init__(self, root, huge):
        self.root, self.large, self.huge, self.memory = root, huge or root, huge, None
        for folder in {self.root, self.large}:
            (folder / 'from').mkdir()

    def largest_file(self):
        self.prepare()
        return self.memory.largest_bytes if self.memory else largest_file()

    def prepare(self):
        """Only for who transfers something: it takes memory, and its time."""
        if self.huge and not self.memory:
            self.memory = Memory(self.huge)

    def file(self, size_bytes):
        path = self.large / 'from' / f'{size_bytes >> 20}M'
        if not path.exists():
            make_file(path, size_bytes)
        return path

    def tree(self, count):
        path = self.root / 'from' / f'tree-{count}'
        if not path.exists():
            make_tree(path, count)
        return path

    @contextlib.contextmanager
    def arrival(self, source=None):
        """An empty folder in which one transfer may end: in the tmpfs of its source."""
        path = source.parents[1] / 'to' if source else self.root / 'to'
        path.mkdir()
        os.chmod(path, 0o777)
        if source:
            self.prepare()
        if source and self.memory:
            self.memory.claim()
        try:
            yield path
        finally:
            remove(path)
