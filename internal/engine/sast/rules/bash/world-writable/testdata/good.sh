#!/bin/bash
chmod 750 /srv/app
chmod -R u+w /srv/data
chmod +x run.sh
