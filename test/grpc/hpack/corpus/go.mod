module hpackcorpus

go 1.24

require golang.org/x/net v0.43.0
