# ok: permissive-cors
CORS_ALLOWED_ORIGINS = ["https://shop.example"]
