#!/bin/sh
# Writes one hook event of the client from standard input into the rig's own log.
# usage: log_event.sh FOLDER
cat > "$1/.$$" && mv "$1/.$$" "$1/$$.json"
