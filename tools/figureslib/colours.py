# SPDX-License-Identifier: BSD-3-Clause
"""Ten colours for ten flows, and how far apart eyes of each kind see two of them."""

import math

# Found by search: the least two are as far apart as they can be on white, for all eyes below.
COLOURS = ('#2892ff', '#920b9f', '#fe6f6e', '#585205', '#06555a', '#d292c7', '#93b300', '#020043',
           '#640cfe', '#380001')

# Machado, Oliveira and Fernandes 2009: without one kind of cones, on linear RGB.
EYES = {
    'usual': ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    'protanopia': ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    'deuteranopia': ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    'tritanopia': ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}

XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
       (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(colour):
    """Of '#rrggbb', by sRGB."""
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def lab(colour, eyes):
    """CIE L*a*b*, in which equal steps look about equal."""
    seen = [min(1, max(0, part)) for part in times(EYES[eyes], linear(colour))]
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
               for part in (one / white for one, white in zip(times(XYZ, seen), WHITE)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(one, other, eyes):
    """About 2 is the least difference that is seen at all, side by side."""
    return math.dist(lab(one, eyes), lab(other, eyes))


def contrast_to_white(colour):
    """WCAG 2: 1 is none."""
    return 1.05 / (times(XYZ, linear(colour))[1] + 0.05)
