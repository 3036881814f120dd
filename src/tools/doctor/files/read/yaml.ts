import type { Schema } from "yaml";
import { invalidOption } from "../../../../base/errors";
import { boundText } from "../../../../logging/escape";
import { tooManyValues } from "./objects";

/** `template`: it has `{{ }}` where YAML cannot have it; `where` is the first one. */
export type ReadYaml =
  | { readonly kind: "object"; readonly object: unknown }
  | { readonly kind: "template"; readonly where: string };

/** Of one document: a mebibyte of ordinary YAML has fewer, and the parser takes a second and 80 MB for so many. */
const MAX_TOKENS = 250_000;
/** The parser compares each alias with all anchors: no person writes more. */
const MAX_ALIASES = 100;
/** With what each alias names in its place. */
const MAX_NODES = 1_000_000;

export const GIVE_JSON = "give it as JSON, as kubectl get -o json writes it";

export type YamlReader = (text: string, line: number) => ReadYaml;

/** Loads the parser, and makes its schema once for all documents. */
export async function createYamlReader(): Promise<YamlReader> {
  const yaml = await import("yaml");
  // kubectl reads YAML 1.1's booleans and numbers (0644 is octal), but not its times and dates.
  const words = new yaml.Schema({ schema: "yaml-1.1" }).tags.filter(
    (one) => /:(?:bool|int)$/.test(one.tag) && !("format" in one && one.format === "TIME"),
  );
  const schema = new yaml.Schema({
    schema: "core",
    merge: true,
    customTags: (tags) => [...words, ...tags],
  });
  return (text, line) => readYaml(yaml, schema, text, line);
}

/**
 * Reads a document as kubectl does: of equal keys the last counts. Throws INVALID_OPTION for what is not YAML. `line` is the
 * document's first line in its file.
 */
function readYaml(yaml: typeof import("yaml"), schema: Schema, text: string, line: number): ReadYaml {
  const { isMap, Scalar, visit } = yaml;
  let tokens = 0;
  let aliases = 0;
  function* tokensIn() {
    const [lexer, parser] = [new yaml.Lexer(), new yaml.Parser()];
    for (const token of lexer.lex(text)) {
      tokens++;
      if (token.startsWith("*")) aliases++;
      if (tokens > MAX_TOKENS || aliases > MAX_ALIASES) {
        const tooMany = `${MAX_TOKENS.toLocaleString("en")} YAML tokens`;
        const what = aliases > MAX_ALIASES ? `${MAX_ALIASES} aliases` : tooMany;
        throw invalidOption(`it has more than ${what} in one document: ${GIVE_JSON}`);
      }
      yield* parser.next(token);
    }
    yield* parser.end();
  }
  const compose = () => {
    // The parser's own check of keys, and its pictures of where a mistake is, take minutes for some megabytes.
    const composer = new yaml.Composer({ uniqueKeys: false, prettyErrors: false, logLevel: "error", schema });
    const { stackTraceLimit } = Error;
    try {
      // Hostile YAML has an error in each line: their stacks take 40 MB.
      Error.stackTraceLimit = 0;
      const [document, more] = composer.compose(tokensIn(), true, text.length);
      if (document === undefined || more !== undefined) throw invalidOption("it goes on behind its end");
      return document;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
  const document = compose();
  const [error] = document.errors;
  // The parser has caught a RangeError.
  if (document.errors.some(({ code }) => code === "RESOURCE_EXHAUSTION")) throw new RangeError("too deep");
  const template = /^[^#\n]*?(\{\{[^\n]*?(?:\}\}|$))/m.exec(text);
  const lineOf = (position: number) => `line ${line - 1 + text.slice(0, position).split("\n").length}`;
  if (error !== undefined && template !== null) {
    const [whole, braces = ""] = template;
    const position = template.index + whole.length - braces.length;
    return { kind: "template", where: `${boundText(braces, 120)}, ${lineOf(position)}` };
  }
  if (error !== undefined)
    throw invalidOption(`${boundText(error.message.split("\n", 1)[0] ?? "", 120)}, ${lineOf(error.pos[0])}`);
  // YAML reads {{ .X }} as a map in a map.
  if (template !== null)
    visit(document, {
      Map: (_, { flow, items, range }) =>
        flow && range && isMap(items[0]?.key) ? new Scalar(text.slice(range[0], range[1])) : undefined,
    });
  if (countNodes(yaml, document.contents) > MAX_NODES) throw tooManyValues(MAX_NODES);
  // The parser's own bound counts no merges of empty maps, and refuses a hundred aliases of one anchor.
  return { kind: "object", object: document.toJS({ maxAliasCount: -1 }) };
}

/** Each merge makes its maps anew, and merges of merges double that. Without end where a node holds itself. */
function countNodes(yaml: typeof import("yaml"), node: unknown, counts = new Map<string, number>()): number {
  if (yaml.isAlias(node)) return counts.get(node.source) ?? 1;
  const count = (part: unknown) => countNodes(yaml, part, counts);
  if (yaml.isPair(node)) return count(node.key) + count(node.value);
  const anchor = yaml.isNode(node) ? node.anchor : undefined;
  if (anchor !== undefined) counts.set(anchor, Number.POSITIVE_INFINITY);
  let nodes = 1;
  if (yaml.isCollection(node)) for (const item of node.items) nodes += count(item);
  if (anchor !== undefined) counts.set(anchor, nodes);
  return nodes;
}
