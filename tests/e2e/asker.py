"""Send ten requests a second inside a machine until the file STOP exists. Then print the answers.

`python3 asker.py STOP URL AUTHORIZATION [keep]`. With `keep`, requests use the same connection as long as it is open.
"""

import http.client
import json
import os
import sys
import time
from collections import Counter
from urllib.parse import urlsplit


def main(stop: str, url: str, authorization: str, keep: str = "") -> None:
    parts, seen, connection = urlsplit(url), Counter[str](), None
    next_time = time.monotonic()
    while not os.path.exists(stop):
        connection = connection or http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            connection.request("GET", parts.path, headers={"Authorization": authorization})
            answer = connection.getresponse()
            answer.read()
            seen[str(answer.status)] += 1
            closing = answer.will_close
        except (OSError, http.client.HTTPException) as error:
            seen[repr(error)] += 1
            closing = True
        if closing or not keep:
            connection.close()
            connection = None
        next_time = max(next_time + 0.1, time.monotonic() - 1)
        time.sleep(max(0.0, next_time - time.monotonic()))
    if connection:
        connection.close()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
