# SPDX-License-Identifier: Apache-2.0
"""Plants each fault that check.py must see. Usage: check_test.py COMPILER"""

import os
import sys
import tempfile
import unittest

import check

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "c++"
GOOD = """
// EXPECT: is_small
template <typename T> concept is_small = sizeof(T) == 1;
void take(is_small auto) {}
int main() {
#ifdef FIXED
  take('a');
#else
  take(1);
#endif
}
"""


class CheckTest(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.cpp")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return [what for what, _ in check.faults_of(path, [COMPILER, "-std=c++20"])]

    def test_a_good_case_passes(self):
        self.assertEqual(self.faults(GOOD), [])

    def test_a_case_that_compiles_fails(self):
        self.assertIn("it compiles", self.faults(GOOD.replace("take(1)", "take('b')"))[0])

    def test_a_message_without_the_concept_fails(self):
        text = GOOD.replace("EXPECT: is_small", "EXPECT: is_green")
        self.assertEqual(self.faults(text), ["the messages do not name 'is_green'"])

    def test_a_case_without_expectation_fails(self):
        self.assertIn("has no line", self.faults(GOOD.replace("EXPECT", "WANT"))[0])

    def test_a_case_that_fails_when_fixed_fails(self):
        self.assertIn("-DFIXED either", self.faults(GOOD.replace("take('a')", "take(2)"))[0])

    def test_a_long_message_fails(self):
        text = GOOD.replace("take(1);", "take(1); " * 4 + "\n" + "take(2);\n" * 4)
        self.assertIn("lines long", self.faults(text)[0])


if __name__ == "__main__":
    unittest.main()
