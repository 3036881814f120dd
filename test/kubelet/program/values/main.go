// Program values reads texts as Go and Kubernetes do: one JSON object a line on stdin, its answer on stdout.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

type question struct {
	// Words for a program with the flags -s (string), -b (bool), -i (int64) and -d (duration).
	Words    []string `json:"words"`
	Quantity *string  `json:"quantity"`
}

type answer struct {
	Error string                 `json:"error,omitempty"`
	Help  bool                   `json:"help,omitempty"`
	Flags map[string]interface{} `json:"flags,omitempty"`
	Rest  []string               `json:"rest,omitempty"`
	Value string                 `json:"value,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		if asked.Quantity != nil {
			out.Encode(readQuantity(*asked.Quantity))
		} else {
			out.Encode(readFlags(asked.Words))
		}
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

func readQuantity(text string) answer {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Value: quantity.AsDec().String()}
}
