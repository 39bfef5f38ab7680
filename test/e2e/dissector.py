#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""tools/wavehaul.lua reads what the encoder writes: every member of every packet type.

    dissector.py [-k PATTERN] [--binary PATH]

The packets come from packet_samples, which is built beside the program. Without tshark all cases
are skipped.
"""

import json
import re
import shutil
import struct
import subprocess
import sys
from collections import defaultdict, namedtuple
from pathlib import Path

from harness import Case, Skip, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
SCRIPT = TOP / 'tools/wavehaul.lua'
FIELDS = TOP / 'lib/wire/fields.h'

TIMEOUT_S = 60
SIZES = 3  # least, usual, most
TYPES = ('data', 'repair', 'rcv-report', 'trans-report', 'ack2', 'nak', 'delay-warning', 'bitmap',
         'open', 'accept', 'confirm', 'release', 'probe', 'probe-answer', 'ask', 'cookie',
         'crypto', 'path')
VLAN = 7

# A capture file: its head, and the head of a record; then Ethernet, IPv4 and UDP before the packet.
PCAP_HEAD_BYTES = 24
RECORD = struct.Struct('=IIII')
HEADERS_BYTES = 42

# As tshark names them in its JSON.
CHECKSUM_GOOD = '1'
CHECKSUM_ABSENT = '3'

Samples = namedtuple('Samples', 'capture told')


def sample(kind, size):
    """The number of a packet of packet_samples.h; even ones go over IPv4, without a tag."""
    return TYPES.index(kind) * SIZES + ('least', 'usual', 'most').index(size)


def tshark(*args):
    if shutil.which('tshark') is None:
        raise Skip('tshark is not installed')
    command = ['tshark', *map(str, args), '-X', f'lua_script:{SCRIPT}']
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    expect(done.returncode == 0, f'tshark: exit status {done.returncode}: {done.stderr[-600:]}')
    expect('Lua' not in done.stderr, f'tshark: {done.stderr[-600:]}')
    return done.stdout


def gather(tree, found):
    """Every scalar of tshark's tree by its name, in order."""
    for name, value in tree.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                gather(one, found)
            else:
                found[name].append(one)
    return found


def dissect(capture, *args):
    text = tshark('-r', capture, '-T', 'json', '--no-duplicate-keys', *args)
    error = re.search('Lua Error.*', text)
    expect(not error, error and error.group())
    return [gather(packet['_source']['layers'], defaultdict(list)) for packet in json.loads(text)]


def lines(capture, *args):
    return tshark('-r', capture, '-T', 'fields', '-e', '_ws.col.Info', *args).splitlines()


