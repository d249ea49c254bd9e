# SPDX-License-Identifier: Apache-2.0
"""extract.py DOCUMENT.md OUTPUT.cpp [SNIPPET]

Writes one program of all snippets of a document that have no main: each in a namespace of its own
name, run by `OUTPUT NAME [ARGUMENTS…]`. With SNIPPET, that one alone, which has a main.
"""

import os
import re
import sys

import documents

INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)


def grouped(path, snippets):
    """The source of all snippets together; their #includes come first."""
    includes = {line for snippet in snippets for line in INCLUDE.findall(snippet.text)}
    includes |= {"#include <shoal/shoal.hpp>\n", "#include <fmt/format.h>\n",
                 "#include <string_view>\n"}
    text = "".join(sorted(includes))
    choices = ""
    for snippet in snippets:
        body = INCLUDE.sub("\n", snippet.text)
        text += (f"\nnamespace {snippet.name} {{\nusing namespace shoal;\n"
                 f'#line {snippet.line} "{path}"\n{body}}}  // namespace {snippet.name}\n')
        settings = f", {snippet.name}::settings()" if "RunSettings settings()" in body else ""
        choices += (f'  if (name == "{snippet.name}") {{\n    return shoal::run('
                    f"argc - 1, argv + 1, {snippet.name}::program{settings});\n  }}\n")
    return (text + '\n#line 1 "main"\nint main(int argc, char** argv) {\n'
            '  const std::string_view name = argc > 1 ? argv[1] : "";\n'
            f"{choices}  return 64;\n}}\n")


def main():
    path, output = os.path.abspath(sys.argv[1]), sys.argv[2]
    snippets = documents.snippets_of(path)
    if len(sys.argv) > 3:
        snippet = next(s for s in snippets if s.name == sys.argv[3])
        text = f'#line {snippet.line} "{path}"\n{snippet.text}'
    else:
        text = grouped(path, [s for s in snippets if not s.has_main])
    with open(output, "w", encoding="utf-8") as file:
        file.write("// Made from the documentation; do not edit.\n" + text)


if __name__ == "__main__":
    main()
