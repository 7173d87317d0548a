"""The pages of the reference, made from the library when the documentation is built."""
