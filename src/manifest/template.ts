/** Lines of YAML. */
export interface Yaml {
  readonly lines: readonly string[];
}

/** A piece of YAML, a list of them, or text that is inserted as it is; undefined leaves its line out. */
type Piece = Yaml | readonly Yaml[] | string | number | boolean | undefined;

/**
 * Makes YAML of a template. A piece alone on its line is inserted with the indentation of that line. Text is inserted
 * unquoted: give `scalar(text)` for a value that could be read as anything but a string.
 */
export function yaml(texts: TemplateStringsArray, ...pieces: readonly Piece[]): Yaml {
  const source = texts.reduce((before, text, place) => `${before}\0${place - 1}\0${text}`).split("\n");
  const written = source.filter((line) => line.trim() !== "");
  const indent = Math.min(...written.map((line) => line.search(/\S/)));
  const lines = written.flatMap((line) => {
    const text = line.slice(indent);
    const [, before = "", place] = /^( *)\0(\d+)\0$/.exec(text) ?? [];
    const alone = place === undefined ? "" : pieces[Number(place)];
    if (alone === undefined) return [];
    if (typeof alone === "object")
      return [alone].flat().flatMap((piece) => piece.lines.map((inner) => before + inner));
    return text.replace(/\0(\d+)\0/g, (_, at: string) => String(pieces[Number(at)]));
  });
  return { lines };
}

/** Documents as one stream. */
export function streamOf(documents: readonly Yaml[]): string {
  return documents.map(({ lines }) => `${lines.join("\n")}\n`).join("---\n");
}

/** Texts that need no quotes anywhere. Those that begin with a digit may be numbers. */
const PLAIN = /^(?:--?[A-Za-z]|[A-Za-z/])[\w.,:=/@$(){}*+-]*$/;
/** What YAML 1.1, which Kubernetes reads, takes as a boolean or null. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** A text as a YAML string, quoted if it must be. */
export function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) && !text.endsWith(":") ? text : JSON.stringify(text);
}

/** Items of a list, each a string. */
export function items(texts: readonly string[]): Yaml {
  return { lines: texts.map((text) => `- ${scalar(text)}`) };
}
