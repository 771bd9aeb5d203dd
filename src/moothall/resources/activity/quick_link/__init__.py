"""Quick links: links into Activities that show a title, a description and an image, for 30 days."""
