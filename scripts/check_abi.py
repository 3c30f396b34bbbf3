#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the C API with what programs were compiled against, as tests/api/abi.txt has it.

    python3 scripts/check_abi.py --library build/dev/lib/libwavetile.so    # check; exit code 1 where they differ
    python3 scripts/check_abi.py --update                                  # take additions over into the file
    python3 scripts/check_abi.py --self-test

The file holds every function with its types, every enumerator with its number, and size, offset and type of every struct
member on a 64-bit machine. A C compiler tells the numbers, nm the symbols of the library (left out without --library).

A difference is an addition, which --update takes over, or a break: a function, enumerator or member that is gone or
changed, or one that was put where an older program has something else. Until 1.0 a new minor version may break, so
--update takes breaks over only together with a new major.minor of WAVETILE_VERSION.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/wavetile/wavetile.h"
STORED = ROOT / "tests/api/abi.txt"
API = '__attribute__((visibility("default")))'


class Unreadable(Exception):
    """The header has something that this script does not understand, or a tool failed."""


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unreadable(f"{' '.join(map(str, command))}:\n{done.stderr.strip()}")
    return done.stdout


def words(text):
    """The same type, however it was broken into lines."""
    return re.sub(r"\s*([*(),\[\]])\s*", r"\1", " ".join(text.split()))


def type_of(parameter):
    """A parameter without its name."""
    parameter = words(parameter)
    named = re.fullmatch(r"(.*[\w*][ *])(\w+)((?:\[\d*\])*)", parameter)
    if not named and parameter != "void":
        named = re.fullmatch(r"(.*\*)(\w+)((?:\[\d*\])*)", parameter)
    return words(named.group(1) + named.group(3)) if named else parameter


def members_of(body):
    """(name, type) of every member of a struct's body; arrays keep their brackets in the type."""
    for declaration in filter(None, (line.strip() for line in body.split(";"))):
        first, *others = declaration.split(",")
        base = re.fullmatch(r"(.*?[\s*])(\w+)((?:\[[^\]]*\])*)", " ".join(first.split()))
        if not base:
            raise Unreadable(f"a struct member that this script cannot read: {declaration}")
        yield base.group(2), words(base.group(1) + base.group(3))
        for other in others:
            more = re.fullmatch(r"\s*(\*?)(\w+)((?:\[[^\]]*\])*)", other)
            yield more.group(2), words(base.group(1).rstrip("* ") + more.group(1) + more.group(3))


def declarations(text):
    """What the preprocessed header declares: functions, enums, structs and other types by name."""
    functions = {}
    for result, name, parameters in re.findall(re.escape(API) + r"\s*([^;(]*?[\s*])(\w+)\(([^)]*)\)\s*;", text):
        functions[name] = f"{words(result)}({','.join(type_of(each) for each in parameters.split(','))})"
    enums = {name: re.findall(r"(\w+)\s*(?:=[^,}]*)?(?:,|$)", body.strip())
             for name, body in re.findall(r"typedef enum (\w+)\s*\{([^}]*)\}", text)}
    structs = {name: list(members_of(body)) for name, body in re.findall(r"typedef struct (\w+)\s*\{([^}]*)\}", text)}
    types = {name: words(what) for what, name in re.findall(r"typedef ([^;{}]*?[\s*])(wavetile_\w+)\s*;", text)}
    counts = (text.count(API), len(re.findall(r"\benum\b[^;(]*\{", text)),
              len(re.findall(r"\bstruct wavetile\w*\s*\{", text)), len(re.findall(r"typedef [^;{}]*wavetile_\w+\s*;", text)))
    if counts != (len(functions), len(enums), len(structs), len(types)) or not all(counts):
        raise Unreadable(f"of {counts} functions, enums, structs and types, only "
                         f"{(len(functions), len(enums), len(structs), len(types))} were read")
    return functions, enums, structs, types


