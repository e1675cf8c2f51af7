import random

def token():
    # ruleid: weak-random
    return random.randint(0, 10**9)
