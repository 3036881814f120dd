import { createEventLog } from "../../src/simulator/event-stream";
import { durationText, tellEvents } from "../../src/tools/event-lines";

type Said = { readonly kind: "said"; readonly text: string; readonly atMs: number };

test.each([
  [0, "0 ms"],
  [0.44, "0.4 ms"],
  [9.96, "10 ms"],
  [250.4, "250 ms"],
  [1000, "1 s"],
  [1950, "2 s"],
  [122_000, "122 s"],
])("%d ms is %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

/** What is written of two events, one before and one after somebody began to listen. */
function written(output: "text" | "json", texts: readonly [string, string]): readonly string[] {
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const log = createEventLog<Said>("somebody");
    log.append({ kind: "said", text: texts[0] });
    tellEvents(log.stream, output, ({ text }) => (text === "" ? undefined : text));
    log.append({ kind: "said", text: texts[1] });
    return write.mock.calls.map(([text]) => String(text));
  } finally {
    write.mockRestore();
  }
}

test("an event is a line behind the time of day, whenever it happened; what says nothing to people is left out", () => {
  const line = (text: string) =>
    expect.stringMatching(new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3} {2}${text}\n$`));
  expect(written("text", ["one", "two"])).toEqual([line("one"), line("two")]);
  expect(written("text", ["", "two"])).toEqual([line("two")]);
});

test("in JSON, an event is the object itself", () => {
  const lines = written("json", ["", "two"]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ text: "" }, { kind: "said", text: "two" }]);
});

test.each(["text", "json"] as const)(
  "in %s, what a peer says stays one line and steers no terminal",
  (output) => {
    for (const line of written(output, ["a\nb", "\u001b[31mred\u009b"]))
      expect(line).toMatch(/^[\x20-\x7e]*\n$/);
  },
);
