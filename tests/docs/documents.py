# SPDX-License-Identifier: Apache-2.0
"""Reads Markdown documents: their fenced blocks, and the marker, an HTML comment, before each.

  <!-- snippet: NAME [pes=N] [exit=N] [stream=stderr] -->   a cpp block, compiled and run; the text
      block that follows it, if nothing but prose lies between, is what it prints
  <!-- file: PATH -->        the block is that file, without its licence line
  <!-- command: [sorted] WORDS… -->   the block is what the command prints (sorted: in any order)
"""

import dataclasses
import re

FENCE = re.compile(r"^```(\w*)$")
MARKER = re.compile(r"^<!-- (snippet|file|command): (.*?) -->$")


@dataclasses.dataclass
class Block:
    language: str
    text: str
    line: int  # of the document, where the text begins
    kind: str = ""  # of its marker; "" if it has none
    words: tuple = ()  # of its marker


@dataclasses.dataclass
class Snippet:
    name: str
    text: str
    line: int
    pes: int = 1
    exit: int = 0
    stream: str = "stdout"
    expected: str = None  # None: whatever it prints

    @property
    def has_main(self):
        return re.search(r"^int main\(", self.text, re.MULTILINE) is not None


def blocks_of(path):
    """All fenced blocks; headings appear as blocks of the language "#"."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    marker = None
    opened = None
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            kind, words = marker or ("", ())
            opened = Block(fence[1], "", number + 1, kind, words)
            marker = None
        elif opened is not None and fence:
            opened.text = "".join(text + "\n" for text in lines[opened.line - 1:number - 1])
            yield opened
            opened = None
        elif opened is None and MARKER.match(line):
            kind, words = MARKER.match(line).groups()
            marker = kind, tuple(words.split())
        elif opened is None and line.strip():
            marker = None
            if line.startswith("#"):
                yield Block("#", line, number)


def snippets_of(path):
    """The snippets of a document, in order, each with the output that follows it."""
    found = []
    last = None
    for block in blocks_of(path):
        if block.kind == "snippet":
            options = dict(word.split("=", 1) for word in block.words[1:])
            last = Snippet(block.words[0], block.text, block.line, int(options.get("pes", 1)),
                           int(options.get("exit", 0)), options.get("stream", "stdout"))
            found.append(last)
        elif block.language == "text" and not block.kind and last is not None:
            last.expected = block.text
            last = None
        else:
            last = None
    return found