def measured(header, compiler, enums, structs):
    """Numbers that only a compiler knows, by the expressions that a C program prints."""
    lines = ["sizeof(void*)", "WAVETILE_VERSION_MAJOR", "WAVETILE_VERSION_MINOR"]
    lines += [name for names in enums.values() for name in names] + [f"sizeof({name})" for name in (*enums, *structs)]
    for struct, members in structs.items():
        for name, _ in members:
            lines += [f"offsetof({struct}, {name})", f"sizeof((({struct}*)0)->{name})"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "abi.c", Path(folder) / "abi"
        source.write_text(f'#include "{header}"\n#include <stdio.h>\nint main(void) {{\n' +
                          "".join(f'  printf("%lld\\n", (long long)({line}));\n' for line in lines) + "  return 0;\n}\n")
        output_of(compiler, "-std=c99", source, "-o", program)
        return dict(zip(lines, map(int, output_of(program).split()), strict=True))


def abi_of(header, compiler):
    """The interface as lines, each a key and its value; members follow their struct in order."""
    functions, enums, structs, types = declarations(output_of(compiler, "-E", "-P", header))
    number = measured(header, compiler, enums, structs)
    lines = {"pointer": str(number["sizeof(void*)"]),
             "version": f"{number['WAVETILE_VERSION_MAJOR']}.{number['WAVETILE_VERSION_MINOR']}"}
    lines |= {f"function {name}": functions[name] for name in sorted(functions)}
    lines |= {f"type {name}": types[name] for name in sorted(types)}
    for enum, names in enums.items():
        lines[f"enum {enum}"] = f"size {number[f'sizeof({enum})']}"
        lines |= {f"enumerator {name}": str(number[name]) for name in names}
    for struct, members in structs.items():
        lines[f"struct {struct}"] = f"size {number[f'sizeof({struct})']}"
        for name, what in members:
            at, size = number[f"offsetof({struct}, {name})"], number[f"sizeof((({struct}*)0)->{name})"]
            lines[f"member {struct}.{name}"] = f"offset {at} size {size} {what}"
    return lines


def place(value):
    """Offset, size and type of a member's line."""
    return re.fullmatch(r"offset (\d+) size (\d+) (.*)", value).groups()


def differences(old, new):
    """(breaks, additions): sentences."""
    breaks, additions, taken = [], [], set()
    sizes = {key.split()[1]: int(value.split()[1]) for key, value in old.items() if key.startswith("struct ")}
    fresh = {(key.split(".")[0], place(value)): key for key, value in new.items()
             if key.startswith("member ") and key not in old}
    grows = {key.split()[1] for key in old if key.startswith("struct ") and
             old.get(f"member {key.split()[1]}.struct_size", "").startswith("offset 0 ")}
    for key, value in old.items():
        now = new.get(key)
        kind, name = key.split(" ", 1) if " " in key else (key, "")
        if now == value or kind == "version":
            continue
        reused = fresh.get((key.split(".")[0], place(value))) if kind == "member" and ".reserved" in key else None
        if now is None and reused:
            additions.append(f"{reused} takes the place of {name}")
            taken.add(reused)
        elif now is None:
            breaks.append(f"{key} is gone")
        elif kind == "struct" and name in grows and int(now.split()[1]) > sizes[name]:
            additions.append(f"struct {name} grows from {value} to {now}")
        else:
            breaks.append(f"{key} was '{value}' and is '{now}'")
    for key, value in new.items():
        if key in old or key in taken:
            continue
        struct = key.split(" ")[-1].split(".")[0]
        if key.startswith("member ") and struct in sizes and \
                (struct not in grows or int(place(value)[0]) < sizes[struct]):
            breaks.append(f"{key} ({value}) is inside the {sizes[struct]} bytes that older programs have")
        else:
            additions.append(f"{key} is new: {value}")
    return breaks, additions


def read(path):
    lines = (line.rstrip("\n") for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return dict(line.split(": ", 1) for line in lines)


def write(path, lines):
    head = "# The C API as programs see it: scripts/check_abi.py compares it with wavetile.h, and --update writes it.\n"
    path.write_text(head + "".join(f"{key}: {value}\n" for key, value in lines.items()))


def missing_symbols(library, nm, lines):
    """Sentences about functions of the interface that the library does not export under the version WAVETILE_0."""
    exported = {line.split()[-1] for line in output_of(nm, "-D", "--defined-only", library).splitlines()}
    names = (key.split()[1] for key in lines if key.startswith("function "))
    return [f"{library} does not export {name}@@WAVETILE_0" for name in names if f"{name}@@WAVETILE_0" not in exported]


def check(options):
    new = abi_of(options.header, options.compiler)
    old = read(STORED)
    breaks, additions = differences(old, new)
    if options.library:
        breaks += missing_symbols(options.library, options.nm, {**old, **new})
    may_break = new["version"] != old["version"]
    if options.update and (may_break or not breaks):
        write(STORED, new)
        print(f"{STORED.relative_to(ROOT)}: {len(breaks)} breaks and {len(additions)} additions taken over")
        return 0
    for sentence in breaks:
        print(f"abi: BREAK: {sentence}")
    for sentence in additions:
        print(f"abi: addition: {sentence}")
    if breaks:
        print(f"abi: programs compiled against {old['version']} would break. Change it back, or raise the minor version in "
              f"{HEADER.relative_to(ROOT)} and run scripts/check_abi.py --update")
    elif additions or may_break:
        print("abi: nothing breaks; run scripts/check_abi.py --update and commit tests/api/abi.txt")
    else:
        print(f"abi: {len(new)} lines, all as in {STORED.relative_to(ROOT)}")
    return 1 if breaks or additions or may_break else 0


SAMPLE = """
#include <stddef.h>
#include <stdint.h>
#define WAVETILE_VERSION_MAJOR 0
#define WAVETILE_VERSION_MINOR 1
#define WAVETILE_API __attribute__((visibility("default")))
typedef enum wavetile_status { WAVETILE_OK = 0, WAVETILE_BAD = 2, WAVETILE_WORSE } wavetile_status;
typedef struct wavetile_plan wavetile_plan;
typedef void* wavetile_stream;
typedef struct wavetile_options {
  size_t struct_size;
  char name[16]; /* as written; a comment */
  int64_t bytes;
  int64_t limit;
  const char *text, *path;
  int32_t fallback;
  int32_t reserved;
} wavetile_options;
typedef struct wavetile_pair { int32_t a; int32_t b; } wavetile_pair;
WAVETILE_API int32_t wavetile_version(void);
WAVETILE_API wavetile_status wavetile_plan_create(const wavetile_options* options,
                                                  wavetile_plan** plan);
"""

# (what is done to the sample, its text, what stands there instead, breaks, additions)
EDITS = (
    ("nothing", "void* wavetile_stream", "void *wavetile_stream", 0, 0),
    ("a function removed", "WAVETILE_API int32_t wavetile_version(void);", "", 1, 0),
    ("a result changed", "int32_t wavetile_version", "int64_t wavetile_version", 1, 0),
    ("a parameter added", "wavetile_version(void)", "wavetile_version(int32_t n)", 1, 0),
    ("a parameter loses its const", "(const wavetile_options*", "(wavetile_options*", 1, 0),
    ("a parameter renamed", "wavetile_plan** plan", "wavetile_plan** made", 0, 0),
    ("a function added", "WAVETILE_API int32_t", "WAVETILE_API void wavetile_new(const char* a);\nWAVETILE_API int32_t", 0, 1),
    ("an enumerator renumbered, and the one that follows it", "WAVETILE_BAD = 2", "WAVETILE_BAD = 3", 2, 0),
    ("an enumerator removed", ", WAVETILE_WORSE", "", 1, 0),
    ("an enumerator added", "WAVETILE_WORSE", "WAVETILE_WORSE, WAVETILE_NEW", 0, 1),
    ("members swapped", "int64_t bytes;\n  int64_t limit;", "int64_t limit;\n  int64_t bytes;", 2, 0),
    ("a member retyped in the same size", "int64_t bytes", "double bytes", 1, 0),
    ("an array shortened, so that six members move", "name[16]", "name[8]", 8, 0),
    ("a member inserted, so that two move", "  int32_t fallback;", "  int64_t other;\n  int32_t fallback;", 3, 1),
    ("a member appended", "  int32_t reserved;", "  int32_t reserved;\n  int64_t other;", 0, 2),
    ("a member appended to a struct without struct_size", "int32_t b;", "int32_t b; int32_t c;", 2, 0),
    ("a reserved member put to use", "int32_t reserved;", "int32_t splits;", 0, 1),
    ("a reserved member retyped", "int32_t reserved;", "float splits;", 2, 0),
    ("a handle made something else", "void* wavetile_stream", "int64_t wavetile_stream", 1, 0),
)


def self_test(options):
    with tempfile.TemporaryDirectory() as folder:
        header, stored = Path(folder) / "wavetile.h", Path(folder) / "abi.txt"

        def abi(text):
            header.write_text(text)
            return abi_of(header, options.compiler)

        before = abi(SAMPLE)
        assert before["member wavetile_options.path"] == "offset 48 size 8 const char*", before
        assert before["enumerator WAVETILE_WORSE"] == "3" and len(before) == 22, before
        for what, old, new, breaks, additions in EDITS:
            assert SAMPLE.count(old) == 1, what
            found = differences(before, abi(SAMPLE.replace(old, new)))
            assert tuple(map(len, found)) == (breaks, additions), (what, found)
        write(stored, before)
        assert read(stored) == before
        try:
            abi(SAMPLE + "WAVETILE_API int (*wavetile_pointer)(void);\n")
        except Unreadable as refusal:
            assert "were read" in str(refusal), refusal
        else:
            raise AssertionError("a declaration that cannot be read was passed over")
    print(f"abi: {len(EDITS)} changes of a header were judged right")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--header", type=Path, default=HEADER)
    parser.add_argument("--library", type=Path, help="libwavetile.so, whose symbols are looked at too")
    parser.add_argument("--compiler", default="cc", help="a C compiler (default: cc)")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--update", action="store_true", help="write what the header has now to tests/api/abi.txt")
    parser.add_argument("--self-test", action="store_true", help="change a sample header in many ways and judge each")
    options = parser.parse_args()
    try:
        return self_test(options) if options.self_test else check(options)
    except Unreadable as refusal:
        print(f"abi: {refusal}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
