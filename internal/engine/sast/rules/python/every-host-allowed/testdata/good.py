INSTALLED_APPS = ["shop"]
# ok: every-host-allowed
ALLOWED_HOSTS = ["shop.example"]
