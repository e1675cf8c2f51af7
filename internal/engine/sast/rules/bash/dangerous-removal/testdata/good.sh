#!/bin/bash
rm -rf "${BUILD:?}"/*
rm -rf /tmp/cache/*
rm -f "$NAME"
