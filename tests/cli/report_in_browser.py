#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at `wavetile report` in a real browser, on a wide screen and on a telephone's: the page draws itself without a
network, its console stays free of errors, nothing lies beyond the screen, letters can be read, a keyboard can sort, the
filter is kept in the address, and the screenshot is neither empty nor cut off.

    report_in_browser.py --binary build/dev/bin/wavetile --browser chromium --data bench/results/compare_h200.json
    report_in_browser.py --browser chromium --page report.html       a page that was made elsewhere

--keep FOLDER leaves the pages and the screenshots there to be looked at by a person.
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

from browser import Browser

WIDTHS = (1400, 390)

# Everything that a person would notice: what is wider than the screen, letters too small to read, controls too small to
# hit, texts of a drawing that lie on each other or outside of it. `wide` names the first element that is too wide.
LOOK = """(() => {
  const root = document.documentElement, width = root.clientWidth;
  const shown = [...document.querySelectorAll('body *')].filter(e => e.getClientRects().length);
  const inScroll = e => e.closest('.scroll, svg') !== null;
  const wide = shown.filter(e => !inScroll(e) && e.getBoundingClientRect().right > width + 0.5);
  const letters = shown.filter(e => e.closest('svg') === null && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .map(e => parseFloat(getComputedStyle(e).fontSize));
  const texts = [...document.querySelectorAll('main svg text')].filter(t => t.ownerSVGElement.clientWidth > 0 && t.textContent);
  const drawn = texts.map(t => parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.clientWidth / t.ownerSVGElement.viewBox.baseVal.width);
  const cut = texts.filter(t => { const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
    return a.left < b.left - 2 || a.right > b.right + 2; }).map(t => t.textContent);
  const touching = [];
  for (const svg of new Set(texts.map(t => t.ownerSVGElement))) {
    const boxes = texts.filter(t => t.ownerSVGElement === svg).map(t => [t.getBoundingClientRect(), t.textContent]);
    boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, two]) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5)
        touching.push(one + ' / ' + two);
    }));
  }
  // A number through which the line of its spread runs.
  const crossed = [...document.querySelectorAll('line.spread')].filter(line => {
    const a = line.getBoundingClientRect(), b = line.nextElementSibling.getBoundingClientRect();
    return b.width > 0 && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5; }).map(line => line.nextElementSibling.textContent);
  const controls = [...document.querySelectorAll('#bar input, #bar select')].filter(e => e.getClientRects().length).map(e => e.getBoundingClientRect());
  return {width, ready: document.body.dataset.ready, beyond: root.scrollWidth - width, wide: wide.slice(0, 3).map(e => e.tagName + '#' + e.id),
    letters: Math.min(99, ...letters), drawn: Math.min(99, ...drawn), cut: cut.slice(0, 3), touching: touching.slice(0, 3), crossed: crossed.slice(0, 3),
    controls: controls.length, lowest: Math.min(...controls.map(r => r.height)), outside: controls.filter(r => r.left < 0 || r.right > width).length,
    tables: [...document.querySelectorAll('main table')].filter(t => t.closest('.scroll') === null && t.offsetWidth > t.parentElement.clientWidth).length};
})()"""


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


def check_look(browser, page, screenshot, width):
    """Layout facts of any report at this width; the page stays open."""
    browser.open(page.as_uri(), width, 2600)
    look = browser.evaluate(LOOK)
    assert not browser.console, "the console is not empty:\n" + "\n".join(browser.console)
    assert look["ready"] == "yes", "the page did not finish drawing itself"
    assert look["width"] == width, f"drawn {look['width']} wide, not {width}"
    assert look["beyond"] <= 0 and not look["wide"], f"{look['wide']} lie beyond the page's width of {width}"
    assert look["letters"] >= 11, f"letters of {look['letters']} pixels at {width}"
    assert look["drawn"] >= 9, f"letters of {look['drawn']} pixels in a drawing at {width}"
    assert not look["cut"], f"texts of a drawing lie outside of it at {width}: {look['cut']}"
    assert not look["touching"], f"texts of a drawing lie on each other at {width}: {look['touching']}"
    assert not look["crossed"], f"the spread runs through {look['crossed']} at {width}"
    assert look["controls"] >= 3 and look["lowest"] >= 24 and look["outside"] == 0, f"the filter bar at {width}: {look}"
    assert look["tables"] == 0, f"{look['tables']} tables are wider than the page and do not scroll"
    browser.screenshot(screenshot)
    return look


def count(browser, selector):
    return browser.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")


