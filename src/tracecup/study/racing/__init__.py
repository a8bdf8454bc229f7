"""What the study `race` runs with JAX; a folder of its own, so that listing studies needs none."""
