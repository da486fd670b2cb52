"""Rich results: MIME bundles, figures, and the IPython display API."""
