import jwt

def who(token):
    # ruleid: unsigned-jwt
    return jwt.decode(token, options={"verify_signature": False})["sub"]
