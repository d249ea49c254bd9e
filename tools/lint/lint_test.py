# SPDX-License-Identifier: Apache-2.0
"""Plants each fault that the checks must see, and the look-alikes that they must not report."""

import json
import os
import tempfile
import unittest

import lint
from compiled_rules import Compiled, CompileFlags, not_built
from result_cache import ResultCache
from source import Source, kind_of, read

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"
HPP = HEAD + "// The problem, and what this offers.\n#pragma once\n"


def checks(path, text):
    source = Source(path, kind_of(os.path.basename(path)), text)
    return sorted({finding.check for finding in lint.text_findings([source])})


class TextTest(unittest.TestCase):
    def test_a_good_header_is_clean(self):
        self.assertEqual(checks("shoal/comm/x.hpp", HPP + "#include <vector>\n"), [])

    def test_licence(self):
        self.assertEqual(checks("tools/x.cpp", "int x;\n"), ["licence"])
        self.assertEqual(checks("tools/x.cpp", HEAD + HEAD), ["licence"])
        self.assertEqual(checks("cmake/x.cmake", "set(x 1)\n"), ["licence"])

    def test_lines(self):
        self.assertEqual(checks("tools/x.cpp", HEAD + "/" * 101 + "\n"), ["columns"])
        self.assertEqual(checks("tools/x.cpp", HEAD + "/" * 100 + "\n"), [])
        self.assertEqual(checks("tools/x.cpp", HEAD + "int x; \n"), ["whitespace"])
        self.assertEqual(checks("tools/x.cpp", HEAD + "\tint x;\n"), ["whitespace"])
        self.assertEqual(checks("tools/x.cpp", HEAD + "int x;"), ["whitespace"])

    def test_lengths(self):
        self.assertEqual(checks("tools/x.cpp", HEAD + "int x;\n" * 499), [])
        self.assertEqual(checks("tools/x.cpp", HEAD + "int x;\n" * 500), ["file_length"])
        python = HEAD.replace("//", "#") + "def f():\n" + "    x = 1\n" * 70
        self.assertEqual(checks("tools/x.py", python), ["function_length"])

    def test_header_shape(self):
        self.assertEqual(checks("shoal/comm/x.hpp", HEAD + "// What for.\n"), ["pragma_once"])
        self.assertEqual(checks("shoal/comm/x.hpp", HEAD + "#pragma once\n"), ["header_paragraph"])

    def test_file_names(self):
        self.assertEqual(checks("shoal/comm/string_utils.hpp", HPP), ["file_name"])


class LayerTest(unittest.TestCase):
    def test_includes_point_down(self):
        up = HPP + "#include <shoal/actors/proxy.hpp>\n"
        self.assertEqual(checks("shoal/comm/x.hpp", up), ["layer_order"])
        self.assertEqual(checks("shoal/actors/x.hpp", up), [])
        self.assertEqual(checks("shoal/lb/x.hpp", up), [])
        test = HEAD + "#include <shoal/lb/a.hpp>\n"
        self.assertEqual(checks("tests/unit/comm/x_test.cpp", test), [])

    def test_the_library_does_not_include_its_umbrella(self):
        text = HPP + "#include <shoal/shoal.hpp>\n"
        self.assertEqual(checks("shoal/actors/x.hpp", text), ["layer_order"])
        self.assertEqual(checks("examples/x.hpp", text), [])

    def test_an_unknown_layer(self):
        text = HPP + "#include <shoal/cmm/error.hpp>\n"
        self.assertEqual(checks("shoal/comm/x.hpp", text), ["layer_order"])

    def test_quotes(self):
        self.assertEqual(checks("shoal/comm/x.hpp", HPP + '#include "y.hpp"\n'), ["include_style"])

    def test_owned_names(self):
        for name in ("ucp_worker_h worker;", "hwloc_obj_t object;", "cudaStream_t stream;",
                     "arrow::Table table;"):
            with self.subTest(name):
                self.assertEqual(checks("shoal/runtime/x.hpp", HPP + name + "\n"), ["owned_name"])
                self.assertEqual(checks("shoal/runtime/x.hpp", HPP + "// " + name + "\n"), [])
                self.assertEqual(checks("shoal/runtime/x.cpp", HEAD + name + "\n"), [])
        self.assertEqual(checks("shoal/comm/ucx/x.hpp", HPP + "ucp_worker_h worker;\n"), [])
        self.assertEqual(checks("shoal/comm/x.hpp", HPP + "#include <hwloc.h>\n"), ["owned_name"])
        self.assertEqual(checks("shoal/comm/x.hpp", HPP + "#include <CLI/CLI.hpp>\n"),
                         ["heavy_include"])


