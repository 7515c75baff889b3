"""What can be exported: what each file is for, how to use it, and what must be installed first."""

from __future__ import annotations

from importlib.util import find_spec

from tellmore.app.wire_board import ExportOut

ONNX_SNIPPET = """import numpy as np
import onnxruntime

model = onnxruntime.InferenceSession("tellmore-onnx.onnx")
vectors = np.load("new.npy").astype(np.float32)  # made by the same embedder as here
probability = model.run(["probability"], {"embedding": vectors})[0]
"""
SKLEARN_SNIPPET = """import numpy as np
import skops.io

model = skops.io.load("tellmore-sklearn.skops")
vectors = np.load("new.npy")  # made by the same embedder as here
probability = model.predict_proba(vectors)[:, 1]
"""
NPZ_SNIPPET = """import numpy as np

belief = np.load("tellmore-npz.npz")
vectors = np.load("new.npy")  # made by the same embedder as here
if belief["normalised"]:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
score = belief["mean"][0] + vectors @ belief["mean"][1:]  # positive above 0
"""

SNIPPETS_OF_TEXTS = {
    "onnx": """import onnxruntime

# Unpack the zip archive first: the first file turns texts into vectors, the second classifies them.
embedder = onnxruntime.InferenceSession("tellmore-onnx.onnx.tfidf.onnx")
model = onnxruntime.InferenceSession("tellmore-onnx.onnx")
texts = ["A new text", "Another one"]
vectors = embedder.run(["embedding"], {"lowercase_text": [text.lower() for text in texts]})[0]
probability = model.run(["probability"], {"embedding": vectors})[0]
""",
    "sklearn": """import skops.io

# Unpack the zip archive first: the first file turns texts into vectors, the second classifies them.
embedder = skops.io.load("tellmore-sklearn.skops.tfidf.skops")
model = skops.io.load("tellmore-sklearn.skops")
texts = ["A new text", "Another one"]
probability = model.predict_proba(embedder.transform(texts))[:, 1]
""",
    "npz": """import numpy as np

# Unpack the zip archive first. The page "Production" of the documentation shows
# how to turn texts into vectors with tellmore-npz.npz.tfidf.npz.
belief = np.load("tellmore-npz.npz")
vectors = np.load("new.npy")
score = belief["mean"][0] + vectors @ belief["mean"][1:]  # positive above 0
""",
}
"""Format -> code for projects with a TF-IDF embedder of their own, which is downloaded with the classifier."""

EXPORTS = (
    ("onnx", "Classifier, ONNX", "Runs in Python, C++, Java or a browser, without tellmore.", ONNX_SNIPPET),
    (
        "sklearn",
        "Classifier, scikit-learn",
        "A logistic regression for Python programs that use scikit-learn.",
        SKLEARN_SNIPPET,
    ),
    ("npz", "Classifier, NumPy", "The weights and their uncertainty as plain arrays, for your own code.", NPZ_SNIPPET),
    ("json", "Classifier, JSON", "The same weights for any programming language.", None),
    ("csv?table=scores", "Scores, CSV", "Every item with its probability, for a spreadsheet.", None),
    ("parquet?table=scores", "Scores, Parquet", "The same table for data tools; small and quick to read.", None),
    ("csv?table=answers", "Answers, CSV", "Who answered what and when, one row per answer.", None),
    ("report", "Report", "One page to read or print: what was taught, how well, with examples.", None),
    ("jsonl", "Event log", "Everything that happened, to keep or to import into another project.", None),
)
"""Address under /api/export, title, what it is for, and code that uses it."""

NEEDS = {"onnx": ("onnx", "onnx"), "sklearn": ("skops", "sklearn"), "parquet": ("pyarrow", "app")}
"""Format -> the package that writes it, and the extra that installs the package."""


def exports(*, with_embedder: bool) -> list[ExportOut]:
    """All exports, the classifier first; ``with_embedder``: whether the project's own TF-IDF embedder is downloaded with it."""
    of_texts = SNIPPETS_OF_TEXTS if with_embedder else {}
    return [
        ExportOut(
            path=f"/api/export/{path}",
            title=title,
            use=use,
            snippet=of_texts.get(path, snippet),
            install=_missing(path),
        )
        for path, title, use, snippet in EXPORTS
    ]


def _missing(path: str) -> str | None:
    """The command that installs what a format needs; None if nothing is missing."""
    package, extra = NEEDS.get(path.partition("?")[0], (None, None))
    return None if package is None or find_spec(package) else f"pip install 'tellmore[{extra}]'"
