# SPDX-License-Identifier: Apache-2.0
"""Tables for people, losses first, and the JSON file."""
import datetime
import math
import os
import statistics
import sys
import time

from comparison.limit import Limits, copy_us
from result_file import write


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def complete(row, ceilings, limits=None):
    """Derived columns; the limit and the shares of it need what the whole run saw."""
    if "wavetile" not in row:
        return row
    us = row["wavetile"]["us"]
    floor_us = max(row["gflop"] / ceilings["bf16_tflops"] * 1e3, row["least_bytes"] / ceilings["copy_gbs"] / 1e3)
    row["tflops"] = round(row["gflop"] / us * 1e3, 1)
    row["roofline"] = round(floor_us / us, 3)
    if ceilings.get("copies"):
        row["copy_us"] = round(copy_us(row["least_bytes"], ceilings["copies"]), 2)
    if limits and limits.copies and not row.get("error"):
        limit = limits.least_us(row)
        row["limit_us"], row["share"] = round(limit, 2), round(limit / us, 3)
        if row.get("cudnn_tuned"):
            row["cudnn_share"] = round(limit / row["cudnn_tuned"]["us"], 3)
    for side in ("cudnn_tuned", "cudnn_heuristic"):
        if row.get(side):
            row[f"speedup_{side}"] = float(f"{row[side]['us'] / us:.4g}")
    if row.get("cudnn_tuned"):
        row["cudnn_roofline"] = round(floor_us / row["cudnn_tuned"]["us"], 3)
    return row


def geomean_or_none(values):
    values = list(values)
    return round(geomean(values), 3) if values else None


def summary_of(rows):
    ranked = [row for row in rows if "speedup_cudnn_tuned" in row]
    speedups = [row["speedup_cudnn_tuned"] for row in ranked]
    worst = min(ranked, key=lambda row: row["speedup_cudnn_tuned"], default=None)
    return {"rows": len(rows), "ranked": len(ranked), "failed": sum(bool(row["error"]) for row in rows),
            "geomean": geomean_or_none(speedups),
            "geomean_heuristic": geomean_or_none(row["speedup_cudnn_heuristic"] for row in ranked
                                                 if "speedup_cudnn_heuristic" in row),
            "losses": sum(s < 1 for s in speedups), "below_0.95": sum(s < 0.95 for s in speedups),
            "share": geomean_or_none(row["share"] for row in rows if "share" in row), "roofline": round(statistics.median(
                row["roofline"] for row in ranked), 3) if ranked else None,
            "worst": {"name": worst["name"], "speedup": worst["speedup_cudnn_tuned"]} if worst else None}


def time_text(timing):
    return "-" if not timing else f"{timing['us']:.1f} ±{(timing['high_us'] - timing['low_us']) / 2:.1f}"


