"""Speed as ratios taken in one run: against the registers of this machine, a copy, or a peer.

`python -m tests.benchmarks.run` or `genobit bench`; see `run.py` for the protocol.
"""
