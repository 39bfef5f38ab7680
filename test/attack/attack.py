#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""`wavehaul serve` and an honest client on a link with a stranger who means them harm.

    attack.py [--quick] [-k PATTERN] [--binary PATH]

The attacks are test/attack/attacker.c's, which is looked for where the binary was built. Namespaces
of the network are the hosts; only root makes them: all cases are skipped otherwise. A line for each
case, then 'N passed, N failed, N skipped'.
"""

import contextlib
import functools
import json
import os
import random
import shutil
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

from field import (DATA, FAR_GATEWAY, GATEWAY, IPV4_AT, KIB, MIB, RCV_REPORT, SEED, TOP, Field,
                   link_bytes, overheard, recorded, recording, small_disk)
from control import Control
from early import flooded_early
from harness import (Case, Failed, Skip, end_group, expect, expect_between, expect_equal,
                     expect_said, expect_status, run_cases)
from noise import FRAMES, draw, thrown, unpacked, write
from network import CLIENT, NETWORK, SERVER, SERVER6, THIRD, run_client, running_client
from pair import wait_until

BINARY = TOP / 'build/release/app/wavehaul/wavehaul'

# What one stranger or peer may add to the server's memory, of which its buffers are no part.
GROWTH_BYTES = 32 * MIB
# What a stream's folders may take until its end.
FOLDERS_BYTES = 64 * MIB
# Bytes that come back for each that was sent, and heartbeats of the connections.
AMPLIFICATION, HEARTBEATS_BYTES = 8, 64 * KIB
LOG_LINES_PER_S = 12
# Of who was refused, whatever comes: a few a second.
AUDIT_LINES = 100
# While there is something to say, with the link and the CPUs that others use, too.
SILENT_S = 1
# States that a server tells its client, one every 10 ms: half of them where CPUs are busy.
STATES_PER_S = 60
# A refusal in one round trip, a client's start of a second counted.
SOON_S = 4
# A server looks at its files once a second, and what they withdraw needs a new handshake.
TRUST_SEEN_S = 3
# What takes a minute, too.
WHOLE = 'ATTACK_WHOLE' in os.environ


# Item 1.
def killer(field, program, folder):
    """Packets at and beyond the bounds of every field end no process, and are counted."""
    field.serve(program, folder, sealed=False)
    with field.transfer(8, 60):
        for name in ('holes', 'bounds'):
            field.attack_now(name)
    field.expect_alive()
    counters = field.counters()
    for name in ('drop_packet_short', 'drop_packet_long', 'drop_packet_flags',
                 'drop_packet_reserved', 'drop_packet_length', 'drop_packet_field'):
        expect(counters.get(name, 0) > 0, f'{name} is not counted: {counters}')


# Item 2.
def hellos(field, program, folder, seconds):
    """Whatever a HELLO wishes, it is done or refused."""
    server = field.serve(program, folder)
    (server.folder / 'f').write_bytes(os.urandom(300_000))
    told = field.attack_now('hellos', '--path', 'f', '--seconds', seconds)
    field.expect_alive()
    expect(told.get('heard', 0) > 20, f'HELLOs that were heard: {told}')
    field.small_send()


# Item 3.
def staging_folders(folder):
    return [path for path in folder.rglob('.wavehaul-*')]


def staging(field, program, folder):
    """What is on its way to its name is nobody's else to see or to change."""
    server = field.serve(program, folder)
    (server.folder / 'in').mkdir()
    (server.folder / 'in/seen').write_bytes(b'seen')
    with field.transfer(24, 40):
        wait_until(lambda: staging_folders(server.folder), 3, 'a staging folder')
        names = [str(path.relative_to(server.folder)) for path in staging_folders(server.folder)]
        for path in ('.', 'in'):
            told = field.attack_now('list', '--path', path)
            expect(told['entries'] > 0, f'nothing listed of {path}: {told}')
            expect_equal(f'staging entries listed of {path}', told['staging'], 0)
        for name in names:
            told = field.attack_now('list', '--path', name)
            expect_equal(f'entries listed of {name}', told['entries'], 0)
            told = field.attack_now('into', '--path', name)
            expect(told['want'] == 0 and (told['refused'] or told['failed'] or not told['begun']),
                   f'sent into {name}: {told}')
            field.attack_now('by-link', '--path', name)
        evil = [path for path in server.folder.rglob('*')
                if path.is_file() and path.stat().st_size == 4 and path.read_bytes() == b'EVIL'
                and 'way' not in path.parts]
        expect(not evil, f'a stranger wrote {evil}')
    expect_equal('staging folders in the end', staging_folders(server.folder), [])


