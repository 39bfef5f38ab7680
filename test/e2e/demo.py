#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul demo` as an operator meets it: real time, real files, an emulated link.

    demo.py [--quick] [-k PATTERN] [--binary PATH]

A line for each case, then 'N passed, N failed, N skipped'.
"""

import filecmp
import functools
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import (Case, Skip, as_nobody, decode_object, expect, expect_between, expect_equal,
                     expect_fields, expect_said, expect_status, quoted, run_cases)

BINARY = Path(__file__).resolve().parents[2] / 'build/release/app/wavehaul/wavehaul'

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SEED = 20260101

OK, OTHER, USAGE, NO_SUCH_FILE, NETWORK, HARDWARE = 0, 1, 2, 3, 5, 7
INTERRUPTED, STALLED = 20, 30

# The fields of the JSON object that scripts rely on; others may join them.
NUMBER = (int, float)
FIELDS = {
    'verb': str, 'ok': bool, 'profile': str, 'bytes': int, 'seconds': NUMBER,
    'first_sent_s': NUMBER, 'first_received_s': NUMBER,
    'goodput_bps': NUMBER, 'payload_line_bps': NUMBER, 'limited_by': str, 'waits': dict,
    'error': type(None),
    'path': {'rate_bps': int, 'rtt_ns': int, 'loss': NUMBER, 'seed': int},
    'packets': {'sent': int, 'retransmitted': int, 'duplicates': int, 'dropped_by_path': int,
                'bad': int},
    'repair': {'sent': int, 'used': int, 'undecodable_blocks': int, 'overhead': NUMBER},
    'digest': {'algorithm': str, 'value': str, 'verified': bool},
}

# The words for what kept a transfer from going faster.
LIMITS = {'start', 'rate', 'line', 'others', 'loss', 'window', 'memory', 'disk', 'peer_disk',
          'peer', 'cpu'}

# Bytes around the payload: head and tag, UDP, IPv4; Ethernet with preamble, FCS and gap.
PACKET_OVERHEAD, ETHERNET_OVERHEAD, PAYLOAD_ALIGN = 64 + 8 + 20, 14 + 24, 32

# Options of one transfer each. No entry needs more than a few seconds.
GRID = [
    ('empty', dict(size='0', rate='1G', rtt='10ms')),
    ('one-byte', dict(size='1', rate='1G', rtt='10ms')),
    ('chunk-less-one', dict(size='1048575', rate='1G', rtt='10ms')),
    ('chunk', dict(size='1048576', rate='1G', rtt='10ms')),
    ('chunk-and-one', dict(size='1048577', rate='1G', rtt='10ms')),
    ('no-delay', dict(size='16M', rate='1G', rtt='0')),
    ('slow-line', dict(size='2M', rate='100M', rtt='20ms')),
    ('short-path', dict(size='64M', rate='10G', rtt='1ms', mtu='9000')),
    ('long-path', dict(size='32M', rate='2G', rtt='200ms', mtu='9000')),
    ('small-packets', dict(size='16M', rate='1G', rtt='20ms', mtu='1500')),
    ('loss-thousandth', dict(size='16M', rate='1G', rtt='20ms', loss='0.1%')),
    ('loss-hundredth', dict(size='16M', rate='1G', rtt='20ms', loss='1%', mtu='1500')),
    ('loss-twentieth', dict(size='4M', rate='1G', rtt='20ms', loss='5%', mtu='1500')),
    ('loss-far', dict(size='1048577', rate='1G', rtt='200ms', loss='2%', mtu='1500')),
    ('bursts-of-loss', {'size': '8M', 'rate': '1G', 'rtt': '20ms', 'mtu': '1500',
                        'loss-model': 'ge:0.005,0.2'}),
    ('bit-errors', {'size': '16M', 'rate': '1G', 'rtt': '20ms', 'loss-model': 'ber:3e-7'}),
    ('reorder', dict(size='8M', rate='1G', rtt='20ms', reorder='1%')),
    ('duplicate', dict(size='16M', rate='1G', rtt='20ms', duplicate='2%', mtu='1500')),
    ('corrupt', dict(size='16M', rate='1G', rtt='20ms', corrupt='1%', mtu='1500')),
    ('short-queue', dict(size='4M', rate='1G', rtt='20ms', queue='256K')),
    ('switch', dict(size='4M', rate='622M', rtt='20ms', queue='500K', ingress='1G', mtu='1500')),
    ('all-at-once', dict(size='8M', rate='1G', rtt='50ms', loss='1%', reorder='1%',
                         duplicate='1%', corrupt='1%', mtu='1500')),
]
# Losses, options -> the least and the most repair packets per data packet, whether they suffice for
# nearly all. Of 128,4 every chunk of 745 packets has six blocks: 24. The few chunks of records that
# go with a file, five of them EXTENTs, are short, and have a block's repair packets all the same.
REPAIR = [
    ('1%', ('--fec', 'auto'), (0.02, 0.34), True),
    ('1%', ('--fec', 'auto', '--code', 'tornado'), (0.02, 0.34), True),
    ('1%', ('--fec', '128,4', '--code', 'rs'), (24 / 745 - 1e-3, 24 / 745 + 3e-3), True),
    ('1%', ('--fec', '32,4', '--code', 'tornado'), (96 / 745 - 2e-3, 96 / 745 + 8e-3), True),
    ('0.1%', ('--fec', 'auto', '--fec-ceiling', '2%', '--fec-target', '1e-2'), (1e-3, 0.023), True),
    ('20%', ('--fec', '8,1'), (0.05, 94 / 745 + 2e-3), False),
]

# What a profile with a rate of its own may do otherwise than one with a rate that was told.
UDT_GRID = {'empty', 'chunk-and-one', 'short-path', 'loss-thousandth', 'bursts-of-loss',
            'short-queue', 'switch', 'all-at-once'}
QUICK_GRID = {'empty', 'one-byte', 'chunk', 'chunk-and-one', 'loss-hundredth', 'all-at-once'}

# Wrong arguments -> what stderr must hold: a right value as an example, or where to find it.
WRONG = [
    (['--rate', '10X'], r'\b\d+(\.\d+)?G'),
    (['--rate', ''], r'\b\d+(\.\d+)?G'),
    (['--rtt', '100'], r'\b\d+(ms|us|s)\b'),
    (['--loss', '200%'], r'\b[\d.]+%|\b\de-\d'),
    (['--loss', '-1%'], r'\b[\d.]+%|\b\de-\d'),
    (['--loss-model', 'ge:2'], r'ge:0?\.\d'),
    (['--reorder', 'often'], r'\b[\d.]+%|\b\de-\d'),
    (['--mtu', '700'], r'\b1500\b|\b9000\b'),
    (['--size', '-1'], r'\b\d+[KMG]'),
    (['--size', '1Q'], r'\b\d+[KMG]'),
    (['--queue', 'long'], r'\b\d+[KMG]'),
    (['--profile', 'nope'], r'\budt\b'),
    (['--share', 'nope'], r"'nope' is not understood.*dedicated, fair or scavenger"),
    (['--share', ''], r"'' is not understood.*dedicated, fair or scavenger"),
    (['--share'], r'--share scavenger'),
    (['--share', 'fair', '--profile', 'udt'], r'add --profile lambda'),
    (['--strict-paper'], r'--fec auto'),
    (['--strict-paper', '--profile', 'ttp', '--fec', 'off'], r'--fec auto'),
    (['--fec', 'sometimes'], r'auto, or 128,4'),
    (['--fec', '8,9'], r'auto, or 128,4'),
    (['--fec', '252,4'], r'at most 255'),
    (['--code', 'xor'], r'\btornado\b'),
    (['--fec-target', '2'], r'1e-4'),
    (['--fec-ceiling', '60%'], r'10%'),
    (['--seed', 'luck'], r'\b\d+\b'),
    (['--unheard-of'], r'--help'),
    (['--rate'], r'--rate'),
    (['surplus'], r'surplus'),
]


def expect_failure(result, status):
    """A failed run with --json: the same object, ok false, and the sentence of stderr in it."""
    expect_status(result, status)
    report = decode_object(result)
    expect_equal('verb', report.get('verb'), 'demo')
    expect_equal('ok', report.get('ok'), False)
    expect(isinstance(report.get('error'), str) and report['error'], 'error is no sentence')
    missing = sorted(set(FIELDS) - set(report))
    expect(not missing, f'the report lacks {missing}')
    verified = report.get('digest') and report['digest'].get('verified')
    expect(not verified, 'a failed transfer calls itself verified')
    return report


def scaled(text, units):
    number, unit = re.fullmatch(r'([\d.]+)(\D*)', text).groups()
    return round(float(number) * units[unit])


def rate_bps(text):
    return scaled(text, {'M': 10**6, 'G': 10**9})


def time_ns(text):
    return scaled(text, {'': 1, 'us': 10**3, 'ms': 10**6, 's': 10**9})


def size_bytes(text):
    return scaled(text, {'': 1, 'K': KIB, 'M': MIB, 'G': GIB})


def share(text):
    return float(text[:-1]) / 100


def payload_bytes(mtu):
    return (mtu - PACKET_OVERHEAD) // PAYLOAD_ALIGN * PAYLOAD_ALIGN


def arguments(options):
    return [word for name, value in options.items() for word in (f'--{name}', value)]


def expect_transfer(report, profile, size):
    """What holds for every transfer that succeeds."""
    expect_fields(report, FIELDS)
    expect_equal('verb', report['verb'], 'demo')
    expect_equal('ok', report['ok'], True)
    expect_equal('profile', report['profile'], profile)
    expect_equal('bytes', report['bytes'], size)
    expect_equal('digest.algorithm', report['digest']['algorithm'], 'xxh3-128')
    expect_equal('digest.verified', report['digest']['verified'], True)
    expect(re.fullmatch('[0-9a-f]{32}', report['digest']['value']), 'digest.value is no digest')
    expect(report['limited_by'] in LIMITS, f'limited_by is {report["limited_by"]!r}')
    waits = report['waits']
    expect(set(waits) <= LIMITS, f'waits are {waits}')
    expect_between('all of the time', sum(waits.values()), 0.999, 1.001)
    expect(waits[report['limited_by']] > (0 if report['limited_by'] in ('rate', 'line') else 0.1),
           f'limited by {report["limited_by"]} of {waits}')
    expect(report['seconds'] > 0, 'it took no time')
    if size > 0:
        expect(report['first_sent_s'] > 0, 'it was sent before the handshake')
        expect(report['first_received_s'] > report['first_sent_s'], 'it arrived before it was sent')
    exact_bps = size * 8 / report['seconds']
    expect_between('goodput_bps', report['goodput_bps'], exact_bps * 0.99, exact_bps * 1.01)
    expect(report['goodput_bps'] <= report['payload_line_bps'] * 1.005, 'faster than the line')


def expect_path(report, options):
    """The path is the requested one, and payload_line_bps is its capacity for payload."""
    path, line_bps = report['path'], rate_bps(options['rate'])
    expect_equal('path.rate_bps', path['rate_bps'], line_bps)
    expect_equal('path.rtt_ns', path['rtt_ns'], time_ns(options['rtt']))
    expect_equal('path.seed', path['seed'], SEED)
    if 'loss-model' not in options:
        expect(math.isclose(path['loss'], share(options['loss']), rel_tol=1e-6, abs_tol=1e-12),
               f'path.loss is {path["loss"]}')
    payload = payload_bytes(int(options['mtu']))
    carried_bps = line_bps * payload / (payload + PACKET_OVERHEAD + ETHERNET_OVERHEAD)
    expect_between('payload_line_bps', report['payload_line_bps'], carried_bps * 0.97,
                   carried_bps * 1.03)


def expect_packets(report, options, size):
    """Counts match the path's loss shares in each direction, within a wide margin."""
    packets, mtu = report['packets'], int(options['mtu'])
    needed = math.ceil(size / payload_bytes(mtu))
    sent = packets['sent']
    expect(sent - packets['retransmitted'] >= needed,
           f'{sent} sent, {packets["retransmitted"]} of them again, for {needed} packets of data')
    counters = {'loss': 'dropped_by_path', 'duplicate': 'duplicates', 'corrupt': 'bad'}
    for option, counter in counters.items():
        likely = needed * share(options.get(option, '0%'))
        if likely >= 50:
            expect_between(f'packets.{counter}', packets[counter], 0.4 * likely, sent)
    if 'loss-model' in options:
        expect(packets['dropped_by_path'] >= 5, 'the loss model dropped next to nothing')
    if packets['dropped_by_path'] >= 50:
        expect(packets['retransmitted'] >= 0.4 * packets['dropped_by_path'], 'losses not mended')
    clean = not set(options) & {'loss-model', 'reorder', 'duplicate', 'corrupt', 'queue'}
    if clean and options['loss'] == '0%':
        expect_equal('packets.bad', packets['bad'], 0)
        if report['profile'] == 'fixed':
            for counter in ('dropped_by_path', 'retransmitted', 'duplicates'):
                expect_between(f'packets.{counter}', packets[counter], 0, 0.01 * sent)


