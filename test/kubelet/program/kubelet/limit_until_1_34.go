//go:build !kubelet1.35

package main

// limitIsMutable: these releases take none, as the feature MutableCSINodeAllocatableCount is off by default.
const limitIsMutable = false
