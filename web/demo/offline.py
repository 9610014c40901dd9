"""What a sandbox needs instead of the internet."""

from __future__ import annotations

import shutil
from pathlib import Path

from reconciler.desired.dependencies import CHART_COMMIT, CHART_PATH, CHART_REPOSITORY
from reconciler.resources.helm.charts import Chart, kept_at


def keep_chart(state_dir: Path, chart: Path) -> None:
    """The chart at this folder stands for the one of documents that name none, as if that had been fetched already: so
    a cluster that somebody makes in the browser comes up, too."""
    default = Chart(repository=CHART_REPOSITORY, path=CHART_PATH, commit=CHART_COMMIT)
    place = kept_at(default, str(state_dir / "cache")) / CHART_PATH
    if not place.exists():
        shutil.copytree(chart, place)
