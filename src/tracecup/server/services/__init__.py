"""What the server can do, as functions that know no HTTP; pages, API and jobs call them.

Every change is one transaction with its entry in the audit log.
"""
