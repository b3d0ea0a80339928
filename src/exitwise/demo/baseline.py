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

    Pairs of words too, those that occur twice; counts on a log scale; little regularisation: the
    best of some usual settings on these sentences, so that there is something to beat.
    """
    (validation,) = splits.validation.values()
    classifier = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        LogisticRegression(C=10.0, max_iter=1000),
    )
    classifier.fit(splits.train.texts, splits.train.labels)
    predictions = np.asarray(classifier.predict(validation.texts))
    labels = np.asarray(validation.labels)
    return score(predictions, labels, splits.metric, len(splits.label_names))
