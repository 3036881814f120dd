package main

import (
	"bufio"
	"encoding/json"
	"io"
	"time"
)

// command is one line on stdin.
//
//	{"command":"refuse","text":"...","times":2,"stage":"validate"}  the next calls fail with that text; stage: validate, register (default)
//	{"command":"hang","seconds":3,"stage":"register"}               the next call takes that much longer
//	{"command":"accept"}                                            what was still to fail or hang does not any more
//	{"command":"mount","driver":"...","volume":"...","attributes":{}}  an inline volume of a pod; "done" has its path
//	{"command":"unmount","volume":"..."}                            the same one
//	{"command":"replaceNode"}                                       the Node is deleted and made again, with another UID
//	{"command":"collect"}                                           the garbage collector removes a CSINode of a deleted Node
type command struct {
	Command string  `json:"command"`
	Stage   string  `json:"stage"`
	Text    string  `json:"text"`
	Times   int     `json:"times"`
	Seconds float64 `json:"seconds"`
	Driver  string  `json:"driver"`
	Volume  string  `json:"volume"`
	// Attributes of the volume, which reach the driver as its volume context.
	Attributes map[string]string `json:"attributes"`
}

// obey carries commands out until the input ends, and prints a "done" event with the command's name for each.
func obey(in io.Reader, events *printer, pending *faults, volumes *volumes, cluster *cluster) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := command{Stage: "register", Times: 1}
		err := json.Unmarshal(lines.Bytes(), &line)
		result := fields{}
		switch {
		case err != nil:
			result["error"] = err.Error()
		case line.Command == "refuse":
			for i := 0; i < line.Times; i++ {
				pending.add(line.Stage, fault{text: line.Text})
			}
		case line.Command == "accept":
			pending.clear()
		case line.Command == "hang":
			pending.add(line.Stage, fault{delay: time.Duration(line.Seconds * float64(time.Second))})
		case line.Command == "mount":
			path, err := volumes.mount(line.Driver, line.Volume, line.Attributes)
			result["path"] = path
			if err != nil {
				result["error"] = err.Error()
			}
		case line.Command == "unmount":
			if err := volumes.unmount(line.Volume); err != nil {
				result["error"] = err.Error()
			}
		case line.Command == "replaceNode":
			if err := cluster.replaceNode(); err != nil {
				result["error"] = err.Error()
			}
		case line.Command == "collect":
			if err := cluster.collect(); err != nil {
				result["error"] = err.Error()
			}
		default:
			result["error"] = "no such command"
		}
		result["command"] = line.Command
		events.print("done", result)
	}
}
