"""Bits of products counted two words at a time, by what they carry.

Counting ``a & b`` takes three instructions a register: and, popcount, add. Here ``odd`` holds, for
each position, whether an odd number of words has had its bit set. Two words change it twice, each
time by one `vpternlogq` that the AND is part of; what the two carry follows from the three states
alone, by a third one, and only that is counted, as two: five instructions instead of six. This is
the carry-save adder of Harley and Seal (Warren, Hacker's Delight, 2nd edition, 5-1) with the
product within it. More carries added before they are counted save nothing: an adder of two
registers takes two instructions, as do a popcount and its addition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils

from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import instruction, njit
from genobit.engine.simd.plain_lanes import andnot
from genobit.engine.simd.vector import popcount, zero_words

if TYPE_CHECKING:
    from genobit.engine.simd.plain_lanes import Register

CARRIED = 0b01110100
"""``between ? ~after : before`` as a table of three bits, ``before`` the highest."""


def _carried(before: Register, between: Register, after: Register) -> Register:
    return andnot(between, after) | andnot(before, between)


@instruction(_carried)
def carried(typing: Any, before: Any, between: Any, after: Any) -> Any:
    """Where two words have carried: parities before them, after the first and after both.

    Between is one and after is nought where the second met a bit; where neither has changed what
    was before, or both did, that tells.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        was, half, now = arguments
        if not host().vector_popcount:
            met = builder.and_(half, builder.not_(now))
            return builder.or_(met, builder.and_(was, builder.not_(half)))
        # Left to itself LLVM finds the words in the parities, and takes the ANDs out again.
        kind = ir.FunctionType(before.vector, [before.vector] * 3 + [ir.IntType(32)])
        function = cgutils.get_or_insert_function(
            builder.module, kind, "llvm.x86.avx512.pternlog.q.512"
        )
        return builder.call(function, [*arguments, ir.IntType(32)(CARRIED)])

    return before(before, between, after), generate


@njit
def no_bits() -> tuple[Any, Any]:
    """Sums (odd, carries) of nothing: parities, and a count of carries in each lane."""
    return zero_words(), zero_words()


@njit
def add_two(sums: tuple[Any, Any], a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """The sums, with the words ``a & b`` and ``c & d``."""
    odd, carries = sums
    between = odd ^ (a & b)
    after = between ^ (c & d)
    return after, carries + popcount(carried(odd, between, after))


@njit
def add_one(sums: tuple[Any, Any], a: Any, b: Any) -> tuple[Any, Any]:
    """The sums, with the word ``a & b``."""
    odd, carries = sums
    word = a & b
    return odd ^ word, carries + popcount(odd & word)


@njit
def bits_in(sums: tuple[Any, Any]) -> Any:
    """Bits set in all words so far, lane by lane."""
    odd, carries = sums
    return carries + carries + popcount(odd)
