"""Read trees from Newick, NEXUS and other libraries' objects as arrays; write Newick and NEXUS."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.data.topology import NO_PARENT, children, tips
from genobit.engine.files import WRITE, is_address, local_path, replacing, require_file
from genobit.engine.own_words import own_words
from genobit.io.alignment_files._rows import CONTROL, decoded, read_plain
from genobit.io.tree_files._newick import quoted, read_newick, tip_names, written
from genobit.io.tree_files._tip_names import match_tips
from genobit.io.tree_files.tree_nodes import (
    from_the_root,
    leaves,
    nodes_of,
    read_text_trees,
    sampled_names,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.topology import Children
    from genobit.io.tree_files._newick import TreeNode
    from genobit.io.tree_files.tree_nodes import Nodes

TREE = "tree"
"""Variable of a search result that holds trees as Newick."""
_NEXUS_SUFFIXES = {".nex", ".nexus", ".nxs"}


class Phylogeny(NamedTuple):
    """A tree whose tips are numbered as the taxa of an alignment."""

    parents: NDArray[np.int64]
    """Parent of each node (nodes,); first tips, then inner nodes, the root last with -1."""
    labels: tuple[str, ...]
    """Names of the tips as in the alignment, then labels of inner nodes ("" for none)."""
    lengths: NDArray[np.float64] | None
    """Length of the branch above each node (nodes,), NaN if unknown; None if all are unknown."""
    sampled: tuple[int, ...] = ()
    """Tips that are inner nodes of the tree: the node above has the states of the taxon."""

    @property
    def children(self) -> Children:
        """Children of all nodes."""
        return children(self.parents, self.sampled)


class Phylogenies(NamedTuple):
    """Trees, and whether the input was one tree rather than a list."""

    trees: list[Phylogeny]
    """The trees, in the order of the input."""
    one: bool
    """Whether the input was one tree rather than a list."""


def read_trees(trees: Any, taxa: Sequence[str]) -> Phylogenies:
    """Read one or more trees whose tips are the taxa of an alignment.

    Parameters
    ----------
    trees
        One tree or several, as

        - Newick or NEXUS, either text or the path of a file;
        - a Tree of DendroPy or tskit, a TreeNode of scikit-bio, or a Tree or Clade of Bio.Phylo;
        - a `Phylogeny`, or a TreeSequence of tskit;
        - a list of any of these;
        - a Dataset with the variable `tree`, such as the result of a search.
    taxa
        Names of the taxa in the order of the alignment. Tips of tskit trees are named after their
        nodes ("n0", "n1" and so on), as in the output of tskit.

    Returns
    -------
        The trees. Inner nodes with one child are removed, and the lengths of their two branches are
        added. A taxon that is the name of an inner node, and of no tip, is a sampled taxon: it
        becomes a tip below that node, on a branch of length 0.

    Raises
    ------
    ValueError
        If a tree cannot be read, a name occurs twice, or the names of tips and taxa differ. The
        message lists the names that differ.
    FileNotFoundError
        For text that is neither a tree nor the path of a file.
    TypeError
        For an object of another type.

    Examples
    --------
    >>> found = read_trees("((a,b)x:2,c:1,d);", ["a", "b", "c", "d"])
    >>> found.one, found.trees[0].parents.tolist()
    (True, [4, 4, 5, 5, 5, -1])
    >>> found.trees[0].labels
    ('a', 'b', 'c', 'd', 'x', '')
    """
    names = [str(taxon) for taxon in taxa]
    if len(names) < 2:
        raise ValueError(f"the alignment has {len(names)} taxa: a tree needs at least two")
    trees = _of_dataset(trees)
    if hasattr(trees, "dims"):
        trees = trees.values.tolist()
    found = _open(trees)
    if not found:
        raise ValueError("the list of trees is empty: give at least one")
    several = not isinstance(trees, str | Path | Phylogeny) and nodes_of(trees) is None
    read = []
    for number, tree in enumerate(found):
        try:
            read.append(tree if isinstance(tree, Phylogeny) else _number(tree, names))
        except ValueError as error:
            which = f"tree {number}: " if len(found) > 1 else "the tree: "
            raise ValueError(which + str(error)) from error
    for tree in read:
        _check_tips(tree, len(names))
    return Phylogenies(read, one=len(read) == 1 and not several)


def newick(
    parents: NDArray[np.int64],
    taxa: Sequence[str],
    labels: Sequence[str] | None = None,
    lengths: Sequence[float] | NDArray[np.floating[Any]] | None = None,
) -> str:
    """Write a tree as Newick.

    Parameters
    ----------
    parents
        (nodes,), as in `genobit.data.topology`.
    taxa
        Names of the tips.
    labels
        (nodes,): labels, such as support; "" for none. Only labels of inner nodes are written.
    lengths
        (nodes,): length of the branch above each node, NaN for none.

    Returns
    -------
        Newick with its semicolon. Names with blanks or punctuation other than underscores are
        quoted.

    Examples
    --------
    >>> newick(np.array([3, 3, 4, 4, -1]), ["a", "b c", "d_e"], lengths=[1, 2.5, 1, 0, np.nan])
    "(d_e:1,(a:1,'b c':2.5):0);"
    """
    number = tips(parents)
    below = children(parents)
    written: list[str] = []
    for node in range(parents.size):
        if node < number:
            text = quoted(str(taxa[node]))
        else:
            text = "(" + ",".join(written[child] for child in below.of(node)) + ")"
            for child in below.of(node):
                written[child] = ""
            if labels is not None:
                text += quoted(str(labels[node]))
        if lengths is not None and not np.isnan(lengths[node]):
            text += f":{lengths[node]:.10g}"
        written.append(text)
    return written[-1] + ";"


@own_words
def to_trees(trees: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write trees to a file.

    Parameters
    ----------
    trees
        Newick text, a list of Newick texts, or the Dataset that a tree search returns.
    path
        File to write. The suffixes .nex, .nexus and .nxs select NEXUS. Other files are Newick, with
        one tree per line.
    overwrite
        Whether to replace an existing file. Otherwise an existing file is an error.

    Returns
    -------
        The path of the file.

    Raises
    ------
    FileExistsError
        If the file exists.
    ValueError
        If there is no tree, or a text is not Newick. For NEXUS, also if a name has a control
        character, such as a line break.
    TypeError
        If a tree is not text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.nex"
    >>> _ = to_trees(["((a,b),c,d);", "((a,c),b,d);"], file)
    >>> [newick(tree.parents, "abcd") for tree in read_trees(file, "abcd").trees]
    ['(c,d,(a,b));', '(b,d,(a,c));']
    """
    texts = np.atleast_1d(np.asarray(_of_dataset(trees), dtype=object)).tolist()
    roots = [root for number, text in enumerate(texts) for root in _newick_trees(text, number)]
    if not roots:
        raise ValueError("there is no tree to write")
    whole = "\n".join(text.strip() for text in texts) + "\n"
    target = local_path(path, "to_trees", WRITE)
    if target.suffix.lower() in _NEXUS_SUFFIXES:
        whole = _as_nexus(roots)
    with replacing(target, overwrite=overwrite) as (new,):
        new.write_text(whole, encoding="utf-8")
    return target


