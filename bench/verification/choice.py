# SPDX-License-Identifier: Apache-2.0
"""Which kernels are executed on which problems: as few as meet every kind and every form, compiled into one pack."""
import heapq
import json
import lzma
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

SUITES = ("edges", "variety", "many")

# Problems that bring forms which the suites lack, or more tiles than they have: by every form of the kernels whose names
# match, or by one such kernel of each kind.
FURTHER = (
    ("split_atomic", "form", (
        "bwd_weight bf16 n8 c64 k64 i28x28 f1x1", "bwd_weight bf16 n4 c72 k136 i17x19 f3x3 p1",
        "bwd_weight bf16 n2 c256 k256 i28x28 f3x3 p1", "bwd_weight fp16 n4 c64 k128 i21x21 f3x3 s2 p1",
        "bwd_weight bf16 n2 c64 k72 i5x9x11 f3x3x3 p1", "bwd_weight bf16 n4 c64 k64 i200 f5 p2")),
    ("_sm90a_tma.*stream_", "form", (
        "bwd_weight bf16 n4 c256 k256 i28x28 f3x3 p1", "bwd_weight bf16 n8 c136 k200 i15x13 f3x3 p1",
        "bwd_weight bf16 n16 c320 k640 i9x9 f3x3 p1", "bwd_weight bf16 n4 c128 k128 i29x29 f3x3 s2 p1",
        "bwd_weight fp16 n4 c512 k128 i28x28 f1x1", "bwd_weight bf16 n1 c64 k64 i8x17x19 f3x3x3 p1")),
    ("stream_tree", "kind", (
        "bwd_weight bf16 n4 c256 k256 i28x28 f3x3 p1", "bwd_weight bf16 n8 c136 k200 i15x13 f3x3 p1")),
    ("_res_.*c_tma_store", "form", (
        "fwd bf16 n4 c64 k128 i17x19 f3x3 p1 +residual", "fwd bf16 n4 c64 k200 i17x19 f1x1 +residual=0.5",
        "fwd bf16 n2 c256 k264 i28x28 f3x3 p1 +residual", "fwd bf16 n9 c16 k96 i70x71 f1x1 +residual",
        "bwd_data bf16 n4 c128 k64 i17x19 f3x3 p1 +residual", "bwd_data bf16 n2 c128 k64 g2 i9x7 f3x3 p1 +residual",
        "bwd_data bf16 n4 c200 k64 i17x19 f1x1 +residual=0.5", "bwd_data bf16 n2 c256 k256 i28x28 f3x3 p1 +residual")),
    ("_res_.*c_tma_store", "kind", (
        "fwd bf16 n2 c256 k256 i28x28 f3x3 p1 +bias+residual+relu", "fwd fp16 n3 c72 k136 i13x11 f3x3 s2 p1 +residual",
        "fwd bf16 n2 c64 k64 i200 f3 p1 +residual+relu", "fwd bf16 n1 c64 k72 i5x9x11 f3x3x3 p1 +residual")),
    ("_portable_wavelet", "form", (
        "fwd bf16 n4 c72 k136 i29x31 f3x3 p1", "bwd_data bf16 n4 c72 k136 i29x31 f3x3 p1",
        "bwd_weight bf16 n4 c72 k136 i29x31 f3x3 p1", "bwd_weight bf16 n2 c64 k40 i25x25 f3x3 s2 p1",
        "bwd_data bf16 n2 c64 k128 i25x25 f3x3 s2 p1", "fwd fp16 n2 c256 k72 i14x14 f1x1")),
    ("_patch", "form", (
        "fwd bf16 n4 c3 k64 i56x56 f14x14 s14", "fwd bf16 n70 c3 k72 i28x56 f14x14 s14",
        "fwd bf16 n5 c3 k136 i30x120 f30x30 s30", "fwd bf16 n3 c3 k200 i42x70 f14x14 s14",
        "bwd_data bf16 n2 c3 k64 i28x42 f14x14 s14", "bwd_weight bf16 n4 c3 k64 i56x56 f14x14 s14",
        "bwd_weight bf16 n3 c3 k200 i42x70 f14x14 s14")),
    ("finite.*_patch", "kind", (
        "fwd bf16 n2 c1 k136 i14x56 f7x7 s7 +bias+relu", "fwd fp16 n150 c3 k40 i56 f7 s7")),
    ("a_tma_im2col", "kind", (
        "fwd bf16 n4 c72 k136 i29x31 f3x3 s2 p1", "fwd bf16 n2 c64 k264 i25x26 f5x5 s3 p2:4x1",
        "fwd bf16 n2 c256 k72 i14x14 f3x3 s2 p1 +bias+relu", "fwd bf16 n1 c64 k64 i2x3 f5x7 s2 p3",
        "fwd bf16 n1 c64 k72 i9x10x11 f3x3x3 s2 p1", "fwd bf16 n3 c72 k80 i201 f3 s2 p1",
        "fwd bf16 n2 c64 k64 i11x19 f3x3 s2x1 p1", "fwd bf16 n1 g2 c128 k128 i19x19 f3x3 s2 p1",
        "fwd bf16 n1 c128 k128 g16 i9x10 f3x3 s2 p1", "fwd bf16 n2 c192 k72 i11x9 f3x3 s2 p1 +residual",
        "fwd bf16 n2 c72 k136 i29x31 f1x1 s2", "fwd bf16 n2 c64 k64 i19x23 f1x1 s2x3 p1:0x2:1",
        "fwd bf16 n2 c64 k64 i27x29 f3x3 s2 p2 d2")),
    ("b_tma_im2col", "kind", (
        "bwd_weight bf16 n2 c72 k136 i29x31 f1x1 s2", "bwd_weight bf16 n2 c64 k64 i27x29 f3x3 s2 p2 d2")),
    ("a_tma_halo.*split_|w4x1x2", "form", (
        "fwd bf16 n4 c256 k136 i7x7 f3x3 p1", "bwd_data bf16 n4 c136 k256 i7x7 f3x3 p1",
        "fwd bf16 n2 c512 k64 i13x13 f3x3 p1", "bwd_data bf16 n2 c72 k512 i13x13 f3x3 p1")),
    ("_tma_fold", "form", (
        "fwd bf16 n2 c64 k36 i13x13 f3x3 p1", "fwd bf16 n3 c16 k12 i9x2 f2x3 s2x1 p3x2 d2x1",
        "fwd bf16 n140 c8 k18 i8x6 f5x5 p2", "fwd bf16 n2 c64 k40 i50x50 f3x3 p1")),
    ("_tma_fold", "kind", (
        "fwd fp16 n1 c72 k40 i5x140 f3x3 p0:1x1:0", "fwd bf16 n1 c64 k44 i11x17 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax",
        "fwd fp16 n1 c192 k20 i20x9 f7x7 p3", "fwd bf16 n2 c64 k36 i70 f3 p1", "fwd bf16 n1 c64 k36 i4x5x6 f3x3x3 p1")),
    ("_sm90a_tma.*stream_", "form", (
        "fwd bf16 n2 c448 k136 i7x9 f3x3 p1", "fwd bf16 n1 c264 k136 i95x97 f1x1", "fwd bf16 n4 c512 k256 i33x33 f3x3 p1",
        "bwd_data bf16 n2 c136 k448 i7x9 f3x3 p1", "bwd_data bf16 n2 c200 k136 i9x10 f3x3 p1")),
    ("_sm90a_tma.*stream_", "kind", (
        "fwd bf16 n2 c448 k136 i7x9 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax", "fwd bf16 n3 c72 k40 i67 f5 p2 +bias",
        "fwd tf32 n1 c100 k36 i5x6 f3x3 p1 +residual", "fwd e4m3>bf16 n1 c272 k40 i5x6 f3x3 p1",
        "bwd_data bf16 n1 c40 k64 i3x5x6 f3x3x3 p1", "bwd_data tf32 n1 c36 k68 i9x7 f3x3 p1 +alpha=2",
        "bwd_weight fp16 n3 c144 k144 g2 i17x15 f3x3 s2 p1 +residual+amax", "bwd_weight bf16 n5 c72 k136 i31x29 f1x1 +alpha=2")),
    ("_sm90a_tma", "kind", (
        "bwd_data bf16 n2 c512 k72 i14x14 f1x1 s2", "bwd_data bf16 n2 c72 k200 i27x29 f3x3 s2 p1",
        "bwd_data bf16 n2 c72 k136 i21x21 f3x3 s2 p1 +residual",
        "fwd bf16 n1 c64 k72 i33x33 f3x3 p12 d12", "bwd_data bf16 n1 c64 k72 i33x33 f3x3 p12 d12")),
)

