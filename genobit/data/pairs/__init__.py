"""Tables of pairs: lazy, as Parquet files, and as networks.

`table` has the public type. Analyses say how the parts of a table are computed (`parts`). May
import: the other modules of `data`, the engine.
"""
