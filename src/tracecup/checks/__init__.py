"""Contract tests for any method, one's own or another's: what contest and studies rely on.

`check_method(MyAttack)` needs no test framework; `tracecup check my_module:MyAttack` prints it.
"""

from tracecup.checks.result import CheckResult
from tracecup.checks.suite import check_method

__all__ = ["CheckResult", "check_method"]
