"""Transformers of scikit-learn, pipelines and estimators made of several."""

from __future__ import annotations

import numpy as np
from sklearn import (
    calibration,
    cluster,
    compose,
    decomposition,
    ensemble,
    feature_selection,
    impute,
    kernel_approximation,
    linear_model,
    mixture,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    pipeline,
    preprocessing,
    random_projection,
    svm,
)
from sklearn.feature_extraction import text as feature_text

from exports import sklearn_data as data
from exports.sklearn_case import (
    ARRAYS,
    BOTH,
    SCORES,
    SEED,
    Case,
    classifier,
    logistic,
    regressor,
    scorer,
    shallow_tree,
    transformer,
)

IMPUTERS = {
    "simple_imputer": transformer(lambda: impute.SimpleImputer(), data.holes),
    "simple_imputer_median": transformer(lambda: impute.SimpleImputer(strategy="median"), data.holes),
    "simple_imputer_constant": transformer(lambda: impute.SimpleImputer(strategy="constant", fill_value=7), data.holes),
    "simple_imputer_words": transformer(
        lambda: impute.SimpleImputer(strategy="most_frequent", missing_values="ß"), data.words, dtype=object
    ),
    "knn_imputer": transformer(lambda: impute.KNNImputer(n_neighbors=3), data.holes),
    "knn_imputer_one_neighbour": transformer(lambda: impute.KNNImputer(n_neighbors=1), data.holes),
    "knn_imputer_double": transformer(lambda: impute.KNNImputer(), data.holes, dtype=np.float64),
    "knn_imputer_by_distance": transformer(lambda: impute.KNNImputer(weights="distance"), data.holes),
    "missing_indicator": transformer(lambda: impute.MissingIndicator(features="all"), data.holes),
}

SCALERS = {
    "standard_scaler": transformer(lambda: preprocessing.StandardScaler()),
    "min_max_scaler": transformer(lambda: preprocessing.MinMaxScaler(clip=True)),
    "max_abs_scaler": transformer(lambda: preprocessing.MaxAbsScaler()),
    "robust_scaler": transformer(lambda: preprocessing.RobustScaler()),
    "normalizer": transformer(lambda: preprocessing.Normalizer()),
    "binarizer": transformer(lambda: preprocessing.Binarizer(threshold=0.2)),
    "power_transformer": transformer(lambda: preprocessing.PowerTransformer(), amplification=8),
    "power_transformer_box_cox": transformer(
        lambda: preprocessing.PowerTransformer("box-cox"), data.positive, amplification=8
    ),
    "quantile_transformer": transformer(lambda: preprocessing.QuantileTransformer(n_quantiles=20, **SEED)),
    "polynomial_features": transformer(lambda: preprocessing.PolynomialFeatures(3)),
    "spline_transformer": transformer(lambda: preprocessing.SplineTransformer(4)),
    "bins_one_hot": transformer(
        lambda: preprocessing.KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
    ),
    "bins_ordinal": transformer(
        lambda: preprocessing.KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf")
    ),
    "function_transformer": transformer(lambda: preprocessing.FunctionTransformer()),
}

ENCODERS = {
    "one_hot_encoder": transformer(
        lambda: preprocessing.OneHotEncoder(handle_unknown="ignore"), data.words, dtype=object
    ),
    "one_hot_encoder_numbers": transformer(
        lambda: preprocessing.OneHotEncoder(handle_unknown="ignore"), data.counts, dtype=np.int64
    ),
    "one_hot_encoder_drop": transformer(lambda: preprocessing.OneHotEncoder(drop="first"), data.words, dtype=object),
    "ordinal_encoder": transformer(lambda: preprocessing.OrdinalEncoder(), data.words, dtype=object),
    "ordinal_encoder_unknown": transformer(
        lambda: preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        data.counts,
        dtype=np.int64,
    ),
    "target_encoder": transformer(
        lambda: preprocessing.TargetEncoder(**SEED), data.words, dtype=object, target=data.two_classes
    ),
    "label_encoder": transformer(lambda: preprocessing.LabelEncoder(), data.word, dtype=object),
    "label_binarizer": transformer(
        lambda: preprocessing.LabelBinarizer(), lambda n, rng: data.counts(n, rng)[:, 0], dtype=np.int64
    ),
}

