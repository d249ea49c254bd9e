# SPDX-License-Identifier: Apache-2.0
"""Rows of figures, and the tables that people read.

A row is {"bench", "case", "metric", "unit", "better", "value", "min", "n", "peer", "peer_value",
"ratio"}: `value` the median of n repetitions, `min` the best of them, `ratio` = value / peer_value.
There is one row for each peer, and one with null for a figure that has none.
"""

import json
import statistics
import sys

UNITS = {
    "latency": ("us", "lower"),
    "bandwidth": ("MB/s", "higher"),  # of 10^6 bytes
    "bidirectional_bandwidth": ("MB/s", "higher"),  # both ways together
    "rate": ("messages/s", "higher"),
    "time": ("ns", "lower"),
    "instructions": ("instructions", "lower"),
    "allocations": ("allocations", "lower"),
}


def rows(bench, case, metric, values, peers, unit=None):
    """The rows of one figure. `values` are Shoal's repetitions, `peers` maps a name to its own."""
    default_unit, better = UNITS[metric]
    best = min if better == "lower" else max
    row = {"bench": bench, "case": case, "metric": metric, "unit": unit or default_unit,
           "better": better, "value": statistics.median(values), "min": best(values),
           "n": len(values)}
    result = []
    for name, peer_values in (peers or {None: None}).items():
        peer = statistics.median(peer_values) if peer_values else None
        result.append({**row, "peer": name, "peer_value": peer,
                       "ratio": row["value"] / peer if peer else None})
    return result


def write_json(all_rows, path):
    lines = "".join(json.dumps(round_figures(row)) + "\n" for row in all_rows)
    if path == "-":
        sys.stdout.write(lines)
    else:
        with open(path, "w") as file:
            file.write(lines)


def round_figures(row):
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value
            for key, value in row.items()}


def figure(value):
    """Five digits or fewer, for a column."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"


def table(title, first_column, all_rows, label, out):
    """One table: a line for each label(row): Shoal's median and best, each peer and its ratio."""
    peers = []
    lines = {}
    for row in all_rows:
        cells = lines.setdefault(label(row), {})
        cells["value"], cells["best"] = row["value"], row["min"]
        if row["peer"]:
            cells[row["peer"]] = (row["peer_value"], row["ratio"])
            if row["peer"] not in peers:
                peers.append(row["peer"])
    print(f"\n# {title}", file=out)
    heading = f"# {first_column:<30}" if first_column != "Size" else "# Size    "
    width = len(heading)
    heading += f"{'shoal':>12}{'best':>12}"
    for peer in peers:
        heading += f"{peer:>14}{'ratio':>8}"
    print(heading, file=out)
    for name, cells in lines.items():
        line = f"{name:<{width}}{figure(cells['value']):>12}{figure(cells['best']):>12}"
        for peer in peers:
            value, ratio = cells.get(peer, (None, None))
            line += f"{figure(value):>14}{'-' if ratio is None else f'{ratio:.2f}':>8}"
        print(line, file=out)
    out.flush()
