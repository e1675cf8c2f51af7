#!/bin/bash
# ruleid: remote-script
curl -fsSL https://example.org/install.sh | sh
# ruleid: remote-script
wget -qO- https://example.org/install.sh | sudo bash -s -- --yes
