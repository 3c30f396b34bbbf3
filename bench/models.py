# SPDX-License-Identifier: Apache-2.0
"""Whole models in PyTorch: training steps and inference, stock and served by Wavetile, in one process and in turns.

    python bench/models.py --model resnet50 --json bench/results/models_h200.json
    python bench/models.py --all --limit 480 --json bench/results/models_h200.json
    python bench/models.py --table bench/results/models_h200.json

One model per command, under eight minutes with everything that compiles; or several (bench/all_models.py), which compile
beside each other and are timed one at a time. Each side is what a user would run: stock with
cudnn.benchmark, and the same model under wavetile.torch; each as it is and through torch.compile; on a GPU every step is
replayed as one CUDA graph. The two sides alternate, block by block, so that clocks and temperature are the same for both.
Training is bf16 autocast over fp32 weights with SGD; inference is bf16 with batch norm folded on both sides, and for
Wavetile also fused. What was measured replaces what the file had of that model and part; --resume leaves out the parts that
the file has. --small runs everything on the CPU, as a check.
"""
import argparse
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import networks  # noqa: E402
import result_file  # noqa: E402
from model_bench import PARTS, TIMED, Bench  # noqa: E402


def gains(facts):
    """Speed-ups over torch.compile with stock kernels: of training, and of the better kind of inference."""
    def ms(part, side):
        return facts.get(part, {}).get(side, {}).get("ms")

    def ratio(base, *others):
        others = [t for t in others if t]
        return base / min(others) if base and others else None
    return {"train": ratio(ms("train", "stock"), ms("train", "wavetile")),
            "train_compiled": ratio(ms("train_compiled", "stock"), ms("train_compiled", "wavetile")),
            "infer": ratio(ms("infer", "stock"), ms("infer", "wavetile"), ms("infer", "fused")),
            "infer_compiled": ratio(ms("infer_compiled", "stock"), ms("infer_compiled", "wavetile"),
                                    ms("infer_compiled", "fused"), ms("infer", "fused"))}


def table(path):
    rows = json.loads(pathlib.Path(path).read_text())["models"]
    print("| model | train, ms stock -> ours | gain | compiled | gain | inference | gain | compiled | gain | convolutions, ms stock -> ours | fused over predicted |")
    print("|---|---|---:|---|---:|---|---:|---|---:|---|---:|")
    columns = ("train", "train_compiled", "infer", "infer_compiled")
    for row in rows:
        cells = []
        for part in columns:
            times = {side: facts.get("ms") for side, facts in row.get(part, {}).items()}
            ours = [t for side, t in times.items() if side != "stock" and t]
            gain = gains(row)[part]
            cells.append(f"{times['stock']:.2f} -> {min(ours):.2f}" if ours and times.get("stock") else "–")
            cells.append(f"{gain:.2f}" if gain else "–")
        layers = row.get("layers", {})
        sides = [layers[f"train {side}"]["convolutions_ms"] for side in ("stock", "wavetile") if f"train {side}" in layers]
        cells.append(" -> ".join(f"{ms:.2f}" for ms in sides) or "–")
        cells.append(f"{layers['fused_over_predicted']:.2f}" if layers.get("fused_over_predicted") else "–")
        print(f"| {row['model']} | {' | '.join(cells)} |")
    for part in columns:
        known = [g for row in rows if (g := gains(row)[part])]
        if known:
            mean = math.exp(sum(map(math.log, known)) / len(known))
            print(f"{part}: geometric mean {mean:.3f}, worst {min(known):.3f}, {len(known)} models")


def save(path, facts):
    """Replaces the parts of the model's row, written beside and renamed, so that a stopped run leaves the old file."""
    if not path:
        return
    path = pathlib.Path(path)
    content = json.loads(path.read_text()) if path.exists() else {"schema": 1, "models": []}
    known = [row for row in content["models"] if row["model"] == facts["model"] and row["device"] == facts["device"]]
    row = {**(known[0] if known else {}), **facts}
    row["gains"] = gains(row)
    content["models"] = [other for other in content["models"] if other["model"] != facts["model"]] + [row]
    order = {name: i for i, name in enumerate(networks.NAMES)}
    content["models"].sort(key=lambda row: order.get(row["model"], len(order)))
    result_file.write(path, content)


def known_parts(path, device):
    """The parts that a file has of each model, measured without an error."""
    if not path or not pathlib.Path(path).exists():
        return {}
    rows = json.loads(pathlib.Path(path).read_text())["models"]
    return {row["model"]: {p for p in PARTS if p in row and not (p in TIMED and any("error" in s for s in row[p].values()))}
            for row in rows if row["device"] == device}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=networks.NAMES)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, for each side of each part")
    parser.add_argument("--tune", type=float, default=0.0, help="seconds of tuning first, with --model")
    parser.add_argument("--json", help="file to merge the results into")
    parser.add_argument("--resume", action="store_true", help="measure only what --json does not have")
    parser.add_argument("--all", nargs="*", metavar="MODEL", help="several models, or all of them")
    parser.add_argument("--limit", type=float, default=480.0, help="seconds that --all may take")
    parser.add_argument("--jobs", type=int, default=10, help="models that --all compiles at a time")
    parser.add_argument("--logs", help="folder for what the processes of --all print")
    parser.add_argument("--small", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--table", help="show a file as a table, and stop")
    arguments = parser.parse_args()
    wrong = [p for p in arguments.parts.split(",") if p not in PARTS] + [n for n in arguments.all or ()
                                                                         if n not in networks.NAMES]
    if wrong:
        parser.error(f"{wrong[0]} is none of {', '.join((*PARTS, *networks.NAMES))}")
    if arguments.table:
        table(arguments.table)
        return 0
    import all_models
    if arguments.all is not None:
        arguments.all = arguments.all or list(networks.NAMES)
        arguments.known = known_parts(arguments.json, device_name(arguments.small)) if arguments.resume else {}
        return all_models.run(arguments, save)
    if not arguments.model:
        parser.error("--model, --all or --table is needed")
    bench = Bench(arguments.model, arguments.small, arguments.seconds)
    if arguments.worker is not None:
        all_models.serve(arguments.worker, bench)
        return 0
    facts = {}
    for part in ([f"tune:{arguments.tune}"] if arguments.tune > 0 else []) + arguments.parts.split(","):
        facts = bench.do(part)
        if arguments.json:
            save(arguments.json, facts)
    print(json.dumps(gains(facts)))
    return 0


def device_name(small):
    import torch
    return torch.cuda.get_device_name() if torch.cuda.is_available() and not small else "CPU"


if __name__ == "__main__":
    sys.exit(main())
