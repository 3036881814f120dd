//go:build !kubelet1.33

package main

func (h *printingHandler) DeRegisterPlugin(name string) {
	h.real.DeRegisterPlugin(name)
	h.events.print("deregister", fields{"plugin": name})
}
