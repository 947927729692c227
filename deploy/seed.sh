#!/usr/bin/env bash
# Run by the mongo image when its volume is empty: imports the contract's fixtures.
set -euo pipefail
mongoimport --quiet --db mongo --collection users --file /seed/users.jsonl
