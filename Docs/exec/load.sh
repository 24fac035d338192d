#!/bin/sh
# A source: the load of the machine, COUNT times, every SECONDS.    ./load.sh COUNT SECONDS
count=$1
while [ "$count" -gt 0 ]; do
    read -r one five fifteen rest < /proc/loadavg
    printf '{"at":"%s","one":%s,"five":%s,"fifteen":%s}\n' "$(date -u +%FT%TZ)" "$one" "$five" "$fifteen"
    count=$((count - 1))
    [ "$count" -eq 0 ] || sleep "$2"
done
