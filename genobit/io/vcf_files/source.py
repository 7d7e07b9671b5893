"""The bytes of a file: on this machine, at an address, or inflated and held in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from genobit.engine.files import address, is_address
from genobit.io._remote import info_of, read_range


@dataclass(frozen=True)
class Source:
    """A file that can be read from any place, here and by tasks on other machines."""

    name: str
    """Absolute path, or address."""
    size: int
    stamp: str
    """Text that changes when the file does."""

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Source:
        """Return the source of a path or an address; FileNotFoundError if there is none."""
        if is_address(path):
            name = address(path)
            size, stamp = info_of(name)
            return cls(name, size, stamp)
        found = Path(path).expanduser().absolute()
        stat = found.stat()
        return cls(str(found), stat.st_size, f"{stat.st_size} {stat.st_mtime_ns}")

    @property
    def is_remote(self) -> bool:
        """Whether the file is at an address."""
        return is_address(self.name)

    def read(self, start: int, stop: int) -> bytes:
        """Return bytes start:stop, or fewer at the end of the file."""
        if self.is_remote:
            return read_range(self.name, start, min(stop, self.size))
        with Path(self.name).open("rb", buffering=0) as file:
            file.seek(start)
            parts, missing = [], stop - start
            while missing > 0 and (part := file.read(missing)):
                parts.append(part)
                missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def require_unchanged(self) -> None:
        """Raise OSError if the file is not the one that was opened."""
        if not self.is_remote and Source.of(self.name).stamp != self.stamp:
            msg = f"{self.name} was changed while in use. Open it again."
            raise OSError(msg)

    def beside(self, suffix: str) -> Source | None:
        """Return the file with a suffix behind its name, or None."""
        try:
            return Source.of(self.name + suffix)
        except (FileNotFoundError, OSError):
            return None


@dataclass(frozen=True)
class Held(Source):
    """A file that was inflated into memory, because it can be inflated only from its start."""

    data: bytes = b""

    def read(self, start: int, stop: int) -> bytes:
        """Return bytes start:stop of the inflated file."""
        return self.data[start:stop]

    def require_unchanged(self) -> None:
        """Do nothing: the data are here."""
