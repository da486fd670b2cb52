"""Branches: copies of this process made by fork, either live sessions or frozen checkpoints."""
