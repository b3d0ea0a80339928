"""The classifier to beat: words weighed by TF-IDF, and logistic regression."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from exitwise.data import Splits
from exitwise.metrics import Scores, score

TFIDF = "TF-IDF + logistic regression"


def tfidf_scores(splits: Splits) -> Scores:
    """What single words and pairs of words score, trained and measured on the same rows.

    Settings are scikit-learn's own, but for the pairs of words and counts on a log scale.
    """
    (validation,) = splits.validation.values()
    classifier = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(max_iter=1000)
    )
    classifier.fit(splits.train.texts, splits.train.labels)
    predictions = np.asarray(classifier.predict(validation.texts))
    labels = np.asarray(validation.labels)
    return score(predictions, labels, splits.metric, len(splits.label_names))
