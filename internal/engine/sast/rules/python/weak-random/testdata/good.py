import random
import secrets

def token():
    # ok: weak-random
    return secrets.token_hex(16)

def draw():
    # ok: weak-random
    return random.SystemRandom().randint(0, 10)
