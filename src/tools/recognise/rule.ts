import { list, text, tree } from "../../kube-api/objects";

/** Names of fields, from the outermost in; a number is the place in a list. */
export type Path = readonly (string | number)[];

/**
 * A question to an object of Kubernetes, as a value: `ask` answers it here, `toCel` writes it for the API server. Regular
 * expressions are of both JavaScript and RE2.
 */
export type Rule =
  /** The text there matches; `absent` is the answer where the field is missing. */
  | { readonly at: Path; readonly matches: string; readonly absent: boolean }
  | { readonly has: Path }
  /** One item of the list, or one entry of the map, is so. */
  | { readonly some: Path; readonly is: Rule }
  | { readonly entry: Path; readonly key: string; readonly value: string }
  | { readonly all: readonly Rule[] }
  | { readonly any: readonly Rule[] }
  | { readonly not: Rule };

const valueAt = (path: Path, root: unknown): unknown =>
  path.reduce<unknown>((one, key) => (typeof key === "number" ? list(one)[key] : tree(one)[key]), root);

/** Whether a text has placeholders, which an installer or kubelet will fill in. */
export function isTemplate(text: string): boolean {
  return /\{\{|\}\}|\$\(|\$\{|<[^<>]*>|\$[A-Z]|@[A-Z]\w*@|%[A-Z]\w{2,}%|__[A-Z]\w*__/.test(text);
}

/**
 * Whether the object is so; its texts are what they are written, as the API server has them. With `isOpen` a placeholder may be any
 * text: true tells whether the object may be so, false whether it must be.
 */
function meets(rule: Rule, object: unknown, isOpen?: boolean): boolean {
  const own = (one: Rule, of = object) => meets(one, of, isOpen);
  const matches = (pattern: string, found: string) =>
    new RegExp(pattern).test(found) || (isOpen === true && isTemplate(found));
  if ("all" in rule) return rule.all.every((one) => own(one));
  if ("any" in rule) return rule.any.some((one) => own(one));
  if ("not" in rule) return !meets(rule.not, object, isOpen === undefined ? undefined : !isOpen);
  if ("has" in rule) return valueAt(rule.has, object) !== undefined;
  if ("some" in rule) return list(valueAt(rule.some, object)).some((item) => own(rule.is, item));
  if ("entry" in rule)
    return Object.entries(tree(valueAt(rule.entry, object))).some(
      ([key, value]) => matches(rule.key, key) && matches(rule.value, text(value)),
    );
  const found = valueAt(rule.at, object);
  return found === undefined ? rule.absent : matches(rule.matches, text(found));
}

export const holds = (rule: Rule, object: unknown): boolean => meets(rule, object);

/** `open`: a placeholder decides it. */
export type Decided = boolean | "open";

export function ask(rule: Rule, object: unknown): Decided {
  const mayBe = meets(rule, object, true);
  return mayBe === meets(rule, object, false) ? mayBe : "open";
}

/** A text as a string of CEL, the language of the API server's policies. */
export const celText = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

export const celList = (texts: readonly string[]) => `[${texts.map(celText).join(", ")}]`;

/** The rule about a variable of CEL, or a field of one. */
export function toCel(rule: Rule, variable: string, depth = 0): string {
  const join = (rules: readonly Rule[], word: string) =>
    `(${rules.map((one) => toCel(one, variable, depth)).join(` ${word}\n`)})`;
  const optional = (path: Path) =>
    variable + path.map((key) => (typeof key === "number" ? `[?${key}]` : `.?${key}`)).join("");
  if ("all" in rule) return join(rule.all, "&&");
  if ("any" in rule) return join(rule.any, "||");
  if ("not" in rule) return `!${toCel(rule.not, variable, depth)}`;
  if ("has" in rule) return `${optional(rule.has)}.hasValue()`;
  const item = `x${depth}`;
  if ("some" in rule)
    return `${optional(rule.some)}.orValue([]).exists(${item}, ${toCel(rule.is, item, depth + 1)})`;
  if ("entry" in rule)
    return `${optional(rule.entry)}.orValue({}).exists(${item}, ${item}.matches(${celText(rule.key)}) && ${[variable, ...rule.entry].join(".")}[${item}].matches(${celText(rule.value)}))`;
  const matches = (one: string) => `${one}.matches(${celText(rule.matches)})`;
  return rule.at.length === 0
    ? matches(variable)
    : `${optional(rule.at)}.optMap(${item}, ${matches(item)}).orValue(${rule.absent})`;
}

/** A list's items match; so does the list itself. */
export const someText = (path: Path, matches: string, at: Path = []): Rule => ({
  some: path,
  is: { at, matches, absent: false },
});

export const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