def transfer(program, _folder, profile, options):
    options = {'loss': '0%', 'mtu': '9000'} | options
    if 'loss-model' in options:
        del options['loss']
    result = program.run('demo', '--json', '--profile', profile, '--seed', SEED,
                         *arguments(options))
    expect_status(result, OK)
    report, size = decode_object(result), size_bytes(options['size'])
    expect_transfer(report, profile, size)
    expect_path(report, options)
    expect_packets(report, {'loss': '0%'} | options, size)


def defaults(program, _folder):
    result = program.run('demo', '--json', timeout_s=120)
    expect_status(result, OK)
    report = decode_object(result)
    expect_transfer(report, report['profile'], GIB)
    expect_equal('path.rate_bps', report['path']['rate_bps'], 10**10)
    expect_equal('path.rtt_ns', report['path']['rtt_ns'], 10**8)
    expect_between('path.loss', report['path']['loss'], 0.99e-4, 1.01e-4)


def random_file(path, size):
    generator = random.Random(size)
    with open(path, 'wb') as file:
        while size > 0:
            piece = min(size, 4 * MIB)
            file.write(generator.randbytes(piece))
            size -= piece


def xxh128(path):
    if not shutil.which('xxh128sum'):
        raise Skip('xxh128sum is not installed')
    done = subprocess.run(['xxh128sum', str(path)], check=True, capture_output=True, text=True)
    return done.stdout.lstrip('\\').split()[0]


