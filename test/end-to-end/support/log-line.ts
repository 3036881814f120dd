export type LogLine = NonNullable<ReturnType<typeof parseLogLine>>;

const HEADER =
  /^(?<severity>[IWE])(?:0[1-9]|1[0-2])[0-3]\d \d\d:\d\d:\d\d\.\d{6} +(?<pid>\d+) (?<caller>[\w.-]+:\d+)\] /;
const QUOTED = /"(?:[^"\\]|\\.)*"/y;
const FIELD = / (?<key>[^ ="]+)=(?<value>"(?:[^"\\]|\\.)*"|\S*)/y;

/** Reads a line of the log; undefined for any other text, and for a line with anything behind its last field. */
export function parseLogLine(text: string) {
  const header = HEADER.exec(text);
  if (header === null) return undefined;
  QUOTED.lastIndex = header[0].length;
  const message = QUOTED.exec(text)?.[0];
  if (message === undefined) return undefined;
  const fields: Record<string, string> = {};
  let end = QUOTED.lastIndex;
  while (end < text.length) {
    FIELD.lastIndex = end;
    const { key = "", value = "" } = FIELD.exec(text)?.groups ?? {};
    if (key === "") return undefined;
    fields[key] = unquote(value);
    end = FIELD.lastIndex;
  }
  const { severity, pid, caller = "" } = header.groups ?? {};
  return {
    severity: severity as "I" | "W" | "E",
    pid: Number(pid),
    /** `csi-driver.ts:12`. */
    caller,
    message: unquote(message),
    /** Values without their quotes. */
    fields,
    text,
  };
}

/** A Go string literal's text; a bare value is its own. */
function unquote(value: string): string {
  if (!value.startsWith('"')) return value;
  return value.slice(1, -1).replace(ESCAPE, (_all, hex: string | undefined, character: string) => {
    if (hex !== undefined) return codePointText(Number.parseInt(hex, 16));
    return MEANINGS[character] ?? character;
  });
}

const ESCAPE = /\\(?:[xuU]((?<=x)[0-9a-f]{2}|(?<=u)[0-9a-f]{4}|(?<=U)[0-9a-f]{8})|(.))/gs;
const MEANINGS: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
};

/** Half of a surrogate pair too, which Go's strings cannot hold and ours can. */
const codePointText = (codePoint: number) =>
  codePoint > 0xffff ? String.fromCodePoint(codePoint) : String.fromCharCode(codePoint);
