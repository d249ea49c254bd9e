# SPDX-License-Identifier: Apache-2.0
"""check.py CASE.cpp -- COMPILER FLAGS…

Passes when CASE.cpp, as a user's mistake, fails to compile with a message that helps: it names
every concept (or text) of the case's lines "// EXPECT: text", and is at most MAX_LINES long.
Compiled with -DFIXED, the case must be accepted: so it fails for the reason that it names.
"""

import os
import re
import subprocess
import sys

MAX_LINES = 20


def compile_case(command, source, *flags):
    """Returns the compiler's exit code and its messages."""
    result = subprocess.run(
        [*command, *flags, "-fsyntax-only", "-fdiagnostics-color=never", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    return result.returncode, result.stdout


def faults_of(source, command):
    """Yields what is wrong with the case, each with the output that shows it."""
    with open(source, encoding="utf-8") as file:
        expected = re.findall(r"^// EXPECT: (\S.*?)\s*$", file.read(), re.MULTILINE)
    if not expected:
        yield "it has no line '// EXPECT: concept'", ""
    code, output = compile_case(command, source)
    lines = [line for line in output.splitlines() if line.strip()]
    if code == 0:
        yield "it compiles, but must not", output
    for text in expected:
        if code != 0 and text not in output:
            yield f"the messages do not name '{text}'", output
    if len(lines) > MAX_LINES:
        yield f"the messages are {len(lines)} lines long, at most {MAX_LINES} are allowed", output
    code, output = compile_case(command, source, "-DFIXED")
    if code != 0:
        yield "it does not compile with -DFIXED either", output


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    source, command = sys.argv[1], sys.argv[3:]
    command = [flag for flag in command if flag not in ("-I", "-D")]
    faults = list(faults_of(source, command))
    for what, output in faults:
        print(f"{source}: {what}\n{output}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
