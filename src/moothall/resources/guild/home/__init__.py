"""What newcomers are shown first: a word of welcome, things to do, channels to read.

The public description tells only how it is read; it is changed under the same path. While it is off, it is
shown to those who may change it.
"""