# What of a name is size and not form: instruction, stages, swizzles, vectors, blocks, epilogue steps; of some kinds the
# filter, too.
TABLE = Path(__file__).resolve().parents[2] / "src/problem/activations.h"
ACTIVATIONS = {word for name in re.findall(r'\{Activation::k\w+, "(\w+)"', TABLE.read_text()) for word in name.split("_")}
SIZES = re.compile(r"t\d+x\d+x\d+|i\d+x\d+x\d+|st\d+|wg\d+|s[abc]\d+|bs\d+|pers|v[abcio]\d+|gc\d+|bc\d+|mb\d+|lw\d+|om\d+|on\d+|kg\d+|block\d+|[tu][hw]\d+"
                   r"|scale|bias|amax|stride\d+|pad\d+|mc[ab]"
                   r"|filter\d+x\d+(?:x\d+)?|" + "|".join(sorted(ACTIVATIONS - {"none"})))
FILTER = re.compile(r"[fsdp][hw]\d+|pf\d+")


LIST = Path(__file__).resolve().parents[2] / "src/config/kinds.h"
KINDS = dict(re.findall(r"KERNEL\(\w+, (\w+), k(Gemm|Direct)\)", LIST.read_text()))


def form_of(kernel):
    """(kind, and of portable kernels the pipeline; the rest of its form). New tags count as form until they are named among
    the sizes; a name whose kind is not in the list is an error."""
    tail = re.sub(r"^.*?_(?:sm\d+a?|gfx[0-9a-z]+)_", "", kernel)
    kind = max((name for name in KINDS if f"{tail}_".startswith(f"{name}_")), key=len, default="")
    if not kind:
        raise ValueError(f"{kernel} is of no kind of src/config/kinds.h")
    rest = tail.removeprefix(kind).removeprefix("_")
    sized = KINDS[kind] == "Direct" or kind == "taps"  # its name holds the filter's size
    if kind == "portable":
        pipeline, rest = re.fullmatch(r"(\w+?)_(t\d+x\d+x\d+.*)", rest).groups()
        kind = f"portable_{pipeline}"
    tags = rest.split("_")
    copied = "res" in tags and "c_tma_store" in rest  # a residual is form where TMA brings it
    keep = []
    for tag in tags:
        warps = re.fullmatch(r"w(\d+)x(\d+)x(\d+)", tag)
        if warps:
            _, n, k = map(int, warps.groups())
            if kind == "portable_wavelet" or (kind.startswith("tma") and (n > 1 or k > 1) and "swap" not in tags):
                keep.append(tag)
        elif tag == "res":
            keep += ["res"] * copied
        elif re.fullmatch(r"(gt|img)\d+", tag):
            keep.append(tag.rstrip("0123456789"))
        elif tag and not SIZES.fullmatch(tag) and not (sized and FILTER.fullmatch(tag)):
            keep.append(tag)
    return kind, "_".join(keep)


