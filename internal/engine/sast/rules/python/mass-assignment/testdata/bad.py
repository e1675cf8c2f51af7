from flask import request

def register():
    # ruleid: mass-assignment
    user = User(**request.json)
    save(user)

def change(user):
    # ruleid: mass-assignment
    for key, value in request.form.items():
        setattr(user, key, value)
