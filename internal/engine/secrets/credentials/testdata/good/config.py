import os

api_key = os.environ["API_KEY"]
token = "${TOKEN}"
password = "{{ vault.password }}"
secret = get_secret("projects/x/secrets/stripe/versions/latest")
auth_header = f"Bearer {token}"
key = "primary_key_column_name"
access_level = "administrator"
PRIVATE = """-----BEGIN RSA PRIVATE KEY-----
...
-----END RSA PRIVATE KEY-----"""
