"""Fourier features and dimension-free rates"""