def check_keyboard(browser):
    """A column's title has the focus by Tab, and Enter sorts by it, once up and once down."""
    browser.evaluate("document.querySelector('#rows th button').focus()")
    browser.press("Tab")  # to the second column
    seen = []
    for _ in range(2):
        browser.press("Enter")
        seen.append(browser.evaluate("[...document.querySelectorAll('#rows th')].map(th => th.getAttribute('aria-sort') || '')"))
    assert [row[1] for row in seen] == ["ascending", "descending"] and not any(seen[1][:1] + seen[1][2:]), f"sorted as {seen}"


def check_data(browser, rows, files):
    """What the page must hold of a comparison with cuDNN."""
    good = [row for row in rows if not row.get("error") and row.get("cudnn_tuned") and row.get("wavetile")]
    bars = count(browser, "rect.bar")
    assert bars == len(good), f"{bars} bars for {len(good)} compared rows"
    worst = min(good, key=lambda row: row["cudnn_tuned"]["us"] / row["wavetile"]["us"])
    first = browser.evaluate("document.querySelector('rect.bar title').textContent")
    assert worst["problem"] in first, f"the first bar is {first}, the worst loss {worst['problem']}"
    longest = browser.evaluate("(() => { const svg = document.querySelector('svg:has(rect.bar)'); return Math.max("
                               "...[...svg.querySelectorAll('rect.bar')].map(r => r.width.baseVal.value)) / svg.viewBox.baseVal.width; })()")
    assert longest > 0.15, f"the worst rows have bars of {longest:.2f} of the drawing at most, which nobody can compare"
    assert count(browser, "line.spread") == bars, "a bar has no error bar"
    text = browser.evaluate("document.querySelector('main').textContent")
    if len(good) > 55:
        assert f"{len(good) - 50} rows between" in text, "the middle of the bars is not folded"
    # No row stands above the roof.
    shown = browser.evaluate("JSON.parse(document.getElementById('data').textContent).runs.at(-1)")
    roof = shown["ceilings"]["teraflops"]
    above = [row["name"] for row in shown["rows"] if row["us"] > 0 and not row["error"]
             and row["work"] / row["us"] * 1e-6 > roof[row["type"]] * 1.0001]
    assert not above, f"{len(above)} rows stand above the roof, the first {above[0]}"
    over = [row["name"] for row in shown["rows"] if row.get("share", 0) > 1.0001]
    assert not over, f"{len(over)} rows have more than all of the limit, the first {over[0]}"
    for what, selector in {"the roofline": "path.roof", "the histogram": "rect.bin", "a sorted column": "th[aria-sort]",
                           "an anchor": "tr[id^=row-]", "the CSV": "a[href^='data:text/csv']", "the scatter": "#share circle",
                           "shapes beside colours": "rect.bwd_weight.mark"}.items():
        assert count(browser, selector) > 0, f"{what} is missing"
    assert count(browser, "#rows tbody tr") == len(rows), "the table of rows is not complete"
    assert text.count("wt_fwd") == 0 or browser.evaluate(
        "[...document.querySelectorAll('td.name span')].every(e => e.textContent.length < e.title.length)"), "kernel names are not short"
    check_totals(browser, shown["rows"])
    compare = re.search(r"\d+ rows are in both runs: \d+ faster", text)
    assert (compare is not None) == (len(files) == 2), "the comparison of two runs is missing, or there where there is one run"
    order = browser.evaluate("[...document.querySelectorAll('main > section:not([hidden])')].map(s => s.id || s.querySelector('h2').textContent)")
    wanted = ["compare-section", "tiles", "Totals"] if compare else ["tiles", "Totals"]
    assert order[:len(wanted)] == wanted, f"the page has {order}"
    return bars


