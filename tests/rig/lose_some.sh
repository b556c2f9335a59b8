#!/bin/sh
# Starts the given program, except one time in twenty: a lost hook. The lost times follow from SEED and the process
# id; standard input stays untouched.
# usage: lose_some.sh SEED PROGRAM ARGUMENT...
seed=$1
shift
[ $((($$ * 7919 + seed * 104729) % 20)) -eq 0 ] || exec "$@"
