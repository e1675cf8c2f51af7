FROM debian:12
# ruleid: secret-in-image
ENV DB_PASSWORD=q8Zt2LmX9v
