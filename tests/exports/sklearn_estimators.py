"""The estimators of scikit-learn that skl2onnx exports: what each is, learns from and is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import (
    calibration,
    cluster,
    compose,
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    ensemble,
    feature_selection,
    gaussian_process,
    impute,
    kernel_approximation,
    linear_model,
    mixture,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    random_projection,
    svm,
    tree,
)
from sklearn.feature_extraction import text as feature_text
from sklearn.gaussian_process import kernels

from exports import sklearn_data as data

Target = Callable[[np.ndarray, np.random.Generator], Any]


@dataclass(frozen=True)
class Case:
    """An estimator, the kind of rows it is for, and what it learns to tell of them.

    `methods` are what the outputs of the model are, in order; `options` go to skl2onnx.
    """

    make: Callable[[], Any]
    target: Target = data.nothing
    rows: data.Draw = data.normal
    methods: tuple[str, ...] = ("predict",)
    dtype: Any = np.float32
    options: dict[str, Any] = field(default_factory=dict)
    opset: Any = field(default_factory=lambda: {"": 21, "ai.onnx.ml": 3})
    amplification: float = 1.0


BOTH = ("predict", "predict_proba")
ZIPMAP = ("predict", "zipmap")
SCORES = ("predict", "decision_function")
TRANSFORM = ("transform",)
ARRAYS = {"zipmap": False}
RAW = {"zipmap": False, "raw_scores": True}
SEED = {"random_state": 0}


def classifier(make: Callable[[], Any], target: Target = data.three_classes, **more: Any) -> Case:
    return Case(make, target, **{"methods": BOTH, "options": ARRAYS} | more)


def scorer(make: Callable[[], Any], target: Target = data.three_classes, **more: Any) -> Case:
    return Case(make, target, methods=SCORES, **{"options": RAW} | more)


def regressor(make: Callable[[], Any], target: Target = data.target, **more: Any) -> Case:
    return Case(make, target, **more)


def transformer(make: Callable[[], Any], rows: data.Draw = data.normal, **more: Any) -> Case:
    return Case(make, rows=rows, **{"methods": TRANSFORM} | more)


def shallow_tree() -> Any:
    return tree.DecisionTreeClassifier(max_depth=3, **SEED)


def logistic() -> Any:
    return linear_model.LogisticRegression()


def gaussian_regressor(kernel: Any, alpha: float = 1.0) -> Case:
    """In double precision, which the inverse of the covariance needs."""
    make = gaussian_process.GaussianProcessRegressor
    return regressor(lambda: make(kernel, alpha=alpha, optimizer=None), dtype=np.float64, amplification=100)


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

NEIGHBOURS = {
    "k_neighbors_classifier": classifier(lambda: neighbors.KNeighborsClassifier(3)),
    "k_neighbors_classifier_by_distance": classifier(lambda: neighbors.KNeighborsClassifier(4, weights="distance")),
    "k_neighbors_classifier_manhattan": classifier(lambda: neighbors.KNeighborsClassifier(3, metric="manhattan")),
    "k_neighbors_regressor": regressor(lambda: neighbors.KNeighborsRegressor(3)),
    "k_neighbors_regressor_by_distance": regressor(lambda: neighbors.KNeighborsRegressor(weights="distance")),
    "k_neighbors_regressor_double": regressor(lambda: neighbors.KNeighborsRegressor(3, p=3), dtype=np.float64),
    "radius_neighbors_classifier": classifier(lambda: neighbors.RadiusNeighborsClassifier(9.0)),
    "radius_neighbors_regressor": regressor(lambda: neighbors.RadiusNeighborsRegressor(9.0)),
    "nearest_neighbors": Case(lambda: neighbors.NearestNeighbors(n_neighbors=3, radius=None), methods=("neighbours",)),
    "k_neighbors_transformer": transformer(lambda: neighbors.KNeighborsTransformer(n_neighbors=3)),
    "neighborhood_components": transformer(
        lambda: neighbors.NeighborhoodComponentsAnalysis(2, **SEED), target=data.three_classes
    ),
    "local_outlier_factor": Case(
        lambda: neighbors.LocalOutlierFactor(novelty=True, n_neighbors=5), methods=SCORES, amplification=8
    ),
}

TREES = {
    "decision_tree_classifier": classifier(lambda: tree.DecisionTreeClassifier(max_depth=6, **SEED)),
    "decision_tree_named_classes": classifier(lambda: shallow_tree(), data.named_classes),
    "decision_tree_zipmap": classifier(lambda: shallow_tree(), data.named_classes, methods=ZIPMAP, options={}),
    "decision_tree_leaf": regressor(
        lambda: tree.DecisionTreeRegressor(max_depth=4, **SEED),
        options={"decision_leaf": True},
        methods=("predict", "leaf"),
    ),
    "decision_tree_regressor": regressor(lambda: tree.DecisionTreeRegressor(max_depth=6, **SEED)),
    "extra_tree_classifier": classifier(lambda: tree.ExtraTreeClassifier(max_depth=6, **SEED)),
    "extra_tree_regressor": regressor(lambda: tree.ExtraTreeRegressor(max_depth=6, **SEED), data.targets),
    "random_forest_classifier": classifier(lambda: ensemble.RandomForestClassifier(9, max_depth=5, **SEED)),
    "random_forest_regressor": regressor(lambda: ensemble.RandomForestRegressor(9, max_depth=5, **SEED)),
    "extra_trees_classifier": classifier(lambda: ensemble.ExtraTreesClassifier(9, max_depth=5, **SEED)),
    "extra_trees_regressor": regressor(lambda: ensemble.ExtraTreesRegressor(9, **SEED), data.targets),
    "random_trees_embedding": transformer(lambda: ensemble.RandomTreesEmbedding(4, max_depth=2, **SEED)),
    "isolation_forest": Case(lambda: ensemble.IsolationForest(n_estimators=9, **SEED), methods=SCORES),
}

BOOSTING = {
    "gradient_boosting_classifier": classifier(lambda: ensemble.GradientBoostingClassifier(n_estimators=5, **SEED)),
    "gradient_boosting_two_classes": classifier(
        lambda: ensemble.GradientBoostingClassifier(n_estimators=5, **SEED), data.two_classes
    ),
    "gradient_boosting_regressor": regressor(lambda: ensemble.GradientBoostingRegressor(n_estimators=5, **SEED)),
    "hist_gradient_boosting_classifier": classifier(
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=5, **SEED), rows=data.holes
    ),
    "hist_gradient_boosting_regressor": regressor(
        lambda: ensemble.HistGradientBoostingRegressor(max_iter=5, **SEED), rows=data.holes
    ),
    "ada_boost_classifier": classifier(lambda: ensemble.AdaBoostClassifier(n_estimators=4, **SEED)),
    "ada_boost_regressor": regressor(lambda: ensemble.AdaBoostRegressor(n_estimators=4, **SEED)),
    "bagging_classifier": classifier(lambda: ensemble.BaggingClassifier(shallow_tree(), 4, **SEED)),
    "bagging_regressor": regressor(lambda: ensemble.BaggingRegressor(linear_model.Ridge(), 4, **SEED)),
    "stacking_classifier": classifier(
        lambda: ensemble.StackingClassifier([("a", logistic()), ("b", shallow_tree())], logistic())
    ),
    "stacking_regressor": regressor(
        lambda: ensemble.StackingRegressor([("a", linear_model.Ridge()), ("b", linear_model.Lasso(0.1))])
    ),
    "voting_classifier": classifier(
        lambda: ensemble.VotingClassifier(
            [("a", logistic()), ("b", shallow_tree())], voting="soft", flatten_transform=False
        )
    ),
    "voting_classifier_hard": classifier(
        lambda: ensemble.VotingClassifier(
            [("a", logistic()), ("b", shallow_tree()), ("c", naive_bayes.GaussianNB())], flatten_transform=False
        ),
        methods=("predict", "votes"),
    ),
    "voting_regressor": regressor(
        lambda: ensemble.VotingRegressor([("a", linear_model.Ridge()), ("b", linear_model.Lasso(0.1))])
    ),
}

SUPPORT_VECTORS = {
    "svc_linear": scorer(lambda: svm.SVC(kernel="linear")),
    "svc_rbf": scorer(lambda: svm.SVC()),
    "svc_poly": scorer(lambda: svm.SVC(kernel="poly", degree=2, coef0=0.5)),
    "svc_sigmoid": scorer(lambda: svm.SVC(kernel="sigmoid")),
    "svc_two_classes": Case(lambda: svm.SVC(), data.two_classes, methods=("predict", "two_scores"), options=RAW),
    "svc_one_against_one": scorer(lambda: svm.SVC(decision_function_shape="ovo")),
    "nu_svc": scorer(lambda: svm.NuSVC(nu=0.3)),
    "linear_svc": scorer(lambda: svm.LinearSVC(), options={}),
    "svr": regressor(lambda: svm.SVR()),
    "svr_linear": regressor(lambda: svm.SVR(kernel="linear")),
    "nu_svr": regressor(lambda: svm.NuSVR(kernel="poly", coef0=1.0)),
    "linear_svr": regressor(lambda: svm.LinearSVR()),
    "one_class_svm": Case(lambda: svm.OneClassSVM(nu=0.3), methods=SCORES),
    "sgd_one_class_svm": Case(lambda: linear_model.SGDOneClassSVM(**SEED), methods=SCORES),
}

GAUSSIAN_PROCESSES = {
    "gaussian_process_rbf": gaussian_regressor(kernels.RBF(1.5)),
    "gaussian_process_matern_half": gaussian_regressor(kernels.Matern(1.5, nu=0.5)),
    "gaussian_process_matern_3_2": gaussian_regressor(kernels.Matern(1.5, nu=1.5)),
    "gaussian_process_matern_5_2": gaussian_regressor(kernels.Matern(1.5, nu=2.5)),
    "gaussian_process_rational_quadratic": gaussian_regressor(kernels.RationalQuadratic(1.5, 0.8)),
    "gaussian_process_periodic": gaussian_regressor(kernels.ExpSineSquared(1.5, 3.0), alpha=30),
    "gaussian_process_dot_product": gaussian_regressor(kernels.DotProduct(0.5)),
    "gaussian_process_sum": gaussian_regressor(
        kernels.ConstantKernel(2.0) * kernels.RBF(1.0) + kernels.WhiteKernel(0.2)
    ),
    "gaussian_process_deviation": Case(
        lambda: gaussian_process.GaussianProcessRegressor(kernels.RBF(1.5), alpha=0.1, optimizer=None),
        data.target,
        methods=("mean_and_deviation",),
        dtype=np.float64,
        options={"return_std": True},
        amplification=1000,
    ),
    "gaussian_process_classifier": classifier(
        lambda: gaussian_process.GaussianProcessClassifier(kernels.RBF(1.5), optimizer=None),
        data.two_classes,
        dtype=np.float64,
        options=ARRAYS,
    ),
}

LINEAR = {
    "linear_regression": regressor(lambda: linear_model.LinearRegression()),
    "linear_regression_targets": regressor(lambda: linear_model.LinearRegression(), data.targets),
    "ridge_double": regressor(lambda: linear_model.Ridge(), dtype=np.float64),
    "lasso": regressor(lambda: linear_model.Lasso(0.1)),
    "elastic_net": regressor(lambda: linear_model.ElasticNet(0.1)),
    "lars": regressor(lambda: linear_model.Lars()),
    "bayesian_ridge": regressor(lambda: linear_model.BayesianRidge()),
    "bayesian_ridge_deviation": Case(
        lambda: linear_model.BayesianRidge(),
        data.target,
        methods=("mean_and_deviation",),
        options={"return_std": True},
        dtype=np.float64,
    ),
    "huber_regressor": regressor(lambda: linear_model.HuberRegressor(max_iter=1000)),
    "ransac_regressor": regressor(lambda: linear_model.RANSACRegressor(**SEED)),
    "theil_sen_regressor": regressor(lambda: linear_model.TheilSenRegressor(**SEED)),
    "matching_pursuit": regressor(lambda: linear_model.OrthogonalMatchingPursuit()),
    "sgd_regressor": regressor(lambda: linear_model.SGDRegressor(**SEED)),
    "poisson_regressor": regressor(lambda: linear_model.PoissonRegressor(), data.positive_target),
    "gamma_regressor": regressor(lambda: linear_model.GammaRegressor(), data.positive_target),
    "tweedie_regressor": regressor(lambda: linear_model.TweedieRegressor(power=1.5), data.positive_target),
    "quantile_regressor": regressor(lambda: linear_model.QuantileRegressor(alpha=0.01)),
    "logistic_regression": classifier(logistic),
    "logistic_regression_two_classes": classifier(logistic, data.two_classes),
    "logistic_regression_zipmap": classifier(logistic, methods=ZIPMAP, options={}),
    "logistic_regression_named_columns": Case(
        logistic, data.named_classes, methods=("predict", "columns"), options={"zipmap": "columns"}
    ),
    "logistic_regression_raw_scores": scorer(logistic),
    "ridge_classifier": scorer(lambda: linear_model.RidgeClassifier()),
    "perceptron": scorer(lambda: linear_model.Perceptron(**SEED)),
    "sgd_classifier": classifier(lambda: linear_model.SGDClassifier(loss="log_loss", **SEED)),
    "sgd_classifier_modified_huber": classifier(lambda: linear_model.SGDClassifier(loss="modified_huber", **SEED)),
    "linear_discriminant": classifier(lambda: discriminant_analysis.LinearDiscriminantAnalysis()),
    "quadratic_discriminant": classifier(
        lambda: discriminant_analysis.QuadraticDiscriminantAnalysis(), amplification=16
    ),
    "partial_least_squares": regressor(lambda: cross_decomposition.PLSRegression(2)),
    "mlp_classifier": classifier(lambda: neural_network.MLPClassifier((8,), max_iter=60, **SEED)),
    "mlp_classifier_tanh": classifier(
        lambda: neural_network.MLPClassifier((8, 4), activation="tanh", max_iter=60, **SEED), data.two_classes
    ),
    "mlp_regressor": regressor(
        lambda: neural_network.MLPRegressor(hidden_layer_sizes=(8,), activation="logistic", max_iter=60, **SEED),
        data.targets,
    ),
}

NAIVE_BAYES = {
    "gaussian_nb": classifier(lambda: naive_bayes.GaussianNB(), amplification=8),
    "multinomial_nb": classifier(lambda: naive_bayes.MultinomialNB(), rows=data.counts, amplification=8),
    "complement_nb": classifier(lambda: naive_bayes.ComplementNB(), rows=data.counts, amplification=8),
    "bernoulli_nb": classifier(lambda: naive_bayes.BernoulliNB(binarize=0.3), amplification=8),
    "categorical_nb": classifier(
        lambda: naive_bayes.CategoricalNB(min_categories=4), rows=data.counts, amplification=8
    ),
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

REFUSED = {
    "knn_imputer_double": "Only .*FloatTensorType",
    "knn_imputer_by_distance": "with distance as metric is not supported",
    "missing_indicator": "Unable to find a shape calculator",
    "random_trees_embedding": "cannot convert the model with sparse outputs",
    "hist_gradient_boosting_classifier": "Unable to create node 'TreeEnsembleClassifier'",
    "hist_gradient_boosting_regressor": "Unable to create node 'TreeEnsembleRegressor'",
    "gaussian_process_matern_5_2": "'int' object has no attribute 'encode'",
    "spline_transformer": "Unable to find a shape calculator",
    "fast_ica": "Unable to find a shape calculator",
    "rbf_sampler": "Unable to find a shape calculator",
    "nystroem": "Unable to find a shape calculator",
    "target_transformed": "Unable to find a shape calculator",
    "output_code": "Unable to find a shape calculator",
    "classifier_chain": "Unable to find a shape calculator",
    "regressor_chain": "Unable to find a shape calculator",
}
"""What skl2onnx says of the estimators that it cannot export."""

DIFFERENT = {
    "k_neighbors_classifier_by_distance": "weights of neighbours are not the inverse distances",
    "k_neighbors_regressor_by_distance": "weights of neighbours are not the inverse distances",
    "sgd_classifier_modified_huber": "where all probabilities are 0, another class is first",
    "bayesian_ridge_deviation": "sums x S along rows where scikit-learn sums x S x",
    "tfidf_vectorizer_triples": "sublinear_tf does nothing",
    "calibrated_isotonic": "the isotonic regression is a step where scikit-learn interpolates",
}
"""Models of skl2onnx that mean something else than the estimator does; onnxruntime tells what they mean."""

UNSUPPORTED = {"gaussian_process_classifier": "Solve 'solve_Solve': domain 'com.microsoft' is unknown"}
"""Models with ops that neither ONNX nor onnxruntime has."""

CASES: dict[str, Case] = (
    IMPUTERS
    | NEIGHBOURS
    | TREES
    | BOOSTING
    | SUPPORT_VECTORS
    | GAUSSIAN_PROCESSES
    | LINEAR
    | NAIVE_BAYES
    | SCALERS
    | ENCODERS
    | DECOMPOSITIONS
    | TEXTS
    | PIPELINES
)
