package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// runInit is the first process of a PID namespace: it runs a command, takes the orphans of that namespace, of which a
// container runtime leaves many, and ends as the command ended. Signals go to the command.
func runInit(command []string) error {
	if len(command) == 0 {
		return fmt.Errorf("usage: kubernetes init PROGRAM [ARGUMENT...]")
	}
	asked := make(chan os.Signal, 16)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	child, err := os.StartProcess(command[0], command, &os.ProcAttr{Files: files})
	if err != nil {
		return err
	}
	go func() {
		for name := range asked {
			child.Signal(name)
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait4: %w", err)
		}
		if pid == child.Pid && (status.Exited() || status.Signaled()) {
			if status.Signaled() {
				os.Exit(128 + int(status.Signal()))
			}
			os.Exit(status.ExitStatus())
		}
	}
}
