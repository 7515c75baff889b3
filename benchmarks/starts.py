"""What a start is worth: from words, from another model's verdicts, from nothing, from junk; the same people, seeds and seconds.

    python benchmarks/starts.py --data DIR [--seeds 10] [--question auto] [--rows results/starts.csv] [--out docs/starts]

Pools with human scores come from DIR (those that are not there are left out), others from scikit-learn. ROWS gets a line for every
run and mark, and what is there already is not computed again. OUT gets the means (summary.csv), the tables (tables.md) and a picture.
"""

from __future__ import annotations

from sklearn import datasets

WORDS = {
    "VADER": "words_vader_w2v300",
    "SocialSent": "words_socialsent2000_w2v300",
    "Warriner": "words_warriner_valence_w2v300",
}
PICTURES = {"OASIS": "images_oasis_valence_efflite2", "UTKFace": "images_utkface2000_facenet512"}
TABLES = {"digits 8": datasets.load_digits, "breast cancer": datasets.load_breast_cancer, "wine 1": datasets.load_wine}
CLASS = {"digits 8": 8, "breast cancer": 0, "wine 1": 1}
LIKE = ["good", "happy", "excellent", "love", "beautiful", "wonderful"]
UNLIKE = ["bad", "sad", "terrible", "hate", "ugly", "awful"]
WORD_STARTS = {"2 words": 1, "6 words": 3, "12 words": 6}
VERDICTS = {"verdicts 70 %": 0.7, "verdicts 85 %": 0.85}
NOTHING = "nothing"
TARGETS = {"VADER": 0.9, "SocialSent": 0.75, "Warriner": 0.75, "OASIS": 0.75}
Cell = tuple[str, str]
