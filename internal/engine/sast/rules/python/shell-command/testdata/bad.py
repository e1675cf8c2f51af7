import subprocess

def convert(name):
    # ruleid: shell-command
    subprocess.run("convert " + name + " out.png", shell=True)
