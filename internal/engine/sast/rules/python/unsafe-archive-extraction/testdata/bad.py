import tarfile

def unpack(path, folder):
    with tarfile.open(path) as archive:
        # ruleid: unsafe-archive-extraction
        archive.extractall(folder)
