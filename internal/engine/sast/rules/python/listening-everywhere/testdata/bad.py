import socket

server = socket.socket()
# ruleid: listening-everywhere
server.bind(("0.0.0.0", 9000))
