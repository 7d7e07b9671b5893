"""Methods of ``ds.genobit`` about the quality of variants, samples and calls."""
