"""Vector features of the CPU that kernels are compiled for."""

from __future__ import annotations

import functools
import platform
from typing import NamedTuple

import llvmlite.binding as llvm

from genobit.engine.simd.jit import target_description


class Host(NamedTuple):
    """Vector features of the CPU that kernels are compiled for."""

    vector_popcount: bool
    """Whether an instruction counts the bits of each 64-bit lane (AVX-512 VPOPCNTDQ)."""
    byte_lanes: int
    """Bytes in the widest register that has a byte lookup: 32 (AVX2), 16 (SSSE3, NEON) or 0."""
    permutes_pairs: bool = False
    """Whether an instruction permutes 32 lanes of 16 bits by 32 indices (AVX-512BW, ``vpermw``)."""
    tiles: bool = False
    """Whether a matrix unit multiplies tiles of signed bytes (Intel AMX). Linux must permit it
    too: `genobit.engine.simd.amx.permitted`."""
    slow_ternary: bool = False
    """Whether an instruction of three registers (``vpternlogq``) takes as long as two instructions.
    Measured on Zen 4, 0.27 ns after a move, against 0.14 ns of an AND."""


def _assembly(instructions: str) -> str:
    triple, name, features = target_description()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(cpu=name, features=features)
    return machine.emit_assembly(llvm.parse_assembly(instructions))


@functools.cache
def host() -> Host:
    """Ask the compiler, not the CPU: it knows what NUMBA_CPU_NAME and NUMBA_CPU_FEATURES allow."""
    if platform.machine().lower() in {"arm64", "aarch64"}:
        return Host(vector_popcount=False, byte_lanes=16)
    count = _assembly(
        "declare <8 x i64> @llvm.ctpop.v8i64(<8 x i64>)\n"
        "define <8 x i64> @f(<8 x i64> %a) {\n"
        "%c = call <8 x i64> @llvm.ctpop.v8i64(<8 x i64> %a)\nret <8 x i64> %c\n}"
    )
    absolute = _assembly(
        "declare <32 x i8> @llvm.abs.v32i8(<32 x i8>, i1)\n"
        "define <32 x i8> @f(<32 x i8> %a) {\n"
        "%c = call <32 x i8> @llvm.abs.v32i8(<32 x i8> %a, i1 0)\nret <32 x i8> %c\n}"
    )
    least = _assembly(
        "declare <32 x i16> @llvm.smin.v32i16(<32 x i16>, <32 x i16>)\n"
        "define <32 x i16> @f(<32 x i16> %a, <32 x i16> %b) {\n"
        "%c = call <32 x i16> @llvm.smin.v32i16(<32 x i16> %a, <32 x i16> %b)\n"
        "ret <32 x i16> %c\n}"
    )
    # SSSE3 added pabsb together with pshufb, and AVX2 widened both to 32 bytes. AVX alone has only
    # the registers.
    short = 16 if "pabsb" in absolute else 0
    # AVX-512BW added the 64-byte vpminsw together with vpermw.
    return Host(
        "vpopcntq" in count,
        32 if "pabsb\t%ymm" in absolute else short,
        any("vpminsw" in line and "%zmm" in line for line in least.splitlines()),
        # LLVM ends the process if it compiles a tile instruction for a CPU without tiles, so read
        # the features. A CPU's name alone does not count: NUMBA_CPU_FEATURES must list them.
        {"+amx-tile", "+amx-int8"} <= set(target_description()[2].split(",")),
        target_description()[1] == "znver4",
    )