def file_folders(folder, name='sent.bin'):
    (folder / 'out').mkdir()
    return folder / name, folder / 'out'


def send_file(program, source, out, *path, profile='fixed'):
    """Sends a file over a clean, quick path unless told otherwise, and compares every byte."""
    path = path or ('--rate', '10G', '--rtt', '1ms', '--loss', '0')
    result = program.run('demo', '--json', '--file', source, '--out', out, '--profile', profile,
                         '--seed', SEED, *path)
    expect_status(result, OK)
    report = decode_object(result)
    expect_transfer(report, profile, source.stat().st_size)
    expect_equal('the folder', os.listdir(out), [source.name])
    expect(filecmp.cmp(source, out / source.name, shallow=False), 'the file arrived changed')
    expect_equal('digest.value', report['digest']['value'], xxh128(source))
    return report


def file_of_size(program, folder, size, profile, *args):
    source, out = file_folders(folder)
    random_file(source, size)
    send_file(program, source, out, *args, profile=profile)


def repaired(program, folder, loss, args, overhead, suffices):
    """Every byte arrives, and almost nothing is retransmitted where repair packets suffice."""
    source, out = file_folders(folder)
    random_file(source, 16 * MIB)
    report = send_file(program, source, out, '--rate', '1G', '--rtt', '50ms', '--mtu', '1500',
                       '--loss', loss, *args)
    packets, repair = report['packets'], report['repair']
    dropped, again = packets['dropped_by_path'], packets['retransmitted']
    expect_between('packets.dropped_by_path', dropped, 0.4 * 11900 * share(loss), 20000)
    expect_between('repair.overhead', repair['overhead'], *overhead)
    data = packets['sent'] - repair['sent']
    expect(math.isclose(repair['overhead'], repair['sent'] / data, rel_tol=1e-9),
           f'{repair["sent"]} for {data} packets are not {repair["overhead"]}')
    if suffices:
        expect_between('repair.used', repair['used'], 0.8 * dropped - 20, dropped)
        expect_between('packets.retransmitted', again, 0, 0.15 * dropped)
        expect_between('repair.undecodable_blocks', repair['undecodable_blocks'], 0, 12)
    else:
        expect_between('repair.used', repair['used'], 0.01 * dropped, 0.9 * dropped)
        expect_between('packets.retransmitted', again, 0.3 * dropped, 2 * dropped)
        # Of 8,1 at 20 % each of 16 times 94 blocks loses two packets of nine, or more, by 56 %.
        expect_between('repair.undecodable_blocks', repair['undecodable_blocks'], 720, 980)


