"""Every colour scheme as colour-blind readers see it, on white and in a dark page."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from genobit.parsimony.plots import layers, states
from genobit.visual.style import (
    LEAD_COLOUR,
    NO_VALUE_COLOUR,
    POINT_COLOUR,
    SELECTED_COLOUR,
    WHITE,
)
from genobit.visual.theming import dark_colours
from genobit.visual.tokens import BANDS, DARK, DARK_GROUPS, GROUPS, LIGHT, OTHER_GROUP, ramp

#: Dichromats, in linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
READERS = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
BOTH = ("light", "dark")


def rgb(colours: tuple[str, ...], theme: str) -> np.ndarray:
    """Red, green and blue from 0 to 1, as a page of a theme shows colours of the light one."""
    colours = tuple(shown(colour, theme) for colour in colours)
    return np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in colours])


def shown(colour: str, theme: str) -> str:
    return darkened(colour) if theme == "dark" else colour


def darkened(colour: str) -> str:
    """As `theming.js` replaces a colour: by name, or by its place on a ramp."""
    known = dark_colours()
    if colour in known["plain"]:
        return known["plain"][colour]
    away, found = min(
        (255**2 * float(((rgb((light,), "light") - rgb((colour,), "light")) ** 2).sum()), dark)
        for pair in known["ramps"]
        for light, dark in zip(*pair, strict=True)
    )
    return found if away < 40 else colour


def lab(colours: tuple[str, ...], theme: str, reader: str = "normal") -> np.ndarray:
    values = rgb(colours, theme)
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ READERS[reader].T, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = linear @ np.array(to_xyz).T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


def nearest(colours: tuple[str, ...], theme: str, reader: str) -> float:
    """The distance (CIE 1976) of the two that are most alike."""
    places = lab(colours, theme, reader)
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(places, 2))


SEQUENTIAL = tuple(ramp(LIGHT.sequential, 9))
DIVERGING = tuple(ramp(LIGHT.diverging, 11))


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2)."""
    values = rgb((colour,), "light")[0]
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
class TestTokens:
    @pytest.mark.parametrize("colour", ["ink", "slate", "quiet", "accent", "error"])
    @pytest.mark.parametrize("page", ["paper", "panel"])
    def test_text_is_read(self, tokens, colour, page):
        assert contrast(getattr(tokens, colour), getattr(tokens, page)) >= 4.5

    @pytest.mark.parametrize("colour", ["ink", "accent"])
    def test_text_is_read_on_an_active_button(self, tokens, colour):
        assert contrast(getattr(tokens, colour), tokens.tint) >= 4.5

    def test_zero_is_the_page(self, tokens):
        assert tokens.sequential[0] == (0.0, tokens.paper)
        assert dict(tokens.diverging)[0.5] == tokens.paper

    @pytest.mark.parametrize("reader", READERS)
    def test_bins_and_lead_stay_apart(self, tokens, reader):
        assert nearest((*tokens.r2_bins, tokens.accent), "light", reader) > 9

    @pytest.mark.parametrize("reader", READERS)
    def test_ramps_keep_their_order(self, tokens, reader):
        sign = 1 if tokens is DARK else -1
        lightness = lab(tuple(ramp(tokens.sequential, 9)), "light", reader)[:, 0]
        assert (sign * np.diff(lightness) > 0).all()
        lightness = lab(tuple(ramp(tokens.diverging, 11)), "light", reader)[:, 0]
        for half in (lightness[5:], lightness[5::-1]):
            assert (sign * np.diff(half) > 0).all()


@pytest.mark.parametrize("theme", BOTH)
@pytest.mark.parametrize("reader", READERS)
class TestReaders:
    def test_sequential_colours_keep_their_order(self, theme, reader):
        lightness = lab(SEQUENTIAL, theme, reader)[:, 0]
        steps = np.diff(lightness if theme == "dark" else lightness[::-1])
        assert (steps > 1).all()

    def test_diverging_colours_keep_order_and_sign(self, theme, reader):
        places = lab(DIVERGING, theme, reader)
        sign = -1 if theme == "light" else 1
        middle = len(places) // 2
        for half in (places[middle:], places[middle::-1]):
            assert (sign * np.diff(half[:, 0]) > 0).all()

    def test_values_of_opposite_sign_stay_apart(self, theme, reader):
        places = lab(tuple(ramp(LIGHT.diverging, 201)), theme, reader)
        apart = np.linalg.norm(places - places[::-1], axis=1)
        assert apart[abs(np.linspace(-1, 1, 201)) > 0.295].min() >= 25

    @pytest.mark.parametrize(
        "colours",
        [GROUPS, (POINT_COLOUR, LEAD_COLOUR, NO_VALUE_COLOUR, SELECTED_COLOUR)],
    )
    def test_categories_stay_apart(self, theme, reader, colours):
        assert nearest(colours, theme, reader) > 10


@pytest.mark.parametrize("reader", READERS)
def test_groups_are_as_far_apart_in_the_dark(reader):
    assert tuple(map(darkened, GROUPS)) == DARK_GROUPS
    assert nearest(GROUPS, "dark", reader) >= nearest(GROUPS, "light", reader)
    assert nearest((*GROUPS, OTHER_GROUP), "dark", "normal") > 20


def test_groups_stand_out_from_a_dark_page():
    assert min(contrast(colour, DARK.paper) for colour in DARK_GROUPS) > 3


@pytest.mark.parametrize("theme", BOTH)
@pytest.mark.parametrize("colour", [*GROUPS, OTHER_GROUP, states.UNSURE])
def test_letters_are_read_on_their_states(theme, colour):
    letter = layers._LETTERS[layers._letter(colour)]
    named = {"black": "#000000", "white": "#ffffff"}
    letter = named[letter] if letter in named else shown(letter, theme)
    assert contrast(letter, shown(colour, theme)) > 3


@pytest.mark.parametrize("theme", BOTH)
def test_marks_stand_out_from_the_page(theme):
    page = lab((WHITE,), theme)[0, 0]
    for colour in (*GROUPS, POINT_COLOUR, LEAD_COLOUR, SELECTED_COLOUR, states.OTHER):
        assert abs(lab((colour,), theme)[0, 0] - page) > 15, colour


@pytest.mark.parametrize("theme", BOTH)
def test_text_is_read_on_the_bands_of_degrees(theme):
    text = lab((LIGHT.ink,), theme)[0, 0]
    bands = lab(BANDS, theme)[:, 0]
    assert (abs(bands - text) > 40).all()
