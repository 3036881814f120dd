//go:build !kubelet1.30

package main

func (h *printingHandler) RegisterPlugin(name, endpoint string, versions []string) error {
	return h.answer("register", name, endpoint, versions, func() error {
		return h.real.RegisterPlugin(name, endpoint, versions)
	})
}
