"""Workers that the kernel shows."""

from pathlib import Path

from haproxy_native.workers.workers import siblings


def process(proc: Path, pid: int, name: str, parent: int, children: str = "") -> None:
    (proc / f"{pid}/task/{pid}").mkdir(parents=True)
    (proc / f"{pid}/stat").write_text(f"{pid} ({name}) S {parent} 1 1\n")
    (proc / f"{pid}/task/{pid}/children").write_text(children)


def test_of_one_master(tmp_path: Path) -> None:
    process(tmp_path, 5, "haproxy", 2, "7 8 9 10 ")
    for pid, name in ((7, "haproxy"), (8, "haproxy"), (9, "a ) program")):
        process(tmp_path, pid, name, 5)
    assert siblings(7, tmp_path) == [8], "9 is another program, and 10 has ended"
    assert siblings(9, tmp_path) == []


def test_without_a_master(tmp_path: Path) -> None:
    process(tmp_path, 1, "init", 0, "7 8 ")
    process(tmp_path, 7, "haproxy", 1)
    process(tmp_path, 8, "haproxy", 1)
    assert siblings(7, tmp_path) == [] and siblings(77, tmp_path) == []
