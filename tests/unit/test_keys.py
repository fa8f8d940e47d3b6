"""Keys of random draws."""

from __future__ import annotations

from gantrain.keys import short_seed, stream_key

# images and initial weights of old seeds hang on these numbers
PINNED_SAMPLE = 5948880168536804597
PINNED_INIT = 817287921


def test_a_key_depends_on_each_of_its_parts_and_fits_into_63_bits():
    keys = {
        stream_key(seed, stream, attempt)
        for seed in (0, 1, 11)
        for stream in ("latents", "labels", "1/latents")
        for attempt in (0, 1, 11)
    }
    assert len(keys) == 27
    assert all(0 <= key < 2**63 for key in keys)
    assert all(0 <= short_seed(seed, "init/generator") < 2**31 for seed in range(200))


def test_keys_are_the_same_in_every_version():
    assert (stream_key(0, "sample"), short_seed(7, "init/generator")) == (PINNED_SAMPLE, PINNED_INIT)
