import jwt

def who(token, key):
    # ok: unsigned-jwt
    return jwt.decode(token, key, algorithms=["HS256"])["sub"]
