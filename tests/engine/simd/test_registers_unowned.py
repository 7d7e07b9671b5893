"""`unowned` takes arrays that the caller of a kernel keeps alive: numba frees local ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from genobit.engine.simd.jit import PACKAGE


def of_locals(source: str) -> Iterator[str]:
    """Yield each call of `unowned` whose array does not belong to an argument of its function."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        arguments = {x.arg for x in ast.walk(function.args) if isinstance(x, ast.arg)}
        stored = [x for x in ast.walk(function) if isinstance(x, ast.Name)]
        again = [x.id for x in stored if isinstance(x.ctx, ast.Store)]
        owned = {name for name in arguments if name not in again}
        # Names of parts of an argument, as in ``columns = block.columns``.
        for line in ast.walk(function):
            if isinstance(line, ast.Assign) and root(line.value) in owned:
                names = {x.id for x in line.targets if isinstance(x, ast.Name)}
                owned |= {name for name in names if again.count(name) == 1}
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) != "unowned":
                continue
            if root(call.args[0]) not in owned:
                yield f"{function.name}: {ast.unparse(call)}"


def root(value: ast.expr) -> str | None:
    """Return the name of which a value is a part or a view."""
    while not isinstance(value, ast.Name):
        match value:
            case (
                ast.Attribute(value=value)
                | ast.Call(func=ast.Attribute(value=value, attr="reshape"))
            ):
                pass
            case ast.Call(func=ast.Name(id="flattened"), args=[value]):
                pass
            case _:
                return None
    return value.id


def test_unowned_arrays__belong_to_arguments() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    users = {path: source for path, source in sources.items() if "unowned(" in source}
    assert len(users) > 3
    assert [(path, call) for path in users for call in of_locals(users[path])] == []


@pytest.mark.parametrize(
    "lines",
    [
        "a = np.arange(n); return unowned(a)",
        "return unowned(np.arange(n))",
        "x = np.arange(n); return unowned(x)",
        "a = x.parts; a = a + 1; return unowned(a.counts)",
        "return unowned((x + 1).reshape(-1))",
    ],
)
def test_unowned_of_a_local_array__is_found(lines: str) -> None:
    (found,) = of_locals(f"def total(x, n): {lines}")
    assert found.startswith("total: unowned(")
    assert [*of_locals("def total(x): a = x.parts; return unowned(a.counts.reshape(-1))")] == []