# Items 4 and 8.
def neighbours_full(field, program, folder, kinds):
    """Who asks, or opens, from many addresses takes no room that others need."""
    field.serve(program, folder, '--gateway', GATEWAY)
    with contextlib.ExitStack() as stack:
        for kind, pps in kinds:
            stack.enter_context(field.attack(kind, '--pps', pps, '--seconds', 20))
        time.sleep(1)
        field.small_send()


def moved(field, program, folder):
    """News of neighbours that nobody asked for stops no transfer, either way."""
    field.serve(program, folder)
    for verb, to in (('send', SERVER), ('get', SERVER6)):
        with field.transfer(9, 60, verb, to), field.attack('moved6', '--seconds', 1):
            field.attack_now('moved', '--seconds', 1)
    counters = field.counters()
    expect(counters['drop_neighbour_contested'] > 100, f'lies that were counted: {counters}')


def moved_gateway(field, program, folder):
    """Nor does news of the gateway, to peers beyond it."""
    field.serve(program, folder, '--gateway', GATEWAY, '--allow', '0.0.0.0/0')
    lie = ('--peer', f'{GATEWAY},{field.router.mac()}')
    for verb in ('send', 'get'):
        with field.transfer(6, 60, verb, far=True):
            field.attack_now('moved', *lie, '--seconds', 0.6)


# Item 5.
def opens_flood(field, program, folder):
    """After more OPENs than identifiers have numbers, the next honest one is welcome."""
    field.serve(program, folder, '--sessions', '1000', sealed=False)
    field.attack_now('fills', '--count', 1024)
    field.attack_now('flood', '--count', 1_200_000, '--seconds', 3)
    field.small_send()


# Item 6.
def amplification(field, program, folder):
    """A peer gets no more bytes than a few times what it sends, whatever period it names."""
    field.serve(program, folder)
    before = link_bytes(field.stranger)
    told = field.attack_now('period', '--seconds', 2)
    after = link_bytes(field.stranger)
    field.expect_alive()
    expect(told['opened'] > 0, f'no connection: {told}')
    expect(after[1] > before[1], 'nothing was sent')
    got, sent = (b - a for a, b in zip(before, after))
    expect(got <= AMPLIFICATION * sent + HEARTBEATS_BYTES,
           f'{got} bytes came back for {sent} bytes sent')


def probes(field, program, folder):
    """
    Who probes without a cookie, or asks for one for ever, gets no more than he sends; of a server
    that seals he gets nothing.
    """
    field.serve(program, folder)
    before = field.counters()
    field.attack_now('probes', '--pps', 20000, '--seconds', 0.4)
    after = field.counters()
    expect(after['drop_probe_unsealed'] - before['drop_probe_unsealed'] > 1000, f'{after}')
    expect_equal('questions taken', after['probe_asks'], 0)
    expect_equal('what was said', after['probe_answers'], 0)
    field.serve(program, folder, sealed=False)
    before = link_bytes(field.stranger)
    field.attack_now('probes', '--pps', 20000, '--seconds', 1.5)
    after = link_bytes(field.stranger)
    got, sent = (b - a for a, b in zip(before, after))
    expect(got > 0 and got <= sent, f'{got} bytes came back for {sent} bytes sent')
    with field.attack('probes', '--pps', 20000, '--seconds', 20) as _:
        time.sleep(0.5)
        field.small_send()
    field.expect_alive()


def cookies(field, program, folder):
    """A CONFIRM opens one connection, and soon or never."""
    field.serve(program, folder, sealed=False)
    told = field.attack_now('replay', '--seconds', 0.8)
    expect_equal('opened at first', told['opened'], 1)
    expect_equal('states after the CONFIRM came again', told['reports_after'], 0)
    with field.attack('late-confirm', '--seconds', 2.5) as await_end:
        time.sleep(0.5)
        field.serve(program, folder, sealed=False)
        told = await_end()
    expect_equal('offered before the server began anew', told['opened'], 1)
    expect_equal('states after a CONFIRM from before', told['reports_after'], 0)
    field.expect_alive()


