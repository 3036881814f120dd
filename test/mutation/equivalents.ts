import type { Equivalent } from "./equivalent";

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
    file: "src/registrar/registration/tally.ts",
    from: "default: return {};",
    to: "default:",
    why: "what is undefined adds no field either",
  },
  {
    file: "src/registrar/node-wide/admission.ts",
    from: "export function whyUnwanted(name: string, { allow, deny = [] }: NameLists = {}): string | undefined {",
    to: 'export function whyUnwanted(name: string, { allow, deny = ["Stryker was here"] }: NameLists = {}): string | undefined {',
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
    file: "src/grpc/hpack/huffman.ts",
    from: "for (let at = 0; at < end; ) {",
    to: "for (let at = 0; at <= end; ) {",
    why: "behind the end there are ones, which are the padding that ends it",
  },
  {
    file: "src/grpc/unary-request.ts",
    from: "if (prefixBytes < MESSAGE_PREFIX_BYTES) return undefined;",
    to: "if (false) return undefined;",
    why: "bytes that have not come are 0: who is refused for the others is refused in any case, and that sooner",
  },
];
