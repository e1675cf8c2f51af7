#!/bin/bash
curl --cacert internal.pem https://internal.example.org/tool -o tool
wget https://internal.example.org/tool