NO_REPAIR = {'sent': 0, 'used': 0, 'undecodable_blocks': 0, 'overhead': 0}
TTP_PATH = ('--rate', '1G', '--rtt', '20ms', '--mtu', '1500')


def ttp(program, folder, args, overhead):
    """Losses, but no retransmission: ttp sends as many repair packets as data packets."""
    source, out = file_folders(folder)
    random_file(source, 8 * MIB)
    report = send_file(program, source, out, *TTP_PATH, '--loss', '1%', *args, profile='ttp')
    dropped = report['packets']['dropped_by_path']
    expect_between('packets.dropped_by_path', dropped, 30, 400)
    expect_between('repair.used', report['repair']['used'], 0.2 * dropped, dropped)
    expect_between('repair.overhead', report['repair']['overhead'], *overhead)
    expect_between('packets.retransmitted', report['packets']['retransmitted'], 0, 0.15 * dropped)


def exchange(program, folder, profile, told):
    """Retransmitted packets were lost, or a few of them were requested too early."""
    source, out = file_folders(folder)
    random_file(source, 8 * MIB)
    report = send_file(program, source, out, '--rate', '200M', '--rtt', '10ms', '--mtu', '1500',
                       '--loss', '1%', *told, profile=profile)
    packets = report['packets']
    dropped = packets['dropped_by_path']
    expect_between('packets.dropped_by_path', dropped, 30, 200)
    # Not every packet that is lost is one of data; a busy machine may be late with a state. An
    # acknowledgement is of all in order: a loss holds up those of a round trip, up to 170 packets.
    most = 170 if profile == 'pack' else 4
    expect_between('packets.retransmitted', packets['retransmitted'], 0.6 * dropped,
                   most * dropped)
    if told:
        # 128 packets of 1,408 bytes in 10 ms and up to a period: no more than 144 Mb/s.
        expect_between('goodput_bps', report['goodput_bps'], 1e6, 144e6)


