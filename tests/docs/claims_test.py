# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents say of files, exit codes, limits and compile errors against the tree."""

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
        documented = {row[0].strip("`") for row in table("docs/guide.md", "mistakes")}
        self.assertEqual(documented, {name for name in tested if "_" in name or name[0].isupper()})

    def test_the_limits_are_those_of_the_code(self):
        """Each row of the limits: `kName` = value in `file`."""
        for name, value, place, *_ in table("docs/architecture.md", "limits"):
            if not name.startswith("`k"):
                continue
            self.assertRegex(read(place.strip("`")), rf"\b{name.strip('`')}\b", f"{name} in {place}")
            self.assertTrue(value, name)


if __name__ == "__main__":
    unittest.main()
