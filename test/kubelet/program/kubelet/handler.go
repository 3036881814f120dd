package main

import (
	"errors"
	"sync"
	"time"

	"k8s.io/kubernetes/pkg/kubelet/pluginmanager/cache"
)

// printingHandler stands between the plugin manager and one of kubelet's handlers of plugins: it forwards each call,
// prints how it ended, and can be told to answer for the real one. Its methods changed their parameters
// over the releases: see validate_*.go, register_*.go, deregister_*.go and handler_*.go.
type printingHandler struct {
	real   cache.PluginHandler
	events *printer
	faults *faults
}

func (h *printingHandler) answer(stage, name, endpoint string, versions []string, real func() error) error {
	err := h.faults.next(stage)
	if err == nil {
		err = real()
	}
	h.events.print(stage, fields{"plugin": name, "endpoint": endpoint, "versions": versions, "error": textOf(err)})
	return err
}

// fault is what happens to one call instead of, or before, the real thing.
type fault struct {
	text  string
	delay time.Duration
}

// faults holds a queue for each stage; each call of the handler takes the first one.
type faults struct {
	mutex  sync.Mutex
	queues map[string][]fault
}

func newFaults() *faults {
	return &faults{queues: map[string][]fault{}}
}

func (f *faults) add(stage string, next fault) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.queues[stage] = append(f.queues[stage], next)
}

func (f *faults) clear() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.queues = map[string][]fault{}
}

func (f *faults) next(stage string) error {
	next := f.take(stage)
	time.Sleep(next.delay)
	if next.text == "" {
		return nil
	}
	return errors.New(next.text)
}

func (f *faults) take(stage string) fault {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	queue := f.queues[stage]
	if len(queue) == 0 {
		return fault{}
	}
	f.queues[stage] = queue[1:]
	return queue[0]
}
