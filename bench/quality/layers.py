# SPDX-License-Identifier: Apache-2.0
"""Random layers as networks have them, and the family that a layer belongs to."""
import math
import random
import re

DIRECTIONS = ["fwd", "bwd_data", "bwd_weight"]
# How many of every 72 layers are of a family; 72 make 24 of each direction.
SHARES = {"dense": 22, "1x1": 11, "strided": 9, "few channels": 6, "groups": 6, "depthwise": 8, "1d": 5, "3d": 5}
MOST_GFLOP, LEAST_GFLOP = 120, 0.02  # a run takes some 5 to 500 us
MOST_ELEMENTS = 4e7  # of a tensor: the host fills and checks it

CHANNELS = [32, 48, 64, 64, 96, 128, 128, 160, 192, 256, 256, 320, 384, 512, 768, 1024]
SIZES = [7, 10, 13, 14, 20, 25, 28, 40, 50, 56, 80, 100, 112, 128, 160, 200]


def draw(source, family):
    """Sizes of one layer: n, c, k, g, input, filter, stride, padding, dilation."""
    pick = source.choice
    n, c, k, g, stride, dilation = pick([1, 2, 4, 8, 16, 16, 32, 64]), pick(CHANNELS), pick(CHANNELS), 1, 1, 1
    size = pick(SIZES)
    dims = [size if source.random() < 0.8 else max(5, size + pick([-3, 4, 12])), size]
    taps = [pick([3, 3, 3, 3, 5, 7])] * 2
    if family == "dense" and source.random() < 0.1:
        dilation = pick([2, 4])
    elif family == "1x1":
        taps = [1, 1]
        stride = pick([1, 1, 1, 1, 1, 2])
    elif family == "strided":
        taps, stride = [pick([2, 3, 3, 3, 4, 5, 7])] * 2, 2
    elif family == "few channels":
        c, k = (pick([3, 4, 8, 12]), k) if source.random() < 0.6 else (c, pick([3, 8, 9, 12]))
        stride = pick([1, 1, 2])
    elif family == "groups":
        g = pick([2, 4, 8, 32])
        c, k = g * pick([8, 16, 32, 64]), g * pick([8, 16, 32, 64])
        taps, stride = [pick([3, 3, 3, 1])] * 2, pick([1, 1, 1, 2])
    elif family == "depthwise":
        c = k = g = c
        taps, stride = [pick([3, 3, 5, 7])] * 2, pick([1, 1, 1, 2])
    elif family == "1d":
        dims, taps = [pick([500, 1000, 1500, 3000, 4000, 8000, 16000])], [pick([1, 3, 3, 5, 7])]
        stride, dilation = pick([1, 1, 2]), pick([1, 1, 1, 4])
    elif family == "3d":
        dims, taps = [pick([4, 8, 9, 16, 17, 32]), *[pick([14, 16, 28, 32, 56, 64])] * 2], [3, 3, 3]
        taps, stride = pick([taps, taps, [1, 3, 3], [3, 1, 1]]), pick([1, 1, 1, 2])
        n = pick([1, 1, 2, 4])
    if stride > 1:
        dilation = 1
    return n, c, k, g, dims, taps, stride, [dilation * (t - 1) // 2 for t in taps], dilation


def text_of(direction, n, c, k, g, dims, taps, stride, pads, dilation):
    by = lambda values: "x".join(str(v) for v in values)
    words = [direction, "bf16", f"n{n}", f"c{c}", f"k{k}"] + ([f"g{g}"] if g > 1 else []) + [f"i{by(dims)}"]
    words += [f"f{by(taps)}"] if max(taps) > 1 else []
    words += [f"s{stride}"] if stride > 1 else []
    words += [f"p{pads[0]}" if len(set(pads)) == 1 else f"p{by(pads)}"] if max(pads) > 0 else []
    return " ".join(words + ([f"d{dilation}"] if dilation > 1 else []))


def random_layers(count, seed):
    """The same list for the same seed; a longer one starts with the shorter."""
    source = random.Random(seed)
    order = [family for family, share in SHARES.items() for _ in range(share)]
    random.Random(seed).shuffle(order)
    layers = []
    while len(layers) < count:
        family = order[len(layers) // 3 % len(order)]
        n, c, k, g, dims, taps, stride, pads, dilation = sizes = draw(source, family)
        out = [(i + 2 * p - dilation * (t - 1) - 1) // stride + 1 for i, p, t in zip(dims, pads, taps)]
        gflop = 2e-9 * n * math.prod(out) * k * (c // g) * math.prod(taps)
        elements = max(n * c * math.prod(dims), n * k * math.prod(out))
        text = text_of(DIRECTIONS[len(layers) % 3], *sizes)
        if min(out) >= 1 and LEAST_GFLOP <= gflop <= MOST_GFLOP and elements <= MOST_ELEMENTS and text not in layers:
            layers.append(text)
    return layers


def family_of(text):
    """By the text alone, so that any layer has one."""
    words = text.split()
    number = lambda letter: next((int(w[1:]) for w in words if re.fullmatch(letter + r"\d+", w)), 1)
    dims = next(w for w in words if re.fullmatch(r"i[\dx]+", w))[1:].count("x") + 1
    taps = next((w[1:] for w in words if re.fullmatch(r"f[\dx]+", w)), "1")
    c, k, g = number("c"), number("k"), number("g")
    if dims != 2:
        return f"{dims}d"
    if g > 1:
        return "depthwise" if g == c == k else "groups"
    if min(c, k) < 16:
        return "few channels"
    if set(taps.split("x")) == {"1"}:
        return "1x1"
    return "strided" if any(re.fullmatch(r"s[\dx]+", w) for w in words) else "dense"
