"""gantrain: train GANs from a YAML file. Importing this package does not import TensorFlow."""

from gantrain.version import VERSION as __version__

__all__ = ["__version__"]
