#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The dashboard and the alerts in system/monitoring: their expressions are right, are of figures
that there are, and alerts come when they should, and not before.

    monitoring.py [-k PATTERN]
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness import Case, Skip, expect, expect_equal, run_cases

TOP = Path(__file__).resolve().parents[2]
BINARY = TOP / 'build/release/app/wavehaul/wavehaul'
FOLDER = TOP / 'system/monitoring'
RULES = FOLDER / 'wavehaul.rules.yml'

# Of Prometheus itself.
ITS_OWN = {'up'}
FUNCTIONS = {'sum', 'min', 'rate', 'increase', 'changes', 'label_values'}
WORDS = {'by', 'ignoring', 'on', 'group_left', 'and'}

# What happens, and which alert is there after so long: series of a value a minute, as promtool has
# them ('0+60x20': from 0 on 60 more each).
STORIES = (
    ({'up{job="wavehaul",instance="a"}': '1 1 0 0 0 0'}, 'WavehaulDown', ('1m', 0), ('4m', 1)),
    ({'wavehaul_port_up{instance="a"}': '1 0 0 0 0 0'}, 'WavehaulLinkDown', ('0m', 0), ('3m', 1)),
    ({'wavehaul_jobs_ended_total{instance="a",verb="send",result="failed"}': '0+1x70'},
     'WavehaulJobsFail', ('5m', 0), ('60m', 1)),
    ({'wavehaul_jobs_ended_total{instance="a",verb="send",result="ok"}': '0+9x70'},
     'WavehaulJobsFail', ('60m', 0)),
    ({'wavehaul_queue_jobs{instance="a",state="ready"}': '3x40',
      'wavehaul_queue_jobs{instance="a",state="running"}': '1x10 0x30'},
     'WavehaulQueueStands', ('20m', 0), ('30m', 1)),
    ({'wavehaul_queue_jobs{instance="a",state="running"}': '1x40',
      'wavehaul_session_payload_bytes_total{instance="a",role="receiver"}': '0+99x10 990x30'},
     'WavehaulNothingMoves', ('15m', 0), ('35m', 1)),
    ({'wavehaul_session_sent_packets_total{instance="a",role="transmitter"}': '0+600000x40',
      'wavehaul_session_retransmitted_packets_total{instance="a",role="transmitter"}':
      '0+60000x40'}, 'WavehaulLoses', ('5m', 0), ('30m', 1)),
    ({'wavehaul_port_dropped_packets_total{instance="a",cause="missed_by_the_device"}':
      '0+6000x20', 'wavehaul_port_dropped_packets_total{instance="a",cause="unresolved"}':
      '0+6000x20'}, 'WavehaulPortDrops', ('2m', 0), ('15m', 1)),
    ({'wavehaul_disk_size_bytes{instance="a",folder="root"}': '100x20',
      'wavehaul_disk_free_bytes{instance="a",folder="root"}': '50x5 3x15'},
     'WavehaulDiskFull', ('8m', 0), ('15m', 1)),
    ({'wavehaul_unnoted_jobs_total{instance="a"}': '0x5 7x10'},
     'WavehaulUnnoted', ('4m', 0), ('10m', 1)),
)


def promtool(*args):
    if not shutil.which('promtool'):
        raise Skip('promtool is not there (prometheus)')
    result = subprocess.run(['promtool', *map(str, args)], capture_output=True, text=True,
                            check=False)
    expect(result.returncode == 0, f'promtool {args[:2]}: {result.stdout}{result.stderr}')


def known_names():
    """Those of the table in the program."""
    text = (TOP / 'app/wavehaul/metrics/families.c').read_text()
    suffixes = {'COUNTER': '_total', 'GAUGE': '', 'WH_FAMILY_INFO': '_info'}
    names = set(ITS_OWN)
    for name, rest in re.findall(r'\{"(wavehaul_\w+)"(.*?)\}(?=,\n)', text, re.S):
        kind = re.search('COUNTER|GAUGE|WH_FAMILY_INFO', rest).group()
        names.add(name + suffixes[kind])
    names |= {f'wavehaul_session_{what}_packets_total'
              for what in re.findall(r'\bPACKETS\("(\w+)"', text)}
    return names


def dashboard():
    """The panels' expressions, Grafana's variables in place."""
    panels = json.loads((FOLDER / 'wavehaul-dashboard.json').read_text())['panels']
    for panel in panels:
        for target in panel['targets']:
            yield panel['title'], (target['expr'].replace('$__rate_interval', '5m')
                                   .replace('$instance', '.*'))


def names_in(expression):
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\([a-z, ]*\)', ' ', expression)
    return set(re.findall(r'[a-z_]{2,}', bare)) - FUNCTIONS - WORDS


def expressions(program, folder):
    known, seen = known_names(), set()
    expect(len(known) > 50, f'{len(known)} names found: is the table of another form?')
    alerts = [('alert', expression) for expression in re.findall(
        r'expr: (?:\|\n((?:          .*\n)+)|(.*)\n)', RULES.read_text())]
    alerts = [(title, ''.join(expression)) for title, expression in alerts]
    expect_equal('alerts', len(alerts), RULES.read_text().count('- alert:'))
    for title, expression in (*dashboard(), *alerts):
        used = names_in(expression)
        expect(used and used <= known, f'{title}: {used - known or expression}')
        seen |= used
    expect(len(seen) > 25, f'{sorted(seen)}')


def rules(program, folder):
    promtool('check', 'rules', RULES)
    records = ''.join(f'  - record: panel:{i}\n    expr: {json.dumps(expression)}\n'
                      for i, (_, expression) in enumerate(dashboard()))
    panels = folder / 'panels.yml'
    panels.write_text(f'groups:\n- name: panels\n  rules:\n{records}')
    promtool('check', 'rules', panels)


def alerts(program, folder):
    tests = []
    for series, name, *looks in STORIES:
        test = [{'series': key, 'values': values} for key, values in series.items()]
        tests.append({'interval': '1m', 'input_series': test,
                      'promql_expr_test': [
                          {'expr': f'count(ALERTS{{alertname="{name}",alertstate="firing"}})'
                                   ' or vector(0)', 'eval_time': at,
                           'exp_samples': [{'labels': '{}', 'value': count}]}
                          for at, count in looks]})
    path = folder / 'stories.yml'
    # JSON is YAML.
    path.write_text(json.dumps({'rule_files': [str(RULES)], 'evaluation_interval': '1m',
                                'tests': tests}))
    promtool('test', 'rules', path)


CASES = [
    Case('monitoring: expressions are of figures that there are', True, expressions),
    Case('monitoring: Prometheus reads them', True, rules),
    Case('monitoring: alerts come when they should', True, alerts),
]

if __name__ == '__main__':
    sys.exit(run_cases(CASES, BINARY))
