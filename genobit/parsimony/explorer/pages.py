"""Pages of the parsimony explorer beside the tree, and the list of changes of a branch."""

from __future__ import annotations

import html
from typing import Any

from genobit.parsimony.plots.homoplasy import LISTED
from genobit.parsimony.plots.states import changes_of
from genobit.visual.style import number


class Pages:
    """Page turning, as a mixin of the explorer."""

    def _turn_page(self: Any) -> None:
        # Hidden, not removed: a picture that comes back would be drawn again.
        for name, page in self._pages.items():
            page.layout.display = "flex" if name == self.view else "none"
        if self.view == "two":
            self._draw_faces()
        elif self.view == "search":
            self._draw_trace()
        elif "picture" in self._stale and self._ancestry is not None:
            self._stale -= {"picture"}
            self._draw_tree()

    def _draw_faces(self: Any) -> None:
        if len(self.known.trees) < 2:
            self._faces.say("There is one tree; give two or more to see them face to face.")
            return
        if self.tree == self.other:
            self._faces.say("Choose another tree to stand beside this one.")
            return
        both = [self.known.ancestors(k, (), self.resolve) for k in (self.tree, self.other)]
        names = (f"tree {self.tree + 1}", f"tree {self.other + 1}")
        self._faces.draw(both[0], both[1], names)

    def _draw_trace(self: Any) -> None:
        search = self.known.search
        if search is None or "trace" not in search:
            self._trace.say(
                "These trees come from no search; aln.genobit.parsimony_search() tells how it went."
            )
            return
        self._trace.draw(search)

    def _draw_changes(self: Any) -> None:
        if self.branch is None:
            self._branch_line.value = "<b>changes of a branch</b>"
            self._changes.say("Click a branch to list its changes.")
            return
        found = changes_of(self._ancestry.states, self.branch)
        text = f"<b>branch to {html.escape(self._branch_name())}</b>: "
        text += number(len(found), "change")
        if len(found) > LISTED:
            text += f", the first {LISTED} listed"
        self._branch_line.value = text
        if len(found):
            self._changes.draw(found[:LISTED], self.site)
        else:
            self._changes.say("No site changes on this branch.")

    def _branch_name(self: Any) -> str:
        name = str(self._ancestry.tree.names[self.branch])
        below = self.known.below(self._ancestry, self.branch)
        if len(below) == 1:
            return name
        more = f" and {len(below) - 3} more" if len(below) > 4 else ""
        return f"{name} ({', '.join(below[: 3 if more else 4])}{more})"
