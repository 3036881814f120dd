/** A mutant of Stryker's that no test can notice. */
export interface Equivalent {
  readonly file: string;
  /** The lines that it changes, each run of white space as one space, before and after. */
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** Lines as they are compared. */
export const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();

/** What is made of no match, of which only the groups are read, and there are none. */
const ofNoMatch = (file: string, from: string): Equivalent => ({
  file,
  from,
  to: from.replace("?? []", '?? ["Stryker was here"]'),
  why: "the first is the whole match, which is not looked at",
});

/** The mutants of Stryker's that nobody could notice, each with why. */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/registrar/registration/transition.ts",
    from: 'case "stopped": return state;',
    to: 'case "stopped":',
    why: "the default case, which the compiler keeps from being reached otherwise, returns it, too",
  },
  {
    file: "src/registrar/registration/transition.ts",
    from: 'return { kind: "stopping", facts: state.kind === "waiting" ? undefined : state.facts, outcome };',
    to: 'return { kind: "stopping", facts: false ? undefined : state.facts, outcome };',
    why: "a state without facts has them undefined; the question is the compiler's",
  },
  {
    file: "src/registrar/model/tally.ts",
    from: "default: return {};",
    to: "default:",
    why: "what is undefined adds no field either",
  },
  {
    file: "src/registrar/node-wide/name-lists.ts",
    from: "{ allow, deny = [] }: NameLists = {}, ): string | undefined {",
    to: '{ allow, deny = ["Stryker was here"] }: NameLists = {}, ): string | undefined {',
    why: "no driver is called that",
  },
  {
    file: "src/grpc/http2/chunk-reader.ts",
    from: "unread = piece.length === unread.length ? NOTHING : unread.subarray(piece.length);",
    to: "unread = false ? NOTHING : unread.subarray(piece.length);",
    why: "an empty slice reads as nothing does; the chunk that it keeps alive is a matter of memory (npm run bench:hostile)",
  },
  {
    file: "src/grpc/hpack/huffman.ts",
    from: "const text = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / SHORTEST_CODE_BITS));",
    to: "const text = Buffer.allocUnsafe(Math.floor(bytes.length * 8 * SHORTEST_CODE_BITS));",
    why: "what is not needed of it is not used; it is a matter of memory (npm run bench:hostile)",
  },
  {
    file: "src/host-path/host-path.ts",
    from: "const subvolume = knownRoot && root?.slice(0, -knownRoot.length);",
    to: "const subvolume = knownRoot && root.slice(0, -knownRoot.length);",
    why: "it ends with the known root, so it is there; the question is the compiler's",
  },
  {
    file: "src/host-path/host-path.ts",
    from: "const toldRoot = inRoot !== undefined && told.endsWith(inRoot) ? told.slice(0, -inRoot.length) : undefined;",
    to: "const toldRoot = true && told.endsWith(inRoot) ? told.slice(0, -inRoot.length) : undefined;",
    why: 'only a path that ends with "undefined" would tell',
  },
  ...["if (PLAIN_TEXT.test(text)) return text;", "if (PLAIN_JSON.test(json)) return json;"].map((from) => ({
    file: "src/logging/escape.ts",
    from,
    to: from.replace(/\(.*\)\)/, "(false)"),
    why: "a short way for what needs no escape",
  })),
  ...["const PLAIN_TEXT = /^[ !#-[\\]-~]*$/;", "const PLAIN_JSON = /^[ -~\\n]*$/;"].map((from) => ({
    file: "src/logging/escape.ts",
    from,
    to: from.replace("*$", "$"),
    why: "a short way for what needs no escape",
  })),
  ofNoMatch("src/cli/go-values.ts", "const [, sign, literal] = intLiteral.exec(text) ?? [];"),
  ofNoMatch("src/cli/go-flags.ts", "const [, name, given] = /^--?([^-=][^=]*)(?:=(.*))?/s.exec(word) ?? [];"),
  {
    file: "src/grpc/server/unary-request.ts",
    from: "if (prefixBytes < MESSAGE_PREFIX_BYTES) return undefined;",
    to: "if (false) return undefined;",
    why: "bytes that have not come are 0: who is refused for the others is refused in any case, and that sooner",
  },
];
