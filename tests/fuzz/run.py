# SPDX-License-Identifier: Apache-2.0
"""Fuzzes one target with libFuzzer, from its kept inputs on, and says how much it tried.

What it finds new is kept in the work folder, from run to run; --keep takes into the corpus what
adds to its coverage, as few and small files as will do. A crash makes it fail, and names the input.
Environment: SHOAL_FUZZ_SECONDS is the time (default: 30).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

MOST_BYTES = 4096  # of an input
LOG_LINES = 60  # shown of a run that failed
# An input ends within SECONDS_AN_INPUT. Nothing that it says may make a parser ask for MEMORY_MB.
SECONDS_AN_INPUT = 5
MEMORY_MB = 64


def fuzz(options, name):
    found = os.path.join(options.work, "found", name)
    crashes = os.path.join(options.work, "crashes", "")
    for folder in (found, crashes):
        os.makedirs(folder, exist_ok=True)
    log_path = os.path.join(options.work, name + ".log")
    command = [options.target, found, options.corpus,
               f"-max_total_time={options.seconds}", f"-max_len={MOST_BYTES}",
               f"-timeout={SECONDS_AN_INPUT}", f"-malloc_limit_mb={MEMORY_MB}",
               f"-artifact_prefix={crashes}{name}-", "-print_final_stats=1"]
    start = time.monotonic()
    with open(log_path, "wb") as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False,
                              timeout=options.seconds + 300).returncode
    seconds = time.monotonic() - start
    with open(log_path, encoding="utf-8", errors="replace") as log:
        lines = log.read().splitlines()
    if code == 0:
        return 0, summary(name, lines, seconds)
    print(*lines[-LOG_LINES:], sep="\n")
    written = [line.rpartition(" ")[2] for line in lines if "Test unit written to" in line]
    print(f"\nThe whole log: {log_path}")
    for path in written:
        print(f"The input: {path}\nAgain: {options.target} {path}")
    return 1, f"{name}: FAILED, exit code {code}: {', '.join(written) or log_path}"


def summary(name, lines, seconds):
    """"envelope: 1,234,567 executions, 41,152/s, 33 edges, 12 inputs" of libFuzzer's log."""
    text = "\n".join(lines)
    runs = int(re.findall(r"^stat::number_of_executed_units: *(\d+)", text, re.MULTILINE)[-1])
    edges = re.findall(r"cov: (\d+)", text)
    inputs = re.findall(r"corp: (\d+)", text)
    return (f"{name}: {runs:,} executions in {seconds:.0f} s, {runs / seconds:,.0f}/s, "
            f"{edges[-1] if edges else 0} edges, {inputs[-1] if inputs else 0} inputs")


def keep(options, name):
    """Replaces the corpus by the least set of inputs, kept or found, that covers the same."""
    found = os.path.join(options.work, "found", name)
    with tempfile.TemporaryDirectory(dir=options.work) as merged:
        sources = [folder for folder in (options.corpus, found) if os.path.isdir(folder)]
        code = subprocess.run([options.target, "-set_cover_merge=1", "-use_counters=0", merged,
                               *sources], stderr=subprocess.DEVNULL, check=False).returncode
        if code != 0 or not os.listdir(merged):
            return 1, f"{name}: merging failed with code {code}"
        shutil.rmtree(options.corpus, ignore_errors=True)
        shutil.copytree(merged, options.corpus)
    sizes = [entry.stat().st_size for entry in os.scandir(options.corpus)]
    return 0, f"{name}: {len(sizes)} inputs of {sum(sizes):,} bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", help="the program, linked with libFuzzer")
    parser.add_argument("--corpus", required=True, help="the folder of kept inputs")
    parser.add_argument("--work", required=True, help="the folder for what is found")
    parser.add_argument("--keep", action="store_true", help="do not fuzz: keep what was found")
    options = parser.parse_args()
    options.seconds = int(os.environ.get("SHOAL_FUZZ_SECONDS", "30"))
    options.work = os.path.abspath(options.work)
    os.makedirs(options.work, exist_ok=True)
    name = os.path.basename(options.target).removeprefix("fuzz_")
    code, line = keep(options, name) if options.keep else fuzz(options, name)
    print(line)
    with open(os.path.join(options.work, name + ".result"), "w", encoding="utf-8") as result:
        result.write(line + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
