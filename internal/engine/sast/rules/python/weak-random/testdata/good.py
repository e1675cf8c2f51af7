import random
import secrets

def token():
    # ok: weak-random
    return secrets.token_hex(16)

def draw():
    # ok: weak-random
    return random.SystemRandom().randint(0, 10)

import datetime
import time

def retry(colors):
    # ok: weak-random
    time.sleep(0.1 * random.random())
    # ok: weak-random
    at = datetime.timedelta(minutes=random.randint(0, 30))
    # ok: weak-random
    if random.random() > 0.3:
        return at
    # ok: weak-random
    return random.choice(colors)