# Item 7.
def refused_gets_nothing(field, program, folder):
    """Who may not connect learns no identifier; who may learns nothing of others'."""
    field.serve(program, folder, '--allow', f'{CLIENT}/32', sealed=False)
    told = field.attack_now('identifiers')
    expect(told['answers'] == 0 or told['refused'] != 0, f'not refused: {told}')
    expect_equal('the identifier told to one who is refused', told['identifier'], 0)
    expect_equal('a cookie for one who is refused', told['cookie'], 0)
    field.serve(program, folder, sealed=False)
    told = [field.attack_now('identifiers') for _ in range(4)]
    for each in told:
        expect(each['answer_bytes'] + IPV4_AT <= each['sent_bytes'], f'an answer is longer: {each}')
    seen = [each['identifier'] for each in told]
    steps = {(b - a) & 0xffffffff for a, b in zip(seen, seen[1:])}
    expect(len(steps) == 3 and min(steps) > 1 << 16 or seen == [0] * 4,
           f'identifiers follow one another: {seen}')


def aborted_by_others(field, program, folder):
    """Releases in the peer's name, around the identifiers that a stranger is given."""
    field.serve(program, folder, sealed=False)
    with field.transfer(12, 60):
        field.attack_now('aborts', '--seconds', 1)


def far_pns(field, program, folder):
    """States that are not plausible, from the right address to the right identifier."""
    little = ('--buffers', '64M')  # a transfer of which no end has room for all
    field.serve(program, folder, *little, sealed=False)
    for verb in ('send', 'get'):
        with field.transfer(60, 250, verb, options=little):
            for host in (field.victim, field.client):
                kind = DATA if (host is field.victim) == (verb == 'send') else RCV_REPORT
                heard = overheard(host, kind)
                for name in ('far-pns', 'near-pns'):
                    field.attack_now(name, *heard, '--seconds', 0.2, '--pps', 3000)


# Item 9.
def places(field, program, folder):
    """One peer does not hold all places, however politely."""
    field.serve(program, folder)
    with field.attack('places', '--seconds', 4) as told:
        time.sleep(1)
        field.small_send()
        field.small_send(name='another')
        opened = told()['opened']
    expect_between('places that one peer was given', opened, 1, 63)


def windows(field, program, folder):
    """What a peer's windows take is within what it is allowed."""
    field.serve(program, folder)
    with field.growth(GROWTH_BYTES), field.attack('windows', '--count', 64, '--seconds', 4):
        time.sleep(1.5)
        field.small_send()


def folders(field, program, folder):
    """A folder that is named again and again costs no more than a stream's folders may."""
    field.serve(program, folder)
    with field.growth(FOLDERS_BYTES + GROWTH_BYTES):
        told = field.attack_now('folders', '--seconds', 6)
    field.expect_alive()
    expect(told['entries'] > 20_000, f'{told}')


def claims(field, program, folder):
    """One entry does not take a disk of which it sends nothing."""
    with small_disk(folder, 256) as root:
        field.serve(program, folder, root=root)
        free = shutil.disk_usage(root).free
        with field.attack('claim', '--count', free - MIB, '--seconds', 4) as told:
            time.sleep(1.5)
            expect(free - shutil.disk_usage(root).free < free / 2, 'reserved for nothing sent')
            with field.transfer(8, 60):
                told()
        field.end_server()


# Item 10.
def graphs(field, program, folder):
    """New codes with every packet are no reason for others to wait."""
    field.serve(program, folder)
    with field.transfer(12, 60), field.silence(SILENT_S):
        before = field.victim.packets('tx')
        told = field.attack_now('graphs', '--seconds', 1.2)
        said = (field.victim.packets('tx') - before) / told['seconds']
    expect(told['shapes'] > 30, f'{told}')
    expect(said > STATES_PER_S, f'{said:.0f} packets a second from a server that should say more')


def slow_sync(field, program, folder):
    """Jobs that are given up while a disk makes things durable stop no other's transfer."""
    slow = folder / 'slow'
    field.serve(program, folder, env={'LD_PRELOAD': SLOW_DISK, 'SLOW_DISK': slow})
    with field.transfer(12, 40), field.silence(SILENT_S):
        slow.write_text('')
        field.attack_now('given-up', '--seconds', 1.8)
        slow.unlink()


# Item 11.
def complaints(field, program, folder):
    """A peer that is refused writes few lines, and rules no terminal."""
    server = field.serve(program, folder)
    before = len(server.said().splitlines())
    told = field.attack_now('complaints', '--seconds', 3)
    field.expect_alive()
    expect(told['heard'] > 8, f'heard: {told}')
    raw = server.log.read_bytes()
    lines = len(raw.splitlines()) - before
    expect(lines > 0, 'nothing is said of jobs that are refused')
    expect(lines / told['seconds'] < LOG_LINES_PER_S,
           f'{lines} lines in {told["seconds"]:.1f} s')
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Failed(f'the log is not UTF-8: {error}') from None
    bad = {f'U+{ord(c):04X}' for c in text if unicodedata.category(c) in ('Cc', 'Cf') and c != '\n'}
    expect(not bad, f'the log has {sorted(bad)}')


