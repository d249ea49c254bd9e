# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents say of files, exit codes, limits and compile errors."""

import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ("README.md", "docs/guide.md", "docs/architecture.md")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def table(path, name):
    """The rows, as lists of cells, of the table behind <!-- table: NAME -->."""
    text = read(path).split(f"<!-- table: {name} -->\n", 1)[1]
    lines = re.match(r"(\|.*\n)+", text)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def documented_number(text):
    """"64 KiB", "5 s" or "128 frames a peer", in bytes, nanoseconds or as it is."""
    number, unit = text.split(" ")[:2]
    factors = {"KiB": 1 << 10, "MiB": 1 << 20, "TiB": 1 << 40,
               "ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
    return int(number) * factors.get(unit, 1)


def number_in_code(expression):
    """The value of a C++ constant: products and shifts of integers and of kSecond and its kin."""
    text = expression.replace("comm::", "")
    for unit, nanoseconds in (("kMicrosecond", 10**3), ("kMillisecond", 10**6), ("kSecond", 10**9)):
        text = text.replace(unit, str(nanoseconds))
    text = re.sub(r"std::\w+\{(\d+)\}", r"\1", text).replace("'", "")
    text = re.sub(r"(?<=\d)U\b", "", text)
    value = 1
    for factor in text.split("*"):
        number, _, shift = factor.partition("<<")
        value *= int(number) << int(shift or 0)
    return value


class ClaimsTest(unittest.TestCase):
    def test_every_file_that_is_named_exists(self):
        for document in DOCUMENTS:
            for path in re.findall(r"`((?:shoal|tests|examples|perf|tools|docs|cmake)/[\w/.]*)`",
                                   read(document)):
                self.assertTrue(os.path.exists(os.path.join(ROOT, path)), f"{document}: {path}")
            for path in re.findall(r"\]\(([\w/.]+)(?:#[\w-]*)?\)", read(document)):
                path = os.path.join(ROOT, os.path.dirname(document), path)
                self.assertTrue(os.path.exists(path), f"{document}: {path}")

    def test_every_heading_that_is_linked_to_exists(self):
        for document in DOCUMENTS:
            text = read(document)
            headings = {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-")
                        for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
            for anchor in re.findall(r"\]\(#([\w-]+)\)", text):
                self.assertIn(anchor, headings, document)

    def test_the_exit_codes_are_those_of_the_code(self):
        code = read("shoal/runtime/exit_codes.hpp") + read("shoal/comm/error.hpp")
        defined = set(re.findall(r"inline constexpr int k\w+ = (\d+);", code))
        self.assertEqual({row[0] for row in table("docs/guide.md", "exit codes")}, defined)

    def test_the_mistakes_are_those_that_are_tested(self):
        tested = set()
        for path in glob.glob(os.path.join(ROOT, "tests/compile_fail/*.cpp")):
            if not path.endswith("self_test.cpp"):
                tested |= set(re.findall(r"^// EXPECT: ([A-Za-z_]+)$", read(path), re.MULTILINE))
        headers = "".join(read(path) for path in
                          glob.glob(os.path.join(ROOT, "shoal/**/*.hpp"), recursive=True))
        named = {name for name in tested if re.search(rf"\b(concept|bool) {name}\b", headers)}
        documented = {row[0].strip("`") for row in table("docs/guide.md", "mistakes")}
        self.assertEqual(documented, named)

    def test_the_limits_are_those_of_the_code(self):
        for name, value, place, *_ in table("docs/architecture.md", "limits"):
            name, place = name.strip("`"), place.strip("`")
            defined = re.search(rf"\b{name} ?= ([^;]+);", read(place))
            self.assertTrue(defined, f"{place} defines no {name}")
            self.assertEqual(documented_number(value), number_in_code(defined[1]), name)


if __name__ == "__main__":
    unittest.main()
