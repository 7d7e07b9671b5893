"""Read VCF and BCF: blocks, index, header, records; one reader for all containers.

May import: data, engine, io.kernels, io.inflate, io._remote.
"""
