SECRET_KEY = load("secret")
# ruleid: django-protection-off
SESSION_COOKIE_SECURE = False
# ruleid: django-protection-off
SECURE_SSL_REDIRECT = False
