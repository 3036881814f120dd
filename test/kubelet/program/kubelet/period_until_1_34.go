//go:build !kubelet1.35

package main

import "errors"

// limitIsMutable: these releases take none, as the feature MutableCSINodeAllocatableCount is off by default.
const limitIsMutable = false

func (c *cluster) setPeriod(string, int64) error {
	return errors.New("this release does not ask for volume limits again")
}
