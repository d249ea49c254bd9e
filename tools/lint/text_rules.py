# SPDX-License-Identifier: Apache-2.0
"""What each file's text must have: a licence line, bounded lengths, clean lines, a good name."""

import ast
import os
import re

from source import Finding

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70  # of Python; clang-tidy counts those of C++
MAX_COLUMNS = 100
SPDX = "SPDX-License-Identifier: Apache-2.0"
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}


def licence(source):
    places = [n for n, line in enumerate(source.lines, 1) if re.match(rf"(//|#) {SPDX}$", line)]
    if not places or places[0] > 2:
        yield Finding(source.path, 1, "licence", f"the first line must be '{SPDX}', as a comment")
    for line in places[1:]:
        yield Finding(source.path, line, "licence", "a second licence line")


def clean_lines(source):
    for number, line in enumerate(source.lines, 1):
        if len(line) > MAX_COLUMNS and not source.allows("columns", number):
            yield Finding(source.path, number, "columns",
                          f"{len(line)} columns, at most {MAX_COLUMNS}")
        if line != line.rstrip():
            yield Finding(source.path, number, "whitespace", "white space at the end of the line")
        if "\t" in line:
            yield Finding(source.path, number, "whitespace", "a tab")
    if source.text and not source.text.endswith("\n"):
        yield Finding(source.path, len(source.lines), "whitespace", "no newline at the end")


def lengths(source):
    if source.kind in ("cpp", "hpp", "py", "cmake") and len(source.lines) > MAX_FILE_LINES:
        yield Finding(source.path, MAX_FILE_LINES, "file_length",
                      f"{len(source.lines)} lines, at most {MAX_FILE_LINES}")
    if source.kind != "py":
        return
    try:
        tree = ast.parse(source.text)
    except SyntaxError as error:
        yield Finding(source.path, error.lineno or 1, "python", str(error.msg))
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield Finding(source.path, node.lineno, "function_length",
                              f"{node.name} has {lines} lines, at most {MAX_FUNCTION_LINES}")


def header_shape(source):
    """A header says what problem it solves, then #pragma once."""
    if source.kind != "hpp":
        return
    if "#pragma once" not in source.lines:
        yield Finding(source.path, 1, "pragma_once", "no '#pragma once'")
        return
    opening = source.lines[: source.lines.index("#pragma once")]
    says = [line for line in opening if line.startswith("// ") and SPDX not in line]
    if source.path.startswith("shoal/") and not says:
        yield Finding(source.path, 1, "header_paragraph",
                      "no paragraph before '#pragma once' says what problem this header solves")


def file_name(source):
    stem = os.path.splitext(os.path.basename(source.path))[0]
    if EMPTY_NAMES & set(stem.lower().split("_")):
        yield Finding(source.path, 1, "file_name", f"'{stem}' does not say what the file holds")


RULES = (licence, clean_lines, lengths, header_shape, file_name)
