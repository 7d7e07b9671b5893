"""Print the test files of what changed since a revision: `changed.py main`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = ["tests/test_contributing.py", "tests/test_imports.py", "tests/test_links.py"]


def git(*arguments: str) -> list[str]:
    """Lines that git prints in the project's folder."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def tests_of(path: Path) -> set[Path]:
    """Return the tests of a file of genobit/, or a changed test itself."""
    if path.parts[0] == "tests":
        return {path} if path.name.startswith("test_") and (ROOT / path).exists() else set()
    if path.parts[0] != "genobit" or path.suffix != ".py":
        return set()
    stem = path.parent.name if path.stem == "__init__" else path.stem.lstrip("_")
    # A test stands in the folder of its file or above it; see docs/contributing.md.
    inside = [Path(*path.parts[1:-1][:depth]) for depth in range(len(path.parts) - 1)]
    patterns = [f"test_{stem}.py", f"test_{stem}_*.py"]
    found = (
        test for folder in inside for p in patterns for test in (ROOT / "tests" / folder).glob(p)
    )
    return {test.relative_to(ROOT) for test in found}


if __name__ == "__main__":
    base = git("merge-base", "HEAD", sys.argv[1])[0]
    changed = [
        *git("diff", "--name-only", base),
        *git("ls-files", "--others", "--exclude-standard"),
    ]
    tests = {str(test) for name in changed for test in tests_of(Path(name))}
    print(*sorted({*ALWAYS, *tests}), sep="\n")