def _of_dataset(trees: Any) -> Any:
    """Return the variable with the trees of a Dataset, and other objects unchanged."""
    if not hasattr(trees, "data_vars"):
        return trees
    if TREE not in trees:
        msg = f"the Dataset has no variable {TREE!r}: give the result of a search or a tree"
        raise ValueError(msg)
    return trees[TREE]


def _newick_trees(text: Any, number: int) -> list[TreeNode]:
    """Return the roots of the trees in a Newick text."""
    if not isinstance(text, str):
        what = "a row of an array" if isinstance(text, list) else f"a {type(text).__name__}"
        raise TypeError(f"tree {number} is {what}, expected Newick text, such as '((a,b),c);'")
    if not text.lstrip().startswith(("(", "[")):
        raise ValueError(f"tree {number} is not Newick: {text[:40]!r}")
    try:
        return read_newick(f"{text};")
    except ValueError as error:
        raise ValueError(f"tree {number} is not Newick: {error}") from error


def _as_nexus(trees: Sequence[TreeNode]) -> str:
    """Return trees as a NEXUS file with a TAXA and a TREES block."""
    names = [*dict.fromkeys(name for root in trees for name in tip_names(root))]
    for name in names:
        if len(f"{name}.".splitlines()) > 1 or CONTROL.search(name.encode()):
            msg = f"the name {name!r} contains a line break or control character: rename it"
            raise ValueError(msg)
    blank = Counter(name.replace("_", " ") for name in names)

    def spell(name: str) -> str:
        # NEXUS reads an unquoted underscore as a blank.
        unclear = "_" in name and blank[name.replace("_", " ")] > 1
        return f"'{name}'" if unclear and quoted(name) == name else quoted(name)

    lines = ["#NEXUS", "", "BEGIN TAXA;", f"    DIMENSIONS NTAX={len(names)};", "    TAXLABELS"]
    lines += [f"        {spell(name)}" for name in names]
    lines += ["    ;", "END;", "", "BEGIN TREES;"]
    lines += [f"    TREE {k} = {written(root, spell)};" for k, root in enumerate(trees, 1)]
    return "\n".join([*lines, "END;", ""])