def print_group(suite, direction, rows):
    print(f"\n{suite} {direction}")
    header = ("layer", "us", "cudnn us", "heur. us", "gemm us", "TFLOP/s", "limit us", "share", "speed-up", "host us",
              "workspace", "kernel")
    lines = [header]
    for row in sorted(rows, key=lambda r: (not r["error"], r.get("speedup_cudnn_tuned", math.inf))):
        if row["error"]:
            lines.append((row["name"], "FAILED", time_text(row.get("cudnn_tuned")), *[""] * 8,
                          row["error"].splitlines()[0][:160]))
            continue
        speedup = row.get("speedup_cudnn_tuned")
        lines.append((row["name"], time_text(row["wavetile"]), time_text(row.get("cudnn_tuned")),
                      time_text(row.get("cudnn_heuristic")), time_text(row.get("gemm")), f"{row['tflops']:.1f}",
                      f"{row['limit_us']:.1f}" if "share" in row else "-", f"{row['share']:.2f}" if "share" in row else "-",
                      f"{speedup:.2f}" if speedup else "-", f"{row['execute_host_us']:.1f}",
                      f"{row['workspace_bytes'] / 2**20:.1f} MiB" if row["workspace_bytes"] else "0",
                      row["kernel"]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [line[i].rjust(widths[i]) for i in range(1, len(header) - 1)] + [line[-1]]
        print("  ".join(cells).rstrip())


def strict_costs(rows):
    """Times of the strict choices over those of the kernels for finite inputs beside them."""
    return [row["strict_nonfinite"]["us"] / row["wavetile"]["us"] for row in rows if "us" in row.get("strict_nonfinite", {})]


def tuning_of(rows, args):
    """Which tuning the plans had, and how many of them took a tuned kernel."""
    database = os.environ.get("WAVETILE_TUNING_DB")
    return {"mode": args.tuning, "database": os.path.basename(database) if database else "the user's own",
            "tuned_rows": sum(row.get("tuned_us", 0) > 0 for row in rows),
            "rows": sum("kernel" in row for row in rows)}


def report(lines, args):
    ceilings = next((line["ceilings"] for line in lines if "ceilings" in line), None)
    machine = next((line["machine"] for line in reversed(lines) if "machine" in line), {})
    rows = [line["row"] for line in lines if "key" in line]
    if ceilings:
        limits = Limits(rows, ceilings, args.limit_floor)
        ceilings["product_tflops"] = {name: round(rate, 1) for name, rate in sorted(limits.tflops.items())}
        rows = [complete(row, ceilings, limits) for row in rows]
    groups = {}
    for row in rows:
        groups.setdefault((row["suite"], row["direction"]), []).append(row)
    for (suite, direction), members in groups.items():
        print_group(suite, direction, members)
    summaries = {f"{suite} {direction}": summary_of(members) for (suite, direction), members in groups.items()}
    summaries["all"] = summary_of(rows)
    library = machine.get("library", "cuDNN")
    print(f"\n{machine.get('gpu')}, driver {machine.get('driver')}, torch {machine.get('torch')}, "
          f"{library} {machine.get('cudnn')}, wavetile {machine.get('wavetile')}")
    tuning = tuning_of(rows, args)
    print(f"tuning {tuning['mode']}: {tuning['tuned_rows']} of {tuning['rows']} plans took a tuned kernel")
    if ceilings:
        print(f"ceilings: copy {ceilings['copy_gbs']:.0f} GB/s, bf16 matrix product {ceilings['bf16_tflops']:.0f} "
              "TFLOP/s; limits take the best that was seen, " + ", ".join(
                  f"{name} {rate:.0f}" for name, rate in ceilings["product_tflops"].items()) + " TFLOP/s")
    print(f"suite and direction: geometric mean of the speed-up over autotuned {library} (over its heuristics), worst row, "
          "share of the limit (geometric mean)")
    for name, s in summaries.items():
        worst = f"{s['worst']['speedup']:.2f} {s['worst']['name']}" if s["worst"] else "-"
        print(f"  {name:28} {s['geomean'] or math.nan:6.3f} ({s['geomean_heuristic'] or math.nan:.3f})  worst {worst}, "
              f"{s['losses']} of {s['ranked']} slower ({s['below_0.95']} below 0.95), share {s['share'] or math.nan:.2f}, "
              f"{s['failed']} failed")
    host = [row["execute_host_us"] for row in rows if "execute_host_us" in row]
    if host:
        empty = statistics.median(row["empty_call_host_us"] for row in rows if "empty_call_host_us" in row)
        print(f"execute on the host: median {statistics.median(host):.2f} us, most {max(host):.2f} us, of which an "
              f"empty call through ctypes is {empty:.2f} us")
    if strict := strict_costs(rows):
        print(f"strict non-finite behaviour takes {geomean(strict):.2f} times as long on the {len(strict)} rows where it has "
              "another kernel")
    for row in rows:
        if "WRONG RESULT" in row["error"]:
            print(f"\n!!! {row['suite']} {row['name']} {row['direction']} ({row.get('kernel')}): {row['error']}\n"
                  f"    {row['problem']}", file=sys.stderr)
    if args.json:
        write(args.json, {
            "schema": 1, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": args.command, "tuning": tuning_of(rows, args), "seconds": round(time.time() - args.started, 1),
            "layout": args.layout or "each problem's own", "limit_floor_us": args.limit_floor, "machine": machine,
            "ceilings": ceilings, "summaries": summaries, "rows": rows})
    return 1 if any(row["error"] for row in rows) or not rows else 0
