// Program podprogram is all that runs in the suite's pods beside the registrar: its first argument chooses.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	// What pods for trying things out run: `sleep infinity`.
	if filepath.Base(os.Args[0]) == "sleep" {
		untilAsked()
		return
	}
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: podprogram pause|driver|workload [FLAG...]"))
	}
	args := os.Args[2:]
	switch os.Args[1] {
	case "pause":
		// The sandbox of a pod: it holds the namespaces and takes orphans.
		untilAsked()
	case "driver":
		fail(runDriver(args))
	case "workload":
		fail(runWorkload(args))
	default:
		fail(fmt.Errorf("unknown program %q", os.Args[1]))
	}
}

// untilAsked waits for SIGTERM or SIGINT, and reaps what ends meanwhile.
func untilAsked() {
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for name := range asked {
		if name != syscall.SIGCHLD {
			return
		}
		for {
			if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
				break
			}
		}
	}
}

func fail(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