# Item 12.
def forged(field, program, folder):
    """Nothing has its name before it is known to be what was sent."""
    server = field.serve(program, folder)
    told = field.attack_now('forged')
    field.expect_alive()
    expect(told.get('begun'), f'{told}')
    found = {path.name for path in server.folder.rglob('*') if path.is_file()}
    expect(found <= {'right'}, f'files with a name, of a stream whose seal is wrong: {found}')


def parts(field, program, folder):
    """Of a file that comes by two lanes no part is anywhere but in its place."""
    server = field.serve(program, folder)
    told = field.attack_now('parts')
    field.expect_alive()
    expect(told.get('begun') == 4 and told.get('strangers') == 1, f'{told}')
    expect(told['ended'] == 4, f'lanes that lie go on: {told}')
    expect(told['wanted'] == 0, f'a part of another transfer is wanted: {told}')

    def found():
        return {path.name: path.stat().st_size for path in server.folder.rglob('*')
                if path.is_file()}
    # What lanes have staged goes to a background thread, a moment after their end.
    wait_until(lambda: set(found()) == {'right'}, 5, 'stages to be removed')
    expect_equal('files with a name', found(), {'right': 2 * MIB})


def leftovers(field, program, folder):
    """What a killed server leaves is gone when the next one serves."""
    server = field.serve(program, folder)
    (server.folder / 'deep/er').mkdir(parents=True)
    file = folder / 'file'
    file.write_bytes(random.Random(SEED).randbytes(8 * MIB))
    with running_client(program, field.client, 'send', file, f'{SERVER}:deep/er/', '--rate', '20M',
                        '--peer-timeout', '2s'):
        wait_until(lambda: staging_folders(server.folder), 10, 'a staging folder')
        server.kill()
    field.server = None
    end_group(server.process)
    expect(staging_folders(server.folder), 'nothing was left')
    server = field.serve(program, folder)
    wait_until(lambda: not staging_folders(server.folder), 3, 'an end of what was left')


# Item 13.

OPENING = (9, 10, 11)  # OPEN, ACCEPT, CONFIRM
TAPS = ('replayed', 'reflected', 'borrowed', 'flipped')


def taps(field, program, folder):
    """What was recorded on the way harms neither this session nor the next, whoever says it. What
    the flood of it costs is `compared`'s."""
    field.serve(program, folder)
    tape = folder / 'tape'
    # From before the handshake on.
    with recording((field.victim, 400), (field.client, 100)) as heard, \
            field.transfer(16, 60, options=('--parallel', '2')):
        tape.write_bytes(heard())
        types = {frame[IPV4_AT + 1] for frame in unpacked(tape.read_bytes())}
        expect(types >= {DATA, RCV_REPORT, *OPENING}, f'these alone were recorded: {types}')
        before = field.counters()
        for name in TAPS:
            field.attack_now(name, '--path', tape, '--seconds', 0.2, '--pps', 20000)
        after = field.counters()
    counted = grown(before, after)
    # A sealed packet may come from elsewhere, and these have come before: none moves the client.
    expect({'drop_packet_tag', 'drop_no_session'} <= counted and 'moved_clients' not in counted,
           f'these alone were counted: {counted}')
    for verb in ('send', 'get'):
        with field.transfer(8, 60, verb):
            for name in TAPS:
                field.attack_now(name, '--path', tape, '--seconds', 0.2, '--pps', 20000)


# Item 14.

# Of its rate, where the port still takes its packets.
KEPT = 0.8


def grown(before, after):
    """Names of what has been counted meanwhile."""
    return {name for name in after if after[name] > before.get(name, 0)}


def late_s(mib, mbps):
    """What a transfer may take longer that keeps so much of its rate."""
    return 1 + mib * MIB * 8 / mbps / 1e6 * (1 / KEPT - 1)


