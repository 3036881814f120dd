//go:build kubelet1.30 && !kubelet1.37

package main

import "time"

func (h *printingHandler) RegisterPlugin(name, endpoint string, versions []string, timeout *time.Duration) error {
	return h.answer("register", name, endpoint, versions, func() error {
		return h.real.RegisterPlugin(name, endpoint, versions, timeout)
	})
}
