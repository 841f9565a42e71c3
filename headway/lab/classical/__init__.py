"""Threshold units, perceptrons, counting, associative memory, regression"""
