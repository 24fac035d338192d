#!/usr/bin/env python3
"""A stage: says how busy the machine is; with --only-busy it passes busy moments only."""

import json
import os
import sys

only_busy = "--only-busy" in sys.argv
for line in sys.stdin:
    event = json.loads(line)
    event["data"]["busy"] = event["data"]["one"] > os.cpu_count()
    if event["data"]["busy"] or not only_busy:
        # The id is the one that came in: so feedbus knows which event this line stands for.
        print(json.dumps(event), flush=True)
