package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// runWorkload uses the volume at its first argument: it writes a file, reads it again and says so, then stays.
func runWorkload(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: podprogram workload FOLDER TEXT")
	}
	file := filepath.Join(args[0], "text")
	if err := os.WriteFile(file, []byte(args[1]), 0o644); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Printf("read %s\n", text)
	untilAsked()
	return nil
}
