"""Tests of pictures and their painters."""
