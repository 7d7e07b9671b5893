"""Compare lines of code with the budget in .ci/weight.txt; with --write, set the budget to them."""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGET = ROOT / ".ci" / "weight.txt"
GROWTH = 1.01
NO_CODE = {tokenize.COMMENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.INDENT}
NO_CODE |= {tokenize.NEWLINE, tokenize.NL}
DOCUMENTED = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef, ast.Module)


def code_lines(source: str) -> int:
    """Count the lines that hold more than docstrings and comments."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def weights() -> Counter[str]:
    """Count lines of code in tests/, in each folder of genobit/, and in the files beside those."""
    found: Counter[str] = Counter()
    for path in (*ROOT.glob("genobit/**/*.py"), *ROOT.glob("tests/**/*.py")):
        top, *folders, _ = path.relative_to(ROOT).parts
        name = f"{top}/{folders[0]}" if top == "genobit" and folders else top
        found[name] += code_lines(path.read_text("utf-8"))
    return found


def fault(found: Counter[str], budget: Counter[str]) -> str | None:
    """Say what is over the budget, or in one of both alone."""
    if unknown := budget.keys() ^ found.keys():
        return f"Only one of .ci/weight.txt and the folders has {', '.join(sorted(unknown))}"
    for top in ("genobit", "tests"):
        now, was = (sum(n for k, n in c.items() if k.startswith(top)) for c in (found, budget))
        if now > was * GROWTH:
            more = ", ".join(f"{name} {n:+}" for name, n in (found - budget).most_common())
            return (
                f"{top}/ has {now} lines of code, 1 % more than its budget of {was} ({more}). "
                "Remove code, or raise a line of .ci/weight.txt and say why."
            )
    return None


if __name__ == "__main__":
    rows = [line.split(maxsplit=2) for line in BUDGET.read_text("utf-8").splitlines()]
    if sys.argv[1:] == ["--write"]:
        why = {name: reason for _, name, reason in rows}
        new = (f"{n:6} {k:20} {why.get(k, 'why?')}\n" for k, n in sorted(weights().items()))
        BUDGET.write_text("".join(new), encoding="utf-8")
    else:
        sys.exit(fault(weights(), Counter({name: int(lines) for lines, name, _ in rows})))