def accepting(args):
    """(problem -> kernels that accept it, the plan's pick first; FURTHER in the program's words)."""
    found = {}

    def ask(words):
        command = [args.binary, "explain", *words, "--target", args.target, "--nondeterministic", "--json"]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)

    for suite in SUITES:
        for target in ask([suite])["targets"]:
            for row in target["problems"]:
                found[row["problem"]] = [item["name"] for item in row["accepting"]]
    further = []
    for pattern, by, problems in FURTHER:
        documents = [ask([problem, "--all"]) for problem in problems]
        further.append((pattern, by, [document["problem"] for document in documents]))  # as the program writes them
        for document in documents:
            found[document["problem"]] = [item["name"] for item in document["candidates"] if item["accepts"]]
    return {problem: [kernel for kernel in kernels if args.only in kernel] for problem, kernels in found.items()}, further


def cover(offers, taken):
    """Greedy: kernels that together have every element that any has, beside those taken before."""
    left = set().union(*offers.values()) if offers else set()
    for kernel in taken:
        left -= offers.get(kernel, set())
    heap = [(-len(elements & left), kernel) for kernel, elements in offers.items()]
    heapq.heapify(heap)
    chosen = []
    while left:
        gain, kernel = heapq.heappop(heap)
        now = len(offers[kernel] & left)
        if -gain != now:  # others have taken some of it since
            heapq.heappush(heap, (-now, kernel))
            continue
        chosen.append(kernel)
        left -= offers[kernel]
    return chosen