def make_samples(program, folder, *keylog):
    maker = Path(program.binary).parents[2] / 'test/packet_samples'
    capture = folder / 'samples.pcap'
    done = subprocess.run([maker, capture, *keylog], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    expect(done.returncode == 0, f'{maker}: {done.stderr}')
    told = [defaultdict(list) for _ in range(len(TYPES) * SIZES)]
    for line in done.stdout.splitlines():
        number, name, value = line.split()
        told[int(number)][name].append(value)
    return Samples(capture, told)


def records(capture):
    data = capture.read_bytes()
    at = PCAP_HEAD_BYTES
    while at < len(data):
        captured = RECORD.unpack_from(data, at)[2]
        at += RECORD.size
        yield bytearray(data[at:at + captured])
        at += captured


def write_frames(samples, frames, capture):
    """Each frame with its length on the wire, which may be more than was captured of it."""
    head = samples.capture.read_bytes()[:PCAP_HEAD_BYTES]
    with capture.open('wb') as file:
        file.write(head)
        for frame, length in frames:
            file.write(RECORD.pack(0, 0, len(frame), length) + frame)


def resize(frame, packet_bytes):
    """Another length of the packet, zeros at its end, in all headers."""
    frame = (frame + bytes(packet_bytes))[:HEADERS_BYTES + packet_bytes]
    struct.pack_into('>H', frame, 16, packet_bytes + 28)
    struct.pack_into('>H', frame, 38, packet_bytes + 8)
    return frame


def plain(value):
    return str(int(value, 16)) if value.startswith('0x') else value


def as_text(name, value):
    if name == 'wavehaul.params.name':
        return bytes.fromhex(value.replace(':', '')).decode(errors='replace')
    return value


def every_member(program, folder):
    samples = make_samples(program, folder)
    expect_told(samples, dissect(samples.capture))


def expect_told(samples, packets):
    """What is read is what the encoder was told to write."""
    expect_equal('the number of packets', len(packets), len(samples.told))
    for number, (told, found) in enumerate(zip(samples.told, packets)):
        kind = TYPES[number // SIZES]
        reserved = ''.join(found.pop('wavehaul.reserved', []))
        expect(not reserved.strip('0:'), f'{kind}: reserved bytes are {reserved}')
        found = {name: [plain(v) for v in values] for name, values in found.items()
                 if name.startswith('wavehaul.') and any(values)}
        told = {name: [as_text(name, v) for v in values] for name, values in told.items()}
        expect_equal(f'what packet {number}, {kind}, has', sorted(found), sorted(told))
        for name, values in told.items():
            expect_equal(f'{name} of packet {number}', found[name], values)


def sealed_packets(program, folder):
    """Packets are decrypted with the logged keys only; altered packets are not."""
    log = folder / 'keylog'
    samples = make_samples(program, folder, log)
    with_keys = '-o', f'wavehaul.keylog:{log}', '-o', 'wavehaul.open_data:TRUE'
    expect_told(samples, dissect(samples.capture, *with_keys))
    packets = [packet for packet in records(samples.capture)]
    long = [packet for packet in packets if len(packet) > HEADERS_BYTES + 200]
    capture = folder / 'changed.pcap'
    for packet in long:
        packet[150] ^= 1
    write_frames(samples, [(packet, len(packet)) for packet in long], capture)
    for line in [*lines(capture, *with_keys), *lines(samples.capture)]:
        expect(line.endswith(': sealed'), line)
    log.write_text(''.join(line[:-1] + 'ab'[line[-1] == 'a'] + '\n'
                           for line in log.read_text().splitlines()))
    for number, line in enumerate(lines(samples.capture, *with_keys)):
        expect(line.endswith(': sealed'), f'packet {number} opens with other keys: {line}')


def known_packet(program, folder):
    """Written by hand, so that an error is not repeated in both places."""
    samples = make_samples(program, folder)
    found = dissect(samples.capture, '-Y', 'wavehaul.data.k == 1110 && wavehaul.type == 1')
    expect_equal('the number of packets', len(found), 1)
    for name, value in {
            'version': '7', 'type': '1', 'key': '0', 'cid': '0x11223344', 'flags': '0x02',
            'pn': str(0x2122232425262728), 'token': '0xf1f2f3f4f5f6f7f8',
            'data.transmission': str(0x1112131415161718),
            'data.chunk': str(0xa1b2c3d4), 'data.stamp': str(0xdeadbeef),
            'data.blocks': str(0x0b0c), 'data.last_bytes': str(0x0102), 'data.code': '2',
            'data.index': str(0x0123), 'data.r': str(0x0078), 'data.order': str(0x0d0e),
            'data.payload_bytes': '1408', 'flags.retransmission': '0', 'flags.pair_first': '1',
            'flags.pair_second': '0'}.items():
        expect_equal(name, found[0][f'wavehaul.{name}'], [value])
    # The payload begins 3, 10, 17, 24.
    expect_equal('payload', found[0]['wavehaul.payload'][0][:11], '03:0a:11:18')
    expect_equal('payload', len(found[0]['wavehaul.payload'][0]), 1408 * 3 - 1)


def said(program, folder):
    samples = make_samples(program, folder)
    info = lines(samples.capture)
    for kind, size, text in (
            ('data', 'usual', 'data cid 0x11223344 pn 2387509390608836392: chunk 2712847316'
                              ' index 291 of 1110+120, 1408 bytes'),
            ('rcv-report', 'least', 'rcv-report cid 0x00000000 pn 0: lower 0, highest end 0,'
                                   ' 0 holes'),
            ('nak', 'most', 'nak cid 0xffffffff pn 4611686018427387903: 128 losses'),
            ('bitmap', 'least', 'bitmap cid 0x00000000 pn 0: from 0, 0 of 1 arrived'),
            # 29 bits of the bytes 0xa1 to 0xa8, and 4 of 0x2b.
            ('bitmap', 'usual', 'bitmap cid 0x11223344 pn 2387509390608836392: from'
                                ' 72623859790382856, 33 of 70 arrived'),
            ('open', 'usual', "open cid 0x11223344 pn 2387509390608836392: 'run.dat', bytes:"
                              ' 12804494279291877304'),
            ('accept', 'least', 'accept cid 0x00000000 pn 0: busy'),
            ('accept', 'usual', 'accept cid 0x11223344 pn 2387509390608836392: welcome'),
            ('release', 'usual', 'release cid 0x11223344 pn 2387509390608836392: reply,'
                                 ' no-space')):
        expect_equal(f'the line of {kind}', info[sample(kind, size)], text)
    expect(info[sample('open', 'most')].endswith(', bytes: unknown'), info[sample('open', 'most')])
    for number, line in enumerate(info):
        expect_equal('the first word', line.split()[0], TYPES[number // SIZES])
    shown = tshark('-r', samples.capture, '-V', '-Y', 'wavehaul.type == 12')
    for text in ('Type: release (12)', 'Stage: request (1)', 'Stage: abort (4)',
                 'Status: pending (0)', 'Status: stalled (8)', 'checksum and the token'):
        expect(text in shown, f'nothing shown like {text!r}')


def around_packets(program, folder):
    """Ethernet, VLAN, IP and UDP, as another program than ours reads them."""
    samples = make_samples(program, folder)
    packets = dissect(samples.capture, '-o', 'ip.check_checksum:TRUE', '-o',
                      'udp.check_checksum:TRUE')
    for number, found in enumerate(packets):
        odd = number % 2 == 1
        expect_equal('vlan.id', found['vlan.id'], [str(VLAN)] if odd else [])
        expect_equal('vlan.priority', found['vlan.priority'], ['0'] if odd else [])
        expect_equal('ip.checksum.status', found['ip.checksum.status'],
                     [] if odd else [CHECKSUM_GOOD])
        expect_equal('udp.checksum.status', found['udp.checksum.status'],
                     [CHECKSUM_GOOD if odd else CHECKSUM_ABSENT])
        strange = [name for name in found if name.startswith('_ws.expert')]
        expect(not strange, f'packet {number}: {strange}')


def strange_packets(program, folder):
    """(which, offset in the packet, bytes there, its length or None, expert)"""
    cases = (
        ('trans-report', 'usual', 0, b'\x04', None, 'version'),
        ('trans-report', 'usual', 0, b'\x00', None, 'version'),
        ('ack2', 'least', 1, b'\x00', None, 'type'),
        ('ack2', 'least', 1, b'\x1f', None, 'type'),
        ('data', 'most', 47, b'\x01', None, 'reserved'),
        ('ack2', 'least', 36, b'\x01', None, 'reserved'),
        ('ack2', 'least', 47, b'\x80', None, 'reserved'),
        ('nak', 'usual', 26, b'\x01', None, 'reserved'),
        ('delay-warning', 'least', 28, b'\x01', None, 'reserved'),
        ('open', 'least', 24, b'\x01', None, 'reserved'),
        ('accept', 'usual', 45, b'\x01', None, 'reserved'),
        ('confirm', 'least', 36, b'\x01', None, 'reserved'),
        ('release', 'usual', 42, b'\x01', None, 'reserved'),
        ('bitmap', 'usual', 26, b'\x01', None, 'reserved'),
        ('ack2', 'least', 0, b'\x07', 1, 'short'),
        ('ack2', 'least', 0, b'\x07', 63, 'short'),
        ('rcv-report', 'least', 0, b'\x07', 127, 'short'),
        ('open', 'least', 0, b'\x07', 103, 'short'),
        ('release', 'usual', 0, b'\x07', 79, 'short'),
        ('ack2', 'least', 0, b'\x07', 65, 'length'),
        ('data', 'least', 0, b'\x07', 64, 'length'),
        ('data', 'least', 40, b'\xff\xff', None, 'length'),
        ('rcv-report', 'least', 124, b'\xff\xff\xff\xff', None, 'length'),
        ('nak', 'usual', 0, b'\x07', 64, 'length'),
        ('nak', 'usual', 24, b'\x04', None, 'length'),
        ('bitmap', 'usual', 0, b'\x07', 79, 'length'),
        ('bitmap', 'usual', 24, b'\x40', None, 'length'),
        ('open', 'least', 98, b'\x01\x00', None, 'length'),
        ('confirm', 'least', 98, b'\xff\xff', None, 'length'),
        ('release', 'usual', 0, b'\x07', 81, 'length'),
        ('release', 'usual', 40, b'\xff\xff', None, None),
        ('probe', 'least', 40, b'\x08', None, 'length'),
        ('probe-answer', 'usual', 41, b'\x01', None, 'reserved'),
        ('probe-answer', 'usual', 38, b'\x03', None, 'length'),
        ('data', 'most', 3, b'\x01', None, None),
        ('nak', 'usual', 3, b'\x01', None, None),
    )
    samples = make_samples(program, folder)
    frames = list(records(samples.capture))
    changed = []
    for kind, size, at, value, length, _ in cases:
        frame = bytearray(frames[sample(kind, size)])
        frame[HEADERS_BYTES + at:HEADERS_BYTES + at + len(value)] = value
        if length is not None:
            frame = resize(frame, length)
        changed.append((frame, len(frame)))
    capture = folder / 'strange.pcap'
    write_frames(samples, changed, capture)
    packets = dissect(capture, '-o', 'ip.check_checksum:FALSE')
    expect_equal('the number of packets', len(packets), len(cases))
    for case, found in zip(cases, packets):
        named = [name for name in found if name.startswith('wavehaul.expert.')]
        wanted = [f'wavehaul.expert.{case[5]}'] if case[5] else []
        expect_equal(f'what is said of {case}', named, wanted)
    expect('sealed' in lines(capture)[-1], f'{lines(capture)[-1]!r} does not say sealed')
    expect_equal('sealed bytes', len(packets[-1]['wavehaul.sealed'][0]), 24 * 3 - 1)


def cut_captures(program, folder):
    """Truncated packets: the captured part is shown, and nothing is invented."""
    samples = make_samples(program, folder)
    changed = []
    for number, frame in enumerate(records(samples.capture)):
        if number % 2 == 0:
            ends = range(HEADERS_BYTES + 1, min(len(frame), HEADERS_BYTES + 200))
            changed += [(number // SIZES, frame[:end], len(frame)) for end in ends]
    capture = folder / 'cut.pcap'
    write_frames(samples, [(frame, whole) for _, frame, whole in changed], capture)
    # Of a type, a member and where it ends.
    last = {TYPES.index('rcv-report'): ('wavehaul.rcv_report.rtt_us', 64 + 56),
            TYPES.index('open'): ('wavehaul.params.profile', 64 + 37),
            TYPES.index('release'): ('wavehaul.release.digest', 64 + 16)}
    for (kind, frame, _), found in zip(changed, dissect(capture)):
        packet_bytes = len(frame) - HEADERS_BYTES
        named = [name for name in found if name.startswith('wavehaul.expert.')]
        expect_equal(f'what is said of {packet_bytes} bytes', named, ['wavehaul.expert.cut'])
        for name, end in (('wavehaul.pn', 64), last.get(kind, ('wavehaul.tag', 64))):
            expect_equal(f'{name} in {packet_bytes} bytes', name in found, packet_bytes >= end)


def ports(program, folder):
    samples = make_samples(program, folder)
    frame = next(records(samples.capture))
    changed = []
    for port in (5759, 5760, 5761, 5775, 5776):
        struct.pack_into('>HH', frame, 34, 40000, port)
        changed.append((bytes(frame), len(frame)))
    capture = folder / 'ports.pcap'
    write_frames(samples, changed, capture)
    ours = ['wavehaul.pn' in found for found in dissect(capture)]
    expect_equal('whether it is ours', ours, [False, True, True, True, False])
    found = dissect(capture, '-d', 'udp.port==5776,wavehaul')[-1]
    expect_equal('pn', found['wavehaul.pn'], ['0'])


def every_name(program, folder):
    """Each member that fields.h has limits for is a filter."""
    known = set(re.findall(r'\t(wavehaul\.[\w.]+)\t', tshark('-G', 'fields')))
    prefixes = {'HEAD': '', 'LOSSES': 'rcv_report.', 'DELIVERY': 'rcv_report.', 'REPAIR': 'data.'}
    members = 0
    for group, rows in re.findall(r'^#define WH_FIELDS_(\w+)\(F, part\)(.*?)\n\n',
                                  FIELDS.read_text(), re.M | re.S):
        prefix = prefixes.get(group, group.removesuffix('_BODY').lower() + '.')
        for member in re.findall(r'\b(?:WH_FIELD_\w+\(F|F\(part), (?:part, )?(\w+)', rows):
            members += 1
            expect(f'wavehaul.{prefix}{member}' in known, f'no filter wavehaul.{prefix}{member}')
    expect(members > 70, f'{members} members found: is the form of fields.h another?')


def cases():
    yield Case('every member of every packet', True, every_member)
    yield Case('sealed packets', True, sealed_packets)
    yield Case('a packet known by hand', True, known_packet)
    yield Case('lines and names of values', True, said)
    yield Case('Ethernet, VLAN, IP and UDP around packets', True, around_packets)
    yield Case('strange packets', True, strange_packets)
    yield Case('packets cut by the capture', True, cut_captures)
    yield Case('UDP ports', True, ports)
    yield Case('every name of the layout', True, every_name)


if __name__ == '__main__':
    sys.exit(run_cases(list(cases()), BINARY))
