"""Pictures: every study drawn in one common style, as PNG and SVG.

matplotlib is the extra `plot`; it is imported when something is drawn.
"""
