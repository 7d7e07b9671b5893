"""View trees of other libraries, Newick and NEXUS as nodes with children, names and lengths."""

from __future__ import annotations

from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from genobit.io.tree_files._newick import read_newick, read_nexus_trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    if hasattr(tree, "clade") and hasattr(tree, "root"):
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
