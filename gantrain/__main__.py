"""`python -m gantrain` is the command `gantrain`."""

from __future__ import annotations

from gantrain.cli.main import main

if __name__ == "__main__":
    main()
