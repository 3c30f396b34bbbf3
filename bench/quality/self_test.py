# SPDX-License-Identifier: Apache-2.0
"""Checks of these scripts that need neither a GPU nor the library."""
import lzma
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from quality.data import add_row, best_of, load, nothing
from quality.judge import control, geomean, judge_layer, parts_of, report, summary
from quality.layers import DIRECTIONS, SHARES, family_of, random_layers
from quality.measure import measure
from quality.prepare import unpacked
from result_file import write


def layers_test():
    assert abs(geomean([1, 4]) - 2) < 1e-12
    layers = random_layers(216, 1)
    assert len(set(layers)) == 216 and layers == random_layers(216, 1) and layers != random_layers(216, 2)
    assert layers[:50] == random_layers(50, 1)
    assert Counter(text.split()[0] for text in layers) == {direction: 72 for direction in DIRECTIONS}
    assert Counter(map(family_of, layers)) == {family: 3 * share for family, share in SHARES.items()}
    assert family_of("bwd_data bf16 n4 c64 k64 g64 i28x28 f3x3 p1") == "depthwise"
    assert family_of("fwd bf16 n1 c64 k64 i8x28x28 f3x3x3 p1") == "3d" and family_of("fwd bf16 c64 k64 i9x9") == "1x1"


def data_test():
    data = nothing()
    kernels = [{"kernel": name, "outcome": outcome, "median_us": us} for name, outcome, us in (
        ("a", "timed", 10.0), ("b", "slower", 30.0), ("c", "wrong", None), ("d", "timed", 100.0), ("e", "timed", 10.1))]
    row = {"problem": "fwd bf16 c64 k64 i9x9", "kernels": kernels, "candidates": 9, "tried": 5, "wrong": 1, "failed": 0,
           "kernel": "e", "complete": True}
    assert add_row(data, row, False)
    layer = data["layers"][row["problem"]]
    assert layer["kept"] == [[0, 10.0], [1, 30.0], [2, 10.1]] and data["kernels"] == ["a", "b", "e"]
    assert best_of(data, layer)[:2] == ("e", 10.1), "the choice of the timings side by side counts, not the least number"
    assert best_of(data, layer, {"a", "b"})[:2] == ("a", 10.0)
    assert not add_row(data, {"problem": "p", "known": True}, False) and "p" not in data["layers"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.json"
        write(path, data)
        assert load(path) == data
        (Path(folder) / "k.wtpack.xz").write_bytes(lzma.compress(b"pack"))
        assert unpacked(Path(folder) / "k.wtpack.xz", folder).read_bytes() == b"pack"
    entries = {name: {"name": name, "predicted_us": us} for name, us in (("b", 9.0), ("e", 12.0), ("new", 20.0))}
    judged = judge_layer(data, row["problem"], layer, entries, False)
    assert judged["pick"] == "b" and abs(judged["quality"] - 10.1 / 30) < 1e-9 and judged["best_place"] == 1
    entries["new"]["predicted_us"] = 1.0
    assert not judge_layer(data, row["problem"], layer, entries, False)["known"], "a pick that was never timed"
    assert judge_layer(data, row["problem"], layer, entries, True) is None, "too few kernels were timed"
    assert summary([judged])["below_0.75"] == 1 and set(parts_of([judged])) == {"all", "fwd", "1x1"}
    # Once every kernel is timed, what the search had found before is compared with the new best.
    row["kernels"] = kernels + [{"kernel": "f", "outcome": "timed", "median_us": 8.08}]
    add_row(data, dict(row, kernel="f"), True)
    assert abs(control(data)[0] - 0.8) < 1e-9


STUB = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
layers = arguments[1:arguments.index("--device")]
every = "--exhaustive" in arguments
assert "--precompiled" in arguments and os.path.exists(os.environ["WAVETILE_PACK"]) and "WAVETILE_TUNING_DB" in os.environ
rows = [dict(problem=text, candidates=9, tried=3 if every else 2, complete=True, kernel="b" if every else "a", kernels=[
    dict(kernel=k, outcome="timed", median_us=us) for k, us in (("a", 10.0), ("b", 8.0))[: 2 if every else 1]])
    for text in layers]
with open(arguments[arguments.index("--json") + 1], "w") as file:
    json.dump(dict(program="self-test", device=dict(name="none"), rows=rows), file)
"""


def run_unless(layer):
    """subprocess.run as if a kernel of this layer hung."""
    def run(command, **options):
        if layer in command:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return subprocess.run(command, **options)
    return run


def measure_test():
    """With a program that answers as `wavetile tune --json` does: all layers, then every kernel on some, then no more."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        wanted = random_layers(9, 1)
        program = folder / "wavetile"
        program.write_text(STUB.format(python=sys.executable))
        program.chmod(0o755)
        (folder / "k.wtpack.xz").write_bytes(lzma.compress(b"pack"))
        args = Namespace(binary=str(program), pack=folder / "k.wtpack.xz", data=folder / "data.json", layers=9, seed=1,
                         seconds=60, chunk=4, control=3, device="gpu", exhaustive=False, quick=False, command="measure")
        with redirect_stdout(StringIO()) as said, redirect_stderr(StringIO()):
            assert measure(args, run_unless(wanted[4])) == 0
        data = load(args.data)
        assert data["skipped"] == [wanted[4]], "the one that hangs, and not its neighbours"
        assert set(data["layers"]) == set(wanted) - {wanted[4]}
        assert [text for text in wanted if data["layers"].get(text, {}).get("exhaustive")] == wanted[::3]
        assert control(data) == [0.8] * 3 and "8 of 9 layers" in said.getvalue()
        with redirect_stdout(StringIO()) as said:
            measure(args)
        assert "8 of 9 layers are there; " in said.getvalue() and "3 of 3 layers are there with every" in said.getvalue()


EXPLAIN = """#!{python}
import json
print(json.dumps(dict(candidates=[dict(name=name, accepts=True, predicted_us=us) for name, us in {predicted}])))
"""


def report_test():
    """The exit code falls with the picks: good ones, a mean that is too low, one pick that is too slow."""
    layer = {"best_us": 1.0, "kept": [[0, 1.0], [1, 1.25], [2, 2.0], [3, 3.0]], "candidates": 4, "tried": 4}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data = dict(nothing(), kernels=list("abcd"), layers={f"fwd bf16 c64 k64 i{i}x9": layer for i in range(3)})
        write(folder / "data.json", data)
        program = folder / "wavetile"
        for first, bounds, code in (("a", (0.93, 0.75), 0), ("b", (0.93, 0.75), 1), ("b", (0.7, 0.75), 0),
                                    ("c", (0.4, 0.75), 1)):
            program.write_text(EXPLAIN.format(python=sys.executable,
                                              predicted=[(name, 0.5 if name == first else 9.0) for name in "abcd"]))
            program.chmod(0o755)
            args = Namespace(binary=str(program), data=folder / "data.json", target="sm_90a", measured_only=True, worst=1,
                             markdown=False, json=str(folder / "report.json"), command="report", min_geomean=bounds[0],
                             min_worst=bounds[1])
            with redirect_stdout(StringIO()) as said:
                assert report(args) == code, (first, bounds, said.getvalue())
            assert ("NOT REACHED" in said.getvalue()) == (code == 1), said.getvalue()


def self_test():
    layers_test()
    data_test()
    measure_test()
    report_test()
    print("self-test passed")
    return 0