def flooded(field, program, folder, mib=16, mbps=60):
    """A flood costs a transfer a fifth of its rate at most, and no memory; it is told of."""
    floods = [('million', 30_000, ('--count', 50_000), 'refused_opens')]
    gateway = ()
    if not field.on_sockets:  # the kernel's own gateway, and noise that it takes for itself
        floods.append(('noise', 20_000, ('--seconds', 1.3), 'drop_frame_not_ip'))
        gateway = ('--gateway', GATEWAY)
    field.serve(program, folder, *gateway, '--allow', '0.0.0.0/0')
    for kind, pps, options, reason in floods:
        before = field.counters()
        with field.growth(GROWTH_BYTES), field.transfer(mib, mbps, late_s=late_s(mib, mbps)):
            told = field.attack_now(kind, '--pps', pps, '--seconds', 30, *options)
        expect(told['sent_pkts'] >= pps, f'{told}')
        expect(reason in grown(before, field.counters()), f'{reason} is not counted')
    field.small_send()


def compared(field, program, folder, mib=72, mbps=60, pps=100_000):
    """
    The whole flood, of OPENs from as many addresses and of noise: a transfer keeps as much of its
    rate as without one, and as beside as many datagrams in which nothing makes sense, but for what
    the port itself loses.
    """
    if not WHOLE:
        raise Skip('only with ATTACK_WHOLE=1: a minute')
    field.serve(program, folder, '--gateway', GATEWAY, '--allow', '0.0.0.0/0')
    took = {}
    for kind in ('nothing', 'garbage', 'million', 'noise'):
        before = field.counters()
        with field.growth(GROWTH_BYTES), field.transfer(mib, mbps, late_s=30):
            if kind != 'nothing':
                told = field.attack_now(kind, '--count', 10**6, '--pps', pps, '--seconds', 20)
                expect(told['sent_pkts'] >= 10**6, f'{told}')
        after = field.counters()
        took[kind] = field.took
        print(f'beside {kind}: {took[kind]:.2f} s,',
              {name: after[name] - before.get(name, 0) for name in sorted(grown(before, after))})
    for kind in ('million', 'noise'):
        for other in ('nothing', 'garbage'):
            expect(took[kind] * KEPT <= took[other], f'{kind} costs more than {other}: {took}')


# Item 15.
def handshakes(field, program, folder, mib=18, mbps=60):
    """
    Those that begin by the thousand and never go on cost as little, and who is honest is met, also
    one whose pieces are lost, late, twice and in disorder. The audit says whose broke, and why, in
    few lines.
    """
    log = folder / 'audit'
    field.serve(program, folder, '--audit', log)
    before = field.counters()
    with field.growth(GROWTH_BYTES), field.transfer(mib, mbps, late_s=late_s(mib, mbps)):
        told = field.attack_now('handshakes', '--pps', 4000, '--seconds', 1.2)
        ours = field.attack_now('disorder', '--seconds', 1)
    expect(told['cookies'] > 1000 and told['answers'] > 100, f'{told}')
    expect(ours['met'] == ours['handshakes'] > 1 and ours['late'] > 10, f'{ours}')
    reasons = {'handshakes', 'handshakes_met', 'handshakes_crowded_out', 'handshakes_broken'}
    counted = grown(before, field.counters())
    expect(reasons <= counted, f'these alone were counted: {counted}')
    lines = [line for line in map(json.loads, log.read_text().splitlines())
             if line['event'] == 'refused']
    broken = [line for line in lines if line['outcome'] == 'handshake broke']
    expect(broken and all(line['identity'] is None and line['peer'].startswith('192.0.2.')
                          and line['why'] for line in broken), f'the audit says {lines}')
    expect(len(lines) <= AUDIT_LINES, f'{len(lines)} lines of the audit')
    field.small_send()


def crowded(field, program, folder, clients=2, pps=20_000):
    """
    Beside as many handshakes as a line carries, of 200 addresses of the client's own network,
    whether they ask for their cookies or have collected them before, each honest client is served
    in at most twice the time that it takes otherwise, and two seconds.
    """
    field.serve(program, folder)

    def slowest_s(kind):
        took = []
        for i in range(clients):
            began = time.monotonic()
            field.small_send(name=f'{kind}{i}', seconds=60)
            took.append(time.monotonic() - began)
        return max(took)

    calm_s = slowest_s('calm')
    for kind, first_s in ('handshakes', 1), ('handshakes-stored', 4):
        seconds = first_s + clients * (calm_s + 1)
        with field.attack(kind, '--pps', pps, '--seconds', seconds) as told:
            time.sleep(first_s)
            took_s = slowest_s(kind)
            told = told()
        expect(told['cookies'] > 1000 and told['sent_pkts'] > 10_000, f'{told}')
        expect(took_s <= 2 * calm_s + 2, f'{kind}: {took_s:.1f} s, in a calm {calm_s:.1f}')


