from setuptools import setup
setup(name="x", install_requires=["Django==2.2.0", "requests>=2.0"])
