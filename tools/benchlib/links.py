# SPDX-License-Identifier: BSD-3-Clause
"""What lies between two ends: the loopback, or a veth between two network namespaces."""

import contextlib
import os
import shutil
from collections import namedtuple
from pathlib import Path

from .guarded import end_namespace
from .processes import Place, order

# Two places and how the server is called from the client's.
Link = namedtuple('Link', 'server client address mtu')

LOOPBACK = Link(Place(0), Place(1), '127.0.0.1', 65536)

SERVER_ADDRESS, CLIENT_ADDRESS = '192.0.2.1', '192.0.2.2'

# Below it `ip netns exec` finds the /etc of a namespace (ip-netns(8)).
NAMESPACES_ETC = Path('/etc/netns')

# GridFTP asks for the names of addresses, and there is nobody else to answer.
HOSTS = f'127.0.0.1 localhost\n{SERVER_ADDRESS} server\n{CLIENT_ADDRESS} client\n'


class Namespaces:
    """For the length of a `with`: make() makes those of `names`, and none of them is left."""

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        """What there is of them; interfaces and programs go with their namespaces."""
        for name in self.names:
            end_namespace(name)


class Veth(Namespaces):
    """
    The kernel's sockets get an interface as the kernel makes it: checksums left out and segments
    of 64 KiB handed across whole, which no real line would do for them. AF_PACKET and AF_XDP see
    each other alone here, so nothing has to be switched off for them (a kernel at the other end
    would leave sums out that nobody else fills in).
    """

    def __init__(self, mtu):
        self.mtu = mtu
        self.names = [f'wavehaul-{os.getpid()}-bench-{end}' for end in 'ab']

    def link(self):
        server, client = self.names
        return Link(Place(0, server), Place(1, client), SERVER_ADDRESS, self.mtu)

    def interface(self, end):
        return f'wh-{end}'

    def make(self):
        for name in self.names:
            order('ip', 'netns', 'add', name)
            etc = NAMESPACES_ETC / name
            etc.mkdir(parents=True)
            (etc / 'hosts').write_text(HOSTS, encoding='ascii')
        order('ip', 'link', 'add', 'wh-a', 'netns', self.names[0], 'mtu', str(self.mtu),
              'type', 'veth', 'peer', 'name', 'wh-b', 'netns', self.names[1],
              'mtu', str(self.mtu))
        for end, name, address in zip('ab', self.names, (SERVER_ADDRESS, CLIENT_ADDRESS)):
            order('ip', '-n', name, 'address', 'add', f'{address}/24', 'dev', f'wh-{end}')
            order('ip', '-n', name, 'link', 'set', 'lo', 'up')
            order('ip', '-n', name, 'link', 'set', f'wh-{end}', 'up')

    def remove(self):
        super().remove()
        for name in self.names:
            shutil.rmtree(NAMESPACES_ETC / name, ignore_errors=True)
        # Another's files may be there too.
        with contextlib.suppress(OSError):
            NAMESPACES_ETC.rmdir()
