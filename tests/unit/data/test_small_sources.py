"""The packaged sets and the mixture of Gaussians, against what is known about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from gantrain import registry
from gantrain.data import packaged
from gantrain.data.catalog import Digits, FashionSample, GaussianMixture
from gantrain.data.gaussian_mixture import modes, shares
from gantrain.errors import DataError


def built(settings):
    return registry.build(settings, Path())


@pytest.mark.parametrize(("split", "per_class"), [("train", 400), ("test", 100)])
def test_fashion_sample_is_balanced(split, per_class: int):
    source = built(FashionSample(split=split))
    assert np.bincount(source.labels).tolist() == [per_class] * 10
    assert (source.in_memory.dtype, source.in_memory.shape) == (np.uint8, (10 * per_class, 28, 28, 1))
    assert len(np.unique(source.in_memory.reshape(10 * per_class, -1), axis=0)) >= 10 * per_class - 2


def test_fashion_sample_holds_pictures_of_what_the_labels_say():
    source = built(FashionSample())
    means = np.stack([source.in_memory[source.labels == label].mean(axis=0)[..., 0] for label in range(10)])
    trouser, sneaker = source.class_names.index("Trouser"), source.class_names.index("Sneaker")
    assert means[trouser, :, 10:18].mean() > 3 * means[trouser, :, [0, 1, 26, 27]].mean()  # tall and narrow
    assert means[sneaker, 14:22].mean() > 10 * means[sneaker, :6].mean()  # low: nothing above


def test_no_test_picture_is_a_training_picture():
    train, test = built(FashionSample()).in_memory, built(FashionSample(split="test")).in_memory
    assert not {picture.tobytes() for picture in train} & {picture.tobytes() for picture in test}


def test_digits_hold_the_17_levels_of_the_original():
    source = built(Digits())
    assert np.unique(source.in_memory).tolist() == [round(level * 255 / 16) for level in range(17)]
    assert np.bincount(source.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # as UCI states


def test_a_damaged_packaged_file_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "digits.npz").write_bytes(b"PK")
    monkeypatch.setattr(packaged, "FILES", tmp_path)
    with pytest.raises(DataError, match=r"digits\.npz, a part of gantrain, cannot be read"):
        built(Digits())


@pytest.mark.parametrize("settings", [GaussianMixture(), GaussianMixture(layout="grid")])
def test_points_of_each_mode_have_its_centre_and_its_std(settings: GaussianMixture):
    source = built(settings)
    offsets = source.in_memory - modes(settings)[source.labels]
    errors = settings.std / np.sqrt(settings.size)
    assert np.abs(offsets.mean(axis=0)).max() < 4 * errors
    assert np.abs(offsets.std(axis=0) - settings.std).max() < 4 * errors / np.sqrt(2)
    expected = settings.size / settings.modes
    chi2 = ((np.bincount(source.labels, minlength=settings.modes) - expected) ** 2 / expected).sum()
    assert abs(chi2 - (settings.modes - 1)) < 4 * np.sqrt(2 * (settings.modes - 1))


def test_the_ring_has_its_radius_and_the_grid_its_spacing_around_the_origin():
    ring = modes(GaussianMixture(modes=4, radius=3))
    assert np.allclose(ring, [[3, 0], [0, 3], [-3, 0], [0, -3]], atol=1e-12)
    grid = modes(GaussianMixture(layout="grid", modes=9, spacing=2))
    assert grid.tolist() == [[x, y] for y in (-2, 0, 2) for x in (-2, 0, 2)]


def test_a_grid_has_its_own_defaults_which_may_be_overridden():
    grid = GaussianMixture(layout="grid")
    assert (grid.modes, grid.std) == (25, 0.05)
    assert GaussianMixture(layout="grid", modes=16, std=0.1).model_dump() == {**grid.model_dump(), "modes": 16, "std": 0.1}
    with pytest.raises(ValidationError, match="a square number of modes"):
        GaussianMixture(layout="grid", modes=8)


def test_the_seed_decides_the_points():
    first, again, other = (built(GaussianMixture(size=50, seed=seed)).in_memory for seed in (1, 1, 2))
    assert (first == again).all()
    assert not (first == other).any()


def test_imbalance_is_the_ratio_of_the_commonest_mode_to_the_rarest():
    settings = GaussianMixture(modes=5, imbalance=50, size=100_000)
    expected = shares(settings)
    assert expected[0] / expected[-1] == pytest.approx(50)
    assert expected[0] / expected[1] == pytest.approx(expected[3] / expected[4])
    counts = np.bincount(built(settings).labels, minlength=5)
    assert np.abs(counts - 100_000 * expected).max() < 4 * np.sqrt(100_000 * 0.25)
    assert (built(GaussianMixture(size=50, imbalance=1)).in_memory == built(GaussianMixture(size=50)).in_memory).all()