def ttp_off(program, folder):
    source, out = file_folders(folder)
    random_file(source, 8 * MIB)
    report = send_file(program, source, out, *TTP_PATH, '--loss', '1%', '--fec', 'off',
                       profile='ttp')
    expect_equal('repair', report['repair'], NO_REPAIR)
    expect(report['packets']['retransmitted'] > 20, 'losses not mended')


def strict_paper(program, folder):
    """--strict-paper: without loss a normal transfer; with too few repair packets, a failure."""
    source, out = file_folders(folder)
    random_file(source, 8 * MIB)
    report = send_file(program, source, out, *TTP_PATH, '--loss', '0', '--strict-paper',
                       profile='ttp')
    expect(report['repair']['sent'] > 0, 'no repair packet was sent')
    (out / source.name).unlink()
    result = program.run('demo', '--json', '--file', source, '--out', out, '--profile', 'ttp',
                         '--strict-paper', '--fec', '100,1', '--loss', '5%', *TTP_PATH)
    report = expect_failure(result, NETWORK)
    expect_said(result, 'the repair packets could not restore all losses, and --strict-paper '
                        'forbids retransmission')
    expect_between('undecodable_blocks', report['repair']['undecodable_blocks'], 1, 64)
    expect_equal('packets.retransmitted', report['packets']['retransmitted'], 0)
    expect_equal('the folder', os.listdir(out), [])


def clean_path(program, _folder):
    """After 65536 packets without a loss repair packets cost nothing; off, there are none."""
    # Named, for a profile that looks for more than the line carries makes losses of its own.
    path = ('--size', '256M', '--rate', '10G', '--rtt', '1ms', '--mtu', '1500', '--loss', '0',
            '--profile', 'fixed')
    report = decode_object(program.run('demo', '--json', *path, '--fec', 'auto'))
    expect_between('repair.overhead', report['repair']['overhead'], 1e-4, 0.015)
    expect_equal('repair.used', report['repair']['used'], 0)
    report = decode_object(program.run('demo', '--json', *path))
    expect_equal('repair', report['repair'], NO_REPAIR)


def shared(program, folder, how):
    """Losses, and a queue that overflows: every byte arrives, however the path is shared."""
    source, out = file_folders(folder)
    random_file(source, 8 * MIB + 1)
    report = send_file(program, source, out, '--rate', '1G', '--rtt', '20ms', '--mtu', '1500',
                       '--loss', '1%', '--queue', '256K', '--share', how, profile='lambda')
    dropped = report['packets']['dropped_by_path']
    expect_between('packets.dropped_by_path', dropped, 30, 10000)
    expect_between('packets.retransmitted', report['packets']['retransmitted'], 0.6 * dropped,
                   4 * dropped)


def share_tells(program, _folder):
    """Where nobody else shares a slow line, each state of the transmitter would take its time."""
    states = {}
    for how in ('dedicated', 'fair'):
        report = decode_object(program.run(
            'demo', '--json', '--size', '256K', '--rate', '1M', '--rtt', '20ms', '--mtu', '1500',
            '--loss', '0', '--share', how))
        states[how] = report['packets']['control']
    expect_between('states of a dedicated path', states['dedicated'], 3, states['fair'] / 1.5)


SHORT_PATH = ('--rate', '1G', '--rtt', '100ms', '--mtu', '1500')


def least_memory(program):
    """MiB, as demo says when it has less; with them it runs."""
    result = program.run('demo', *SHORT_PATH, '--memory', '64M')
    expect_status(result, HARDWARE)
    found = re.search(r'needs at least ([\d.]+) MiB of memory and there are 64', result.err)
    expect(found, f'no least memory in {result.err!r}')
    return math.ceil(float(found[1]))