def mirrored(field, program, folder):
    """
    Who sends back all that he is told has no key, and gets nothing; and who has our own key, but is
    not whom we know at his address, neither. Both are told at once, and truly.
    """
    field.serve(program, folder)
    file = folder / 'file'

    def refused(to, said):
        file.write_bytes(b'to be moved')
        result = run_client(program, field.client, 'send', '--move', file, f'{to}:in/')
        expect_status(result, NETWORK)
        expect_said(result, said)
        expect(result.seconds < SOON_S, f'refused after {result.seconds:.1f} s')
        expect(file.exists(), 'the source is gone')

    key = field.make_key()[1]
    with field.attack('mirror', '--seconds', SOON_S) as told:
        refused(THIRD, 'this process has answered itself')
        with field.trusted('another', key, f'address={SERVER}'):
            refused(SERVER, 'NOT THE KEY of another')
            refused('another', 'NOT THE KEY of another')
            expect(not (field.server.folder / 'in').exists(), 'something has come')
        expect(told()['returned'] > 2, 'nothing was sent back')
    field.small_send()


# Item 17.

# Of these frames each reason of NOISE has a dozen.
THROWN_PKTS = 30_000
NOISE = {'drop_frame_not_ip', 'drop_frame_bad_ip', 'drop_frame_bad_udp', 'drop_packet_short',
         'drop_packet_long', 'drop_packet_version_unknown', 'drop_packet_tag', 'drop_no_session'}


def thrown_at(field, program, folder, mib=20, mbps=60):
    """
    dpdk-testpmd throws all that it can, of any bytes and of packets of this very transfer that are
    damaged: it keeps its rate, the server its memory, and each refusal has a name.
    """
    chance = random.Random(SEED)
    field.serve(program, folder)
    own = bytes.fromhex(field.stranger.mac().replace(':', ''))
    noise = folder / 'noise.pcap'
    before, told = field.counters(), {}
    with field.growth(GROWTH_BYTES), field.transfer(mib, mbps, late_s=late_s(mib, mbps)):
        real = unpacked(recorded(field.victim, 0.5))
        expect(len(real) > 50, f'{len(real)} frames recorded')
        write(noise, [draw(chance, real, own) for _ in range(FRAMES)])
        began = field.victim.packets('rx')
        with thrown(field.stranger, noise, told):
            wait_until(lambda: field.victim.packets('rx') > began + THROWN_PKTS, 20, 'a flood')
    after = field.counters()
    counted = {name: after[name] - before.get(name, 0) for name in sorted(grown(before, after))}
    print(f'{told["sent_pkts"]} frames beside {field.took:.2f} s,', counted)
    expect(NOISE <= set(counted), f'these alone were counted: {counted}')
    field.small_send()


# Item 16.
LIES = {'drop_packet_field', 'drop_packet_flags', 'drop_packet_length', 'drop_packet_long',
        'drop_packet_reserved', 'drop_bad_cookie', 'drop_no_session', 'refused_opens'}


def liar(field, program, folder, seconds=0.8):
    """
    A peer with rights that lies in every field, or lives for ever and never gets on, ends its own
    jobs and nobody else's; the next one has its places.
    """
    server = field.serve(program, folder, '--stall-timeout', '1s')
    (server.folder / 'f').write_bytes(os.urandom(8 * MIB))
    (server.folder / 'theirs').mkdir()
    before = field.counters()
    mib = round(60e6 / 8 * (2 * seconds + 3) / MIB)
    with field.growth(GROWTH_BYTES), field.transfer(mib, 60, late_s=late_s(mib, 60)):
        lies = field.attack_now('lies', '--path', 'f', '--seconds', seconds)
        records = field.attack_now('records', '--path', 'theirs', '--seconds', seconds)
        stalls = field.attack_now('stalls', '--path', 'f', '--seconds', 2)
    expect(lies['begun'] > 4 and lies['ended'] > 3 and lies['lies'] > 1000, f'{lies}')
    expect(records['begun'] > 4 and records['ended'] > 3, f'{records}')
    expect(stalls['begun'] > 4, f'{stalls}')
    expect_equal('jobs that stall and go on', stalls['alive'], 0)
    counted = grown(before, field.counters())
    expect(LIES <= counted, f'these alone were counted: {counted}')
    evil = [path for path in server.folder.rglob('*') if 'theirs' not in path.parts
            and path.is_file() and path.name not in ('f', 'file')]
    expect(not evil, f'files of the liar elsewhere: {evil}')


