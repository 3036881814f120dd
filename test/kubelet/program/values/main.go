// Program values reads words as Go does, with the flags -s (string), -b (bool), -i (int64) and -d (duration): a JSON array a line
// on stdin, its answer on stdout.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"time"
)

type answer struct {
	Error string                 `json:"error,omitempty"`
	Help  bool                   `json:"help,omitempty"`
	Flags map[string]interface{} `json:"flags,omitempty"`
	Rest  []string               `json:"rest,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var words []string
		if err := json.Unmarshal(lines.Bytes(), &words); err != nil {
			panic(err)
		}
		out.Encode(readFlags(words))
	}
}

func readFlags(words []string) answer {
	set := flag.NewFlagSet("values", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	values := map[string]interface{}{}
	s, b := set.String("s", "", ""), set.Bool("b", false, "")
	i, d := set.Int64("i", 0, ""), set.Duration("d", 0, "")
	err := set.Parse(words)
	if errors.Is(err, flag.ErrHelp) {
		return answer{Help: true}
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	set.Visit(func(given *flag.Flag) {
		values[given.Name] = map[string]interface{}{"s": *s, "b": *b, "i": *i, "d": float64(*d) / float64(time.Millisecond)}[given.Name]
	})
	return answer{Flags: values, Rest: set.Args()}
}
