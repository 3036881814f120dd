// Writes ../go-corpus.jsonl: the header blocks of a connection a line, and what Go's HPACK decoder reads in them. Again:
//
//	cd test/grpc/hpack/corpus && go run . > ../go-corpus.jsonl
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand"
	"os"
	"strings"

	"golang.org/x/net/http2/hpack"
)

const connections, blocksOfEach = 120, 3

// block is what one connection sends next. Fields is null where Go refuses it.
type block struct {
	Hex    string       `json:"hex"`
	Fields *[][2]string `json:"fields"`
}

var random = rand.New(rand.NewSource(1))

var names = strings.Fields(":method :path :authority content-type te user-agent grpc-timeout grpc-encoding x-a X-B")
var values = []string{"", "POST", "/csi.v1.Node/NodeGetInfo", "localhost", "application/grpc", "trailers", "grpc-go/1.72.2"}

func text(common []string) string {
	switch random.Intn(4) {
	case 0:
		raw := make([]byte, random.Intn(12))
		random.Read(raw)
		return string(raw)
	case 1:
		return strings.Repeat(common[random.Intn(len(common))], random.Intn(4))
	default:
		return common[random.Intn(len(common))]
	}
}

func encoded(encoder *hpack.Encoder, buffer *bytes.Buffer) []byte {
	buffer.Reset()
	if random.Intn(4) == 0 {
		encoder.SetMaxDynamicTableSize(uint32(random.Intn(4097)))
	}
	for count := random.Intn(7); count >= 0; count-- {
		encoder.WriteField(hpack.HeaderField{Name: text(names), Value: text(values), Sensitive: random.Intn(8) == 0})
	}
	return bytes.Clone(buffer.Bytes())
}

func damaged(sent []byte) []byte {
	at := random.Intn(len(sent))
	switch random.Intn(3) {
	case 0:
		return sent[:at]
	case 1:
		sent[at] ^= 1 << random.Intn(8)
		return sent
	default:
		return append(sent[:at:at], append([]byte{byte(random.Intn(256))}, sent[at:]...)...)
	}
}

// latin1 has a character for each byte, as JSON has no bytes.
func latin1(text string) string {
	var characters strings.Builder
	for _, char := range []byte(text) {
		characters.WriteRune(rune(char))
	}
	return characters.String()
}

func main() {
	output := json.NewEncoder(os.Stdout)
	for range connections {
		var all []block
		var buffer bytes.Buffer
		encoder, decoder := hpack.NewEncoder(&buffer), hpack.NewDecoder(4096, nil)
		for count := 0; count < blocksOfEach; count++ {
			sent := encoded(encoder, &buffer)
			if count == blocksOfEach-1 {
				sent = damaged(sent)
			}
			read, err := decoder.DecodeFull(sent)
			next := block{Hex: hex.EncodeToString(sent)}
			if err == nil {
				fields := [][2]string{}
				for _, field := range read {
					fields = append(fields, [2]string{latin1(field.Name), latin1(field.Value)})
				}
				next.Fields = &fields
			}
			all = append(all, next)
		}
		if err := output.Encode(all); err != nil {
			panic(err)
		}
	}
}
