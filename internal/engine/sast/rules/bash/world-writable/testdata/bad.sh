#!/bin/bash
# ruleid: world-writable
chmod 777 /srv/app
# ruleid: world-writable
chmod -R 777 /srv/data
