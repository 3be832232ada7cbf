//! What can be typed next: names of files behind `@`, commands behind `/`, by fuzzy search.
