"""All estimators of scikit-learn that are tried, and what skl2onnx does with some of them."""

from __future__ import annotations

from exports import sklearn_predictors as predictors
from exports import sklearn_transformers as transformers
from exports.sklearn_case import Case

CASES: dict[str, Case] = (
    transformers.IMPUTERS
    | predictors.NEIGHBOURS
    | predictors.TREES
    | predictors.BOOSTING
    | predictors.SUPPORT_VECTORS
    | predictors.GAUSSIAN_PROCESSES
    | predictors.LINEAR
    | predictors.NAIVE_BAYES
    | transformers.SCALERS
    | transformers.ENCODERS
    | transformers.DECOMPOSITIONS
    | transformers.TEXTS
    | transformers.PIPELINES
)

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

UNSUPPORTED = {"gaussian_process_classifier": "Solve 'solve_Solve': Solve is not an operator of com.microsoft 1"}
"""Models with ops that neither ONNX nor onnxruntime has."""

SHORT = [
    "simple_imputer",
    "knn_imputer",
    "knn_imputer_one_neighbour",
    "imputed_neighbours",
    "k_neighbors_classifier",
    "k_neighbors_regressor_double",
    "radius_neighbors_regressor",
    "nearest_neighbors",
    "local_outlier_factor",
    "decision_tree_zipmap",
    "random_forest_classifier",
    "gradient_boosting_regressor",
    "ada_boost_classifier",
    "svc_rbf",
    "nu_svr",
    "gaussian_process_rbf",
    "gaussian_process_deviation",
    "logistic_regression",
    "quadratic_discriminant",
    "mlp_classifier",
    "categorical_nb",
    "power_transformer",
    "quantile_transformer",
    "ordinal_encoder",
    "target_encoder",
    "gaussian_mixture",
    "k_means",
    "count_vectorizer_binary_pairs",
    "text_naive_bayes",
    "columns",
]
"""Some of each family, for a run that takes seconds."""
