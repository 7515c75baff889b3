"""What a trained classifier leaves as: scikit-learn, ONNX, NPZ, JSON, CSV."""
