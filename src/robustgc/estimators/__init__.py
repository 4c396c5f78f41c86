"""Fit and predict as in scikit-learn, on points or on a graph, where some labels are wrong."""
