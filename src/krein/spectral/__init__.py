"""Learned spectra: frequencies and harmonics that separate the classes."""
