# SPDX-License-Identifier: Apache-2.0
"""A convolution in plain numpy, on small integers whose sums are exact in every type."""
import itertools

import numpy as np


def integers(shape, seed=0, low=-2, high=3):
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.float32)


def convolve(x, w, stride, pads, dilation, groups):
    """x (n, spatial, c), w (k, spatial, c / groups) -> (n, spatial, k), in double precision; pads are pairs."""
    dims = x.ndim - 2
    x = np.pad(x.astype(np.float64), [(0, 0), *pads, (0, 0)])
    taps = w.shape[1:-1]
    size = [(x.shape[1 + i] - dilation[i] * (taps[i] - 1) - 1) // stride[i] + 1 for i in range(dims)]
    cg, kg = w.shape[-1], w.shape[0] // groups
    y = np.zeros((x.shape[0], *size, w.shape[0]))
    for tap in itertools.product(*map(range, taps)):
        part = x[(slice(None), *[slice(t * d, t * d + s * (o - 1) + 1, s)
                                 for t, d, s, o in zip(tap, dilation, stride, size)])]
        for g in range(groups):
            y[..., g * kg:(g + 1) * kg] += part[..., g * cg:(g + 1) * cg] @ w[(slice(g * kg, (g + 1) * kg), *tap)].T
    return y
