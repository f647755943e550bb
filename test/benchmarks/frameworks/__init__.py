"""What is measured, once for each library, in the library's own idiom."""
