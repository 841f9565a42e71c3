"""Depth separation, smooth functions, composition, circuits"""