def short_buffers(program, folder, loss):
    """
    Both ends hold half of what is under way: each buffer waits for a round trip. While they are
    short the receiver tells more often than each 10 ms, and what is lost goes again, once.
    """
    source, out = file_folders(folder)
    # Its first round trips wait for what the writer wants: they are to be few.
    random_file(source, 192 * MIB)
    result = program.run('demo', '--json', '--file', source, '--out', out, *SHORT_PATH, '--loss',
                         loss, '--memory', f'{least_memory(program) + 3}M')
    expect_status(result, OK)
    expect(filecmp.cmp(source, out / source.name, shallow=False), 'the file arrived changed')
    chunks = re.search(r'fewer buffers than this path needs \((\d+) and (\d+) chunks', result.err)
    expect(chunks, f'no word of few buffers in {result.err!r}')
    for count in chunks.groups():
        expect_between('chunks, of 12 under way', int(count), 5, 6)
    report = decode_object(result)
    packets = report['packets']
    expect(report['limited_by'] in ('memory', 'cpu'), f'limited by {report["limited_by"]}')
    if loss == '0':
        expect_between('states back', packets['control_back'], 1.3 * report['seconds'] / 10e-3,
                       64 * report['seconds'] / 100e-3)
        expect_equal('retransmitted', packets['retransmitted'], 0)
        return
    expect_between('lost', packets['dropped_by_path'], 70, 250)
    expect_between('retransmitted', packets['retransmitted'], 0.9 * packets['dropped_by_path'],
                   1.3 * packets['dropped_by_path'])


def file_of_name(program, folder, name):
    source, out = file_folders(folder, name)
    random_file(source, 3 * KIB)
    send_file(program, source, out)


def file_replaced(program, folder):
    source, out = file_folders(folder)
    random_file(source, MIB + 1)
    (out / source.name).write_bytes(b'older and longer' * MIB)
    send_file(program, source, out)


def file_sparse(program, folder):
    source, out = file_folders(folder)
    with open(source, 'wb') as file:
        file.truncate(64 * MIB)
        for offset in (0, 25 * MIB + 5, 64 * MIB - 1):
            file.seek(offset)
            file.write(b'data')
        file.truncate(64 * MIB)
    if source.stat().st_blocks * 512 > MIB:
        raise Skip('this file system keeps no holes')
    send_file(program, source, out)
    kept = (out / source.name).stat().st_blocks * 512
    expect(kept <= MIB, f'its holes take {kept} bytes on disk')


def file_missing(program, folder):
    source, out = file_folders(folder, 'not-there.bin')
    result = program.run('demo', '--json', '--file', source, '--out', out)
    expect_failure(result, NO_SUCH_FILE)
    expect_said(result, r'not-there\.bin')
    expect_equal('the folder', os.listdir(out), [])


def file_unreadable(program, folder):
    program, under = as_nobody(program)
    source, out = file_folders(folder)
    random_file(source, KIB)
    source.chmod(0)
    folder.chmod(0o755)
    out.chmod(0o777)
    result = program.run('demo', '--file', source, '--out', out, under=under)
    expect_status(result, NO_SUCH_FILE)
    expect_said(result, r'sent\.bin')
    expect_said(result, 'permission|not allowed|may not')
    expect_equal('the folder', os.listdir(out), [])


def file_is_folder(program, folder):
    source, out = file_folders(folder, 'a-folder')
    source.mkdir()
    result = program.run('demo', '--json', '--file', source, '--out', out)
    expect(result.status in (OTHER, NO_SUCH_FILE), f'exit status {result.status}')
    expect_failure(result, result.status)
    expect_said(result, 'a-folder')
    expect_said(result, 'folder.*(is|file)|directory')


def out_missing(program, folder):
    source, out = file_folders(folder)
    random_file(source, KIB)
    result = program.run('demo', '--file', source, '--out', out / 'no-such-folder')
    expect_status(result, OTHER, NO_SUCH_FILE)
    expect_said(result, 'no-such-folder')


# Mounts a small disk over $1 for the program alone, and lists into $2 what it leaves there.
SMALL_DISK = '''
mount -t tmpfs -o size=16m wavehaul-e2e "$1" || exit 77
out=$1 list=$2
shift 2
"$@"
status=$?
ls -A "$out" >"$list"
exit $status
'''


