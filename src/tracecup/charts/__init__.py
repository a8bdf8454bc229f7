"""The charts: Vega-Lite specifications with text and table beside them, for report and site.

Made from facts and a language (`Tell`); whoever shows them decides how they are put on a page.
"""
