SECRET_KEY = load("secret")
# ok: django-protection-off
SESSION_COOKIE_SECURE = True
# ok: django-protection-off
SECURE_SSL_REDIRECT = not DEBUG
