#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at `wavetile report` in a real browser: the page draws itself without a network, its console stays free of
errors, and the screenshot is neither empty nor cut off.

    report_in_browser.py --binary build/dev/bin/wavetile --browser chromium --data bench/results/compare_h200.json

--keep FOLDER leaves the page and the screenshots there to be looked at by a person.
"""
import argparse
import json
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path


def start(command):
    """What the browser printed. One that dies before it drew anything is started once more: that is its own fault."""
    for last in (False, True):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if done.returncode == 0 or last:
                return done
            print(f"the browser left with {done.returncode}:\n{done.stderr[-2000:]}")
        except subprocess.TimeoutExpired:
            if last:
                raise
            print("the browser hangs")
    return None


def browse(browser, page, screenshot, width, height):
    """The page's DOM after its scripts ran, and what the console said."""
    base = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-extensions",
            # A profile of its own and no shared memory: nothing that another browser or a small /dev/shm could break.
            f"--user-data-dir={page.parent / 'profile'}", "--disable-dev-shm-usage",
            f"--window-size={width},{height}", "--virtual-time-budget=10000", "--enable-logging=stderr",
            # A page that needs the network must fail here.
            "--host-resolver-rules=MAP * ~NOTFOUND"]
    dom = start(base + ["--dump-dom", page.as_uri()])
    shot = start(base + [f"--screenshot={screenshot}", page.as_uri()])
    console = [line for line in (dom.stderr + shot.stderr).splitlines() if ":CONSOLE" in line]
    return dom.stdout, console


