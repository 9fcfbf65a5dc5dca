#!/bin/bash
# check.py exits 0 for a pass, 2 when its own settings are unreadable (no score), anything else for a failure: the code
# under test runs below it, so a check that was killed counts as failed. Reward files are removed before and after, since
# that code may have written some.
logs=/logs/verifier
[ -d "$logs" ] || mkdir -p "$logs"
for file in "$logs"/reward.*; do [ -e "$file" ] && rm -rf "$file"; done
python3 -I -S -B /tests/check.py /tests/check.json
status=$?
rm -rf "$logs/reward.txt" "$logs/reward.json"
case $status in
  0) echo 1 >"$logs/reward.txt" ;;
  2) ;;
  *) echo 0 >"$logs/reward.txt" ;;
esac
exit 0
