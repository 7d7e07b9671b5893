"""Pictures of the documentation: each explorer in JupyterLab, light and dark, and a figure.

    make pictures                                               # all of them, to docs/images
    python -m tests.browser.screenshots /tmp/look ld grm --width 1250

Look at what comes out: a page that says "Error" is a picture, too.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.browser.jupyterlab import ROOT, notebook, server, until

#: Bytes of a picture, so that the documentation stays light.
LARGEST = 100_000
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
_COHORT = """
import genobit as gb, numpy as np
ds = gb.sample_dataset()
"""
_SMALL = """
planted = ds["variant_planted_pair"].values | ds["variant_planted_triple"].values
drawn = np.random.default_rng(0).choice(ds.sizes["variants"], 150, replace=False)
few = ds.isel(variants=np.union1d(np.flatnonzero(planted), drawn))
"""


class Shot(NamedTuple):
    """A notebook whose last cell shows a widget of the class `css`."""

    cells: tuple[str, ...]
    css: str
    ready: str
    """Text of its status line once there is nothing more to wait for."""
    figures: int


SHOTS = {
    "ld": Shot(
        (
            _COHORT
            + """import pandas as pd
from scipy import stats
part = ds.isel(samples=ds.sample_population.values == "EUR")
part = part.genobit.sel(variants="2:25.65Mb-25.95Mb").load()
copies = part.call_genotype.sum("ploidy").values
p = [stats.linregress(g, part.sample_trait).pvalue if np.ptp(g) else 1 for g in copies]
study = pd.DataFrame({"id": part.variant_id.values, "p": p})
bits = part.genobit.pack(phased=True)
""",
            "bits.genobit.explore.ld(association=study, min_maf=0.05, show_blocks=True)",
        ),
        "genobit-ld",
        "blocks",
        2,
    ),
    "launcher": Shot(
        (
            _COHORT + _SMALL,
            "few.genobit.explore()",
        ),
        "genobit-launcher",
        "can be opened",
        0,
    ),
    "grm": Shot(
        (
            _COHORT
            + """# Some samples of each population, and two families of each: a trio is selected.
rows = np.r_[0:580:5, 580:604, 700:1_280:5, 1_280:1_304, 1_400:1_880:5, 1_880:1_904]
some = ds.genobit.isel(samples=rows)
trio = np.searchsorted(rows, [1_280, 1_281, 1_285]).tolist()
""",
            'some.genobit.explore.grm(selected=trio, pairs_as="kinship")',
        ),
        "genobit-grm",
        "pairs",
        3,
    ),
    "kendall": Shot(
        (
            "import genobit as gb\nexpr = gb.sample_expression()",
            "expr.genobit.explore.kendall(threshold=0.6)",
        ),
        "genobit-kendall",
        "tested",
        3,
    ),
    "epistasis": Shot(
        (
            _COHORT + _SMALL,
            """asked = {"order": 3, "statistic": "gain", "permutations": 100, "seed": 1}
top = few.genobit.epistasis("sample_case", **asked)
few.genobit.explore.epistasis(top)""",
        ),
        "genobit-epistasis",
        "searched",
        3,
    ),
    "parsimony": Shot(
        ("import genobit as gb\naln = gb.sample_alignment()", "aln.genobit.explore.parsimony()"),
        "genobit-parsimony",
        "CI",
        2,
    ),
}


def relatedness(path: Path) -> None:
    """Write the figure for papers of the README."""
    import genobit as gb

    ds = gb.sample_dataset().isel(samples=slice(0, None, 5))
    ds.genobit.plot.relatedness(colour_by="population").save(path, width_mm=180)


FIGURES = {"relatedness": relatedness}


def in_theme(page: Any, theme: str) -> None:
    """Change the theme of JupyterLab and wait for it."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
        THEMES[theme],
    )
    light = "true" if theme == "light" else "false"
    page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")


def take(page: Any, shot: Shot, theme: str) -> Any:
    """The widget as it looks in a theme of JupyterLab, as a PIL image."""
    from PIL import Image

    in_theme(page, theme)
    page.mouse.move(2, 2)
    time.sleep(2.0)
    return Image.open(io.BytesIO(page.locator(f".{shot.css}").first.screenshot()))


def write(picture: Any, path: Path) -> None:
    """Write a picture as WebP, without loss where that is small enough."""
    picture.save(path, lossless=True, method=6)
    quality = 90
    while path.stat().st_size > LARGEST:
        picture.save(path, quality=quality, method=6)
        quality -= 10


def shoot(name: str, folder: Path, lab: Any, width: int, *, png: bool) -> None:
    """Write pictures of an explorer in both themes."""
    shot = SHOTS[name]
    with notebook(lab, f"shot-{name}", *shot.cells, width=width, height=1900) as page:
        page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
        status = page.locator(f".{shot.css}-status").first
        until(lambda: shot.ready in status.inner_text(), shot.ready, 300)
        figures = page.locator(f".{shot.css} .bk-Figure")
        until(lambda: figures.count() >= shot.figures, "the figures", 120)
        for theme in THEMES:
            picture = take(page, shot, theme)
            if png:
                picture.save(folder / f"{name}-{theme}.png")
            else:
                write(picture, folder / f"{name}-{theme}.webp")
        print(name, picture.size, *page.complaints, flush=True)  # noqa: T201


def draw(name: str, folder: Path, *, png: bool) -> None:
    """Write a figure for papers."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as home:
        path = Path(home, "figure.png")
        FIGURES[name](path)
        picture = Image.open(path).convert("RGB")
    if png:
        picture.save(folder / f"{name}.png")
    else:
        write(picture.resize([round(0.7 * n) for n in picture.size]), folder / f"{name}.webp")
    print(name, picture.size, flush=True)  # noqa: T201


def main() -> None:
    """Take what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = [*SHOTS, *FIGURES]
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=known, help=", ".join(known))
    parser.add_argument("--width", type=int, default=1366, help="of the window")
    parser.add_argument("--png", action="store_true", help="to look at, of any size")
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    for name in set(wanted.names) & set(FIGURES):
        draw(name, wanted.folder, png=wanted.png)
    with tempfile.TemporaryDirectory() as home, server(Path(home), ROOT) as lab:
        for name in wanted.names:
            if name in SHOTS:
                shoot(name, wanted.folder, lab, wanted.width, png=wanted.png)


if __name__ == "__main__":
    main()
