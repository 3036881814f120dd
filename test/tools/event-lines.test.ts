import { createEventLog } from "../../src/simulator/event-stream";
import { tellEvents } from "../../src/tools/event-lines";

type Said = { readonly kind: "said"; readonly text: string; readonly atMs: number };

/** What is written of two events, one before and one after somebody began to listen. */
function written(output: "text" | "json", texts: readonly [string, string]): readonly string[] {
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  const log = createEventLog<Said>("somebody", { said: true });
  log.append({ kind: "said", text: texts[0] });
  tellEvents(log.stream, output, "It says something.");
  log.append({ kind: "said", text: texts[1] });
  return write.mock.calls.map(([text]) => String(text));
}

test("an event is a line in the log's form behind the time of day, whenever it happened", () => {
  jest.spyOn(Date, "now").mockReturnValue(new Date(2026, 0, 2, 13, 4, 5, 6).getTime());
  const line = (text: string) => `13:04:05.006  "said" text="${text}"\n`;
  expect(written("text", ["one", "two"])).toEqual(["It says something.\n", line("one"), line("two")]);
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
