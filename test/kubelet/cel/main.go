// Program cel answers one expression about each object: the expression on the first line of stdin, then an object a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	lines.Scan()
	var expression string
	must(json.Unmarshal(lines.Bytes(), &expression))
	// The optional types are those of the API server's policies.
	env, err := cel.NewEnv(cel.OptionalTypes(), cel.Variable("object", cel.DynType))
	must(err)
	ast, issues := env.Compile(expression)
	must(issues.Err())
	program, err := env.Program(ast)
	must(err)
	for lines.Scan() {
		var object interface{}
		must(json.Unmarshal(lines.Bytes(), &object))
		answer, _, err := program.Eval(map[string]interface{}{"object": object})
		if err != nil {
			fmt.Printf("{\"error\":%q}\n", err.Error())
		} else {
			fmt.Printf("{\"holds\":%v}\n", answer.Value())
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
