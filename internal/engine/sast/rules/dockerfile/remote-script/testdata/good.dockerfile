FROM debian:12
RUN curl -fsSL -o install.sh https://example.org/install.sh && sha256sum -c install.sha256 && sh install.sh
RUN curl -s https://example.org/list | sort > list
