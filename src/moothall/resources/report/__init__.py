"""Reports: what people report to the operators, with the evidence as it was at that moment."""
