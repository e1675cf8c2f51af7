import subprocess

def convert(name):
    # ok: shell-command
    subprocess.run(["convert", name, "out.png"])
