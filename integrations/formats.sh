#!/bin/sh
# Checks what `raddle check` writes with --format, with the tools that are installed: dot reads the graph, headless Chromium takes
# screenshots of the page, and python3 with jsonschema compares SARIF with a copy of the official schema.
#
# Usage: integrations/formats.sh RADDLE DIRECTORY [SARIF-SCHEMA]
set -eu
raddle=$1
directory=$2
schema=${3:-}
mkdir -p "$directory"
for program in examples/peterson.c corpus/c/errors/race.c corpus/c/errors/livelock.c; do
    name=$(basename "$program" .c)
    for format in html dot sarif junit; do
        "$raddle" check "$program" --model tso,c20 --keep-going --format "$format" --output "$directory/$name.$format" || [ $? -eq 1 ]
    done
    if command -v dot > /dev/null; then
        dot -Tsvg "$directory/$name.dot" > "$directory/$name.svg"
    fi
    if [ -n "$schema" ]; then
        python3 -c 'import json, sys, jsonschema; jsonschema.validate(*(json.load(open(file)) for file in sys.argv[1:]))' \
            "$directory/$name.sarif" "$schema"
    fi
    if command -v chromium > /dev/null; then
        for step in 1 5 99; do
            profile=$(mktemp -d)
            timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
                --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$profile" \
                --hide-scrollbars --window-size=1360,900 --screenshot="$directory/$name-$step.png" \
                "file://$(realpath "$directory/$name.html")#step=$step" 2> /dev/null
            rm -r "$profile"
        done
    fi
done