def offers_of(table, further):
    """Kernel -> what it would add: a form to its direction, a kind to a problem, what FURTHER asks for."""
    offers, asked = {}, {}
    for pattern, by, problems in further:
        for problem in problems:
            asked.setdefault(problem, []).append((re.compile(pattern), by))
    for problem, kernels in table.items():
        direction = problem.split()[0]
        for kernel in kernels:
            kind, form = form_of(kernel)
            adds = offers.setdefault(kernel, set())
            adds.add((direction, kind, form))
            if problem not in asked:
                adds.add((problem, kind))
            for number, (pattern, by) in enumerate(asked.get(problem, [])):
                if pattern.search(kernel):
                    adds.add((problem, number, kind, form if by == "form" else ""))
    return offers


def choose(table, most, picks, further):
    """(kernel -> problems that it accepts, kernels that --most left out: those that add least)."""
    taken = sorted({kernels[0] for kernels in table.values() if kernels}) if picks else []
    taken += cover(offers_of(table, further), taken)
    chosen, left_out = set(taken[:most]), taken[most:]
    runs = {kernel: [] for kernel in sorted(chosen)}
    for problem, kernels in table.items():
        for kernel in kernels:
            if kernel in chosen:
                runs[kernel].append(problem)
    return runs, left_out


def unmet(table, further):
    """What FURTHER asks for and no kernel does: the list may be older or newer than the kernels."""
    return [(pattern, problem) for pattern, _, problems in further for problem in problems
            if not any(re.search(pattern, kernel) for kernel in table.get(problem, []))]


def prepare(args):
    start = time.monotonic()
    table, further = accepting(args)
    gaps = [] if args.only else unmet(table, further)
    for pattern, problem in gaps:
        print(f"NOT MET: no kernel that matches {pattern} accepts '{problem}'")
    runs, left_out = choose(table, args.most, args.picks, further)
    if not runs:
        print("no kernel was chosen")
        return 3
    problems = sorted(table)
    number = {problem: i for i, problem in enumerate(problems)}
    document = {"command": args.command, "target": args.target, "suites": SUITES, "problems": problems, "not_met": gaps,
                "kernels": {kernel: [number[p] for p in accepted] for kernel, accepted in runs.items()}}
    args.choice.parent.mkdir(parents=True, exist_ok=True)
    args.choice.write_text(json.dumps(document) + "\n")
    forms = {(kernel.split("_sm90a_")[0].split("_")[1], *form_of(kernel)) for kernel in runs}
    print(f"{len(runs)} kernels of {len({kind for _, kind, _ in forms})} kinds and {len(forms)} forms, {len(problems)} problems, "
          f"{sum(map(len, runs.values()))} runs; {len(left_out)} kernels left out by --most {args.most}")
    if not args.pack:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "names.txt"
        names.write_text("\n".join(runs) + "\n")
        plain = args.pack.with_suffix("") if args.pack.suffix == ".xz" else args.pack
        code = subprocess.run([args.binary, "pack", "build", "--target", args.target, "--problems", *problems, "--names",
                               str(names), "--allow-spills", "--no-progress", "-o", str(plain)]).returncode
    if code not in (0, 4):  # 4: some did not compile and are named; their runs will be failures
        return code
    if args.pack.suffix == ".xz":
        with open(plain, "rb") as source, lzma.open(args.pack, "wb", preset=6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        plain.unlink()
    print(f"{args.pack}: {args.pack.stat().st_size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s in all")
    return code
