//go:build !kubelet1.37

package main

func (h *printingHandler) ValidatePlugin(name string, endpoint string, versions []string) error {
	return h.answer("validate", name, endpoint, versions, func() error {
		return h.real.ValidatePlugin(name, endpoint, versions)
	})
}