DECOMPOSITIONS = {
    "pca": transformer(lambda: decomposition.PCA(3)),
    "pca_whitened": transformer(lambda: decomposition.PCA(3, whiten=True)),
    "incremental_pca": transformer(lambda: decomposition.IncrementalPCA(2)),
    "truncated_svd": transformer(lambda: decomposition.TruncatedSVD(2, **SEED)),
    "kernel_pca": transformer(lambda: decomposition.KernelPCA(3, kernel="rbf", **SEED), dtype=np.float64),
    "fast_ica": transformer(lambda: decomposition.FastICA(2, **SEED)),
    "gaussian_projection": transformer(lambda: random_projection.GaussianRandomProjection(3, **SEED)),
    "rbf_sampler": transformer(lambda: kernel_approximation.RBFSampler(n_components=6, **SEED)),
    "nystroem": transformer(lambda: kernel_approximation.Nystroem(n_components=6, **SEED)),
    "k_means": Case(lambda: cluster.KMeans(3, n_init=1, **SEED), methods=("predict", "transform")),
    "mini_batch_k_means": Case(
        lambda: cluster.MiniBatchKMeans(3, n_init=1, **SEED), methods=("predict", "transform"), dtype=np.float64
    ),
    "gaussian_mixture": Case(lambda: mixture.GaussianMixture(3, **SEED), methods=BOTH, dtype=np.float64, opset=21),
    "gaussian_mixture_diagonal": Case(
        lambda: mixture.GaussianMixture(3, covariance_type="diag", **SEED), methods=BOTH, opset=21, amplification=16
    ),
    "bayesian_mixture_tied": Case(
        lambda: mixture.BayesianGaussianMixture(n_components=3, covariance_type="tied", **SEED),
        methods=BOTH,
        dtype=np.float64,
        opset=21,
    ),
    "select_k_best": transformer(lambda: feature_selection.SelectKBest(k=2), target=data.three_classes),
    "variance_threshold": transformer(lambda: feature_selection.VarianceThreshold(0.5), data.counts),
    "select_from_model": transformer(
        lambda: feature_selection.SelectFromModel(linear_model.Lasso(0.1)), target=data.target
    ),
    "recursive_elimination": transformer(lambda: feature_selection.RFE(linear_model.Ridge()), target=data.target),
}

TEXTS = {
    "count_vectorizer": transformer(
        lambda: feature_text.CountVectorizer(token_pattern=r"\S+"), data.texts, dtype=object, methods=("counts",)
    ),
    "count_vectorizer_binary_pairs": transformer(
        lambda: feature_text.CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), binary=True),
        data.texts,
        dtype=object,
        methods=("counts",),
    ),
    "tfidf_vectorizer": transformer(
        lambda: feature_text.TfidfVectorizer(token_pattern=r"\S+"), data.texts, dtype=object
    ),
    "tfidf_vectorizer_triples": transformer(
        lambda: feature_text.TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 3), norm="l1", sublinear_tf=True),
        data.texts,
        dtype=object,
    ),
    "tfidf_transformer": transformer(lambda: feature_text.TfidfTransformer(), data.counts),
}

PIPELINES = {
    "scaled_svm": scorer(lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC())),
    "imputed_neighbours": classifier(
        lambda: pipeline.make_pipeline(impute.KNNImputer(n_neighbors=2), neighbors.KNeighborsClassifier(3)),
        rows=data.holes,
    ),
    "imputed_forest": classifier(
        lambda: pipeline.make_pipeline(impute.SimpleImputer(), ensemble.RandomForestClassifier(5, **SEED)),
        rows=data.holes,
    ),
    "reduced_boosting": regressor(
        lambda: pipeline.make_pipeline(
            decomposition.PCA(3), ensemble.GradientBoostingRegressor(n_estimators=4, max_depth=2, **SEED)
        )
    ),
    "feature_union": transformer(
        lambda: pipeline.make_union(decomposition.PCA(2), preprocessing.StandardScaler(), preprocessing.MinMaxScaler())
    ),
    "columns": classifier(
        lambda: pipeline.make_pipeline(
            compose.ColumnTransformer(
                [("scaled", preprocessing.StandardScaler(), [0, 2]), ("bins", preprocessing.Binarizer(), [1, 4])],
                remainder="passthrough",
            ),
            logistic(),
        )
    ),
    "encoded_words": classifier(
        lambda: pipeline.make_pipeline(preprocessing.OneHotEncoder(handle_unknown="ignore"), logistic()),
        rows=data.words,
        dtype=object,
    ),
    "text_naive_bayes": classifier(
        lambda: pipeline.make_pipeline(feature_text.CountVectorizer(token_pattern=r"\S+"), naive_bayes.MultinomialNB()),
        data.two_classes,
        rows=data.texts,
        dtype=object,
        amplification=8,
    ),
    "target_transformed": regressor(
        lambda: compose.TransformedTargetRegressor(linear_model.Ridge(), transformer=preprocessing.StandardScaler())
    ),
    "one_against_rest": classifier(lambda: multiclass.OneVsRestClassifier(logistic())),
    "one_against_one": Case(
        lambda: multiclass.OneVsOneClassifier(logistic()), data.three_classes, options=ARRAYS, methods=SCORES
    ),
    "output_code": Case(lambda: multiclass.OutputCodeClassifier(logistic(), code_size=2, **SEED), data.three_classes),
    "several_classifiers": Case(
        lambda: multioutput.MultiOutputClassifier(logistic()),
        data.several_labels,
        methods=BOTH,
        options=ARRAYS,
    ),
    "several_regressors": regressor(lambda: multioutput.MultiOutputRegressor(linear_model.Ridge()), data.targets),
    "classifier_chain": Case(
        lambda: multioutput.ClassifierChain(logistic()),
        lambda x, rng: (data.targets(x, rng) > 0).astype(int),
        methods=BOTH,
    ),
    "regressor_chain": regressor(lambda: multioutput.RegressorChain(linear_model.Ridge()), data.targets),
    "calibrated_sigmoid": classifier(lambda: calibration.CalibratedClassifierCV(shallow_tree(), cv=2)),
    "calibrated_isotonic": classifier(
        lambda: calibration.CalibratedClassifierCV(logistic(), method="isotonic", cv=2), data.two_classes
    ),
}
