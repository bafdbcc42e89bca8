"""npz files, the clone of ContactNets, and how a path's format is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contactworks.common.errors import FileFormatError
from contactworks.crisp.tosses.readers import read_tosses


def arrays() -> dict[str, np.ndarray]:
    """Return two tosses, of five and six frames."""
    rng = np.random.default_rng(0)
    quaternion = rng.standard_normal((11, 4))
    return {
        "pos": rng.standard_normal((11, 3)),
        "quat_wxyz": quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True),
        "linvel": rng.standard_normal((11, 3)),
        "angvel_body": rng.standard_normal((11, 3)),
        "start": np.array([0, 5, 11]),
        "toss_id": np.array([7, 3]),
        "dt": np.array(0.01),
        "half_width": np.array(0.05),
        "mass": np.array(0.4),
    }


def save(path: Path, content: dict[str, Any]) -> Path:
    np.savez(path, **content)
    return path


def test_npz_is_read(tmp_path: Path) -> None:
    content = arrays()
    tosses = read_tosses(save(tmp_path / "a.npz", content))
    assert [(toss.id, len(toss)) for toss in tosses.tosses] == [("7", 5), ("3", 6)]
    assert (tosses.dt, tosses.half_width, tosses.mass) == (0.01, 0.05, 0.4)
    np.testing.assert_array_equal(tosses.tosses[1].position, content["pos"][5:])
    np.testing.assert_array_equal(tosses.tosses[0].linear_velocity, content["linvel"][:5])
    np.testing.assert_array_equal(tosses.tosses[0].angular_velocity, content["angvel_body"][:5])
    np.testing.assert_allclose(tosses.tosses[1].quaternion, content["quat_wxyz"][5:], atol=1e-15)


def test_size_and_mass_can_be_given(tmp_path: Path) -> None:
    content = arrays()
    path = save(tmp_path / "a.npz", content)
    assert read_tosses(path, half_width=0.06, mass=1.0).half_width == 0.06
    del content["mass"]
    path = save(tmp_path / "b.npz", content)
    assert read_tosses(path, mass=1.0).mass == 1.0
    with pytest.raises(FileFormatError, match="arrays missing: mass"):
        read_tosses(path)


def test_folder_with_tosses_npz(tmp_path: Path) -> None:
    save(tmp_path / "tosses.npz", arrays())
    save(tmp_path / "other.npz", {"x": np.zeros(1)})
    assert len(read_tosses(tmp_path)) == 2


def spoiled(name: str, index: Any, value: float) -> dict[str, np.ndarray]:
    content = arrays()
    content[name][index] = value
    return content


@pytest.mark.parametrize(
    ("content", "place", "fault"),
    [
        (spoiled("pos", (6, 1), np.nan), "row 6 (toss 3, frame 1), y", "finite"),
        (spoiled("angvel_body", (4, 2), np.inf), "row 4 (toss 7, frame 4), wz", "finite"),
        (spoiled("quat_wxyz", 5, 0.9), "row 5 (toss 3, frame 0)", "length 1.8"),
        (spoiled("start", 1, 8), "start", "toss 1 (row 8) has 3 frame(s)"),
        (spoiled("start", 1, 12), "start", "frame(s)"),
        (spoiled("start", 2, 10), "start", "number of rows, 11"),
        (arrays() | {"pos": np.zeros((11, 2))}, "pos", "(11, 2)"),
        (arrays() | {"linvel": np.zeros((10, 3))}, "linvel", "(10, 3)"),
        (arrays() | {"toss_id": np.zeros(3)}, "toss_id", "(3,)"),
        (arrays() | {"dt": np.array(-0.01)}, "dt", "positive"),
        (arrays() | {"dt": np.array([0.1, 0.1])}, "dt", "one number"),
    ],
)
def test_faults_of_npz_are_named(
    tmp_path: Path, content: dict[str, np.ndarray], place: str, fault: str
) -> None:
    path = save(tmp_path / "a.npz", content)
    with pytest.raises(FileFormatError) as caught:
        read_tosses(path)
    assert str(path) in str(caught.value)
    assert place in str(caught.value)
    assert fault in str(caught.value)


@pytest.mark.parametrize("name", ["pos", "quat_wxyz", "linvel", "angvel_body", "start", "dt"])
def test_a_missing_array_is_named(tmp_path: Path, name: str) -> None:
    content = arrays()
    del content[name]
    with pytest.raises(FileFormatError, match=f"arrays missing: {name}$"):
        read_tosses(save(tmp_path / "a.npz", content))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"text"])
def test_damaged_npz_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.npz: not a readable"):
        read_tosses(path)


def test_paths_without_tosses_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_tosses(tmp_path / "nowhere")
    with pytest.raises(FileFormatError, match="folder without tosses"):
        read_tosses(tmp_path)
    other = tmp_path / "a.txt"
    other.write_text("x")
    with pytest.raises(FileFormatError, match=r"suffix '\.txt'"):
        read_tosses(other)


class TestContactNets:
    """The folder of a clone; needs PyTorch."""

    torch: Any

    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        type(self).torch = pytest.importorskip("torch")

    def clone(self, root: Path, count: int = 2) -> np.ndarray:
        """Write a clone with tosses 10, 11, ... and 2; return the states of toss 2."""
        folder = root / "data" / "tosses_processed"
        folder.mkdir(parents=True)
        rng = np.random.default_rng(1)
        for number in [*range(10, 10 + count - 1), 2]:
            states = rng.standard_normal((1, 5, 19))
            states[..., 3:7] /= np.linalg.norm(states[..., 3:7], axis=-1, keepdims=True)
            self.torch.save(self.torch.tensor(states), folder / f"{number}.pt")
        return np.asarray(states[0])

    @pytest.mark.parametrize("place", [".", "data", "data/tosses_processed"])
    def test_root_data_folder_and_folder_itself(self, tmp_path: Path, place: str) -> None:
        states = self.clone(tmp_path)
        tosses = read_tosses(tmp_path / place)
        assert [toss.id for toss in tosses.tosses] == ["2", "10"]  # by number, not by name
        assert tosses.dt == pytest.approx(1 / 148)
        toss = tosses.tosses[0]
        np.testing.assert_allclose(toss.position, 0.0524 * states[:, :3], rtol=1e-14)
        np.testing.assert_allclose(toss.quaternion, states[:, 3:7], atol=1e-14)
        np.testing.assert_allclose(toss.linear_velocity, 0.0524 * states[:, 7:10], rtol=1e-14)
        np.testing.assert_allclose(toss.angular_velocity, states[:, 10:13], rtol=1e-14)

    def test_faults_are_named(self, tmp_path: Path) -> None:
        self.clone(tmp_path)
        path = tmp_path / "data" / "tosses_processed" / "3.pt"
        good = self.torch.zeros(1, 5, 19)
        good[..., 3] = 1.0
        bad_value, bad_length = good.clone(), good.clone()
        bad_value[0, 4, 12] = float("nan")
        bad_length[0, 1, 3] = 0.5
        cases = [
            (bad_value, "frame 4, wz"),
            (bad_length, "frame 1, qw qx qy qz"),
            (good[:, :3], "3 frame"),
            (good[0], r"shape \(5, 19\)"),
            (good[..., :12], r"shape \(1, 5, 12\)"),
            ({"state": good}, "got dict"),
        ]
        for content, fault in cases:
            self.torch.save(content, path)
            with pytest.raises(FileFormatError, match=rf"3\.pt.*{fault}"):
                read_tosses(tmp_path)

    def test_damaged_file_and_code_in_a_file_are_refused(self, tmp_path: Path) -> None:
        self.clone(tmp_path)
        path = tmp_path / "data" / "tosses_processed" / "3.pt"
        path.write_bytes(b"no tensor")
        with pytest.raises(FileFormatError, match=r"3\.pt: not a readable tensor"):
            read_tosses(tmp_path)
        self.torch.save(Path("a pickled object that is no tensor"), path)
        with pytest.raises(FileFormatError, match=r"3\.pt: not a readable tensor"):
            read_tosses(tmp_path)
