# SPDX-License-Identifier: Apache-2.0
"""Calls and words that this project does without.

A line may keep one, with a reason: `// NOLINT: reason` on it, or, on it or on the line above,
`// lint: allow(name): reason`.
"""

import dataclasses
import re

from source import Finding


@dataclasses.dataclass(frozen=True)
class Ban:
    name: str
    pattern: re.Pattern
    instead: str
    within: tuple = ("shoal/", "tests/", "tools/", "examples/", "perf/")
    but_not: tuple = ()
    headers_only: bool = False


BANS = (
    Ban("sleep",
        re.compile(r"\b(?:usleep|nanosleep)\s*\(|\bthis_thread::sleep_\w+|(?<!\w)::sleep\s*\("
                   r"|(?<![\w.>:] )(?<![\w.>:])sleep\s*\(\s*\d"),
        "wait for the event itself, with a deadline", within=("shoal/", "tests/")),
    Ban("random",
        re.compile(r"(?<![\w.>])(?:std::)?s?rand\s*\(|\brandom_device\b|\bd?rand48\s*\("),
        "randomness comes from the seeded generator of shoal/comm/random.hpp",
        but_not=("shoal/comm/random", "perf/")),
    Ban("clock",
        re.compile(r"\b(?:system|steady|high_resolution)_clock::now\b"
                   r"|\b(?:clock_gettime|gettimeofday)\s*\("
                   r"|(?<![\w.>])(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0)"),
        "time comes from the Clock of shoal/comm/clock.hpp",
        but_not=("shoal/comm/clock", "perf/")),
    Ban("print",
        re.compile(r"\b(?:printf|fprintf|vprintf|vfprintf|puts|fputs|putchar)\s*\("
                   r"|\bstd::(?:cout|cerr|clog)\b|\bfmt::print\b"),
        "the library writes through shoal/comm/log.hpp",
        within=("shoal/",), but_not=("shoal/comm/log", "shoal/comm/error.cpp")),
    Ban("volatile",
        re.compile(r"(?<!asm )(?<!__asm__ )\bvolatile\b"),
        "it orders nothing between threads: use std::atomic", but_not=("perf/",)),
    Ban("endl", re.compile(r"\bstd::endl\b"), "it flushes: write '\\n'"),
    Ban("new",
        re.compile(r"(?<![\w:])new\s+(?!\()[\w:]+"),
        "own it: std::make_unique, a pool, or placement in memory that has an owner",
        within=("shoal/", "tools/", "examples/")),
    Ban("delete",
        re.compile(r"(?<![\w=])(?<!= )(?<!operator )delete(?:\s*\[\s*\])?\s+\w+"),
        "let an owner do it: std::unique_ptr or a pool",
        within=("shoal/", "tools/", "examples/")),
    Ban("using_namespace", re.compile(r"^\s*using\s+namespace\b"),
        "a header must not decide what its includers see",
        within=("shoal/",), headers_only=True),
    Ban("detach", re.compile(r"\.detach\s*\(\s*\)"), "join it: a thread has an owner"),
)


def banned_calls(source):
    if source.kind not in ("cpp", "hpp"):
        return
    for ban in BANS:
        if not source.path.startswith(ban.within) or source.path.startswith(ban.but_not):
            continue
        if ban.headers_only and source.kind != "hpp":
            continue
        for number, line in enumerate(source.code_lines, 1):
            match = ban.pattern.search(line)
            if match and not source.allows(ban.name, number):
                yield Finding(source.path, number, ban.name,
                              f"{match[0].strip()}: {ban.instead}")


RULES = (banned_calls,)
