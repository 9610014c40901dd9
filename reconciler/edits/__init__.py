"""Edits of text: an RFC 6902 patch becomes changed lines, and nothing else changes. Pure.

What belongs here: the text of documents with its comments, order, quotes and line ends; differences and merges of it,
field by field. What a document *means*, and who may change it, does not. Its doors are `apply.apply`, `files.append`,
`files.remove`, `files.new_file`, `files.locate`, `differences.differences` and `merge.merge`; errors are in `problems`.
"""
