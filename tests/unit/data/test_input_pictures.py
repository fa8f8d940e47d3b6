"""Pictures for a trained network: errors name the user's files, never settings of a config that is not there."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gantrain.data.catalog import Digits
from gantrain.data.input_pictures import read_pictures
from gantrain.errors import DataError


def read(path):
    return read_pictures(path, Digits(), (8, 8, 1), (0.0, 16.0))


def test_a_folder_is_read_in_the_order_of_its_names_in_the_units_of_the_source(tmp_path):
    for name, level in (("b.png", 255), ("a.png", 0), ("c.png", 51)):
        Image.fromarray(np.full([8, 8], level, np.uint8)).save(tmp_path / name)
    np.testing.assert_allclose(read(tmp_path)[:, 0, 0, 0], [0, 16, 3.2], rtol=1e-6)


@pytest.mark.parametrize(("name", "said"), [("bad.png", "bad.png"), (None, "holds no pictures")])
def test_a_folder_that_cannot_be_read_is_explained_without_settings(tmp_path, name, said):
    if name is not None:
        (tmp_path / name).write_bytes(b"no picture")
    with pytest.raises(DataError, match=said) as caught:
        read(tmp_path)
    assert "on_bad_file" not in str(caught.value)
    assert "data.source" not in str(caught.value)
