"""Classifiers and regressors of scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn import (
    cross_decomposition,
    discriminant_analysis,
    ensemble,
    gaussian_process,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
    tree,
)
from sklearn.gaussian_process import kernels

from exports import sklearn_data as data
from exports.sklearn_case import (
    ARRAYS,
    RAW,
    SCORES,
    SEED,
    ZIPMAP,
    Case,
    classifier,
    gaussian_regressor,
    logistic,
    regressor,
    scorer,
    shallow_tree,
    transformer,
)

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
    # Its terms cancel: together they are up to 380 times as large as their sum.
    "nu_svr": regressor(lambda: svm.NuSVR(kernel="poly", coef0=1.0), amplification=8),
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
