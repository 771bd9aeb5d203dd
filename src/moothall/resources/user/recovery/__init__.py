"""Getting back into an account by a link: new passwords, and verified email addresses."""
