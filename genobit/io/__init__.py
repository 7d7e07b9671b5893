"""Files in, labelled data out: PLINK 1, VCF, VCF Zarr, alignments, trees, embedded samples.

This layer may import xarray, dask, zarr, pandas and the readers of the field
(bio2zarr, cyvcf2, msprime, DendroPy), and `genobit.kernels`. It knows nothing of bit planes,
analyses or plots. Importing it opens no file and loads none of those libraries.

- `plink`: .bed, .bim and .fam as a lazy Dataset; raw .bed rows for packing
- `vcf`: VCF and BCF through VCF Zarr in the user's cache; VCF Zarr stores
- `gcta`, `plink_rel`: relationship matrices in the formats of GCTA and PLINK, both ways
- `streams`: any lazy result to Zarr, resumed after any stop
- `alignment`: FASTA, PHYLIP and NEXUS as (taxa, sites)
- `trees`: Newick, NEXUS and trees of other libraries as arrays of parents, and back
- `sample`, `sample_expression`, `sample_alignment`: simulated data to try everything on

`_alignment_text`, `_nexus`, `_dendropy`, `_tree_nodes`, `_tip_names`, `_plink_text`,
`_vcf_records`, `_region`, `_relationship`, `_zarr` and `_cache` hold what those share or need.
`_bounded`, `_damage`, `_guarded`, `_inflation`, `_planes` and `_parquet` keep damaged and hostile
files from memory, and name the file in every error.
"""
