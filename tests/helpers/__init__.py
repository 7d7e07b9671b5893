"""What tests of several folders share: data, slow twins, cases, programs, servers."""
