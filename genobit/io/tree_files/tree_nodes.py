"""View trees of other libraries, Newick and NEXUS as nodes with children, names and lengths."""

from __future__ import annotations

from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.topology import NO_PARENT
from genobit.io.tree_files._newick import read_newick, read_nexus_trees

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_CHILDREN, _NAME = attrgetter("children"), attrgetter("name")


class Nodes(NamedTuple):
    """A tree: its root, and functions that return a node's children, name and branch length."""

    root: Any
    children: Callable[[Any], Sequence[Any]]
    name: Callable[[Any], str | None]
    length: Callable[[Any], float | None]


def nodes_of(tree: Any) -> Nodes | None:
    """Return the nodes of a tree object, or None for other objects.

    Knows trees of DendroPy, tskit, Bio.Phylo, scikit-bio and ete. Raises ValueError for a tskit
    tree with several roots.
    """
    if hasattr(tree, "seed_node"):
        return Nodes(
            tree.seed_node, methodcaller("child_nodes"), _dendropy_name, attrgetter("edge.length")
        )
    if hasattr(tree, "as_newick") and hasattr(tree, "tree_sequence"):
        return _nodes_of_tskit(tree)
    if hasattr(tree, "clades") or (hasattr(tree, "clade") and hasattr(tree, "root")):
        # The root of a Clade of Bio.Phylo is the Clade.
        return Nodes(tree.root, attrgetter("clades"), _NAME, attrgetter("branch_length"))
    if hasattr(tree, "children") and hasattr(tree, "name"):
        return Nodes(tree, _CHILDREN, _NAME, _length)
    return None


def read_text_trees(text: str) -> list[Nodes]:
    """Read the trees of a Newick or NEXUS text.

    Raises ValueError for a text that is neither, or that has no tree.
    """
    is_nexus = text.lstrip()[:6].upper() == "#NEXUS"
    what = "NEXUS" if is_nexus else "Newick"
    if not is_nexus and not text.rstrip().endswith(";"):
        text += ";"
    try:
        roots = read_nexus_trees(text) if is_nexus else read_newick(text)
    except ValueError as error:
        raise ValueError(f"the {what} cannot be read: {error}") from error
    if not roots:
        raise ValueError(f"the {what} holds no tree")
    return [Nodes(root, _CHILDREN, _NAME, attrgetter("length")) for root in roots]


def _dendropy_name(node: Any) -> str | None:
    return node.label if node.taxon is None else node.taxon.label


def _length(node: Any) -> float | None:
    """Return the branch length, an attribute named ``length`` in scikit-bio and ``dist`` in ete."""
    return getattr(node, "length", getattr(node, "dist", None))


def _nodes_of_tskit(tree: Any) -> Nodes:
    if tree.num_roots != 1:
        msg = f"the tree of tskit has {tree.num_roots} roots: simplify the samples to one root"
        raise ValueError(msg)

    def name(node: int) -> str | None:
        # The names that tskit writes to FASTA and Newick.
        return f"n{node}" if tree.is_sample(node) or tree.is_leaf(node) else None

    # The iterator over a tree sequence reuses one object for all trees.
    tree = tree.copy()
    return Nodes(tree.root, tree.children, name, tree.branch_length)


def leaves(names: Sequence[str | None], above: Sequence[int]) -> dict[int, str | None]:
    """Return number and name of each node without children."""
    parents = set(above)
    return {number: name for number, name in enumerate(names) if number not in parents}


def sampled_names(
    nodes: Nodes, tips: Mapping[int, str | None], taxa: Sequence[str]
) -> frozenset[str]:
    """Return the names of inner nodes that are taxa without a tip.

    Raises ValueError for a name of several nodes, and for a number, which is the support of a node.
    """
    at_tips = {name.replace("_", " ") for name in tips.values() if name}
    missing = {taxon.replace("_", " ") for taxon in taxa} - at_tips
    found: dict[str, str] = {}
    waiting = [nodes.root] if missing else []
    while waiting:
        node = waiting.pop()
        below = nodes.children(node)
        name = str(nodes.name(node) or "") if below else ""
        blank = name.replace("_", " ")
        if blank in missing:
            if is_number(name):
                raise ValueError(
                    f"taxon {name!r} is at no tip, and the label {name!r} of an inner node is read "
                    "as its support: give the taxon a tip, or a name that is not a number"
                )
            if blank in found:
                raise ValueError(f"two inner nodes are named {name!r}: a taxon is at one node")
            found[blank] = name
        waiting += below
    return frozenset(found.values())


def is_number(label: str) -> bool:
    """Return whether the label of an inner node is a number, which is read as its support."""
    try:
        float(label)
    except ValueError:
        return False
    return True


def from_the_root(
    nodes: Nodes, sampled: frozenset[str] = frozenset()
) -> tuple[list[str | None], list[int], list[float]]:
    """Return names, parent numbers and lengths, parents first, without nodes of one child.

    An inner node with a name in ``sampled`` is kept. The name goes to a new tip below it.
    """
    names: list[str | None] = []
    above: list[int] = []
    lengths: list[float] = []
    waiting = [(nodes.root, NO_PARENT, np.nan)]
    while waiting:
        node, parent, length = waiting.pop()
        below = nodes.children(node)
        while len(below) == 1 and nodes.name(node) not in sampled:
            node = below[0]
            length = _sum(length, _branch(nodes, node))
            below = nodes.children(node)
        number, name = len(names), nodes.name(node)
        above.append(parent)
        lengths.append(np.nan if parent == NO_PARENT else length)
        if below and name in sampled:
            above.append(number)
            lengths.append(np.nan)
            names.append(None)
        names.append(name)
        # Reversed, so that the first child is popped first and tips keep the tree's order.
        waiting += [(child, number, _branch(nodes, child)) for child in reversed(below)]
    return names, above, lengths


def _branch(nodes: Nodes, node: Any) -> float:
    length = nodes.length(node)
    return np.nan if length is None else float(length)


def _sum(upper: float, lower: float) -> float:
    """Return the length of two consecutive branches, or of one if the other is unknown."""
    return lower if np.isnan(upper) else upper if np.isnan(lower) else upper + lower
