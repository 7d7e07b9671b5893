"""Frames of the LD explorer over a million variants, in JupyterLab and Chromium."""

from __future__ import annotations

import importlib.util
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .measure import Row, cores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

#: Milliseconds within which a frame is drawn on 2 cores, from the key press to the new picture.
KNOWN, COMPUTED = 120, 200
#: Milliseconds from the last of `NOTCHES` wheel events, `APART` milliseconds apart, to the last
#: picture.
ZOOMED = 150
NOTCHES, APART = 12, 20

MAKE_DATA = """
import numpy as np
import xarray as xr
import genobit
from genobit.data import layouts, model
from genobit.engine.bits.layout import Layout, words_for

n_variants, n_haplotypes = 1_000_000, 1_000
generator = np.random.default_rng(0)
layout = Layout("haplotype", "variants", n_haplotypes, 2)
shape = (n_variants, words_for(n_haplotypes))
# Ten neighbours are copies of one founder with an eighth of their bits turned.
founders = generator.integers(0, 2**64, (n_variants // 10, shape[1]), dtype=np.uint64)
planes = np.repeat(founders, 10, axis=0)
turned = generator.integers(0, 2**64, shape, dtype=np.uint64)
for _ in range(2):
    turned &= generator.integers(0, 2**64, shape, dtype=np.uint64)
planes ^= turned
planes[:, -1] &= np.uint64((1 << n_haplotypes % 64) - 1)
ds = xr.Dataset(
    {"plane_alt": (("variants", "words"), planes), "contig_id": ("contigs", np.array(["1"]))},
    {
        "variant_position": ("variants", 100 * np.arange(1, n_variants + 1)),
        "variant_contig": ("variants", np.zeros(n_variants, np.int32)),
    },
    attrs=layout.to_attributes(),
)
bits = layouts.mark_bits(ds, layout)
"""
SHOW = "explorer = bits.genobit.explore.ld()\nexplorer"

# New values of an image go to a canvas by putImageData, and from there to the screen by drawImage.
WATCH = """
const frames = window.genobit_frames = {asked: Infinity, fresh: new WeakSet()}
const {putImageData, drawImage} = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.putImageData = function (...values) {
  if (performance.now() > frames.asked && this.canvas.height > 1) frames.fresh.add(this.canvas)
  return putImageData.apply(this, values)
}
CanvasRenderingContext2D.prototype.drawImage = function (image, ...values) {
  drawImage.call(this, image, ...values)
  // A canvas is fresh once: Bokeh paints it again when the mouse moves.
  if (frames.fresh.delete(image)) {
    frames.last = performance.now()
    frames.drawn ??= frames.last
  }
}
const ask = () =>
  Object.assign(frames, {asked: performance.now(), fresh: new WeakSet(), drawn: null, last: null})
document.addEventListener("keydown", (event) => { if (event.key == "Enter") ask() }, true)
document.addEventListener("wheel", ask, true)
"""
# The browser's own driver waits for a painted page after each notch, which no hand does.
TURN = """
async ({x, y, notches, apart}) => {
  let place = document.elementFromPoint(x, y)
  for (let inner = place; inner; inner = place.shadowRoot?.elementFromPoint(x, y)) place = inner
  const up = {bubbles: true, cancelable: true, composed: true}
  const notch = {deltaY: -100, clientX: x, clientY: y, ...up}
  for (let k = 0; k < notches; k++) {
    if (k) await new Promise((resolve) => setTimeout(resolve, apart))
    place.dispatchEvent(new WheelEvent("wheel", notch))
  }
}
"""
LATENCY = "() => genobit_frames.drawn && genobit_frames.drawn - genobit_frames.asked"
LAST = "() => genobit_frames.last - genobit_frames.asked"


def explorer(*, quick: bool) -> Iterator[Row]:
    """Time from a key press to the picture of another region: tiles known, and to be computed."""
    folder = Path(__file__).parents[1] / "browser"
    lab = _load(folder / "jupyterlab.py")
    reason = f"{folder} is not there (a checkout has it)" if lab is None else lab.missing()
    if reason is not None:
        yield Row("browser", f"LD explorer not measured: {reason}", float("nan"), "", "")
        return
    rounds = 3 if quick else 9
    with cores(2) as enough, tempfile.TemporaryDirectory() as home:
        found = _measured(lab, Path(home), rounds)
    against = "2 cores" if enough else "fewer than 2 cores"
    for what, milliseconds in found.items():
        wanted = ZOOMED if "notches" in what else KNOWN if "known" in what else COMPUTED
        value = statistics.median(milliseconds)
        yield Row(
            "browser",
            f"LD of 1,000,000 variants: {what}",
            value,
            "ms",
            f"against {wanted} ms, {against}; slowest {max(milliseconds):.0f} ms",
            wanted / value,
            1,
        )


def _load(path: Path) -> ModuleType | None:
    """Import what drives the browser in the tests, from where it is."""
    if not path.exists():
        return None
    specification = importlib.util.spec_from_file_location("genobit_browser", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def _measured(lab: ModuleType, home: Path, rounds: int) -> dict[str, list[float]]:
    whole = ["1", *(f"1:1-{end},000,000" for end in (60, 30))]
    near = [f"1:{at},000,000-{at},180,000" for at in range(5, 5 + 8 * rounds, 8)]
    with (
        lab.server(home, lab.ROOT) as server,
        lab.notebook(server, "latency", MAKE_DATA, SHOW, width=1280, height=1000) as page,
    ):
        page.wait_for_selector(".genobit-ld-plot .bk-Figure", timeout=120_000)
        picture = page.locator(".genobit-ld-plot .bk-Figure").first
        lab.settled(picture)
        page.evaluate(WATCH)
        _jump(lab, page, "1:90,000,000-90,180,000")  # compiles what is not in the cache
        found = {
            f"{what}, {tiles}": [_jump(lab, page, region) for region in regions]
            for what, regions in (("1,800 variants", near), ("thinned from 300,000 or more", whole))
            for tiles in ("tiles computed", "tiles known")
        }
        zoomed = [_zoom(lab, page, region) for region in near]
        return found | {f"1,800 variants, after {NOTCHES} wheel notches": zoomed}


def _zoom(lab: ModuleType, page: Any, region: str) -> float:
    """Turn the wheel over a region; milliseconds from the last notch to the last picture."""
    _jump(lab, page, region)
    picture = page.locator(".genobit-ld-plot .bk-Figure").first
    box = lab.place(picture)
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    page.evaluate(TURN, {**place, "notches": NOTCHES, "apart": APART})
    lab.until(lambda: page.evaluate(LATENCY) is not None, f"a picture of {region}, zoomed")
    lab.settled(picture)
    return float(page.evaluate(LAST))


def _jump(lab: ModuleType, page: Any, region: str) -> float:
    """Go to a region; milliseconds until it was drawn."""
    text = page.locator(".genobit-ld-region input")
    text.fill(region)
    text.press("Enter")
    lab.until(lambda: page.evaluate(LATENCY) is not None, f"a picture of {region}")
    latency = float(page.evaluate(LATENCY))
    lab.settled(page.locator(".genobit-ld-plot .bk-Figure").first)
    return latency