def disk_full(program, folder):
    if os.geteuid() != 0:
        raise Skip('only root mounts a small disk')
    source, out = file_folders(folder)
    random_file(source, 64 * MIB)
    left = folder / 'left'
    under = ('unshare', '-m', 'sh', '-c', SMALL_DISK, 'sh', str(out), str(left))
    result = program.run('demo', '--json', '--file', source, '--out', out, '--rate', '10G',
                         '--rtt', '1ms', under=under)
    if not left.exists():
        raise Skip(f'no mount namespace: {result.err.strip()}')
    expect_failure(result, OTHER)
    expect_said(result, 'full')
    expect_equal('what is left on the disk', left.read_text(), '')


def path_down(program, folder):
    """Nothing gets through, not even the first packet: the peer never answers."""
    result = program.run('demo', '--json', '--size', '1M', '--loss', '100%', '--rtt', '1ms',
                         '--peer-timeout', '1s')
    expect_failure(result, NETWORK)
    expect_said(result, 'nothing received from the peer')


def stalled(program, folder):
    """Bit errors that long packets never survive and short ones do: both ends are there.

    Unsealed, for the certificates of a handshake are in long packets, too.
    """
    result = program.run('demo', '--json', '--size', '64K', '--loss-model', 'ber:2e-4', '--rtt',
                         '1ms', '--stall-timeout', '1s', '--profile', 'fixed', '--unsealed')
    report = expect_failure(result, STALLED)
    expect_said(result, 'stalled: no progress for 1 s')
    expect_equal('limited_by', report['limited_by'], 'peer')
    expect(report['packets']['retransmitted'] > 0, 'nothing was sent again')


def too_large(program, folder):
    result = program.run('demo', '--json', '--size', '1M', '--rate', '100G', '--rtt', '1s',
                         '--memory', '64M')
    expect_failure(result, HARDWARE)
    expect_said(result, 'memory')


def wrong_eal(program, folder):
    """DPDK prints its usage, but not where the JSON object stands alone."""
    result = program.run('demo', '--json', '--size', '1M', '--eal', '--bogus')
    expect_failure(result, HARDWARE)
    expect_said(result, '--eal')


def no_huge(program, folder, mtu):
    """Pools fit into ordinary memory, too, whose pages are smaller than two packets."""
    result = program.run('demo', '--json', '--no-huge', '--size', '16M', '--rtt', '20ms', '--mtu',
                         mtu)
    expect_status(result, OK)
    report = decode_object(result)
    expect_equal('digest.verified', report['digest']['verified'], True)
    expect_equal('hugepages', report['hugepages'], False)


def interrupted(program, folder, number):
    """A 10 s transfer gets its signal half a second after the receiver began to write."""
    source, out = file_folders(folder)
    random_file(source, 128 * MIB)
    began = []

    def midway():
        if not began and any(name.endswith('.part') for name in os.listdir(out)):
            began.append(time.monotonic())
        return began and time.monotonic() - began[0] > 0.5

    result = program.run_and_signal(number, midway, 'demo', '--json', '--file', source, '--out',
                                    out, '--rate', '100M', '--rtt', '20ms')
    report = expect_failure(result, INTERRUPTED)
    expect(report.get('bytes', 1) < 128 * MIB, 'all bytes were there: not midway')
    expect_equal('the folder', os.listdir(out), [])


def interrupted_memory(program, _folder):
    began = time.monotonic()
    result = program.run_and_signal(signal.SIGINT, lambda: time.monotonic() - began > 1.0, 'demo',
                                    '--json', '--size', '1G', '--rate', '100M', '--rtt', '20ms')
    expect_failure(result, INTERRUPTED)


def wrong_argument(program, _folder, args, pattern):
    result = program.run('demo', *args, timeout_s=10)
    expect_status(result, USAGE)
    expect_said(result, pattern)
    expect_equal('sentences', len(re.findall('^wavehaul', result.err, re.MULTILINE)), 1)
    expect_equal('stdout', result.out, '')


def wrong_verb(program, _folder):
    expect_status(program.run('transmogrify', timeout_s=10), USAGE)
    expect_status(program.run(timeout_s=10), USAGE)


def plain_text(program, _folder, *args):
    """Text for people: words and figures; control characters are refused."""
    result = program.run('demo', '--size', '16M', '--rate', '1G', '--rtt', '10ms', *args)
    expect_status(result, OK)
    expect(re.search(r'\d [MG]b/s', result.out), f'no rate in: {result.out[:300]!r}')
    expect('{' not in result.out, 'JSON without --json')


def help_text(program, _folder):
    result = program.run('demo', '--help', timeout_s=10)
    expect_status(result, OK)
    for option in ('size file rate rtt loss loss-model reorder duplicate corrupt queue profile '
                   'share mtu fec code fec-target fec-ceiling seed out json verbose eal').split():
        expect(re.search(rf'--{option}\b', result.out), f'--help says nothing about --{option}')


