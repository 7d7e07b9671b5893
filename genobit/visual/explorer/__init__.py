"""The frame of every explorer: toolbar, drawer, card, selection, worker thread, linked pictures.

May import: the rest of `visual`, `io`, `data` and the engine.
"""
