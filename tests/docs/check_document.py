# SPDX-License-Identifier: Apache-2.0
"""check_document.py DOCUMENT.md [--programs FOLDER] [--bin FOLDER]

Checks that every block of C++ in the document is compiled and run somewhere: snippets by the
programs that extract.py's sources became, files by being the file they name, and that commands
print what the document says. Prints what differs.
"""

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys

import documents

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT_S = 60


def without_licence(text):
    return re.sub(r"\A(//|#) SPDX-License-Identifier: .*\n", "", text)


def steady(text):
    """Times, process ids and the white space at the ends of lines differ from run to run."""
    text = re.sub(r"\d+\.\d+ s\b", "0.0 s", text)
    text = re.sub(r"\(pid \d+\)", "(pid 1)", text)
    return "".join(line.rstrip() + "\n" for line in text.rstrip().split("\n"))


def differences(what, expected, found):
    expected, found = steady(expected).splitlines(), steady(found).splitlines()
    if expected != found:
        lines = difflib.unified_diff(expected, found, "documented", "found", lineterm="")
        yield "\n".join([f"{what}: the document and the program differ", *lines])


def run(command):
    """Exit code, stdout and stderr of a command, with the runtime's defaults."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SHOAL_")}
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S,
                            check=False, stdin=subprocess.DEVNULL, env=environment)
    return result.returncode, result.stdout, result.stderr


def snippet_faults(snippet, programs, document):
    own = f"{document}_{snippet.name}"
    command = [os.path.join(programs, own)] if snippet.has_main else [
        os.path.join(programs, document), snippet.name, f"--shoal-pes={snippet.pes}"]
    code, out, err = run(command)
    if code != snippet.exit:
        yield f"snippet {snippet.name}: exit code {code}, not {snippet.exit}\n{out}{err}"
    elif snippet.expected is not None:
        found = err if snippet.stream == "stderr" else out
        found = found.replace(f"{snippet.name}::", "")  # the namespace is extract.py's
        yield from differences(f"snippet {snippet.name}", snippet.expected, found)


def file_faults(block):
    with open(os.path.join(ROOT, block.words[0]), encoding="utf-8") as file:
        yield from differences(block.words[0], block.text, without_licence(file.read()))


def command_faults(block, bin_folder):
    in_any_order = block.words[0] == "sorted"
    words = shlex.split(" ".join(block.words[1:] if in_any_order else block.words))
    command = [os.path.join(bin_folder, word)
               if os.access(os.path.join(bin_folder, word), os.X_OK) else word for word in words]
    code, out, err = run(command)
    expected = block.text
    if code != 0:
        yield f"{' '.join(words)}: exit code {code}\n{out}{err}"
    if in_any_order:
        out, expected = ("".join(sorted(text.splitlines(True))) for text in (out, expected))
    yield from differences(" ".join(words), expected, out)


def faults(path, programs, bin_folder):
    document = os.path.splitext(os.path.basename(path))[0].lower()
    names = set()
    for block in documents.blocks_of(path):
        if block.language == "cpp" and block.kind not in ("snippet", "file"):
            yield f"line {block.line}: this block of C++ has no marker (see documents.py)"
        elif block.kind == "file":
            yield from file_faults(block)
        elif block.kind == "command":
            yield from command_faults(block, bin_folder)
    for snippet in documents.snippets_of(path):
        if snippet.name in names:
            yield f"line {snippet.line}: a second snippet of the name {snippet.name}"
        names.add(snippet.name)
        yield from snippet_faults(snippet, programs, document)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("document")
    parser.add_argument("--programs", default="", help="where the programs of its snippets are")
    parser.add_argument("--bin", default="", help="where the examples and the launcher are")
    options = parser.parse_args()
    found = list(faults(options.document, options.programs, options.bin))
    for fault in found:
        print(f"{options.document}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
