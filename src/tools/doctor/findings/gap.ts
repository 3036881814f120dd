import { attempt, errnoOf, invalidOption, messageOf, type RegistrarError } from "../../../base/errors";
import { type Unlike, unlikeFieldIn } from "../../../kube-api/objects";

/** What keeps a file, a document of it or an object from being judged. */
export type Flaw =
  | ("no-files" | "pipe" | "large" | "encoding" | "empty")
  | ("document-size" | "dashes" | "directive" | "no-object" | "template")
  | ("patch" | "custom" | "parameter" | "placeholder" | "quantity" | "values" | "long" | "deep" | "variables")
  // What hides the arguments of a container.
  | ("started" | "argument" | "elsewhere");

/** Why something could not be read. */
export type Why =
  /** `at`: which one, where it is, or how many. */
  | { readonly kind: "flaw"; readonly flaw: Flaw; readonly at: string }
  | { readonly kind: "errno"; readonly errno: string }
  | { readonly kind: "mount"; readonly fileSystem: string }
  /** A symbolic link that leads elsewhere on the host. */
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "cut"; readonly read: number; readonly there: number }
  /** It was not asked, because what comes first failed. */
  | { readonly kind: "unasked" }
  /** Not even its directory is there, so that a mount which is not here may have it. */
  | { readonly kind: "unmounted" }
  /** It changes each time that it is read. */
  | { readonly kind: "moving" }
  /** Directories beyond the depth that is searched; `from`: the directory, or the link that leads to it. */
  | { readonly kind: "deep"; readonly from: string }
  /** The same, where nothing has to be searched. */
  | { readonly kind: "aside" }
  /** A pod has this directory of the host, in which it may have made what was looked for. */
  | { readonly kind: "above"; readonly path: string }
  /**
   * It was not asked for, nothing that was asked for needs it, or it cannot be seen from a container. `mayBeEvery`: of a registrar that
   * may be the node-wide one.
   */
  | { readonly kind: "beyond"; readonly text?: string; readonly mayBeEvery?: boolean }
  /** The doctor itself had no CPU to read the answer to a call. */
  | { readonly kind: "starved" }
  | ({ readonly kind: "call" } & CallFailure)
  /** A list of the API, in the server's or the connection's words; or one object of it. */
  | { readonly kind: "list"; readonly failure: string; readonly message: string }
  | { readonly kind: "object"; readonly text: string }
  /** `field`: of the object; undefined: itself, or it is not known. */
  | ({ readonly kind: "unlike"; readonly field: string | undefined } & Pick<Unlike, "has" | "wanted">)
  | { readonly kind: "fault"; readonly error: string };

export interface CallFailure {
  readonly call: string;
  /** As Go writes it: `DeadlineExceeded`. */
  readonly code: string;
  readonly message: string;
  /** There was no answer in the doctor's own time, and how long its usual caller waits. */
  readonly late?: { readonly afterMs: number; readonly who: string; readonly waitsMs: number } | undefined;
}

/** Something that could not be read. `part` decides which check says so, and whether the user asked for it. */
export interface Gap<Part extends string = string> {
  readonly part: Part;
  readonly subject: string;
  readonly why: Why;
  /** What is known of it all the same: it lacks nothing in the list of another node or set. */
  readonly known?: { readonly node?: string | undefined; readonly set?: string | undefined } | undefined;
}
/** A gap that no finding and no text tells. */
export const beyond = <Part extends string>(part: Part, subject = "", known?: Gap["known"]): Gap<Part> => ({
  ...{ part, subject, why: { kind: "beyond" }, known },
});
/** The gaps in what was asked for. */
export const lackedIn = (gaps: readonly Gap[]) => gaps.filter(({ why }) => why.kind !== "beyond");
export type KnownField = keyof NonNullable<Gap["known"]>;

export interface Unread<Part extends string = string> {
  readonly kind: "unread";
  readonly gap: Gap<Part>;
}

/** Throws an error of which {@link whyOf} makes this flaw. */
export function refuseFlaw(flaw: Flaw, at: string | number = ""): never {
  throw invalidOption(flaw, { cause: { kind: "flaw", flaw, at: at.toLocaleString("en") } satisfies Why });
}

/** An error that is neither the file system's nor one of ours about what was read, by this `read` of an object, is a fault of ours. */
export function whyOf(error: unknown, object?: unknown, read: (object: unknown) => void = () => {}): Why {
  const errno = errnoOf(error);
  if (errno !== undefined) return { kind: "errno", errno };
  if (error instanceof RangeError) return { kind: "flaw", flaw: "deep", at: "" };
  const { code, cause } = Object(error) as Partial<RegistrarError>;
  if (code !== "INVALID_OPTION") return { kind: "fault", error: String(error) };
  const why = cause as Why | Unlike | undefined;
  if (why?.kind === "unlike" && "value" in why) {
    const { kind, has, wanted, value } = why;
    return { kind, has, wanted, field: attempt(() => unlikeFieldIn(value, object, read)) };
  }
  return why?.kind === "flaw" ? why : { kind: "object", text: messageOf(error) };
}
