# SPDX-License-Identifier: Apache-2.0
"""The files that are checked, and what a check returns."""

import dataclasses
import functools
import os
import re

FOLDERS = ("cmake", "docs", "examples", "perf", "python", "shoal", "tests", "tools")
KINDS = {".cpp": "cpp", ".hpp": "hpp", ".py": "py", ".cmake": "cmake", ".sh": "sh", ".in": "cmake"}
NAMES = {"CMakeLists.txt": "cmake", "dev": "sh", "run": "sh"}

# Comments, string literals and character literals; 1'000 is neither.
_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)
_ALLOW = re.compile(r"lint: allow\((?P<check>[a-z_]+)\):? +\S|// NOLINT: +\S")


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    check: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.check}] {self.message}"


@dataclasses.dataclass(frozen=True)
class Source:
    """One file: its path from the root, its kind and its text."""

    path: str
    kind: str
    text: str

    @functools.cached_property
    def lines(self):
        return self.text.splitlines()

    @functools.cached_property
    def code_lines(self):
        """The lines with comments and literals blanked; the numbering stays."""
        blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # noqa: E731
        return _NOT_CODE.sub(blank, self.text).splitlines()

    def allows(self, check, line):
        """Whether `// lint: allow(check): reason` stands on the line or on the one above, or
        `// NOLINT: reason`, which clang-tidy obeys too, on the line."""
        for number in (line, line - 1):
            match = _ALLOW.search(self.lines[number - 1]) if number > 0 else None
            if match and (match["check"] == check or (number == line and not match["check"])):
                return True
        return False


def kind_of(name):
    return NAMES.get(name) or KINDS.get(os.path.splitext(name)[1])


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
        return Source(path, kind_of(os.path.basename(path)), file.read())


def read_all(root):
    """Every file of a known kind, in git or not yet: a check comes before the commit."""
    paths = [name for name in os.listdir(root) if kind_of(name)]
    for folder in (*FOLDERS, ".ci"):
        for place, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            relative = os.path.relpath(place, root)
            paths += [os.path.join(relative, name) for name in names if kind_of(name)]
    return [read(root, path) for path in sorted(paths)]
