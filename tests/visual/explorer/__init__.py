"""Tests of the frame of every explorer."""
