//go:build kubelet1.35

package main

// limitIsMutable says whether the API server takes another volume limit of a driver that is in CSINode.
const limitIsMutable = true
