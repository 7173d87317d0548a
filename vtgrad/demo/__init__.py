"""A worked example on real data: the Nile's annual flow and the local level model.

Run it with ``python -m vtgrad.demo``.  A Kalman filter fills preallocated arrays in place,
through views; the likelihood is computed from those arrays, differentiated by vtgrad and
maximised.  The library itself does not use this package.

* ``data`` -- the hundred numbers, their source and their fingerprint
* ``local_level`` -- the model: filter, log-likelihood, gradient, Hessian
* ``gradient_check`` -- the gradient against central differences
* ``optimise`` -- BFGS with a Wolfe line search, in plain NumPy
* ``estimate`` -- maximum likelihood, and the comparison with the published values
* ``exhibits`` -- two effects of views and versions
* ``replayed`` -- the fit once more, recorded and replayed
* ``progress``, ``plot`` -- optional: need tqdm and matplotlib
* ``verify_source`` -- compares the shipped numbers with the copy in statsmodels
"""
