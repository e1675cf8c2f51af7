def mark(answer, token):
    # ok: cookie-for-all-sites
    answer.set_cookie("session", token, secure=True, httponly=True, samesite="Lax")