def cases_of_lambda():
    for how in ('dedicated', 'fair', 'scavenger'):
        yield Case(f'share {how}', how != 'scavenger', functools.partial(shared, how=how))
    yield Case('share tells', False, share_tells)
    for loss in ('0', '0.1%'):
        yield Case(f'short buffers, loss {loss}', False,
                   functools.partial(short_buffers, loss=loss), memory=True, judges_time=True)


def cases():
    partial = functools.partial
    yield Case('help', True, help_text)
    yield Case('wrong verb', True, wrong_verb)
    for args, pattern in WRONG:
        yield Case('wrong ' + ' '.join(args), True,
                   partial(wrong_argument, args=args, pattern=pattern))
    for profile, told in (('pxp', ()), ('pack', ()), ('pxp', ('--set', 'pxp.window=128'))):
        yield Case(f'{profile} {" ".join(told)}'.strip(), True,
                   partial(exchange, profile=profile, told=told))
    for profile in ('fixed', 'udt'):
        for name, options in GRID:
            if profile == 'udt' and name not in UDT_GRID:
                continue
            yield Case(f'{profile} {name}', name in QUICK_GRID,
                       partial(transfer, profile=profile, options=options))
    for name, options in GRID:
        if name in ('switch', 'loss-thousandth', 'reorder'):
            yield Case(f'hstcp {name}', name == 'switch',
                       partial(transfer, profile='hstcp', options=options))
        if name in ('small-packets', 'loss-thousandth'):
            yield Case(f'sttp {name}', name == 'small-packets',
                       partial(transfer, profile='sttp', options=options))
    yield Case('defaults', False, defaults)
    yield Case('text', True, plain_text)
    yield Case('text verbose', True, lambda p, f: plain_text(p, f, '--verbose'))
    for size in (0, 1, MIB - 1, MIB, MIB + 1, 64 * MIB + 12345):
        yield Case(f'file {size}', size <= MIB + 1,
                   partial(file_of_size, size=size, profile='fixed'))
    yield Case('file udt', False, partial(file_of_size, size=64 * MIB, profile='udt'))
    for profile in ('fixed', 'udt'):
        yield Case(f'file rough {profile}', False, lambda p, f, profile=profile: file_of_size(
            p, f, 8 * MIB + 1, profile, '--rate', '1G', '--rtt', '20ms', '--loss', '1%',
            '--reorder', '1%', '--duplicate', '1%', '--corrupt', '1%'))
    for loss, args, overhead, suffices in REPAIR:
        yield Case(f'repair {loss} {" ".join(args)}', args[1] != 'auto' or len(args) == 2,
                   partial(repaired, loss=loss, args=args, overhead=overhead, suffices=suffices),
                   memory=True)
    yield Case('repair clean path', False, clean_path)
    # The ceilings are 1, 1/3 and 1/9 repair packets per data packet.
    for args, overhead in (((), (0.35, 1.001)), (('--code', 'rs'), (0.35, 1.001)),
                           (('--fec-ceiling', '10%'), (0.01, 0.113))):
        yield Case(f'ttp {" ".join(args)}'.strip(), not args,
                   partial(ttp, args=args, overhead=overhead))
    yield Case('ttp without repair', False, ttp_off)
    yield Case('strict paper', True, strict_paper)
    yield Case('repair text', True, lambda p, f: plain_text(p, f, '--fec', '128,4', '--verbose'))
    for name in ('with space', 'größe.bin', '-dash', '.hidden', 'n' * 255):
        yield Case(f'file name {name[:12]}', True, partial(file_of_name, name=name))
    yield Case('file replaced', True, file_replaced)
    yield Case('file sparse', False, file_sparse)
    yield Case('file missing', True, file_missing)
    yield Case('file unreadable', True, file_unreadable)
    yield Case('file is a folder', True, file_is_folder)
    yield Case('folder missing', True, out_missing)
    yield Case('disk full', True, disk_full)
    for mtu in ('1500', '9000'):
        yield Case(f'no hugepages {mtu}', True, partial(no_huge, mtu=mtu))
    yield Case('path down', True, path_down)
    yield Case('stalled', True, stalled)
    yield Case('too large', True, too_large)
    yield Case('wrong --eal', True, wrong_eal)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        yield Case(f'{number.name} file', number == signal.SIGINT,
                   partial(interrupted, number=number))
    yield Case('SIGINT memory', False, interrupted_memory)


if __name__ == '__main__':
    sys.exit(run_cases([*cases(), *cases_of_lambda()], BINARY))
