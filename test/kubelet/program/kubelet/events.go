package main

import (
	"encoding/json"
	"io"
	"sync"
)

type fields map[string]interface{}

// printer writes events, one JSON object a line, from any goroutine.
type printer struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func newPrinter(out io.Writer) *printer {
	return &printer{encoder: json.NewEncoder(out)}
}

// print fails only when nobody reads any more; then stdin is at its end too, which ends the program.
func (p *printer) print(event string, details fields) {
	line := fields{"event": event}
	for key, value := range details {
		line[key] = value
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_ = p.encoder.Encode(line)
}

func textOf(err error) interface{} {
	if err == nil {
		return nil
	}
	return err.Error()
}
