#!/bin/bash
# check.py exits 0 for right, 1 for wrong. Anything else means that the check itself broke: then no reward is written,
# and the trial has no score instead of a zero.
logs=/logs/verifier
mkdir -p "$logs"
rm -rf "$logs/reward.txt" "$logs/reward.json"
python3 -I -S -B /tests/check.py /work/answer.txt /tests/expected.json
case $? in
  0) echo 1 >"$logs/reward.txt" ;;
  1) echo 0 >"$logs/reward.txt" ;;
esac
exit 0
