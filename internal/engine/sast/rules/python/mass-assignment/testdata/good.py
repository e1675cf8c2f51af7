from flask import request

def register():
    # ok: mass-assignment
    user = User(name=request.json["name"], mail=request.json["mail"])
    save(user)
