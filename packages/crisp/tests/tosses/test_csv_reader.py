"""CSV files: what is read, and that every fault is named with its file and line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contactworks.common.errors import FileFormatError
from contactworks.crisp.tosses.readers import read_tosses

HEADER = "toss,time,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz"
FRAMES = 6


def rows(toss: str = "0", frames: int = FRAMES, dt: float = 0.01) -> list[list[str]]:
    """Return the cells of one toss in free flight."""
    return [
        [toss, f"{k * dt:.6f}", f"{0.1 * k}", "0", "0.2", "1", "0", "0", "0", "1", "2", "3", "4"]
        + ["5", "6"]
        for k in range(frames)
    ]


def write(path: Path, table: list[list[str]], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *(",".join(row) for row in table)]) + "\n")
    return path


def test_values_arrive_where_they_belong(tmp_path: Path) -> None:
    tosses = read_tosses(write(tmp_path / "a.csv", rows("p") + rows("q")), mass=0.5)
    assert [toss.id for toss in tosses.tosses] == ["p", "q"]
    assert tosses.dt == pytest.approx(0.01)
    assert (tosses.mass, tosses.half_width) == (0.5, 0.0524)
    toss = tosses.tosses[1]
    np.testing.assert_allclose(toss.position[:, 0], 0.1 * np.arange(FRAMES))
    np.testing.assert_array_equal(toss.linear_velocity[0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(toss.angular_velocity[0], [4.0, 5.0, 6.0])


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    plain = read_tosses(write(tmp_path / "a.csv", rows()))
    turned = [row[::-1] for row in rows()]
    header = ",".join(HEADER.split(",")[::-1])
    other = read_tosses(write(tmp_path / "b.csv", turned, header))
    np.testing.assert_array_equal(plain.tosses[0].quaternion, other.tosses[0].quaternion)
    np.testing.assert_array_equal(plain.tosses[0].position, other.tosses[0].position)


def test_folder_of_files_is_read_in_order_of_names(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", rows("1"))
    write(tmp_path / "a.csv", rows("0") + rows("1"))
    assert [t.id for t in read_tosses(tmp_path).tosses] == ["a/0", "a/1", "b/1"]


def test_quaternions_become_exactly_unit(tmp_path: Path) -> None:
    table = rows()
    table[2][5:9] = ["0.7071", "0.7071", "0", "0"]
    quaternion = read_tosses(write(tmp_path / "a.csv", table)).tosses[0].quaternion
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1.0, atol=1e-15)


def changed(row: int, column: int, text: str) -> list[list[str]]:
    table = rows()
    table[row][column] = text
    return table


# Line 1 is the header, so row r stands in line r + 2.
@pytest.mark.parametrize(
    ("table", "place", "fault"),
    [
        (changed(3, 2, "nan"), "line 5, x", "finite"),
        (changed(3, 12, "inf"), "line 5, wx", "finite"),
        (changed(1, 4, "high"), "line 3, z", "'high'"),
        (changed(2, 5, "1.1"), "line 4, qw qx qy qz", "length 1.1"),
        (changed(4, 1, "0.045"), "line 6, time", "step of 0.015 s"),
        (changed(4, 1, "0.025"), "line 6, time", "increasing"),
        (changed(4, 1, "0.03"), "line 6, time", "increasing"),
        (rows(frames=3), "line 2", "3 frame(s)"),
        ([*rows(), *rows("1", frames=1)], "line 8", "1 frame(s)"),
        ([*rows(), *rows("1"), *rows()], "line 14, toss", "again"),
        ([*rows(), *rows("1", dt=0.02)], "line 9, time", "expected 0.01 s"),
        ([*rows()[:2], rows()[2][:-1]], "line 4", "14 cells"),
        ([], "a.csv", "no rows"),
    ],
)
def test_faults_are_named(tmp_path: Path, table: list[list[str]], place: str, fault: str) -> None:
    path = write(tmp_path / "a.csv", table)
    with pytest.raises(FileFormatError) as caught:
        read_tosses(path)
    assert str(path) in str(caught.value)
    assert place in str(caught.value)
    assert fault in str(caught.value)


@pytest.mark.parametrize("column", HEADER.split(","))
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    names = HEADER.split(",")
    index = names.index(column)
    table = [row[:index] + row[index + 1 :] for row in rows()]
    path = write(tmp_path / "a.csv", table, ",".join(n for n in names if n != column))
    with pytest.raises(FileFormatError, match=rf"a\.csv, line 1: .*missing: {column};"):
        read_tosses(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FileFormatError, match=r"a\.csv: not a readable CSV"):
        read_tosses(path)


def test_fault_in_one_file_of_a_folder_names_that_file(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", rows())
    bad = write(tmp_path / "b.csv", changed(0, 3, "NaN"))
    with pytest.raises(FileFormatError, match="line 2, y") as caught:
        read_tosses(tmp_path)
    assert str(bad) in str(caught.value)