# Rows of a peer's orders that are not over, and that are (app/wavehaul/queue/accepted.h).
ORDERS_LIVE, ORDERS_KEPT = 64, 256

@contextlib.contextmanager
def taking_orders(field, program, folder):
    """A server with a queue, of which the liar may order what is in `public`; and its socket."""
    path = Path(tempfile.mkdtemp(prefix='wavehaul-', dir='/tmp'))
    try:
        server = field.serve(program, folder, '--control', path / 'control')
        (server.folder / 'public').mkdir()
        for name in ('public/f', 'secret'):
            (server.folder / name).write_bytes(os.urandom(MIB))
        field.trust('liar', field.liar, f'address={THIRD}', 'folder=public', 'orders=yes')
        own = json.loads(program.run('trust', 'show', '--json').out)['own']['key']
        with field.trusted('mirror', own, f'address={SERVER}'):
            time.sleep(TRUST_SEEN_S)
            with Control(path / 'control') as control:
                yield server, control
    finally:
        field.trust('liar', field.liar)
        shutil.rmtree(path, ignore_errors=True)


def rows_of(control):
    rows, page = [], True
    while page:
        page = control.told('job.list', all=True, **{'from': rows[-1]['job'] if rows else 0})
        page = page['jobs']
        rows += page
    return rows


def orderer(field, program, folder, many=100, seconds=3, mib=96):
    """Who may order what he likes has no more of it than his share, and no word of his is taken
    amiss; who may not has nothing. The queue goes on, and so does everything else."""
    with taking_orders(field, program, folder) as (server, control):
        wrong = field.attack_now('orders-wrong', '--path', 'public/f')
        expect_equal('as told', (wrong['as_told'], wrong.get('waits', 0)), (wrong['asked'], 0))
        expect_equal('rows', rows_of(control), [])
        slowest = 0
        with field.growth(GROWTH_BYTES), field.transfer(mib, 60, late_s=600):
            for words in (('orders-damaged', '--seconds', seconds),
                          ('orders-steered', '--seconds', 2 * seconds),
                          ('orders-many', '--count', many)):
                with field.attack(*words, '--path', 'public/f') as told:
                    for _ in range(2 * seconds):
                        began = time.monotonic()
                        control.told('status')
                        slowest = max(slowest, time.monotonic() - began)
                        time.sleep(0.5)
                    print(words[0], told(600))
                field.expect_alive(words[0])
            rows = rows_of(control)
        live = [row for row in rows if row['state'] not in ('done', 'failed', 'cancelled')]
        print(f'{len(rows)} rows, {len(live)} of them not over; an answer took {slowest:.3f} s')
        expect(len(live) <= ORDERS_LIVE <= len(rows) <= ORDERS_LIVE + ORDERS_KEPT,
               f'{len(rows)} rows, {len(live)} live')
        expect_equal('who ordered', {(row['ordered_by'], row['host']) for row in rows},
                     {('liar', 'liar')})
        expect(slowest < 3, f'the control socket answered after {slowest:.1f} s')
        # Without the right there is nothing at all, and what he has ordered does not begin.
        field.trust('liar', field.liar, f'address={THIRD}', 'folder=public')
        time.sleep(TRUST_SEEN_S)
        before = len(rows_of(control))
        refused = field.attack_now('orders-many', '--path', 'public/f', '--count', 50)
        expect_equal('orders without the right', (refused['right'], refused.get('waits', 0)),
                     (50, 0))
        expect_equal('rows', len(rows_of(control)), before)
    field.small_send()


def ten_thousand_orders(field, program, folder):
    if not WHOLE:
        raise Skip('only with ATTACK_WHOLE=1: five minutes')
    orderer(field, program, folder, many=10_000, mib=250)


WAVES = (
    (('holes',), ('bounds',), ('moved', '--seconds', 3), ('many-addresses', '--pps', 200),
     ('flood', '--count', 60_000)),
    (('hellos', '--path', 'offered'), ('moved6', '--seconds', 2), ('far-addresses', '--pps', 200),
     ('list',), ('into', '--path', 'in')),
    (('places',), ('folders',), ('claim',), ('askers', '--pps', 200), ('aborts',), ('disorder',)),
    (('lies', '--path', 'offered'), ('records', '--path', 'in'), ('stalls', '--path', 'offered'),
     ('handshakes', '--pps', 1000)),
    (('graphs',), ('windows', '--count', 4), ('period',), ('complaints',), ('forged',),
     ('parts',), ('given-up',)),
)


