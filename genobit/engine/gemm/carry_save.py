"""Carry-save adder (Harley-Seal) that counts the bits of ``a & b`` two words at a time.

Counting ``a & b`` directly takes three instructions per register: and, popcount, add. Here ``odd``
holds, for each position, the parity of the set bits so far. Each of two words updates the parity by
one `vpternlogq`, which includes the AND. A third one computes the carry of the two words from the
three parities. Only the carry is counted, with weight two: five instructions instead of six.

See Warren, Hacker's Delight, 2nd edition, 5-1, for the carry-save adder of Harley and Seal. Deeper
carry-save trees save nothing: an adder of two registers takes two instructions, and so do a
popcount and its addition.

The saving depends on instructions of three inputs that are as fast as those of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import instruction, njit
from genobit.engine.simd.plain_lanes import andnot
from genobit.engine.simd.registers import zero_words
from genobit.engine.simd.vector import called, popcount

if TYPE_CHECKING:
    from genobit.engine.simd.plain_lanes import Register

CARRIES = not host().slow_ternary
"""Whether carries are counted. Else each word is counted, and parities stay zero: the "and" product
then takes 0.87 of the time on a Zen 4."""
CARRIED = 0b01110100
"""Truth table of ``between ? ~after : before``, with ``before`` as the highest of three bits."""


def _carried(before: Register, between: Register, after: Register) -> Register:
    return andnot(between, after) | andnot(before, between)


@instruction(_carried)
def carried(typing: Any, before: Any, between: Any, after: Any) -> Any:
    """Return the carry of two words from the parities before, between and after them.

    If ``between`` is 1, the carry is ``not after``. If ``between`` is 0, the carry is ``before``.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        was, half, now = arguments
        if not host().vector_popcount:
            met = builder.and_(half, builder.not_(now))
            return builder.or_(met, builder.and_(was, builder.not_(half)))
        # Use the intrinsic: LLVM would rewrite the expression in terms of the words and recompute
        # their ANDs.
        table = ir.IntType(32)(CARRIED)
        return called(builder, "llvm.x86.avx512.pternlog.q.512", before.vector, *arguments, table)

    return before(before, between, after), generate


@njit
def no_bits() -> tuple[Any, Any]:
    """Return empty sums (odd, carries): parities, and a count of carries in each lane."""
    return zero_words(), zero_words()


@njit
def add_two(sums: tuple[Any, Any], a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Add the words ``a & b`` and ``c & d`` to the sums."""
    odd, carries = sums
    if not CARRIES:
        return odd, carries + popcount(a & b) + popcount(c & d)
    between = odd ^ (a & b)
    after = between ^ (c & d)
    return after, carries + popcount(carried(odd, between, after))


@njit
def add_one(sums: tuple[Any, Any], a: Any, b: Any) -> tuple[Any, Any]:
    """Add the word ``a & b`` to the sums."""
    odd, carries = sums
    word = a & b
    if not CARRIES:
        return odd, carries + popcount(word)
    return odd ^ word, carries + popcount(odd & word)


@njit
def bits_in(sums: tuple[Any, Any]) -> Any:
    """Return the number of set bits of all words so far, lane by lane."""
    odd, carries = sums
    if not CARRIES:
        return carries
    return carries + carries + popcount(odd)
