"""The way in: the web server, bodies while they arrive, who asks, errors as answers.

What every feature needs to be a page or a part of the API; nothing here knows a feature.
"""
