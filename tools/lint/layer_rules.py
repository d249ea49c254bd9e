# SPDX-License-Identifier: Apache-2.0
"""Includes point to lower layers only, and a foreign library shows in the headers of its owner."""

import re

from source import Finding

LAYERS = ("comm", "runtime", "actors", "lb", "frames", "capi")

# What no public header outside the owners' paths may name.
OWNED = (
    (re.compile(r"\buc[pst]_\w+|\bUC[PST]_\w+"), ("shoal/comm/ucx/",), "UCX"),
    (re.compile(r"\bhwloc_\w+"), ("shoal/runtime/topology",), "hwloc"),
    (re.compile(r"\bcuda[A-Z]\w*|\bcu(?:Mem|Ctx|Device|Stream)\w*|\bCU\w+ptr\b"),
     ("shoal/runtime/device",), "CUDA"),
    (re.compile(r"\barrow::\w+"), ("shoal/frames/",), "Arrow"),
)
_OWNED_INCLUDES = (
    (re.compile(r"<(ucp|ucs|uct)/"), ("shoal/comm/ucx/",), "UCX"),
    (re.compile(r"<hwloc"), ("shoal/runtime/topology",), "hwloc"),
    (re.compile(r"<cuda|<cuda_runtime"), ("shoal/runtime/device",), "CUDA"),
    (re.compile(r"<arrow/"), ("shoal/frames/",), "Arrow"),
)
# Each costs 5 to 20 s wherever it is included.
_HEAVY = re.compile(r"<(CLI/|nlohmann/|httplib)")
_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"][^>"]+[>"])')
_LIBRARY = re.compile(r"<shoal/(\w+)/")


def layer_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "shoal" and parts[1] in LAYERS else None


def includes_of(source):
    """Yields (line number, "<path>" or '"path"')."""
    for number, line in enumerate(source.lines, 1):
        match = _INCLUDE.match(line)
        if match:
            yield number, match[1]


def layer_order(source):
    layer = layer_of(source.path)
    if layer is None:
        return
    for number, include in includes_of(source):
        if include.startswith('"'):
            yield Finding(source.path, number, "include_style",
                          f"{include}: write it from the root, as <shoal/…>")
        match = _LIBRARY.match(include)
        if match and match[1] not in LAYERS:
            yield Finding(source.path, number, "layer_order", f"{include}: no such layer")
        elif match and LAYERS.index(match[1]) > LAYERS.index(layer):
            yield Finding(source.path, number, "layer_order",
                          f"{layer} includes {include}, which is a layer above it")
        elif include == "<shoal/shoal.hpp>":
            yield Finding(source.path, number, "layer_order", "the library includes its umbrella")


def owned_names(source):
    if source.kind != "hpp" or not source.path.startswith("shoal/"):
        return
    for number, line in enumerate(source.code_lines, 1):
        for pattern, owners, library in OWNED:
            match = pattern.search(line)
            if match and not source.path.startswith(owners):
                yield Finding(source.path, number, "owned_name",
                              f"{match[0]}: only headers in {owners[0]} may name {library}")
    for number, include in includes_of(source):
        for pattern, owners, library in _OWNED_INCLUDES:
            if pattern.match(include) and not source.path.startswith(owners):
                yield Finding(source.path, number, "owned_name",
                              f"{include}: only headers in {owners[0]} may include {library}")
        if _HEAVY.match(include):
            yield Finding(source.path, number, "heavy_include",
                          f"{include} is slow to compile: include it in one .cpp")


RULES = (layer_order, owned_names)
