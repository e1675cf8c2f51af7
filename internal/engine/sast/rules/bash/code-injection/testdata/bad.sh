#!/bin/bash
# ruleid: code-injection
eval "ls $1"
# ruleid: code-injection
eval $@
