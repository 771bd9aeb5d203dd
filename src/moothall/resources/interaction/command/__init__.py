"""Application commands: what applications offer to people, everywhere or in one guild, and who may use it there.

A name is unique among an application's commands of one type in one scope; making one of a name that
is there changes it. Its neighbours: `application`, whose bot or token manages them, and `interaction`,
which uses them.
"""
