"""Checkpoint folder to weights: Qwen3 layers and the looped stack. Knows nothing of decoding."""
