import type { Document, Node, ScalarTag, Schema, YAMLError } from "yaml";
import { attempt, invalidOption } from "../../../../base/errors";
import { boundText } from "../../../../logging/escape";

/** `template`: it has `{{ }}` where YAML cannot have it; `where` is the first one. */
export type ReadYaml =
  | { readonly kind: "object"; readonly object: unknown }
  | { readonly kind: "template"; readonly where: string };

/** kubectl reads YAML 1.1, with two words more for a boolean than its specification. */
const BOOLEAN: ScalarTag = {
  tag: "tag:yaml.org,2002:bool",
  default: true,
  test: /^(?:[yY]|[yY]es|YES|[tT]rue|TRUE|[oO]n|ON|[nN]|[nN]o|NO|[fF]alse|FALSE|[oO]ff|OFF)$/,
  resolve: (text) => /^(?:y|t|on)/i.test(text),
};
/** 0644 is octal, 1_000 is a thousand. */
const INTEGER: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[\da-f_]+|\d[\d_]*)$/i,
  resolve: (text) => {
    const plain = text.replace(/^[-+]|_/g, "");
    const size = /^0[0-7]+$/.test(plain) ? Number.parseInt(plain, 8) : Number(plain);
    return text.startsWith("-") ? -size : size;
  },
};

/** Of one document: a mebibyte of ordinary YAML has fewer, and the parser takes a second and 80 MB for so many. */
const MAX_TOKENS = 250_000;
/** The parser may find an open quote only after those before it are closed. */
const MAX_TRIES = 3;
/** Lines of quoted texts that get an indent, and keys that aliases merge into other maps: no person writes more. */
const MAX_INDENTED = 10_000;
const MAX_MERGED = 100_000;

export type YamlReader = (text: string, line: number) => ReadYaml;

/** Loads the parser, and makes its schema once for all documents. */
export async function createYamlReader(): Promise<YamlReader> {
  const yaml = await import("yaml");
  const schema = new yaml.Schema({
    schema: "core",
    merge: true,
    customTags: (tags) => [BOOLEAN, INTEGER, ...tags],
  });
  return (text, line) => readYaml(yaml, schema, text, line);
}

/**
 * Reads a document as kubectl does: of equal keys the last counts, and quoted lines may have any indent. Throws
 * INVALID_OPTION for what is not YAML. `line` is the document's first line in its file.
 */
function readYaml(yaml: typeof import("yaml"), schema: Schema, text: string, line: number): ReadYaml {
  const { isMap, Scalar, visit } = yaml;
  let tokens = 0;
  function* tokensOf(source: string) {
    const [lexer, parser] = [new yaml.Lexer(), new yaml.Parser()];
    for (const token of lexer.lex(source)) {
      tokens++;
      if (tokens > MAX_TOKENS)
        throw invalidOption(
          `it has more than ${MAX_TOKENS.toLocaleString("en")} YAML tokens in one document`,
        );
      yield* parser.next(token);
    }
    yield* parser.end();
  }
  const parse = (source: string) => {
    // The parser's own check of keys, and its pictures of where a mistake is, take minutes for some megabytes.
    const composer = new yaml.Composer({ uniqueKeys: false, prettyErrors: false, logLevel: "error", schema });
    const { stackTraceLimit } = Error;
    try {
      // Hostile YAML has an error in each line: their stacks take 40 MB.
      Error.stackTraceLimit = 0;
      const [document, more] = composer.compose(tokensOf(source), true, source.length);
      if (document === undefined || more !== undefined) throw invalidOption("it goes on behind its end");
      return document;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
  let source = text;
  let document = parse(source);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const indented = indentQuotes(source, document.errors);
    const again = indented === source ? undefined : attempt(() => parse(indented));
    if (again === undefined) break;
    source = indented;
    document = again;
  }
  const [error] = document.errors;
  // The parser has caught a RangeError.
  if (document.errors.some(({ code }) => code === "RESOURCE_EXHAUSTION")) throw new RangeError("too deep");
  const template = /^[^#\n]*?(\{\{[^\n]*?(?:\}\}|$))/m.exec(text);
  const lineOf = (whole: string, position: number) =>
    `line ${line - 1 + whole.slice(0, position).split("\n").length}`;
  if (error !== undefined && template !== null) {
    const [whole, braces = ""] = template;
    const position = template.index + whole.length - braces.length;
    return { kind: "template", where: `${boundText(braces, 120)}, ${lineOf(text, position)}` };
  }
  if (error !== undefined)
    throw invalidOption(
      `${boundText(error.message.split("\n", 1)[0] ?? "", 120)}, ${lineOf(source, error.pos[0])}`,
    );
  // YAML reads {{ .X }} as a map in a map.
  if (template !== null)
    visit(document, {
      Map: (_, { flow, items, range }) =>
        flow && range && isMap(items[0]?.key) ? new Scalar(source.slice(range[0], range[1])) : undefined,
    });
  linkAliases(document, yaml);
  return { kind: "object", object: document.toJS() };
}

/**
 * Gives each alias its node, where the parser would search the whole document for each, and refuse many. Throws INVALID_OPTION
 * where `<<` merges so many keys that reading them would take long.
 */
function linkAliases(document: Document, { isMap, visit }: typeof import("yaml")): void {
  const anchored = new Map<string, Node>();
  let merged = 0;
  visit(document, {
    Alias: (key, alias, path) => {
      const node = anchored.get(alias.source);
      if (node === undefined) return;
      const isMerged = key === "value" && isMergeKey(path.at(-1));
      merged += isMerged && isMap(node) ? node.items.length : 0;
      if (merged > MAX_MERGED) throw invalidOption(`its aliases merge more than ${MAX_MERGED} keys`);
      Object.defineProperty(alias, "resolve", { value: () => node });
    },
    Node: (_, node) => {
      if ("anchor" in node && node.anchor) anchored.set(node.anchor, node);
    },
  });
}

const isMergeKey = (pair: unknown): boolean =>
  String((pair as { readonly key?: { readonly value?: unknown } }).key?.value) === "<<";

const OPEN_QUOTE = /^Missing closing (['"])/;
const INDENT = " ".repeat(100);

/** The parser ends a quoted text at a line without a deeper indent than its key, libyaml does not. */
function indentQuotes(source: string, errors: readonly YAMLError[]): string {
  const parts: string[] = [];
  let done = 0;
  let lines = 0;
  for (const { message, pos } of errors) {
    const quote = OPEN_QUOTE.exec(message)?.[1];
    const [end] = pos;
    if (quote === undefined || end < done) continue;
    const rest = quote === "'" ? /(?:[^']|'')*'/y : /(?:[^"\\]|\\.)*"/sy;
    rest.lastIndex = end;
    const [quoted] = attempt(() => rest.exec(source)) ?? [];
    if (quoted === undefined) break;
    lines += quoted.split("\n").length;
    if (lines > MAX_INDENTED) return source;
    parts.push(source.slice(done, end), quoted.replaceAll("\n", `\n${INDENT}`));
    done = end + quoted.length;
  }
  return parts.join("") + source.slice(done);
}
