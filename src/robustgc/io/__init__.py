"""Files and objects of others, in and out: graphs, labels, points, predictions."""