def check_totals(browser, rows):
    """The totals by suite, by direction and by model, weighed by time, are those of the rows."""
    def by_time(chosen):
        chosen = [row for row in chosen if row["us"] > 0 and row["cudnn_us"] > 0 and not row["error"]]
        return sum(row["cudnn_us"] for row in chosen) / sum(row["us"] for row in chosen) if chosen else None

    def table(place):
        cells = browser.evaluate(f"[...document.querySelectorAll('#{place} tr')].map(tr => [...tr.children].map(td => td.textContent))")
        return [dict(zip(cells[0], line)) for line in cells[1:]]

    lines = table("totals")
    for suite in {line["suite"] for line in lines}:
        order = [line["direction"] for line in lines if line["suite"] == suite]
        assert order == ["fwd", "bwd_data", "bwd_weight", "all"], f"{suite} has {order}"
    ragged = [line[title] for line in lines for title in ("speed-up", "by time", "share")
              if len(line[title].replace(".", "").lstrip("0")) != 3]
    assert not ragged, f"numbers of unequal length in a column: {ragged[:5]}"
    totals = {(line["suite"], line["direction"]): line for line in lines}
    models = {line["model"]: line for line in table("models")}
    for suite in {row["suite"] for row in rows}:
        for direction in ("fwd", "bwd_data", "bwd_weight", "all"):
            wanted = by_time(row for row in rows if row["suite"] == suite and direction in (row["direction"], "all"))
            assert abs(float(totals[suite, direction]["by time"]) / wanted - 1) < 0.01, f"{suite} {direction}: {totals[suite, direction]}"
    assert set(models) == {row["model"] for row in rows if row["model"]} and len(models) > 10, f"models: {sorted(models)}"
    for model, line in models.items():
        for title, direction in (("by time", "all"), ("fwd by time", "fwd"), ("bwd_weight by time", "bwd_weight")):
            wanted = by_time(row for row in rows if row["model"] == model and direction in (row["direction"], "all"))
            assert abs(float(line[title]) / wanted - 1) < 0.01, f"{model} {title}: {line}"


def check_filter(browser, page, width, bars):
    """The filter is kept in the address, and is for the whole page."""
    browser.open(page.as_uri() + "#?direction=fwd&only=losses", width, 2600)
    fewer = count(browser, "rect.bar")
    assert 0 < fewer < bars and count(browser, ".bwd_weight.bar") == 0, f"{fewer} bars of {bars} with a filter in the address"
    assert count(browser, "#rows tbody tr") == fewer, "the rows are not filtered as the bars are"
    browser.evaluate("(() => { const f = document.getElementById('model'); f.value = 'ResNet-50'; "
                     "f.dispatchEvent(new Event('input', {bubbles: true})); })()")
    assert "model=ResNet-50" in browser.evaluate("location.hash"), browser.evaluate("location.hash")
    assert count(browser, "#models tbody tr") <= 1 and count(browser, "rect.bar") < fewer, "the model's filter filters nothing"


def check(browser, binary, folder, files, name, widths, history=()):
    page = folder / f"{name}.html"
    words = [word for path in history for word in ("--history", str(path))]
    subprocess.run([binary, "report", *files, *words, "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
    assert not re.search(r'(src|href)="(?!data:|#)', page.read_text()), "the page refers to something outside itself"
    rows = json.loads(Path(files[-1]).read_text())["rows"]
    for width in widths:
        screenshot = folder / f"{name}_{width}.png"
        check_look(browser, page, screenshot, width)
        check_screenshot(screenshot)
        bars = check_data(browser, rows, files)
        lines = [line for path in history for line in path.read_text().splitlines()]
        drawn = (count(browser, "#history path.trend"), count(browser, "#history circle"))
        assert drawn == (len({json.loads(line)["suite"] for line in lines}), len(lines)), f"a history of {len(lines)} is drawn as {drawn}"
        check_keyboard(browser)
        check_filter(browser, page, width, bars)
        print(f"{name}: {len(rows)} rows, {bars} bars, {width} wide, console empty, screenshot complete", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary")
    parser.add_argument("--browser", required=True)
    parser.add_argument("--data")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    if not args.page and not (args.binary and args.data):
        parser.error("--page FILE, or --binary and --data")
    with tempfile.TemporaryDirectory() as scratch, Browser(args.browser) as browser:
        folder = (args.keep or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if args.page:
            for width in WIDTHS:
                look = check_look(browser, args.page.resolve(), folder / f"page_{width}.png", width)
                print(f"{args.page.name}: {width} wide, letters of {look['letters']:.0f} and {look['drawn']:.0f} pixels, nothing beyond")
            return 0
        document = json.loads(Path(args.data).read_text())
        for index, row in enumerate(document["rows"]):  # an older run, a little different everywhere
            for key in ("us", "low_us", "high_us"):
                if row.get("wavetile"):
                    row["wavetile"][key] *= 0.8 + 0.01 * (index % 50)
        older = folder / "older.json"
        older.write_text(json.dumps(document))
        check(browser, args.binary, folder, [args.data], "one", WIDTHS)
        history = folder / "history.jsonl"
        history.write_text("".join(json.dumps({"commit": f"c{i}", "date": "2026-01-01", "suite": suite, "device": "d", "rows": 3, "us": 9,
                                               "speedup": 1.1, "share": 0.5 + 0.1 * i}) + "\n" for i in range(4) for suite in ("a", "b")))
        check(browser, args.binary, folder, [str(older), args.data], "two", WIDTHS[:1], [history])
    return 0


if __name__ == "__main__":
    sys.exit(main())
