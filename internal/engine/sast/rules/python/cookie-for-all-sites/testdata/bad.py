def mark(answer, token):
    # ruleid: cookie-for-all-sites
    answer.set_cookie("session", token, secure=True, httponly=True, samesite="None")