def pixels(path):
    """Rows of RGB bytes of an 8-bit PNG without interlacing, as the browser writes it."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    at, stream = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6) and interlace == 0, f"unexpected PNG: {depth} {colour} {interlace}"
        elif kind == b"IDAT":
            stream += body
        at += 12 + length
    step = 3 if colour == 2 else 4
    raw, stride, rows = zlib.decompress(stream), width * step, []
    before = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        if kind == 1:
            for i in range(step, stride):
                line[i] = (line[i] + line[i - step]) & 255
        elif kind == 2:
            for i in range(stride):
                line[i] = (line[i] + before[i]) & 255
        elif kind == 3:
            for i in range(stride):
                left = line[i - step] if i >= step else 0
                line[i] = (line[i] + (left + before[i]) // 2) & 255
        elif kind == 4:
            for i in range(stride):
                a = line[i - step] if i >= step else 0
                b, c = before[i], before[i - step] if i >= step else 0
                pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                line[i] = (line[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        rows.append(line)
        before = line
    return width, height, step, rows


def check_screenshot(path):
    """Something is drawn in every fifth of the picture, and it is not all of one colour."""
    width, height, step, rows = pixels(path)
    background = bytes(rows[2][:3])
    for part in range(5):
        drawn, colours = 0, set()
        for y in range(part * height // 5, (part + 1) * height // 5, 3):
            line = rows[y]
            for x in range(0, width * step, 3 * step):
                colour = bytes(line[x:x + 3])
                if colour != background:
                    drawn += 1
                    colours.add(colour)
        assert drawn > 500, f"{path}: part {part} of the picture is nearly empty ({drawn} points)"
        assert len(colours) > 8, f"{path}: part {part} has only {len(colours)} colours"


def fact(dom, name):
    return float(re.search(rf'data-{name}="([-0-9.]+)"', dom).group(1))


def check_facts(dom, width, rows, files):
    """What the page says of itself, and what it must hold."""
    assert 'data-ready="yes"' in dom, "the page did not finish drawing itself"
    # A browser may have a least width of its own.
    assert fact(dom, "width") <= max(width, 500), f"drawn {fact(dom, 'width')} wide"
    assert fact(dom, "overflow") <= 0, f"{fact(dom, 'overflow')} pixels lie beyond the page's width of {width}"
    assert fact(dom, "letters") >= 8, f"letters of {fact(dom, 'letters')} pixels"
    good = [row for row in rows if not row.get("error") and row.get("cudnn_tuned") and row.get("wavetile")]
    bars = len(re.findall(r'<rect [^>]*class="[a-z_]+ bar"', dom))
    assert bars == len(good), f"{bars} bars for {len(good)} compared rows"
    worst = min(good, key=lambda row: row["cudnn_tuned"]["us"] / row["wavetile"]["us"])
    first = re.search(r'<rect [^>]*class="[a-z_]+ bar"[^>]*><title>([^<]*)', dom).group(1)
    assert worst["problem"] in first, f"the first bar is {first}, the worst loss {worst['problem']}"
    if len(good) > 55:
        assert f"{len(good) - 50} rows between" in dom, "the middle of the bars is not folded"
    # No row stands above the roof.
    data = json.loads(re.search(r'id="data">(.*?)</script>', dom, re.S).group(1).replace("<\\/", "</"))
    shown = data["runs"][-1]
    roof = shown["ceilings"]["teraflops"]
    above = [row["name"] for row in shown["rows"] if row["us"] > 0 and not row["error"]
             and row["work"] / row["us"] * 1e-6 > roof[row["type"]] * 1.0001]
    assert not above, f"{len(above)} rows stand above the roof, the first {above[0]}"
    over = [row["name"] for row in shown["rows"] if row.get("share", 0) > 1.0001]
    assert not over, f"{len(over)} rows have more than all of the limit, the first {over[0]}"
    for what, pattern in {"the roofline": r'class="roof"', "the histogram": r'class="fwd bin"', "a sorted column": "aria-sort=",
                          "totals": "all suites", "an anchor": r'id="row-', "the CSV": r'href="data:text/csv',
                          "shapes beside colours": r'class="bwd_weight mark"'}.items():
        assert re.search(pattern, dom), f"{what} is missing"
    assert dom.count("<tr") > len(rows), "the tables are not complete"
    compare = re.search(r"\d+ rows are in both runs: \d+ faster", dom)
    assert (compare is not None) == (len(files) == 2), "the comparison of two runs is missing, or there where there is one run"
    if compare:
        assert compare.start() < dom.index("Speed-up over cuDNN"), "the comparison of two runs does not stand first"
    return bars


def check(args, folder, files, name, width):
    page, screenshot = folder / f"{name}.html", folder / f"{name}.png"
    subprocess.run([args.binary, "report", *files, "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
    text = page.read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', text), "the page refers to something outside itself"
    dom, console = browse(args.browser, page, screenshot, width, 2600)
    errors = [line for line in console if '"' in line]
    assert not errors, "the console is not empty:\n" + "\n".join(errors)
    rows = json.loads(Path(files[-1]).read_text())["rows"]
    bars = check_facts(dom, width, rows, files)
    check_screenshot(screenshot)
    # The filter is kept in the address, and is for the whole page.
    filtered = start([args.browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
                      f"--user-data-dir={page.parent / 'profile'}", "--disable-dev-shm-usage", "--dump-dom",
                      page.as_uri() + "#?direction=fwd&only=losses"]).stdout
    fewer = len(re.findall(r'<rect [^>]*class="[a-z_]+ bar"', filtered))
    assert fewer < bars and 'class="bwd_weight bar"' not in filtered, f"{fewer} bars of {bars} with a filter in the address"
    print(f"{name}: {len(rows)} rows, {bars} bars, {width} wide, console empty, screenshot complete")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--browser", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        document = json.loads(Path(args.data).read_text())
        for index, row in enumerate(document["rows"]):  # an older run, a little different everywhere
            for key in ("us", "low_us", "high_us"):
                if row.get("wavetile"):
                    row["wavetile"][key] *= 0.8 + 0.01 * (index % 50)
        older = folder / "older.json"
        older.write_text(json.dumps(document))
        check(args, folder, [args.data], "one", 1400)
        check(args, folder, [args.data], "narrow", 390)
        check(args, folder, [str(older), args.data], "two", 1400)
    return 0


if __name__ == "__main__":
    sys.exit(main())
