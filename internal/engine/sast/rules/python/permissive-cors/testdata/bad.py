# ruleid: permissive-cors
CORS_ALLOW_ALL_ORIGINS = True
