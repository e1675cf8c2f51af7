import tarfile

def unpack(path, folder):
    with tarfile.open(path) as archive:
        # ok: unsafe-archive-extraction
        archive.extractall(folder, filter="data")
