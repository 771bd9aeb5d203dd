"""What a request carries: its bodies, forms, parameters, files and images, decoded and validated."""
