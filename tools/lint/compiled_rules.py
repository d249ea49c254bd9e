# SPDX-License-Identifier: Apache-2.0
"""Checks that a compiler makes: each header compiles alone, and clang-tidy finds nothing.

A file gets the include folders and definitions of its own compile command, or of the nearest file
that has one; debug or release makes no difference. Results are cached, and misses run in parallel.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess

from source import Finding

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wnon-virtual-dtor")
CLANG_TIDY = ("clang-tidy-19", "clang-tidy")
# Programs that are compiled by a test, not by the build.
NOT_BUILT = ("tests/compile_fail/", "tests/install/program/")
OPTIONAL = ("perf/peers/caf.cpp",)  # built, and so checked, where their libraries are found
_MESSAGE = re.compile(r"^(?P<path>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? "
                      r"(?:fatal )?(?:warning|error): (?P<text>.*)$")
_CHECK = re.compile(r"^(?P<text>.*) \[(?P<check>[\w.,+=-]+)\]$")


class CompileFlags:
    """The flags that matter to a check, for any file of the project."""

    def __init__(self, root, build_dir):
        self.root = root
        self._flags = {}
        with open(os.path.join(build_dir, "compile_commands.json"), encoding="utf-8") as file:
            for entry in json.load(file):
                path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
                words = entry.get("arguments") or shlex.split(entry["command"])
                self._flags.setdefault(path, self._chosen(words))

    @staticmethod
    def _chosen(words):
        chosen, words = [], iter(words)
        for word in words:
            if word in ("-I", "-isystem", "-D"):
                chosen += [word, next(words)]
            elif word.startswith(("-I", "-isystem", "-D")) and not word.startswith("-DNDEBUG"):
                chosen.append(word)
        return tuple(chosen)

    def built(self, path):
        return path in self._flags

    def left_out(self, path):
        return path.startswith(NOT_BUILT) or (path in OPTIONAL and not self.built(path))

    def of(self, path):
        if path in self._flags:
            return self._flags[path]
        folder = os.path.dirname(path)
        while True:
            prefix = folder + "/" if folder else ""
            beside = [other for other in self._flags if other.startswith(prefix)]
            if beside:
                nearest = min(beside, key=lambda other: (other.count("/"), other))
                return ("-I" + self.root, *self._flags[nearest])
            if not folder:
                return ("-I" + self.root,)
            folder = os.path.dirname(folder)


def run(command, root):
    result = subprocess.run(command, cwd=root, text=True, check=False, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def messages(output, root, default_check):
    """The warnings and errors of a compiler's output; those without a place are left out."""
    for line in output.splitlines():
        match = _MESSAGE.match(line)
        if not match:
            continue
        path = os.path.relpath(os.path.join(root, match["path"]), root)
        named = _CHECK.match(match["text"])
        text, check = (named["text"], named["check"]) if named else (match["text"], default_check)
        yield Finding(path, int(match["line"]), check, text)


class Compiled:
    """Runs one compiler-like tool over files, through the cache."""

    def __init__(self, root, flags, cache, jobs, progress=lambda done, all_of_them: None):
        self.root, self.flags, self.cache = root, flags, cache
        self.jobs, self.progress = jobs, progress

    def _each(self, sources, context, check_one):
        found, misses = [], []
        for source in sources:
            flags = self.flags.of(source.path)
            portable = [flag.replace(self.root, "") for flag in flags]
            key = self.cache.key(source.path, portable, context)
            known = self.cache.get(key)
            if known is None:
                misses.append((source, flags, key))
            else:
                found += known
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = {pool.submit(check_one, source, flags): key for source, flags, key in misses}
            try:
                for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
                    findings = future.result()
                    self.cache.put(waiting[future], findings)
                    found += findings
                    self.progress(done, len(misses))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return found

    def headers_alone(self, sources, compiler="g++"):
        version = run([compiler, "--version"], self.root)[1]

        def check_one(source, flags):
            code, output = run(
                [compiler, "-std=c++20", *WARNINGS, "-fsyntax-only", "-fdiagnostics-color=never",
                 *flags, "-include", source.path, "-x", "c++", os.devnull], self.root)
            found = list(messages(output, self.root, "header_alone"))
            if code != 0 and not found:
                found = [Finding(source.path, 1, "header_alone", output.strip()[-300:])]
            return [Finding(f.path, f.line, "header_alone", f.message) for f in found[:5]]

        return self._each([s for s in sources if s.kind == "hpp"],
                          ("headers_alone", version, WARNINGS), check_one)

    def clang_tidy(self, sources):
        tool = next((name for name in CLANG_TIDY if shutil.which(name)), None)
        if tool is None:
            return [Finding(".clang-tidy", 1, "tool", f"{CLANG_TIDY[0]} is missing: ./dev setup")]
        version = run([tool, "--version"], self.root)[1]
        with open(os.path.join(self.root, ".clang-tidy"), encoding="utf-8") as file:
            settings = file.read()

        def check_one(source, flags):
            code, output = run(
                [tool, "--quiet", source.path, "--", "-x", "c++", "-std=c++20", *WARNINGS,
                 "-Wno-pragma-once-outside-header", *flags], self.root)
            found = list(messages(output, self.root, "clang-tidy"))
            errors = [f for f in found if f.check == "clang-diagnostic-error"]
            found = errors[:3] or [f for f in found if f.path == source.path]
            if code != 0 and not found:
                found = [Finding(source.path, 1, "clang-tidy", output.strip()[-300:])]
            return found

        wanted = [s for s in sources
                  if s.kind in ("cpp", "hpp") and not self.flags.left_out(s.path)]
        return self._each(wanted, ("clang_tidy", version, settings, WARNINGS), check_one)


def not_built(source, flags):
    """A .cpp that no target lists is dead, or was forgotten."""
    if source.kind == "cpp" and not flags.left_out(source.path):
        if not flags.built(source.path):
            yield Finding(source.path, 1, "not_built", "no target of the build lists this file")
