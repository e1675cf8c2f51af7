import socket

server = socket.socket()
# ok: listening-everywhere
server.bind(("127.0.0.1", 9000))
