//go:build kubelet1.33 && !kubelet1.37

package main

func (h *printingHandler) DeRegisterPlugin(name, endpoint string) {
	h.real.DeRegisterPlugin(name, endpoint)
	h.events.print("deregister", fields{"plugin": name, "endpoint": endpoint})
}