class BanTest(unittest.TestCase):
    def banned(self, line, path="shoal/comm/x.cpp"):
        return checks(path, HEAD + line + "\n")

    def test_each_ban(self):
        for name, line in {
            "sleep": "std::this_thread::sleep_for(1ms);",
            "random": "int x = rand();",
            "clock": "auto t = std::chrono::steady_clock::now();",
            "print": 'printf("x");',
            "volatile": "volatile int x;",
            "endl": "out << std::endl;",
            "new": "auto* x = new Thing;",
            "delete": "delete x;",
            "detach": "thread.detach();",
        }.items():
            with self.subTest(name):
                self.assertEqual(self.banned(line), [name])
                self.assertEqual(self.banned("// " + line), [])
                self.assertEqual(self.banned(f'auto s = "{line.replace(chr(34), "")}";'), [])
                self.assertEqual(self.banned(f"{line}  // lint: allow({name}): a reason"), [])
                self.assertEqual(self.banned(f"{line}  // lint: allow({name})"), [name])
                self.assertEqual(self.banned(f"{line}  // NOLINT: a reason"), [])
                self.assertEqual(self.banned(f"{line}  // NOLINT"), [name])

    def test_using_namespace_in_a_header(self):
        line = "using namespace std;\n"
        self.assertEqual(checks("shoal/comm/x.hpp", HPP + line), ["using_namespace"])
        self.assertEqual(self.banned(line.strip()), [])

    def test_look_alikes(self):
        for line in ("X(const X&) = delete;", "new (place) Thing;", "::new (place) Thing;",
                     "clock.now();", "pe.sleep();", "fiber.sleep_for(5);", "operand(x);",
                     'asm volatile("pause");', "snprintf(a, n, b);", "fmt::format(x);",
                     "void operator delete(void*);", "int n = 1'000; int m = 2'000;"):
            with self.subTest(line):
                self.assertEqual(self.banned(line), [])

    def test_where_things_are_defined(self):
        clock = "auto t = std::chrono::steady_clock::now();"
        self.assertEqual(self.banned(clock, "shoal/comm/clock.cpp"), [])
        self.assertEqual(self.banned(clock, "tests/unit/x_test.cpp"), ["clock"])
        self.assertEqual(self.banned('printf("x");', "examples/hello.cpp"), [])


class CompiledTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.write(".clang-tidy", "Checks: '-*,clang-diagnostic-*,bugprone-sizeof-expression'\n")
        self.write(".clang-format", "BasedOnStyle: Google\n")
        command = f"c++ -I{self.root} -DNDEBUG -c shoal/comm/a.cpp"
        entry = {"directory": self.root, "file": "shoal/comm/a.cpp", "command": command}
        self.write("build/compile_commands.json", json.dumps([entry]))
        self.flags = CompileFlags(self.root, os.path.join(self.root, "build"))

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        return read(self.root, path)

    def compiled(self):
        cache = ResultCache(self.root, os.path.join(self.root, "cache"))
        return Compiled(self.root, self.flags, cache, 2)

    def test_a_header_that_needs_another_is_found(self):
        source = self.write("shoal/comm/x.hpp", HPP + "inline std::string name();\n")
        found = self.compiled().headers_alone([source])
        self.assertEqual({(f.path, f.line, f.check) for f in found},
                         {("shoal/comm/x.hpp", 4, "header_alone")})

    def test_a_change_in_an_included_header_is_seen(self):
        self.write("shoal/comm/y.hpp", HPP + "struct Y {};\n")
        text = HPP + "#include <shoal/comm/y.hpp>\ninline Y y{};\n"
        source = self.write("shoal/comm/x.hpp", text)
        self.assertEqual(self.compiled().headers_alone([source]), [])
        self.write("shoal/comm/y.hpp", HPP + "struct Z {};\n")
        self.assertNotEqual(self.compiled().headers_alone([source]), [])

    def test_a_second_run_compiles_nothing(self):
        source = self.write("shoal/comm/x.hpp", HPP + "struct X {};\n")
        self.compiled().headers_alone([source])
        again = self.compiled()
        again.progress = lambda done, total: self.fail("it compiled again")
        self.assertEqual(again.headers_alone([source]), [])

    def test_clang_tidy_findings_are_found_and_kept(self):
        source = self.write("shoal/comm/a.cpp", HEAD + "auto n = sizeof(sizeof(int));\n")
        for _ in range(2):
            found = self.compiled().clang_tidy([source])
            self.assertEqual([(f.line, f.check) for f in found],
                             [(2, "bugprone-sizeof-expression")])

    def test_a_file_that_no_target_lists_is_found(self):
        listed = self.write("shoal/comm/a.cpp", HEAD)
        forgotten = self.write("shoal/comm/b.cpp", HEAD)
        self.assertEqual(list(not_built(listed, self.flags)), [])
        self.assertEqual([f.path for f in not_built(forgotten, self.flags)], ["shoal/comm/b.cpp"])

    def test_a_program_whose_library_is_not_there_is_left_out(self):
        peer = self.write("perf/peers/caf.cpp", HEAD + "#include <caf/nowhere.hpp>\n")
        self.assertEqual(list(not_built(peer, self.flags)), [])

    def test_layout_is_found_and_fixed(self):
        source = self.write("shoal/comm/a.cpp", HEAD + "int  x ;\n")
        self.assertEqual([f.check for f in lint.format_findings(self.root, [source], False)],
                         ["format"])
        lint.format_findings(self.root, [source], True)
        self.assertIn("int x;", read(self.root, source.path).text)


if __name__ == "__main__":
    unittest.main()
