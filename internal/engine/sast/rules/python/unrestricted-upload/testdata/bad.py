import os

from flask import request
from werkzeug.utils import secure_filename

def upload(folder):
    file = request.files["picture"]
    # ruleid: unrestricted-upload
    file.save(os.path.join(folder, secure_filename(file.filename)))
