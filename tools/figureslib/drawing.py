# SPDX-License-Identifier: BSD-3-Clause
"""Charts as SVG that stands inside a page, by matplotlib."""

import io
import re

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from .colours import COLOURS
from .results import brief

INK, FAINT, GRID = '#1b2733', '#5b6b7b', '#d5dce3'

STYLE = {
    'axes.prop_cycle': cycler(color=COLOURS),
    'svg.fonttype': 'none', 'font.family': 'sans-serif', 'font.size': 9, 'text.color': INK,
    'axes.edgecolor': FAINT, 'axes.labelcolor': INK, 'axes.spines.top': False,
    'axes.spines.right': False, 'axes.grid': True, 'grid.color': GRID, 'grid.linewidth': 0.6,
    'xtick.color': FAINT, 'ytick.color': FAINT,
    'lines.linewidth': 1.4, 'lines.markersize': 4,
}


def figure(panels=1, height=3.1):
    """(figure, its axes), side by side."""
    with matplotlib.rc_context(STYLE):
        drawn = Figure(figsize=(9.6 if panels > 1 else 6.4, height), layout='constrained')
        axes = drawn.subplots(1, panels, squeeze=False)[0]
    return drawn, axes


def label(axes, x, y, title=''):
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize=9, loc='left')


def logarithmic(axes, values):
    """x in equal factors, a tick at each value."""
    axes.set_xscale('log')
    axes.set_xticks(values)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: brief(value)))
    axes.minorticks_off()


def legend(axes):
    """Beside the lines, never upon them."""
    axes.legend(loc='upper left', bbox_to_anchor=(1.01, 1.0), borderaxespad=0, frameon=False,
                fontsize=8)


def svg(drawn, name):
    """Its ids begin with the name: several charts stand in one page."""
    with matplotlib.rc_context(STYLE | {'svg.hashsalt': name}):
        written = io.StringIO()
        drawn.savefig(written, format='svg', metadata={'Date': None, 'Creator': None,
                                                       'Format': None, 'Type': None})
    text = written.getvalue()
    text = text[text.index('<svg'):]
    text = re.sub(r'<metadata>.*?</metadata>', '', text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'url\(#', f'url(#{name}-', text)
    return re.sub(r'href="#', f'href="#{name}-', text)
