"""What people let applications do in their name: consents, codes and the tokens given for them.

One authorization stands for one person and one application. It ends when either is gone, or when the
person or the application takes it back; every token given by it ends with it.
"""
