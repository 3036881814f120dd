export interface Yaml {
  readonly lines: readonly string[];
}

/** YAML, a list of it, or text; undefined, and false alone on a line, leave the line out. */
type Piece = Yaml | readonly Yaml[] | string | number | boolean | undefined;

/** Makes YAML of a template. Inserted YAML and several lines are alone on their line; `scalar(text)` quotes text. */
export function yaml(texts: TemplateStringsArray, ...pieces: readonly Piece[]): Yaml {
  const source = texts.reduce((before, text, place) => `${before}\0${place - 1}\0${text}`).split("\n");
  const written = source.filter((line) => line.trim() !== "");
  const indent = Math.min(...written.map((line) => line.search(/\S/)));
  const lines = written.flatMap((line) => {
    const text = line.slice(indent);
    const [, before = "", place] = /^( *)\0(\d+)\0$/.exec(text) ?? [];
    const alone = place === undefined ? "" : pieces[Number(place)];
    if (alone === undefined || alone === false) return [];
    if (typeof alone === "object")
      return [alone].flat().flatMap((piece) => piece.lines.map((inner) => before + inner));
    const filled = text.replace(/\0(\d+)\0/g, (_, at: string) => String(pieces[Number(at)]));
    return filled.split("\n").map((inner, at) => (at === 0 ? inner : before + inner));
  });
  return { lines };
}

export function streamOf(documents: readonly Yaml[]): string {
  return documents.map(({ lines }) => `${lines.join("\n")}\n`).join("---\n");
}

/** Texts that never need quotes. One that begins with a digit may be a number. */
const PLAIN = /^(?:--?[A-Za-z]|[A-Za-z/])[\w.,:=/@$(){}*+-]*$/;
/** Booleans and null in YAML 1.1, which Kubernetes reads. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** A text as a YAML string, quoted if it must be. */
export function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) && !text.endsWith(":") ? text : JSON.stringify(text);
}

/** The first lines of an object. Lines of its metadata may follow, indented. */
export const object = (apiVersion: string, kind: string, name: string, namespace?: string): Yaml => yaml`
  apiVersion: ${apiVersion}
  kind: ${kind}
  metadata:
    name: ${scalar(name)}
    ${namespace !== undefined && yaml`namespace: ${scalar(namespace)}`}
`;

export function items(texts: readonly string[]): Yaml {
  return { lines: texts.map((text) => `- ${scalar(text)}`) };
}
