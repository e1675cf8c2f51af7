import os

from flask import request
from werkzeug.utils import secure_filename

def upload(folder):
    file = request.files["picture"]
    if not file.filename.lower().endswith((".png", ".jpg")):
        return "a picture, please", 400
    # ok: unrestricted-upload
    file.save(os.path.join(folder, secure_filename(file.filename)))
