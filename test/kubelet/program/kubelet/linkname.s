// Lets this package declare a function without a body, which go:linkname needs.
