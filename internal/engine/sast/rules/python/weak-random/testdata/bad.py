import random

def token():
    # ruleid: weak-random
    return random.randint(0, 10**9)

import string

def password():
    # ruleid: weak-random
    return "".join(random.choice(string.ascii_letters + string.digits) for _ in range(12))

def code():
    # ruleid: weak-random
    return "".join(random.choices("0123456789abcdef", k=8))
