"""Arguments, results and gradients of operators that are no views."""
