# SPDX-License-Identifier: Apache-2.0
"""Checks the whole tree, or the files given, and prints what is wrong, a line each.

Exit code: 0 nothing found, 1 something found, 2 the checks could not run.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

import banned_calls
import layer_rules
import source as sources_module
import text_rules
from compiled_rules import Compiled, CompileFlags, not_built
from result_cache import ResultCache
from source import Finding

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLANG_FORMAT = "clang-format-14"  # another version lays out differently
TEXT_RULES = (*text_rules.RULES, *layer_rules.RULES, *banned_calls.RULES)


def text_findings(sources):
    for source in sources:
        for rule in TEXT_RULES:
            yield from rule(source)


def format_findings(root, sources, fix):
    """Differences from .clang-format, one finding a file; with fix, rewrites instead."""
    if shutil.which(CLANG_FORMAT) is None:
        return [Finding(".clang-format", 1, "tool", f"{CLANG_FORMAT} is missing: ./dev setup")]
    paths = [source.path for source in sources if source.kind in ("cpp", "hpp")]
    if not paths:
        return []
    if fix:
        subprocess.run([CLANG_FORMAT, "-i", *paths], cwd=root, check=True)
        return []
    result = subprocess.run([CLANG_FORMAT, "--dry-run", *paths], cwd=root, text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    first = {}
    for line in result.stdout.splitlines():
        path, _, rest = line.partition(":")
        if "-Wclang-format-violations" in rest and path not in first:
            first[path] = int(rest.partition(":")[0])
    return [Finding(path, line, "format", "not as .clang-format has it: ./dev lint --fix")
            for path, line in first.items()]


def progress(name):
    def show(done, all_of_them):
        if sys.stdout.isatty():
            end = "\n" if done == all_of_them else ""
            print(f"\r  {name}: {done} of {all_of_them}", end=end, flush=True)
        elif done % 20 == 0 or done == all_of_them:
            print(f"  {name}: {done} of {all_of_them}", flush=True)
    return show


def timed(name, work):
    start = time.monotonic()
    findings = list(work())
    print(f"  {name}: {len(findings)} findings, {time.monotonic() - start:.1f} s", flush=True)
    return findings


def check(root, sources, build_dir, jobs, fix):
    flags = CompileFlags(root, build_dir)
    cache = ResultCache(root)

    def compiled(name):
        return Compiled(root, flags, cache, jobs, progress(name))

    found = timed("format", lambda: format_findings(root, sources, fix))
    if fix:
        sources = [sources_module.read(root, source.path) for source in sources]
    found += timed("text", lambda: text_findings(sources))
    found += timed("not built", lambda: (f for s in sources for f in not_built(s, flags)))
    found += timed("headers alone", lambda: compiled("headers alone").headers_alone(sources))
    found += timed("clang-tidy", lambda: compiled("clang-tidy").clang_tidy(sources))
    return sorted(set(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="only these (default: all)")
    parser.add_argument("--build-dir", default="build/dev", help="holds compile_commands.json")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--fix", action="store_true", help="let clang-format rewrite the files")
    options = parser.parse_args()
    build_dir = os.path.join(ROOT, options.build_dir)
    if not os.path.exists(os.path.join(build_dir, "compile_commands.json")):
        print(f"lint: {build_dir} has no compile_commands.json: ./dev build", file=sys.stderr)
        return 2
    sources = sources_module.read_all(ROOT)
    if options.files:
        wanted = {os.path.relpath(os.path.abspath(name), ROOT) for name in options.files}
        unknown = wanted - {source.path for source in sources}
        if unknown:
            print("lint: not files that are checked:", *sorted(unknown), file=sys.stderr)
            return 2
        sources = [source for source in sources if source.path in wanted]
    print(f"Checking {len(sources)} files")
    try:
        found = check(ROOT, sources, build_dir, options.jobs, options.fix)
    except KeyboardInterrupt:
        print("\nlint: interrupted", file=sys.stderr)
        return 130
    for finding in found:
        print(finding)
    print(f"{len(found)} findings in {len({f.path for f in found})} files" if found else "Clean.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
