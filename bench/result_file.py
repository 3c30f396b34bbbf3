# SPDX-License-Identifier: Apache-2.0
"""Files of bench/results: one JSON document with a "schema", one line per row, so that a diff shows what changed.

A member of the document that is short stands on its line; of a longer list or table every element has a line. The
command writes the same form (src/base/json_rows.h).
"""
import json
import os
import sys
import tempfile
from pathlib import Path

LINE = 120  # bytes of a member that stands on one line


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def member(value):
    line = compact(value)
    if len(line.encode()) <= LINE or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(compact, value)) + "\n]"
    return "{\n" + ",\n".join(f"{compact(str(key))}:{compact(inner)}" for key, inner in value.items()) + "\n}"


def text_of(document):
    if "schema" not in document:
        raise ValueError("a result has a \"schema\"")
    return "{\n" + ",\n".join(f"{compact(str(key))}: {member(value)}" for key, value in document.items()) + "\n}\n"


def write(path, document):
    """All of it or nothing: a run that is killed leaves the file that was there."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text_of(document))
    os.replace(temporary, path)


def check(folder, docs):
    """What is wrong with a folder of results: a list of sentences."""
    text = "".join(path.read_text() for path in Path(docs).glob("*.md"))
    faults = [f"no page of docs speaks of {path.name}: quote its figures or remove it"
              for path in sorted(Path(folder).iterdir()) if path.name not in text]
    for path in sorted(Path(folder).glob("*.json")):
        text = path.read_text()
        document = json.loads(text)
        if document.get("schema") is None:
            faults.append(f"{path.name} has no \"schema\"")
        # WHY not the bytes: two programs may write a number's last digit in different ways.
        elif text_of(document).count("\n") != text.count("\n"):
            faults.append(f"{path.name} does not have one line per row; `python3 bench/result_file.py {path}` writes it anew")
    return faults


def check_test():
    with tempfile.TemporaryDirectory() as folder:
        results, docs = Path(folder) / "results", Path(folder) / "docs"
        docs.mkdir()
        (docs / "a.md").write_text("see good.json, flat.json and bare.json")
        write(results / "good.json", {"schema": 1, "rows": [{"n": i} for i in range(40)]})
        assert check(results, docs) == []
        (results / "flat.json").write_text('{"schema": 1, "rows": [1]}')
        (results / "bare.json").write_text("{}\n")
        write(results / "lost.json", {"schema": 1})
        found = check(results, docs)
        assert [fault.split()[0] for fault in found] == ["no", "bare.json", "flat.json"] and "lost.json" in found[0], found


def self_test():
    row = {"name": "a", "values": list(range(60)), "text": "é"}
    document = {"schema": 1, "short": [1, 2], "rows": [row, row], "table": {"x": row, "y": {}}, "empty": []}
    text = text_of(document)
    assert json.loads(text) == document and text.count("\n") == 13, text
    assert '"short": [1,2],\n' in text and '\n"y":{}\n' in text, text
    try:
        text_of({"rows": []})
        raise AssertionError("a document without a schema was written")
    except ValueError:
        check_test()


def main():
    """Without arguments: checks the committed files. With files: writes them anew in this form."""
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            write(name, json.loads(Path(name).read_text()))
        return 0
    self_test()
    root = Path(__file__).resolve().parent.parent
    faults = check(root / "bench" / "results", root / "docs")
    print("\n".join(faults) or "every file of bench/results has a page that speaks of it, a schema and one line per row")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
