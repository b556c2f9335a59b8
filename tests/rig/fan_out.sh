#!/bin/sh
# One hook event of the client, to the rig's own log and to watchers with data folders of their own.
# usage: fan_out.sh LOG_FOLDER WATCHBILL SEED DATA_DIR...    (`lossy:DATA_DIR` misses one event in twenty)
log=$1 program=$2 seed=$3
shift 3
cat > "$log/.$$"
mv "$log/.$$" "$log/$$.json"
for ear in "$@"; do
  case $ear in
    lossy:*)
      sum=$(cksum < "$log/$$.json")
      [ $(((${sum%% *} + seed) % 20)) -eq 0 ] && continue
      ear=${ear#lossy:}
      ;;
  esac
  "$program" hook --data-dir "$ear" < "$log/$$.json"
done
