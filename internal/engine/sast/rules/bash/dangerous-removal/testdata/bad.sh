#!/bin/bash
# ruleid: dangerous-removal
rm -rf $BUILD/*
# ruleid: dangerous-removal
rm -rf "${CACHE}/"
