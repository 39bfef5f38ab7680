# SPDX-License-Identifier: BSD-3-Clause
"""Trees of files to be sent, and what is there when they have arrived."""

import hashlib
import os
import random
import stat
from pathlib import Path

from harness import Failed, expect, expect_between

KIB, MIB = 1 << 10, 1 << 20

# Around what travels inside a record (256 KiB), a page, a chunk (1 MiB).
SIZES = (0, 1, 4096, 256 * KIB, 256 * KIB + 1, MIB, MIB + 1)

# Names that shells, terminals, encodings and protocols trip over; as bytes, as the kernel has them.
NAMES = (b'with space', b'new\nline', b'tab\tand \x1b[31m', 'größe 文件'.encode(), b'bad\xff\xfe utf',
         b'-r', b'--', b'.hidden', b'back\\slash', b'quo"te\'s', b'colon:name', b'*', b'n' * 255)


def content(size, seed=0):
    return random.Random(size + seed).randbytes(size)


def fill(path, size, seed=0):
    """A file of that size that no zeros make short."""
    with open(path, 'wb') as file:
        for at in range(0, size, 4 * MIB):
            file.write(content(min(4 * MIB, size - at), seed + at))


def set_time(path, seconds):
    """A time of its own for each, with nanoseconds; of links too."""
    nanoseconds = seconds * 10**9 + 123456789
    os.utime(path, ns=(nanoseconds, nanoseconds), follow_symlinks=False)


def make_tree(top):
    """Sizes, modes, times, links, empty folders and names of all kinds."""
    top.mkdir()
    for size in SIZES:
        path = top / f'size-{size}'
        path.write_bytes(content(size))
        set_time(path, 10**9 + size)
    for mode in (0o400, 0o444, 0o600, 0o640, 0o755, 0o777):
        path = top / f'mode-{mode:o}'
        path.write_bytes(b'mode')
        path.chmod(mode)
        set_time(path, mode)
    names = top / 'names'
    names.mkdir()
    for name in NAMES:
        Path(os.fsdecode(os.fsencode(names) + b'/' + name)).write_bytes(name)
    (top / 'deep' / 'er' / 'still').mkdir(parents=True)
    (top / 'deep' / 'er' / 'still' / 'file').write_bytes(b'at the bottom')
    (top / 'empty').mkdir(mode=0o700)
    (top / 'kept').mkdir()
    (top / 'kept' / 'file').write_bytes(b'in a folder that nobody may write')
    (top / 'link').symlink_to('deep/er/still/file')
    (top / 'link-to-nothing').symlink_to('/no/such/file')
    (top / 'link-to-folder').symlink_to('deep')
    for folder in ('deep/er/still', 'deep/er', 'deep', 'empty', 'kept', 'names', '.'):
        set_time(top / folder, 10**9 + len(folder))
    (top / 'kept').chmod(0o555)
    return top


def make_small_files(top, count, folders=20):
    """Many small files, of 0 to 4 KiB."""
    top.mkdir()
    source = content(8 * KIB)
    for i in range(folders):
        (top / f'{i}').mkdir()
    for i in range(count):
        (top / f'{i % folders}' / f'file {i}').write_bytes(source[i % 4000:][:i % 4097])
    return top


def describe(path, times):
    status = os.lstat(path)
    modified = status.st_mtime_ns if times else 0
    if stat.S_ISLNK(status.st_mode):
        return 'link', os.readlink(path)
    if stat.S_ISDIR(status.st_mode):
        return 'folder', oct(status.st_mode & 0o7777), modified
    with open(path, 'rb') as file:
        digest = hashlib.file_digest(file, 'md5').hexdigest()
    return 'file', oct(status.st_mode & 0o7777), modified, status.st_size, digest


def listing(top, times=True):
    """Path -> kind, mode, time and content, of all that is in the folder and of itself."""
    top = os.fsencode(top)
    found = {b'.': describe(top, times)}
    for folder, folders, names in os.walk(top):
        for name in folders + names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, top)] = describe(path, times)
    return found


def expect_same_tree(there, here, times=True):
    wanted, found = listing(here, times), listing(there, times)
    for path in sorted(set(wanted) | set(found)):
        if wanted.get(path) != found.get(path):
            raise Failed(f'{path!r} is {found.get(path)}, not {wanted.get(path)}')


def expect_names(folder, *names):
    """Just these are in the folder: nothing is missing, nothing half is left."""
    there = sorted(os.fsencode(name) for name in os.listdir(folder))
    wanted = sorted(os.fsencode(name) for name in names)
    expect(there == wanted, f'{folder} has {there}, not {wanted}')


def count_files(top):
    return sum(len(names) for _, _, names in os.walk(top))


def expect_left(interval, size):
    """Of two files, of which the one large has so many bytes."""
    left = max(size - interval['bytes'], 0)
    expect_between('bytes left', interval['bytes_left'], left, left + MIB)
    expect(interval['files_left'] <= 2 and not interval['at_least'], f'left: {interval}')
    expect(interval['eta_s'] >= 0 and interval['mean_bps'] > 0, f'rates: {interval}')
