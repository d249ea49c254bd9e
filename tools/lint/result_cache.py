# SPDX-License-Identifier: Apache-2.0
"""Findings kept under a hash of everything that they depend on, shared by all clones of a user.

A file's key covers its text and that of every project header that it reaches, the flags, the tool's
version and the tool's settings. Headers of the system are taken as fixed by the tool's version.
"""

import hashlib
import json
import os
import re
import tempfile

from source import Finding

MAX_ENTRIES = 4000  # about 0.3 KB each; the oldest go first

_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:<([^>]+)>|"([^"]+)")', re.MULTILINE)


class ResultCache:
    def __init__(self, root, folder=None):
        self.root = root
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.folder = folder or os.path.join(base, "shoal-lint")
        os.makedirs(self.folder, exist_ok=True)
        self._texts = {}
        self._prune()

    def _prune(self):
        entries = [entry for entry in os.scandir(self.folder) if entry.name.endswith(".json")]
        if len(entries) > MAX_ENTRIES:
            entries.sort(key=lambda entry: entry.stat().st_mtime)
            for entry in entries[: len(entries) - MAX_ENTRIES // 2]:
                os.unlink(entry.path)

    def _text(self, path):
        if path not in self._texts:
            try:
                with open(os.path.join(self.root, path), "rb") as file:
                    self._texts[path] = file.read().decode("utf-8", "replace")
            except OSError:
                self._texts[path] = None  # a header of the system, or a generated one
        return self._texts[path]

    def reached(self, path):
        """The project's files that `path` includes, itself among them."""
        seen, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current in seen or self._text(current) is None:
                continue
            seen.add(current)
            for angled, quoted in _INCLUDE.findall(self._text(current)):
                name = angled or quoted
                beside = os.path.normpath(os.path.join(os.path.dirname(current), name))
                waiting += [name, beside]
        return sorted(seen)

    def key(self, path, *context):
        digest = hashlib.sha256(repr((path, context)).encode())
        for reached in self.reached(path):
            digest.update(f"\0{reached}\0{self._text(reached)}".encode())
        return digest.hexdigest()

    def get(self, key):
        try:
            with open(os.path.join(self.folder, key + ".json"), encoding="utf-8") as file:
                return [Finding(*row) for row in json.load(file)]
        except (OSError, ValueError, TypeError):
            return None

    def put(self, key, findings):
        rows = [[f.path, f.line, f.check, f.message] for f in findings]
        handle, path = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(rows, file)
        os.replace(path, os.path.join(self.folder, key + ".json"))
