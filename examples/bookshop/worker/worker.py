"""Sends the orders of the day."""

import sys

for order in sys.stdin:
    print("sent", order.strip())
