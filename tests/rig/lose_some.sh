#!/bin/sh
# Starts what follows, but for one time in twenty: a hook that is lost. Which times those are follows from SEED and the number of
# the process; standard input stays untouched.
# usage: lose_some.sh SEED PROGRAM ARGUMENT...
seed=$1
shift
[ $((($$ * 7919 + seed * 104729) % 20)) -eq 0 ] || exec "$@"
