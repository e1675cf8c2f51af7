#!/bin/bash
# ruleid: certificate-verification-off
curl -k https://internal.example.org/tool -o tool
# ruleid: certificate-verification-off
wget --no-check-certificate https://internal.example.org/tool