def _open(trees: Any) -> list[Nodes | Phylogeny]:
    if isinstance(trees, Phylogeny):
        return [trees]
    if isinstance(trees, str | Path):
        text, source = _text_of(trees)
        try:
            return [*read_text_trees(text)]
        except ValueError as error:
            raise ValueError(f"{source}{error}") from error
    nodes = nodes_of(trees)
    if nodes is not None:
        return [nodes]
    if hasattr(trees, "num_trees") and hasattr(trees, "trees"):
        trees = trees.trees()
    if hasattr(trees, "__iter__") and not isinstance(trees, bytes):
        return [found for tree in trees for found in _open(tree)]
    raise TypeError(
        f"{type(trees).__name__} is not a tree: give Newick, the path of a Newick or NEXUS file, "
        "or a tree of DendroPy, tskit, scikit-bio or Bio.Phylo"
    )


def _text_of(tree: str | Path) -> tuple[str, str]:
    """Return the text, and the name of its file followed by a colon, or ""."""
    if is_address(tree):
        local_path(tree, "read_trees")
    if isinstance(tree, Path):
        return _read_text(tree.expanduser()), f"{tree}: "
    if not tree.strip():
        raise ValueError("the text of the tree is empty")
    is_file = False
    # is_file can raise OSError for a text too long to be a file name.
    with suppress(OSError):
        is_file = "\n" not in tree and Path(tree).expanduser().is_file()
    if is_file:
        return _read_text(Path(tree).expanduser()), f"{tree}: "
    if "(" in tree or tree.lstrip()[:6].upper() == "#NEXUS":
        return tree, ""
    raise FileNotFoundError(f"{tree[:80]!r} is neither Newick nor the path of a file")


def _read_text(source: Path) -> str:
    require_file(source, "give a file of trees")
    return decoded([read_plain(source, TEXT_COST)])[0]


def _number(nodes: Nodes, taxa: Sequence[str]) -> Phylogeny:
    """Number the nodes of a tree: tips as the taxa, then inner nodes, children before parents."""
    names, above, lengths = from_the_root(nodes)
    sampled: list[int] = []
    if taken := sampled_names(nodes, leaves(names, above), taxa):
        names, above, lengths = from_the_root(nodes, taken)
        sampled = [number for number, name in enumerate(names) if name in taken]
    outer = list(leaves(names, above))
    is_tip = set(outer)
    inner = [number for number in range(len(names)) if number not in is_tip]
    numbers = np.zeros(len(names) + 1, dtype=np.int64)
    # An extra entry for the parent of the root, -1.
    numbers[-1] = NO_PARENT
    numbers[outer] = match_tips([names[number] for number in outer], taxa)
    # Nodes were found from the root down; reverse them to put children before parents.
    numbers[inner] = len(outer) + np.arange(len(inner))[::-1]
    parents = np.empty(len(names), dtype=np.int64)
    parents[numbers[:-1]] = numbers[np.array(above)]
    branch = np.full(len(names), np.nan)
    branch[numbers[:-1]] = lengths
    known = not np.isnan(branch).all()
    branch[numbers[sampled]] = 0
    labels = [""] * len(names)
    for number in inner:
        labels[numbers[number]] = names[number] or ""
    labels[: len(outer)] = taxa
    stays = tuple(int(numbers[number]) for number in sampled)
    return Phylogeny(parents, tuple(labels), branch if known else None, stays)


def _check_tips(tree: Phylogeny, taxa: int) -> None:
    found = tips(tree.parents)
    if found != taxa:
        raise ValueError(f"the tree has {found} tips, the alignment {taxa} taxa")
