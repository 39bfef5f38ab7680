# SPDX-License-Identifier: BSD-3-Clause
"""Files that a measurement leaves. Whether they can be written is known before it begins."""

from .processes import Failed


def check(*paths):
    """Raises Failed, with the reason, for the first that cannot be written; None is no file."""
    for path in filter(None, paths):
        is_new = not path.exists()
        try:
            with open(path, 'ab'):
                pass
            if is_new:
                path.unlink()
        except OSError as error:
            raise Failed(f'cannot write {path}: {error.strerror}') from None


def write(path, text):
    try:
        path.write_text(text, encoding='utf-8')
    except OSError as error:
        raise Failed(f'cannot write {path}: {error.strerror}') from None
