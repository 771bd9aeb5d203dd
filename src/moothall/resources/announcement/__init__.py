"""What operators tell everyone: words that clients show until they end."""
