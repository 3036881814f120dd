//go:build kubelet1.37

package main

import (
	"context"
	"time"
)

func (h *printingHandler) ValidatePlugin(ctx context.Context, name, endpoint string, versions []string) error {
	return h.answer("validate", name, endpoint, versions, func() error {
		return h.real.ValidatePlugin(ctx, name, endpoint, versions)
	})
}

func (h *printingHandler) RegisterPlugin(ctx context.Context, name, endpoint string, versions []string, timeout *time.Duration) error {
	return h.answer("register", name, endpoint, versions, func() error {
		return h.real.RegisterPlugin(ctx, name, endpoint, versions, timeout)
	})
}

func (h *printingHandler) DeRegisterPlugin(ctx context.Context, name, endpoint string) {
	h.real.DeRegisterPlugin(ctx, name, endpoint)
	h.events.print("deregister", fields{"plugin": name, "endpoint": endpoint})
}
