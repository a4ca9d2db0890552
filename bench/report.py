"""Print the tables of a run: floors, a column for each server with its ratio to the first, and the figures with their limits."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

FIGURES = tomllib.loads(Path(__file__).with_name("figures.toml").read_text())["figure"]
Values = Mapping[str, float]


def tables(size: int, floors: Values, servers: Mapping[str, Values]) -> str:
    """All about one size of farm."""
    rows = list(dict.fromkeys(row for values in servers.values() for row in values))
    names = list(servers)
    lines = [f"\n{size:,} servers", *(f"  {name:28}{readable(name, value):>14}" for name, value in floors.items()), ""]
    lines.append("  " + " " * 28 + "".join(f"{name:>14}" + ("" if name == names[0] else f"{'ratio':>8}") for name in names))
    lines += [f"  {row:28}" + "".join(_cell(row, name, servers) for name in names) for row in rows]
    for name in names:
        lines += [f"\n  {name}: figures to hold", *verdicts(size, floors, servers[name])]
    return "\n".join(lines)


def _cell(row: str, name: str, servers: Mapping[str, Values]) -> str:
    value, first = servers[name].get(row), next(iter(servers.values())).get(row)
    text = f"{'-' if value is None else readable(row, value):>14}"
    if name == next(iter(servers)):
        return text
    return text + (f"{value / first:8.2f}" if value is not None and first else " " * 8)


def verdicts(size: int, floors: Values, values: Values) -> Iterator[str]:
    for figure in FIGURES:
        row, floor = figure["row"], figure.get("floor")
        # What a figure is held against is a floor, or another row of the same server.
        against = {**values, **floors}
        if figure["size"] != size or row not in values or (floor and floor not in against):
            continue
        measured = values[row] / against[floor] if floor else values[row]
        limit = figure.get("at_most", figure.get("at_least"))
        held = measured <= limit if "at_most" in figure else measured >= limit
        shown, allowed = (f"{measured:.2f}", f"{limit:.2f}") if floor else (readable(row, measured), readable(row, limit))
        sign = "<=" if "at_most" in figure else ">="
        yield f"  {row + (f' / {floor}' if floor else ''):46}{shown:>12} {sign} {allowed:10}{'held' if held else 'NOT HELD'}"


def readable(row: str, value: float) -> str:
    if "memory" in row or row.endswith("transactions"):
        return f"{value:.1f} MiB"
    if "of a core" in row:
        return f"{value:.1%}"
    if row.endswith(("a second", "an hour", "for a release")):
        return f"{value:.2f}"
    if "KiB" in row:
        return f"{value:.1f} KiB"
    if "readers" in row or "clients" in row:
        return f"{value:,.0f}/s"
    return f"{value * 1e6:.0f} us" if value < 1e-3 else f"{value * 1e3:.2f} ms" if value < 1 else f"{value:.2f} s"
