FROM debian:12
# ruleid: remote-script
RUN curl -fsSL https://example.org/install.sh | sh
