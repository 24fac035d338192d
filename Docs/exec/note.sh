#!/bin/sh
# A sink: a line of text for each event, at the end of load.txt.
exec jq --unbuffered -r '"\(.data.at) load \(.data.one)\(if .data.busy then " (busy)" else "" end)"' >> load.txt
