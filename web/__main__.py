"""`instantstart`, and `python -m web`."""

from __future__ import annotations

from web.app import app


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    app(prog_name="instantstart")


if __name__ == "__main__":
    main()
