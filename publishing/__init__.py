"""How pages become a site, pictures and notebooks: `make docs`, `make refresh`.

A page is Markdown whose code runs, in order, from top to bottom. `blocks` reads it, `running` runs
it, `refresh` writes what it printed and drew back into it, `notebooks` turns it into a notebook,
and `site` fits all pages into MkDocs. Nothing of this is part of the package.
"""
