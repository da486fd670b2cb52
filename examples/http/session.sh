#!/bin/sh
# A session over HTTP with curl: files in and out, a copy of a session, a command.
set -eu
url=${RLM_URL:-http://127.0.0.1:8000}

ask() { # PATH [OPTION...]
  path=$1
  shift
  curl --silent --show-error --fail-with-body -H "Authorization: Bearer $RLM_TOKEN" "$url$path" "$@"
}

ask /v1/sessions -d '{"id": "demo"}' > /dev/null

# Upload a file, run code that reads it and writes another, and download that one.
printf 'name,price\ntea,3\ncake,4\n' | ask /v1/sessions/demo/files/shop.csv -T - > /dev/null
ask /v1/sessions/demo/execute -o /dev/null -d '{"code":
  "import csv\ntotal = sum(int(row[\"price\"]) for row in csv.DictReader(open(\"shop.csv\")))"}'
ask /v1/sessions/demo/execute -o /dev/null -d '{"code": "print(total, file=open(\"total.txt\", \"w\"))"}'
ask /v1/sessions/demo/files/total.txt

# The events of an execution, as they happen.
ask /v1/sessions/demo/execute -N -H 'Accept: text/event-stream' -d '{"code": "print(total)"}' | grep '^event:'

# An independent live copy.
ask /v1/sessions/demo/fork -d '{"id": "copy"}' > /dev/null
ask /v1/sessions/copy/execute -o /dev/null -d '{"code": "total += 100"}'
for id in demo copy; do
  ask "/v1/sessions/$id/execute" -d '{"code": "total"}' | grep -o '"text/plain":"[^"]*"'
  ask "/v1/sessions/$id" -X DELETE > /dev/null
done
