INSTALLED_APPS = ["shop"]
# ruleid: every-host-allowed
ALLOWED_HOSTS = ["*"]
