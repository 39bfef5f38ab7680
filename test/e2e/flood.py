#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Frames that nobody asked for, to hosts that have better things to do.

    flood.py INTERFACE AFTER_S SECONDS KIND,KIND.. OWN_IP VICTIM_IP,VICTIM_MAC,PEER_IP...

The kinds are those of the class Maker. IP addresses of the peers are taken in vain, their MAC
addresses are not, for that would be a quarrel with the switch. Prints how many frames went.
"""

import random
import socket
import struct
import sys
import time

from lab import checksum

SEED = 20260101
FRAMES = 512  # made beforehand, sent over and over

UDP_PORT = 5760
WIRE_VERSION = 7  # lib/wire/packet.h
ARP, IPV4, VLAN, IPV6 = 0x0806, 0x0800, 0x8100, 0x86dd
UDP, ICMP = 17, 1
BROADCAST = b'\xff' * 6


def ipv4(source, target, protocol, body, fragment=0, length=None, wrong_sum=0):
    head = struct.pack('>BBHHHBBH4s4s', 0x45, 0, length or 20 + len(body), 0, fragment, 64,
                       protocol, 0, source, target)
    return head[:10] + struct.pack('>H', checksum(head) ^ wrong_sum) + head[12:] + body


def udp(source, target, body, wrong_sum=0, length=None):
    head = struct.pack('>HHHH', UDP_PORT, UDP_PORT, length or 8 + len(body), 0)
    pseudo = source + target + struct.pack('>BBH', 0, UDP, 8 + len(body))
    return head[:6] + struct.pack('>H', (checksum(pseudo + head + body) ^ wrong_sum) or 1) + body


class Maker:
    def __init__(self, own_mac, own_ip, victim_ip, victim_mac, peer_ip):
        self.draw = random.Random(SEED)
        self.own_mac, self.own_ip = own_mac, own_ip
        self.victim_mac, self.victim_ip, self.peer_ip = victim_mac, victim_ip, peer_ip

    def ethernet(self, kind, body, target=None):
        return ((target or self.victim_mac) + self.own_mac + struct.pack('>H', kind) + body).ljust(
            60, b'\0')

    def ip(self, protocol, body, source=None, **wrong):
        packet = ipv4(source or self.own_ip, self.victim_ip, protocol, body, **wrong)
        return self.ethernet(IPV4, packet)

    def datagram(self, body, source=None, **wrong):
        source = source or self.own_ip
        return self.ip(UDP, udp(source, self.victim_ip, body, **wrong), source)

    def garbage(self):
        """Well-formed UDP around anything."""
        return self.datagram(self.draw.randbytes(self.draw.randrange(1400)))

    def likeness(self):
        """The right version and a type that there is; the tag is wrong."""
        head = struct.pack('<BBBB', WIRE_VERSION, self.draw.randrange(1, 15), 0, 0)
        return self.datagram(head + self.draw.randbytes(self.draw.randrange(60, 1400)))

    def forgery(self):
        """From the peer that the victim talks to, as far as IP can tell."""
        head = struct.pack('<BBBB', WIRE_VERSION, 1, 0, 0)
        return self.datagram(head + self.draw.randbytes(1000), self.peer_ip)

    def cut(self):
        """Lengths of IP and UDP that go beyond the frame."""
        whole = self.datagram(self.draw.randbytes(600), length=self.draw.randrange(609, 2000))
        return whole if self.draw.random() < 0.5 else whole[:self.draw.randrange(60, 400)]

    def wrong_ip_sum(self):
        return self.ip(UDP, udp(self.own_ip, self.victim_ip, b'sum'), wrong_sum=0x5555)

    def wrong_udp_sum(self):
        return self.datagram(self.draw.randbytes(200), wrong_sum=0x5555)

    def fragment(self):
        return self.ip(UDP, self.draw.randbytes(800), fragment=self.draw.choice((0x2000, 0x00b9)))

    def tagged(self):
        tag = struct.pack('>HH', self.draw.randrange(1, 4095), IPV4)
        return self.ethernet(VLAN, tag + self.garbage()[14:])

    def any_frame(self):
        return self.ethernet(self.draw.randrange(0x600, 0x10000),
                             self.draw.randbytes(self.draw.randrange(46, 1400)))

    def ping(self):
        body = struct.pack('>BBHHH', 8, 0, 0, 1, 1) + self.draw.randbytes(1000)
        return self.ip(ICMP, body[:2] + struct.pack('>H', checksum(body)) + body[4:])

    def arp(self, operation, sender_mac, sender_ip, target=None):
        body = struct.pack('>HHBBH6s4s6s4s', 1, IPV4, 6, 4, operation, sender_mac, sender_ip,
                           bytes(6), self.victim_ip)
        return self.ethernet(ARP, body, target)

    def who_has(self):
        sender = self.own_ip[:3] + bytes((self.draw.randrange(20, 250),))
        return self.arp(1, self.own_mac, sender, BROADCAST)

    def conflict(self):
        """Claims the victim's address as its own."""
        return self.arp(2, self.own_mac, self.victim_ip)

    def moved(self):
        """Claims that the peer has moved here."""
        return self.arp(2, self.own_mac, self.peer_ip)


def main():
    interface, after_s, seconds, kinds, own_ip, *victims = sys.argv[1:]
    frames = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
        raw.bind((interface, 0))
        own_mac = raw.getsockname()[4]
        for victim in victims:
            ip, mac, peer_ip = victim.split(',')
            maker = Maker(own_mac, socket.inet_aton(own_ip), socket.inet_aton(ip),
                          bytes.fromhex(mac.replace(':', '')), socket.inet_aton(peer_ip))
            makers = [getattr(maker, kind) for kind in kinds.split(',')]
            frames += [makers[i % len(makers)]() for i in range(FRAMES)]
        random.Random(SEED).shuffle(frames)
        time.sleep(float(after_s))
        sent, end = 0, time.monotonic() + float(seconds)
        while time.monotonic() < end:
            for frame in frames:
                try:
                    raw.send(frame)
                    sent += 1
                except OSError:  # its queue is full
                    time.sleep(0.001)
    print(sent)


if __name__ == '__main__':
    main()
