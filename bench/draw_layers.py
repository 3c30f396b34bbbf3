#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/draw_layers.py - draws a suite of layers that nobody has tuned for, as networks have them.

    python3 bench/draw_layers.py --seed 7 --layers 340 > bench/suites/fresh_7.txt

One seed gives one suite. Every class of docs/performance.md gets its share; sizes are drawn from what networks of that
class use (widths times a factor, images halved from their entrance, batches that fill a GPU), with some that no network
has, so that neither odd widths nor odd images are left out.
"""
import argparse
import random
import sys

MOST_WORK = 4e11     # products times two per direction
MOST_BYTES = 1.2e9   # of all tensors in 16 bits
LEAST_BYTES = 2e5

WIDTHS = [16, 24, 32, 40, 48, 64, 72, 80, 96, 112, 128, 144, 160, 192, 224, 240, 256, 288, 320, 384, 448, 480, 512, 576,
          640, 672, 768, 896, 960, 1024, 1152, 1280, 1536, 1920, 2048]
ENTRANCES = [160, 192, 224, 224, 240, 256, 288, 299, 320, 380, 384, 416, 448, 512, 640, 768]


def narrowed(rng, least, most):
    return rng.choice([w for w in WIDTHS if least <= w <= most])


def image(rng, least=7, most=512):
    """The side of a square or oblong image somewhere down a network."""
    for _ in range(100):
        side = rng.choice(ENTRANCES) // rng.choice([1, 2, 4, 8, 16, 32])
        if least <= side <= most:
            wide = rng.choice([1, 1, 1, 1, 2, 1.5])
            return side, int(side * wide)
    return least, least


def batch(rng):
    return rng.choice([1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128])


def odd(rng, value):
    return max(1, value + rng.choice([-7, -5, -3, -1, 1, 2, 3, 5, 6]))


def layer(n, c, k, size, filters, stride=1, groups=1, dilation=1, pad=None):
    return dict(n=n, c=c, k=k, g=groups, i=tuple(size), f=tuple(filters), s=stride, d=dilation, pad=pad)


def dense(rng):
    filters = rng.choice([(3, 3)] * 6 + [(5, 5), (1, 3), (3, 1), (1, 7), (7, 1), (7, 7)])
    c = narrowed(rng, 72, 2048)
    return layer(batch(rng), c, rng.choice([c, c, c * 2, narrowed(rng, 72, 1024)]), image(rng, 7, 128), filters,
                 dilation=rng.choice([1] * 8 + [2, 4]))


def dense_strided(rng):
    one = dense(rng)
    return dict(one, s=2, d=1)


def unit(rng):
    return layer(batch(rng), narrowed(rng, 16, 2048), narrowed(rng, 16, 2048), image(rng, 7, 160), (1, 1),
                 stride=rng.choice([1, 1, 1, 1, 2]))


def pooled(rng):
    c = narrowed(rng, 32, 2048)
    few = max(4, c // rng.choice([4, 8, 16, 24]))
    pair = (c, few) if rng.random() < 0.5 else (few, c)
    return layer(batch(rng), *pair, (1, 1), (1, 1))


def narrow(rng):
    dims = rng.choice([2, 2, 2, 3])
    size = image(rng, 28, 512) if dims == 2 else (rng.choice([16, 32, 64, 96]),) * 3
    return layer(rng.choice([1, 2, 4, 8, 16, 32]), rng.randrange(24, 65, 8), rng.randrange(24, 65, 8), size,
                 rng.choice([(3,) * dims, (3,) * dims, (5,) * dims]), stride=rng.choice([1, 1, 1, 2]))


def few(rng):
    dims = rng.choice([2, 2, 2, 2, 1, 3])
    size = {1: (rng.choice([1000, 4000, 8000, 16000]),), 2: image(rng, 28, 640), 3: (rng.choice([8, 16, 32]), *image(rng, 32, 128))}[dims]
    side = rng.choice([3, 3, 5, 7, 4, 8, 9, 11]) if dims < 3 else rng.choice([3, 3, 5])
    filters = (rng.choice([3, 5, 7, 10, 16, 25, 31]),) if dims == 1 else (side,) * dims
    pair = [rng.choice([1, 2, 3, 3, 3, 4, 6, 8, 9, 12, 16]), narrowed(rng, 16, 512)]
    if rng.random() < 0.4:
        pair.reverse()
    stride = rng.choice([1, 1, 2, 2, 4 if side > 3 else 2])
    return layer(rng.choice([1, 2, 4, 8, 16, 32, 64]), *pair, size, filters, stride=stride)


def odd_channels(rng):
    one = rng.choice([dense, unit, narrow])(rng)
    return dict(one, c=odd(rng, one["c"]), k=odd(rng, one["k"])) if rng.random() < 0.6 else dict(one, k=odd(rng, one["k"]))


def depthwise(rng):
    c, side = narrowed(rng, 32, 1536), rng.choice([3, 3, 5, 5, 7])
    return layer(batch(rng), c, c, image(rng, 7, 160), (side, side), stride=rng.choice([1, 1, 1, 2]), groups=c)


def depthwise_other(rng):
    c, kind = narrowed(rng, 32, 1536), rng.randrange(5)
    size = image(rng, 14, 112)
    if kind == 0:
        side = rng.choice([2, 4, 6, 9, 11, 13, 15, 21, 27, 31])
        return layer(batch(rng), c, c, size, (side, side), groups=c)
    if kind == 1:
        return layer(batch(rng), c, c, size, rng.choice([(1, 5), (5, 1), (1, 11), (21, 1), (1, 21), (3, 7)]), groups=c)
    if kind == 2:
        return layer(batch(rng), c, c, (rng.choice([250, 500, 1000, 2048, 4096]),), (rng.choice([3, 4, 9, 15, 31, 33, 65]),), groups=c)
    if kind == 3:
        side = rng.choice([3, 5, 7])
        return layer(batch(rng), c, c, size, (side, side), groups=c, dilation=rng.choice([2, 3, 4]))
    return layer(rng.choice([4, 8, 16]), c, c * rng.choice([2, 2, 3, 4]), size, (3, 3), groups=c, stride=rng.choice([1, 2]))


def grouped(rng):
    per_group = rng.choice([4, 8, 8, 12, 16, 16, 24, 32, 40, 48, 64, 96, 112, 168, 264])
    groups = rng.choice([2, 4, 8, 16, 32])
    c = per_group * groups
    return layer(batch(rng), c, c, image(rng, 7, 112), (3, 3), stride=rng.choice([1, 1, 1, 2]), groups=groups)


# Each with its share of the suite.
CLASSES = {"dense": (dense, 20), "dense strided": (dense_strided, 7), "unit filters": (unit, 12), "pooled": (pooled, 4),
           "17 to 64 channels": (narrow, 12), "16 channels or fewer": (few, 20), "odd channels": (odd_channels, 9),
           "depthwise 3, 5, 7": (depthwise, 9), "depthwise, other": (depthwise_other, 13), "groups": (grouped, 10)}


def outputs(one):
    sizes = []
    for size, taps in zip(one["i"], one["f"]):
        reach = one["d"] * (taps - 1) + 1
        sizes.append((size + 2 * (reach // 2) - reach) // one["s"] + 1)
    return sizes


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def fits(one):
    out = outputs(one)
    if min(out) < 1 or one["c"] > 4096 or one["k"] > 8192:
        return False
    work = 2 * one["n"] * product(out) * one["k"] * one["c"] // one["g"] * product(one["f"])
    size = 2 * (one["n"] * (one["c"] * product(one["i"]) + one["k"] * product(out)) + one["k"] * one["c"] // one["g"] * product(one["f"]))
    return work <= MOST_WORK and LEAST_BYTES <= size <= MOST_BYTES


def text(one):
    def joined(numbers):
        return "x".join(map(str, numbers))
    words = [f"fwd bf16 n{one['n']} c{one['c']} k{one['k']}"]
    if one["g"] > 1:
        words.append(f"g{one['g']}")
    words += [f"i{joined(one['i'])}", f"f{joined(one['f'])}"]
    if one["s"] > 1:
        words.append(f"s{one['s']}")
    pads = [one["d"] * (taps - 1) // 2 for taps in one["f"]]
    if any(pads):
        words.append(f"p{joined(pads)}")
    if one["d"] > 1:
        words.append(f"d{one['d']}")
    return " ".join(words)


def draw(seed, count):
    """[(class, name, problem)], the same for the same seed."""
    rng = random.Random(seed)
    total = sum(share for _, share in CLASSES.values())
    rows, seen = [], set()
    for name, (make, share) in CLASSES.items():
        wanted = max(1, round(count * share / total))
        while wanted:
            one = make(rng)
            problem = text(one)
            if not fits(one) or problem in seen:
                continue
            seen.add(problem)
            rows.append((name, f"{name.split()[0].rstrip(',')}_{len(rows):03d}", problem))
            wanted -= 1
    return rows


def self_test():
    rows = draw(1, 340)
    assert rows == draw(1, 340) and rows != draw(2, 340)
    assert {name for name, _, _ in rows} == set(CLASSES) and len(rows) >= 330
    assert len({name for _, name, _ in rows}) == len(rows)
    assert outputs(layer(1, 1, 1, (9, 8), (3, 3), stride=2)) == [5, 4]
    assert text(layer(2, 3, 8, (9, 9), (3, 3), stride=2)) == "fwd bf16 n2 c3 k8 i9x9 f3x3 s2 p1x1"
    assert not fits(layer(512, 2048, 2048, (256, 256), (3, 3)))
    print("draw_layers: self-test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=340)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    rows = draw(arguments.seed, arguments.layers)
    print(f"# {len(rows)} layers drawn by `python3 bench/draw_layers.py --seed {arguments.seed} --layers {arguments.layers}`.")
    print("# Forward problems; the command's --direction gives the other two. Grammar: docs/problem-text.md.")
    last = None
    for name, row, problem in rows:
        if name != last:
            print(f"\n# {name}")
            last = name
        print(f"{row + ':':<16}{problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
