import { dump, FAILSAFE_SCHEMA, type LoadOptions, load, type State, Type, YAMLException } from "js-yaml";
import { invalidOption, refuse } from "../base/errors";
import { boundText } from "../logging/escape";
import { isMap } from "./objects";

// YAML as kubectl reads it (sigs.k8s.io/yaml, which has go.yaml.in/yaml/v2): booleans and numbers of YAML 1.1, no dates.

/** The parser calls itself for each level. */
const MAX_DEPTH = 1_000;
/** Each merge copies its keys, and merges of merges double that. Aliases cost nothing: they share their value. */
const MAX_MERGED_KEYS = 100_000;

const NULLS: readonly unknown[] = [null, "~", "null", "Null", "NULL"];
const BOOLEANS = new Map(
  ["y n", "yes no", "on off", "true false"].flatMap((pair) => {
    const [yes = "", no = ""] = pair.split(" ");
    const spelled = (word: string, value: boolean) =>
      [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`].map(
        (one) => [one, value] as const,
      );
    return [...spelled(yes, true), ...spelled(no, false)];
  }),
);

const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** Numbers of YAML that JSON does not have. */
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** A number of Go's ParseInt with base 0 (`0644` and `0o17` are octal) or ParseFloat; undefined for any other word. */
function numberOf(word: string): number | undefined {
  const plain = word.replaceAll(word.startsWith(".") ? /(?<=\d)_(?=\d)/g : "_", "");
  const [, sign = "", digits = ""] = INTEGER.exec(plain) ?? [];
  if (digits !== "") {
    const size = BigInt(digits.replace(/^0(?=[0-7])/, "0o"));
    const bits = sign === "" ? 64n : 63n;
    if (size < 2n ** bits || (sign === "-" && size === 2n ** bits))
      return Number(`${sign}1`) * Number(size) + 0;
  }
  const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const NUMBER = {
  resolve: (word: string | null) =>
    word !== null && /^[-+.0-9]/.test(word) && (NOT_FINITE.test(word) || numberOf(word) !== undefined),
  construct: (word: string) => numberOf(word) ?? refuse(`${word} is not a number of JSON`),
};

/** Begins the key that stands for a merge, so that several merges in one map are several keys. */
const MERGE = "\0<<";

function createSchema() {
  let merges = 0;
  const scalar = (tag: string, more: ConstructorParameters<typeof Type>[1]) =>
    new Type(`tag:yaml.org,2002:${tag}`, { kind: "scalar", ...more });
  const implicit = [
    scalar("null", {
      resolve: (word) => NULLS.includes(word),
      construct: () => null,
      predicate: (value) => value === null,
      represent: () => "null",
    }),
    scalar("bool", {
      resolve: (word) => BOOLEANS.has(word),
      construct: (word) => BOOLEANS.get(word),
      predicate: (value) => typeof value === "boolean",
      represent: String,
    }),
    scalar("int", { ...NUMBER, predicate: (value) => typeof value === "number", represent: String }),
    // js-yaml's own merge, by another tag, loses to every other key of its map: to kubectl the later one wins.
    scalar("merge-in-order", { resolve: (word) => word === "<<", construct: () => `${MERGE}${merges++}` }),
  ];
  const explicit = [
    scalar("float", NUMBER),
    scalar("binary", { construct: (word) => Buffer.from(word, "base64").toString() }),
    // kubectl ignores all other tags.
    ...(["scalar", "sequence", "mapping"] as const).map((kind) => new Type("", { kind, multi: true })),
  ];
  return FAILSAFE_SCHEMA.extend({ implicit, explicit });
}

const schema = createSchema();

/** Merges in the order of the keys. */
function merge(map: Record<string, unknown>, count: () => void): void {
  const entries = Object.entries(map);
  if (!entries.some(([key]) => key.startsWith(MERGE))) return;
  for (const [key] of entries) delete map[key];
  for (const [key, value] of entries) {
    // Of several maps the first one wins.
    const sources = key.startsWith(MERGE) ? [value].flat().toReversed() : [{ [key]: value }];
    for (const source of sources) {
      const names =
        isMap(source) && source !== map ? Object.keys(source) : refuse("a merge (<<) takes other maps");
      for (const name of names) {
        count();
        Object.defineProperty(map, name, {
          ...{
            value: (source as Record<string, unknown>)[name],
            configurable: true,
            enumerable: true,
            writable: true,
          },
        });
      }
    }
  }
}

/** What the parser makes of a map as a key. */
const MAP_AS_KEY = "[object Object]";

/** Completes each list and map that the parser has read. */
function createListener(): (event: string, state: State) => void {
  let merged = 0;
  const count = () => {
    merged += 1;
    if (merged > MAX_MERGED_KEYS) refuse(`it merges more than ${MAX_MERGED_KEYS.toLocaleString("en")} keys`);
  };
  return (event, state) => {
    const { result } = state;
    if (event === "open" || typeof result !== "object" || result === null) return;
    for (const [key, value] of Object.entries(result))
      if (typeof value === "string" && value.startsWith(MERGE)) result[key] = "<<";
    if (!isMap(result)) return;
    merge(result, count);
    // So YAML reads {{ .X }}, too.
    if (Object.hasOwn(result, MAP_AS_KEY)) refuse("a map is no key");
  };
}

/**
 * Reads a document as kubectl does: the last of equal keys counts. Throws INVALID_OPTION, with the line, unless `text` is one
 * document of YAML. `firstLine` is the number of its first line in its file.
 */
export function readYaml(text: string, firstLine = 1): unknown {
  const options: LoadOptions & { readonly maxDepth: number } = { schema, json: true, maxDepth: MAX_DEPTH };
  // It is called twice for each node, so only where it is needed.
  if (/<<|\{\{|^\s*\? /m.test(text)) options.listener = createListener();
  try {
    return load(text, options);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    const where = mark === undefined ? "" : `, line ${firstLine + mark.line}`;
    throw invalidOption(`${boundText(reason, 120)}${where}`);
  }
}

/** The line of the first key that occurs twice in a map of the document; undefined without one. */
export function secondKeyIn(text: string, firstLine = 1): number | undefined {
  try {
    load(text, { schema });
  } catch (error) {
    if (error instanceof YAMLException && error.reason === "duplicated mapping key")
      return firstLine + error.mark.line;
  }
  return undefined;
}

/** Quotes what {@link readYaml} would read as something else. */
export const writeYaml = (value: unknown): string =>
  dump(value, { schema, lineWidth: -1, noRefs: true, quotingType: '"' });