def wave(field, attacks):
    with contextlib.ExitStack() as stack:
        told = [(words[0], stack.enter_context(field.attack(*words))) for words in attacks]
        for name, await_end in told:
            await_end(40)
            field.expect_alive(f'{name} among others')


def all_at_once(field, program, folder, mib, mbps):
    """Every attack there is, several at a time, and a transfer that ends right."""
    field.serve(program, folder)
    with field.growth(4 * GROWTH_BYTES), field.transfer(mib, mbps, late_s=30):
        for attacks in WAVES:
            wave(field, attacks)
    field.small_send()


def cases(field):
    def case(name, quick, function, judges_time=True, **how):
        return Case(name, quick, functools.partial(field.run, functools.partial(function, **how)),
                    memory=True, judges_time=judges_time)

    # Others have a transfer beside them that is not to be late, or a refusal.
    calm = functools.partial(case, judges_time=False)

    yield calm('1 bounds of packets', True, killer)
    yield calm('2 hellos', True, hellos, seconds=3)
    yield calm('3 staging', True, staging)
    yield calm('4 few from many addresses', False, neighbours_full, kinds=[('many-addresses', 12)])
    yield calm('4 many from many addresses', True, neighbours_full,
               kinds=[(kind, 500) for kind in ('many-addresses', 'far-addresses', 'askers')])
    yield calm('5 flood of OPENs', False, opens_flood)
    yield calm('6 amplification', True, amplification)
    yield calm('6 cookies', False, cookies)
    yield calm('6 probes', True, probes)
    yield calm('7 identifiers', True, refused_gets_nothing)
    yield calm('7 aborts', False, aborted_by_others)
    yield calm('7 packet numbers', False, far_pns)
    yield calm('8 moved', True, moved)
    yield calm('8 moved gateway', False, moved_gateway)
    yield calm('9 places', False, places)
    yield calm('9 windows', False, windows)
    yield calm('9 folders', False, folders)
    yield calm('9 claims', False, claims)
    yield case('10 graphs', False, graphs)
    yield case('10 slow disk', False, slow_sync)
    yield calm('11 complaints', False, complaints)
    yield calm('12 forged', True, forged)
    yield calm('12 parts', False, parts)
    yield calm('12 leftovers', False, leftovers)
    yield calm('13 taps', True, taps)
    yield case('14 floods', False, flooded)
    yield case('14 compared', False, compared)
    yield case('15 handshakes', True, handshakes)
    yield case('15 crowded', False, crowded)
    yield case('15 mirror', True, mirrored)
    yield case('15 early', True, flooded_early)
    yield case('16 liar', True, liar)
    yield calm('18 orderer', True, orderer)
    yield case('18 orderer, 10^4 orders', False, ten_thousand_orders)
    yield case('17 testpmd', False, thrown_at)
    yield calm('all at once', False, all_at_once, mib=80, mbps=200)
    # Whatever the port, the rules of the wire are the endpoint's: the kernel's sockets keep none.
    for item, attack in (('1 bounds of packets', killer), ('5 flood of OPENs', opens_flood),
                         ('6 amplification', amplification), ('6 probes', probes),
                         ('7 identifiers', refused_gets_nothing), ('7 aborts', aborted_by_others),
                         ('9 places', places), ('9 windows', windows), ('9 folders', folders),
                         ('9 claims', claims), ('12 parts', parts), ('12 forged', forged),
                         ('13 taps', taps), ('14 floods', flooded), ('15 mirror', mirrored),
                         ('16 liar', liar)):
        # A socket holds less than a NIC's ring: who sends without repeating wants the CPUs.
        yield case(f'{item} on udp', attack is taps, Field.sockets,
                   attack in (folders, parts, flooded, mirrored, liar), attack=attack)


def tools_of(arguments):
    """What is built beside the binary: the attacker, and what makes a disk slow."""
    binary = BINARY
    if '--binary' in arguments[:-1]:
        binary = Path(arguments[arguments.index('--binary') + 1])
    built = binary.resolve().parents[2] / 'test'
    return built / 'attacker', built / 'slow_disk.so'


if __name__ == '__main__':
    ATTACKER, SLOW_DISK = tools_of(sys.argv)
    with Field(ATTACKER) as FIELD:
        sys.exit(run_cases(list(cases(FIELD)), BINARY))
